//! Reads the part of Starlark that the rule files of Codex use: calls with literal arguments, and constants.
//!
//! Nothing is run. What stands in a block, and a value that something else than `+` makes, is not known, and the caller
//! reports it.

use std::collections::HashMap;

/// A value, as far as it is known.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Literal {
    Text(String),
    List(Vec<Literal>),
    None,
    Unknown,
}

#[derive(Debug, PartialEq)]
pub(super) enum Statement {
    Call(Call),
    /// A statement that is not read, by its first word.
    Other(String),
}

#[derive(Debug, PartialEq)]
pub(super) struct Call {
    pub(super) name: String,
    /// The arguments with their names; one that is given by its position has none.
    pub(super) arguments: Vec<(Option<String>, Literal)>,
}

#[derive(Debug, Clone, PartialEq)]
enum Token {
    Word(String),
    Text(String),
    Sign(char),
    /// The start of a statement outside of brackets.
    Line {
        is_indented: bool,
    },
}

pub(super) fn parse(text: &str) -> Result<Vec<Statement>, String> {
    let tokens = tokenize(text)?;
    let mut reader = Reader::default();
    for line in tokens.split(|token| matches!(token, Token::Line { is_indented: false })) {
        reader.read_line(line)?;
    }
    Ok(reader.statements)
}

#[derive(Default)]
struct Reader {
    constants: HashMap<String, Literal>,
    statements: Vec<Statement>,
}

impl Reader {
    /// Reads a statement with the block that belongs to it.
    fn read_line(&mut self, line: &[Token]) -> Result<(), String> {
        const KEYWORDS: &[&str] = &["if", "elif", "else", "for", "while", "def", "load", "pass", "return"];
        let is_keyword = matches!(line.first(), Some(Token::Word(word)) if KEYWORDS.contains(&word.as_str()));
        if is_keyword || line.iter().any(|token| matches!(token, Token::Line { .. })) {
            self.skip(line);
            return Ok(());
        }
        for statement in split_statements(line) {
            self.read_statement(statement)?;
        }
        Ok(())
    }

    fn read_statement(&mut self, tokens: &[Token]) -> Result<(), String> {
        match tokens {
            // A text on its own is a comment.
            [] | [Token::Text(_)] => {}
            [Token::Word(name), Token::Sign('='), value @ ..] if value.first() != Some(&Token::Sign('=')) => {
                let mut at = 0;
                let value = self.read_value(value, &mut at, 0)?;
                let is_known = self.constants.get(name).is_none_or(|known| *known == value);
                self.constants.insert(name.clone(), if is_known { value } else { Literal::Unknown });
            }
            [Token::Word(name), Token::Sign('('), inner @ .., Token::Sign(')')] if !name.contains('.') => {
                let arguments = self.read_arguments(inner)?;
                self.statements.push(Statement::Call(Call { name: name.clone(), arguments }));
            }
            tokens => self.skip(tokens),
        }
        Ok(())
    }

    /// Reports a statement, and the calls in it. Any constant that it names may change.
    fn skip(&mut self, tokens: &[Token]) {
        let mut first = None;
        for (at, token) in tokens.iter().enumerate() {
            let Token::Word(word) = token else { continue };
            first.get_or_insert(word);
            if let Some(constant) = self.constants.get_mut(word.split('.').next().unwrap_or(word)) {
                *constant = Literal::Unknown;
            }
            if tokens.get(at + 1) == Some(&Token::Sign('(')) && first != Some(word) {
                self.statements.push(Statement::Other(format!("{word}(…)")));
            }
        }
        self.statements.push(Statement::Other(first.map_or("an expression", |word| word).to_owned()));
    }

    fn read_arguments(&self, tokens: &[Token]) -> Result<Vec<(Option<String>, Literal)>, String> {
        let (mut arguments, mut at) = (Vec::new(), 0);
        while at < tokens.len() {
            let name = match &tokens[at..] {
                [Token::Word(name), Token::Sign('='), ..] => Some(name.clone()),
                _ => None,
            };
            at += if name.is_some() { 2 } else { 0 };
            arguments.push((name, self.read_value(tokens, &mut at, 0)?));
            // The comma.
            at += 1;
        }
        Ok(arguments)
    }

