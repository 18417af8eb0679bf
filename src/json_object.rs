//! A JSON object whose fields are read when they are asked for, and kept as they were written.
//!
//! State files belong to agents and people, and can be large: a field that nobody asks for costs only
//! the way over it, and a change touches only the fields that it names. The values of all others, known
//! or not, stay as they were written, digit by digit, in their order.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::text;

#[derive(Debug, Default, Clone)]
pub struct JsonObject {
    /// Each value in its own words. A name that stands twice is kept twice; the last one counts.
    fields: Vec<(String, Box<RawValue>)>,
}

impl JsonObject {
    /// An error says why this is no JSON object.
    pub fn read(bytes: &[u8]) -> Result<Self, String> {
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let fields: Result<Fields<Box<RawValue>>, _> = serde_json::from_slice(bytes);
        fields.map(|Fields(fields)| Self { fields }).map_err(|error| reason(&error))
    }

    pub fn has(&self, name: &str) -> bool {
        self.raw(name).is_some()
    }

    /// The value of a field; `None`: there is no such field, or its value is more than can be read (half a
    /// character, a number without end, lists in lists without end).
    pub fn get(&self, name: &str) -> Option<Value> {
        serde_json::from_str(self.raw(name)?.get()).ok()
    }

    /// The value of a field of a field without those parts that cannot be read: each of them is null.
    pub fn get_readable(&self, path: &[&str]) -> Option<Value> {
        let (name, rest) = path.split_first()?;
        if rest.is_empty() {
            Some(readable(self.raw(name)?, 0))
        } else {
            self.object(name)?.get_readable(rest)
        }
    }

    /// Whether something stands at this path that `get_at` cannot read. Who would replace it would lose it.
    pub fn is_unreadable(&self, path: &[&str]) -> bool {
        let Some((name, rest)) = path.split_first() else { return false };
        match self.raw(name) {
            Some(_) if rest.is_empty() => self.get(name).is_none(),
            Some(_) => self.object(name).is_some_and(|object| object.is_unreadable(rest)),
            None => false,
        }
    }

    /// The value of a field of a field, and so on.
    pub fn get_at(&self, path: &[&str]) -> Option<Value> {
        let (name, rest) = path.split_first()?;
        if rest.is_empty() { self.get(name) } else { self.object(name)?.get_at(rest) }
    }

    /// The object in a field.
    pub fn object(&self, name: &str) -> Option<Self> {
        Self::read(self.raw(name)?.get().as_bytes()).ok()
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.fields.iter().map(|(name, _)| name.as_str())
    }

    /// Puts a value in the place of a field's, or behind all others.
    pub fn set(&mut self, name: &str, value: &Value) {
        self.set_at(&[name], value);
    }

    /// The same for a field of a field, and so on; objects that are missing on the way are made. What is
    /// there and is no object is not overwritten: `false`.
    pub fn set_at(&mut self, path: &[&str], value: &Value) -> bool {
        self.put(path, value, 1)
    }

    fn put(&mut self, path: &[&str], value: &Value, depth: usize) -> bool {
        let Some((name, rest)) = path.split_first() else { return false };
        let text = if rest.is_empty() {
            indented(value, depth)
        } else {
            let inner = self.raw(name).map(|raw| Self::read(raw.get().as_bytes()));
            let Ok(mut inner) = inner.unwrap_or_else(|| Ok(Self::default())) else { return false };
            if !inner.put(rest, value, depth + 1) {
                return false;
            }
            inner.lines(depth)
        };
        // INVARIANT: what is put together here is JSON.
        let Ok(raw) = RawValue::from_string(text) else { return false };
        match self.fields.iter_mut().rfind(|(found, _)| found == name) {
            Some((_, old)) => *old = raw,
            None => self.fields.push(((*name).to_owned(), raw)),
        }
        true
    }

    /// The file's text: one field a line, as people and `jq` write it.
    pub fn text(&self) -> String {
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

fn readable(raw: &RawValue, depth: usize) -> Value {
    /// No file of ours is so deep, and each level is read again.
    const DEEPEST: usize = 16;
    if let Ok(value) = serde_json::from_str(raw.get()) {
        return value;
    }
    let inner = depth + 1;
    if depth == DEEPEST {
        Value::Null
    } else if let Ok(object) = JsonObject::read(raw.get().as_bytes()) {
        object.fields.into_iter().map(|(name, raw)| (name, readable(&raw, inner))).collect()
    } else if let Ok(list) = serde_json::from_str::<Vec<&RawValue>>(raw.get()) {
        list.into_iter().map(|raw| readable(raw, inner)).collect()
    } else {
        Value::Null
    }
}

/// Why something is no JSON object. The reader's own words may repeat a whole file.
pub fn reason(error: &serde_json::Error) -> String {
    text::short(&error.to_string())
}

/// A value in lines, as it stands so deep in a file. A line break in a text is never one in JSON.
fn indented(value: &Value, depth: usize) -> String {
    format!("{value:#}").replace('\n', &format!("\n{}", "  ".repeat(depth)))
}

/// The texts under one name in all objects of the object under another: `phase` of every agent below
/// `ownership`. The way over everything else is taken once. What has another form there is left out; `None`:
/// it is no JSON.
pub fn texts_below(bytes: &[u8], outer: &str, inner: &str) -> Option<Vec<(String, String)>> {
    let mut found = Vec::new();
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    let path = [Some(outer), None, Some(inner)];
    Below { path: &path, under: None, found: &mut found }.deserialize(&mut reader).ok()?;
    reader.end().ok()?;
    Some(found)
}

/// What is left of a path: a name, or any.
struct Below<'a> {
    path: &'a [Option<&'a str>],
    /// What stood in the place of any name.
    under: Option<String>,
    found: &'a mut Vec<(String, String)>,
}

