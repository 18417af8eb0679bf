//! The names of keys, and the bytes that a terminal sends for them.

use serde::Deserialize;

/// A key that a scenario presses.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct Key {
    name: String,
    bytes: Vec<u8>,
}

const NAMED_KEYS: &[(&str, &str)] = &[
    ("Enter", "\r"),
    ("Escape", "\x1b"),
    ("Up", "\x1b[A"),
    ("Down", "\x1b[B"),
    ("Right", "\x1b[C"),
    ("Left", "\x1b[D"),
    ("Tab", "\t"),
    ("Shift-Tab", "\x1b[Z"),
    ("Space", " "),
    ("Backspace", "\x7f"),
    ("Page-Up", "\x1b[5~"),
    ("Page-Down", "\x1b[6~"),
];

impl Key {
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }
}

impl TryFrom<String> for Key {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        let mut characters = name.chars();
        let bytes = if let Some((_, bytes)) = NAMED_KEYS.iter().find(|(known, _)| *known == name) {
            bytes.as_bytes().to_vec()
        } else if let Some(letter @ b'A'..=b'Z') = name.strip_prefix("Ctrl-").and_then(single_byte) {
            vec![letter - b'A' + 1]
        } else if let (Some(character), None) = (characters.next(), characters.next())
            && !character.is_control()
        {
            name.clone().into_bytes()
        } else {
            let known: Vec<&str> = NAMED_KEYS.iter().map(|(known, _)| *known).collect();
            return Err(format!(
                "there is no key `{name}`: use {}, Ctrl-A to Ctrl-Z, or one character",
                known.join(", ")
            ));
        };
        Ok(Self { name, bytes })
    }
}

fn single_byte(text: &str) -> Option<u8> {
    match text.as_bytes() {
        [byte] => Some(*byte),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_have_the_bytes_of_a_terminal() {
        let bytes = |name: &str| Key::try_from(name.to_owned()).unwrap().bytes;
        assert_eq!(bytes("Enter"), b"\r");
        assert_eq!(bytes("Shift-Tab"), b"\x1b[Z");
        assert_eq!(bytes("Ctrl-C"), [3]);
        assert_eq!(bytes("2"), b"2");
        assert_eq!(bytes("é"), "é".as_bytes());
    }

    #[test]
    fn an_unknown_key_is_an_error_that_lists_the_keys() {
        for name in ["Return", "Ctrl-c", "Ctrl-AB", "", "\n"] {
            let fault = Key::try_from(name.to_owned()).unwrap_err();
            assert!(fault.contains("Shift-Tab"), "{name}: {fault}");
        }
    }
}
