//! Time in the form of records: RFC 3339 in UTC.
//!
//! A crate for dates would bring time zones and a parser with other rules.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The time since 1970; zero if the clock is set to an earlier time.
pub fn time_since_epoch() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

/// An RFC 3339 time in UTC, to the millisecond.
pub fn format_utc_millis(time: Duration) -> String {
    format!("{}.{:03}Z", date_and_time(time.as_secs()), time.subsec_millis())
}

/// An RFC 3339 time in UTC, to the second.
pub fn format_utc_seconds(time: Duration) -> String {
    format!("{}Z", date_and_time(time.as_secs()))
}

fn date_and_time(seconds: u64) -> String {
    let days = seconds / 86_400;
    let time = seconds % 86_400;
    // Years start in March here, so that the leap day is the last day.
    let shifted = days + 719_468;
    let era = shifted / 146_097;
    let day_of_era = shifted % 146_097;
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}", time / 3600, time / 60 % 60, time % 60)
}

/// Parses a time like `2026-11-15T20:29:28.123Z` into seconds since 1970; `None` for other forms and time zones.
pub fn parse_utc(time: &str) -> Option<i64> {
    let (date, clock) = time.trim().strip_suffix('Z')?.split_once('T')?;
    let clock = clock.split_once('.').map_or(clock, |(seconds, _)| seconds);
    let three = |text: &str, by: char| -> Option<[i64; 3]> {
        let parts: Option<Vec<i64>> =
            text.split(by).map(|part| part.parse::<u32>().ok().map(i64::from)).collect();
        parts?.try_into().ok()
    };
    let [year, month, day] = three(date, '-')?;
    let [hour, minute, second] = three(clock, ':')?;
    let is_real = (1970..=9999).contains(&year) && (1..=12).contains(&month) && (1..=31).contains(&day);
    if !is_real || hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    // Years start in March here, so that the leap day is the last day.
    let year = year - i64::from(month <= 2);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let days = year * 365 + year / 4 - year / 100 + year / 400 + day_of_year - 719_468;
    Some(days * 86_400 + hour * 3600 + minute * 60 + second)
}

/// Like [`parse_utc`], in milliseconds.
pub fn parse_utc_millis(time: &str) -> Option<u64> {
    let seconds = u64::try_from(parse_utc(time)?).ok()?;
    let fraction = time.trim().trim_end_matches('Z').split_once('.').map_or("", |(_, fraction)| fraction);
    let millis =
        fraction.bytes().chain(*b"000").take(3).try_fold(0, |millis, digit| {
            digit.is_ascii_digit().then(|| millis * 10 + u64::from(digit - b'0'))
        });
    Some(seconds * 1000 + millis?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_become_dates() {
        let at = |seconds, millis: u32| format_utc_millis(Duration::new(seconds, millis * 1_000_000));
        assert_eq!(at(0, 0), "1970-01-01T00:00:00.000Z");
        assert_eq!(at(951_782_400, 5), "2000-02-29T00:00:00.005Z");
        assert_eq!(at(1_794_774_568, 123), "2026-11-15T20:29:28.123Z");
        assert_eq!(at(4_107_542_399, 0), "2100-02-28T23:59:59.000Z");
        assert_eq!(format_utc_seconds(Duration::new(951_782_400, 7)), "2000-02-29T00:00:00Z");
    }

    #[test]
    fn times_are_read_as_they_are_written() {
        assert_eq!(parse_utc("1970-01-01T00:00:00Z"), Some(0));
        assert_eq!(parse_utc("2000-02-29T00:00:00.005Z"), Some(951_782_400));
        assert_eq!(parse_utc("2026-11-15T20:29:28.123Z"), Some(1_794_774_568));
        assert_eq!(parse_utc("2100-02-28T23:59:59Z"), Some(4_107_542_399));
        for (time, millis) in [
            ("2000-02-29T00:00:00.005Z", Some(951_782_400_005)),
            ("2000-02-29T00:00:00.5Z", Some(951_782_400_500)),
            ("2000-02-29T00:00:00.123456Z", Some(951_782_400_123)),
            ("2000-02-29T00:00:00Z", Some(951_782_400_000)),
            ("2000-02-29T00:00:00.xZ", None),
            ("today", None),
        ] {
            assert_eq!(parse_utc_millis(time), millis, "{time}");
        }
        for odd in [
            "",
            "Z",
            "yesterday",
            "2026-11-15",
            "2026-13-15T00:00:00Z",
            "2026-11-15T20:29:28+01:00",
            "2026-11-15T20:29Z",
            "-1-1-1T0:0:0Z",
            "99999999999-01-01T00:00:00Z",
            "2026-11-15T25:00:00Z",
        ] {
            assert_eq!(parse_utc(odd), None, "{odd}");
        }
    }
}
