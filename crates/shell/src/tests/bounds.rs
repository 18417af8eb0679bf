//! The cost of a line has a bound, for every line.

use std::path::Path;

use crate::effect::Effect;
use crate::effects;
use cpu_time::cpu_time;

#[test]
fn hostile_lines_end_in_bounded_time() {
    for line in [
        "'".repeat(1 << 20),
        "(".repeat(100_000),
        "rm \\".into(),
        "> ".repeat(10_000),
        "<<".repeat(5000),
        "sh -c ".repeat(3000),
        "\"$(".repeat(50_000),
    ] {
        let _ = effects(&line, Path::new("/p"), None);
    }
}

#[test]
fn a_line_that_is_too_large_is_not_parsed() {
    let line = format!("rm f{}", " ".repeat(1 << 20));
    let what = format!("a command line of {} bytes", line.len());
    assert_eq!(effects(&line, Path::new("/p"), None), [Effect::TooLarge { what }]);
}

/// Each `$((` can be parsed in two ways, and each body of a here-document is parsed by itself.
#[test]
fn nested_texts_are_not_parsed_again_and_again() {
    let line =
        |levels, parts| format!("{}$((", format!("{}cat\n<<A\nx<<'r", "$((".repeat(levels)).repeat(parts));
    for line in [line(12, 4), line(4, 12)] {
        let found = effects(&line, Path::new("/p"), None);
        assert!(matches!(found[0], Effect::TooLarge { .. }), "{} effects of {line}", found.len());
        assert!(found.len() < 3000 + line.len() * 64, "{} effects of {line}", found.len());
    }
    let found = effects(&line(3, 2), Path::new("/p"), None);
    assert!(found.iter().any(|effect| matches!(effect, Effect::Run { program, .. } if program == "cat")));
}

/// The effects of a line before it becomes too large are reported as well.
#[test]
fn a_large_line_does_not_hide_its_first_effects() {
    let deep = format!("{}cat\n<<A\nx<<'r", "$((".repeat(12)).repeat(4);
    let found = effects(&format!("rm victim; exit\n{deep}$(("), Path::new("/p"), None);
    assert!(matches!(found[0], Effect::TooLarge { .. }));
    assert!(found.contains(&Effect::Delete { path: "/p/victim".into() }), "{found:?}");
}

#[test]
fn a_text_may_run_again_and_again() {
    let script = "make all >/dev/null || exit 1\n".repeat(100);
    let runs: Vec<String> = (0..130).map(|run| format!("bash -c \"$T\" _ t{run}\n")).collect();
    let found = effects(&format!("T='{script}'\n{}", runs.concat()), Path::new("/p"), None);
    assert!(!found.iter().any(|effect| matches!(effect, Effect::TooLarge { .. })));
}

/// In many directories, each text has its effects in each of them.
#[test]
fn texts_in_many_directories_have_a_bound() {
    let places: Vec<String> = ('a'..='p').map(|place| format!("cd /{place};")).collect();
    for ending in ["", "; #"] {
        let runs: Vec<String> = (0..40).map(|run| format!("bash -c \"$T{ending}{run}\";")).collect();
        let line = format!("T='{}';{}{}", ">a;".repeat(300), places.concat(), runs.concat());
        let found = effects(&line, Path::new("/p"), None);
        assert!(found.len() < 3000 + line.len() * 64, "{} effects of {} bytes", found.len(), line.len());
    }
}

#[test]
fn large_lines_stay_within_their_work() {
    let home = "h".repeat(4000);
    for line in [
        "cd a && ".repeat(100_000),
        "cd a; ".repeat(100_000),
        "cd a; $(x);".repeat(90_000),
        format!("rm{}", " a".repeat(400_000)),
        format!("cd {} && rm{}", "a".repeat(4000), " a".repeat(400_000)),
        format!("{}cp{} d", "cd a;".repeat(20), " a".repeat(400_000)),
        "rm ~;".repeat(150_000),
        "rm $PWD;".repeat(100_000),
        format!("{}{}", "(".repeat(500_000), ") ".repeat(250_000)),
        format!("{}{}", "$((".repeat(200_000), "))".repeat(200_000)),
        "((\"$((\"".repeat(100_000),
        "${".repeat(500_000),
        "`".repeat(1 << 20),
        "$(".repeat(500_000),
        "$(cat <<E\n".repeat(90_000),
        "<(".repeat(500_000),
        "case ".repeat(200_000),
        "\"${X:-".repeat(150_000),
        "$(cat <<E\nE)\n".repeat(70_000),
        format!("while :; do {}{} done", "a;".repeat(200_000), "cd /;".repeat(100_000)),
        format!("while :; do {}{} done", ">a;".repeat(150_000), "cd /;".repeat(100_000)),
        "${a[}".repeat(200_000),
        format!("{}{}", "a;".repeat(200_000), "`git switch x`; ".repeat(40_000)),
        format!("T='{} '\necho {}", "x".repeat(500_000), "$T ".repeat(170_000)),
        format!("git switch {} && {}:", "x".repeat(400_000), "(:) && ".repeat(80_000)),
        format!("{}{}", "$((".repeat(16), "{".repeat(1_000_000)),
        "time [[ a ]]; ".repeat(70_000),
        "x=$((ls) | head); ".repeat(50_000),
        ": \"${x#'\"'}\"; ".repeat(60_000),
    ] {
        let (found, took) = cpu_time(|| effects(&line, Path::new("/p"), Some(Path::new(&home))));
        let name = &line[..line.len().min(20)];
        assert!(took.as_secs() < 10, "{name}: {took:?}");
        assert!(found.len() < 900_000, "{name}");
    }
}

#[test]
fn nested_texts_have_a_bound() {
    // No here-document has an end, so each contains all the text that follows, with the next ones.
    let line = "cat <<E\n\"$(type -P git >/dev/null && echo yes)\"at <<E\n".to_owned()
        + &"\"$(type -P git >/devat <<E\n".repeat(320);
    let (found, took) = cpu_time(|| effects(&line, Path::new("/p"), None));
    assert!(matches!(found[0], Effect::TooLarge { .. }), "{}", found.len());
    assert!(took.as_secs() < 5, "{took:?}");
}

#[test]
fn no_mixture_of_signs_exceeds_the_bound() {
    const PARTS: &[&str] = &[
        "$(",
        "((",
        "))",
        ")",
        "(",
        "`",
        "\"",
        "'",
        "$'",
        "\\",
        "\n",
        " ",
        "é",
        "<<",
        "<<-",
        "E",
        "<<<",
        "${",
        "}",
        "{",
        "#",
        "case ",
        "esac",
        "$",
        ">&",
        "2",
        "-",
        "=",
        "~+",
        "$PWD",
        "env ",
        "-S",
        "-C",
        "--",
        "cp ",
        "-t",
        "rm ",
        "bash ",
        "-c ",
        "tar ",
        "&&",
        ";",
        "|",
        "[[ ",
        "\\x",
        "\\u",
        "flock ",
        "sudo ",
        "a",
        "\u{1f600}",
        "\0",
        "\t",
    ];
    let mut state = 1_u64;
    for _ in 0..20_000 {
        let mut line = String::new();
        for _ in 0..24 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            line += PARTS[usize::try_from(state >> 33).unwrap() % PARTS.len()];
        }
        let _ = effects(&line, Path::new("/p"), Some(Path::new("/h")));
    }
}
