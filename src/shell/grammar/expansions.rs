//! What the shell puts in the place of a part of a word: variables, substitutions, arithmetic.

use super::compounds::is_name;
use super::words::escaped_end;
use super::{Arithmetic, Grammar, Kind, Mode, Position, Progress, QUOTED_ARITHMETIC, Step, TRANSFORMED};

/// More digits than any number that a shell counts with.
const LONGEST_NUMBER: usize = 32;

impl Grammar<'_> {
    /// A `$` in a word; `quoted`: what it gives stays one word.
    pub(super) fn dollar(&mut self, quoted: bool) -> Progress {
        // The word starts here, even where it turns out to be empty.
        self.word();
        let rest = self.rest();
        match self.peek(1) {
            Some(b'\\') if self.peek(2) == Some(b'\n') => {
                return Err(self.stuck("a line that goes on inside an expansion"));
            }
            Some(b'\'') if !quoted => return self.ansi_quoted(),
            Some(b'"') if !quoted => self.at += 1,
            Some(b'(') if self.peek(2) == Some(b'(') && !self.groups.contains(&self.at) => {
                self.unknown(quoted, false);
                self.push(Mode::Arithmetic(Arithmetic::default()))?;
                self.at += 3;
            }
            Some(b'(') => {
                self.unknown(quoted, false);
                return self.open_commands(2);
            }
            Some(b'[') => {
                self.unknown(quoted, false);
                self.doubt("arithmetic in brackets");
                self.push(Mode::Arithmetic(Arithmetic {
                    brackets: true,
                    doubtful: true,
                    ..Arithmetic::default()
                }))?;
                self.at += 2;
            }
            Some(b'{') => return self.open_braces(quoted),
            Some(c) if c.is_ascii_alphabetic() || c == b'_' => {
                let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
                let length = rest[1..].find(|c| !is_part(c)).map_or(rest.len(), |end| 1 + end);
                self.variable(&rest[1..length], self.at + length, quoted);
            }
            Some(c) if c.is_ascii_digit() || b"?@#$!*-".contains(&c) => {
                self.variable(&rest[1..2], self.at + 2, quoted);
            }
            _ => {
                self.word().append("$");
                self.at += 1;
            }
        }
        Ok(())
    }

    /// The text between backticks is a command line of its own once its escapes are taken away.
    pub(super) fn backtick(&mut self, quoted: bool) -> Progress {
        let inside = &self.rest()[1..];
        let Some(end) = escaped_end(inside, b'`') else {
            return Err(self.stuck("a backtick that is never closed"));
        };
        self.no_document_across(&inside[..end])?;
        self.unknown(quoted, false);
        self.ready.push_back(Step::Commands(unescaped(&inside[..end], quoted)));
        self.at += end + 2;
        Ok(())
    }

    /// `${…}`: its name and what is done with it.
    fn open_braces(&mut self, quoted: bool) -> Progress {
        let from = self.at + 2;
        let rest = &self.text[from..];
        if rest.starts_with([' ', '\t', '\n', '|']) {
            return Err(self.stuck("`${` with commands"));
        }
        let is_length = rest.starts_with('#') && !rest.starts_with("#}");
        let prefix = usize::from(rest.starts_with('!') || is_length);
        let name = parameter(&rest[prefix..]);
        let (name, prefix) = if name.is_empty() { (parameter(rest), 0) } else { (name, prefix) };
        if name.is_empty() {
            return Err(self.stuck("`${` without a name"));
        }
        let mut behind = prefix + name.len();
        if prefix == 0 && rest[behind..].starts_with('}') {
            self.variable(name, from + behind + 1, quoted);
            return Ok(());
        }
        if prefix == 1 && !is_length {
            self.doubt("a variable named by another");
        }
        let mut several = name == "@";
        if let Some(subscript) = rest[behind..].strip_prefix('[') {
            // A number, or a sign; what is longer is not understood anyway.
            let end = subscript.bytes().take(LONGEST_NUMBER).position(|byte| byte == b']');
            let content = &subscript[..end.unwrap_or(0)];
            several |= content == "@";
            if matches!(content, "@" | "*")
                || (!content.is_empty() && content.bytes().all(|c| c.is_ascii_digit()))
            {
                behind += content.len() + 2;
            } else {
                self.doubt("a subscript");
            }
        }
        self.unknown(quoted, several);
        let mut signs = rest[behind..].bytes();
        match (signs.next(), signs.next()) {
            (Some(b':'), Some(b'=')) | (Some(b'='), _) if is_name(name) => {
                self.forget_variable(name);
                self.ready.push_back(Step::Set(name));
                if self.kind == Kind::Text {
                    // It is set for the commands around the document, which are read by another.
                    self.doubt("a variable that a here-document sets");
                }
            }
            (Some(b':'), Some(b'-' | b'?' | b'+'))
            | (Some(b'-' | b'?' | b'+' | b'#' | b'%' | b'/' | b'^' | b',' | b'}' | b'['), _) => {}
            (Some(b':'), _) => {
                let range = &rest[behind..];
                let range = &range[..range.find('}').unwrap_or(0)];
                if !range.bytes().all(|c| c.is_ascii_digit() || b" :-".contains(&c)) {
                    self.doubt("arithmetic in `${`");
                }
            }
            (Some(b'@'), _) => self.doubt(TRANSFORMED),
            _ => return Err(self.stuck("an unknown `${`")),
        }
        self.push(Mode::Braces { quoted })?;
        self.at = from + behind;
        // A sign of the operator is no sign of the word: `${x#'…}` and `${x/"…}` are.
        Ok(())
    }

    pub(super) fn in_braces(&mut self, c: u8, quoted: bool) -> Progress {
        match c {
            b'}' => {
                self.pop();
                self.at += 1;
            }
            b'\\' => {
                let next = self.rest()[1..].chars().next().map_or(0, char::len_utf8);
                let escaped = &self.rest()[1..=next];
                self.word().append(escaped);
                self.at += 1 + next;
            }
            b'\'' if quoted => {
                const WHAT: &str = "a quote in `${` between quotes";
                // Behind some operators it is a quote, behind others a letter. Where nothing stands between
                // it and the next one that a quote would protect, both are read alike.
                let inside = self.rest()[1..].split_once('\'').map(|(inside, _)| inside);
                let Some(inside) = inside.filter(|inside| !inside.contains(['"', '\\', '$', '`', '}', '\n']))
                else {
                    return Err(self.stuck(WHAT));
                };
                self.doubt(WHAT);
                self.at += inside.len() + 2;
            }
            b'\'' => {
                let Some(end) = self.rest()[1..].find('\'') else {
                    return Err(self.stuck("a quote that is never closed"));
                };
                self.no_document_across(&self.rest()[..=end])?;
                let inside = &self.rest()[1..=end];
                self.word().append(inside);
                self.at += end + 2;
            }
            b'"' => {
                self.push(Mode::Double)?;
                self.at += 1;
            }
            b'$' => return self.dollar(quoted),
            b'`' => return self.backtick(quoted),
            b'<' | b'>' if self.peek(1) == Some(b'(') => {
                return Err(self.stuck("a substitution in `${`"));
            }
            b'\n' => {
                self.no_document_across("\n")?;
                self.at += 1;
            }
            _ => {
                let sign = &self.rest()[..self.rest().chars().next().map_or(0, char::len_utf8)];
                self.word().append(sign);
                self.at += sign.len();
            }
        }
        Ok(())
    }

    /// Arithmetic on numbers is harmless. A name in it is not: the shell evaluates what the variable
    /// holds, and a subscript there may run commands.
    pub(super) fn in_arithmetic(&mut self, c: u8, mut state: Arithmetic) -> Progress {
        let depth = self.frames.len() - 1;
        match c {
            b'0'..=b'9' | b' ' | b'\t' | b'\n' | b';' => self.at += 1,
            b'+' | b'-' | b'*' | b'/' | b'%' | b'<' | b'>' | b'=' | b'!' | b'&' | b'|' | b'^' | b'~'
            | b'?' | b':' | b',' => self.at += 1,
            b'\'' | b'"' | b'\\' => return Err(self.stuck(QUOTED_ARITHMETIC)),
            b'(' => {
                state.open += 1;
                self.at += 1;
            }
            b')' if state.open > 0 => {
                state.open -= 1;
                self.at += 1;
            }
            b')' if !state.brackets && self.peek(1) == Some(b')') => {
                self.pop();
                self.at += 2;
                if state.is_command {
                    self.lists.pop();
                    if !matches!(self.mode(), Mode::For(_)) {
                        self.list().position = Position::AfterCompound;
                    }
                }
                return Ok(());
            }
            b']' if state.brackets && state.open == 0 => {
                self.pop();
                self.at += 1;
                return Ok(());
            }
            b')' => return Err(self.stuck("arithmetic that is never closed")),
            _ => {
                if !state.doubtful {
                    self.doubt("arithmetic with more than numbers");
                    state.doubtful = true;
                }
                self.frames[depth].mode = Mode::Arithmetic(state);
                match c {
                    b'$' => return self.dollar(true),
                    b'`' => return self.backtick(true),
                    _ => self.at += self.rest().chars().next().map_or(1, char::len_utf8),
                }
            }
        }
        self.frames[depth].mode = Mode::Arithmetic(state);
        Ok(())
    }
}

/// The name of a parameter at the start of a text: a variable, a number or a sign.
fn parameter(text: &str) -> &str {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let length = match text.chars().next() {
        Some(c) if c.is_ascii_digit() => text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()),
        Some(c) if is_part(c) => text.find(|c| !is_part(c)).unwrap_or(text.len()),
        Some('@' | '*' | '#' | '?' | '-' | '$' | '!') => 1,
        _ => 0,
    };
    &text[..length]
}

/// What the shell makes of the text between backticks before it runs it.
fn unescaped(inner: &str, quoted: bool) -> String {
    let mut text = String::with_capacity(inner.len());
    let mut rest = inner.chars().peekable();
    while let Some(c) = rest.next() {
        let escaped =
            rest.next_if(|next| c == '\\' && (matches!(next, '`' | '\\' | '$') || (quoted && *next == '"')));
        text.push(escaped.unwrap_or(c));
    }
    text
}
