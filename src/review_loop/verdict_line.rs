//! A verdict in the text of a review: its last line, where a reviewer says it in no other way.

/// Whether the review is clean; `None`: its last line is no verdict.
pub fn of(review: &str) -> Option<bool> {
    let last = review.lines().rev().map(str::trim).find(|line| !line.is_empty())?;
    let word = last.trim_matches(['*', '_', '`', '#', ' ']).strip_prefix("VERDICT:")?;
    match word.trim_matches(['*', '_', '`', ' ']) {
        "PASS" => Some(true),
        "FAIL" => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_last_line_counts() {
        assert_eq!(of("# Review\n\nVERDICT: PASS\n"), Some(true));
        assert_eq!(of("# Review\r\n**VERDICT: FAIL**\r\n\r\n"), Some(false));
        for text in ["", "VERDICT: PASS\nbut see above", "VERDICT: PASS or FAIL", "PASS", "the VERDICT: PASS"] {
            assert_eq!(of(text), None, "{text}");
        }
    }
}
