//! The regular expressions of rules: `adds`, `message`, `argument` and `gets`, in the syntax of the crate
//! `regex`.
//!
//! A pattern is compiled when the first text is compared with it, so only where its rule got that far. Its compiled size
//! is bounded, because a short text such as `a{1000}{1000}` would need gigabytes; matching takes linear time.
//!
//! Classes such as `\w` are large in Unicode: compiling `\w{20}` takes milliseconds. In a text of ASCII the small classes
//! match alike, so for such a text `regex-lite` compiles the pattern, which takes microseconds.

use std::error::Error;
use std::sync::OnceLock;

use regex_automata::nfa::thompson::pikevm::PikeVM;
use regex_automata::nfa::thompson::{BuildError, Config, WhichCaptures};

use super::RuleText;
use super::needed_bytes::{find_needed_bytes, has_any_byte};

/// The largest compiled pattern, in bytes.
const LARGEST: usize = 8 << 20;

/// A regular expression of a rule.
#[derive(Debug)]
pub struct RuleRegex {
    pub source: RuleText,
    unicode: OnceLock<Result<PikeVM, String>>,
    /// For texts of ASCII; `None` if the pattern needs Unicode or has a mistake.
    ascii: OnceLock<Option<regex_lite::Regex>>,
    /// Bytes of which each match contains at least one, as far as they are known.
    needed: OnceLock<Option<u128>>,
}

impl RuleRegex {
    pub fn new(source: RuleText) -> Self {
        Self { source, unicode: OnceLock::new(), ascii: OnceLock::new(), needed: OnceLock::new() }
    }

    /// Whether the pattern matches in a text; `None` if it has a mistake.
    pub fn is_match(&self, text: &str) -> Option<bool> {
        if text.is_ascii()
            && let Some(pattern) = self.compiled_for_ascii()
        {
            return Some(pattern.is_match(text));
        }
        self.compiled().as_ref().ok().map(|pattern| pattern.is_match(&mut pattern.create_cache(), text))
    }

    /// Whether a text matches. Without the bytes that each match needs, the pattern is not even compiled.
    pub fn finds(&self, text: &str) -> bool {
        let needed = *self.needed.get_or_init(|| find_needed_bytes(&self.source.text));
        let is_possible = !text.is_ascii() || needed.is_none_or(|bytes| has_any_byte(text, bytes));
        is_possible && self.is_match(text) == Some(true)
    }

    /// The mistake in the pattern. It completes the sentence "`PATTERN` is not a regular expression: …". Only a thorough
    /// look finds that a pattern is too large in Unicode, because that takes long.
    pub fn find_mistake(&self, is_thorough: bool) -> Option<&str> {
        if !is_thorough && self.compiled_for_ascii().is_some() {
            return None;
        }
        self.compiled().as_ref().err().map(String::as_str)
    }

    /// Whether a text was compared with the pattern, or a mistake looked for.
    pub fn is_compiled(&self) -> bool {
        self.unicode.get().is_some() || self.ascii.get().is_some()
    }

    fn compiled_for_ascii(&self) -> Option<&regex_lite::Regex> {
        let pattern = &self.source.text;
        let compile = || if may_need_unicode(pattern) { None } else { regex_lite::Regex::new(pattern).ok() };
        self.ascii.get_or_init(compile).as_ref()
    }

    fn compiled(&self) -> &Result<PikeVM, String> {
        self.unicode.get_or_init(|| compile(&self.source.text))
    }
}

fn compile(pattern: &str) -> Result<PikeVM, String> {
    let config = Config::new().nfa_size_limit(Some(LARGEST)).which_captures(WhichCaptures::None);
    PikeVM::builder().thompson(config).build(pattern).map_err(|error| describe_error(&error))
}

fn describe_error(error: &BuildError) -> String {
    if error.size_limit().is_some() {
        return "it is too large when it is compiled; repeat less".into();
    }
    // The first lines of a syntax error show the pattern with a mark below it.
    let text = error.source().map_or_else(|| error.to_string(), ToString::to_string);
    let last = text.lines().last().unwrap_or_default();
    last.strip_prefix("error: ").unwrap_or(last).to_owned()
}

