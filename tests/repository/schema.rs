//! Checks that the schema, by which editors complete `provost.toml`, accepts what Provost accepts.

use serde_json::{Value, json};
use toml_edit::{DocumentMut, Item};

/// What is wrong with a value, by the keywords that the schema uses; an unknown keyword is a failure of the test.
fn find_fault(value: &Value, schema: &Value) -> Option<String> {
    for (keyword, limit) in schema.as_object().unwrap() {
        let is_valid = match keyword.as_str() {
            "$schema" | "title" | "description" | "default" => true,
            "type" => match limit.as_str().unwrap() {
                "object" => value.is_object(),
                "array" => value.is_array(),
                "string" => value.is_string(),
                "integer" => value.is_i64(),
                "boolean" => value.is_boolean(),
                other => panic!("{other}"),
            },
            "properties" => {
                let mut entries = value.as_object().into_iter().flatten();
                let fault = entries.find_map(|(name, value)| find_fault(value, limit.get(name)?));
                if fault.is_some() {
                    return fault;
                }
                true
            }
            "additionalProperties" => value
                .as_object()
                .is_none_or(|object| object.keys().all(|key| schema["properties"].get(key).is_some())),
            "required" => {
                limit.as_array().unwrap().iter().all(|key| value.get(key.as_str().unwrap()).is_some())
            }
            "items" => {
                let fault = value.as_array().into_iter().flatten().find_map(|item| find_fault(item, limit));
                if fault.is_some() {
                    return fault;
                }
                true
            }
            "minItems" => value.as_array().is_none_or(|list| list.len() as u64 >= limit.as_u64().unwrap()),
            "oneOf" => {
                limit.as_array().unwrap().iter().filter(|one| find_fault(value, one).is_none()).count() == 1
            }
            "enum" => limit.as_array().unwrap().contains(value),
            "const" => value == limit,
            "minimum" => value.as_i64().is_none_or(|number| number >= limit.as_i64().unwrap()),
            "maximum" => value.as_i64().is_none_or(|number| number <= limit.as_i64().unwrap()),
            "pattern" => {
                assert_eq!(limit, "\\S");
                value.as_str().is_none_or(|text| text.contains(|c: char| !c.is_whitespace()))
            }
            other => panic!("the test does not know `{other}`"),
        };
        if !is_valid {
            return Some(format!("{keyword}: {value}"));
        }
    }
    None
}

fn to_json(item: &Item) -> Value {
    match item {
        Item::Value(value) => value_to_json(value),
        Item::Table(table) => table.iter().map(|(name, item)| (name.to_owned(), to_json(item))).collect(),
        Item::ArrayOfTables(list) => list.iter().map(|table| to_json(&Item::Table(table.clone()))).collect(),
        Item::None => Value::Null,
    }
}

fn value_to_json(value: &toml_edit::Value) -> Value {
    match value {
        toml_edit::Value::String(text) => text.value().as_str().into(),
        toml_edit::Value::Integer(number) => (*number.value()).into(),
        toml_edit::Value::Boolean(flag) => (*flag.value()).into(),
        toml_edit::Value::Array(list) => list.iter().map(value_to_json).collect(),
        toml_edit::Value::InlineTable(table) => {
            table.iter().map(|(name, value)| (name.to_owned(), value_to_json(value))).collect()
        }
        other => panic!("{other}"),
    }
}

fn check(text: &str) -> Option<String> {
    let pages = provost::reference::generate_pages();
    let (_, schema) = pages.iter().find(|(name, _)| name.starts_with("schema/")).unwrap();
    let document: DocumentMut = text.parse().unwrap();
    find_fault(&to_json(document.as_item()), &serde_json::from_str(schema).unwrap())
}

/// The blocks of TOML on the page about rules.
fn read_blocks() -> Vec<String> {
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/rules.md")).unwrap();
    page.split("```toml\n").skip(1).map(|rest| rest.split("```").next().unwrap().to_owned()).collect()
}

#[test]
fn the_schema_accepts_every_rule_of_the_page_and_the_baseline() {
    let blocks = read_blocks();
    assert_eq!(blocks.len(), 2);
    for text in blocks.iter().map(String::as_str).chain([provost::rules::BASELINE]) {
        assert_eq!(check(text), None);
    }
    assert_eq!(
        check("[rules]\nuse = [\"baseline\"]\nmode = \"watch\"\noff = [\"baseline/publish\"]\n"),
        None
    );
}

#[test]
fn the_schema_rejects_what_provost_rejects() {
    let rule = "[[rule]]\nname = \"a\"\nruns = \"ls\"\n";
    assert_eq!(check(&format!("{rule}deny = \"no\"\n")), None);
    for wrong in [
        "denny = \"no\"\n",
        "deny = \"no\"\nask = \"no\"\n",
        "",
        "deny = 5\n",
        "deny = \"no\"\nmode = \"wach\"\n",
        "deny = \"no\"\nstops = false\n",
        "need = { passed = \"x\", check = \"y\" }\n",
        "run = \"x\"\nseconds = 0\n",
    ] {
        assert!(check(&format!("{rule}{wrong}")).is_some(), "{wrong}");
    }
    for wrong in
        ["[[rule]]\nruns = \"ls\"\ndeny = \"no\"\n", "[rules]\nuses = []\n", "[rules]\nmode = \"off\"\n"]
    {
        assert!(check(wrong).is_some(), "{wrong}");
    }
    assert_eq!(find_fault(&json!({"journal": {"enabled": 5}}), &json!({})), None);
    assert!(check("[journal]\nenabled = 5\n").is_some());
}
