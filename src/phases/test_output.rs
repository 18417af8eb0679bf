//! What runners of tests print about how the tests ended.
//!
//! Summaries are read, not sentences: "3 failed, 97 passed" counts, "3 failed logins are refused" does not.

/// What runners print about the ends of tests.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Shown {
    pub failures: bool,
    pub passes: bool,
    pub ran: Ran,
}

/// Whether a runner says that it ran any tests. Of several runners, one that did counts.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ran {
    #[default]
    Unknown,
    Nothing,
    Something,
}

impl Shown {
    pub fn in_text(text: &str) -> Self {
        let mut shown = Self::default();
        for line in text.lines() {
            let line = plain(line);
            let line = line.trim();
            let line = line.strip_prefix("[INFO] ").or_else(|| line.strip_prefix("[ERROR] ")).unwrap_or(line);
            shown.read_line(line);
            shown.count(line);
        }
        shown
    }

    /// Reads lines that say it by how they begin or end.
    fn read_line(&mut self, line: &str) {
        const FAILS: &[&str] = &[
            "FAIL ",
            "FAIL\t",
            "--- FAIL:",
            "FAILED ",
            "FAILED(",
            "FAILURES!",
            "ERRORS!",
            "not ok ",
            "npm ERR! Test failed",
            "BUILD FAILED",
            "BUILD FAILURE",
            "test result: FAILED",
            "error: could not compile",
        ];
        const PASSES: &[&str] =
            &["ok  \t", "test result: ok", "OK (", "BUILD SUCCESS", "All tests passed", "All tests passed!"];
        const NONE: &[&str] = &[
            "[no tests to run]",
            "no tests ran",
            "no tests found",
            "no test files found",
            "no tests executed",
            "all examples were filtered out",
            "ran 0 tests",
            "0 examples, 0 failures",
        ];
        let starts = |with: &[&str]| with.iter().any(|start| line.starts_with(start));
        self.failures |= line == "FAIL" || starts(FAILS) || line.ends_with(": Some tests failed.");
        let passes = line == "OK" || starts(PASSES) || line.ends_with(": All tests passed!");
        let lower = line.to_ascii_lowercase();
        let is_none = NONE.iter().any(|sign| lower.contains(sign));
        if is_none {
            self.ran = self.ran.max(Ran::Nothing);
        }
        self.passes |= passes && !is_none;
        if line.starts_with("ok  \t") && !is_none {
            self.ran = Ran::Something;
        }
    }

    /// Reads counts: "3 failed", and in a summary the other way round: "Failures: 3".
    fn count(&mut self, line: &str) {
        const FAILURES: &[&str] = &["failed", "failing", "failure", "failures", "fail", "error", "errors"];
        const PASSES: &[&str] = &["passed", "passing", "pass"];
        const SKIPPED: &[&str] = &["skipped", "total"];
        /// What stands behind a count in a summary. "3 failed logins" is a sentence.
        const BEHIND: &[&str] =
            &["tests", "test", "specs", "suites", "of", "in", "out", "and", "during", "total", "passed", "|"];
        let is_summary = line.starts_with("# ") || line.starts_with("ℹ ");
        let words: Vec<&str> = line.split_whitespace().collect();
        let number = |at: usize| words.get(at).and_then(|word| bare(word).parse::<u64>().ok());
        let mut counted = [false; 3];
        for (at, word) in words.iter().enumerate() {
            let kind = bare(word).to_ascii_lowercase();
            let is = |list: &[&str]| list.contains(&kind.as_str());
            if !is(FAILURES) && !is(PASSES) && !is(SKIPPED) {
                continue;
            }
            let next = words.get(at + 1);
            let ends = word.ends_with(|c: char| !c.is_alphanumeric())
                || next.is_none_or(|next| {
                    bare(next).is_empty() || next.starts_with('(') || BEHIND.contains(&bare(next))
                });
            let before = at.checked_sub(1).and_then(number).filter(|_| ends);
            let count = if word.ends_with(':') || is_summary { number(at + 1).or(before) } else { before };
            let Some(count) = count else { continue };
            // "0 errors" is said by linters as well.
            let is_error = kind.starts_with("error");
            self.failures |= is(FAILURES) && count > 0;
            self.passes |= is(FAILURES) && count == 0 && !is_error || is(PASSES) && count > 0;
            if is(PASSES) && count > 0 {
                self.ran = Ran::Something;
            }
            counted[0] |= (is(PASSES) || is(FAILURES)) && count > 0;
            counted[1] |= is(PASSES) && count == 0;
            counted[2] |= kind == "skipped" && count > 0;
        }
        // "0 passed", "5 skipped, 5 total".
        let is_total = line.starts_with("Tests:");
        if !counted[0] && (counted[1] || counted[2] && is_total) {
            self.ran = self.ran.max(Ran::Nothing);
        }
    }
}

/// A word without its punctuation.
pub fn bare(word: &str) -> &str {
    word.trim_matches(|c: char| !c.is_alphanumeric())
}

/// A line without the colours of a terminal.
pub fn plain(line: &str) -> String {
    let mut parts = line.split("\u{1b}[");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = part.find(|c: char| c.is_ascii_alphabetic()).map_or(part.len(), |at| at + 1);
        text += &part[end..];
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_runners_print_is_understood() {
        for text in [
            "3 failed",
            "Tests: 1 failed, 5 passed",
            "FAIL src/a.test.js",
            "FAIL\tpkg 0.1s",
            "--- FAIL: TestX",
            "FAILED tests/x.py::test",
            "not ok 3 - x",
            "test result: FAILED. 1 passed; 1 failed",
            "2 failing",
            "Tests run: 3, Failures: 1, Errors: 0",
            "# fail 2",
            "npm ERR! Test failed.  See above",
            "\u{1b}[31m1 failed\u{1b}[0m",
        ] {
            assert!(Shown::in_text(text).failures, "{text}");
        }
        for text in [
            "0 failed",
            "Tests: 5 passed",
            "5 passed, 0 failed",
            "Failures: 0",
            "# fail 0",
            "login failed as it should",
            "the FAIL-safe",
            "",
            "test result: ok. 3 passed; 0 failed",
        ] {
            assert!(!Shown::in_text(text).failures, "{text}");
        }
        for text in ["5 passed, 0 failed", "3 examples, 0 failures", "OK (3 tests, 5 assertions)", "# pass 3"]
        {
            assert!(Shown::in_text(text).passes, "{text}");
        }
        assert!(!Shown::in_text("0 passed").passes && !Shown::in_text("done").passes);
    }
}
