//! The `.rules` files of Codex: `prefix_rule(pattern = […], decision = "…", match = […], not_match = […])`.
//!
//! The language is Starlark. Only calls with literal arguments are read; everything else is listed.

use super::command_text::{describe_difference, join_words};
use super::{ImportResult, ImportedExample, ImportedRule};
use crate::text::quote_for_shell;

#[derive(Debug, Clone, PartialEq)]
enum Token {
    Word(String),
    Text(String),
    Sign(char),
}

#[derive(Debug, Clone)]
enum Literal {
    Text(String),
    List(Vec<Literal>),
    Other,
}

pub(super) fn read(text: &str, result: &mut ImportResult) -> Result<(), String> {
    let tokens = tokenize(text)?;
    let mut at = 0;
    while at < tokens.len() {
        let Token::Word(name) = &tokens[at] else {
            at += 1;
            continue;
        };
        if tokens.get(at + 1) != Some(&Token::Sign('(')) {
            if name != "None" && name != "True" && name != "False" {
                result.leave_out(name.as_str(), "only calls with literal arguments are read");
            }
            at += 1;
            continue;
        }
        let mut position = at + 2;
        let arguments = read_arguments(&tokens, &mut position)?;
        if name == "prefix_rule" {
            read_rule(&arguments, result);
        } else {
            result.leave_out(format!("{name}(…)"), "there is no rule for it");
        }
        at = position;
    }
    Ok(())
}

fn read_rule(arguments: &[(String, Literal)], result: &mut ImportResult) {
    let find = |name: &str| arguments.iter().find(|(known, _)| known == name).map(|(_, value)| value);
    let text = |name: &str| match find(name) {
        Some(Literal::Text(text)) => Some(text.clone()),
        _ => None,
    };
    let words = match find("pattern") {
        Some(Literal::List(words)) => words.iter().map(alternatives).collect::<Option<Vec<_>>>(),
        _ => None,
    };
    let Some(words) = words else {
        return result.leave_out("prefix_rule", "its `pattern` is not a list of texts");
    };
    let shown = words.iter().map(|word| word.join("|")).collect::<Vec<_>>().join(" ");
    let action = match text("decision").as_deref() {
        Some("forbidden") => "deny",
        Some("prompt") => "ask",
        None | Some("allow") => return result.leave_out(shown, "a rule never allows anything"),
        Some(other) => return result.leave_out(shown, format!("`{other}` is an unknown decision")),
    };
    let pattern = match join_words(&words) {
        Ok(pattern) => pattern,
        Err(why) => return result.leave_out(shown, why),
    };
    if let Some(how) = describe_difference(&pattern, true) {
        result.differ(shown.as_str(), how);
    }
    let examples = |name: &str| -> Vec<ImportedExample> {
        let Some(Literal::List(list)) = find(name) else { return Vec::new() };
        list.iter().filter_map(example_line).map(ImportedExample::Line).collect()
    };
    let reason = text("justification").unwrap_or_else(|| {
        format!("a rule of Codex {}", if action == "ask" { "asks about it" } else { "forbids it" })
    });
    let (matching, not_matching) = (examples("match"), examples("not_match"));
    result.add(ImportedRule {
        name: shown,
        patterns: vec![("runs", vec![pattern])],
        action: Some((action, reason)),
        matching,
        not_matching,
        ..ImportedRule::default()
    });
}

fn alternatives(word: &Literal) -> Option<Vec<String>> {
    match word {
        Literal::Text(text) => Some(vec![text.clone()]),
        Literal::List(list) => list
            .iter()
            .map(|item| if let Literal::Text(text) = item { Some(text.clone()) } else { None })
            .collect(),
        Literal::Other => None,
    }
}

/// An example is a line, or the list of its words.
fn example_line(example: &Literal) -> Option<String> {
    match example {
        Literal::Text(line) => Some(line.clone()),
        list @ Literal::List(_) => {
            let words = alternatives(list)?;
            Some(words.iter().map(|word| quote_for_shell(word)).collect::<Vec<_>>().join(" "))
        }
        Literal::Other => None,
    }
}

/// The named arguments of a call, up to its closing parenthesis. A positional argument has an empty name.
fn read_arguments(tokens: &[Token], at: &mut usize) -> Result<Vec<(String, Literal)>, String> {
    let mut arguments = Vec::new();
    loop {
        match tokens.get(*at) {
            None => return Err("a parenthesis is not closed".into()),
            Some(Token::Sign(')')) => {
                *at += 1;
                return Ok(arguments);
            }
            Some(Token::Sign(',')) => *at += 1,
            Some(Token::Word(name)) if tokens.get(*at + 1) == Some(&Token::Sign('=')) => {
                *at += 2;
                arguments.push((name.clone(), read_literal(tokens, at, 0)?));
            }
            Some(_) => arguments.push((String::new(), read_literal(tokens, at, 0)?)),
        }
    }
}

fn read_literal(tokens: &[Token], at: &mut usize, depth: usize) -> Result<Literal, String> {
    const DEEPEST: usize = 20;
    if depth > DEEPEST {
        return Err("its lists are nested too deeply".into());
    }
    let value = match tokens.get(*at) {
        Some(Token::Text(text)) => {
            *at += 1;
            Literal::Text(text.clone())
        }
        Some(Token::Sign('[')) => {
            *at += 1;
            let mut list = Vec::new();
            loop {
                match tokens.get(*at) {
                    None => return Err("a bracket is not closed".into()),
                    Some(Token::Sign(']')) => break *at += 1,
                    Some(Token::Sign(',')) => *at += 1,
                    Some(_) => list.push(read_literal(tokens, at, depth + 1)?),
                }
            }
            Literal::List(list)
        }
        _ => {
            *at += 1;
            Literal::Other
        }
    };
    // What an operator would make of it is not known.
    let ends = matches!(tokens.get(*at), None | Some(Token::Sign(',' | ']' | ')')));
    if ends {
        return Ok(value);
    }
    while !matches!(tokens.get(*at), None | Some(Token::Sign(',' | ']' | ')'))) {
        *at += 1;
    }
    Ok(Literal::Other)
}

fn tokenize(text: &str) -> Result<Vec<Token>, String> {
    let mut tokens = Vec::new();
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '#' => while rest.next_if(|c| *c != '\n').is_some() {},
            '"' | '\'' => tokens.push(Token::Text(read_string(c, &mut rest)?)),
            c if c.is_whitespace() => {}
            c if c.is_alphanumeric() || c == '_' => {
                let mut word = String::from(c);
                while let Some(c) = rest.next_if(|c| c.is_alphanumeric() || matches!(c, '_' | '.')) {
                    word.push(c);
                }
                tokens.push(Token::Word(word));
            }
            c => tokens.push(Token::Sign(c)),
        }
    }
    Ok(tokens)
}

fn read_string(quote: char, rest: &mut std::iter::Peekable<std::str::Chars<'_>>) -> Result<String, String> {
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
            '\\' => match rest.next() {
                Some('n') => text.push('\n'),
                Some('t') => text.push('\t'),
                Some('\n') => {}
                Some(c) => text.push(c),
                None => break,
            },
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
