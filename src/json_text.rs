//! JSON as somebody has written it: pieces go, come or change, and every other byte stays.
//!
//! A settings file belongs to a person. To parse it and print it anew would lose its order, its margins,
//! names that stand twice and numbers as they are spelled. So a text is only cut at the edges of its
//! values, and what comes new is laid out as the rest of the file is.

use serde_json::value::RawValue;

use crate::json_object::{Fields, reason};

/// A list or an object, cut into its values.
pub struct Written<'a> {
    whole: &'a str,
    items: Vec<Item<'a>>,
}

/// One value of a list or an object.
pub struct Item<'a> {
    /// Of a value in an object.
    pub name: String,
    pub value: &'a str,
    /// Where it begins in the whole, with its name.
    start: usize,
    /// Where it ends.
    end: usize,
}

/// What happens to a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    None,
    Remove,
    To(String),
}

impl<'a> Written<'a> {
    /// The object that a text is, without what stands around it.
    pub fn object(text: &'a str) -> Result<Self, String> {
        let fields = serde_json::from_str::<Fields<&RawValue>>(text);
        let Fields(fields) = fields.map_err(|error| reason(&error))?;
        Ok(Self::cut(text.trim_ascii(), fields))
    }

    /// The same for a list.
    pub fn list(text: &'a str) -> Result<Self, String> {
        let values: Vec<&RawValue> = serde_json::from_str(text).map_err(|error| reason(&error))?;
        Ok(Self::cut(text.trim_ascii(), values.into_iter().map(|value| (String::new(), value)).collect()))
    }

    // INVARIANT: the values are slices of the text, in their order, and all that it holds.
    fn cut(whole: &'a str, values: Vec<(String, &'a RawValue)>) -> Self {
        let mut items: Vec<Item<'a>> = Vec::new();
        let mut from = 1;
        for (name, raw) in values {
            let value = raw.get();
            let begin = value.as_ptr() as usize - whole.as_ptr() as usize;
            let margin = whole[from..begin].len() - whole[from..begin].trim_ascii_start().len();
            let end = begin + value.len();
            items.push(Item { name, value, start: from + margin, end });
            // Behind a value there is only room before the comma.
            from = end + whole[end..].find(',').map_or(0, |comma| comma + 1);
        }
        Self { whole, items }
    }

    pub fn items(&self) -> &[Item<'a>] {
        &self.items
    }

    /// All of it, from bracket to bracket.
    pub fn text(&self) -> &'a str {
        self.whole
    }

    /// What stands before the first value.
    pub fn first_margin(&self) -> &'a str {
        self.items.first().map_or("", |first| &self.whole[1..first.start])
    }

    /// Of a name that stands twice, the last one counts.
    pub fn last(&self, name: &str) -> Option<(usize, &'a str)> {
        let at = self.items.iter().rposition(|item| item.name == name)?;
        Some((at, self.items[at].value))
    }

    /// A change of the value of a name that counts. If the name stands twice, the value does not go but becomes
    /// this: without it, the one before would count.
    pub fn or_keep(&self, name: &str, change: Change, empty: &str) -> Change {
        let is_doubled = self.items.iter().filter(|item| item.name == name).nth(1).is_some();
        match change {
            Change::Remove if is_doubled => Change::To(empty.to_owned()),
            change => change,
        }
    }

    /// What the changes of its values make of it. One that loses all goes itself.
    pub fn change(&self, changes: &[Change]) -> Change {
        if changes.iter().all(|change| *change == Change::None) {
            return Change::None;
        }
        self.changed(changes, &[], "").map_or(Change::Remove, Change::To)
    }

    /// The text with one of its values changed; `None`: it was the only one, and it goes.
    pub fn with(&self, at: usize, change: Change) -> Option<String> {
        let mut changes = vec![Change::None; self.items.len()];
        changes[at] = change;
        self.changed(&changes, &[], "")
    }

    /// The text with its values changed, and others behind them, each after its own margin; `None`: nothing
    /// is left. `end` stands before the last bracket where there was no value.
    pub fn changed(&self, changes: &[Change], behind: &[String], end: &str) -> Option<String> {
        let mut text = String::from(&self.whole[..1]);
        let mut copied = 1;
        let mut is_first = true;
        for (at, (item, change)) in self.items.iter().zip(changes).enumerate() {
            match change {
                Change::None => is_first = false,
                Change::To(new) => {
                    text += &self.whole[copied..item.end - item.value.len()];
                    text += new;
                    copied = item.end;
                    is_first = false;
                }
                // It goes with what stands between it and the one before it, or else the one behind it.
                Change::Remove if is_first => {
                    text += &self.whole[copied..item.start];
                    copied = self.items.get(at + 1).map_or(item.end, |next| next.start);
                }
                Change::Remove => {
                    text += &self.whole[copied..self.items[at - 1].end];
                    copied = item.end;
                }
            }
        }
        if is_first && behind.is_empty() {
            return None;
        }
        match self.items.last() {
            Some(_) if is_first => {
                text.truncate(1);
                text += &behind.join(",");
                text += &self.whole[copied..];
            }
            Some(last) => {
                text += &self.whole[copied..last.end];
                for new in behind {
                    text.push(',');
                    text += new;
                }
                text += &self.whole[last.end..];
            }
            None => {
                text += &behind.join(",");
                text += end;
                text += &self.whole[self.whole.len() - 1..];
            }
        }
        Some(text)
    }
}

