//! Fenced code in a plan, which hides marks and phrases.
//!
//! A fence begins and ends as in `CommonMark`, at any depth of indentation. A fence without an end hides
//! nothing: otherwise an author's slip would hide what is appended to the file.

use crate::prelude::*;
use std::cell::OnceCell;
use std::ops::Range;

use provost_core::byte_search;

/// The closed fences of a text. The search runs on the first question and only once.
#[derive(Debug)]
pub struct CodeFences<'a> {
    text: &'a [u8],
    found: OnceCell<Vec<Range<usize>>>,
}

impl<'a> CodeFences<'a> {
    pub fn new(text: &'a [u8]) -> Self {
        Self { text, found: OnceCell::new() }
    }

    pub fn contain(&self, at: usize) -> bool {
        let fences = self.found.get_or_init(|| find_fences(self.text));
        let next = fences.partition_point(|fence| fence.end <= at);
        fences.get(next).is_some_and(|fence| fence.contains(&at))
    }
}

/// The closed fences, each from its first to its last backtick or tilde.
fn find_fences(text: &[u8]) -> Vec<Range<usize>> {
    let mut fences = Vec::new();
    let mut open: Option<(u8, usize, usize)> = None;
    let mut from = 0;
    for at in byte_search::find_either(text, (b'`', b'~')) {
        // The rest of the last run.
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
        let line = &line[..byte_search::find_byte(line, b'\n').unwrap_or(line.len())];
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

fn begins_line(text: &[u8], at: usize) -> bool {
    let before = text[..at].iter().rposition(|byte| !matches!(byte, b' ' | b'\t' | b'>'));
    before.is_none_or(|before| text[before] == b'\n')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find_fence_texts(text: &str) -> Vec<&str> {
        find_fences(text.as_bytes()).into_iter().map(|range| &text[range]).collect()
    }

    #[test]
    fn a_fence_ends_with_its_own_sign_at_its_length() {
        assert_eq!(find_fence_texts("a\n```md\nx\n```\nb"), ["```md\nx\n```"]);
        assert_eq!(find_fence_texts("````\n```\nx\n`````  \n"), ["````\n```\nx\n`````"]);
        assert_eq!(find_fence_texts("~~~\n```\n~~~\n```"), ["~~~\n```\n~~~"]);
        assert_eq!(find_fence_texts("- a\n   ```\n   x\n   ```\n"), ["```\n   x\n   ```"]);
        assert_eq!(find_fence_texts("> ```\n> x\n> ```\n"), ["```\n> x\n> ```"]);
        assert_eq!(find_fence_texts("```\r\nx\r\n```\r\n"), ["```\r\nx\r\n```"]);
    }

    #[test]
    fn a_fence_without_an_end_hides_nothing() {
        assert!(find_fence_texts("```\nx\n").is_empty());
        assert!(find_fence_texts("x ``` y\n```\n").is_empty());
        assert!(find_fence_texts("```a`b\nx\n").is_empty());
        assert!(find_fence_texts("```\nx\n``` y\n").is_empty());
    }
}
