//! A JSON object that keeps its fields as they were written, and parses a field only when it is needed.
//!
//! State files belong to agents and users, and can be large. A field that no guard reads is only skipped over, and a
//! change touches only the fields that it names. All other values keep their spelling and order.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::text;

#[derive(Debug, Default, Clone)]
pub struct RawObject {
    /// Each value as it was written. A name that occurs twice is kept twice; the last one counts.
    fields: Vec<(String, Box<RawValue>)>,
}

impl RawObject {
    /// Parses an object. An error says why the bytes are not a JSON object.
    pub fn parse(bytes: &[u8]) -> Result<Self, String> {
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let fields: Result<OrderedFields<Box<RawValue>>, _> = serde_json::from_slice(bytes);
        fields.map(|OrderedFields(fields)| Self { fields }).map_err(|error| describe_json_error(&error))
    }

    pub fn has_field(&self, name: &str) -> bool {
        self.raw(name).is_some()
    }

    /// The value of a field; `None` if it is missing or cannot be parsed (half a surrogate pair, a number out of range,
    /// too many nested lists).
    pub fn get(&self, name: &str) -> Option<Value> {
        serde_json::from_str(self.raw(name)?.get()).ok()
    }

    /// The value at a path. Each part that cannot be parsed is null.
    pub fn get_readable(&self, path: &[&str]) -> Option<Value> {
        let (name, rest) = path.split_first()?;
        if rest.is_empty() {
            Some(parse_readable(self.raw(name)?, 0))
        } else {
            self.get_object(name)?.get_readable(rest)
        }
    }

    /// Whether there is a value at this path that `get_at` cannot parse. Replacing it would lose it.
    pub fn is_unreadable(&self, path: &[&str]) -> bool {
        let Some((name, rest)) = path.split_first() else { return false };
        match self.raw(name) {
            Some(_) if rest.is_empty() => self.get(name).is_none(),
            Some(_) => self.get_object(name).is_some_and(|object| object.is_unreadable(rest)),
            None => false,
        }
    }

    /// The value at a path of field names.
    pub fn get_at(&self, path: &[&str]) -> Option<Value> {
        let (name, rest) = path.split_first()?;
        if rest.is_empty() { self.get(name) } else { self.get_object(name)?.get_at(rest) }
    }

    /// The object in a field.
    pub fn get_object(&self, name: &str) -> Option<Self> {
        Self::parse(self.raw(name)?.get().as_bytes()).ok()
    }

    pub fn field_names(&self) -> impl Iterator<Item = &str> {
        self.fields.iter().map(|(name, _)| name.as_str())
    }

    /// Sets a field. A new field comes last.
    pub fn set(&mut self, name: &str, value: &Value) {
        self.set_at(&[name], value);
    }

    /// Sets the value at a path of field names, and creates missing objects. Returns `false` if something else than an
    /// object is in the way; that is not overwritten.
    pub fn set_at(&mut self, path: &[&str], value: &Value) -> bool {
        self.set_at_depth(path, value, 1)
    }

    fn set_at_depth(&mut self, path: &[&str], value: &Value, depth: usize) -> bool {
        let Some((name, rest)) = path.split_first() else { return false };
        let text = if rest.is_empty() {
            indent(value, depth)
        } else {
            let inner = self.raw(name).map(|raw| Self::parse(raw.get().as_bytes()));
            let Ok(mut inner) = inner.unwrap_or_else(|| Ok(Self::default())) else { return false };
            if !inner.set_at_depth(rest, value, depth + 1) {
                return false;
            }
            inner.lines(depth)
        };
        // INVARIANT: `text` is JSON.
        let Ok(raw) = RawValue::from_string(text) else { return false };
        match self.fields.iter_mut().rfind(|(found, _)| found == name) {
            Some((_, old)) => *old = raw,
            None => self.fields.push(((*name).to_owned(), raw)),
        }
        true
    }