    /// The value at a position, up to the next comma or closing bracket.
    fn read_value(&self, tokens: &[Token], at: &mut usize, depth: usize) -> Result<Literal, String> {
        let mut value = self.read_part(tokens, at, depth)?;
        while tokens.get(*at) == Some(&Token::Sign('+')) {
            *at += 1;
            let next = self.read_part(tokens, at, depth)?;
            value = match (value, next) {
                (Literal::Text(first), Literal::Text(second)) => Literal::Text(first + &second),
                (Literal::List(first), Literal::List(second)) => Literal::List([first, second].concat()),
                _ => Literal::Unknown,
            };
        }
        let mut open = 0;
        while let Some(token) = tokens.get(*at) {
            match token {
                Token::Sign(',' | ')' | ']' | '}') if open == 0 => break,
                Token::Sign('(' | '[' | '{') => open += 1,
                Token::Sign(')' | ']' | '}') => open -= 1,
                _ => {}
            }
            // What an operator or a call would make of it is not known.
            value = Literal::Unknown;
            *at += 1;
        }
        Ok(value)
    }

    fn read_part(&self, tokens: &[Token], at: &mut usize, depth: usize) -> Result<Literal, String> {
        const DEEPEST: usize = 20;
        if depth > DEEPEST {
            return Err("its lists are nested too deeply".into());
        }
        let value = match tokens.get(*at) {
            Some(Token::Text(text)) => Literal::Text(text.clone()),
            Some(Token::Word(word)) if word == "None" => Literal::None,
            Some(Token::Word(word)) => self.constants.get(word).cloned().unwrap_or(Literal::Unknown),
            Some(Token::Sign('[')) => {
                *at += 1;
                let mut list = Vec::new();
                loop {
                    match tokens.get(*at) {
                        None => return Err("a bracket is not closed".into()),
                        Some(Token::Sign(']')) => break,
                        Some(Token::Sign(',')) => *at += 1,
                        Some(_) => {
                            let before = *at;
                            list.push(self.read_value(tokens, at, depth + 1)?);
                            if *at == before {
                                return Err("a bracket is not closed".into());
                            }
                        }
                    }
                }
                Literal::List(list)
            }
            // The caller steps over it.
            Some(_) => return Ok(Literal::Unknown),
            None => return Err("a value is missing".into()),
        };
        *at += 1;
        Ok(value)
    }
}

