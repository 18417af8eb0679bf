//! The verdict at the end of a review.
//!
//! Only two words count, and only where a verdict belongs. Any other text is neither a pass nor a failure.

use std::fmt;
use std::time::Duration;

use serde_json::Value;

/// Why a reviewer gave no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoAnswer {
    NotFound(String),
    /// The program is not the remembered one any more.
    Changed(String),
    /// It ended with an error, or reported a failure.
    Failed(String),
    TimedOut(Duration),
    Unreadable(String),
    Empty,
    /// This process was asked to end.
    Interrupted,
}

impl fmt::Display for NoAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotFound(program) => write!(f, "the reviewer `{program}` is not found"),
            Self::Changed(program) => write!(
                f,
                "the reviewer `{program}` has changed since Provost remembered it, so it is not started; if you \
                 updated it yourself, run `provost review run` or `provost init` in a terminal"
            ),
            Self::Failed(words) => write!(f, "the reviewer failed ({words})"),
            Self::TimedOut(limit) => write!(f, "the reviewer did not answer within {} s", limit.as_secs()),
            Self::Unreadable(why) => write!(f, "the reviewer's answer cannot be read ({why})"),
            Self::Empty => f.write_str("the reviewer said nothing"),
            Self::Interrupted => f.write_str("interrupted"),
        }
    }
}

/// What a review came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReviewOutcome {
    Clean,
    Issues,
    /// The reviewer crashed, took too long, wrote nothing or gave no verdict. That is neither a pass nor a failure.
    Missing,
}

impl ReviewOutcome {
    const ALL: [Self; 3] = [Self::Clean, Self::Issues, Self::Missing];

    /// The word in the journal and in records.
    pub fn name(self) -> &'static str {
        match self {
            Self::Clean => "clean",
            Self::Issues => "issues",
            Self::Missing => "none",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|outcome| outcome.name() == name)
    }
}

/// What a reviewer says it has used.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ReviewUsage {
    /// Of input and output, with what came from a cache.
    pub tokens: Option<u64>,
    /// In US dollars.
    pub cost: Option<f64>,
}

impl ReviewUsage {
    /// The usage of an object with `usage` and `total_cost_usd`, as clients print it.
    pub fn from_value(value: &Value) -> Self {
        const COUNTED: [&str; 4] =
            ["input_tokens", "output_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"];
        let counts = COUNTED.iter().filter_map(|name| value["usage"][name].as_u64());
        let tokens = counts.reduce(u64::saturating_add);
        let cost = value["total_cost_usd"].as_f64().filter(|cost| cost.is_finite() && *cost >= 0.0);
        Self { tokens, cost }
    }

    /// The usage in the output of any program: in an object that is all of it, or its last line.
    pub fn from_output(text: &str) -> Self {
        let last = text.trim_end().lines().next_back().unwrap_or_default();
        let mut values = [text, last].into_iter().filter_map(|text| serde_json::from_str(text.trim()).ok());
        values.next().map_or_else(Self::default, |value| Self::from_value(&value))
    }

    /// The sum of both, as far as it is known.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        let tokens = [self.tokens, other.tokens].into_iter().flatten().reduce(u64::saturating_add);
        let cost = [self.cost, other.cost].into_iter().flatten().reduce(|sum, cost| sum + cost);
        Self { tokens, cost }
    }
}

/// How a review ends. `None`: it ended without a verdict.
pub type ReviewResult = Result<Option<ReviewVerdict>, NoAnswer>;

/// The verdict of a review.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReviewVerdict {
    Pass,
    Fail,
}

impl ReviewVerdict {
    /// Case does not matter.
    fn from_word(word: &str) -> Option<Self> {
        match word.trim().to_ascii_uppercase().as_str() {
            "PASS" => Some(Self::Pass),
            "FAIL" => Some(Self::Fail),
            _ => None,
        }
    }

    /// The verdict of `{"verdict": "PASS"}`, perhaps with other fields.
    pub fn from_value(value: &Value) -> Option<Self> {
        Self::from_word(value.as_object()?.get("verdict")?.as_str()?)
    }

    /// The verdict of a text that is a JSON object with a verdict, perhaps in a code fence.
    pub fn from_json(text: &str) -> Option<Self> {
        Self::from_value(&serde_json::from_str(without_fence(text.trim())).ok()?)
    }

    /// The verdict of a text whose last line is `VERDICT: PASS`, perhaps emphasised. Blank lines at the end are ignored.
    pub fn from_last_line(text: &str) -> Option<Self> {
        let last = text.trim_end().lines().next_back().filter(|line| is_verdict_line(line))?;
        let (_, word) = last.split_once(':')?;
        Self::from_word(word.trim_matches(EMPHASIS))
    }

