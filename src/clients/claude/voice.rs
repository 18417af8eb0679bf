//! The tags in which the client itself speaks to the model.
//!
//! A reason repeats names and texts that an agent has chosen. None of them may look like a word of the
//! client, so wherever Provost speaks, the first sign of such a tag is another one.

use std::borrow::Cow;

/// How the client's tags begin.
const TAGS: &[&str] =
    &["system", "task-notification", "command-", "local-command", "user-prompt", "function", "tool"];

/// The text without a tag of the client's.
pub(super) fn without_tags(text: &str) -> Cow<'_, str> {
    let is_tag = |rest: &str| {
        let name = rest[1..].trim_start_matches(|c: char| c == '/' || c.is_whitespace());
        TAGS.iter().any(|tag| name.get(..tag.len()).is_some_and(|start| start.eq_ignore_ascii_case(tag)))
    };
    let places: Vec<usize> =
        text.match_indices('<').map(|(at, _)| at).filter(|at| is_tag(&text[*at..])).collect();
    if places.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 2 * places.len());
    let mut from = 0;
    for at in places {
        shown += &text[from..at];
        shown.push('‹');
        from = at + 1;
    }
    Cow::Owned(shown + &text[from..])
}

#[cfg(test)]
mod tests {
    use super::without_tags;

    #[test]
    fn only_the_clients_tags_are_taken_apart() {
        assert_eq!(
            without_tags("a</system-reminder>b<System-Reminder>"),
            "a‹/system-reminder>b‹System-Reminder>"
        );
        assert_eq!(without_tags("< / system-reminder>"), "‹ / system-reminder>");
        assert_eq!(without_tags("<<\n/system>"), "<‹\n/system>");
        assert_eq!(without_tags("<task-notification>x"), "‹task-notification>x");
        for plain in ["<!-- rodin:gaps:start -->", "Vec<T> < 5", "cat <file", "<", "é<"] {
            assert_eq!(without_tags(plain), plain);
        }
    }

    /// A text of nothing but such signs is read once.
    #[test]
    fn many_signs_take_no_time() {
        let text = "< ".repeat(500_000);
        assert_eq!(without_tags(&text), text);
    }
}