    /// The text of a file: one field per line, as `jq` writes it.
    pub fn to_text(&self) -> String {
        self.lines(0) + "\n"
    }

    fn lines(&self, depth: usize) -> String {
        let mut text = String::from("{");
        for (index, (name, value)) in self.fields.iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            let margin = "  ".repeat(depth + 1);
            let _ = write!(text, "{comma}\n{margin}{}: {}", Value::from(name.as_str()), value.get());
        }
        if !self.fields.is_empty() {
            text.push('\n');
            text += &"  ".repeat(depth);
        }
        text.push('}');
        text
    }

    fn raw(&self, name: &str) -> Option<&RawValue> {
        self.fields.iter().rfind(|(found, _)| found == name).map(|(_, raw)| &**raw)
    }
}

fn parse_readable(raw: &RawValue, depth: usize) -> Value {
    /// Our files are less deep. Each level is parsed again, so the depth is limited.
    const DEEPEST: usize = 16;
    if let Ok(value) = serde_json::from_str(raw.get()) {
        return value;
    }
    let inner = depth + 1;
    if depth == DEEPEST {
        Value::Null
    } else if let Ok(object) = RawObject::parse(raw.get().as_bytes()) {
        object.fields.into_iter().map(|(name, raw)| (name, parse_readable(&raw, inner))).collect()
    } else if let Ok(list) = serde_json::from_str::<Vec<&RawValue>>(raw.get()) {
        list.into_iter().map(|raw| parse_readable(raw, inner)).collect()
    } else {
        Value::Null
    }
}

/// Why bytes are not a JSON object. Shortened, because the parser may quote a whole file.
pub fn describe_json_error(error: &serde_json::Error) -> String {
    text::shorten_name(&error.to_string())
}

/// Writes a value over several lines, indented for its depth. JSON escapes line breaks in texts.
fn indent(value: &Value, depth: usize) -> String {
    format!("{value:#}").replace('\n', &format!("\n{}", "  ".repeat(depth)))
}

/// The texts at `outer.*.inner`, each with the name in the middle: the `phase` of every agent below `ownership`. Reads
/// the bytes once. Values of another type are left out; `None` if the bytes are not JSON.
pub fn collect_texts(bytes: &[u8], outer: &str, inner: &str) -> Option<Vec<(String, String)>> {
    let mut found = Vec::new();
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    let path = [Some(outer), None, Some(inner)];
    TextCollector { path: &path, under: None, found: &mut found }.deserialize(&mut reader).ok()?;
    reader.end().ok()?;
    Some(found)
}

/// Collects texts at a path. `None` in the path stands for any name.
struct TextCollector<'a> {
    path: &'a [Option<&'a str>],
    /// The name that stands for `None` in the path.
    under: Option<String>,
    found: &'a mut Vec<(String, String)>,
}

impl<'de> DeserializeSeed<'de> for TextCollector<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<(), D::Error> {
        reader.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for TextCollector<'_> {
    type Value = ();

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("JSON")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(name) = map.next_key::<Cow<'de, str>>()? {
            match self.path.split_first() {
                Some((wanted, rest)) if wanted.is_none_or(|wanted| wanted == name) => {
                    let under = if wanted.is_none() { Some(name.into_owned()) } else { self.under.clone() };
                    map.next_value_seed(TextCollector { path: rest, under, found: self.found })?;
                }
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(())
    }

    fn visit_str<E>(self, text: &str) -> Result<(), E> {
        if let ([], Some(under)) = (self.path, self.under) {
            self.found.push((under, text.to_owned()));
        }
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }
}

