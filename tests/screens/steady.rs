//! What differs from run to run is replaced by something of the same width, so that a screen keeps its form.

use crate::stage::Stage;

/// Fields of JSON that hold how long something took.
const TOOK: &[&str] = &["micros\":", "milliseconds\": "];

/// A screen without times, ids and random names.
pub fn made(text: &str, stage: &Stage) -> String {
    let text = text.replace(&stage.random_part(), "XXXXXX");
    let mut steady = String::new();
    let mut rest = text.as_str();
    let mut before = ' ';
    while let Some(first) = rest.chars().next() {
        let found = if before.is_alphanumeric() || before == '.' { None } else { volatile(rest) };
        let (taken, put) = found.unwrap_or((first.len_utf8(), first.to_string()));
        steady += &put;
        before = rest[..taken].chars().next_back().unwrap_or(' ');
        rest = &rest[taken..];
    }
    steady
}

/// Whether the text begins with something that differs: its length, and what stands for it.
fn volatile(text: &str) -> Option<(usize, String)> {
    if let Some(length) = begins(text, "dddd-dd-ddTdd:dd:dd.dddZ") {
        return Some((length, "2026-01-01T00:00:00.000Z".into()));
    }
    if let Some(length) = begins(text, "dddd-dd-ddTdd:dd:ddZ") {
        return Some((length, "2026-01-01T00:00:00Z".into()));
    }
    if let Some(length) = begins(text, "dddd-dd-dd") {
        return Some((length, "2026-01-01".into()));
    }
    if let Some(length) = begins(text, "dd:dd:dd") {
        return Some((length, "00:00:00".into()));
    }
    let version = env!("CARGO_PKG_VERSION");
    if text.starts_with(version) {
        return Some((version.len(), "<version>".into()));
    }
    // An id of a decision; no word of ours has its length and begins so.
    let word = text.find(|c: char| !c.is_ascii_lowercase() && !c.is_ascii_digit()).unwrap_or(text.len());
    if word == 13 && text.starts_with('1') {
        // Behind one, in the name of a file, stands the process that made it.
        let process = text[word..].strip_prefix('-').map_or(0, digits);
        return Some(match process {
            0 => (word, "1xxxxxxxxxxxx".into()),
            length => (word + 1 + length, "1xxxxxxxxxxxx-12345".into()),
        });
    }
    // Names that are made from the project's path.
    if word == 16 && text[..word].chars().all(|c| c.is_ascii_hexdigit()) {
        return Some((word, "0".repeat(word)));
    }
    if let Some(field) = TOOK.iter().find(|field| text.starts_with(**field)) {
        return Some((field.len() + digits(&text[field.len()..]), format!("{field}0")));
    }
    duration(text)
}

/// `12.4 ms`, `0.201 s`, `17 µs` and the like.
fn duration(text: &str) -> Option<(usize, String)> {
    let number = text.find(|c: char| !c.is_ascii_digit() && c != '.')?;
    let (number, unit) = text.split_at(number);
    number.parse::<f64>().ok()?;
    // Whole seconds are a limit that somebody has set.
    let is_measured = |known: &&str| {
        let behind = unit.strip_prefix(known);
        behind.is_some_and(|behind| !behind.starts_with(char::is_alphanumeric))
            && (*known != " s" || number.contains('.'))
    };
    let unit = [" ms", " µs", " s"].into_iter().find(is_measured)?;
    Some((number.len() + unit.len(), format!("N.N{unit}")))
}

/// How many digits the text begins with.
fn digits(text: &str) -> usize {
    text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len())
}

/// The length of what the text begins with, if that has this form; `d` stands for a digit.
fn begins(text: &str, form: &str) -> Option<usize> {
    let fits = |(wanted, found): (char, char)| match wanted {
        'd' => found.is_ascii_digit(),
        _ => found == wanted,
    };
    (text.len() >= form.len() && form.chars().zip(text.chars()).all(fits)).then_some(form.len())
}
