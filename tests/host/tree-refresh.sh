#!/bin/bash
# Tests on a small tree that scripts/refresh is the inverse of scripts/tree.
set -euo pipefail
here=$(cd "$(dirname "$0")/../.." && pwd)
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
n=0
check() {
	n=$((n + 1))
	if "${@:2}" >"$tmp/out" 2>&1; then
		echo "ok $n - $1"
		cp "$tmp/out" "$tmp/last"
	else
		sed 's/^/# /' "$tmp/out"
		echo "not ok $n - $1"
		exit 1
	fi
}
git() {
	command git -C "$tmp/dev" -c user.name=Dev -c user.email=dev@localhost -c commit.gpgsign=false "$@"
}
commit() { # message step
	git add -f -A
	GIT_AUTHOR_DATE="2024-05-0$((++day))T10:00:00Z" git commit -q -F - < <(
		echo "$1" | command git interpret-trailers --trailer "Step: $2")
}
day=0

# Make the base, and a tree with commits on top of it.
mkdir -p "$tmp/linux/kernel" "$tmp/linux/include" "$tmp/repo/patches/6.1"
cp -r "$here/scripts" "$tmp/repo/"
: >"$tmp/repo/patches/6.1/series"
printf 'VERSION = 6\nPATCHLEVEL = 1\nSUBLEVEL = 7\n' >"$tmp/linux/Makefile"
touch "$tmp/linux/Kbuild"
printf '/*\n' >"$tmp/linux/.gitignore"
seq 100 >"$tmp/linux/kernel/a.c"
seq 200 300 >"$tmp/linux/kernel/b.c"
seq 400 500 >"$tmp/linux/kernel/whole.c"
seq 600 700 >"$tmp/linux/kernel/d.c"
seq 800 900 >"$tmp/linux/kernel/e.c"
cp -r "$tmp/linux" "$tmp/dev"
git init -q
commit base none
git tag base
sed -i 's/^50$/fifty/' "$tmp/dev/kernel/a.c"
echo one >"$tmp/dev/include/new.h"
printf '#!/bin/sh\n' >"$tmp/dev/kernel/new.sh"
chmod 755 "$tmp/dev/kernel/new.sh"
commit $'kernel: add new\n\nWhy: because.\n\nSigned-off-by: Dev <dev@localhost>' fixes/new
git mv kernel/b.c kernel/c.c
sed -i 's/^250$/x/' "$tmp/dev/kernel/c.c"
echo two >>"$tmp/dev/include/new.h"
commit 'kernel: move b to c' core/move
seq 1000 1010 >"$tmp/dev/kernel/whole.c"
commit $'kernel: write whole.c anew\n\nAdds: kernel/whole.c\nSigned-off-by: Dev <dev@localhost>' core/whole
git mv kernel/d.c kernel/d_old.c
commit 'kernel: move d away' core/away
seq 2000 2100 >"$tmp/dev/kernel/d.c"
commit 'kernel: a new d' core/new-d
git mv kernel/e.c kernel/e_old.c
seq 3000 3100 >"$tmp/dev/kernel/e.c"
commit 'kernel: move e and write it anew' core/anew
printf 'leading\n' >"$tmp/dev/kernel/ü.c"
git rm -q kernel/a.c
commit $'kernel: drop a\n\nA second line; ümlaut.' core/drop
GIT_AUTHOR_DATE='2024-05-09T10:00:00+02:00' git commit -q --allow-empty -m $'kernel: nothing\n\nStep: tests/nothing'
echo x >"$tmp/dev/kernel/forgotten.c"

cd "$tmp/repo"
export LINUX=$tmp/linux TREE=$tmp/dev
unset BASE SINCE FROM FORCE
check 'refresh' scripts/refresh
check 'a file that git does not know is named' grep -q 'notice: not in git.*kernel/forgotten.c' "$tmp/last"
cp -r patches "$tmp/patches"
check 'tree' scripts/tree
same() { [ "$(command git -C build/tree rev-parse 'HEAD^{tree}')" = "$(git rev-parse 'HEAD^{tree}')" ]; }
check 'both trees are the same' same
check 'work tree has no changes' test -z "$(command git -C build/tree status --porcelain)"
check 'each step is in the folder of its topic' \
	test "$(sed 's|/.*||' patches/6.1/series | uniq -c | awk '{ printf "%s %s ", $1, $2 }')" = '1 fixes 6 core 1 tests '
