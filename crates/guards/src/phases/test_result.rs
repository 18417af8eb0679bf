//! How the tests ended that a command line ran.
//!
//! Both the exit code and the output count: output with failed tests is never a pass, even with exit code 0,
//! because some clients and pipes do not report the code of the test runner.

use super::prelude::*;
use super::test_command::runs_tests;
use super::test_output::{TestOutput, TestsRun, strip_colours, trim_punctuation};
use provost_core::effect::Effect;

/// How a run of tests ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TestResult {
    Passed,
    Failed {
        /// The first line that looks like an error.
        error: String,
    },
}

impl TestResult {
    /// `None`: the event ran no tests, or their result is not known.
    pub fn from_event(event: &Event) -> Option<Self> {
        let (call, is_success) = match &event.kind {
            EventKind::AfterTool(call) => (call, true),
            EventKind::ToolFailed(call) => (call, false),
            _ => return None,
        };
        let runs = event.effects().iter().filter_map(|effect| match effect {
            Effect::Run { program, arguments, .. } => Some(runs_tests(program, arguments)),
            _ => None,
        });
        let are_tests: Vec<bool> = runs.collect();
        if !are_tests.contains(&true) || call.outcome.is_unfinished {
            return None;
        }
        // The exit code is that of the last program.
        let is_last = are_tests.last() == Some(&true);
        let text = call.outcome.text.as_deref().unwrap_or_default();
        let code = match call.outcome.exit_code {
            Some(code) => code,
            // The client reports any other end as a failure. But a command that printed nothing may still run
            // in the background, and one that failed without a code was cut off: neither is a result.
            None if is_success && !text.trim().is_empty() => 0,
            None => return None,
        };
        let output = TestOutput::read(text);
        let has_passed = match (is_last, code) {
            _ if output.failures => false,
            // No test ran, so no test passed.
            (_, 0) if output.ran == TestsRun::Nothing => return None,
            (true, code) => code == 0,
            (false, _) if output.passes => true,
            // The code may not be that of the tests.
            (false, _) => return None,
        };
        Some(if has_passed { Self::Passed } else { Self::Failed { error: find_first_error(text, code) } })
    }
}

/// The first line that looks like an error, without durations, which differ from run to run.
fn find_first_error(text: &str, code: i64) -> String {
    const LONGEST: usize = 200;
    const SIGNS: &[&str] =
        &["error", "fail", "expected", "assert", "panicked", "not ok", "exception", "✗", "✕", "×"];
    let lines = text.lines().map(strip_colours).filter(|line| !line.starts_with("Exit code "));
    let looks_like_error = |line: &String| {
        let line = line.to_lowercase();
        SIGNS.iter().any(|sign| line.contains(sign)) && !TestOutput::read(&line).passes
    };
    let mut found = lines.filter(looks_like_error).map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let is_time = |at: usize| {
            let own = trim_punctuation(words[at]);
            let unit = words.get(at + 1).copied().map(trim_punctuation).unwrap_or_default();
            is_duration(own, "")
                || is_duration(own, unit)
                || at > 0 && is_unit(own) && is_duration(trim_punctuation(words[at - 1]), own)
        };
        (0..words.len()).filter(|at| !is_time(*at)).map(|at| words[at]).collect::<Vec<_>>().join(" ")
    });
    let found = found.find(|line| !line.is_empty());
    found.map_or_else(|| format!("exit code {code}"), |line| line.chars().take(LONGEST).collect())
}

fn is_unit(word: &str) -> bool {
    matches!(word, "s" | "ms" | "sec" | "seconds")
}

/// `12ms`, or `5.21` with its unit after it.
fn is_duration(word: &str, unit: &str) -> bool {
    let number = word.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let own = &word[number.len()..];
    number.parse::<f64>().is_ok() && is_unit(if own.is_empty() { unit } else { own })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_error_with_another_duration_is_the_same() {
        let a = find_first_error("Exit code 1\n ok\nFAIL src/a.test.js (5.21 s)\n", 1);
        let b = find_first_error("Exit code 1\n ok\nFAIL src/a.test.js (6 s)\n", 1);
        assert_eq!((a.as_str(), b.as_str()), ("FAIL src/a.test.js", "FAIL src/a.test.js"));
        assert_eq!(find_first_error("Exit code 7\nhm", 7), "exit code 7");
        assert_eq!(find_first_error("FAIL a 12ms", 1), "FAIL a");
        assert_eq!(find_first_error(&"error ".repeat(100), 1).len(), 200);
    }
}
