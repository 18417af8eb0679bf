//! The verdict at the end of a review.
//!
//! Two words count, and only in the places where a verdict is given. Whatever else was said is no
//! verdict: it is neither taken for a refusal nor for a pass.

use serde_json::Value;

/// What a review comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Judgement {
    Pass,
    Fail,
}

impl Judgement {
    /// Large and small letters are the same.
    fn from_word(word: &str) -> Option<Self> {
        let word = word.trim();
        let is = |known: &str| word.eq_ignore_ascii_case(known);
        if is("PASS") {
            Some(Self::Pass)
        } else if is("FAIL") {
            Some(Self::Fail)
        } else {
            None
        }
    }

    /// The verdict of `{"verdict": "PASS"}`, perhaps with other fields.
    pub fn from_value(value: &Value) -> Option<Self> {
        Self::from_word(value.as_object()?.get("verdict")?.as_str()?)
    }

    /// The same of a text that is such an object, also in a code fence.
    pub fn from_json(text: &str) -> Option<Self> {
        Self::from_value(&serde_json::from_str(without_fence(text.trim())).ok()?)
    }

    /// The verdict of a text whose last line that is not empty is `VERDICT: PASS`, perhaps emphasised.
    pub fn from_last_line(text: &str) -> Option<Self> {
        let last = text.trim_end().lines().next_back().filter(|line| is_verdict_line(line))?;
        let (_, word) = last.split_once(':')?;
        Self::from_word(word.trim_matches(EMPHASIS))
    }

    /// The verdict that any program may print: an object at the end, or `VERDICT: PASS` as the last
    /// line that is not empty.
    pub(super) fn from_output(stdout: &[u8]) -> Option<Self> {
        let text = String::from_utf8_lossy(stdout);
        let text = text.trim_start_matches('\u{feff}').trim();
        let last = text.lines().next_back()?;
        if is_verdict_line(last) {
            return Self::from_last_line(text);
        }
        // Over several lines, or on the last one, below lines that are none of it.
        Self::from_json(text).or_else(|| Self::from_json(last)).or_else(|| {
            let start = text.find("\n{")?;
            Self::from_json(&text[start..])
        })
    }
}

/// What may stand around a word in Markdown.
const EMPHASIS: [char; 5] = ['*', '_', '`', '#', ' '];

fn is_verdict_line(line: &str) -> bool {
    line.split_once(':').is_some_and(|(name, _)| name.trim_matches(EMPHASIS).eq_ignore_ascii_case("VERDICT"))
}

/// What stands in a fence that is all of the text.
fn without_fence(text: &str) -> &str {
    let inside = text.strip_prefix("```").and_then(|rest| rest.strip_suffix("```"));
    // The first line names the language.
    inside.and_then(|inside| inside.split_once('\n')).map_or(text, |(_, inside)| inside)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PASS: Option<Judgement> = Some(Judgement::Pass);
    const FAIL: Option<Judgement> = Some(Judgement::Fail);

    #[test]
    fn in_a_text_only_the_last_line_counts() {
        assert_eq!(Judgement::from_last_line("# Review\n\nVERDICT: PASS\n"), PASS);
        assert_eq!(Judgement::from_last_line("# Review\r\n**VERDICT: FAIL**\r\n\r\n"), FAIL);
        for text in ["", "VERDICT: PASS\nbut see above", "VERDICT: PASS or FAIL", "PASS", "the VERDICT: PASS"]
        {
            assert_eq!(Judgement::from_last_line(text), None, "{text}");
        }
    }

    #[test]
    fn two_words_count() {
        assert_eq!(["PASS", " pass\n", "Pass"].map(Judgement::from_word), [PASS; 3]);
        assert_eq!(["FAIL", "\tfail "].map(Judgement::from_word), [FAIL; 2]);
        for other in ["", "PASSED", "FAILED", "PASS.", "NO FAIL", "OK", "true", "ＰＡＳＳ"] {
            assert_eq!(Judgement::from_word(other), None, "{other}");
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
            assert_eq!(Judgement::from_json(text), PASS, "{text}");
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
            assert_eq!(Judgement::from_json(text), None, "{text}");
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
            assert_eq!(Judgement::from_output(text.as_bytes()), PASS, "{text}");
        }
        assert_eq!(Judgement::from_output(b"VERDICT: PASS\nVERDICT: FAIL"), FAIL);
        assert_eq!(Judgement::from_output(b"caf\xe9\nVERDICT: FAIL"), FAIL);
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
            assert_eq!(Judgement::from_output(text.as_bytes()), None, "{text}");
        }
    }
}
