//! Edits a JSON text in place: values are removed, added or replaced, and every other byte stays.
//!
//! A settings file belongs to the user. Parsing and printing it would lose its order, its indentation, duplicate names
//! and the spelling of numbers. So this module only cuts the text at the edges of its values, and lays out new values
//! as the rest of the file is laid out.

use serde_json::value::RawValue;

use provost_core::raw_object::{OrderedFields, describe_json_error};

/// A list or an object, cut into its values.
pub struct EditableJson<'a> {
    whole: &'a str,
    items: Vec<JsonItem<'a>>,
}

/// One value of a list or an object.
pub struct JsonItem<'a> {
    /// Empty in a list.
    pub name: String,
    pub value: &'a str,
    /// Where it begins in the whole text, with its name.
    start: usize,
    end: usize,
}

/// What happens to a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ValueEdit {
    Keep,
    Remove,
    Replace(String),
}

impl<'a> EditableJson<'a> {
    pub fn parse_object(text: &'a str) -> Result<Self, String> {
        let fields = serde_json::from_str::<OrderedFields<&RawValue>>(text);
        let OrderedFields(fields) = fields.map_err(|error| describe_json_error(&error))?;
        Ok(Self::split(text.trim_ascii(), fields))
    }

    pub fn parse_list(text: &'a str) -> Result<Self, String> {
        let values: Vec<&RawValue> =
            serde_json::from_str(text).map_err(|error| describe_json_error(&error))?;
        Ok(Self::split(text.trim_ascii(), values.into_iter().map(|value| (String::new(), value)).collect()))
    }

    // INVARIANT: the values are slices of the text, in their order, and all that it holds.
    fn split(whole: &'a str, values: Vec<(String, &'a RawValue)>) -> Self {
        let mut items: Vec<JsonItem<'a>> = Vec::new();
        let mut from = 1;
        for (name, raw) in values {
            let value = raw.get();
            let begin = value.as_ptr() as usize - whole.as_ptr() as usize;
            let margin = whole[from..begin].len() - whole[from..begin].trim_ascii_start().len();
            let end = begin + value.len();
            items.push(JsonItem { name, value, start: from + margin, end });
            // Between a value and its comma, there is only white space.
            from = end + whole[end..].find(',').map_or(0, |comma| comma + 1);
        }
        Self { whole, items }
    }

    pub fn items(&self) -> &[JsonItem<'a>] {
        &self.items
    }

    /// The whole text, from bracket to bracket.
    pub fn text(&self) -> &'a str {
        self.whole
    }

    /// The white space before the first value.
    pub fn first_margin(&self) -> &'a str {
        self.items.first().map_or("", |first| &self.whole[1..first.start])
    }

    /// The value of a name. If the name occurs twice, the last one counts.
    pub fn find_last(&self, name: &str) -> Option<(usize, &'a str)> {
        let at = self.items.iter().rposition(|item| item.name == name)?;
        Some((at, self.items[at].value))
    }

    /// Whether the value at this place counts: no later one has the same name.
    pub fn is_last(&self, at: usize) -> bool {
        self.items[at + 1..].iter().all(|later| later.name != self.items[at].name)
    }

    /// Turns the removal of a value into its replacement with `empty`, if an earlier value has the same name: that one
    /// would count otherwise.
    pub fn keep_earlier_hidden(&self, name: &str, edit: ValueEdit, empty: &str) -> ValueEdit {
        let is_duplicate = self.items.iter().filter(|item| item.name == name).nth(1).is_some();
        match edit {
            ValueEdit::Remove if is_duplicate => ValueEdit::Replace(empty.to_owned()),
            edit => edit,
        }
    }

    /// The edit of this list or object that follows from the edits of its values. It is removed with its last value.
    pub fn apply(&self, edits: &[ValueEdit]) -> ValueEdit {
        if edits.iter().all(|edit| *edit == ValueEdit::Keep) {
            return ValueEdit::Keep;
        }
        self.rebuild(edits, &[], "").map_or(ValueEdit::Remove, ValueEdit::Replace)
    }

    /// The text with one value edited; `None` if that was the only value and it is removed.
    pub fn edit_item(&self, at: usize, edit: ValueEdit) -> Option<String> {
        let mut edits = self.keep_all();
        edits[at] = edit;
        self.rebuild(&edits, &[], "")
    }

    /// Edits that change nothing.
    pub fn keep_all(&self) -> Vec<ValueEdit> {
        vec![ValueEdit::Keep; self.items.len()]
    }

    /// The text with its values edited and others added at the end, each with its own margin; `None` if nothing is
    /// left. `end` is put before the closing bracket of what was empty.
    pub fn rebuild(&self, edits: &[ValueEdit], added: &[String], end: &str) -> Option<String> {
        let mut values = String::new();
        for (at, (item, edit)) in self.items.iter().zip(edits).enumerate() {
            let value = match edit {
                ValueEdit::Keep => item.value,
                ValueEdit::Replace(new) => new,
                ValueEdit::Remove => continue,
            };
            // A removed value takes the separator before it along, or else the one behind it.
            let is_first = values.is_empty();
            values +=
                if is_first { self.first_margin() } else { &self.whole[self.items[at - 1].end..item.start] };
            values += &self.whole[item.start..item.end - item.value.len()];
            values += value;
        }
        for new in added {
            values += if values.is_empty() { "" } else { "," };
            values += new;
        }
        let (end, close) = match self.items.last() {
            Some(last) => ("", &self.whole[last.end..]),
            None => (end, &self.whole[self.whole.len() - 1..]),
        };
        (!values.is_empty()).then(|| format!("{}{values}{end}{close}", &self.whole[..1]))
    }
}

