//! Reads a client's JSON without trusting it.
//!
//! A field that is missing or has an unexpected type is `None`. Clients send text that JavaScript can hold but UTF-8
//! cannot (half a surrogate pair, cut off in the middle of an emoji), so such text is repaired instead of refused.
//!
//! [`Value`] cannot deserialize itself here, for two reasons: it has no limit on the number of values, and it takes an
//! object whose first key is the marker of [`serde_json::value::RawValue`] for the text in it, which a client would not.

use std::char::DecodeUtf16Error;
use std::fmt;

use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

use super::Unreadable;
use super::long_text::{self, HookInput, Lifted, LongText};

/// Larger inputs are refused instead of repaired, because repairing copies.
const LARGEST_REPAIR: usize = 8 << 20;
/// Real events have a few hundred values. Each takes many times its length in memory.
const MOST_VALUES: u32 = 200_000;

/// The fields of one JSON object.
#[derive(Debug, Default)]
pub(super) struct Fields(pub(super) Map<String, Value>);

impl Fields {
    pub(super) fn parse(bytes: &[u8]) -> Result<Self, Unreadable> {
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        if bytes.trim_ascii().is_empty() {
            return Err(Unreadable::Empty);
        }
        let value = parse_bounded(bytes).or_else(|error| match repair(bytes) {
            Some(text) => parse_bounded(text.as_bytes()),
            None => Err(error),
        });
        match value {
            Ok(Value::Object(map)) => Ok(Self(map)),
            Ok(_) => Err(Unreadable::NotJson("another kind of value".into())),
            Err(error) => Err(Unreadable::NotJson(error.to_string())),
        }
    }

    /// Parses an input and takes a long text out of it without copying: a placeholder stands for it.
    pub(super) fn parse_and_lift(input: HookInput) -> Result<(Self, Option<LongText>), Unreadable> {
        match long_text::lift_long_text(input) {
            Err(input) => Ok((Self::parse(input.as_bytes())?, None)),
            Ok(Lifted { rest, long }) => Ok((Self::parse(&rest)?, Some(long))),
        }
    }

    /// Parses an input with a long text in its place.
    pub(super) fn parse_whole(input: HookInput) -> Result<Self, Unreadable> {
        let (mut fields, long) = Self::parse_and_lift(input)?;
        fields.restore_long_text(long);
        Ok(fields)
    }

    /// Replaces the placeholder of a long text with the text.
    pub(super) fn restore_long_text(&mut self, long: Option<LongText>) {
        let Some(LongText { placeholder, text }) = long else { return };
        let mut text = Some(String::from_utf8_lossy(text.as_bytes()).into_owned());
        self.0.values_mut().for_each(|value| replace_placeholder(value, &placeholder, &mut text));
    }

    pub(super) fn take_text(&mut self, name: &str) -> Option<String> {
        match self.0.remove(name) {
            Some(Value::String(text)) => Some(text),
            _ => None,
        }
    }

    pub(super) fn take_list(&mut self, name: &str) -> Vec<Value> {
        match self.0.remove(name) {
            Some(Value::Array(list)) => list,
            _ => Vec::new(),
        }
    }

    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name).and_then(Value::as_str)
    }

    pub(super) fn flag(&self, name: &str) -> Option<bool> {
        self.0.get(name).and_then(Value::as_bool)
    }
}

fn replace_placeholder(value: &mut Value, placeholder: &str, text: &mut Option<String>) {
    match value {
        Value::String(found) if found == placeholder => *found = text.take().unwrap_or_default(),
        Value::Array(list) => list.iter_mut().for_each(|value| replace_placeholder(value, placeholder, text)),
        Value::Object(map) => {
            map.values_mut().for_each(|value| replace_placeholder(value, placeholder, text));
        }
        _ => {}
    }
}

/// Parses a value of at most [`MOST_VALUES`] parts.
fn parse_bounded(bytes: &[u8]) -> Result<Value, serde_json::Error> {
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    let mut left = MOST_VALUES;
    let value = Bounded(&mut left).deserialize(&mut reader)?;
    reader.end()?;
    Ok(value)
}

/// Builds a [`Value`], counting down with each part of it.
struct Bounded<'a>(&'a mut u32);

