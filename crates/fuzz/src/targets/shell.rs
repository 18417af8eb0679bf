//! Command lines, as an agent gives them to a shell.

#[path = "../../../../tests/commands/table.rs"]
mod table;

use std::path::Path;
use std::time::Duration;

use provost::effect::Effect;
use provost::shell;

use super::{Target, holds};
use crate::trial::Seen;

pub const TARGET: Target = Target {
    name: "shell",
    promise: "a command line has at most 64 effects for each byte; what stands behind a command on another \
              line cannot hide what that command does",
    findings: &[
        "in 240 bytes, here-documents in arithmetic that may be a subshell were read 8,000 times over (114,726 effects)",
        "the same in 622 bytes of forty such levels, after texts were no longer read twice in the same place (68,713 effects)",
    ],
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

/// More effects than this for each byte would be a line that blows up.
const EFFECTS_PER_BYTE: usize = 64;
/// So many are no matter.
const FEW: usize = 3000;
const VICTIM: &str = "/work/project/victim";

fn seeds() -> Vec<Vec<u8>> {
    table::read().into_iter().map(|line| line.command.into_bytes()).collect()
}

fn check(input: &[u8], seen: &mut Seen) -> Result<(), String> {
    let text = String::from_utf8_lossy(input);
    let effects = |text: &str| shell::effects(text, Path::new("/work/project"), Some(Path::new("/home/x")));
    let found = effects(&text);
    holds(found.len() <= FEW + text.len() * EFFECTS_PER_BYTE, "more effects than a line can have")?;
    seen.add_shown(&found);
    let behind = effects(&format!("rm {VICTIM}\n{text}"));
    let is_told = |effect: &Effect| matches!(effect, Effect::Delete { path } if path == Path::new(VICTIM));
    holds(behind.iter().any(is_told), "a deletion is hidden by the lines behind it")
}
