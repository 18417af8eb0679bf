//! Reads the YAML that rule files and workflow schemas of other tools use: maps, lists, texts, block texts and comments.
//!
//! Anchors, tags, merge keys and several documents are errors, so that nothing is read as something else.

use std::borrow::Cow;

use serde_json::{Map, Value};

/// More nesting than this is no configuration.
const DEEPEST: usize = 50;

struct Line<'a> {
    indent: usize,
    text: &'a str,
    number: usize,
}

struct Reader<'a> {
    /// The lines with content; block texts are read from `raw`.
    lines: Vec<Line<'a>>,
    raw: Vec<&'a str>,
    at: usize,
}

pub fn parse(text: &str) -> Result<Value, String> {
    let raw: Vec<&str> = text.lines().collect();
    let mut lines = Vec::new();
    for (number, line) in raw.iter().enumerate() {
        let content = strip_comment(line).trim_end();
        let indent = content.len() - content.trim_start().len();
        if content.trim().is_empty() || (number == 0 && content == "---") {
            continue;
        }
        if content[..indent].contains('\t') {
            return Err(format!("line {}: a tab cannot indent", number + 1));
        }
        lines.push(Line { indent, text: content.trim_start(), number });
    }
    let mut reader = Reader { lines, raw, at: 0 };
    let value = reader.read_block(0, 0)?;
    match reader.lines.get(reader.at) {
        None => Ok(value),
        Some(line) => Err(format!("line {}: the indentation does not fit", line.number + 1)),
    }
}

impl<'a> Reader<'a> {
    fn read_block(&mut self, least: usize, depth: usize) -> Result<Value, String> {
        let Some(first) = self.lines.get(self.at).filter(|line| line.indent >= least) else {
            return Ok(Value::Null);
        };
        if depth > DEEPEST {
            return Err("it is nested too deeply".into());
        }
        let indent = first.indent;
        if first.text == "-" || first.text.starts_with("- ") {
            return self.read_list(indent, depth);
        }
        if split_key(first.text).is_some() {
            return self.read_map(indent, depth);
        }
        let text = first.text;
        self.at += 1;
        read_scalar(text)
    }

    fn read_list(&mut self, indent: usize, depth: usize) -> Result<Value, String> {
        let mut list = Vec::new();
        while let Some(line) = self.lines.get(self.at) {
            if line.indent != indent || !(line.text == "-" || line.text.starts_with("- ")) {
                break;
            }
            let rest = line.text[1..].trim_start();
            let inner = indent + (line.text.len() - rest.len());
            if rest.is_empty() {
                self.at += 1;
                list.push(self.read_block(indent + 1, depth + 1)?);
            } else if split_key(rest).is_some() {
                // The first key stands behind the dash.
                self.lines[self.at].text = rest;
                self.lines[self.at].indent = inner;
                list.push(self.read_map(inner, depth + 1)?);
            } else {
                self.at += 1;
                list.push(self.read_value(rest, indent, depth)?);
            }
        }
        Ok(list.into())
    }

