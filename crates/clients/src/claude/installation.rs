//! Adds Provost's own entries to a settings file of Claude Code, updates them and removes them.
//!
//! An entry is Provost's own if it calls `provost hook` without a shell, or in the form that a team shares
//! (`shared_entry.rs`). Each has a group of its own, so other entries are never touched. Removal uses the text from
//! before the installation: if nothing else has changed since, it restores that text byte by byte.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::entries::{ALL_BUT_PLAN_EXIT, EntryForm, ProvostCall, edit_entries, format_line};
use super::registrations::settings_files;
use super::settings::matches_all;
use super::shared_entry;
use crate::json::Fields;
use crate::json_edit::{EditableJson, JsonLayout, ValueEdit, remove_whitespace};
use crate::{InstallReport, InstallRequest, NeededEntry, RemovalReport, SettingsScope};
use provost_core::places::{Places, is_provost_program};
use provost_core::text::strip_byte_order_mark;

pub(super) fn find_settings_file(places: &Places, project: &Path, scope: &SettingsScope) -> Option<PathBuf> {
    if *scope == SettingsScope::User {
        return super::config_directory(places).map(|own| own.join("settings.json"));
    }
    settings_files(places, project).into_iter().find(|(known, _)| known == scope).map(|(_, file)| file)
}

/// Whether an entry is Provost's own.
pub(super) fn is_own(entry: &Value) -> bool {
    provost_arguments(entry).is_some_and(|arguments| arguments.first() == Some(&"hook"))
}

/// The arguments of Provost in an entry of one of the forms in which Provost is installed.
fn provost_arguments(entry: &Value) -> Option<Vec<&str>> {
    let command = entry["command"].as_str()?;
    match entry.get("args") {
        Some(arguments) if is_provost_program(command) => {
            Some(arguments.as_array()?.iter().map(|word| word.as_str().unwrap_or_default()).collect())
        }
        Some(_) => None,
        None => shared_entry::parse_arguments(command).or_else(|| parse_named_call(command)),
    }
}

/// The arguments of Provost in a command line of the form that is installed for clients other than Claude Code: it
/// names the client.
fn parse_named_call(line: &str) -> Option<Vec<&str>> {
    let (program, arguments) = line.split_once(" hook --client ")?;
    let is_plain = |c: char| c.is_ascii_alphanumeric() || " -_".contains(c);
    let is_one_word = !program.trim_matches('\'').contains(['\'', '"', ';', '&', '|', '$', '`', '\n']);
    (is_one_word && is_provost_program(program.trim_matches('\'')) && arguments.chars().all(is_plain))
        .then(|| ["hook", "--client"].into_iter().chain(arguments.split(' ')).collect())
}

pub(crate) fn has_installed_entries(text: &str) -> bool {
    let Some(file) = parse_fields(text) else { return false };
    let entries =
        file.get("hooks").and_then(Value::as_object).into_iter().flatten().flat_map(|(_, groups)| {
            let groups = groups.as_array().into_iter().flatten();
            groups.flat_map(|group| group["hooks"].as_array().into_iter().flatten())
        });
    // An entry without packs was written by hand, or by a migration.
    entries.into_iter().any(|entry| {
        provost_arguments(entry).is_some_and(|arguments| {
            arguments.starts_with(&["hook", "--pack"])
                || matches!(&*arguments, ["hook", "--client", _, "--pack", ..])
        })
    })
}

fn parse_fields(text: &str) -> Option<Map<String, Value>> {
    Fields::parse(text.as_bytes()).ok().map(|fields| fields.0)
}

fn parse_file(text: &str) -> Result<EditableJson<'_>, String> {
    EditableJson::parse_object(strip_byte_order_mark(text))
        .map_err(|error| format!("it is not a JSON object ({error})"))
}

pub(super) fn install_entries(
    text: Option<&str>,
    wanted: &InstallRequest<'_>,
) -> Result<InstallReport, String> {
    install_in_form(text.unwrap_or(EMPTY), wanted, EntryForm::CLAUDE_CODE)
}

