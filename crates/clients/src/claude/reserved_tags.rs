//! The tags that Claude Code itself uses to talk to the model.
//!
//! A reason quotes names and texts that an agent has chosen. None of them may look like a message of the client, so
//! Provost replaces the `<` of these tags in everything that it says.

use std::borrow::Cow;

/// How the names of these tags begin.
const PREFIXES: &[&str] =
    &["system", "task-notification", "command-", "local-command", "user-prompt", "function", "tool"];

/// Replaces the `<` of every reserved tag.
pub(super) fn defuse_tags(text: &str) -> Cow<'_, str> {
    let is_tag = |behind: &str| {
        let name = behind.trim_start_matches(|c: char| c == '/' || c.is_whitespace());
        PREFIXES.iter().any(|tag| name.get(..tag.len()).is_some_and(|start| start.eq_ignore_ascii_case(tag)))
    };
    let Some((before, rest)) = text.split_once('<') else { return Cow::Borrowed(text) };
    let mut defused = before.to_owned();
    for part in rest.split('<') {
        defused.push(if is_tag(part) { '‹' } else { '<' });
        defused += part;
    }
    Cow::Owned(defused)
}

#[cfg(test)]
mod tests {
    use super::defuse_tags;

    #[test]
    fn only_reserved_tags_are_replaced() {
        assert_eq!(
            defuse_tags("a</system-reminder>b<System-Reminder>"),
            "a‹/system-reminder>b‹System-Reminder>"
        );
        assert_eq!(defuse_tags("< / system-reminder>"), "‹ / system-reminder>");
        assert_eq!(defuse_tags("<<\n/system>"), "<‹\n/system>");
        assert_eq!(defuse_tags("<task-notification>x"), "‹task-notification>x");
        for plain in ["<!-- rodin:gaps:start -->", "Vec<T> < 5", "cat <file", "<", "é<"] {
            assert_eq!(defuse_tags(plain), plain);
        }
    }

    #[test]
    fn a_text_of_nothing_but_brackets_stays() {
        let text = "< ".repeat(500_000);
        assert_eq!(defuse_tags(&text), text);
    }
}
