//! What test runners print about how the tests ended.
//!
//! Summaries count, sentences do not: "3 failed, 97 passed" is a result, "3 failed logins are refused" is
//! not.

use super::prelude::*;
use std::borrow::Cow;

/// What the output of test runners says.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct TestOutput {
    pub failures: bool,
    pub passes: bool,
    pub ran: TestsRun,
    /// Marks of a failed test that a passing run can print as well. They count only without a summary.
    has_marks: bool,
}

/// Whether a test runner says that it ran any tests. If there are several runners, one that did is enough.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum TestsRun {
    #[default]
    Unknown,
    Nothing,
    Something,
}

const FAILURES: &[&str] = &["failed", "failing", "failure", "failures", "fail", "error", "errors"];
const PASSES: &[&str] = &["passed", "passing", "pass"];
const SKIPPED: &[&str] = &["skipped", "total"];

impl TestOutput {
    pub fn read(text: &str) -> Self {
        let mut output = Self::default();
        for line in text.lines() {
            let line = strip_colours(line);
            let line = line.trim();
            let line = line.strip_prefix("[INFO] ").or_else(|| line.strip_prefix("[ERROR] ")).unwrap_or(line);
            output.read_phrases(line);
            output.read_counts(line);
            output.read_run_count(line);
        }
        output.failures |= output.has_marks && !output.passes;
        output
    }

