//! Text that reaches a model or a terminal: bounded, and free of control characters.
//!
//! Paths, prompts and names come from the agent. An escape sequence in one of them must not be
//! able to repaint a person's terminal, so everything that is shown passes through [`printable`].

use std::borrow::Cow;

/// The text with control and direction characters made visible; line feeds and tabs stay.
pub fn printable(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_hostile) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if is_hostile(c) {
            shown.extend(c.escape_unicode());
        } else {
            shown.push(c);
        }
    }
    Cow::Owned(shown)
}

/// The same on one line.
pub fn one_line(text: &str) -> String {
    printable(text).replace(['\n', '\t'], " ")
}

/// The text of an agent or a command of a plugin, without the lines at its start that describe it.
pub fn without_description(markdown: &str) -> &str {
    let rest = markdown.strip_prefix("---\n").unwrap_or(markdown);
    rest.split_once("\n---\n").map_or(rest, |(_, body)| body).trim()
}

fn is_hostile(c: char) -> bool {
    (c.is_control() && c != '\n' && c != '\t')
        || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// At most `most` UTF-16 units (what the clients count), with a mark where something was cut.
pub fn bounded(text: &str, most: usize) -> Cow<'_, str> {
    const CUT: &str = " … (cut)";
    let mut units = 0;
    // A text of few bytes cannot have many units.
    if text.len() <= most || text.encode_utf16().count() <= most {
        return Cow::Borrowed(text);
    }
    let kept = most.saturating_sub(CUT.encode_utf16().count());
    let end = text
        .char_indices()
        .find(|(_, c)| {
            units += c.len_utf16();
            units > kept
        })
        .map_or(text.len(), |(at, _)| at);
    Cow::Owned(format!("{}{CUT}", &text[..end]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_cannot_reach_a_terminal() {
        assert_eq!(printable("plain\ttext\n"), "plain\ttext\n");
        assert_eq!(printable("\x1b[2Jgone"), "\\u{1b}[2Jgone");
        assert_eq!(printable("a\u{202e}b\r"), "a\\u{202e}b\\u{d}");
    }

    #[test]
    fn cutting_keeps_whole_characters_and_says_so() {
        assert_eq!(bounded("short", 5), "short");
        let cut = bounded(&"😀".repeat(100), 50).into_owned();
        assert!(cut.encode_utf16().count() <= 50 && cut.ends_with("(cut)"), "{cut}");
    }
}
