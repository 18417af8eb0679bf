//! Nothing hides the effects of a line: each of these changes the victim in bash, and the effects show it.

use std::collections::BTreeSet;
use std::path::Path;

use crate::effect::Effect;
use crate::effects;

pub(super) fn find_effects(line: &str) -> Vec<Effect> {
    effects(line, Path::new("/p"), None)
}

/// Whether the line writes to the victim, or deletes it.
pub(super) fn changes_victim(line: &str) -> bool {
    let is_victim = |path: &Path| path == Path::new("/p/victim");
    find_effects(line).iter().any(|effect| match effect {
        Effect::Write { path, .. } | Effect::Delete { path } => is_victim(path),
        _ => false,
    })
}

fn is_too_large(line: &str) -> bool {
    find_effects(line).iter().any(|effect| matches!(effect, Effect::TooLarge { .. }))
}

#[test]
fn a_word_right_after_a_closed_descriptor_is_the_program() {
    for line in [
        "<&-rm cat victim",
        "<& -rm cat victim",
        "0<&-rm cat victim",
        "2>&-rm cat victim",
        "<&-\"rm\" cat victim",
        "<&-\\\nrm cat victim",
        "<&- rm cat victim",
        "2>&- >&2 rm cat victim",
    ] {
        assert!(changes_victim(line), "{line}");
    }
    // A descriptor that is moved, and a file whose name starts like one.
    assert_eq!(find_effects("echo a <&3- >&2"), find_effects("echo a"));
    assert!(
        find_effects("date >&./-b").contains(&Effect::Write {
            path: "/p/./-b".into(),
            content: crate::effect::WriteContent::Unknown
        })
    );
}

#[test]
fn no_number_of_syntax_errors_ends_the_parsing() {
    for part in [
        "time [[ a ]]; ",
        "x=$((ls) | head); ",
        ": $((\"1\"));",
        "true &\\\n& true; ",
        "echo \"${v%'x}'}\"; ",
    ] {
        for times in [1, 8, 9, 30, 50] {
            let line = format!("{}echo a > victim", part.repeat(times));
            assert!(changes_victim(&line) || is_too_large(&line), "{times} × {part}");
        }
        assert!(changes_victim(&format!("{}echo a > victim", part.repeat(30))), "{part}");
    }
}

#[test]
fn a_quote_around_a_syntax_error_does_not_hide_the_rest() {
    for line in [
        "v=main; echo \"${v%'x'}\"; echo a > victim; echo \"done\"",
        "echo \"${v%'}'}\"; echo a > victim; echo \"done\"",
        ": \"${x#'#'}\"; echo a > victim",
        ": \"${x#'\"#'}\"; echo a > victim",
        ": \"${x:+<(:)}\"; echo a > victim; : \"a\"",
        ": \"$\\\nHOME\"; echo a > victim; : \"a\"",
        ": \"$(time [[ a ]])\"; echo a > victim; : \"a\"",
        "cat > n.md <<'EOF'; time [[ a ]]\nit's\nEOF\necho a > victim; : 'a'",
        "cat <<EOF\n$(time [[ a ]]; rm victim)\nEOF",
        "time<<<a rm victim",
        "<<- $ rm victim\n$",
    ] {
        assert!(changes_victim(line), "{line}: {:?}", find_effects(line));
    }
}

#[test]
fn a_dash_is_an_option_of_env() {
    for line in ["env - rm victim", "env - A=1 rm victim", "env -i - rm victim"] {
        assert!(changes_victim(line), "{line}");
    }
    let commits = find_effects("env - git commit -m x");
    assert!(commits.iter().any(|effect| matches!(effect, Effect::Commit { .. })), "{commits:?}");
}

#[test]
fn a_text_with_an_unknown_part_is_parsed() {
    for line in [
        "bash -c \"rm victim; echo $HOME $x\"",
        "sh -c \"echo $(date \\\"+%F\\\"); rm victim\"",
        "sh -c \"echo \\\"$x\\\"; rm victim\"",
        "bash -c 'rm victim; echo '$x",
        "eval \"rm victim\" $x",
        "eval \"$x\"'; rm victim'",
        "bash <<< \"rm victim $x\"",
        "$x rm victim",
        "\"$@\" rm victim",
        "$x $y A=1 env rm victim",
    ] {
        assert!(changes_victim(line), "{line}: {:?}", find_effects(line));
    }
    // An unknown part does not turn the text around it into commands.
    for line in ["bash -c \"rm -rf ./$x\"", "bash -c \"rm victim$x\"", "./$x rm victim", "\"$x\" rm victim"] {
        let found = find_effects(line);
        assert!(!found.iter().any(|effect| matches!(effect, Effect::Delete { .. })), "{line}: {found:?}");
    }
}

