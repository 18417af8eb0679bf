//! Replaces what differs from run to run with a text of the same width, so that the layout stays.

use super::stage::Stage;

/// JSON fields with durations.
const DURATION_FIELDS: &[&str] = &["micros\":", "milliseconds\": "];

/// Replaces times, ids and random names.
pub fn replace_volatile(text: &str, stage: &Stage) -> String {
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

/// If the text starts with something volatile: its length, and its replacement.
fn volatile(text: &str) -> Option<(usize, String)> {
    if let Some(length) = match_start(text, "dddd-dd-ddTdd:dd:dd.dddZ") {
        return Some((length, "2026-01-01T00:00:00.000Z".into()));
    }
    if let Some(length) = match_start(text, "dddd-dd-ddTdd:dd:ddZ") {
        return Some((length, "2026-01-01T00:00:00Z".into()));
    }
    if let Some(length) = match_start(text, "dddd-dd-dd") {
        return Some((length, "2026-01-01".into()));
    }
    if let Some(length) = match_start(text, "dd:dd:dd") {
        return Some((length, "00:00:00".into()));
    }
    let version = env!("CARGO_PKG_VERSION");
    if text.starts_with(version) {
        return Some((version.len(), "<version>".into()));
    }
    // The id of a decision. No other word has this length and start.
    let word = text.find(|c: char| !c.is_ascii_lowercase() && !c.is_ascii_digit()).unwrap_or(text.len());
    if word == 13 && text.starts_with('1') {
        // In a file name it is followed by a process id.
        let process = text[word..].strip_prefix('-').map_or(0, count_digits);
        return Some(match process {
            0 => (word, "1xxxxxxxxxxxx".into()),
            length => (word + 1 + length, "1xxxxxxxxxxxx-12345".into()),
        });
    }
    // A hash of the project's path.
    if word == 16 && text[..word].chars().all(|c| c.is_ascii_hexdigit()) {
        return Some((word, "0".repeat(word)));
    }
    if let Some(field) = DURATION_FIELDS.iter().find(|field| text.starts_with(**field)) {
        return Some((field.len() + count_digits(&text[field.len()..]), format!("{field}0")));
    }
    duration(text)
}

/// `12.4 ms`, `0.201 s`, `17 µs` and the like.
fn duration(text: &str) -> Option<(usize, String)> {
    let number = text.find(|c: char| !c.is_ascii_digit() && c != '.')?;
    let (number, unit) = text.split_at(number);
    number.parse::<f64>().ok()?;
    // Whole seconds are a time limit, not a measurement.
    let is_measured = |known: &&str| {
        let behind = unit.strip_prefix(known);
        behind.is_some_and(|behind| !behind.starts_with(char::is_alphanumeric))
            && (*known != " s" || number.contains('.'))
    };
    let unit = [" ms", " µs", " s"].into_iter().find(is_measured)?;
    Some((number.len() + unit.len(), format!("N.N{unit}")))
}

/// The number of digits at the start of a text.
fn count_digits(text: &str) -> usize {
    text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len())
}

/// The length of the pattern if the text starts with it; `d` matches a digit.
fn match_start(text: &str, form: &str) -> Option<usize> {
    let fits = |(wanted, found): (char, char)| match wanted {
        'd' => found.is_ascii_digit(),
        _ => found == wanted,
    };
    (text.len() >= form.len() && form.chars().zip(text.chars()).all(fits)).then_some(form.len())
}
