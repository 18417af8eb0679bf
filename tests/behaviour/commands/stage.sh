# Builds the throwaway project in which the commands of the table are really run.
# Called once in an empty directory with an empty environment; each command gets a copy.
set -eu
umask 022
mkdir -p home/work/project tmp
cat > home/.gitconfig <<'EOF'
[user]
	name = Stage
	email = stage@example.invalid
[init]
	defaultBranch = main
[commit]
	gpgSign = false
EOF
cd home/work/project
git init --quiet --template=
mkdir -p lib/src lib/planning test docs planning/sub/git tools dev trap/find trap/git trap/rg
printf '# Project\n\nTODO: foo and bar\n' > README.md
printf 'name: app\n' > pubspec.yaml
printf 'void main() { foo(); } // TODO\n' > lib/main.dart
printf 'class A { foo() {} }\n' > lib/src/a.dart
printf 'keep\n' > lib/planning/keep.md
printf 'test("foo", () {});\n' > test/main_test.dart
printf 'one\ntwo\nfoo\n' > docs/a.md
printf 'b\n' > 'docs/b b.md'
printf 'touch pwned\n' > script.txt
printf 'README.md\n' > list.txt
printf '#!/bin/sh\ntouch pwned\n' > evil.sh
printf '#!/bin/sh\n: > "$HOME/pwned"\n' > tools/ls
cp tools/ls tools/git-evil
cp tools/ls tools/grep
chmod +x evil.sh tools/*
# Names that are options when a pattern spells them.
printf 'x\n' > trap/find/-delete
printf 'x\n' > trap/git/--output=pwned
printf 'x\n' > trap/git/one.md
printf 'x\n' > trap/rg/--pre=sh
printf 'touch pwned\n' > trap/rg/one.md
printf -- '--pre=./evil.sh\n' > rgrc
git add -A
git commit --quiet -m 'First'
git tag v0.1.0
git branch old
git switch --quiet -c feature
printf 'feature\n' > feature.txt
git add feature.txt
git commit --quiet -m 'Feature'
git switch --quiet main
printf 'more\n' >> docs/a.md
git commit --quiet -am 'Second'
# The remote has one commit that is not here yet.
git clone --quiet --bare . ../origin.git
git remote add origin ../origin.git
git fetch --quiet origin
git clone --quiet ../origin.git ../other
(cd ../other && printf 'new\n' > new.txt && git add new.txt && git commit --quiet -m 'Third' && git push --quiet origin HEAD:main)
rm -rf ../other
git notes add -m 'a note'
printf 'stashed\n' >> lib/src/a.dart
git stash push --quiet
git diff main feature > fix.patch
git config alias.co '!touch pwned'
git config alias.lg 'log --oneline'
# A repository whose own settings run a program, where the planner may write; a file of settings.
git init --quiet --template= planning/repo
printf 'x\n' > planning/repo/x.txt
git -C planning/repo add x.txt
git -C planning/repo config core.fsmonitor 'touch "$HOME/pwned"; false'
printf '[core]\n\tfsmonitor = touch pwned; false\n' > evil.cfg
cp evil.cfg planning/sub/.gitconfig
cp evil.cfg planning/sub/git/config
# What a working tree looks like while somebody plans.
printf 'changed\n' >> README.md
printf 'staged\n' > staged.txt
git add staged.txt
printf 'untracked\n' > notes.txt
printf 'old plan\n' > planning/old.md
printf 'x\n' > planning/sub/x.md
ln -s ../lib planning/link
ln -s ../README.md planning/out.md
ln -s ../planning/sub docs/p