/// A new settings file.
pub(crate) const EMPTY: &str = "{}\n";

/// Installs entries of a form in the text of a settings file.
pub(crate) fn install_in_form(
    whole: &str,
    wanted: &InstallRequest<'_>,
    form: EntryForm,
) -> Result<InstallReport, String> {
    let file = parse_file(whole)?;
    let layout = JsonLayout::detect(strip_byte_order_mark(whole));
    // An empty file has no layout of its own.
    let layout = if file.items().is_empty() && !layout.has_lines() { JsonLayout::standard() } else { layout };
    let call = ProvostCall { program: wanted.program, arguments: form.list_arguments(wanted.packs), form };
    let mut report = InstallReport::default();
    let hooks = file.find_last("hooks");
    let events = EditableJson::parse_object(hooks.map_or("{}", |(_, text)| text))
        .map_err(|_| "its `hooks` is not an object".to_owned())?;
    let needed_at = |event: &str| -> Vec<&NeededEntry> {
        wanted.entries.iter().filter(|needed| needed.event == event).collect()
    };
    let mut edits = Vec::new();
    for (at, item) in events.items().iter().enumerate() {
        let event = item.name.as_str();
        let needed = needed_at(event);
        let edit = match EditableJson::parse_list(item.value) {
            _ if !events.is_last(at) => ValueEdit::Keep,
            Ok(groups) => {
                let edit = update_groups(event, &groups, needed, &call, &layout, &mut report);
                events.keep_earlier_hidden(event, edit, "[]")
            }
            Err(_) if !needed.is_empty() => return Err(format!("its `hooks.{event}` is not a list")),
            Err(_) => ValueEdit::Keep,
        };
        edits.push(edit);
    }
    let mut added = Vec::new();
    let mut new_events: Vec<&str> = wanted.entries.iter().map(|needed| needed.event).collect();
    new_events.dedup();
    for event in new_events.into_iter().filter(|event| events.find_last(event).is_none()) {
        let needed = needed_at(event);
        report.added.extend(needed.iter().map(|needed| describe_entry(event, needed.matcher)));
        let groups: Vec<String> = needed.iter().map(|needed| call.format_group(needed, &layout)).collect();
        added.push(layout.format_field(event, &layout.format_list(&groups, 2), 2));
    }
    if added.is_empty() && edits.iter().all(|edit| *edit == ValueEdit::Keep) {
        return Ok(report);
    }
    let events = events.rebuild(&edits, &added, &layout.margin(1)).unwrap_or_else(|| "{}".into());
    let rebuilt = match hooks {
        Some((at, _)) => file.edit_item(at, ValueEdit::Replace(events)),
        None => {
            file.rebuild(&file.keep_all(), &[layout.format_field("hooks", &events, 1)], &layout.margin(0))
        }
    };
    report.text = rebuilt.map(|rebuilt| whole.replacen(file.text(), &rebuilt, 1));
    Ok(report)
}

/// Gives the groups of one event the entries that it needs. Provost's own entries stay in their place.
fn update_groups(
    event: &str,
    groups: &EditableJson<'_>,
    mut missing: Vec<&NeededEntry>,
    call: &ProvostCall<'_>,
    layout: &JsonLayout,
    report: &mut InstallReport,
) -> ValueEdit {
    let mut edits = Vec::new();
    for item in groups.items() {
        edits.push(edit_own_entries(item.value, |matcher, entry| {
            let has_same_limit = |needed: &&NeededEntry| limit(matcher) == limit(needed.matcher);
            let Some(at) = missing.iter().position(has_same_limit) else {
                report.removed.push(describe_entry(event, matcher));
                return ValueEdit::Remove;
            };
            let edit = update_entry(entry, &call.entry_fields(missing.remove(at)), layout.gap);
            if edit != ValueEdit::Keep {
                report.updated.push(describe_entry(event, matcher));
            }
            edit
        }));
    }
    if missing.is_empty() {
        return groups.apply(&edits);
    }
    report.added.extend(missing.iter().map(|needed| describe_entry(event, needed.matcher)));
    let added: Vec<String> = missing.iter().map(|needed| call.format_group(needed, layout)).collect();
    groups.rebuild(&edits, &added, &layout.margin(2)).map_or(ValueEdit::Remove, ValueEdit::Replace)
}