    /// Reads fixed phrases, most of them at the start of a line.
    fn read_phrases(&mut self, line: &str) {
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
            "error: test failed",
            "error: test run failed",
            "error Command failed with exit code",
            "npm ERR! code ELIFECYCLE",
            "npm error Lifecycle script `test` failed",
            "INTERNALERROR>",
            "FAILURE: Build failed",
            "Vitest caught ",
            "Result: FAIL",
            "Test Run Failed",
        ];
        const PASSES: &[&str] = &[
            "ok  \t",
            "test result: ok",
            "OK (",
            "BUILD SUCCESS",
            "All tests passed",
            "All tests successful",
            "Result: PASS",
        ];
        /// Anywhere in a line.
        const FAILS_WITHIN: &[&str] = &[
            "\"Action\":\"fail\"",
            "Test failed. See above",
            "occurred outside of examples",
            ": *** [",
            ": FAIL code ",
            "... FAIL",
            ": commands failed",
        ];
        const MARKS: &[&str] = &["\u{2715} ", "\u{2716} ", "\u{2717} ", "\u{d7} ", "E   ", "error[E"];
        const NO_TESTS: &[&str] = &[
            "[no tests to run]",
            "[no test files]",
            "no tests ran",
            "no tests found",
            "no tests were found",
            "no test files found",
            "no tests executed",
            "no test is available",
            "no test specified",
            "no specs found",
            "all examples were filtered out",
            "result: notests",
            ":test no-source",
        ];
        let starts_with_any = |with: &[&str]| with.iter().any(|start| line.starts_with(start));
        let lower = line.to_ascii_lowercase();
        self.failures |= line == "FAIL" || starts_with_any(FAILS) || line.ends_with(": Some tests failed.");
        self.failures |= FAILS_WITHIN.iter().any(|sign| line.contains(sign));
        self.failures |= matches!(
            lower.trim_end_matches(['.', '!']),
            "tests failed" | "test failed" | "some tests failed"
        );
        self.has_marks |=
            starts_with_any(MARKS) || line.starts_with("thread '") && line.contains("' panicked at ");
        let passes = line == "OK"
            || starts_with_any(PASSES)
            || line.ends_with(": All tests passed!")
            || line.contains("\"Action\":\"pass\"");
        let has_no_tests = NO_TESTS.iter().any(|sign| lower.contains(sign));
        if has_no_tests {
            self.ran = self.ran.max(TestsRun::Nothing);
        }
        self.passes |= passes && !has_no_tests;
        if line.starts_with("ok  \t") && !has_no_tests {
            self.ran = TestsRun::Something;
        }
    }

    /// Reads counts: "3 failed", "3 of 100 tests failed", and in a summary the other way round: "Failures:
    /// 3".
    fn read_counts(&mut self, line: &str) {
        /// What is counted, before or after the result.
        const TESTS: &[&str] = &["tests", "test", "specs", "suites", "snapshot", "snapshots", "subtests"];
        /// Words after a count in a summary. "3 failed logins" is a sentence.
        const WORDS_AFTER: &[&str] = &[
            "tests", "test", "specs", "suites", "of", "in", "out", "and", "during", "total", "passed",
            "from", "|",
        ];
        let is_summary = line.starts_with("# ") || line.starts_with("ℹ ");
        // "failed=3 passed=97", but not "level=info errors=1".
        let is_pairs = line.contains("passed=") || line.contains("pass=");
        let line = &*if is_pairs { Cow::Owned(line.replace('=', ": ")) } else { Cow::Borrowed(line) };
        let words: Vec<&str> = line.split_whitespace().collect();
        let is_test = |at: usize| {
            words.get(at).is_some_and(|word| TESTS.contains(&&*trim_punctuation(word).to_lowercase()))
        };
        let number = |at: usize| {
            let word = trim_punctuation(words.get(at)?);
            word.split_once('/').map_or(word, |(count, _)| count).parse::<u64>().ok()
        };
        // "3 of 100 tests" are 3.
        let counted_at = |at: usize| {
            let of = at.checked_sub(2).filter(|_| words[at - 1] == "of").and_then(number);
            number(at).map(|count| of.unwrap_or(count))
        };
        let (mut has_run, mut has_no_passes, mut has_skipped) = (false, false, false);
        for (at, word) in words.iter().enumerate() {
            let is_timeout =
                *word == "timed" && words.get(at + 1).is_some_and(|next| trim_punctuation(next) == "out");
            let kind =
                if is_timeout { "failed".to_owned() } else { trim_punctuation(word).to_ascii_lowercase() };
            let is = |list: &[&str]| list.contains(&kind.as_str());
            if !is(FAILURES) && !is(PASSES) && !is(SKIPPED) {
                continue;
            }
            let next = words.get(at + 1);
            let ends = word.ends_with(|c: char| !c.is_alphanumeric())
                || next.is_none_or(|next| {
                    trim_punctuation(next).is_empty()
                        || next.starts_with('(')
                        || WORDS_AFTER.contains(&trim_punctuation(next))
                });
            let ahead = at.checked_sub(1).filter(|_| ends);
            let before = ahead.and_then(|ahead| match ahead.checked_sub(1) {
                Some(further) if is_test(ahead) => counted_at(further),
                _ => counted_at(ahead),
            });
            let is_heading = |at: usize| words[at].ends_with(':');
            // "Failed: 3", "Failed tests: 3", "Total 3, Failed 1".
            let is_list = is_summary || line.contains("Total ");
            let headed = if is_test(at + 1) && is_heading(at + 1) {
                number(at + 2)
            } else {
                number(at + 1).filter(|_| is_heading(at) || is_list)
            };
            // "Failed 1/3 subtests".
            let of_tests = || number(at + 1).filter(|_| is_test(at + 2) && !ends);
            let Some(count) = headed.or(before).or_else(of_tests) else { continue };
            // Linters say "0 errors" as well.
            let is_error = kind.starts_with("error");
            self.failures |= is(FAILURES) && count > 0;
            self.passes |= is(FAILURES) && count == 0 && !is_error || is(PASSES) && count > 0;
            if is(PASSES) && count > 0 {
                self.ran = TestsRun::Something;
            }
            has_run |= (is(PASSES) || is(FAILURES)) && count > 0;
            has_no_passes |= is(PASSES) && count == 0;
            has_skipped |= kind == "skipped" && count > 0;
        }
        // "0 passed", "5 skipped, 5 total".
        let is_total = line.starts_with("Tests:");
        if !has_run && (has_no_passes || has_skipped && is_total) {
            self.ran = self.ran.max(TestsRun::Nothing);
        }
    }

    /// Reads how many tests ran: "10 examples, 0 failures", "Tests run: 0", "Tests: 0 total". The number in
    /// "0 tests failed" is something else.
    fn read_run_count(&mut self, line: &str) {
        const TESTS: &[&str] = &["tests", "examples", "runs", "specs", "scenarios"];
        let words: Vec<&str> = line.split_whitespace().collect();
        let is_ending = |at: usize| {
            let word =
                words.get(at).map(|word| trim_punctuation(word).to_ascii_lowercase()).unwrap_or_default();
            word != "total" && [FAILURES, PASSES, SKIPPED].iter().any(|list| list.contains(&&*word))
        };
        for (at, word) in words.iter().enumerate() {
            let Ok(count) = trim_punctuation(word).parse::<u64>() else { continue };
            // "Tests: 10, Assertions: 20", but not "Tests: 5 skipped".
            let is_whole = word.ends_with(',') || !is_ending(at + 1);
            let is_headed = is_whole && matches!(words[..at], [.., "Tests", "run:"] | [.., "Tests:"]);
            let is_named = words.get(at + 1).is_some_and(|next| TESTS.contains(&trim_punctuation(next)))
                && !is_ending(at + 2);
            if is_headed || is_named {
                self.ran = self.ran.max(if count == 0 { TestsRun::Nothing } else { TestsRun::Something });
            }
        }
    }
}

/// A word without its punctuation.
pub fn trim_punctuation(word: &str) -> &str {
    word.trim_matches(|c: char| !c.is_alphanumeric())
}

/// A line without the colours of a terminal.
pub fn strip_colours(line: &str) -> String {
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
    fn test_runner_output_is_understood() {
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
            assert!(TestOutput::read(text).failures, "{text}");
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
            assert!(!TestOutput::read(text).failures, "{text}");
        }
        for text in ["5 passed, 0 failed", "3 examples, 0 failures", "OK (3 tests, 5 assertions)", "# pass 3"]
        {
            assert!(TestOutput::read(text).passes, "{text}");
        }
        assert!(!TestOutput::read("0 passed").passes && !TestOutput::read("done").passes);
    }
}
