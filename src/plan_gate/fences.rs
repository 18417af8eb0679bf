//! Fenced code in a plan, as far as it hides marks.
//!
//! A fence begins and ends as in `CommonMark`, at any depth of indentation. One that is never closed
//! hides nothing: what is appended to a file must not be swallowed by an author's slip.

use std::ops::Range;

use crate::search;

/// The fences of a text that are closed, from the first to the last backtick or tilde.
pub fn closed(text: &[u8]) -> Vec<Range<usize>> {
    let mut fences = Vec::new();
    let mut open: Option<(u8, usize, usize)> = None;
    let mut from = 0;
    for at in search::either(text, (b'`', b'~')) {
        // The rest of a run that has been looked at, or of one that is too short.
        if at < from {
            continue;
        }
        let sign = text[at];
        let length = text[at..].iter().take_while(|byte| **byte == sign).count();
        from = at + length;
        if length < 3 || !begins_line(text, at) {
            continue;
        }
        let line = &text[at + length..];
        let line = &line[..search::byte(line, b'\n').unwrap_or(line.len())];
        match open {
            None if sign == b'~' || !line.contains(&b'`') => open = Some((sign, length, at)),
            Some((opener, least, start))
                if opener == sign && length >= least && line.iter().all(u8::is_ascii_whitespace) =>
            {
                fences.push(start..at + length);
                open = None;
            }
            _ => {}
        }
    }
    fences
}

/// Whether a place lies in one of these fences.
pub fn hide(fences: &[Range<usize>], at: usize) -> bool {
    let next = fences.partition_point(|fence| fence.end <= at);
    fences.get(next).is_some_and(|fence| fence.contains(&at))
}

fn begins_line(text: &[u8], at: usize) -> bool {
    let before = text[..at].iter().rposition(|byte| !matches!(byte, b' ' | b'\t' | b'>'));
    before.is_none_or(|before| text[before] == b'\n')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hidden(text: &str) -> Vec<&str> {
        closed(text.as_bytes()).into_iter().map(|range| &text[range]).collect()
    }

    #[test]
    fn a_fence_ends_with_its_own_sign_at_its_length() {
        assert_eq!(hidden("a\n```md\nx\n```\nb"), ["```md\nx\n```"]);
        assert_eq!(hidden("````\n```\nx\n`````  \n"), ["````\n```\nx\n`````"]);
        assert_eq!(hidden("~~~\n```\n~~~\n```"), ["~~~\n```\n~~~"]);
        assert_eq!(hidden("- a\n   ```\n   x\n   ```\n"), ["```\n   x\n   ```"]);
        assert_eq!(hidden("> ```\n> x\n> ```\n"), ["```\n> x\n> ```"]);
        assert_eq!(hidden("```\r\nx\r\n```\r\n"), ["```\r\nx\r\n```"]);
    }

    #[test]
    fn what_is_not_closed_is_no_fence() {
        assert!(hidden("```\nx\n").is_empty());
        assert!(hidden("x ``` y\n```\n").is_empty());
        assert!(hidden("```a`b\nx\n").is_empty());
        assert!(hidden("```\nx\n``` y\n").is_empty());
    }
}
