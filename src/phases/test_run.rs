//! How the tests ended that a command line ran.
//!
//! That is decided by how the command ended and by what was printed: a text that shows failed tests is no pass,
//! whatever the exit code says, because some clients and pipes do not give the code of the runner.

use super::test_command::runs_tests;
use super::test_output::{Ran, Shown, bare, plain};
use crate::effect::Effect;
use crate::event::{Call, Event, Kind};

/// How a run of tests ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ending {
    Passed,
    Failed {
        /// The first line that looks like an error.
        error: String,
    },
}

impl Ending {
    /// How the tests of this event ended; `None`: it ran none, or nobody can tell.
    pub fn of(event: &Event) -> Option<Self> {
        let (call, went_well) = match &event.kind {
            Kind::AfterTool(call) => (call, true),
            Kind::ToolFailed(call) => (call, false),
            _ => return None,
        };
        let runs = event.effects().iter().filter_map(|effect| match effect {
            Effect::Run { program, arguments, .. } => Some((program.as_str(), arguments.as_slice())),
            _ => None,
        });
        let are_tests: Vec<bool> = runs.map(|(program, arguments)| runs_tests(program, arguments)).collect();
        if !are_tests.contains(&true) || call.outcome.is_unfinished {
            return None;
        }
        // Of several programs, the last one says how all of them ended.
        Self::told(call, went_well, are_tests.last() == Some(&true))
    }

    fn told(call: &Call, went_well: bool, is_last: bool) -> Option<Self> {
        let text = call.outcome.text.as_deref().unwrap_or_default();
        let code = match call.outcome.exit_code {
            Some(code) => code,
            // The client calls a command that ended otherwise a failure. But one that printed nothing
            // may still be at work in the background, and one that failed without a code was not run to
            // its end: neither is a result.
            None if went_well && !text.trim().is_empty() => 0,
            None => return None,
        };
        let shown = Shown::in_text(text);
        let passed = match (is_last, code) {
            _ if shown.failures => false,
            // Nothing was run, so nothing passed.
            (_, 0) if shown.ran == Ran::Nothing => return None,
            (true, code) => code == 0,
            (false, _) if shown.passes => true,
            // Whatever ended here, it may not have been the tests.
            (false, _) => return None,
        };
        Some(if passed { Self::Passed } else { Self::Failed { error: first_error(text, code) } })
    }
}

/// The first line that looks like an error, without what differs from run to run.
fn first_error(text: &str, code: i64) -> String {
    const MOST: usize = 200;
    const SIGNS: &[&str] =
        &["error", "fail", "expected", "assert", "panicked", "not ok", "exception", "✗", "✕", "×"];
    let lines = text.lines().map(plain).filter(|line| !line.starts_with("Exit code "));
    let looks = |line: &String| {
        let line = line.to_lowercase();
        SIGNS.iter().any(|sign| line.contains(sign)) && !Shown::in_text(&line).passes
    };
    let found = lines.filter(looks).map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let is_time = |at: usize| {
            let own = bare(words[at]);
            let unit = words.get(at + 1).copied().map(bare).unwrap_or_default();
            is_duration(own, "")
                || is_duration(own, unit)
                || at > 0 && is_unit(own) && is_duration(bare(words[at - 1]), own)
        };
        let kept = (0..words.len()).filter(|at| !is_time(*at)).map(|at| words[at]);
        kept.collect::<Vec<_>>().join(" ")
    });
    let found = found.into_iter().find(|line| !line.is_empty());
    found.map_or_else(|| format!("exit code {code}"), |line| line.chars().take(MOST).collect())
}

fn is_unit(word: &str) -> bool {
    matches!(word, "s" | "ms" | "sec" | "seconds")
}

/// `12ms`, or `5.21` with its unit behind it.
fn is_duration(word: &str, unit: &str) -> bool {
    let number = word.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let own = &word[number.len()..];
    number.parse::<f64>().is_ok() && is_unit(if own.is_empty() { unit } else { own })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_error_is_the_same_in_another_time() {
        let a = first_error("Exit code 1\n ok\nFAIL src/a.test.js (5.21 s)\n", 1);
        let b = first_error("Exit code 1\n ok\nFAIL src/a.test.js (6 s)\n", 1);
        assert_eq!((a.as_str(), b.as_str()), ("FAIL src/a.test.js", "FAIL src/a.test.js"));
        assert_eq!(first_error("Exit code 7\nhm", 7), "exit code 7");
        assert_eq!(first_error("FAIL a 12ms", 1), "FAIL a");
        assert_eq!(first_error(&"error ".repeat(100), 1).len(), 200);
    }
}
