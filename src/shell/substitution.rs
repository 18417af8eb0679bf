//! Where a part of a command line ends that is one unit to the shell: `$(…)`, `${…}`, `((…))`, a
//! here-document.
//!
//! Quotes, substitutions and parentheses nest in each other. They are followed on a stack of
//! signs, never by recursion, and each unit is passed once.

use std::borrow::Cow;

use super::Work;

/// What is open, and so decides what the next sign means.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Open {
    /// Commands between parentheses.
    Commands,
    /// `case … esac`, in which a closing parenthesis ends a pattern.
    Case,
    Quotes,
    /// `${…}`; `quoted`: between double quotes, where single quotes are text.
    Braces {
        quoted: bool,
    },
}

/// The place behind the sign that closes what was opened right before `at`.
pub(super) fn end(text: &str, mut at: usize, open: Open, work: &Work) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut stack = vec![open];
    let mut documents: Vec<Delimiter> = Vec::new();
    while let Some(&c) = bytes.get(at) {
        let top = *stack.last()?;
        let is_code = matches!(top, Open::Commands | Open::Case);
        let quotes = matches!(top, Open::Quotes | Open::Braces { quoted: true });
        let next = bytes.get(at + 1).copied();
        match (c, next) {
            (b'\\', _) => at += 1,
            (b'`', _) => at = backtick_end(text, at + 1)? - 1,
            (b'$', Some(b'\'')) if !quotes => at = ansi_end(text, at + 2)? - 1,
            (b'\'', _) if !quotes => at += 1 + text[at + 1..].find('\'')?,
            (b'"', _) if top == Open::Quotes => {
                stack.pop();
            }
            (b'"', _) => stack.push(Open::Quotes),
            (b'$', Some(b'{')) => {
                stack.push(Open::Braces { quoted: quotes });
                at += 1;
            }
            (b'$', Some(b'(')) => {
                if let Some(end) = arithmetic_end(text, at + 1, work) {
                    at = end - 1;
                } else {
                    stack.push(Open::Commands);
                    at += 1;
                }
            }
            (b'}', _) if matches!(top, Open::Braces { .. }) => {
                stack.pop();
            }
            (b'(', _) if is_code => match arithmetic_end(text, at, work) {
                Some(end) => at = end - 1,
                None => stack.push(Open::Commands),
            },
            (b')', _) if top == Open::Commands => {
                stack.pop();
            }
            (b'c', _) if is_code && is_word(text, at, "case") && starts_command(text, at) => {
                stack.push(Open::Case);
            }
            (b'e', _) if top == Open::Case && is_word(text, at, "esac") => {
                stack.pop();
            }
            (b'#', _) if is_code && at > 0 && b" \t\n;(|&".contains(&bytes[at - 1]) => {
                at += text[at..].find('\n')? - 1;
            }
            (b'<', Some(b'<')) if is_code && bytes.get(at + 2) == Some(&b'<') => at += 2,
            (b'<', Some(b'<')) if is_code => {
                let delimiter = Delimiter::read(text, at + 2);
                at = delimiter.end - 1;
                documents.push(delimiter);
            }
            (b'\n', _) if is_code => {
                for delimiter in documents.drain(..) {
                    at = delimiter.body(text, at + 1).1 - 1;
                }
            }
            _ => {}
        }
        at += 1;
        if stack.is_empty() {
            return Some(at);
        }
    }
    None
}

fn is_word(text: &str, at: usize, word: &str) -> bool {
    let bytes = text.as_bytes();
    let apart = |c: Option<&u8>| c.is_none_or(|c| b" \t\n;&|()`".contains(c));
    text[at..].starts_with(word) && apart(bytes.get(at + word.len())) && (at == 0 || apart(bytes.get(at - 1)))
}

fn starts_command(text: &str, at: usize) -> bool {
    // Blanks are passed again, but only right before the word, so this stays cheap.
    text[..at].trim_end_matches([' ', '\t']).ends_with([';', '&', '|', '(', '\n'])
}

/// The place behind `))`, if `((` stands at `at` and is arithmetic. As in the shell it is, if the
/// parenthesis that closes the inner one is followed by another; else these are nested groups.
pub(super) fn arithmetic_end(text: &str, at: usize, work: &Work) -> Option<usize> {
    let bytes = text.as_bytes();
    if work.is_spent() || !text[at..].starts_with("((") {
        return None;
    }
    let mut depth = 1;
    let mut here = at + 2;
    while let Some(&c) = bytes.get(here) {
        match c {
            b'\\' => here += 1,
            b'\'' => here += 1 + text[here + 1..].find('\'').unwrap_or(text.len() - here),
            b'`' => here = backtick_end(text, here + 1).unwrap_or(text.len() + 1) - 1,
            b'"' => here = escaped_end(text, here + 1, b'"').unwrap_or(text.len() + 1) - 1,
            b'(' => depth += 1,
            b')' => depth -= 1,
            _ => {}
        }
        here += 1;
        if depth == 0 {
            break;
        }
    }
    // What was passed is passed again for what it holds.
    work.pay(here - at);
    (depth == 0 && bytes.get(here) == Some(&b')')).then_some(here + 1)
}

