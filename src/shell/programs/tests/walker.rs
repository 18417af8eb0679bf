//! Words that are not known, and how far options can be trusted then.

use crate::shell::programs::options::{Deed, Item, Options, STRICT, Values, Walk};
use crate::shell::word::{Unknown, Word};

const SAMPLE: Options = Options {
    letters: "nk:c::",
    longs: "--all --key= --other",
    loud: &[("-o=", Deed::Writes), ("--output=", Deed::Writes), ("--delete", Deed::Does("deletes"))],
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
            let unknown = Some(Unknown { splits, may_dash: splits || at == 0 });
            Word { source, value, unknown, ..Word::default() }
        }
    }
}

fn walked(options: &Options, line: &str) -> String {
    let words: Vec<_> = line.split(' ').map(word).collect();
    let tell = |item| match item {
        Item::Operand(word) => word.source().to_owned(),
        Item::Dashes => "--".into(),
        Item::Strange(word) => format!("strange({})", word.source()),
        Item::Doubtful(word) => format!("doubtful({})", word.source()),
        Item::Known { name, value, deed } => {
            let value = value.map_or(String::new(), |word| format!("={}", word.start()));
            format!("{name}{value}{}", if deed.is_some() { "!" } else { "" })
        }
    };
    Walk::new(options, &words).map(tell).collect::<Vec<_>>().join(" ")
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
        ("--made-up", "strange(--made-up)"),
        ("-nx", "-n strange(-nx)"),
        ("-é", "strange(-é)"),
        ("--=x", "--output=x!"),
    ] {
        assert_eq!(walked(&SAMPLE, line), wanted, "{line}");
    }
}

#[test]
fn what_is_not_known_may_be_an_option() {
    for (line, wanted) in [
        ("$X", "doubtful($X)"),
        ("\"$X\"", "doubtful(\"$X\")"),
        ("\"a$X\"", "\"a$X\""),
        ("-- $X", "-- $X"),
        ("--$X", "doubtful(--$X)"),
        ("--out$X", "doubtful(--out$X)"),
        ("-n$X", "-n doubtful(-n$X)"),
        ("\"-n$X\"", "-n doubtful(\"-n$X\")"),
        ("\"--key=$X\"", "--key="),
        ("--key=$X", "--key= doubtful(--key=$X)"),
        ("\"-k$X\"", "-k="),
        ("-k \"$X\" a", "-k= a"),
        ("-k $X a", "-k= doubtful($X) a"),
        // An empty `$X` makes `--` the value, and what follows options.
        ("\"-k$X\" -- -o", "-k= doubtful(--) -o"),
    ] {
        assert_eq!(walked(&SAMPLE, line), wanted, "{line}");
    }
}

#[test]
fn where_values_are_not_certain_they_hide_nothing() {
    let likely = Options { values: Values::Likely, ..SAMPLE };
    assert_eq!(walked(&likely, "--key --output=f"), "--key --output=f!");
    assert_eq!(walked(&likely, "--key -- --output=f"), "--key doubtful(--) --output=f");
    assert_eq!(walked(&likely, "--key a -- b"), "--key=a -- b");
    let anywhere = Options { values: Values::Anywhere, ..SAMPLE };
    assert_eq!(walked(&anywhere, "-n -- -o"), "-n doubtful(--) -o");
}

#[test]
fn quiet_options_pass_what_is_not_listed() {
    let quiet = Options { quiet: true, ..SAMPLE };
    assert_eq!(walked(&quiet, "--made-up -xyz a"), "a");
    assert_eq!(walked(&quiet, "-xof"), "-o=f!");
    let long = format!("-{} --x{}", "x".repeat(300_000), " --x".repeat(200_000));
    assert_eq!(walked(&quiet, &long), "");
}