check 'no name of a step in a patch' bash -c '! grep -l "^Step: " patches/6.1/*/*.patch'
check 'each added file is named once' \
	test "$(sed -n 's/^Adds: //p' patches/6.1/*/*.patch | LC_ALL=C sort | paste -sd' ')" = 'include/new.h kernel/d.c kernel/e.c kernel/new.sh kernel/whole.c kernel/ü.c'
check 'a whole file is in no patch' bash -c '! grep -l "^[-+].*1005\|^-450" patches/6.1/*/*.patch'
check 'a move is a move' grep -q '^rename to kernel/c.c' patches/6.1/core/move.patch
check 'a move away is a move' grep -qx 'rename from kernel/d.c' patches/6.1/core/away.patch
check 'also in the step that replaces it' grep -qx 'rename from kernel/e.c' patches/6.1/core/anew.patch
check 'no patch holds what moved' bash -c '! grep -lE "^[-+](600|800)$" patches/6.1/*/*.patch'
check 'the step that moves d away is as it was' \
	test -z "$(command git -C build/tree ls-tree HEAD~4 kernel/d.c)"
check 'author date kept' test "$(command git -C build/tree log -1 --format=%aI HEAD)" = 2024-05-09T10:00:00+02:00
check 'message kept' test "$(command git -C build/tree log -1 --format=%B 'HEAD~1')" = $'kernel: drop a\n\nA second line; ümlaut.\n\nStep: core/drop\nAdds: kernel/ü.c'
head=$(command git -C build/tree rev-parse HEAD)
stamp=$(stat -c %y build/tree/kernel/c.c)
echo three >>files/6.1/include/new.h
check 'tree again' scripts/tree
check 'an unchanged file keeps its time' test "$(stat -c %y build/tree/kernel/c.c)" = "$stamp"
check 'a changed one is there' grep -q three build/tree/include/new.h
sed -i '/three/d' files/6.1/include/new.h
check 'and back' scripts/tree
check 'same commits for the same series' test "$(command git -C build/tree rev-parse HEAD)" = "$head"
unset TREE
check 'refresh from build/tree' scripts/refresh
check 'nothing changed' diff -r "$tmp/patches" patches

# scripts/mails makes the mails of all topics, or of one, each with a letter of its own.
letter() { # folder, subject
	mkdir -p "patches/$1"
	printf '%s\n\nThe letter says why.\n' "$2" >"patches/$1/cover-letter.txt"
}
mails() { find build/mails -name '*.patch' ! -name '0000-*' | wc -l; }
no_letter() { ! scripts/mails; }
check 'no mails without a cover letter' no_letter
check 'says which file lacks' grep -q 'no patches/6.1/cover-letter.txt' "$tmp/last"
check 'leaves no mails without one' test "$(mails)" = 0
letter 6.1 'kernel: all topics'
letter 6.1/fixes 'kernel: what the base has wrong'
letter 6.1/core 'kernel: the core'
check 'mails' scripts/mails
check 'one for each step' test "$(mails)" = 8
check 'the letter gives the subject' grep -q '^Subject: .* 0/8\] kernel: all topics' build/mails/0000-*.patch
check 'and the text' grep -qx 'The letter says why\.' build/mails/0000-*.patch
check 'no trailer of ours in them' bash -c '! grep -l "^\(Step\|Adds\): " build/mails/*.patch'
check 'a diffstat in the cover letter' grep -q 'files changed' build/mails/0000-*.patch
check 'mails of a person' env FROM='A. Person <a.person@example.org>' scripts/mails
check 'are from that person' grep -qx 'From: "A. Person" <a.person@example.org>' build/mails/0001-*.patch
check 'have that sign-off' grep -qx 'Signed-off-by: A. Person <a.person@example.org>' build/mails/0001-*.patch
check 'and no other' bash -c '! grep -h "^Signed-off-by: Dev" build/mails/0001-*.patch'
check 'say that tools helped' grep -qx 'Assisted-by: LLM' build/mails/0001-*.patch
no_person() { ! FROM='A. Person' scripts/mails; }
check 'mails of nobody' no_person
check 'say what is right' grep -q 'FROM=A. Person: not "Name <address>"' "$tmp/last"
check 'mails of the first topic' env TOPIC=fixes scripts/mails
check 'of that alone' test "$(mails)" = 1
check 'with the letter of that topic' grep -q '^Subject: .*what the base has wrong' build/mails/0000-*.patch
check 'which stands alone' grep -q 'stand alone' build/mails/0000-*.patch
check 'mails of another topic' env TOPIC=core scripts/mails
check 'what that needs is said' grep -q 'topics before: fixes\.' build/mails/0000-*.patch
no_topic() { ! TOPIC=none scripts/mails; }
check 'no such topic' no_topic
check 'is named' grep -q 'TOPIC=none: not one of: fixes core' "$tmp/last"
no_refresh() { ! TREE=$tmp/dev scripts/refresh; }
for step in 'Step: fixes' 'Step: none/name' 'Topic: fixes' 'Step: core/Two words'; do
	git commit -q --allow-empty -m "kernel: bad name" -m "$step"
	check "a commit with $step" no_refresh
	check 'is named, too' grep -q '(kernel: bad name).*Step: TOPIC/NAME.*fixes' "$tmp/last"
	git reset -q --hard HEAD~1