/// The place behind the next backtick; what lies between is opaque to the text around it.
pub(super) fn backtick_end(text: &str, at: usize) -> Option<usize> {
    escaped_end(text, at, b'`')
}

/// The place behind the end of `$'…'`.
pub(super) fn ansi_end(text: &str, at: usize) -> Option<usize> {
    escaped_end(text, at, b'\'')
}

fn escaped_end(text: &str, mut at: usize, sign: u8) -> Option<usize> {
    let bytes = text.as_bytes();
    loop {
        match *bytes.get(at)? {
            b'\\' => at += 2,
            c if c == sign => return Some(at + 1),
            _ => at += 1,
        }
    }
}

/// What the shell makes of the text between backticks before it runs it.
pub(super) fn unescaped(inner: &str, quoted: bool) -> String {
    let mut text = String::with_capacity(inner.len());
    let mut rest = inner.chars().peekable();
    while let Some(c) = rest.next() {
        let escaped =
            rest.next_if(|next| c == '\\' && (matches!(next, '`' | '\\' | '$') || (quoted && *next == '"')));
        text.push(escaped.unwrap_or(c));
    }
    text
}

/// The command lines in a text of which the shell runs nothing but its substitutions.
pub(super) fn inside<'a>(text: &'a str, work: &Work) -> Vec<Cow<'a, str>> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(sign) = text[at..].find(['\\', '$', '`']) {
        at += sign;
        let rest = &text[at..];
        if let Some(escaped) = rest.strip_prefix('\\') {
            at += 1 + escaped.chars().next().map_or(0, char::len_utf8);
        } else if rest.starts_with('`') {
            let end = backtick_end(text, at + 1);
            let inner = &text[at + 1..end.map_or(text.len(), |end| end - 1)];
            found.push(Cow::Owned(unescaped(inner, false)));
            at = end.unwrap_or(text.len());
        } else if rest.starts_with("$(") && arithmetic_end(text, at + 1, work).is_none() {
            let end = end(text, at + 2, Open::Commands, work);
            found.push(Cow::Borrowed(&text[at + 2..end.map_or(text.len(), |end| end - 1)]));
            at = end.unwrap_or(text.len());
        } else {
            at += 1;
        }
    }
    found
}

/// What ends a here-document.
pub(super) struct Delimiter {
    text: String,
    /// Tabs in front of the lines do not count.
    strip: bool,
    /// Nothing in the body is expanded.
    pub(super) quoted: bool,
    /// The place behind the delimiter where it is announced.
    pub(super) end: usize,
}

impl Delimiter {
    /// Reads what stands behind `<<`: the source of a word with its quotes taken away.
    pub(super) fn read(line: &str, mut at: usize) -> Self {
        let strip = line[at..].starts_with('-');
        at += usize::from(strip);
        at += line[at..].len() - line[at..].trim_start_matches([' ', '\t']).len();
        let mut text = String::new();
        let (mut quoted, mut within) = (false, None);
        let mut rest = line[at..].chars().peekable();
        while let Some(&c) = rest.peek() {
            if within.is_none() && " \t\n;&|()<>".contains(c) {
                break;
            }
            rest.next();
            at += c.len_utf8();
            match (c, within) {
                ('\'' | '"', None) => (quoted, within) = (true, Some(c)),
                (c, Some(sign)) if c == sign => within = None,
                ('\\', None | Some('"')) => {
                    quoted = true;
                    if let Some(c) = rest.next() {
                        at += c.len_utf8();
                        text.push(c);
                    }
                }
                // `$'E'` and `$"E"` lose their sign.
                ('$', None) if matches!(rest.peek(), Some('\'' | '"')) => {}
                _ => text.push(c),
            }
        }
        Self { text, strip, quoted, end: at }
    }

    /// The body that starts at `at`, and the place behind its last line.
    pub(super) fn body<'a>(&self, text: &'a str, at: usize) -> (&'a str, usize) {
        let Some(all) = text.get(at..) else { return ("", text.len()) };
        let mut here = at;
        // Some shells take `EOF)` for the end of a document in a substitution.
        let mut closed = None;
        for line in all.split_inclusive('\n') {
            let bare = line.strip_suffix('\n').unwrap_or(line);
            let bare = if self.strip { bare.trim_start_matches('\t') } else { bare };
            if bare == self.text {
                return (&text[at..here], here + line.len());
            }
            if closed.is_none() && bare.strip_prefix(&self.text).is_some_and(|rest| rest.starts_with(')')) {
                closed =
                    Some((here, here + line.len() - line.trim_start_matches('\t').len() + self.text.len()));
            }
            here += line.len();
        }
        closed.map_or((all, text.len()), |(end, next)| (&text[at..end], next))
    }
}
