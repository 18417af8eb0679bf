//! The regular expressions of rules: `adds`, `message`, `argument` and `gets`, in the syntax of the crate `regex`.
//!
//! A pattern is compiled only where a rule got that far. Its compiled size is bounded, because a short text such as
//! `a{1000}{1000}` would need gigabytes; matching takes linear time.

use regex::{Regex, RegexBuilder};

/// The largest compiled pattern, in bytes.
const LARGEST: usize = 8 << 20;

/// A compiled regular expression.
#[derive(Debug)]
pub struct RuleRegex(Regex);

impl RuleRegex {
    /// Compiles a pattern. The error completes the sentence "`PATTERN` is not a regular expression: …".
    pub fn new(pattern: &str) -> Result<Self, String> {
        RegexBuilder::new(pattern).size_limit(LARGEST).build().map(Self).map_err(|error| match error {
            regex::Error::CompiledTooBig(_) => "it is too large when it is compiled; repeat less".into(),
            // The first lines of a syntax error show the pattern with a mark below it.
            error => {
                let text = error.to_string();
                let last = text.lines().last().unwrap_or_default();
                last.strip_prefix("error: ").unwrap_or(last).to_owned()
            }
        })
    }

    pub fn is_match(&self, text: &str) -> bool {
        self.0.is_match(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(pattern: &str, text: &str) -> bool {
        RuleRegex::new(pattern).unwrap().is_match(text)
    }

    #[test]
    fn classes_are_those_of_unicode() {
        assert!(matches(r"^\w+$", "größe") && matches(r"^\d$", "٣") && matches(r"^\p{L}+$", "日本"));
        assert!(matches(r"(?i)^ÄRGER$", "ärger") && matches(r"\bß", "a ß") && !matches(r"\bb", "äb"));
        assert!(matches(r"\p{Greek}", "λ") && matches(r"^\S+$", "é") && matches(r"(?-u:^\w$)", "a"));
        assert!(matches(r"^[\w.+-]{1,64}@[\w-]{1,64}\.\w{2,}$", "a.b@example.org"));
    }

    #[test]
    fn a_mistake_is_told_in_one_line() {
        let error = |pattern: &str| RuleRegex::new(pattern).unwrap_err();
        assert_eq!(error("("), "unclosed group");
        assert!(error("a{1000}{1000}").contains("too large") && error(r"\p{Nope}").contains("Unicode"));
        assert!(!error("[a\n(").contains('\n') && !error("(?=a)").contains('\n'));
        assert!(RuleRegex::new(&"(".repeat(10_000)).is_err());
    }
}
