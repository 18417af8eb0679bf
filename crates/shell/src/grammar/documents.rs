//! Here-documents: their delimiters and their texts.

use super::{Mode, ParseResult, Parser, SyntaxError, SyntaxEvent};

/// An announced here-document.
pub(super) struct HereDocument {
    delimiter: String,
    /// Tabs at the start of the lines are ignored.
    strip: bool,
    /// The body contains no expansions.
    quoted: bool,
    /// Where its announcement starts and ends.
    pub(super) at: usize,
    pub(super) end: usize,
}

impl HereDocument {
    /// Parses the delimiter after `<<` at `start`: the source of a word without its quotes.
    pub(super) fn parse(line: &str, start: usize) -> Result<Self, SyntaxError> {
        let mut at = start + 2;
        let strip = line[at..].starts_with('-');
        at += usize::from(strip);
        at += line[at..].len() - line[at..].trim_start_matches([' ', '\t']).len();
        let from = at;
        let mut text = String::new();
        let (mut quoted, mut within, mut is_ansi) = (false, None, false);
        let mut rest = line[at..].chars().peekable();
        while let Some(&c) = rest.peek() {
            if within.is_none() && " \t\n;&|()<>".contains(c) {
                break;
            }
            rest.next();
            at += c.len_utf8();
            match (c, within) {
                ('\'' | '"', None) => {
                    is_ansi = line[..at - 1].ends_with('$');
                    (quoted, within) = (true, Some(c));
                }
                (c, Some(sign)) if c == sign => within = None,
                // An escape in `$'…'` is not decoded, so that the delimiter matches no line.
                ('\\', Some('\'')) if is_ansi => text.push('\n'),
                // Between double quotes, a backslash protects only these characters.
                ('\\', Some('"')) if !matches!(rest.peek(), Some('$' | '`' | '"' | '\\' | '\n')) => {
                    text.push(c);
                }
                ('\\', None | Some('"')) => {
                    quoted = true;
                    if let Some(c) = rest.next() {
                        at += c.len_utf8();
                        text.push(c);
                    }
                }
                // `$'E'` and `$"E"` lose their `$`.
                ('$', None) if matches!(rest.peek(), Some('\'' | '"')) => {}
                _ => text.push(c),
            }
        }
        let is_odd =
            at == from || within.is_some() || text.contains(['\n', '`']) || line[..at].ends_with('$');
        if is_odd || line[at..].starts_with('(') {
            return Err(SyntaxError::new("the delimiter of a here-document", start));
        }
        Ok(Self { delimiter: text, strip, quoted, at: start, end: at })
    }

    /// Finds the end of the body that starts at `at` and the end of its delimiter line, and returns whether all shells
    /// agree on it.
    fn find_end(&self, text: &str, at: usize, in_substitution: bool) -> (usize, usize, bool) {
        let all = &text[at..];
        let mut here = at;
        // Some shells end a document in a substitution at `EOF)`.
        let mut closed = None;
        let mut continued = false;
        // The continued lines so far, joined, as long as they may become the delimiter.
        let mut joined = String::new();
        for line in all.split_inclusive('\n') {
            let bare = line.strip_suffix('\n').unwrap_or(line);
            let slashes = bare.len() - bare.trim_end_matches('\\').len();
            let has_continuation = !self.quoted && slashes % 2 == 1;
            if (continued || has_continuation) && joined.len() <= self.delimiter.len() {
                let piece = bare.strip_suffix('\\').filter(|_| has_continuation).unwrap_or(bare);
                let is_start = self.strip && joined.is_empty();
                joined.push_str(if is_start { piece.trim_start_matches('\t') } else { piece });
            }
            if continued && !has_continuation && joined == self.delimiter {
                return (here, here + line.len(), false);
            }
            let bare = if self.strip { bare.trim_start_matches('\t') } else { bare };
            if bare == self.delimiter && !continued {
                return (here, here + line.len(), closed.is_none());
            }
            if in_substitution
                && closed.is_none()
                && bare.strip_prefix(&self.delimiter).is_some_and(|rest| rest.starts_with(')'))
            {
                let indent = line.len() - line.trim_start_matches('\t').len();
                closed = Some((here, here + indent + self.delimiter.len()));
            }
            continued = has_continuation;
            if !has_continuation {
                joined.clear();
            }
            here += line.len();
        }
        let (end, next) = closed.unwrap_or((text.len(), text.len()));
        (end, next, false)
    }
}

impl Parser<'_> {
    /// After a line end, emits the documents that the line has announced.
    pub(super) fn read_documents(&mut self) -> ParseResult {
        let in_substitution = self.frames.iter().any(|frame| matches!(frame.mode, Mode::Substitution(_)));
        for document in std::mem::take(&mut self.list().documents) {
            let (end, next, is_certain) = document.find_end(self.text, self.at, in_substitution);
            // To find an uncertain end, the whole rest was read.
            self.work.pay(if is_certain { next } else { self.text.len() } - self.at);
            if !is_certain {
                let what = "the end of a here-document".into();
                self.ready.push_back(SyntaxEvent::NotUnderstood { what, at: document.at });
            }
            self.ready.push_back(SyntaxEvent::Body {
                text: &self.text[self.at..end],
                quoted: document.quoted,
                strips_tabs: document.strip,
            });
            self.at = next;
        }
        Ok(())
    }
}
