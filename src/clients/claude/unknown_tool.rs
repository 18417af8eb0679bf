//! What a tool that nobody here knows could do: any string of its input may be a path that it writes to.
//!
//! Servers name a file in many ways: as a path, as a `file:` address with `%2E` for a dot, or as a directory and a
//! name in fields of their own. Whichever of these the server reads, the guards see the file that it leads to.

use std::borrow::Cow;

use serde_json::Value;

use super::path_of;
use crate::event::Tool;

/// Strings that are put together: of more of them, or of longer ones, no server makes a path.
const MOST_PARTS: usize = 16;
const LONGEST_PART: usize = 1024;
/// Of so few, three are put together.
const FEW_PARTS: usize = 6;

/// Some fields are command lines by their name. A tool that deletes or moves says so in its own name.
pub(super) fn read(name: &str, input: &Value) -> Tool {
    const DELETES: &[&str] = &["delete", "remove", "move", "rename", "trash", "unlink"];
    let (mut texts, mut values, mut commands) = (Vec::new(), Vec::new(), Vec::new());
    // Some servers take their arguments as a text of JSON.
    let inner = texts_of_json(input);
    let mut open: Vec<_> = std::iter::once(input).chain(&inner).map(|value| ("", value)).collect();
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
    let spelled = values.iter().flat_map(|text| addressed(text));
    let paths = plain.chain(spelled).chain(joined(&values)).map(path_of).collect();
    let name = name.to_ascii_lowercase();
    Tool::Other { paths, commands, deletes: DELETES.iter().any(|word| name.contains(word)) }
}

/// The values that stand in texts of JSON, and in texts in these.
fn texts_of_json(input: &Value) -> Vec<Value> {
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

/// The other paths that a text may be: without `file:` and a host, without what follows a path in an address,
/// with its percent signs read.
fn addressed(text: &str) -> Vec<String> {
    // A server reads them once; one behind another may read them again.
    const MOST_READINGS: usize = 3;
    let mut found = Vec::new();
    let mut add = |path: &str| {
        if !path.is_empty() && path != text && !found.iter().any(|known| known == path) {
            found.push(path.to_owned());
        }
    };
    let path = local_path(text);
    let bare = path.map(|path| path.split(['?', '#']).next().unwrap_or_default());
    for start in path.into_iter().chain(bare).chain([text]) {
        let mut path = Cow::Borrowed(start);
        add(&path);
        for _ in 0..MOST_READINGS {
            let Some(read) = without_percent_signs(&path) else { break };
            path = Cow::Owned(read);
            add(&path);
        }
    }
    found
}

/// What an address of this machine names: `file:///p/f`, `file://localhost/p/f`, `file:/p/f`, in any case.
fn local_path(text: &str) -> Option<&str> {
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

/// A text with each `%XX` read as a byte; `None`: it has none.
fn without_percent_signs(text: &str) -> Option<String> {
    if text.len() > LONGEST_PART * 4 || !text.contains('%') {
        return None;
    }
    let bytes = text.as_bytes();
    let digit = |at: usize| bytes.get(at).and_then(|byte| char::from(*byte).to_digit(16));
    let (mut read, mut at) = (Vec::with_capacity(bytes.len()), 0);
    while at < bytes.len() {
        match (bytes[at], digit(at + 1), digit(at + 2)) {
            (b'%', Some(high), Some(low)) => {
                read.push(u8::try_from(high * 16 + low).unwrap_or_default());
                at += 3;
            }
            (byte, ..) => {
                read.push(byte);
                at += 1;
            }
        }
    }
    (read != bytes).then(|| String::from_utf8_lossy(&read).into_owned())
}

/// Paths whose parts stand in fields of their own: a directory and a name, a root and a directory and a name, a name
/// and its ending.
fn joined(values: &[&str]) -> Vec<String> {
    let is_part = |text: &&&str| !text.is_empty() && text.len() <= LONGEST_PART && !text.contains('\n');
    let parts: Vec<String> = values
        .iter()
        .filter(is_part)
        .map(|text| addressed(text).pop().unwrap_or_else(|| (*text).to_owned()))
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
        let is_ending = |part: &&String| {
            let letters = part.trim_start_matches('.');
            !letters.is_empty() && letters.len() <= 5 && letters.bytes().all(|c| c.is_ascii_alphanumeric())
        };
        let with_ending: Vec<String> = parts
            .iter()
            .filter(is_ending)
            .flat_map(|ending| {
                let ending = ending.trim_start_matches('.');
                parts
                    .iter()
                    .filter(is_name)
                    .map(move |name| format!("{}.{ending}", name.trim_end_matches('.')))
            })
            .collect();
        let of_three = pairs(&parts, &found);
        found.extend(pairs(&parts, &with_ending));
        found.extend(with_ending);
        found.extend(of_three);
    }
    found
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use serde_json::json;

    use super::*;

    fn names(input: &Value, path: &str) -> bool {
        let Tool::Other { paths, .. } = read("mcp__files__write", input) else { panic!("{input}") };
        paths.iter().any(|named| named == Path::new(path))
    }

    #[test]
    fn an_address_names_a_path() {
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
    fn a_directory_and_a_name_are_one_path() {
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
    fn what_is_put_together_has_a_bound() {
        let many: Vec<String> = (0..100_000).map(|number| format!("word {number}")).collect();
        let Tool::Other { paths, .. } = read("x", &json!({"words": many})) else { panic!() };
        assert_eq!(paths.len(), 100_001);
        for count in 2..=MOST_PARTS {
            let words: Vec<String> = (0..count).map(|number| format!("w{number}")).collect();
            let Tool::Other { paths, .. } = read("x", &json!(words)) else { panic!() };
            assert!(paths.len() < 500, "{count} words became {} paths", paths.len());
        }
    }
}
