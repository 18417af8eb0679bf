//! No pattern and no line makes matching panic or take more than linear time.

use std::path::Path;

use crate::pattern::{CommandPattern, PatternMatch, RunView};

#[rustfmt::skip]
const PIECES: &[&str] = &[
    "git", "push", "-f", "--force", "-rf", "--", "-", "*", "|", " ", " ", " ", "$X", "\"$X\"", "-$X", "--f$X", "'",
    "é", "-é", "=", "/", ".", "..", "~", "-C", "-m", "rm", "find", "-delete", "go", "make", "V=1", "+x", "cargo",
    "xargs", "sudo", ";", "{a,b}", "*.rs", "--no-", "--no-v", "\\", "\n", "-9", "terraform", "--x=", "chmod", "-R",
    "./", "docker", "run", "$(", ")",
];

/// A small generator of numbers, so that each run of the test is the same.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % end
    }

    fn text(&mut self, longest: usize) -> String {
        (0..=self.below(longest)).map(|_| PIECES[self.below(PIECES.len())]).collect()
    }
}

#[test]
fn random_patterns_and_lines_never_panic() {
    let mut numbers = Numbers(1);
    let mut matched = 0;
    for _ in 0..3000 {
        let line = format!("git {}", numbers.text(16));
        let effects = crate::effects(&line, Path::new("/p"), None);
        let runs: Vec<RunView> = effects.iter().filter_map(RunView::from_effect).collect();
        for _ in 0..8 {
            let text = numbers.text(8);
            match CommandPattern::parse(&text) {
                Ok(pattern) => {
                    matched += runs.iter().filter(|run| pattern.matches(run) > PatternMatch::No).count();
                }
                Err(error) => assert!(text.is_char_boundary(error.offset), "{text:?}: {error:?}"),
            }
        }
    }
    assert!(matched > 100, "{matched}");
}

#[test]
fn matching_is_linear_in_the_words_of_the_line() {
    let pattern = format!("git * {} --force", "x|* ".repeat(30));
    let pattern = CommandPattern::parse(&pattern).unwrap();
    let measure = |word: &str, count: usize| {
        let line = format!("git {}", word.repeat(count));
        let effects = crate::effects(&line, Path::new("/p"), None);
        let runs: Vec<RunView> = effects.iter().filter_map(RunView::from_effect).collect();
        let match_all = || runs.iter().filter(|run| pattern.matches(run) == PatternMatch::No).count();
        cpu_time::cpu_time(|| (0..20).map(|_| match_all()).sum::<usize>()).1.as_secs_f64()
    };
    for word in ["x ", "\"$X\" ", "$X ", "-abc ", "--force-with ", "s* "] {
        let (short, long) = (measure(word, 500), measure(word, 5000));
        assert!(long < short.max(0.01) * 60.0, "{word:?}: {short} s, then {long} s");
    }
}
