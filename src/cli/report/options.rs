//! The values of the options: how far back, at which time, and the command line as it can be typed again.

use std::str::FromStr;

use crate::cli::past_options::parse_duration;
use crate::clock;
use crate::report::redact::redact_text;
use crate::text::{make_one_line, quote_for_shell};

/// How far a report goes back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TimeSpan {
    pub(super) seconds: u64,
    /// As it was typed.
    pub(super) text: String,
}

impl FromStr for TimeSpan {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        Ok(Self { seconds: parse_duration(text)?.as_secs(), text: text.to_owned() })
    }
}

/// The time of a report, in seconds since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ReportTime(pub(super) u64);

impl FromStr for ReportTime {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parsed = clock::parse_utc(text).and_then(|seconds| u64::try_from(seconds).ok());
        parsed.map(Self).ok_or_else(|| "it is a time in UTC: 2026-11-17T12:00:00Z".to_owned())
    }
}

impl ReportTime {
    /// The time that `SOURCE_DATE_EPOCH` names, as builds do that must give the same bytes again; otherwise now.
    pub(super) fn of_environment() -> Result<Self, String> {
        /// The last second of the year 9999.
        const LAST: u64 = 253_402_300_799;
        let Some(value) = std::env::var_os("SOURCE_DATE_EPOCH") else {
            return Ok(Self(clock::time_since_epoch().as_secs()));
        };
        let seconds = value.to_str().and_then(|text| text.parse().ok()).filter(|seconds| *seconds <= LAST);
        seconds.map(Self).ok_or_else(|| {
            format!(
                "SOURCE_DATE_EPOCH is `{}`, which is not a number of seconds. To fix: unset it, or give the time with --now",
                make_one_line(&value.to_string_lossy())
            )
        })
    }
}

/// The command line of this process, as it can be typed again. With `is_redacted`, without paths.
pub(super) fn describe_command_line(is_redacted: bool) -> String {
    let words = std::env::args_os().skip(1).map(|word| {
        let word = word.to_string_lossy();
        let word = if is_redacted { redact_text(&word) } else { word.into_owned() };
        quote_for_shell(&make_one_line(&word))
    });
    std::iter::once("provost".to_owned()).chain(words).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_in_utc() {
        assert_eq!("2026-11-15T20:29:28Z".parse(), Ok(ReportTime(1_794_774_568)));
        for wrong in ["", "2026-11-15", "now", "2026-11-15T20:29:28+01:00"] {
            assert!(wrong.parse::<ReportTime>().is_err(), "{wrong}");
        }
    }
}