/// A JSON text without the white space between its tokens.
pub fn remove_whitespace(text: &str) -> String {
    let (mut quoted, mut escaped) = (false, false);
    let is_kept = |c: &char| {
        if *c == '"' && !escaped {
            quoted = !quoted;
        }
        escaped = *c == '\\' && !escaped;
        quoted || !c.is_ascii_whitespace()
    };
    text.chars().filter(is_kept).collect()
}

/// A longer indent would make the file many times as large, because every new line copies it.
const LONGEST_INDENT: usize = 16;

/// How a file is laid out.
pub struct JsonLayout {
    newline: &'static str,
    indent: String,
    /// The space between a name and its value, and between values on one line.
    pub gap: &'static str,
}

impl JsonLayout {
    pub fn detect(text: &str) -> Self {
        let newline = if text.contains("\r\n") {
            "\r\n"
        } else if text.trim_end().contains('\n') {
            "\n"
        } else {
            ""
        };
        let mut margins = text.lines().map(|line| &line[..line.len() - line.trim_ascii_start().len()]);
        let indent = margins.find(|margin| (1..=LONGEST_INDENT).contains(&margin.len())).unwrap_or("  ");
        let has_gaps = !newline.is_empty() || text.contains("\": ");
        Self { newline, indent: indent.to_owned(), gap: if has_gaps { " " } else { "" } }
    }

    /// The layout of a new file.
    pub fn standard() -> Self {
        Self { newline: "\n", indent: "  ".into(), gap: " " }
    }

    pub fn has_lines(&self) -> bool {
        !self.newline.is_empty()
    }

    /// A line break and the indent of this depth.
    pub fn margin(&self, depth: usize) -> String {
        if self.newline.is_empty() {
            return String::new();
        }
        format!("{}{}", self.newline, self.indent.repeat(depth))
    }

    /// A list at this depth of values that already have their margins.
    pub fn format_list(&self, values: &[String], depth: usize) -> String {
        format!("[{}{}]", values.join(","), self.margin(depth))
    }

