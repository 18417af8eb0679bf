//! Splits program code of any language into names, texts and signs, as far as calls with plain texts need it.

use super::code::{CallKind, find_function};

/// Stands for a part of an argument that is not plain text.
pub(super) const UNKNOWN: &str = "$_";
/// More arguments of one call are left out.
const MOST_ARGUMENTS: usize = 32;

pub(super) enum CodeToken<'a> {
    /// A name with what stands in front of it: `os.remove`, `.unlink`.
    Name(&'a str),
    /// A text, and the quote that it stands in.
    Text {
        text: String,
        sign: char,
    },
    Sign(char),
}

pub(super) struct CodeReader<'a> {
    rest: &'a str,
}

impl<'a> CodeReader<'a> {
    pub(super) fn new(code: &'a str) -> Self {
        Self { rest: code }
    }

    pub(super) fn next_token(&mut self) -> Option<CodeToken<'a>> {
        loop {
            self.rest = self.rest.trim_start();
            let sign = self.rest.chars().next()?;
            if sign == '#' || self.rest.starts_with("//") {
                self.rest = self.rest.find('\n').map_or("", |end| &self.rest[end..]);
                continue;
            }
            if is_name_start(self.rest) {
                let end = self.rest.find(|c| !is_name_part(c)).unwrap_or(self.rest.len());
                let (name, behind) = self.rest.split_at(end);
                self.rest = behind;
                // `f"…"`, `rb'…'`: letters in front of a quote belong to the text.
                let is_prefix = name.len() <= 2 && name.chars().all(|c| "rbfuRBFU".contains(c));
                if is_prefix && behind.starts_with(['"', '\'']) {
                    return self.read_text(name.contains(['f', 'F']));
                }
                return Some(CodeToken::Name(name));
            }
            if matches!(sign, '"' | '\'' | '`') {
                return self.read_text(sign == '`');
            }
            self.rest = &self.rest[sign.len_utf8()..];
            return Some(CodeToken::Sign(sign));
        }
    }

    /// Reads a text from its quote on. A quote that its line does not close is a sign of its own.
    fn read_text(&mut self, has_parts: bool) -> Option<CodeToken<'a>> {
        let sign = self.rest.chars().next()?;
        let triple: &str = if sign == '"' { "\"\"\"" } else { "'''" };
        if sign != '`' && self.rest.starts_with(triple) {
            let inside = &self.rest[3..];
            let end = inside.find(triple).unwrap_or(inside.len());
            self.rest = inside.get(end + 3..).unwrap_or("");
            return Some(CodeToken::Text { text: inside[..end].to_owned(), sign });
        }
        let mut text = String::new();
        let mut chars = self.rest.char_indices().skip(1);
        while let Some((at, c)) = chars.next() {
            match c {
                '\\' => text.extend(chars.next().map(|(_, c)| if c == 'n' { '\n' } else { c })),
                '\n' if sign != '`' => break,
                '{' if has_parts => {
                    text = text.trim_end_matches('$').to_owned();
                    text.push_str(UNKNOWN);
                    chars.by_ref().find(|(_, c)| *c == '}');
                }
                c if c == sign => {
                    self.rest = &self.rest[at + 1..];
                    return Some(CodeToken::Text { text, sign });
                }
                c => text.push(c),
            }
        }
        self.rest = &self.rest[1..];
        Some(CodeToken::Sign(sign))
    }

    /// Reads the arguments of a call, up to its end or the end of the first list.
    pub(super) fn read_arguments(&mut self) -> Vec<String> {
        let mut arguments: Vec<String> = Vec::new();
        let behind = self.rest.trim_start_matches([' ', '\t']);
        let has_parenthesis = behind.starts_with('(');
        if !has_parenthesis && !behind.starts_with(['"', '\'']) {
            return arguments;
        }
        self.rest = behind.strip_prefix('(').unwrap_or(behind);
        let (mut depth, mut is_start) = (0, true);
        while arguments.len() < MOST_ARGUMENTS {
            if !has_parenthesis && !is_start && !self.rest.trim_start().starts_with(',') {
                break;
            }
            match self.next_token() {
                None | Some(CodeToken::Sign(']' | ';')) => break,
                Some(CodeToken::Sign(')')) if depth == 0 => break,
                Some(CodeToken::Sign(')')) => depth -= 1,
                Some(CodeToken::Sign(',')) => is_start = true,
                Some(CodeToken::Sign('[')) if is_start => {}
                Some(CodeToken::Sign('(')) if is_start => depth += 1,
                Some(CodeToken::Text { text, .. }) if is_start => {
                    arguments.push(text);
                    is_start = false;
                }
                // `expanduser('~/x')` is as good as its text.
                Some(CodeToken::Name(name)) if find_function(name) == Some(CallKind::Path) => {
                    if !is_start {
                        self.skip_argument();
                    }
                }
                Some(_) => {
                    match arguments.last_mut().filter(|_| !is_start) {
                        Some(last) => last.push_str(UNKNOWN),
                        None => arguments.push(UNKNOWN.to_owned()),
                    }
                    is_start = false;
                    self.skip_argument();
                }
            }
        }
        arguments
    }

    /// Steps to the sign that ends the current argument.
    fn skip_argument(&mut self) {
        let mut depth = 0;
        loop {
            let before = self.rest;
            match self.next_token() {
                None => return,
                Some(CodeToken::Sign('(' | '[' | '{')) => depth += 1,
                Some(CodeToken::Sign(')' | ']' | '}' | ',' | ';')) if depth == 0 => {
                    self.rest = before;
                    return;
                }
                Some(CodeToken::Sign(')' | ']' | '}')) => depth -= 1,
                Some(_) => {}
            }
        }
    }
}

fn is_name_start(rest: &str) -> bool {
    let rest = rest.strip_prefix('.').unwrap_or(rest);
    rest.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
}

fn is_name_part(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | ':')
}