done
git commit -q --allow-empty -m 'kernel: same name' -m 'Step: core/move'
check 'a second commit for a step' no_refresh
check 'is named with the first' grep -q '(kernel: same name) is step core/move, and so is .*move b to c' "$tmp/last"
git reset -q --hard HEAD~1
# A step keeps its name when its subject is reworded.
git commit -q --allow-empty --amend -m 'kernel: nothing at all' -m 'Step: tests/nothing'
check 'refresh with another subject' env TREE="$tmp/dev" scripts/refresh
check 'same names' diff "$tmp/patches/6.1/series" patches/6.1/series
check 'another subject' grep -q '^Subject: kernel: nothing at all' patches/6.1/tests/nothing.patch
git commit -q --allow-empty --amend -m 'kernel: nothing' -m 'Step: tests/nothing'
check 'and back' env TREE="$tmp/dev" scripts/refresh

# A base to which the series does not apply.
cp -r "$tmp/linux" "$tmp/other"
sed -i '/^50$/s/.*/fifty-one/; /^SUBLEVEL/s/7/8/' "$tmp/other/kernel/a.c" "$tmp/other/Makefile"
export LINUX=$tmp/other
fails() { ! scripts/tree; }
check 'another base, a hunk that does not fit' fails
cp "$tmp/last" "$tmp/said"
for w in 'series was made against 6.1.7; this base is 6.1.8' 'step fixes/new.patch' \
	'kernel/a.c: the hunk at line 47' '-50'; do
	check "says: $w" grep -F -e "$w" "$tmp/said"
done
# A base in which a line near the change is another one: the step is merged.
sed -i 's/^fifty-one$/50/; s/^248$/near/' "$tmp/other/kernel/"{a,b}.c
touch -d '1 minute ago' "$tmp/other/Makefile"	# a directory is another one by this time
check 'a neighbour without the first base' fails
check 'names the hunk' grep -q 'kernel/b.c: the hunk at line 48' "$tmp/last"
check 'a neighbour is merged' env REFERENCE="$tmp/linux" scripts/tree
check 'what was merged is named' grep -q '  core/move.patch: kernel/c.c' "$tmp/last"
check 'both changes are there' bash -c 'git -C build/tree show HEAD:kernel/c.c | grep -cxE "x|near" | grep -qx 2'
check 'all steps are there' test "$(command git -C build/tree rev-list --count base..HEAD)" = 8
sed -i 's/^250$/mine/' "$tmp/other/kernel/b.c"
touch -d '2 minutes ago' "$tmp/other/Makefile"
conflict() { ! REFERENCE=$tmp/linux scripts/tree; }
check 'a neighbour with a conflict' conflict
# shellcheck disable=SC2016 # $0 is the script's
check 'shows it' bash -c 'grep -q "kernel/b.c: conflicts" "$0" && grep -qx "    mine" "$0" && grep -qx "    x" "$0"' "$tmp/last"
export LINUX=$tmp/linux
check 'the first base again' scripts/tree

