//! What an unknown tool could do: any string in its input may be a path that it writes to.
//!
//! Servers name a file in many ways: as a path, as a `file:` URL with `%2E` for a dot, or as a directory and a name in
//! separate fields. The guards see the file of every reading.

use std::borrow::Cow;

use serde_json::Value;

use super::expand_home;
use provost_core::tool::Tool;

/// No server makes a path of more strings, or of longer ones.
const MOST_PARTS: usize = 16;
const LONGEST_PART: usize = 1024;
/// Up to this many strings, three are joined too.
const FEW_PARTS: usize = 6;

/// The paths and command lines in the input of a tool. Some fields are command lines by their name, and a tool that deletes
/// or moves says so in its own name.
pub(super) fn parse(name: &str, input: &Value) -> Tool {
    const DELETES: &[&str] = &["delete", "remove", "move", "rename", "trash", "unlink"];
    let (mut texts, mut values, mut commands) = (Vec::new(), Vec::new(), Vec::new());
    // Some servers take their arguments as JSON in a string.
    let nested = parse_nested_json(input);
    let mut open: Vec<_> = std::iter::once(input).chain(&nested).map(|value| ("", value)).collect();
    while let Some((name, value)) = open.pop() {
        match value {
            Value::String(text) => {
                if matches!(name, "command" | "cmd" | "script") {
                    commands.push(text.clone());
                }
                texts.push(text.trim());
                values.push(text.trim());
            }
            Value::Array(list) => open.extend(list.iter().map(|value| (name, value))),
            Value::Object(map) => {
                texts.extend(map.keys().map(|name| name.trim()));
                open.extend(map.iter().map(|(name, value)| (name.as_str(), value)));
            }
            _ => {}
        }
    }
    let plain = texts.iter().filter(|text| !text.is_empty()).map(|text| (*text).to_owned());
    let decoded = values.iter().flat_map(|text| decode_paths(text));
    let paths = plain.chain(decoded).chain(join_parts(&values)).map(expand_home).collect();
    let name = name.to_ascii_lowercase();
    let texts = values.iter().map(|text| (*text).to_owned()).collect();
    Tool::Other { paths, texts, commands, is_deleting: DELETES.iter().any(|word| name.contains(word)) }
}

/// The values of strings that are JSON, and of strings in these.
fn parse_nested_json(input: &Value) -> Vec<Value> {
    const MOST: usize = 64;
    let mut found: Vec<Value> = Vec::new();
    let mut next = 0;
    loop {
        let mut new = Vec::new();
        let mut open = vec![if next == 0 { input } else { &found[next - 1] }];
        while let Some(value) = open.pop() {
            match value {
                Value::String(text) if text.trim_start().starts_with(['{', '[']) => {
                    new.extend(serde_json::from_str::<Value>(text).ok());
                }
                Value::Array(list) => open.extend(list),
                Value::Object(map) => open.extend(map.values()),
                _ => {}
            }
        }
        found.extend(new.into_iter().take(MOST.saturating_sub(found.len())));
        if next == found.len() {
            return found;
        }
        next += 1;
    }
}

/// The other paths that a text may mean: without `file:` and a host, without a query or fragment, with percent signs
/// decoded.
fn decode_paths(text: &str) -> Vec<String> {
    // A server decodes percent signs once; another one behind it may decode them again.
    const MOST_DECODINGS: usize = 3;
    let mut found = Vec::new();
    let mut add = |path: &str| {
        if !path.is_empty() && path != text && !found.iter().any(|known| known == path) {
            found.push(path.to_owned());
        }
    };
    let path = find_local_path(text);
    let bare = path.map(|path| path.split(['?', '#']).next().unwrap_or_default());
    for start in path.into_iter().chain(bare).chain([text]) {
        let mut path = Cow::Borrowed(start);
        add(&path);
        for _ in 0..MOST_DECODINGS {
            let Some(decoded) = decode_percent_signs(&path) else { break };
            path = Cow::Owned(decoded);
            add(&path);
        }
    }
    found
}

/// The path in a URL of this machine: `file:///p/f`, `file://localhost/p/f`, `file:/p/f`, in any case.
fn find_local_path(text: &str) -> Option<&str> {
    let (scheme, rest) = text.split_once(':')?;
    let is_scheme = scheme.len() > 1
        && scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.bytes().all(|c| c.is_ascii_alphanumeric() || b"+-.".contains(&c));
    if !is_scheme || ["http", "https"].iter().any(|known| scheme.eq_ignore_ascii_case(known)) {
        return None;
    }
    match rest.strip_prefix("//") {
        Some(behind) => behind.find('/').map(|at| &behind[at..]),
        None if scheme.eq_ignore_ascii_case("file") => Some(rest),
        None => None,
    }
}

/// A text with each `%XX` decoded; `None` if it contains no `%XX`.
fn decode_percent_signs(text: &str) -> Option<String> {
    if text.len() > LONGEST_PART * 4 || !text.contains('%') {
        return None;
    }
    let mut parts = text.split('%');
    let mut decoded = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        let digits = part.get(..2).filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()));
        match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                decoded.push(byte);
                decoded.extend_from_slice(&part.as_bytes()[2..]);
            }
            None => decoded.extend_from_slice(&[b"%", part.as_bytes()].concat()),
        }
    }
    (decoded != text.as_bytes()).then(|| String::from_utf8_lossy(&decoded).into_owned())
}