impl<'de> DeserializeSeed<'de> for Bounded<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        *self.0 = self.0.checked_sub(1).ok_or_else(|| de::Error::custom("too many values"))?;
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Bounded<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut parts: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(part) = parts.next_element_seed(Bounded(self.0))? {
            list.push(part);
        }
        Ok(list.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut parts: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some(name) = parts.next_key()? {
            map.insert(name, parts.next_value_seed(Bounded(self.0))?);
        }
        Ok(map.into())
    }
}

/// The text with broken UTF-8 and lone surrogate escapes replaced, or `None` if there were none.
fn repair(bytes: &[u8]) -> Option<String> {
    if bytes.len() > LARGEST_REPAIR {
        return None;
    }
    let text = String::from_utf8_lossy(bytes);
    let mut fixed = String::new();
    let (mut copied, mut rest) = (0, 0);
    while let Some(found) = text[rest..].find('\\') {
        let at = rest + found;
        match decode_escape(&text.as_bytes()[at..]) {
            Some((Ok(_), length)) => rest = at + length,
            Some((Err(_), length)) => {
                rest = at + length;
                fixed += &text[copied..at];
                fixed += "\\ufffd";
                copied = rest;
            }
            // Another escape, of one character, which may not be ASCII in broken input.
            None => rest = at + 1 + text[at + 1..].chars().next().map_or(0, char::len_utf8),
        }
    }
    if copied == 0 && matches!(text, std::borrow::Cow::Borrowed(_)) {
        return None;
    }
    Some(fixed + &text[copied..])
}

/// The character of the `\uXXXX` escape, or pair of escapes, that a text begins with, and the length of the escape. An
/// error stands for half a pair.
pub(super) fn decode_escape(text: &[u8]) -> Option<(Result<char, DecodeUtf16Error>, usize)> {
    let unit = |at: usize| -> Option<u16> {
        let digits = text.get(at..at + 6)?.strip_prefix(b"\\u")?;
        let digits = std::str::from_utf8(digits).ok().filter(|d| d.bytes().all(|b| b.is_ascii_hexdigit()))?;
        u16::from_str_radix(digits, 16).ok()
    };
    let character = char::decode_utf16([unit(0)?, unit(6).unwrap_or_default()]).next()?;
    let length = 6 * character.as_ref().map_or(1, |c| c.len_utf16());
    Some((character, length))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text_field(json: &[u8]) -> Option<String> {
        Fields::parse(json).unwrap().take_text("a")
    }

    #[test]
    fn half_a_surrogate_pair_is_repaired() {
        assert_eq!(text_field(br#"{"a":"x\ud83d"}"#).unwrap(), "x\u{fffd}");
        assert_eq!(text_field(br#"{"a":"\udc00\ud83d\ude00\\ud800"}"#).unwrap(), "\u{fffd}\u{1f600}\\ud800");
        assert_eq!(text_field(br#"{"a":"\ud83d\ud83d\ude00"}"#).unwrap(), "\u{fffd}\u{1f600}");
    }

    #[test]
    fn broken_utf8_is_repaired() {
        assert_eq!(text_field(b"{\"a\":\"x\xff\"}").unwrap(), "x\u{fffd}");
        assert_eq!(text_field(b"\xef\xbb\xbf {\"a\":\"y\"}\n").unwrap(), "y");
    }

    /// `serde_json` marks a raw value with this key. In an event it is a key like any other.
    #[test]
    fn the_marker_of_a_raw_value_is_an_ordinary_key() {
        let json = br#"{"a":{"$serde_json::private::RawValue":"{}","file_path":"/p"}}"#;
        let fields = Fields::parse(json).unwrap();
        assert_eq!(fields.0["a"]["file_path"], "/p");
    }

    #[test]
    fn only_an_object_is_accepted() {
        assert_eq!(Fields::parse(b" \n").unwrap_err(), Unreadable::Empty);
        for bad in [&b"[]"[..], b"5", b"{\"a\":", b"{} {}", b"\xff\xfe", b"{\"a\":\"\\", b"\\\xc3\xa9"] {
            assert!(matches!(Fields::parse(bad), Err(Unreadable::NotJson(_))), "{bad:?}");
        }
        let many = format!("{{\"a\":[{}0]}}", "0,".repeat(300_000));
        assert_eq!(
            Fields::parse(many.as_bytes()).unwrap_err(),
            Unreadable::NotJson("too many values at line 1 column 400002".into())
        );
        let deep = "[".repeat(10_000);
        assert!(matches!(Fields::parse(deep.as_bytes()), Err(Unreadable::NotJson(_))));
    }
}