/// Edits Provost's own entries in a group.
fn edit_own_entries(group: &str, mut edit: impl FnMut(Option<&str>, &str) -> ValueEdit) -> ValueEdit {
    edit_entries(group, |matcher, entry| {
        let is_own = parse_fields(entry).is_some_and(|entry| is_own(&Value::Object(entry)));
        if is_own { edit(matcher, entry) } else { ValueEdit::Keep }
    })
}

/// Gives an entry these fields. Other fields that the user has added stay.
fn update_entry(entry: &str, wanted: &[(&'static str, Value)], gap: &str) -> ValueEdit {
    let Ok(fields) = EditableJson::parse_object(entry) else { return ValueEdit::Keep };
    let mut edits = fields.keep_all();
    let mut added = Vec::new();
    for (name, value) in wanted {
        let new = format_line(value, gap);
        match fields.find_last(name) {
            Some((_, text)) if is_same_value(text, value) => {}
            Some((at, _)) => edits[at] = ValueEdit::Replace(new),
            None => added.push(format!("{}\"{name}\":{gap}{new}", fields.first_margin())),
        }
    }
    let is_blocking =
        fields.find_last("onFailure").is_some_and(|(_, text)| is_same_value(text, &"block".into()));
    // With `args`, Claude Code would take a line for the shell as the name of a program.
    for (name, is_unwanted) in [("onFailure", is_blocking), ("args", true)] {
        if !is_unwanted || wanted.iter().any(|(wanted, _)| *wanted == name) {
            continue;
        }
        // An earlier field of the same name would count otherwise, so all of them are removed.
        for (item, edit) in fields.items().iter().zip(&mut edits) {
            if item.name == name {
                *edit = ValueEdit::Remove;
            }
        }
    }
    if added.is_empty() {
        return fields.apply(&edits);
    }
    fields.rebuild(&edits, &added, "").map_or(ValueEdit::Keep, ValueEdit::Replace)
}

fn is_same_value(text: &str, value: &Value) -> bool {
    serde_json::from_str::<Value>(text)
        .is_ok_and(|found| found == *value || (found.is_number() && found.as_f64() == value.as_f64()))
}

/// What a matcher limits its group to; `None` for every spelling of "everything".
fn limit(matcher: Option<&str>) -> Option<&str> {
    matcher.filter(|matcher| !matches_all(matcher))
}

/// An entry in words for the user.
fn describe_entry(event: &str, matcher: Option<&str>) -> String {
    match limit(matcher) {
        Some(ALL_BUT_PLAN_EXIT) => format!("{event} (all but {})", super::EXIT),
        Some(limit) => format!("{event} ({limit})"),
        None => event.to_owned(),
    }
}

pub(crate) fn remove_entries(text: &str, before: Option<&str>) -> Result<RemovalReport, String> {
    let file = parse_file(text)?;
    let mut report = RemovalReport::default();
    let Some((hooks_at, events)) = find_events(&file) else { return Ok(report) };
    let before_file = before.and_then(|before| parse_file(before).ok());
    let hooks_before = before_file.as_ref().and_then(|file| file.find_last("hooks")).map(|(_, text)| text);
    let events_before = hooks_before.and_then(|text| EditableJson::parse_object(text).ok());
    let mut edits = Vec::new();
    for (at, item) in events.items().iter().enumerate() {
        let Some(groups) = EditableJson::parse_list(item.value).ok().filter(|_| events.is_last(at)) else {
            edits.push(ValueEdit::Keep);
            continue;
        };
        let groups_before = events_before.as_ref().and_then(|events| events.find_last(&item.name));
        let groups_before = groups_before.map(|(_, text)| text);
        // Entries from before the installation return in the order in which it took them over.
        let mut returning = groups_before.map(list_own_entries).unwrap_or_default().into_iter();
        let mut edit_group = |group: &str| {
            edit_own_entries(group, |matcher, _| {
                report.entries.push(describe_entry(&item.name, matcher));
                returning.next().map_or(ValueEdit::Remove, ValueEdit::Replace)
            })
        };
        let group_edits: Vec<_> = groups.items().iter().map(|group| edit_group(group.value)).collect();
        let edit = restore_empty(groups.apply(&group_edits), groups_before, "[]");
        edits.push(events.keep_earlier_hidden(&item.name, edit, "[]"));
    }
    if report.entries.is_empty() {
        return Ok(report);
    }
    if let Some(before) = before.filter(|before| is_same_without_own(text, before)) {
        report.is_restored = true;
        report.text = (!before.is_empty()).then(|| before.to_owned());
        return Ok(report);
    }
    let edit = restore_empty(events.apply(&edits), hooks_before, "{}");
    let left = file.edit_item(hooks_at, file.keep_earlier_hidden("hooks", edit, "{}"));
    let had_file = before.is_some_and(|before| !before.is_empty());
    let left = left.or_else(|| had_file.then(|| "{}".to_owned()));
    report.text = left.map(|left| text.replacen(file.text(), &left, 1));
    Ok(report)
}

/// The `hooks` of a file that count, and their place in it.
pub(super) fn find_events<'a>(file: &EditableJson<'a>) -> Option<(usize, EditableJson<'a>)> {
    let (at, text) = file.find_last("hooks")?;
    Some((at, EditableJson::parse_object(text).ok()?))
}

/// Keeps a list or object that would be removed, if it was there and empty before the installation.
fn restore_empty(edit: ValueEdit, before: Option<&str>, empty: &str) -> ValueEdit {
    let is_empty = |text: &&str| text.split_ascii_whitespace().collect::<String>() == empty;
    match (edit, before.filter(is_empty)) {
        (ValueEdit::Remove, Some(before)) => ValueEdit::Replace(before.to_owned()),
        (edit, _) => edit,
    }
}

/// The texts of Provost's own entries in the groups of one event.
fn list_own_entries(groups: &str) -> Vec<String> {
    let mut found = Vec::new();
    let Ok(groups) = EditableJson::parse_list(groups) else { return found };
    for group in groups.items() {
        edit_own_entries(group.value, |_, entry| {
            found.push(entry.to_owned());
            ValueEdit::Keep
        });
    }
    found
}

/// Whether two files differ only in Provost's own entries, in lists that hold nothing else, and in white space. An empty
/// text stands for a missing file.
fn is_same_without_own(one: &str, other: &str) -> bool {
    let parts = |text: &str| list_other_parts(if text.is_empty() { "{}" } else { text });
    matches!((parts(one), parts(other)), (Some(one), Some(other)) if one == other)
}

/// The fields, events and groups of a file without Provost's own entries, empty lists and white space.
fn list_other_parts(text: &str) -> Option<Vec<String>> {
    let file = parse_file(text).ok()?;
    let events = find_events(&file);
    let mut parts = Vec::new();
    let mut add = |path: &str, name: &str, value: &str| {
        parts.push(format!("{path}{name:?}:{}", remove_whitespace(value)));
    };
    for (at, item) in file.items().iter().enumerate() {
        let Some((_, events)) = events.as_ref().filter(|(events_at, _)| *events_at == at) else {
            add("", &item.name, item.value);
            continue;
        };
        for event in events.items() {
            let Ok(groups) = EditableJson::parse_list(event.value) else {
                add("hooks.", &event.name, event.value);
                continue;
            };
            for group in groups.items() {
                match edit_own_entries(group.value, |_, _| ValueEdit::Remove) {
                    ValueEdit::Keep => add("group of ", &event.name, group.value),
                    ValueEdit::Replace(rest) => add("group of ", &event.name, &rest),
                    ValueEdit::Remove => {}
                }
            }
        }
    }
    Some(parts)
}

#[cfg(test)]
mod tests;