/// Paths whose parts are in separate fields: a directory and a name, a root and a directory and a name, a name and its
/// extension.
fn join_parts(values: &[&str]) -> Vec<String> {
    let is_part = |text: &&&str| !text.is_empty() && text.len() <= LONGEST_PART && !text.contains('\n');
    let parts: Vec<String> = values
        .iter()
        .filter(is_part)
        .map(|text| decode_paths(text).pop().unwrap_or_else(|| (*text).to_owned()))
        .collect();
    if parts.len() < 2 || parts.len() > MOST_PARTS {
        return Vec::new();
    }
    let below = |directory: &str, name: &str| {
        format!("{}/{}", directory.trim_end_matches('/'), name.trim_start_matches("./"))
    };
    let is_name = |part: &&String| !part.starts_with(['/', '~']);
    let pairs = |first: &[String], names: &[String]| -> Vec<String> {
        let names = names.iter().filter(is_name);
        names
            .flat_map(|name| {
                first.iter().filter(move |part| *part != name).map(move |part| below(part, name))
            })
            .collect()
    };
    let mut found = pairs(&parts, &parts);
    if parts.len() <= FEW_PARTS {
        let is_extension = |part: &&String| {
            let letters = part.trim_start_matches('.');
            !letters.is_empty() && letters.len() <= 5 && letters.bytes().all(|c| c.is_ascii_alphanumeric())
        };
        let with_extension: Vec<String> = parts
            .iter()
            .filter(is_extension)
            .flat_map(|extension| {
                let extension = extension.trim_start_matches('.');
                parts
                    .iter()
                    .filter(is_name)
                    .map(move |name| format!("{}.{extension}", name.trim_end_matches('.')))
            })
            .collect();
        let triples = pairs(&parts, &found);
        found.extend(pairs(&parts, &with_extension));
        found.extend(with_extension);
        found.extend(triples);
    }
    found
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use serde_json::json;

    use super::*;

    fn names(input: &Value, path: &str) -> bool {
        let Tool::Other { paths, .. } = parse("mcp__files__write", input) else { panic!("{input}") };
        paths.iter().any(|named| named == Path::new(path))
    }

    #[test]
    fn a_url_names_a_path() {
        for address in [
            "file:///p/a.toml",
            "file:/p/a.toml",
            "FILE:///p/a.toml",
            "file://localhost/p/a.toml",
            "file://127.0.0.1/p/a.toml",
            "file://host.example/p/a.toml",
            "file:///p/a%2Etoml",
            "file:///p/a%2etoml",
            "file:///%70/%61%2E%74%6f%6D%6C",
            "file:///p%2Fa.toml",
            "file:///p/a%252Etoml",
            "file:///p/a.toml?version=1",
            "file:///p/a.toml#L3",
            "file:///p/a%2Etoml?x#y",
            "vscode-remote://ssh/p/a.toml",
            "/p/a%2Etoml",
            "  file:///p/a.toml\n",
        ] {
            assert!(names(&json!({"uri": address}), "/p/a.toml"), "{address}");
            assert!(names(&json!({"changes": [{"to": [address]}]}), "/p/a.toml"), "{address}");
        }
        assert!(names(&json!({"uri": "file:a.toml"}), "a.toml"));
        assert!(!names(&json!({"uri": "https://example.org/p/a.toml"}), "/p/a.toml"));
        assert!(names(&json!({"text": "100% of 5%"}), "100% of 5%"), "a percent sign may be one");
    }

    #[test]
    fn a_directory_and_a_name_are_joined() {
        for input in [
            json!({"directory": "/p", "filename": "a.toml"}),
            json!({"filename": "a.toml", "directory": "/p/"}),
            json!({"path": "/p", "name": "./a.toml"}),
            json!({"root": "/", "relative_path": "p/a.toml"}),
            json!({"base": "/p", "file": "a.toml", "content": "x\ny"}),
            json!({"at": {"dir": "/p"}, "what": [{"name": "a.toml"}]}),
            json!({"root": "/", "folder": "p", "name": "a.toml"}),
            json!({"folder": "/p", "name": "a", "extension": "toml"}),
            json!({"folder": "/p", "name": "a", "extension": ".toml"}),
            json!({"folder": "file:///p", "name": "a%2Etoml"}),
            json!(["/p", "a.toml"]),
        ] {
            assert!(names(&input, "/p/a.toml"), "{input}");
        }
        assert!(names(&json!({"folder": ".claude", "name": "settings.json"}), ".claude/settings.json"));
    }

    #[test]
    fn the_number_of_joined_paths_is_bounded() {
        let many: Vec<String> = (0..100_000).map(|number| format!("word {number}")).collect();
        let Tool::Other { paths, .. } = parse("x", &json!({"words": many})) else { panic!() };
        assert_eq!(paths.len(), 100_001);
        for count in 2..=MOST_PARTS {
            let words: Vec<String> = (0..count).map(|number| format!("w{number}")).collect();
            let Tool::Other { paths, .. } = parse("x", &json!(words)) else { panic!() };
            assert!(paths.len() < 500, "{count} words became {} paths", paths.len());
        }
    }
}
