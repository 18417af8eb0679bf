//! Reads a length of time: `30d`, `12h`, `2w`, `90m`.

use std::time::Duration;

const FORM: &str = "a number and a unit: `30d`, `12h`, `2w`, `90m`";

pub(crate) fn parse_duration(text: &str) -> Result<Duration, String> {
    let text = text.trim();
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let seconds: u64 = match unit.trim() {
        "m" | "min" => 60,
        "h" => 3600,
        "d" => 86_400,
        "w" => 7 * 86_400,
        _ => return Err(FORM.into()),
    };
    let number: u64 = number.parse().ok().filter(|number| *number > 0).ok_or(FORM)?;
    number.checked_mul(seconds).map(Duration::from_secs).ok_or_else(|| "the time is too long".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_has_a_number_and_a_unit() {
        for (text, seconds) in
            [("30d", 2_592_000), ("12h", 43_200), ("2w", 1_209_600), ("90m", 5400), (" 1 d ", 86_400)]
        {
            assert_eq!(parse_duration(text).map(|time| time.as_secs()), Ok(seconds), "{text}");
        }
        for bad in
            ["", "d", "30", "30y", "0d", "-1d", "1.5d", "99999999999999999999d", "18446744073709551615w"]
        {
            assert!(parse_duration(bad).is_err(), "{bad}");
        }
    }
}