/// A text without the room between its words.
pub fn without_room(text: &str) -> String {
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

/// The longest indent that is taken over.
const LONGEST_INDENT: usize = 16;

/// How a file is laid out.
pub struct Style {
    newline: &'static str,
    indent: String,
    /// What stands between a name and its value, and between values on a line.
    pub gap: &'static str,
}

impl Style {
    pub fn of(text: &str) -> Self {
        let newline = if text.contains("\r\n") {
            "\r\n"
        } else if text.trim_end().contains('\n') {
            "\n"
        } else {
            ""
        };
        let margins = text.lines().map(|line| &line[..line.len() - line.trim_ascii_start().len()]);
        // Nobody's is longer; what is copied into every line must not make the file many times as large.
        let is_usual = |margin: &&str| (1..=LONGEST_INDENT).contains(&margin.len());
        let indent = margins.into_iter().find(is_usual).unwrap_or("  ");
        let is_loose = !newline.is_empty() || text.contains("\": ");
        Self { newline, indent: indent.to_owned(), gap: if is_loose { " " } else { "" } }
    }

    /// How a new file is laid out.
    pub fn usual() -> Self {
        Self { newline: "\n", indent: "  ".into(), gap: " " }
    }

    pub fn has_lines(&self) -> bool {
        !self.newline.is_empty()
    }

    /// A new line, so deep in the file.
    pub fn margin(&self, depth: usize) -> String {
        if self.newline.is_empty() {
            return String::new();
        }
        format!("{}{}", self.newline, self.indent.repeat(depth))
    }

    /// A list of one value that stands so deep in the file.
    pub fn list(&self, value: &str, depth: usize) -> String {
        format!("[{}{value}{}]", self.margin(depth + 1), self.margin(depth))
    }

    /// A name and its value on a new line.
    pub fn field(&self, name: &str, value: &str, depth: usize) -> String {
        format!("{}\"{name}\":{}{value}", self.margin(depth), self.gap)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(text: &str, changes: &[Change], behind: &[&str]) -> Option<String> {
        let behind: Vec<String> = behind.iter().map(|&new| new.to_owned()).collect();
        Written::list(text).unwrap().changed(changes, &behind, "~")
    }

    #[test]
    fn what_is_not_changed_keeps_every_byte() {
        let text = "[ 1 ,\t\"a,]\" , { \"x\":1.50e3 }\r\n]";
        let none = [Change::None, Change::None, Change::None];
        assert_eq!(list(text, &none, &[]).as_deref(), Some(text));
        let to = [Change::None, Change::To("2".into()), Change::None];
        assert_eq!(list(text, &to, &[]).unwrap(), text.replace("\"a,]\"", "2"));
    }

    #[test]
    fn a_value_goes_with_its_comma() {
        let (keep, go) = (Change::None, Change::Remove);
        for (changes, expected) in [
            ([&go, &keep, &keep], "[ 2 ,\n 3 ]"),
            ([&keep, &go, &keep], "[ 1 ,\n 3 ]"),
            ([&keep, &keep, &go], "[ 1 , 2 ]"),
            ([&go, &go, &keep], "[ 3 ]"),
            ([&keep, &go, &go], "[ 1 ]"),
            ([&go, &keep, &go], "[ 2 ]"),
        ] {
            let changes = changes.map(Clone::clone);
            assert_eq!(list("[ 1 , 2 ,\n 3 ]", &changes, &[]).unwrap(), expected, "{changes:?}");
        }
        assert_eq!(list("[1, 2]", &[Change::Remove, Change::Remove], &[]), None);
    }

    #[test]
    fn what_comes_stands_behind_the_rest() {
        assert_eq!(list("[1 ]", &[Change::None], &[" 2", " 3"]).unwrap(), "[1, 2, 3 ]");
        assert_eq!(list("[1, 2 ]", &[Change::None, Change::Remove], &[" 3"]).unwrap(), "[1, 3 ]");
        assert_eq!(list("[ 1 ]", &[Change::Remove], &[" 2"]).unwrap(), "[ 2 ]");
        assert_eq!(list("[  ]", &[], &[" 2"]).unwrap(), "[ 2~]");
        assert_eq!(list("[]", &[], &[]), None);
    }

    /// What is put behind a list and taken away again leaves no trace.
    #[test]
    fn to_add_and_to_remove_is_to_do_nothing() {
        for text in ["[1]", "[ 1 , 2\t]", "[\r\n\t{\"a\":[]} ,[ ]\r\n]", "[1,2\n\n]"] {
            let count = Written::list(text).unwrap().items().len();
            let longer = list(text, &vec![Change::None; count], &["\n  3"]).unwrap();
            let mut changes = vec![Change::None; count];
            changes.push(Change::Remove);
            assert_eq!(list(&longer, &changes, &[]).as_deref(), Some(text));
        }
    }

    #[test]
    fn of_a_name_that_stands_twice_the_last_counts() {
        let text = "{\"a\": 1, \"b\" : 2,\n \"a\":3}";
        let object = Written::object(text).unwrap();
        assert_eq!(object.last("a"), Some((2, "3")));
        assert_eq!(object.with(2, Change::Remove).unwrap(), "{\"a\": 1, \"b\" : 2}");
        assert_eq!(object.with(1, Change::To("[]".into())).unwrap(), text.replace('2', "[]"));
        for wrong in ["", "[]", "{", "{\"a\":1,}", "// x\n{}", "{} {}"] {
            assert!(Written::object(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn room_is_what_stands_outside_of_texts() {
        let text = "{ \"a \\\" b\" :\t[ 1 ,\n 2 ] , \"c\\\\\" : 3 }";
        assert_eq!(without_room(text), "{\"a \\\" b\":[1,2],\"c\\\\\":3}");
    }

    #[test]
    fn new_lines_are_the_files_own() {
        assert_eq!(Style::of("{\r\n\t\"a\": 1\r\n}").margin(2), "\r\n\t\t");
        assert_eq!(Style::of("{\"a\":1}\n").field("b", "2", 1), "\"b\":2");
        assert_eq!(Style::of("{\"a\": 1}").field("b", "2", 1), "\"b\": 2");
        assert_eq!(Style::usual().list("1", 1), "[\n    1\n  ]");
    }
}
