//! Here-documents: what ends them, and where their text is.

use super::{Grammar, Mode, Progress, Step, Stuck};

/// What ends a here-document.
pub(super) struct Delimiter {
    text: String,
    /// Tabs in front of the lines do not count.
    strip: bool,
    /// Nothing in the body is expanded.
    quoted: bool,
    /// Where it is announced, and the place behind that.
    pub(super) at: usize,
    pub(super) end: usize,
}

impl Delimiter {
    /// Reads what stands behind `<<` at `start`: the source of a word with its quotes taken away.
    pub(super) fn read(line: &str, start: usize) -> Result<Self, Stuck> {
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
                // What such an escape stands for is not worked out here.
                ('\\', Some('\'')) if is_ansi => text.push('\n'),
                // Between double quotes, a backslash protects only these.
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
                // `$'E'` and `$"E"` lose their sign.
                ('$', None) if matches!(rest.peek(), Some('\'' | '"')) => {}
                _ => text.push(c),
            }
        }
        let is_odd =
            at == from || within.is_some() || text.contains(['\n', '`']) || line[..at].ends_with('$');
        if is_odd || line[at..].starts_with('(') {
            return Err(Stuck { what: "the delimiter of a here-document".into(), at: start });
        }
        Ok(Self { text, strip, quoted, at: start, end: at })
    }

    /// The end of the body that starts at `at`, the place behind its last line, and whether all
    /// shells agree on it.
    fn body(&self, text: &str, at: usize, in_substitution: bool) -> (usize, usize, bool) {
        let all = &text[at..];
        let mut here = at;
        // Some shells take `EOF)` for the end of a document in a substitution.
        let mut closed = None;
        let mut continued = false;
        // What lines that go on have made so far, as long as it may become the end.
        let mut joined = String::new();
        for line in all.split_inclusive('\n') {
            let bare = line.strip_suffix('\n').unwrap_or(line);
            let slashes = bare.len() - bare.trim_end_matches('\\').len();
            let goes_on = !self.quoted && slashes % 2 == 1;
            if (continued || goes_on) && joined.len() <= self.text.len() {
                let piece = bare.strip_suffix('\\').filter(|_| goes_on).unwrap_or(bare);
                let is_start = self.strip && joined.is_empty();
                joined.push_str(if is_start { piece.trim_start_matches('\t') } else { piece });
            }
            if continued && !goes_on && joined == self.text {
                return (here, here + line.len(), false);
            }
            let bare = if self.strip { bare.trim_start_matches('\t') } else { bare };
            if bare == self.text && !continued {
                return (here, here + line.len(), closed.is_none());
            }
            if in_substitution
                && closed.is_none()
                && bare.strip_prefix(&self.text).is_some_and(|rest| rest.starts_with(')'))
            {
                let indent = line.len() - line.trim_start_matches('\t').len();
                closed = Some((here, here + indent + self.text.len()));
            }
            continued = goes_on;
            if !goes_on {
                joined.clear();
            }
            here += line.len();
        }
        let (end, next) = closed.unwrap_or((text.len(), text.len()));
        (end, next, false)
    }
}

impl Grammar<'_> {
    /// After a line end: the texts that the line has announced.
    pub(super) fn read_documents(&mut self) -> Progress {
        let in_substitution = self.frames.iter().any(|frame| frame.mode == Mode::Substitution);
        for delimiter in std::mem::take(&mut self.list().documents) {
            let (end, next, is_certain) = delimiter.body(self.text, self.at, in_substitution);
            // Where the end is not certain, all that follows was looked at.
            self.work.pay(if is_certain { next } else { self.text.len() } - self.at);
            if !is_certain {
                let what = "the end of a here-document".into();
                self.ready.push_back(Step::NotUnderstood { what, at: delimiter.at });
            }
            self.ready.push_back(Step::Body { text: &self.text[self.at..end], quoted: delimiter.quoted });
            self.at = next;
        }
        Ok(())
    }
}
