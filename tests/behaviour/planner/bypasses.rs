//! Ways around a rule that checks only the first word (facts A4.5, A4.6), and commands that only look like one.

use super::*;

#[test]
fn every_program_of_a_line_is_judged() {
    let project = TestProject::new();
    blocks(
        &project,
        "is not in the planner's allowlist",
        &[
            "ls && rm x",
            "ls; rm x",
            "ls || rm x",
            "ls | xargs rm",
            "ls & rm x",
            "ls\nrm x",
            "echo $(rm x)",
            "echo `rm x`",
            "echo \"$(rm x)\"",
            "cat <(rm x)",
            "(rm x)",
            "{ rm x; }",
            "if true; then rm x; fi",
            "for f in a b; do rm x; done",
            "while rm x; do ls; done",
            "f() { rm x; }; ls",
            "! rm x",
            "time rm x",
            "command rm x",
            "builtin eval ls",
            "env rm x",
            "env FOO=1 ls",
            "timeout 5 ls",
            "nohup rm x",
            "exec rm x",
            "sudo rm x",
            "eval 'rm x'",
            "bash -c 'rm x'",
            "sh -c ls",
            "python3 x.py",
            "node -e 1",
            "source planning/x.sh",
            ". planning/x.sh",
            "cat <<EOF\n$(rm x)\nEOF",
            "sed -i s/a/b/ x",
            "touch x",
            "mkdir x",
            "export FOO=1",
            "alias ls=rm",
        ],
    );
}

#[test]
fn values_that_the_shell_evaluates_run_nothing_for_a_planner() {
    let project = TestProject::new();
    blocks(
        &project,
        "is not in the planner's allowlist",
        &[
            "RANDOM='a[$(touch y)]'",
            "SECONDS=\"a[\\$(touch y)]\"; ls",
            "OPTIND=$'a[\\x24(touch y)]'",
            "SRANDOM='a[`touch y`]' && ls",
            "HISTCMD=$(echo 'a[$(touch y)]')",
            "x='a[$(touch y)]'; RANDOM=$x",
            "x='a[$(touch y)]'; RANDOM=x",
            "for RANDOM in 'a[$(touch y)]'; do ls; done",
            "RANDOM=('a[$(touch y)]')",
            "RANDOM[0]='a[$(touch y)]'",
            "test -v 'a[$(touch y)]'",
            "[[ 1 -eq 'a[$(touch y)]' ]]",
            "x='a[$(touch y)]'; [ x -eq 1 ]",
            "x='a[$(touch y)]'; ((x))",
            ": $((x='$(touch y)'))",
            "v=abc; echo ${v:'a[$(touch y)]'}",
            "let 'a[$(touch y)]'",
            "declare -i n='a[$(touch y)]'",
            "RANDOM=$(cat planning/x.md)",
        ],
    );
    allows(
        &project,
        &[
            "RANDOM=42; echo $RANDOM",
            "RANDOM=$$",
            "SECONDS=0; ls; echo $SECONDS",
            "echo $((1 + 2))",
            "grep -n 'a[$(touch y)]' x.sh",
            "[ \"$n\" -gt 3 ] && ls",
        ],
    );
}

#[test]
fn tee_does_not_write_for_a_planner() {
    blocks(
        &TestProject::new(),
        "is not in the planner's allowlist",
        &[
            "cat x | tee .tdd-progress.md",
            "cat x | sudo tee y",
            "cat x | tee planning/a y",
            "cat x |& tee y",
            "ls | sponge y",
            "ls | dd of=y",
        ],
    );
}

#[test]
fn a_listed_program_with_a_mutating_option_is_blocked() {
    blocks(
        &TestProject::new(),
        "is not in the planner's allowlist",
        &[
            "git grep --textconv x",
            "git grep -O x",
            "git tag -n-1 v9",
            "git tag -n4294967295 v9",
            "git log -p --textconv",
            "flutter analyze",
            "flutter analyze --no-pub --write=x",
            "dart analyze --cache=x",
            "ls &&\\\nrm x",
            "find . -name x -delete",
            "find . -name x -exec rm {} +",
            "find . -execdir touch x ';'",
            "find . -ok rm {} ';'",
            "find . -fprint x",
            "git checkout .",
            "git commit -m x",
            "git -C . commit -m x",
            "git push",
            "git reset --hard",
            "git clean -fd",
            "git stash",
            "git branch -D x",
            "git config alias.x '!rm y'",
            "git -c core.pager='rm x' log",
            "git -c alias.x='!rm y' x",
            "git diff --output=x",
            "git diff --ext-diff",
            "git grep -O x",
            "rg --pre rm x",
            "tree -o x",
            "flutter pub add http",
            "flutter create x",
            "flutter run",
            "dart run x",
            "dart fix --apply",
            "dart format .",
            "fvm install 3",
        ],
    );
}

