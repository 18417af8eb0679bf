//! Expansions: variables, substitutions, arithmetic.

use super::words::escaped_end;
use super::{
    Arithmetic, Mode, ParseResult, Parser, QUOTED_ARITHMETIC, SyntaxEvent, TRANSFORMED, TextKind,
    WordPosition,
};
use crate::word::{is_name, is_name_part};

/// No subscript has more digits.
const LONGEST_NUMBER: usize = 32;

impl Parser<'_> {
    /// Parses a `$` in a word. `quoted`: its value stays one word.
    pub(super) fn parse_dollar(&mut self, quoted: bool) -> ParseResult {
        // The word starts here, even if it turns out to be empty.
        self.current_word();
        let rest = self.rest();
        match self.peek(1) {
            Some(b'\\') if self.peek(2) == Some(b'\n') => {
                return Err(self.error("a line that goes on inside an expansion"));
            }
            Some(b'\'') if !quoted => return self.parse_ansi_quotes(),
            Some(b'"') if !quoted => self.at += 1,
            Some(b'(') if self.peek(2) == Some(b'(') && !self.groups.contains(&self.at) => {
                self.append_unknown(quoted, false);
                self.open_construct(Mode::Arithmetic(Arithmetic::default()))?;
                self.at += 3;
            }
            Some(b'(') => return self.open_substitution(quoted),
            Some(b'[') => {
                self.append_unknown(quoted, false);
                self.report_doubt("arithmetic in brackets");
                self.open_construct(Mode::Arithmetic(Arithmetic {
                    brackets: true,
                    doubtful: true,
                    ..Arithmetic::default()
                }))?;
                self.at += 2;
            }
            Some(b'{') => return self.open_braces(quoted),
            Some(c) if c.is_ascii_alphabetic() || c == b'_' => {
                let length = rest[1..].find(|c| !is_name_part(c)).map_or(rest.len(), |end| 1 + end);
                self.append_variable(&rest[1..length], self.at + length, quoted);
            }
            Some(c) if c.is_ascii_digit() || b"?@#$!*-".contains(&c) => {
                self.append_variable(&rest[1..2], self.at + 2, quoted);
            }
            _ => {
                self.current_word().append("$");
                self.at += 1;
            }
        }
        Ok(())
    }

    /// The text between backticks is a command line of its own, without its escapes.
    pub(super) fn parse_backtick(&mut self, quoted: bool) -> ParseResult {
        let inside = &self.rest()[1..];
        let Some(end) = escaped_end(inside, b'`') else {
            return Err(self.error("a backtick that is never closed"));
        };
        self.refuse_document_across(&inside[..end])?;
        self.append_unknown(quoted, false);
        self.ready.push_back(SyntaxEvent::Commands(unescape_backticks(&inside[..end], quoted)));
        self.advance(end + 2)
    }

    /// Parses `${…}`: the name and the operator.
    fn open_braces(&mut self, quoted: bool) -> ParseResult {
        let from = self.at + 2;
        let rest = &self.text[from..];
        if rest.starts_with([' ', '\t', '\n', '|']) {
            return Err(self.error("`${` with commands"));
        }
        let is_length = rest.starts_with('#') && !rest.starts_with("#}");
        let prefix = usize::from(rest.starts_with('!') || is_length);
        let name = parse_parameter(&rest[prefix..]);
        let (name, prefix) = if name.is_empty() { (parse_parameter(rest), 0) } else { (name, prefix) };
        if name.is_empty() {
            return Err(self.error("`${` without a name"));
        }
        let mut behind = prefix + name.len();
        if prefix == 0 && rest[behind..].starts_with('}') {
            self.append_variable(name, from + behind + 1, quoted);
            return Ok(());
        }
        if prefix == 1 && !is_length {
            self.report_doubt("a variable named by another");
        }
        let mut several = name == "@";
        if let Some(subscript) = rest[behind..].strip_prefix('[') {
            // A number, `@` or `*`. Anything longer is not understood.
            let end = subscript.bytes().take(LONGEST_NUMBER).position(|byte| byte == b']');
            let content = &subscript[..end.unwrap_or(0)];
            several |= content == "@";
            if matches!(content, "@" | "*")
                || (!content.is_empty() && content.bytes().all(|c| c.is_ascii_digit()))
            {
                behind += content.len() + 2;
            } else {
                self.report_doubt("a subscript");
            }
        }
        self.append_unknown(quoted, several);
        let mut signs = rest[behind..].bytes();
        match (signs.next(), signs.next()) {
            (Some(b':'), Some(b'=')) | (Some(b'='), _) if is_name(name) => {
                self.forget_variable(name);
                self.ready.push_back(SyntaxEvent::Set(name));
                if self.kind == TextKind::Text {
                    // The variable is set for the commands around the document, which another parser reads.
                    self.report_doubt("a variable that a here-document sets");
                }
            }
            (Some(b':'), Some(b'-' | b'?' | b'+'))
            | (Some(b'-' | b'?' | b'+' | b'#' | b'%' | b'/' | b'^' | b',' | b'}' | b'['), _) => {}
            (Some(b':'), _) => {
                let range = &rest[behind..];
                let range = &range[..range.find('}').unwrap_or(0)];
                if !range.bytes().all(|c| c.is_ascii_digit() || b" :-".contains(&c)) {
                    self.report_doubt("arithmetic in `${`");
                }
            }
            (Some(b'@'), _) => self.report_doubt(TRANSFORMED),
            _ => return Err(self.error("an unknown `${`")),
        }
        self.open_construct(Mode::Braces { quoted })?;
        self.at = from + behind;
        Ok(())
    }

    pub(super) fn parse_in_braces(&mut self, c: u8, quoted: bool) -> ParseResult {
        match c {
            b'}' => {
                self.close_construct();
                self.at += 1;
            }
            b'\\' => {
                let next = self.rest()[1..].chars().next().map_or(0, char::len_utf8);
                let escaped = &self.rest()[1..=next];
                self.current_word().append(escaped);
                self.at += 1 + next;
            }
            b'\'' if quoted => {
                const WHAT: &str = "a quote in `${` between quotes";
                // After some operators it is a quote, after others a letter. That makes no difference if the text up
                // to the next quote needs no protection.
                let inside = self.rest()[1..].split_once('\'').map(|(inside, _)| inside);
                let Some(inside) = inside.filter(|inside| !inside.contains(['"', '\\', '$', '`', '}', '\n']))
                else {
                    return Err(self.error(WHAT));
                };
                self.report_doubt(WHAT);
                self.at += inside.len() + 2;
            }
            b'\'' => {
                let Some(end) = self.rest()[1..].find('\'') else {
                    return Err(self.error("a quote that is never closed"));
                };
                self.refuse_document_across(&self.rest()[..=end])?;
                let inside = &self.rest()[1..=end];
                self.current_word().append(inside);
                self.at += end + 2;
            }
            b'"' => {
                self.open_construct(Mode::Double)?;
                self.at += 1;
            }
            b'$' => return self.parse_dollar(quoted),
            b'`' => return self.parse_backtick(quoted),
            b'<' | b'>' if self.peek(1) == Some(b'(') => {
                return Err(self.error("a substitution in `${`"));
            }
            b'\n' => {
                self.refuse_document_across("\n")?;
                self.at += 1;
            }
            _ => {
                let sign = &self.rest()[..self.rest().chars().next().map_or(0, char::len_utf8)];
                self.current_word().append(sign);
                self.at += sign.len();
            }
        }
        Ok(())
    }

    /// Arithmetic on numbers is harmless. A name is not: the shell evaluates the value of the variable, and a subscript
    /// in it may run commands.
    pub(super) fn parse_in_arithmetic(&mut self, c: u8, mut state: Arithmetic) -> ParseResult {
        match c {
            _ if c.is_ascii_digit() || b" \t\n;+-*/%<>=!&|^~?:,".contains(&c) => self.at += 1,
            b'\'' | b'"' | b'\\' => return Err(self.error(QUOTED_ARITHMETIC)),
            b'(' => {
                state.open += 1;
                self.at += 1;
            }
            b')' if state.open > 0 => {
                state.open -= 1;
                self.at += 1;
            }
            b')' if !state.brackets && self.peek(1) == Some(b')') => {
                self.close_construct();
                self.at += 2;
                if state.is_command {
                    self.lists.pop();
                    if !matches!(self.mode(), Mode::For(_)) {
                        self.list().position = WordPosition::AfterCompound;
                    }
                }
                return Ok(());
            }
            b']' if state.brackets && state.open == 0 => {
                self.close_construct();
                return self.advance(1);
            }
            b')' => return Err(self.error("arithmetic that is never closed")),
            _ => {
                if !state.doubtful {
                    self.report_doubt("arithmetic with more than numbers");
                    state.doubtful = true;
                }
                self.set_mode(Mode::Arithmetic(state));
                match c {
                    b'$' => return self.parse_dollar(true),
                    b'`' => return self.parse_backtick(true),
                    _ => self.at += self.rest().chars().next().map_or(1, char::len_utf8),
                }
            }
        }
        self.set_mode(Mode::Arithmetic(state));
        Ok(())
    }
}

/// The name of a parameter at the start of a text: a variable, a number or a sign.
fn parse_parameter(text: &str) -> &str {
    let length = match text.chars().next() {
        Some(c) if c.is_ascii_digit() => text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()),
        Some(c) if is_name_part(c) => text.find(|c| !is_name_part(c)).unwrap_or(text.len()),
        Some('@' | '*' | '#' | '?' | '-' | '$' | '!') => 1,
        _ => 0,
    };
    &text[..length]
}

/// Removes the escapes from the text between backticks, as the shell does before it runs it.
fn unescape_backticks(inner: &str, quoted: bool) -> String {
    let mut text = String::with_capacity(inner.len());
    let mut rest = inner.chars().peekable();
    while let Some(c) = rest.next() {
        let escaped =
            rest.next_if(|next| c == '\\' && (matches!(next, '`' | '\\' | '$') || (quoted && *next == '"')));
        text.push(escaped.unwrap_or(c));
    }
    text
}