impl<'de> DeserializeSeed<'de> for Below<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<(), D::Error> {
        reader.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Below<'_> {
    type Value = ();

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("JSON")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(name) = map.next_key::<Cow<'de, str>>()? {
            match self.path.split_first() {
                Some((wanted, rest)) if wanted.is_none_or(|wanted| wanted == name) => {
                    let under = if wanted.is_none() { Some(name.into_owned()) } else { self.under.clone() };
                    map.next_value_seed(Below { path: rest, under, found: self.found })?;
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

/// The fields of an object in their order, with names that stand twice.
pub struct Fields<T>(pub Vec<(String, T)>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Fields<T> {
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
            assert!(JsonObject::read(text.as_bytes()).is_err(), "{text}");
        }
        assert!(JsonObject::read(b"\xff{}").is_err());
        let why = JsonObject::read(format!("\"{}\"", "\u{feff}".repeat(9000)).as_bytes()).unwrap_err();
        assert!(why.starts_with("invalid type: string") && why.len() < 1000, "{why}");
        assert!(JsonObject::read("\u{feff}{\"a\": true}".as_bytes()).unwrap().has("a"));
    }

    #[test]
    fn a_deep_change_leaves_everything_else_as_it_was_written() {
        let text = "{\n  \"zeta\": 1234567890123456789012345678901234567890.10,\n  \"phases\": {\n    \"01\": \
                    {\"b\": 1.0, \"a\": [1,  2]},\n    \"02\": {\n      \"n\": 1\n    }\n  },\n  \"last\": []\n}\n";
        let mut object = JsonObject::read(text.as_bytes()).unwrap();
        assert!(object.set_at(&["phases", "02", "n"], &json!(2)));
        assert_eq!(object.text(), text.replace("\"n\": 1", "\"n\": 2"));
        assert_eq!(object.get_at(&["phases", "02", "n"]), Some(json!(2)));
        assert_eq!(object.get_at(&["phases", "03", "n"]), None);
        assert_eq!(object.get_at(&["last", "03"]), None);
    }

    #[test]
    fn a_deep_field_is_made_and_written_in_lines() {
        let mut object = JsonObject::default();
        assert!(object.set_at(&["a", "b"], &json!({"c": ["x\ny"]})));
        assert_eq!(
            object.text(),
            "{\n  \"a\": {\n    \"b\": {\n      \"c\": [\n        \"x\\ny\"\n      ]\n    }\n  }\n}\n"
        );
        assert!(!object.set_at(&["a", "b", "c", "d"], &json!(1)), "a list is not overwritten");
        assert!(!object.set_at(&[], &json!(1)));
        assert_eq!(object.get_at(&["a", "b"]), Some(json!({"c": ["x\ny"]})));
        assert_eq!(JsonObject::default().text(), "{}\n");
    }

    #[test]
    fn a_name_that_stands_twice_is_kept_and_the_last_one_counts() {
        let mut object = JsonObject::read(b"{\"a\": true, \"a\": false}").unwrap();
        assert_eq!(object.get("a"), Some(json!(false)));
        object.set("a", &json!(5));
        assert_eq!(object.text(), "{\n  \"a\": true,\n  \"a\": 5\n}\n");
    }

    #[test]
    fn what_cannot_be_read_hides_nothing_beside_it() {
        let deep = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
        for odd in ["\"half \\ud83d\"", "1e999", &deep] {
            let text = format!("{{\"p\": {{\"a\": {{\"s\": 1, \"l\": [2, {odd}]}}, \"b\": true}}}}");
            let mut object = JsonObject::read(text.as_bytes()).unwrap();
            assert_eq!(object.get("p"), None);
            let shown = object.get_readable(&["p"]).unwrap();
            assert_eq!(
                (&shown["a"]["s"], &shown["a"]["l"][0], &shown["b"]),
                (&json!(1), &json!(2), &json!(true))
            );
            assert!(object.is_unreadable(&["p", "a", "l"]) && !object.is_unreadable(&["p", "a", "s"]));
            assert!(!object.is_unreadable(&["p", "x"]) && !object.is_unreadable(&["x"]));
            assert!(object.set_at(&["p", "a", "s"], &json!(2)) && object.text().contains(odd), "{odd}");
        }
    }
}