/// The fields of an object in their order, with duplicates.
pub struct OrderedFields<T>(pub Vec<(String, T)>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for OrderedFields<T> {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<Self, D::Error> {
        struct Object<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Object<T> {
            type Value = Vec<(String, T)>;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a JSON object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut fields = Vec::new();
                while let Some(field) = map.next_entry()? {
                    fields.push(field);
                }
                Ok(fields)
            }
        }
        reader.deserialize_map(Object(PhantomData)).map(Self)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_no_object_is_an_error() {
        for text in ["", "not json", "[1,2]", "5", "null", "{\"a\":1", "{} {}", "{\"a\":1,}"] {
            assert!(RawObject::parse(text.as_bytes()).is_err(), "{text}");
        }
        assert!(RawObject::parse(b"\xff{}").is_err());
        let why = RawObject::parse(format!("\"{}\"", "\u{feff}".repeat(9000)).as_bytes()).unwrap_err();
        assert!(why.starts_with("invalid type: string") && why.len() < 1000, "{why}");
        assert!(RawObject::parse("\u{feff}{\"a\": true}".as_bytes()).unwrap().has_field("a"));
    }

    #[test]
    fn a_deep_change_leaves_everything_else_as_it_was_written() {
        let text = "{\n  \"zeta\": 1234567890123456789012345678901234567890.10,\n  \"phases\": {\n    \"01\": \
                    {\"b\": 1.0, \"a\": [1,  2]},\n    \"02\": {\n      \"n\": 1\n    }\n  },\n  \"last\": []\n}\n";
        let mut object = RawObject::parse(text.as_bytes()).unwrap();
        assert!(object.set_at(&["phases", "02", "n"], &json!(2)));
        assert_eq!(object.to_text(), text.replace("\"n\": 1", "\"n\": 2"));
        assert_eq!(object.get_at(&["phases", "02", "n"]), Some(json!(2)));
        assert_eq!(object.get_at(&["phases", "03", "n"]), None);
        assert_eq!(object.get_at(&["last", "03"]), None);
    }

    #[test]
    fn a_deep_field_is_made_and_written_in_lines() {
        let mut object = RawObject::default();
        assert!(object.set_at(&["a", "b"], &json!({"c": ["x\ny"]})));
        assert_eq!(
            object.to_text(),
            "{\n  \"a\": {\n    \"b\": {\n      \"c\": [\n        \"x\\ny\"\n      ]\n    }\n  }\n}\n"
        );
        assert!(!object.set_at(&["a", "b", "c", "d"], &json!(1)), "a list is not overwritten");
        assert!(!object.set_at(&[], &json!(1)));
        assert_eq!(object.get_at(&["a", "b"]), Some(json!({"c": ["x\ny"]})));
        assert_eq!(RawObject::default().to_text(), "{}\n");
    }

    #[test]
    fn a_name_that_stands_twice_is_kept_and_the_last_one_counts() {
        let mut object = RawObject::parse(b"{\"a\": true, \"a\": false}").unwrap();
        assert_eq!(object.get("a"), Some(json!(false)));
        object.set("a", &json!(5));
        assert_eq!(object.to_text(), "{\n  \"a\": true,\n  \"a\": 5\n}\n");
    }

    #[test]
    fn what_cannot_be_read_hides_nothing_beside_it() {
        let deep = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
        for odd in ["\"half \\ud83d\"", "1e999", &deep] {
            let text = format!("{{\"p\": {{\"a\": {{\"s\": 1, \"l\": [2, {odd}]}}, \"b\": true}}}}");
            let mut object = RawObject::parse(text.as_bytes()).unwrap();
            assert_eq!(object.get("p"), None);
            let shown = object.get_readable(&["p"]).unwrap();
            assert_eq!(
                (&shown["a"]["s"], &shown["a"]["l"][0], &shown["b"]),
                (&json!(1), &json!(2), &json!(true))
            );
            assert!(object.is_unreadable(&["p", "a", "l"]) && !object.is_unreadable(&["p", "a", "s"]));
            assert!(!object.is_unreadable(&["p", "x"]) && !object.is_unreadable(&["x"]));
            assert!(object.set_at(&["p", "a", "s"], &json!(2)) && object.to_text().contains(odd), "{odd}");
        }
    }
}