    /// A name and its value on a new line.
    pub fn format_field(&self, name: &str, value: &str, depth: usize) -> String {
        format!("{}\"{name}\":{}{value}", self.margin(depth), self.gap)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edited_list(text: &str, edits: &[ValueEdit], added: &[&str]) -> Option<String> {
        let added: Vec<String> = added.iter().map(|&new| new.to_owned()).collect();
        EditableJson::parse_list(text).unwrap().rebuild(edits, &added, "~")
    }

    #[test]
    fn a_kept_value_keeps_every_byte() {
        let text = "[ 1 ,\t\"a,]\" , { \"x\":1.50e3 }\r\n]";
        let none = [ValueEdit::Keep, ValueEdit::Keep, ValueEdit::Keep];
        assert_eq!(edited_list(text, &none, &[]).as_deref(), Some(text));
        let to = [ValueEdit::Keep, ValueEdit::Replace("2".into()), ValueEdit::Keep];
        assert_eq!(edited_list(text, &to, &[]).unwrap(), text.replace("\"a,]\"", "2"));
    }

    #[test]
    fn a_value_is_removed_with_its_comma() {
        let (keep, go) = (ValueEdit::Keep, ValueEdit::Remove);
        for (edits, expected) in [
            ([&go, &keep, &keep], "[ 2 ,\n 3 ]"),
            ([&keep, &go, &keep], "[ 1 ,\n 3 ]"),
            ([&keep, &keep, &go], "[ 1 , 2 ]"),
            ([&go, &go, &keep], "[ 3 ]"),
            ([&keep, &go, &go], "[ 1 ]"),
            ([&go, &keep, &go], "[ 2 ]"),
        ] {
            let edits = edits.map(Clone::clone);
            assert_eq!(edited_list("[ 1 , 2 ,\n 3 ]", &edits, &[]).unwrap(), expected, "{edits:?}");
        }
        assert_eq!(edited_list("[1, 2]", &[ValueEdit::Remove, ValueEdit::Remove], &[]), None);
    }

    #[test]
    fn new_values_are_added_at_the_end() {
        assert_eq!(edited_list("[1 ]", &[ValueEdit::Keep], &[" 2", " 3"]).unwrap(), "[1, 2, 3 ]");
        assert_eq!(
            edited_list("[1, 2 ]", &[ValueEdit::Keep, ValueEdit::Remove], &[" 3"]).unwrap(),
            "[1, 3 ]"
        );
        assert_eq!(edited_list("[ 1 ]", &[ValueEdit::Remove], &[" 2"]).unwrap(), "[ 2 ]");
        assert_eq!(edited_list("[  ]", &[], &[" 2"]).unwrap(), "[ 2~]");
        assert_eq!(edited_list("[]", &[], &[]), None);
    }

    #[test]
    fn adding_and_removing_a_value_restores_the_text() {
        for text in ["[1]", "[ 1 , 2\t]", "[\r\n\t{\"a\":[]} ,[ ]\r\n]", "[1,2\n\n]"] {
            let count = EditableJson::parse_list(text).unwrap().items().len();
            let longer = edited_list(text, &vec![ValueEdit::Keep; count], &["\n  3"]).unwrap();
            let mut edits = vec![ValueEdit::Keep; count];
            edits.push(ValueEdit::Remove);
            assert_eq!(edited_list(&longer, &edits, &[]).as_deref(), Some(text));
        }
    }

    #[test]
    fn the_last_of_two_equal_names_counts() {
        let text = "{\"a\": 1, \"b\" : 2,\n \"a\":3}";
        let object = EditableJson::parse_object(text).unwrap();
        assert_eq!(object.find_last("a"), Some((2, "3")));
        assert_eq!(object.edit_item(2, ValueEdit::Remove).unwrap(), "{\"a\": 1, \"b\" : 2}");
        assert_eq!(object.edit_item(1, ValueEdit::Replace("[]".into())).unwrap(), text.replace('2', "[]"));
        for wrong in ["", "[]", "{", "{\"a\":1,}", "// x\n{}", "{} {}"] {
            assert!(EditableJson::parse_object(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn white_space_inside_of_strings_stays() {
        let text = "{ \"a \\\" b\" :\t[ 1 ,\n 2 ] , \"c\\\\\" : 3 }";
        assert_eq!(remove_whitespace(text), "{\"a \\\" b\":[1,2],\"c\\\\\":3}");
    }

    #[test]
    fn new_lines_follow_the_layout_of_the_file() {
        assert_eq!(JsonLayout::detect("{\r\n\t\"a\": 1\r\n}").margin(2), "\r\n\t\t");
        assert_eq!(JsonLayout::detect("{\"a\":1}\n").format_field("b", "2", 1), "\"b\":2");
        assert_eq!(JsonLayout::detect("{\"a\": 1}").format_field("b", "2", 1), "\"b\": 2");
        assert_eq!(JsonLayout::standard().format_list(&["\n    1".to_owned()], 1), "[\n    1\n  ]");
    }
}