#[test]
fn the_reason_names_the_option() {
    let reason = decided(&TestProject::new(), "find . -name '*.tmp' -delete").unwrap().unwrap_err();
    assert!(reason.starts_with("BLOCKED: 'find -delete' is not in the planner's allowlist. "), "{reason}");
    assert!(reason.contains("; `find -delete` deletes files."), "{reason}");
}

#[test]
fn a_variable_that_decides_what_runs_is_blocked() {
    blocks(
        &TestProject::new(),
        "is not in the planner's allowlist",
        &[
            "PATH=planning:$PATH ls",
            "LD_PRELOAD=planning/x.so ls",
            "GIT_EXTERNAL_DIFF=planning/x git diff",
            "GIT_PAGER=planning/x git log",
            "PAGER=planning/x git log",
            "GIT_DIR=planning/g git status",
            "RIPGREP_CONFIG_PATH=planning/c rg x",
            "PATH=planning; ls",
        ],
    );
    allows(&TestProject::new(), &["LC_ALL=C grep x y", "TZ=UTC git log"]);
}

#[test]
fn a_command_that_cannot_be_understood_is_blocked() {
    let project = TestProject::new();
    blocks(&project, "", &["$X", "$(cat x)", "\"$CMD\" x", "ls; ${A}rm x"]);
    let reason = decided(&project, "echo $((a))").unwrap().unwrap_err();
    assert!(
        reason.starts_with("BLOCKED: not understood: arithmetic with more than numbers at byte 8. To fix: "),
        "{reason}"
    );
}

/// `planning/` is writable, so a program that reads configuration there does not run there.
#[test]
fn programs_with_configuration_do_not_run_where_the_planner_writes() {
    let project = TestProject::new();
    fs::create_dir_all(project.path.join("planning/repo")).unwrap();
    blocks(
        &project,
        "may not run in planning/",
        &[
            "cd planning && git status",
            "cd planning/repo && git log",
            "git -C planning/repo status",
            "git -C planning -C repo status",
            "git -C app -C ../planning status",
            "git --git-dir=planning/repo/.git log",
            "git --git-dir planning/g log",
            "dart analyze planning",
            "flutter analyze --no-pub planning/repo",
        ],
    );
    blocks(
        &project,
        "the directory in which 'git' would run is not certain",
        &[
            "cd planning; git status",
            "find planning -name config -execdir git status ';'",
            "find . -okdir git log ';'",
        ],
    );
    blocks(
        &project,
        "not understood: ",
        &[
            "git -C \"planning/$X\" log",
            "git --git-dir=\"planning/$X\" log",
            "git --git-dir \"$X\" log",
            "git --work-tree=\"planning/$X\" status",
            "dart analyze \"planning/$X\"",
            "find planning -type d -exec git -C {} log ';'",
            "find planning -type d -exec dart analyze {} ';'",
        ],
    );
    allows(
        &project,
        &[
            "find . -execdir cat {} ';'",
            "git log -- planning/x.md",
            "git diff planning",
            "git -C . status",
            "cd planning && ls",
        ],
    );
}

#[test]
fn readers_in_every_combination_are_allowed() {
    allows(
        &TestProject::new(),
        &[
            "find . -name '*.dart' -type f | head -20",
            "find lib -name '*.dart' | wc -l",
            "grep -rn 'class Foo' lib | head",
            "rg -n --glob '*.rs' 'fn main'",
            "git log --oneline -10",
            "git status --short",
            "git diff HEAD~1 -- lib",
            "git show HEAD:pubspec.yaml",
            "git branch -a",
            "command -v fvm",
            "which dart && dart --version",
            "flutter --version",
            "flutter doctor",
            "dart analyze",
            "flutter analyze --no-pub",
            "git tag -n3 'v1.*'",
            "ls &&\\\npwd",
            "ls ||\\\n  pwd",
            "ls |\\\nwc -l",
            "test -f pubspec.yaml && cat pubspec.yaml",
            "ls -la; pwd; git status",
            "cat a.txt | grep foo | wc -l",
            "echo \"$(git rev-parse HEAD)\"",
            "for f in a b; do cat x; done",
            "if [ -d test ]; then ls test; else echo none; fi",
            "du -sh . 2>/dev/null || true",
            "stat -c %Y README.md",
            "tail -n 5 CHANGELOG.md",
            "# a remark\nls",
        ],
    );
}
