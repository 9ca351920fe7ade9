#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Make small defects in the core, and see whether the tests find them.

mutants.py [-n NUMBER] [-s SEED] [-f FUNCTION] [-l]

A mutant is one change of one function: a condition negated, a statement left out,
"&&" for "||", a comparison that is off by one, a flag left out, a barrier that other
CPUs do not notice. Mutants are made from
the current source and named by function, operator and number, so that an edit of
another function changes no name. A sample of NUMBER (20) is taken with SEED (1), or
all with -n 0; -f takes only functions whose name contains FUNCTION; -l only lists the
mutants. Each is built, then "make order", "make replay" and "make step" run until one
of them fails.
A mutant that survives takes some minutes.

mutants.known lists mutants that are known to survive, with the reason. The exit
status is 1 if another one survives.
"""
import argparse
import os
import random
import re
import resource
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
CORE = os.path.join(HERE, '../../../kernel/trace')
FILES = ['fgraph.c', 'fgraph_context.c', 'fgraph_internal.h', 'fgraph_query.c', 'fgraph_stack.c',
         'fgraph_stack.h', 'fgraph_users.c', 'fgraph_reserve.c']

# Each operator has a name, a pattern in a line of code, and what that becomes.
OPERATORS = [
    ('negate', r'\b(if|while) \((?P<c>.*)\)(?P<e>( \{)?)$', r'\1 (!(\g<c>))\g<e>'),
    ('omit', r'^(?P<i>\t+)(?!return|break|continue|goto|else|case|struct|unsigned|void|bool|int\b|size_t|enum)'
             r'[\w*(>\[].*;$', r'\g<i>;'),
    ('and', r'&&', '||'),
    ('or', r'\|\|', '&&'),
    ('less', r' < ', ' <= '),
    ('less-equal', r' <= ', ' < '),
    ('plus', r' \+ 1\b', ' + 0'),
    ('minus', r' - 1\b', ' - 0'),
    ('weaken', r'\bsmp_wmb\(\)', 'barrier()'),
    ('flag', r' \| (FGRAPH_[A-Z]+|tail|above|context)\b', ''),
]


def functions(text):
    """Yield name, first and last line of each function body."""
    lines = text.split('\n')
    name = None
    for number, line in enumerate(lines):
        if re.match(r'[a-z].*\(', line) or re.match(r'(fgraph|chunk|find|take)_?\w*\(', line):
            found = re.search(r'(\w+)\(', line)
            name = found.group(1) if found else name
        if line == '{':
            first = number
        if line == '}' and name:
            yield name, first + 1, number
            name = None


def mutants():
    """Yield name, file, line number and new line of each mutant."""
    for file in FILES:
        text = open(os.path.join(CORE, file)).read()
        lines = text.split('\n')
        for function, first, last in functions(text):
            count = {}
            for number in range(first, last):
                line = lines[number]
                # Skip comments, and statements that span lines.
                if '/*' in line or line.strip().startswith('*') or line.count('(') != line.count(')'):
                    continue
                if re.match(r'\t+(NOKPROBE|EXPORT|WARN|lockdep)', line):
                    continue
                for name, pattern, becomes in OPERATORS:
                    for match in re.finditer(pattern, line):
                        count[name] = count.get(name, 0) + 1
                        new = line[:match.start()] + match.expand(becomes) + line[match.end():]
                        yield ('%s %s %d' % (function, name, count[name]), file, number, new)


def run(command, directory, seconds):
    """Run a command and return its status. Each of its processes is limited to that many
    seconds of CPU time, not of real time, which would fail on a busy machine."""
    def limit():
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))

    done = subprocess.run(command, cwd=HERE, preexec_fn=limit, capture_output=True,
                          env=dict(os.environ, CORE=directory + '/core', O=directory + '/build'))
    return done.returncode


def try_mutant(file, number, new):
    """Return what finds the mutant, or None."""
    with tempfile.TemporaryDirectory() as directory:
        shutil.copytree(CORE, directory + '/core', ignore=lambda d, names: [
            n for n in names if not re.match(r'fgraph.*\.[ch]$', n)])
        path = os.path.join(directory, 'core', file)
        lines = open(path).read().split('\n')
        lines[number] = new
        open(path, 'w').write('\n'.join(lines))
        args = ['CORE=' + directory + '/core', 'O=' + directory + '/build']
        if run(['make', '-s', '-j4'] + args, directory, 300):
            return 'the compiler'
        if run(['make', '-s', 'order', 'STEP=-f'] + args, directory, 120):
            return 'order'
        if run(['make', '-s', 'replay'] + args, directory, 120):
            return 'replay'
        if run(['make', '-s', 'step', 'STEP=-f'] + args, directory, 900):
            return 'step'
    return None


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument('-n', type=int, default=20)
    parser.add_argument('-s', type=int, default=1)
    parser.add_argument('-f', default='')
    parser.add_argument('-l', action='store_true')
    args = parser.parse_args()

    known = {}
    path = os.path.join(HERE, 'mutants.known')
    if os.path.exists(path):
        for line in open(path):
            if line.strip() and not line.startswith('#'):
                name, reason = line.rstrip('\n').split('\t')
                known[name] = reason
    found = [m for m in mutants() if args.f in m[0]]
    if args.l:
        for name, file, number, new in found:
            print('%s: %s:%d: %s' % (name, file, number + 1, new.strip()))
        return 0
    if args.n and args.n < len(found):
        found = random.Random(args.s).sample(found, args.n)
    bad = 0
    print('1..%d' % len(found))
    for i, (name, file, number, new) in enumerate(found, 1):
        by = try_mutant(file, number, new)
        if by:
            print('ok %d mutant: %s # %s' % (i, name, by), flush=True)
        elif name in known:
            print('ok %d mutant: %s # SKIP survives: %s' % (i, name, known[name]), flush=True)
        else:
            bad += 1
            print('# %s:%d: %s' % (file, number + 1, new.strip()))
            print('not ok %d mutant: %s # survives' % (i, name), flush=True)
    return 1 if bad else 0


if __name__ == '__main__':
    sys.exit(main())