/// The statements of a line, which `;` separates outside of brackets.
fn split_statements(line: &[Token]) -> Vec<&[Token]> {
    let (mut statements, mut start, mut open) = (Vec::new(), 0, 0);
    for (at, token) in line.iter().enumerate() {
        match token {
            Token::Sign('(' | '[' | '{') => open += 1,
            Token::Sign(')' | ']' | '}') => open -= 1,
            Token::Sign(';') if open == 0 => {
                statements.push(&line[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    statements.push(&line[start..]);
    statements
}

fn tokenize(text: &str) -> Result<Vec<Token>, String> {
    let mut tokens = Vec::new();
    let mut open: usize = 0;
    let mut rest = text.chars().peekable();
    let (mut is_line_start, mut is_indented) = (true, false);
    while let Some(c) = rest.next() {
        match c {
            '#' => while rest.next_if(|c| *c != '\n').is_some() {},
            '\n' if open == 0 => (is_line_start, is_indented) = (true, false),
            // The line continues.
            '\\' if rest.next_if(|c| matches!(c, '\n' | '\r')).is_some() => {}
            c if c.is_whitespace() => is_indented |= is_line_start && open == 0,
            c => {
                if std::mem::take(&mut is_line_start) {
                    tokens.push(Token::Line { is_indented });
                }
                match c {
                    '"' | '\'' => tokens.push(Token::Text(read_string(c, &mut rest, false)?)),
                    'r' | 'R' if matches!(rest.peek(), Some('"' | '\'')) => {
                        let quote = rest.next().unwrap_or('"');
                        tokens.push(Token::Text(read_string(quote, &mut rest, true)?));
                    }
                    c if c.is_alphanumeric() || c == '_' => {
                        let mut word = String::from(c);
                        while let Some(c) = rest.next_if(|c| c.is_alphanumeric() || matches!(c, '_' | '.')) {
                            word.push(c);
                        }
                        tokens.push(Token::Word(word));
                    }
                    c => {
                        match c {
                            '(' | '[' | '{' => open += 1,
                            ')' | ']' | '}' => open = open.checked_sub(1).ok_or("a bracket is not opened")?,
                            _ => {}
                        }
                        tokens.push(Token::Sign(c));
                    }
                }
            }
        }
    }
    if open > 0 { Err("a bracket is not closed".into()) } else { Ok(tokens) }
}

fn read_string(
    quote: char,
    rest: &mut std::iter::Peekable<std::str::Chars<'_>>,
    is_raw: bool,
) -> Result<String, String> {
    let mut text = String::new();
    // Three quotes begin a text of several lines.
    let mut is_long = false;
    if rest.next_if_eq(&quote).is_some() {
        if rest.next_if_eq(&quote).is_none() {
            return Ok(text);
        }
        is_long = true;
    }
    while let Some(c) = rest.next() {
        match c {
            '\\' if is_raw => {
                text.push('\\');
                text.extend(rest.next());
            }
            '\\' => match rest.next() {
                Some('n') => text.push('\n'),
                Some('t') => text.push('\t'),
                Some('r') => text.push('\r'),
                Some('\n') => {}
                Some(c @ ('\\' | '"' | '\'')) => text.push(c),
                Some(c) => return Err(format!("`\\{c}` in a text is not read")),
                None => break,
            },
            '\n' if !is_long => break,
            c if c == quote && !is_long => return Ok(text),
            c if c == quote => {
                let mut ahead = rest.clone();
                if ahead.next() == Some(quote) && ahead.next() == Some(quote) {
                    rest.next();
                    rest.next();
                    return Ok(text);
                }
                text.push(c);
            }
            c => text.push(c),
        }
    }
    Err("a text is not closed".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(value: &str) -> Literal {
        Literal::Text(value.into())
    }

    fn other(word: &str) -> Statement {
        Statement::Other(word.into())
    }

    fn call(arguments: &[Literal]) -> Statement {
        let arguments = arguments.iter().map(|value| (None, value.clone())).collect();
        Statement::Call(Call { name: "f".into(), arguments })
    }

    #[test]
    fn literal_arguments_are_read() {
        let list = Literal::List(vec![text("a"), Literal::List(vec![text("b"), text("c")])]);
        let named = Call {
            name: "f".into(),
            arguments: vec![(Some("x".into()), list), (Some("y".into()), text("d")), (None, Literal::None)],
        };
        let source = "# f(\nf( # c\n  x = ['a', [\"b\", 'c',],],\ny='''d''', None,)\n";
        assert_eq!(parse(source), Ok(vec![Statement::Call(named)]));
        assert_eq!(parse(r#"f("a\"\n"); f(r'\s')"#), Ok(vec![call(&[text("a\"\n")]), call(&[text(r"\s")])]));
        assert_eq!(
            parse("A = ['x']\nB = 'y'\nf(A + [B, 'z' + B])\n"),
            Ok(vec![call(&[Literal::List(vec![text("x"), text("y"), text("zy")])])])
        );
        assert_eq!(parse("'''doc'''\n\n"), Ok(Vec::new()));
    }

    #[test]
    fn what_is_not_known_is_not_guessed() {
        for source in
            ["f('%s' % 'a')", "f(g('a', 'b'))", "f(X)", "f(['a'] * 2)", "f('a' if x else 'b')", "f((1, 2))"]
        {
            assert_eq!(parse(source), Ok(vec![call(&[Literal::Unknown])]), "{source}");
        }
        let changed = |change: &str| parse(&format!("A = 'a'\n{change}\nf(A)\n")).unwrap().pop().unwrap();
        for change in ["A = 'b'", "A += 'b'", "A.append('b')", "if x:\n  A = 'b'", "for A in []: pass"] {
            assert_eq!(changed(change), call(&[Literal::Unknown]), "{change}");
        }
        assert_eq!(
            parse("if False:\n    f('a')\n\n    f('b')\nf('c')\n"),
            Ok(vec![other("f(…)"), other("f(…)"), other("if"), call(&[text("c")])])
        );
        assert_eq!(parse("[f(x) for x in ['a']]\n"), Ok(vec![other("f")]));
        assert_eq!(parse("if x: f('a'); f('b')\n"), Ok(vec![other("f(…)"), other("f(…)"), other("if")]));
        for broken in ["f('a'", "f(['a')", "f('a\n')", "f('\\x41')", "x = \n"] {
            assert!(parse(broken).is_err(), "{broken}");
        }
        assert!(parse(&"[".repeat(200_000)).is_err());
    }
}