/// Whether a pattern may match a text of ASCII by rules of Unicode (`(?i)ſ` matches `s`), or is one of the few that only
/// `regex-lite` accepts: it repeats a group of flags.
fn may_need_unicode(pattern: &str) -> bool {
    let body = pattern.strip_prefix("(?i)").unwrap_or(pattern);
    !pattern.is_ascii()
        || ["\\x", "\\u", "\\U"].iter().any(|escape| pattern.contains(escape))
        || body.starts_with(['*', '+', '?', '{'])
        || body.split("(?").skip(1).any(|group| !group.starts_with(':'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn regex(pattern: &str) -> RuleRegex {
        RuleRegex::new(RuleText { text: pattern.into(), offset: 0 })
    }

    fn matches(pattern: &str, text: &str) -> bool {
        regex(pattern).is_match(text).unwrap()
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
        let error = |pattern: &str| regex(pattern).find_mistake(true).unwrap().to_owned();
        assert_eq!(error("("), "unclosed group");
        assert!(error("a{1000}{1000}").contains("too large") && error(r"\p{Nope}").contains("Unicode"));
        assert!(!error("[a\n(").contains('\n') && !error("(?=a)").contains('\n'));
        assert!(!error(&"(".repeat(10_000)).is_empty());
    }

    #[test]
    fn a_mistake_decides_nothing_about_any_text() {
        for pattern in ["(", "a{1000}{1000}", r"\p{Nope}", r"(?-u:[^a])", r"(?i-u)\xff", "(?=a)"] {
            assert!(regex(pattern).find_mistake(false).is_some(), "{pattern}");
            for text in ["a", "ä", ""] {
                assert_eq!(regex(pattern).is_match(text), None, "{pattern}");
            }
        }
    }

    #[test]
    fn a_text_of_ascii_is_matched_as_with_unicode() {
        let patterns = [
            r"\w",
            r"\W",
            r"^\d+$",
            r"\D",
            r"\s",
            r"^\S*$",
            r"\bk\b",
            r"\Bk",
            ".",
            "^.$",
            "[^a]",
            r"[^\w]",
            "(?i)K",
            "(?i)[^k]",
            r"\p{L}",
            r"\PL",
            r"\x{212a}",
            r"\xe9",
            "é",
            "[é-ü]",
            r"(?u)\w",
            "(?s).",
            r"[[:word:]]",
            r"[\w&&[^a]]",
            r"\w{3}",
            "^$",
            "(?m)^b$",
            r"(?x) a # comment",
            "foo-user",
            r"\u0041",
            r"\d{2,}\.",
            r"(?i)\x{17f}",
            "(?i)ſ",
            r"(?i)\u017F",
            "(?i)[ſ-ƀ]",
            "[a[b]]",
            "[a--b]",
            "[a~~b]",
            "(?U)a+?b",
            "(?R)a$",
            r"\z",
            "(?<n>a)",
            "a{,3}b",
            "[]a]",
            "a**",
            "(?i:s)S",
            r"\<a\>",
            r"[\b]",
            r"\a",
            "x{0}",
            "]",
            "}",
            "a|",
            r"\b{start}a",
        ];
        let texts = [
            "",
            "a",
            "k",
            "K",
            "ab c",
            "12.5",
            "a\tb",
            "\n",
            "a\nb",
            "S s",
            "foo-user",
            "_",
            "A",
            "\u{7f}\u{1}",
        ];
        for pattern in patterns {
            compare(pattern, &texts);
        }
    }

    fn compare(pattern: &str, texts: &[&str]) {
        let slow = compile(pattern).ok();
        for text in texts {
            let wanted = slow.as_ref().map(|slow| slow.is_match(&mut slow.create_cache(), text));
            assert_eq!(regex(pattern).is_match(text), wanted, "{pattern} in {text:?}");
        }
    }

    #[test]
    fn whatever_the_pattern_a_text_of_ascii_is_matched_as_with_unicode() {
        #[rustfmt::skip]
        const PARTS: &[&str] = &[
            "a", "b", "k", "S", "1", " ", "_", "-", ".", "^", "$", "|", "(", ")", "(?:", "(?i)", "(?s)", "(?m)", "(?x)", "(?-i)", "(?U)",
            "[", "]", "[^", "[a-c", "&&", "--", "{2}", "{1,}", "{,2}", "{", "}", "*", "+", "?", "??", r"\s", r"\S", r"\d", r"\b", r"\B",
            r"\.", r"\n", r"\t", r"\A", r"\z", r"\-", r"\#", "#", "\n", ":", "=", "[:alpha:]", "(?P<n>", r"\<", r"\b{start}",
        ];
        let texts = ["", "a", "abk", "K s", "1_1", "a\nb", "aa-bb", "#[x]", "\t"];
        let mut random = 0x2545_f491_4f6c_dd1d_u64;
        for _ in 0..5_000 {
            let mut pattern = String::new();
            for _ in 0..7 {
                random ^= random << 13;
                random ^= random >> 7;
                random ^= random << 17;
                let part = random % PARTS.len() as u64;
                pattern += PARTS[usize::try_from(part).unwrap()];
            }
            compare(&pattern, &texts);
        }
    }
}
