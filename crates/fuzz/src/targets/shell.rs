//! Command lines.

#[path = "../../../../tests/behaviour/commands/table.rs"]
mod table;

use std::path::Path;
use std::time::Duration;

use provost_shell as shell;
use provost_shell::effect::Effect;

use super::{Target, ensure};
use crate::double_check::AnswerDigest;

pub const TARGET: Target = Target {
    name: "shell",
    promise: "a command line has at most 64 effects for each byte; text after a command, on another line, cannot \
              hide what that command does",
    patience: Duration::from_millis(120),
    seeds,
    tokens: &[
        "$(",
        ")",
        "`",
        "\"",
        "'",
        "$'",
        "${",
        "}",
        "((",
        "))",
        "$((",
        "<(",
        ">(",
        "<<EOF\n",
        "\nEOF\n",
        "<<-'E'\n",
        "\nE\n",
        "<<<",
        "|",
        "||",
        "&&",
        ";",
        "&",
        "\n",
        "\\\n",
        "\\",
        "#",
        " # ",
        "{",
        "{a,b}",
        "{1..9}",
        "[[ ",
        " ]]",
        "if ",
        "; then ",
        "; fi",
        "case x in ",
        ";; esac",
        "for x in ",
        "; do ",
        "; done",
        "while ",
        "f() {",
        "! ",
        "time ",
        "eval ",
        "bash -c '",
        "command ",
        "cd x && ",
        "a=(",
        "a[",
        "]=",
        "> f",
        ">& ",
        "2>&1",
        "&> ",
        "{fd}>",
        "$x",
        "${x:-",
        "${!x}",
        "~",
        "*",
        "\0",
        "\r",
        "\t",
        "\u{a0}",
        "\u{2028}",
        "é",
        "\u{1F980}",
        "--",
        "-exec ",
        " \\; ",
        "xargs ",
        "sudo ",
        "env -S '",
        "git -C x ",
        "find . ",
    ],
    brackets: &[
        ("$(", ")"),
        ("(", ")"),
        ("\"$(", ")\""),
        ("`", "`"),
        ("{ ", "; }"),
        ("bash -c '", "'"),
        ("${x:-", "}"),
        ("if ", "; then :; fi"),
        ("<(", ")"),
        ("cat <<E\n", "\nE\n"),
        ("$((", "))"),
    ],
    is_json: false,
    check,
};

/// Budget: at most this many effects per input byte.
const EFFECTS_PER_BYTE: usize = 64;
/// This many effects are always allowed.
const FEW: usize = 3000;
const VICTIM: &str = "/work/project/victim";

fn seeds() -> Vec<Vec<u8>> {
    table::read_lines().into_iter().map(|line| line.command.into_bytes()).collect()
}

fn check(input: &[u8], digest: &mut AnswerDigest) -> Result<(), String> {
    let text = String::from_utf8_lossy(input);
    let effects = |text: &str| shell::effects(text, Path::new("/work/project"), Some(Path::new("/home/x")));
    let found = effects(&text);
    ensure(found.len() <= FEW + text.len() * EFFECTS_PER_BYTE, "more effects than a line can have")?;
    digest.add_debug(&found);
    let behind = effects(&format!("rm {VICTIM}\n{text}"));
    let is_told = |effect: &Effect| matches!(effect, Effect::Delete { path } if path == Path::new(VICTIM));
    ensure(behind.iter().any(is_told), "a deletion is hidden by the lines behind it")
}