    fn read_map(&mut self, indent: usize, depth: usize) -> Result<Value, String> {
        let mut map = Map::new();
        while let Some(line) = self.lines.get(self.at) {
            if line.indent != indent {
                break;
            }
            let number = line.number + 1;
            let (key, rest) =
                split_key(line.text).ok_or_else(|| format!("line {number}: a key is missing"))?;
            let Value::String(key) = read_scalar(key).map(|key| match key {
                Value::String(key) => Value::String(key),
                other => Value::String(other.to_string()),
            })?
            else {
                return Err(format!("line {number}: a key is missing"));
            };
            self.at += 1;
            let value = if rest.is_empty() {
                // A list may stand at the indentation of its key.
                let is_list = |line: &&Line<'_>| {
                    line.indent == indent && (line.text == "-" || line.text.starts_with("- "))
                };
                let least =
                    if self.lines.get(self.at).as_ref().is_some_and(is_list) { indent } else { indent + 1 };
                self.read_block(least, depth + 1)?
            } else {
                self.read_value(rest, indent, depth)?
            };
            if map.insert(key.clone(), value).is_some() {
                return Err(format!("line {number}: `{key}` is there twice"));
            }
        }
        if let Some(line) = self.lines.get(self.at).filter(|line| line.indent > indent) {
            return Err(format!("line {}: the indentation does not fit", line.number + 1));
        }
        Ok(map.into())
    }

    fn read_value(&mut self, text: &'a str, indent: usize, depth: usize) -> Result<Value, String> {
        if depth > DEEPEST {
            return Err("it is nested too deeply".into());
        }
        let is_block = matches!(text, "|" | "|-" | "|+" | ">" | ">-" | ">+");
        if !is_block {
            return read_scalar(&self.join_plain_lines(text, indent));
        }
        let start = self.lines[self.at - 1].number + 1;
        let is_inside =
            |line: &&&str| line.trim().is_empty() || line.len() - line.trim_start().len() > indent;
        let block: Vec<&str> = self.raw[start..].iter().take_while(is_inside).copied().collect();
        while self.lines.get(self.at).is_some_and(|line| line.number < start + block.len()) {
            self.at += 1;
        }
        let least = block.iter().filter(|line| !line.trim().is_empty());
        let least = least.map(|line| line.len() - line.trim_start().len()).min().unwrap_or(0);
        let lines: Vec<&str> = block.iter().map(|line| line.get(least..).unwrap_or_default()).collect();
        let separator = if text.starts_with('>') { " " } else { "\n" };
        Ok(lines.join(separator).trim_end().into())
    }

    /// A plain text with the lines that continue it.
    fn join_plain_lines(&mut self, text: &'a str, indent: usize) -> Cow<'a, str> {
        let mut joined = Cow::Borrowed(text);
        let is_plain = !text.starts_with(['"', '\'', '[', '{', '&', '*', '!', '|', '>']);
        while let Some(line) = self.lines.get(self.at).filter(|line| is_plain && line.indent > indent) {
            if split_key(line.text).is_some() || line.text.starts_with("- ") {
                break;
            }
            joined = format!("{joined} {}", line.text).into();
            self.at += 1;
        }
        joined
    }
}

/// The key and the rest of a line `key: rest`.
fn split_key(text: &str) -> Option<(&str, &str)> {
    let end = match text.chars().next()? {
        quote @ ('"' | '\'') => 1 + text[1..].find(quote)? + 1,
        '[' | '{' => return None,
        _ => text.find(": ").or_else(|| text.strip_suffix(':').map(str::len))?,
    };
    let rest = text[end..].strip_prefix(':')?;
    (rest.is_empty() || rest.starts_with(' ')).then(|| (&text[..end], rest.trim()))
}

fn read_scalar(text: &str) -> Result<Value, String> {
    let text = text.trim();
    match text.chars().next() {
        Some('"') => match serde_json::from_str::<String>(text) {
            Ok(value) => Ok(value.into()),
            // YAML knows escapes that JSON does not.
            Err(_) => Err(format!("`{text}` cannot be read as a text")),
        },
        Some('\'') => {
            let inner = text[1..].strip_suffix('\'').ok_or_else(|| format!("`{text}` is not closed"))?;
            Ok(inner.replace("''", "'").into())
        }
        Some('[' | '{') => {
            let mut rest = text;
            let value = read_flow(&mut rest, 0)?;
            if rest.trim().is_empty() { Ok(value) } else { Err(format!("`{text}` must end on its line")) }
        }
        Some('&' | '!' | '%' | '@' | '`') => Err(format!("`{text}` is not read")),
        // As a plain text, `*x` is an alias.
        Some('*') => Err(format!("`{text}` is an alias, which is not read")),
        _ => Ok(match text {
            "true" => true.into(),
            "false" => false.into(),
            "" | "null" | "~" => Value::Null,
            _ => text.parse::<i64>().map_or_else(|_| text.into(), Value::from),
        }),
    }
}

