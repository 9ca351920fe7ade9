#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Puts each defect of mutants.txt into a copy of the core, one at a time, and
sees whether the tests find it.

Usage: mutants.py [PATTERN], in the directory of the tests; O=, CORE= and
CORPUS= as for the Makefile, JOBS= how many at once.
"""

import concurrent.futures
import glob
import os
import re
import shutil
import subprocess
import sys

CORE = os.environ.get("CORE", "../../../kernel/trace")
CORPUS = os.environ.get("CORPUS", "build/kept")
OUT = os.path.join(os.environ.get("O", "build"), "mutant")
ENV = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")}


class Mutant:
    def __init__(self, name, survives):
        self.name = name
        self.survives = survives
        self.changes = []

    def apply(self, core):
        for name, lines in self.changes:
            path = os.path.join(core, name)
            with open(path, encoding="utf-8") as f:
                text = f.read()
            old = [line[1:] for line in lines if line[0] in " -"]
            new = "\n".join(line[1:] for line in lines if line[0] in " +")
            words = [r"\s+".join(map(re.escape, line.split())) for line in old]
            found = list(re.finditer(r"^[ \t]*" + r"\s*\n\s*".join(words) + r"[ \t]*$", text,
                                     re.MULTILINE))
            if len(found) != 1:
                return False
            with open(path, "w", encoding="utf-8") as f:
                f.write(text[:found[0].start()] + new + text[found[0].end():])
        return True


def read_mutants():
    mutants = []
    with open("mutants.txt", encoding="utf-8") as f:
        for line in f.read().split("\n"):
            if line[:2] in ("= ", "~ "):
                mutants.append(Mutant(line[2:], line[0] == "~"))
            elif line[:2] == "@ ":
                mutants[-1].changes.append((line[2:], []))
            elif line and line[0] in " -+":
                mutants[-1].changes[-1][1].append(line)
    return mutants


def run(command, seconds=3600):
    """Returns the status, and what was printed; None when it does not end."""
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=ENV,
                              timeout=seconds, check=False, text=True, errors="replace")
    except subprocess.TimeoutExpired:
        return 1, None
    return done.returncode, done.stdout


def find(number, mutant):
    """Returns by what it is found, None if by nothing; or "" if it does not apply."""
    out = os.path.join(OUT, str(number))
    core = os.path.join(out, "core")
    shutil.rmtree(out, ignore_errors=True)
    os.makedirs(core)
    for path in glob.glob(CORE + "/fgraph*.[ch]") + [CORE + "/ftrace_internal.h"]:
        shutil.copy(path, core)
    if not mutant.apply(core):
        return ""

    def make(what):
        return run(["make", "-s", "CORE=" + core, "O=" + out, f"{out}/x86_64/{what}"])

    try:
        kept = sorted(glob.glob(CORPUS + "/*"))
        for what, args in (("step", ["-f"]), ("replay", ["5000"] + kept)):
            status, text = make(what)
            if status:
                return "the compiler"
            status, text = run([f"{out}/x86_64/{what}"] + args)
            if text is None:
                return what + ", which does not end"
            if status:
                return what + "".join(re.findall(r"^not ok \d+ step(: .*?) #", text, re.MULTILINE))
        return None
    finally:
        shutil.rmtree(out, ignore_errors=True)


def main():
    pattern = sys.argv[1] if len(sys.argv) > 1 else ""
    mutants = [m for m in read_mutants() if pattern in m.name]
    found = 0
    failed = False
    print(f"1..{len(mutants)}")
    with concurrent.futures.ThreadPoolExecutor(int(os.environ.get("JOBS", os.cpu_count()))) as pool:
        for n, by in enumerate(pool.map(find, range(len(mutants)), mutants)):
            mutant = mutants[n]
            ok = "ok" if by or (by is None and mutant.survives) else "not ok"
            failed |= ok != "ok"
            found += bool(by)
            if by:
                by = "by " + by + (", known to survive: is it?" if mutant.survives else "")
            elif by is None:
                by = "XFAIL survives" if mutant.survives else "survives"
            else:
                by = "does not apply"
            print(f"{ok} {n + 1} mutant: {mutant.name} # {by}", flush=True)
    print(f"# mutants: {found} of {len(mutants)} found")
    return failed


if __name__ == "__main__":
    sys.exit(main())
