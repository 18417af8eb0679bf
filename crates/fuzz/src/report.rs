//! The rows of the table in `docs/reliability.md`.

use crate::run::Tally;
use crate::targets::Target;

pub const HEAD: &str =
    "| target | what must hold | inputs | processor minutes | findings |\n|---|---|---|---|---|";

/// The row of a target; figures are left out where there was no run.
pub fn row(target: &Target, tally: Option<&Tally>) -> String {
    let figures = tally.map_or_else(
        || " | ".to_owned(),
        |tally| format!("{} | {:.1}", grouped(tally.inputs), tally.processor.as_secs_f64() / 60.0),
    );
    let findings = match target.findings {
        [] => "none".to_owned(),
        [one] => format!("1, mended: {one}"),
        more => format!("{}, mended: {}", more.len(), more.join("; ")),
    };
    format!("| `{}` | {} | {figures} | {findings} |", target.name, target.promise)
}

/// A number as people read it.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped() {
        for (number, text) in [(0, "0"), (999, "999"), (1000, "1,000"), (12_345_678, "12,345,678")] {
            assert_eq!(grouped(number), text);
        }
    }
}