/// A list or a map on one line, or a part of one.
fn read_flow(rest: &mut &str, depth: usize) -> Result<Value, String> {
    if depth > DEEPEST {
        return Err("it is nested too deeply".into());
    }
    *rest = rest.trim_start();
    let whole = *rest;
    let not_closed = || format!("`{whole}` must end on its line");
    let Some(close) = rest.chars().next().and_then(|c| match c {
        '[' => Some(']'),
        '{' => Some('}'),
        _ => None,
    }) else {
        let (text, after) = rest.split_at(find_flow_end(rest).ok_or_else(not_closed)?);
        *rest = after;
        return read_scalar(text);
    };
    *rest = &rest[1..];
    let (mut list, mut map) = (Vec::new(), Map::new());
    loop {
        *rest = rest.trim_start();
        if let Some(after) = rest.strip_prefix(close) {
            *rest = after;
            return Ok(if close == ']' { list.into() } else { map.into() });
        }
        if close == ']' {
            list.push(read_flow(rest, depth + 1)?);
        } else {
            let (key, value) = split_key(rest).ok_or_else(|| format!("`{whole}`: a key is missing"))?;
            *rest = value;
            let Value::String(key) = read_scalar(key)? else {
                return Err(format!("`{whole}`: a key is missing"));
            };
            if map.insert(key.clone(), read_flow(rest, depth + 1)?).is_some() {
                return Err(format!("`{key}` is there twice"));
            }
        }
        *rest = rest.trim_start();
        match rest.strip_prefix(',') {
            Some(after) => *rest = after,
            None if rest.starts_with(close) => {}
            None => return Err(not_closed()),
        }
    }
}

/// Where a text of a list or a map on one line ends.
fn find_flow_end(text: &str) -> Option<usize> {
    let mut quote = text.chars().next().filter(|c| matches!(c, '"' | '\''));
    let mut previous = ' ';
    for (at, c) in text.char_indices().skip(usize::from(quote.is_some())) {
        match quote {
            Some(open) if c == open && (open == '\'' || previous != '\\') => quote = None,
            None if matches!(c, ',' | ']' | '}') => return Some(at),
            _ => {}
        }
        previous = c;
    }
    None
}

/// The line without a comment, which begins with `#` at the start or after a blank, outside of quotes.
fn strip_comment(line: &str) -> &str {
    let (mut quote, mut previous) = (None, ' ');
    for (at, c) in line.char_indices() {
        match (quote, c) {
            (Some(open), c) if c == open && (open == '\'' || previous != '\\') => quote = None,
            (None, '"' | '\'') if previous == ' ' || matches!(previous, '[' | '{' | ',') => quote = Some(c),
            (None, '#') if previous.is_whitespace() => return &line[..at],
            _ => {}
        }
        previous = c;
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn maps_lists_and_texts_are_read() {
        let text = "# top\nname: 'it''s' # end\nempty:\nflag: true\ncount: 3\nlist:\n- a: 1\n  b: x: y\n- plain # no\n\
                    - \"#1\\n\"\nflow: [a, 'b, c']\nblock: |\n  one\n    two # kept\n\nlast: https://x/#y\n";
        let expected = json!({"name": "it's", "empty": null, "flag": true, "count": 3,
            "list": [{"a": 1, "b": "x: y"}, "plain", "#1\n"], "flow": ["a", "b, c"],
            "block": "one\n  two # kept", "last": "https://x/#y"});
        assert_eq!(parse(text).unwrap(), expected);
        assert_eq!(
            parse("- {a: 'x, y', \"b\": [1, {c: d}], e: }\n- [[a], {}]\n").unwrap(),
            json!([{"a": "x, y", "b": [1, {"c": "d"}], "e": null}, [["a"], {}]])
        );
        assert_eq!(
            parse("a:\n    b:\n      - c\n      -\n        d: e\n").unwrap(),
            json!({"a": {"b": ["c", {"d": "e"}]}})
        );
        assert_eq!(parse("a: one\n  two\n\n  three\nb: 1\n").unwrap(), json!({"a": "one two three", "b": 1}));
    }

    #[test]
    fn what_is_not_read_is_an_error() {
        for text in [
            "a: *b\n",
            "a: &b c\n",
            "a: !x y\n",
            "a: {b: c\n",
            "a: [b\n",
            "a: [b] c\n",
            "a: {b}\n",
            "a: {b: c, b: d}\n",
            "a: ['b, c]\n",
            "a: 1\na: 2\n",
            "a: 1\n   b: 2\n",
            "\ta: 1\n",
            "a: 'b\n",
        ] {
            assert!(parse(text).is_err(), "{text:?} {:?}", parse(text));
        }
        let flow = format!("a: {}\n", "[".repeat(10_000));
        assert!(parse(&flow).is_err());
        let deep = (0..200).map(|n| " ".repeat(n) + "a:\n").collect::<String>();
        assert!(parse(&deep).is_err());
    }
}