/// A text that may not be commands does not make a line too large, and quoted text stays text if no quote is in
/// doubt.
#[test]
fn innocent_texts_after_a_syntax_error_are_texts() {
    let mut python = String::from("def f(x):\n");
    for i in 0..64 {
        python += &format!("    if x == {i}:\n        y = {i}\n");
    }
    let rust = include_str!("../grammar/words.rs");
    for first in [
        "cargo build 2>&1 |\\\n  tail -5",
        "x=$(\\\n  date +%s)",
        "[[ $x == @(a|b) ]] && echo y",
        "time [[ -f x ]]",
        "case $x in +([0-9])) echo n;; esac",
        "ls !(*.md)",
        "echo \"${v//'\"'/}\"",
    ] {
        for text in [&*python, rust, &rust.repeat(8)] {
            let line = format!("{first}\ncat > a.txt <<'EOF'\n{text}EOF\n");
            assert!(!is_too_large(&line), "{first} and {} bytes", text.len());
        }
    }
    for line in [
        "ls |\\\n cat; git log --grep='rm victim'",
        "x=$(\\\n  git log -1 --format=%s); grep 'rm victim' README.md",
        "[[ $x == @(a|b) ]] && grep 'rm victim' README.md",
        "case $x in +([0-9])) echo 'rm victim';; esac",
        "time [[ -f a ]] && grep 'rm victim' README.md",
        "ls !(*.md); grep rm victim",
        "time [[ -f x ]]; git commit -m \"$(cat <<'EOF'\nDocs\n\nrm victim\nEOF\n)\"",
    ] {
        assert!(!changes_victim(line), "{line}: {:?}", find_effects(line));
    }
}

/// The budget counts the content of each effect: a long name in thousands of effects would be gigabytes.
#[test]
fn long_names_in_many_effects_are_too_large() {
    let line = format!("cd /{}&&{}", "d".repeat(4000), "a&&".repeat(300_000));
    let found = find_effects(&line);
    assert!(matches!(found[0], Effect::TooLarge { .. }), "{} effects", found.len());
    let length = |effect: &Effect| match effect {
        Effect::Run { directory: Some(directory), .. } => directory.as_os_str().len(),
        _ => 0,
    };
    let held: usize = found.iter().map(length).sum();
    assert!(held < 128 << 20, "{held} bytes");
}

#[test]
fn commits_after_one_switch_share_its_long_name() {
    let line = format!("git switch {} && {}", "x".repeat(4000), "git commit && ".repeat(38_000));
    let shared: BTreeSet<_> = find_effects(&line)
        .iter()
        .filter_map(|effect| match effect {
            Effect::Commit { site, .. } => Some(site.switches.as_ptr() as usize),
            _ => None,
        })
        .collect();
    assert_eq!(shared.len(), 1);
}

#[test]
fn a_shell_gives_its_text_the_words_behind_it() {
    for line in [
        "sh -c 'rm \"$1\"' _ victim",
        "sh -c 'rm $1' _ victim",
        "bash -c 'rm ${1}' _ victim other",
        "bash -c 'rm $0' victim",
        "bash -c '$0 victim' rm",
        "bash -c '$0 $1' rm victim",
        "bash -lc 'cd . && rm \"$2\"' _ a victim",
        "sh -c 'rm \"$@\"' _ victim",
        "sh -c 'rm -f $*' _ a victim",
        "sh -c 'rm \"$@\"' _ a victim",
        "sh -c 'for f in \"$1\"; do rm \"$f\"; done' _ victim",
        "sudo sh -c 'rm \"$1\"' _ victim",
        "sh -c 'sh -c \"rm $1\"' _ victim",
        "sh -c 'rm \"$1\"' _ victim $X",
        "echo victim | xargs sh -c 'rm \"$1\"' _",
    ] {
        assert!(changes_victim(line), "{line}");
    }
    for line in [
        "sh -c 'echo \"$1\"' _ victim",
        "sh -c 'rm \"$2\"' _ victim",
        "sh -c 'rm \"$1\"' victim",
        "sh -c 'shift; rm \"$1\"' _ victim a",
        "sh -c 'set -- a; rm \"$1\"' _ victim",
        "sh -c 'f() { rm \"$1\"; }; f a' _ victim",
        "sh -c \"rm \\\"\\$1\\\"\" _ \"$X\" victim",
        "rm \"$1\" victim2",
    ] {
        assert!(!changes_victim(line), "{line}");
    }
}
