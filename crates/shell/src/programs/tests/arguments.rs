//! How arguments are parsed, with unknown words among them.

use crate::programs::options::{Argument, ArgumentParser, OptionAction, OptionTable, STRICT, ValueRule};
use crate::word::{UnknownPart, Word};

const SAMPLE: OptionTable = OptionTable {
    letters: "nk:c::",
    longs: "--all --key= --other",
    mutating: &[(OptionAction::Writes, "-o= --output="), (OptionAction::Does("deletes"), "--delete")],
    ..STRICT
};

/// `$X` stands for any words, `"$X"` for one word, `a$X` for one that starts with `a`.
fn word(source: &str) -> Word<'_> {
    let plain = source.trim_matches('"');
    match plain.find('$') {
        None => Word::literal(plain),
        Some(at) => {
            let splits = !source.starts_with('"');
            let value = plain[..at].into();
            let unknown = Some(UnknownPart { splits, may_dash: splits || at == 0 });
            Word { source, value, unknown, ..Word::default() }
        }
    }
}

fn parse_arguments(options: &OptionTable, line: &str) -> String {
    let words: Vec<_> = line.split(' ').map(word).collect();
    let describe = |argument| match argument {
        Argument::Operand(word) => word.source.to_owned(),
        Argument::EndOfOptions => "--".into(),
        Argument::UnknownOption(word) => format!("unknown({})", word.source),
        Argument::Uncertain(word) => format!("uncertain({})", word.source),
        Argument::Option { name, value, action } => {
            let value = value.map_or(String::new(), |word| format!("={}", word.prefix()));
            format!("{name}{value}{}", if action.is_some() { "!" } else { "" })
        }
    };
    ArgumentParser::new(options, &words).map(describe).collect::<Vec<_>>().join(" ")
}

#[test]
fn options_are_found_in_every_spelling() {
    for (line, wanted) in [
        ("a -n b", "a -n b"),
        ("-nof x", "-n -o=f! x"),
        ("-no f x", "-n -o=f! x"),
        ("-kno x", "-k=no x"),
        ("-k -o x", "-k=-o x"),
        ("-c -cx", "-c -c=x"),
        ("--output=f", "--output=f!"),
        ("--output f", "--output=f!"),
        ("--out f", "--output=f!"),
        ("--o f", "--output=f!"),
        ("--other", "--other"),
        ("--ot", "--other"),
        ("--no-output", "--no-output"),
        ("--no-all", "--no-all"),
        ("--del", "--delete!"),
        ("--key --all", "--key=--all"),
        ("-- --output -o", "-- --output -o"),
        ("- -", "- -"),
        ("--made-up", "unknown(--made-up)"),
        ("-nx", "-n unknown(-nx)"),
        ("-é", "unknown(-é)"),
        ("--=x", "--output=x!"),
    ] {
        assert_eq!(parse_arguments(&SAMPLE, line), wanted, "{line}");
    }
}

#[test]
fn an_unknown_word_may_be_an_option() {
    for (line, wanted) in [
        ("$X", "uncertain($X)"),
        ("\"$X\"", "uncertain(\"$X\")"),
        ("\"a$X\"", "\"a$X\""),
        ("-- $X", "-- $X"),
        ("--$X", "uncertain(--$X)"),
        ("--out$X", "uncertain(--out$X)"),
        ("-n$X", "-n uncertain(-n$X)"),
        ("\"-n$X\"", "-n uncertain(\"-n$X\")"),
        ("\"--key=$X\"", "--key="),
        ("--key=$X", "--key= uncertain(--key=$X)"),
        ("\"-k$X\"", "-k="),
        ("-k \"$X\" a", "-k= a"),
        ("-k $X a", "-k= uncertain($X) a"),
        // If `$X` is empty, `--` is the value, and options follow.
        ("\"-k$X\" -- -o", "-k= uncertain(--) -o"),
    ] {
        assert_eq!(parse_arguments(&SAMPLE, line), wanted, "{line}");
    }
}

#[test]
fn uncertain_values_hide_nothing() {
    let likely = OptionTable { values: ValueRule::Likely, ..SAMPLE };
    assert_eq!(parse_arguments(&likely, "--key --output=f"), "--key --output=f!");
    assert_eq!(parse_arguments(&likely, "--key -- --output=f"), "--key uncertain(--) --output=f");
    assert_eq!(parse_arguments(&likely, "--key a -- b"), "--key=a -- b");
    let anywhere = OptionTable { values: ValueRule::Anywhere, ..SAMPLE };
    assert_eq!(parse_arguments(&anywhere, "-n -- -o"), "-n uncertain(--) -o");
}

#[test]
fn unlisted_options_can_be_allowed() {
    let quiet = OptionTable { allows_unlisted: true, ..SAMPLE };
    assert_eq!(parse_arguments(&quiet, "--made-up -xyz a"), "a");
    assert_eq!(parse_arguments(&quiet, "-xof"), "-o=f!");
    let long = format!("-{} --x{}", "x".repeat(300_000), " --x".repeat(200_000));
    assert_eq!(parse_arguments(&quiet, &long), "");
}