    /// The verdict in the output of any program: an object at the end, or `VERDICT: PASS` as the last line. Blank lines at
    /// the end are ignored.
    pub fn from_output(stdout: &[u8]) -> Option<Self> {
        let text = String::from_utf8_lossy(stdout);
        let text = text.trim_start_matches('\u{feff}').trim();
        let last = text.lines().next_back()?;
        if is_verdict_line(last) {
            return Self::from_last_line(text);
        }
        // The object may be the whole text, the last line, or the last lines.
        Self::from_json(text).or_else(|| Self::from_json(last)).or_else(|| {
            let start = text.find("\n{")?;
            Self::from_json(&text[start..])
        })
    }
}

/// Markdown around a word.
const EMPHASIS: [char; 5] = ['*', '_', '`', '#', ' '];

fn is_verdict_line(line: &str) -> bool {
    line.split_once(':').is_some_and(|(name, _)| name.trim_matches(EMPHASIS).eq_ignore_ascii_case("VERDICT"))
}

/// The content of a code fence, if the fence is the whole text.
fn without_fence(text: &str) -> &str {
    let inside = text.strip_prefix("```").and_then(|rest| rest.strip_suffix("```"));
    // The first line names the language.
    inside.and_then(|inside| inside.split_once('\n')).map_or(text, |(_, inside)| inside)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PASS: Option<ReviewVerdict> = Some(ReviewVerdict::Pass);
    const FAIL: Option<ReviewVerdict> = Some(ReviewVerdict::Fail);

    #[test]
    fn in_a_text_only_the_last_line_counts() {
        assert_eq!(ReviewVerdict::from_last_line("# Review\n\nVERDICT: PASS\n"), PASS);
        assert_eq!(ReviewVerdict::from_last_line("# Review\r\n**VERDICT: FAIL**\r\n\r\n"), FAIL);
        for text in ["", "VERDICT: PASS\nbut see above", "VERDICT: PASS or FAIL", "PASS", "the VERDICT: PASS"]
        {
            assert_eq!(ReviewVerdict::from_last_line(text), None, "{text}");
        }
    }

    #[test]
    fn two_words_count() {
        assert_eq!(["PASS", " pass\n", "Pass"].map(ReviewVerdict::from_word), [PASS; 3]);
        assert_eq!(["FAIL", "\tfail "].map(ReviewVerdict::from_word), [FAIL; 2]);
        for other in ["", "PASSED", "FAILED", "PASS.", "NO FAIL", "OK", "true", "ＰＡＳＳ"] {
            assert_eq!(ReviewVerdict::from_word(other), None, "{other}");
        }
    }

    #[test]
    fn an_object_gives_its_verdict_also_in_a_fence() {
        for text in [
            r#"{"verdict":"PASS"}"#,
            " {\"issues\": [1], \"verdict\": \" pass \"}\n",
            "```\n{\"verdict\":\"PASS\"}\n```",
            "\n```json\n{\n\"verdict\": \"PASS\"\n}\n```\n",
        ] {
            assert_eq!(ReviewVerdict::from_json(text), PASS, "{text}");
        }
        for text in [
            "",
            "PASS",
            "\"PASS\"",
            "```",
            "``````",
            r#"{"verdict":true}"#,
            r#"{"verdict":["PASS"]}"#,
            r#"[{"verdict":"PASS"}]"#,
            r#"["verdict","PASS"]"#,
            r#"{"verdict":{"verdict":"PASS"}}"#,
            r#"{"Verdict":"PASS"}"#,
            r#"{"verdict":"PASS"} or so"#,
            "I would say\n```json\n{\"verdict\":\"PASS\"}\n```\nif I could.",
        ] {
            assert_eq!(ReviewVerdict::from_json(text), None, "{text}");
        }
    }

    #[test]
    fn any_program_may_print_an_object_or_a_last_line() {
        for text in [
            "VERDICT: PASS",
            "# Review\nVERDICT: FAIL\nbut then\n verdict :pass \n\n",
            "\u{feff}{\"verdict\":\"PASS\"}\r\n",
            "warning: slow\n{\"verdict\":\"PASS\"}\n",
            "{\"note\":1}\n{\"verdict\":\"PASS\"}",
            "warning: slow\n{\n  \"verdict\": \"PASS\"\n}\n",
        ] {
            assert_eq!(ReviewVerdict::from_output(text.as_bytes()), PASS, "{text}");
        }
        assert_eq!(ReviewVerdict::from_output(b"VERDICT: PASS\nVERDICT: FAIL"), FAIL);
        assert_eq!(ReviewVerdict::from_output(b"caf\xe9\nVERDICT: FAIL"), FAIL);
        for text in [
            "",
            "PASS",
            "VERDICT PASS",
            "VERDICT:",
            "VERDICT: PASS or FAIL",
            "VERDICT: PASS\nNot quite.",
            "The VERDICT: PASS",
            "{\"verdict\":\"PASS\"}\nNot quite.",
            "{\"verdict\":\"PASS\"}\n{\"note\":1}",
            "{\"verdict\":\"PASS\"",
        ] {
            assert_eq!(ReviewVerdict::from_output(text.as_bytes()), None, "{text}");
        }
    }
}