# Make a series for the other base, with a tree of its own. Both series add include/new.h.
cp -r "$tmp/linux" "$tmp/new"
printf 'VERSION = 7\nPATCHLEVEL = 3\nSUBLEVEL = 4\n' >"$tmp/new/Makefile"
rm -r "${tmp:?}/dev"
cp -r "$tmp/new" "$tmp/dev"
git init -q
commit base none
git tag base
sed -i 's/^60$/sixty/' "$tmp/dev/kernel/a.c"
cp files/6.1/include/new.h "$tmp/dev/include/new.h"
echo newest >"$tmp/dev/include/newest.h"
commit 'kernel: sixty' fixes/sixty
mkdir patches/7.3
: >patches/7.3/series
cp -r patches/6.1 files "$tmp/patches/"
no_base() { ! TREE=$tmp/dev BASE=$1 scripts/refresh; }
check 'refresh of a tree of the other base' no_base 6.1
check 'says so' grep -q 'grew from Linux 7.3.4, and BASE=6.1' "$tmp/last"
check 'refresh with an unknown base' no_base 7.0
check 'says that it is unknown' grep -q 'BASE=7.0: not one of 6.1 7.3' "$tmp/last"
check 'nothing was written' diff -r "$tmp/patches/6.1" patches/6.1
check 'refresh with BASE=7.3' env BASE=7.3 TREE="$tmp/dev" scripts/refresh
check 'names a shared file by a step' grep -qx 'Adds: include/new.h' patches/7.3/fixes/sixty.patch
check 'writes the version of that base' grep -q '^7\.3\.4 ' patches/7.3/base-version
check 'the other series is as it was' diff -r "$tmp/patches/6.1" patches/6.1
check 'and so are its whole files' diff -r "$tmp/patches/files/6.1/kernel" files/6.1/kernel
check 'what both have moves' cmp files/both/include/new.h "$tmp/patches/files/6.1/include/new.h"
check 'and is in one place' test ! -e files/6.1/include -a ! -e files/7.3/include/new.h
check 'what one has is its own' test -e files/7.3/include/newest.h
export LINUX=$tmp/new
check 'tree with BASE=7.3' env BASE=7.3 scripts/tree stock
same73() { [ "$(command git -C build/7.3/tree rev-parse 'HEAD^{tree}')" = "$(git rev-parse 'HEAD^{tree}')" ]; }
check 'is the same tree' same73
check 'the tree of 6.1 is unchanged' test "$(command git -C build/tree rev-parse HEAD)" = "$head"
check 'with a base of its own' grep -qx 'PATCHLEVEL = 3' build/7.3/stock/Makefile
letter 7.3 'kernel: sixty'
check 'mails with BASE=7.3' env BASE=7.3 scripts/mails
check 'have no version in the subject' grep -q '^Subject: \[PATCH 1/1\] kernel: sixty' build/7.3/mails/0001-*.patch
check 'the cover letter names the base' grep -q 'Linux 7.3.4 .*linux-source-7.3' build/7.3/mails/0000-*.patch
check 'a tree of 7.3 for 6.1' fails
check 'says which base takes it' grep -q 'Linux 7.3.4, and BASE=6.1: not 6.1.y (BASE=7.3 takes it)' "$tmp/last"
check 'leaves the tree that is there' test "$(command git -C build/tree rev-parse HEAD)" = "$head"
export LINUX=$tmp/linux
echo four >>"$tmp/dev/include/new.h"
commit 'kernel: change what is shared' fixes/shared
check 'refresh with a change of a shared file' env BASE=7.3 TREE="$tmp/dev" scripts/refresh
check 'says which other series it changes' grep -q 'notice: include/new.h changes for the series of 6.1, too' "$tmp/last"
check 'tree of 6.1' scripts/tree
check 'has the change' grep -q four build/tree/include/new.h
# Give each base a version of its own of a file that was shared.
mkdir -p files/6.1/include
mv files/both/include/new.h files/6.1/include/
cp files/6.1/include/new.h "$tmp/new.h.61"
echo five >"$tmp/dev/include/new.h"
commit 'kernel: change what is not shared any more' fixes/not-shared
check 'refresh with a file of its own' env BASE=7.3 TREE="$tmp/dev" scripts/refresh
unshared() { ! grep 'changes for the series of 6.1' "$tmp/last"; }
check 'does not change the series of 6.1' unshared
check 'writes that file' grep -qx five files/7.3/include/new.h
check 'not to that of the other base' cmp files/6.1/include/new.h "$tmp/new.h.61"
export LINUX=$tmp/new
check 'tree with a file of its own' env BASE=7.3 scripts/tree
check 'has that file' same73
export LINUX=$tmp/linux
check 'tree of 6.1 with its own' scripts/tree
check 'has its own' grep -q four build/tree/include/new.h
git reset -q --hard HEAD~2
git rm -q include/newest.h include/new.h
git commit -q --amend -m $'kernel: sixty\n\nStep: fixes/sixty'
check 'refresh with BASE=7.3 without whole files' env BASE=7.3 TREE="$tmp/dev" scripts/refresh
check 'removes all files of that series alone' test ! -e files/7.3
check 'and no file of the other series' test -e files/6.1/include/new.h

echo 'Adds: kernel/none.c' >>patches/6.1/tests/nothing.patch
check 'a whole file that is not there' fails
check 'is named' grep 'Adds: kernel/none.c: no such file' "$tmp/last"
echo "1..$n"
