//! Which effects belong to one command, and whose exit code decides on that of the line.

use super::*;

fn read(line: &str) -> Line {
    read_line(line, Path::new("/p"), Some(Path::new("/h")))
}

/// The number of the command that runs this program.
fn find_command(line: &Line, wanted: &str) -> u32 {
    let is_it = |effect: &Effect| matches!(effect, Effect::Run { program, .. } if program == wanted);
    let at = line.effects.iter().position(is_it).unwrap_or_else(|| panic!("{wanted}: {line:?}"));
    line.command_numbers[at]
}

/// The files that each command reads, writes or deletes, in the order of the commands.
fn list_files(line: &str) -> Vec<String> {
    let line = read(line);
    assert_eq!(line.effects.len(), line.command_numbers.len());
    let name = |effect: &Effect| match effect {
        Effect::Read { path, .. } | Effect::Write { path, .. } | Effect::Delete { path } => {
            Some(path.display().to_string())
        }
        _ => None,
    };
    let numbers = 0..u32::try_from(line.commands.len()).unwrap();
    let files = numbers.map(|number| line.effects_of(number).filter_map(name).collect::<Vec<_>>().join(" "));
    files.filter(|files| !files.is_empty()).collect()
}

#[test]
fn the_effects_of_one_command_have_one_number() {
    for (line, wanted) in [
        ("rm a && rm b", &["/p/a", "/p/b"][..]),
        ("rm a b; rm c", &["/p/a /p/b", "/p/c"]),
        ("cat a > b | tee c < d", &["/p/b /p/a", "/p/d /p/c"]),
        ("sudo env A=1 rm a > b", &["/p/b /p/a"]),
        ("(rm a; rm b) > c", &["/p/c", "/p/a", "/p/b"]),
        ("bash -c 'rm a; rm b' > c", &["/p/c", "/p/a", "/p/b"]),
        ("cat a \"$(cat b)\" c", &["/p/a /p/c", "/p/b"]),
        ("cat a `cat b` c", &["/p/a /p/c", "/p/b"]),
        ("cat <<E > a\n$(cat b)\nE\ncat c", &["/p/a", "/p/c", "/p/b"]),
        ("if rm a; then rm b; fi; for x in 1 2; do rm c; done > d", &["/p/a", "/p/b", "/p/d", "/p/c"]),
        ("eval 'rm a' && rm b", &["/p/b", "/p/a"]),
    ] {
        assert_eq!(list_files(line), wanted, "{line}");
    }
}

#[test]
fn the_commands_of_a_pipeline_are_in_order() {
    let line = read("a | b | c && d | e; f");
    let pipelines: Vec<u32> = line.commands.iter().map(|command| command.pipeline).collect();
    assert_eq!(pipelines, [0, 0, 0, 1, 1, 2]);
    for (line, feeds) in [
        ("x | y", true),
        ("x | a | y", true),
        ("y | x", false),
        ("x; y", false),
        ("x && a | y", false),
        ("{ a; x; } | y", true),
        ("x | (cd d && y)", true),
        ("x | bash -c 'a; y'", true),
        ("bash -c 'x | a' | while read l; do y; done", true),
        ("y \"$(x)\"", true),
        ("y `a | x`", true),
        ("y <(x)", true),
        ("y \"$(a \"$(x)\")\"", true),
        ("bash -c \"y $(x)\"", true),
        ("x \"$(y)\"", false),
        ("{ x; y; }", false),
    ] {
        let read = read(line);
        assert_eq!(read.feeds(find_command(&read, "x"), find_command(&read, "y")), feeds, "{line}");
    }
}

#[test]
fn a_command_decides_if_no_success_of_the_line_is_possible_without_it() {
    for line in [
        "x",
        "a; x",
        "a\nx\n",
        "x && a",
        "x && a && b",
        "a && x",
        "a || b && x",
        "cd d || exit 1; x",
        "x > log 2>&1",
        "A=1 x",
        "time x",
        "time -p x",
        "env A=1 x",
        "timeout 60 x",
        "sudo -u u nice x",
        "exec x",
        "a | x",
        "set -o pipefail; x | tee log",
        "set -euo pipefail\nx | tee log\n",
        "set -o pipefail && x | a && b",
        "(x)",
        "(cd d && x)",
        "{ x; }",
        "{ a; x; } && b",
        "{ set -o pipefail; }; x | a",
        "bash -c x",
        "bash -lc 'cd d && x'",
        "a; bash -c 'b; (x && c)' && d",
        "bash -o pipefail -c 'x | a'",
        "eval x",
        "eval 'x && a'",
        "bash <<< x",
        "bash <<E\na\nx\nE",
        "env -S 'A=1 x'",
        "su -c x",
        "git -c alias.y='!x' y",
        "! ! x",
        "x && exit 0",
    ] {
        let read = read(line);
        let command = read.commands[find_command(&read, "x") as usize];
        assert!(command.decides_status, "{line}: {read:?}");
    }
    for line in [
        "x; a",
        "x\na",
        "x || a",
        "a || x",
        "a && x || b",
        "x & a",
        "x &",
        "x & wait",
        "! x",
        "! x && a",
        "! (x)",
        "x | a",
        "set -o pipefail; set +o pipefail; x | a",
        "(set -o pipefail); x | a",
        "set -o pipefail; bash -c 'x | a'",
        "if x; then a; fi",
        "if a; then x; fi",
        "while x; do a; done",
        "for i in 1 2; do x; done",
        "case a in b) x;; esac",
        "echo $(x)",
        "echo `x`",
        "A=$(x)",
        "(x; a)",
        "(x) || a",
        "{ x && a; } ; b",
        "bash -c 'x; a'",
        "bash -c x || a",
        "bash -c x; a",
        "eval x | a",
        "find . -exec x \\;",
        "a | xargs x",
        "setsid x",
        "trap 'exit 0' EXIT; x",
        "f() { x; }; f",
        "x() { true; }; x",
        "alias x=true; x",
        "exit 0; x",
        "if a; then exit; fi; x",
        "exec a; x",
        "watch x",
        "rg --pre x a",
        "coproc x",
        "cat <<E\n$(x)\nE",
        "x && (",
    ] {
        let read = read(line);
        let command = read.commands[find_command(&read, "x") as usize];
        assert!(!command.decides_status, "{line}: {read:?}");
    }
}

#[test]
fn lines_one_after_the_other_keep_their_commands_apart() {
    let mut line = read("a | b");
    line.append(read("rm c | (rm d)"));
    let pipelines: Vec<u32> = line.commands.iter().map(|command| command.pipeline).collect();
    assert_eq!(pipelines, [0, 0, 1, 1, 2]);
    assert_eq!(line.commands[4].within, Some(3));
    assert_eq!(line.effects_of(4).count(), 2);
}
