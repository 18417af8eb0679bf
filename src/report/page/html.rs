//! Text, numbers and times for HTML.
//!
//! Commands, paths and names come from agents. Every string of the model goes through [`escape`], [`escape_line`] or
//! [`escape_name`], which also make control and direction characters visible.

use crate::clock;
use crate::text::{clip_line, make_printable};

const LONGEST_LINE: usize = 400;
const LONGEST_NAME: usize = 100;
const DAY_SECONDS: i64 = 86_400;
const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const WEEKDAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];

/// A text, for an element or a quoted attribute. Line feeds and tabs stay.
pub(super) fn escape(text: &str) -> String {
    escape_start(text, usize::MAX)
}

/// A text on one line, shortened.
pub(super) fn escape_line(text: &str) -> String {
    escape_start(&clip_line(text, LONGEST_LINE), LONGEST_LINE * 2)
}

/// A name on one line, shortened.
pub(super) fn escape_name(text: &str) -> String {
    escape_start(&clip_line(text, LONGEST_NAME), LONGEST_NAME * 2)
}

/// Escapes a text, of which only the start is kept if that becomes longer than `most` bytes. A text of nothing but quotes or
/// invisible characters becomes six times as long.
fn escape_start(text: &str, most: usize) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in make_printable(text).chars() {
        if escaped.len() >= most {
            escaped.push('…');
            break;
        }
        match c {
            '&' => escaped += "&amp;",
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            '"' => escaped += "&quot;",
            '\'' => escaped += "&#39;",
            _ => escaped.push(c),
        }
    }
    escaped
}

/// Writes each item of a list, one after the other.
pub(super) fn write_each<T>(items: impl IntoIterator<Item = T>, write: impl Fn(T) -> String) -> String {
    items.into_iter().fold(String::new(), |written, item| written + &write(item))
}

/// The sum of some counts. An archive that somebody else wrote can contain any number.
pub(super) fn sum(counts: impl IntoIterator<Item = u64>) -> u64 {
    counts.into_iter().fold(0, u64::saturating_add)
}

/// `part` of `whole` in percent, with two digits after the point, for positions in a chart.
pub(super) fn percent(part: u64, whole: u64) -> String {
    let hundredths = u128::from(part) * 10_000 / u128::from(whole.max(1));
    format!("{}.{:02}%", hundredths / 100, hundredths % 100)
}

/// `Thu 12 Nov` for `2026-11-12`; other texts stay as they are.
pub(super) fn format_day(date: &str) -> String {
    let Some(days) = day_number(date) else { return date.to_owned() };
    // 1 January 1970 was a Thursday.
    let weekday = usize::try_from((days + 3).rem_euclid(7)).unwrap_or_default();
    format!("{} {}", WEEKDAYS[weekday], format_short_day(date))
}

/// `12 Nov` for `2026-11-12`; other texts stay as they are.
pub(super) fn format_short_day(date: &str) -> String {
    let parts = day_number(date).and_then(|_| Some((date.get(5..7)?, date.get(8..10)?)));
    let named = parts.and_then(|(month, day)| {
        let month = MONTHS.get(month.parse::<usize>().ok()?.checked_sub(1)?)?;
        Some(format!("{} {month}", day.trim_start_matches('0')))
    });
    named.unwrap_or_else(|| date.to_owned())
}

/// `12 Nov 2026` for a date or a time; other texts stay as they are.
pub(super) fn format_date(time: &str) -> String {
    match (time.get(..10), time.get(..4)) {
        (Some(date), Some(year)) if day_number(date).is_some() => {
            format!("{} {year}", format_short_day(date))
        }
        _ => time.to_owned(),
    }
}

/// `2026-11-12 14:03` for a time; other texts stay as they are.
pub(super) fn format_minute(time: &str) -> String {
    match (clock::parse_utc(time), time.get(..16)) {
        (Some(_), Some(minute)) => minute.replacen('T', " ", 1),
        _ => time.to_owned(),
    }
}

/// The days since 1970 of a date like `2026-11-12`.
pub(super) fn day_number(date: &str) -> Option<i64> {
    (date.len() == 10).then(|| clock::parse_utc(&format!("{date}T00:00:00Z")))?.map(|time| time / DAY_SECONDS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_can_end_an_element_or_an_attribute() {
        assert_eq!(escape("</p><script>\"&'"), "&lt;/p&gt;&lt;script&gt;&quot;&amp;&#39;");
        assert_eq!(escape("a\u{202e}b\u{7}\n"), "a\\u{202e}b\\u{7}\n");
        assert_eq!(escape_line("a\nb"), "a b");
        assert_eq!(escape_name(&"x".repeat(101)), "x".repeat(99) + "…");
        assert_eq!(escape_name(&"<".repeat(90)), "&lt;".repeat(50) + "…");
    }

    #[test]
    fn positions_are_exact_and_never_overflow() {
        assert_eq!([percent(1, 3), percent(5, 0), percent(2, 2)], ["33.33%", "500.00%", "100.00%"]);
        let _ = percent(u64::MAX, 1);
    }

    #[test]
    fn days_have_their_weekday() {
        assert_eq!(format_day("2026-11-12"), "Thu 12 Nov");
        assert_eq!(format_day("2000-02-29"), "Tue 29 Feb");
        assert_eq!(format_date("2026-01-02T03:04:05Z"), "2 Jan 2026");
        assert_eq!(format_minute("2026-01-02T03:04:05.678Z"), "2026-01-02 03:04");
        for odd in ["", "yesterday", "2026-13-01", "éééééééééé"] {
            assert_eq!(
                (format_day(odd), format_date(odd), format_minute(odd)),
                (odd.into(), odd.into(), odd.into())
            );
        }
    }
}
