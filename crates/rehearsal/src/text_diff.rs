//! Shows what is wrong with a text: the most similar line, a diff, a shortened view.
//!
//! Readers of a failed expectation have not seen the run, and the line that was almost right usually explains it.

use similar::TextDiff;

const SHOWN_LINES: usize = 12;
const SHOWN_WIDTH: usize = 200;

/// The line of `text` that is most similar to `wanted`, if one is similar enough.
pub(crate) fn closest_line<'a>(wanted: &str, text: &'a str) -> Option<&'a str> {
    let needle = wanted.lines().max_by_key(|line| line.len())?;
    let wanted = letter_pairs(needle);
    text.lines()
        .map(|line| (similarity(&wanted, &letter_pairs(line)), line))
        .filter(|(similarity, _)| *similarity > 0.3)
        .max_by(|(a, _), (b, _)| a.total_cmp(b))
        .map(|(_, line)| line)
}

/// The sorted letter pairs of a line. Comparing them tolerates moved words.
fn letter_pairs(line: &str) -> Vec<(char, char)> {
    let letters: Vec<char> = line.chars().filter(|c| !c.is_whitespace()).take(2000).collect();
    let mut pairs: Vec<_> = letters.windows(2).map(|pair| (pair[0], pair[1])).collect();
    pairs.sort_unstable();
    pairs
}

/// The share of the wanted pairs that a line has, from 0 to 1, lowered for much longer lines.
#[expect(clippy::cast_precision_loss, reason = "line lengths are small")]
fn similarity(wanted: &[(char, char)], line: &[(char, char)]) -> f64 {
    let (mut i, mut j, mut common) = (0, 0, 0_usize);
    while i < wanted.len() && j < line.len() {
        match wanted[i].cmp(&line[j]) {
            std::cmp::Ordering::Less => i += 1,
            std::cmp::Ordering::Greater => j += 1,
            std::cmp::Ordering::Equal => {
                common += 1;
                i += 1;
                j += 1;
            }
        }
    }
    if common == 0 {
        return 0.0;
    }
    let surplus = line.len().saturating_sub(wanted.len()) as f64 / (line.len() as f64);
    common as f64 / wanted.len() as f64 - 0.3 * surplus
}

/// A unified diff, with `-` for what was expected and `+` for what is there.
pub(crate) fn line_diff(expected: &str, actual: &str) -> String {
    let diff = TextDiff::from_lines(expected, actual).unified_diff().context_radius(2).to_string();
    shorten_to(&diff, 4 * SHOWN_LINES)
}

/// Shortens a text to the lines that fit on a screen.
pub(crate) fn shorten(text: &str) -> String {
    shorten_to(text, SHOWN_LINES)
}

fn shorten_to(text: &str, limit: usize) -> String {
    let lines: Vec<String> = text.trim_end().lines().map(shorten_line).collect();
    if lines.len() <= limit {
        return lines.join("\n");
    }
    // Both ends matter: a denial comes first, and appended text comes last.
    let half = limit / 2;
    let left_out = lines.len() - 2 * half;
    let gap = format!("… {left_out} more lines …");
    [&lines[..half], &[gap], &lines[lines.len() - half..]].concat().join("\n")
}

/// Cuts a line at a readable width.
pub(crate) fn shorten_line(line: &str) -> String {
    if line.chars().count() <= SHOWN_WIDTH {
        return line.to_owned();
    }
    let start: String = line.chars().take(SHOWN_WIDTH).collect();
    format!("{start}…")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_closest_line_is_the_one_that_was_almost_right() {
        let text = "the weather\nPreToolUse:Bash hook error: denied, no plan\nsomething else";
        assert_eq!(
            closest_line("hook error: denied: no plan", text),
            Some("PreToolUse:Bash hook error: denied, no plan")
        );
        assert_eq!(closest_line("xyzzy", text), None);
    }

    #[test]
    fn a_diff_shows_the_change_with_its_neighbours() {
        assert_eq!(line_diff("a\nb\nc\nd\n", "a\nb\nX\nd\n"), "@@ -1,4 +1,4 @@\n a\n b\n-c\n+X\n d");
        assert_eq!(line_diff("a\n", "a\nb\n"), "@@ -1 +1,2 @@\n a\n+b");
        assert_eq!(line_diff("a", "a\n"), "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a");
    }

    #[test]
    fn a_long_text_keeps_both_ends() {
        let text = (1..=100).map(|n| format!("line {n}")).collect::<Vec<_>>().join("\n");
        let short = shorten(&text);
        assert!(short.starts_with("line 1\n") && short.ends_with("line 100"), "{short}");
        assert!(short.contains("… 88 more lines …"), "{short}");
        assert!(shorten(&"x".repeat(1000)).len() < 300);
    }
}
