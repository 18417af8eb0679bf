//! Provost's own entries in a settings file of Claude Code: how they come, change and go again.
//!
//! An entry is ours if it calls `provost hook` by itself, without a shell, or in the form that a team shares
//! (`shared_entry.rs`). Each stands in a group of its own, so that what belongs to others is never touched. To take them back, the text from before is the
//! better witness: where nothing else has changed since, it comes back byte by byte.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::entries::{Called, EVERYDAY, each_entry, group, spaced};
use super::registrations::settings_files;
use super::settings::matches_all;
use super::shared_entry;
use crate::clients::json::Fields;
use crate::clients::{Installation, Installed, Needed, Removed, Scope, Wanted};
use crate::json_text::{Change, Item, Style, Written, without_room};
use crate::workspace::{Places, is_provost};

pub(super) const INSTALLATION: Installation = Installation { file, install, remove, is_in };

fn file(places: &Places, project: &Path, scope: &Scope) -> Option<PathBuf> {
    if *scope == Scope::User {
        return super::own_directory(places).map(|own| own.join("settings.json"));
    }
    settings_files(places, project).into_iter().find(|(known, _)| known == scope).map(|(_, file)| file)
}

/// Whether an entry is one of ours.
pub(super) fn is_own(entry: &Value) -> bool {
    provost_arguments(entry).is_some_and(|arguments| arguments.first() == Some(&"hook"))
}

/// The arguments of Provost in an entry that calls it in one of our forms.
fn provost_arguments(entry: &Value) -> Option<Vec<&str>> {
    let command = entry["command"].as_str()?;
    match entry.get("args") {
        Some(arguments) if is_provost(command) => {
            Some(arguments.as_array()?.iter().map(|word| word.as_str().unwrap_or_default()).collect())
        }
        Some(_) => None,
        None => shared_entry::parse_arguments(command),
    }
}

fn is_own_text(entry: &str) -> bool {
    parsed(entry).is_some_and(|entry| is_own(&Value::Object(entry)))
}

fn is_in(text: &str) -> bool {
    let Some(file) = parsed(text) else { return false };
    let entries =
        file.get("hooks").and_then(Value::as_object).into_iter().flatten().flat_map(|(_, groups)| {
            let groups = groups.as_array().into_iter().flatten();
            groups.flat_map(|group| group["hooks"].as_array().into_iter().flatten())
        });
    // One that is written by hand, or comes from a migration, names no pack.
    entries.into_iter().any(|entry| {
        provost_arguments(entry).is_some_and(|arguments| arguments.starts_with(&["hook", "--pack"]))
    })
}

fn parsed(text: &str) -> Option<Map<String, Value>> {
    Fields::parse(text.as_bytes()).ok().map(|fields| fields.0)
}

/// The text without the mark that may stand before it.
fn body(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

fn install(text: Option<&str>, wanted: &Wanted<'_>) -> Result<Installed, String> {
    let whole = text.unwrap_or("{}\n");
    let file = Written::object(body(whole)).map_err(|error| format!("it is no JSON object ({error})"))?;
    let style = Style::of(body(whole));
    // A file with nothing in it has no layout of its own.
    let style = if file.items().is_empty() && !style.has_lines() { Style::usual() } else { style };
    let mut arguments = vec!["hook".to_owned()];
    arguments.extend(wanted.packs.iter().flat_map(|pack| ["--pack".to_owned(), (*pack).to_owned()]));
    let called = Called { program: wanted.program, arguments };
    let mut told = Installed::default();
    let hooks = file.last("hooks");
    let events_text = hooks.map_or("{}", |(_, text)| text);
    let events = Written::object(events_text).map_err(|_| "its `hooks` is no object".to_owned())?;
    let mut changes = Vec::new();
    for (at, item) in events.items().iter().enumerate() {
        let counts = events.last(&item.name).is_some_and(|(last, _)| last == at);
        let needed: Vec<&Needed> =
            wanted.entries.iter().filter(|needed| counts && needed.event == item.name).collect();
        let change = match Written::list(item.value) {
            Ok(groups) if counts => {
                let change = updated(&item.name, &groups, &needed, &called, &style, &mut told);
                events.or_keep(&item.name, change, "[]")
            }
            Err(_) if !needed.is_empty() => return Err(format!("its `hooks.{}` is no list", item.name)),
            _ => Change::None,
        };
        changes.push(change);
    }
    let mut behind = Vec::new();
    let mut new: Vec<&str> = wanted.entries.iter().map(|needed| needed.event).collect();
    new.dedup();
    for event in new.into_iter().filter(|event| events.last(event).is_none()) {
        let needed: Vec<&Needed> = wanted.entries.iter().filter(|needed| needed.event == event).collect();
        told.added.extend(needed.iter().map(|needed| place(event, needed.matcher)));
        let groups: Vec<String> =
            needed.iter().map(|needed| style.margin(3) + &group(&called, needed, &style, 3)).collect();
        let list = format!("[{}{}]", groups.join(","), style.margin(2));
        behind.push(style.field(event, &list, 2));
    }
    if behind.is_empty() && changes.iter().all(|change| *change == Change::None) {
        return Ok(told);
    }
    let events = events.changed(&changes, &behind, &style.margin(1)).unwrap_or_else(|| "{}".into());
    let rebuilt = if let Some((at, _)) = hooks {
        file.with(at, Change::To(events))
    } else {
        let unchanged = vec![Change::None; file.items().len()];
        file.changed(&unchanged, &[style.field("hooks", &events, 1)], &style.margin(0))
    };
    told.text = rebuilt.map(|rebuilt| whole.replacen(file.text(), &rebuilt, 1));
    Ok(told)
}

/// The groups of one event with the entries that it needs. Those of ours that are there stay in their place.
fn updated(
    event: &str,
    groups: &Written<'_>,
    needed: &[&Needed],
    called: &Called<'_>,
    style: &Style,
    told: &mut Installed,
) -> Change {
    let mut missing: Vec<&Needed> = needed.to_vec();
    let mut changes = Vec::new();
    for item in groups.items() {
        changes.push(in_group(item.value, |limit, entry| {
            let same = |needed: &&Needed| is_same_limit(limit, needed.matcher);
            let Some(at) = missing.iter().position(same) else {
                told.removed.push(place(event, limit));
                return Change::Remove;
            };
            let change = updated_entry(entry, &called.fields(missing.remove(at)), style);
            if change != Change::None {
                told.updated.push(place(event, limit));
            }
            change
        }));
    }
    told.added.extend(missing.iter().map(|needed| place(event, needed.matcher)));
    let behind: Vec<String> =
        missing.iter().map(|needed| style.margin(3) + &group(called, needed, style, 3)).collect();
    if behind.is_empty() {
        return groups.change(&changes);
    }
    groups.changed(&changes, &behind, &style.margin(2)).map_or(Change::Remove, Change::To)
}

/// What becomes of a group, given what becomes of each entry of ours in it.
fn in_group(group: &str, mut change: impl FnMut(Option<&str>, &str) -> Change) -> Change {
    each_entry(group, |limit, entry| if is_own_text(entry) { change(limit, entry) } else { Change::None })
}

/// An entry with these fields; others that a person has added stay.
fn updated_entry(entry: &str, wanted: &[(&'static str, Value)], style: &Style) -> Change {
    let Ok(fields) = Written::object(entry) else { return Change::None };
    let mut changes = vec![Change::None; fields.items().len()];
    let mut behind = Vec::new();
    for (name, value) in wanted {
        match fields.last(name) {
            Some((_, text)) if is_same(text, value) => {}
            Some((at, _)) => changes[at] = Change::To(spaced(value, style.gap)),
            None => behind.push(format!(
                "{}\"{name}\":{}{}",
                fields.first_margin(),
                style.gap,
                spaced(value, style.gap)
            )),
        }
    }
    // With arguments, a line for the shell would be taken for the name of a program.
    for (name, is_unwanted) in [
        ("onFailure", fields.last("onFailure").is_some_and(|(_, text)| is_same(text, &Value::from("block")))),
        ("args", true),
    ] {
        if !is_unwanted || wanted.iter().any(|(wanted, _)| *wanted == name) {
            continue;
        }
        // If it stands there twice, the one before would count.
        for (item, change) in fields.items().iter().zip(&mut changes) {
            if item.name == name {
                *change = Change::Remove;
            }
        }
    }
    if behind.is_empty() {
        return fields.change(&changes);
    }
    fields.changed(&changes, &behind, "").map_or(Change::None, Change::To)
}

fn is_same(text: &str, value: &Value) -> bool {
    serde_json::from_str::<Value>(text)
        .is_ok_and(|found| found == *value || (found.is_number() && found.as_f64() == value.as_f64()))
}

fn is_same_limit(one: Option<&str>, other: Option<&str>) -> bool {
    let limit = |matcher: Option<&str>| matcher.filter(|matcher| !matches_all(matcher)).map(str::to_owned);
    limit(one) == limit(other)
}

/// An entry as a person calls it.
fn place(event: &str, limit: Option<&str>) -> String {
    match limit.filter(|limit| !matches_all(limit)) {
        Some(EVERYDAY) => format!("{event} (all but {})", super::EXIT),
        Some(limit) => format!("{event} ({limit})"),
        None => event.to_owned(),
    }
}

fn remove(text: &str, before: Option<&str>) -> Result<Removed, String> {
    let file = Written::object(body(text)).map_err(|error| format!("it is no JSON object ({error})"))?;
    let mut told = Removed::default();
    let Some((hooks_at, events)) =
        file.last("hooks").and_then(|(at, text)| Some((at, Written::object(text).ok()?)))
    else {
        return Ok(told);
    };
    let earlier = before.and_then(|before| Written::object(body(before)).ok());
    let earlier = earlier.as_ref().and_then(|file| file.last("hooks")).map(|(_, text)| text);
    let earlier_events = earlier.and_then(|text| Written::object(text).ok());
    let mut changes = Vec::new();
    for (at, item) in events.items().iter().enumerate() {
        let counts = events.last(&item.name).is_some_and(|(last, _)| last == at);
        let Some(groups) = Written::list(item.value).ok().filter(|_| counts) else {
            changes.push(Change::None);
            continue;
        };
        let earlier =
            earlier_events.as_ref().and_then(|events| events.last(&item.name)).map(|(_, text)| text);
        // What stood here before comes back in the order in which it was taken over.
        let mut returning = earlier.map(own_entries).unwrap_or_default().into_iter();
        let of_groups: Vec<Change> = groups
            .items()
            .iter()
            .map(|group| {
                in_group(group.value, |limit, _| {
                    told.entries.push(place(&item.name, limit));
                    returning.next().map_or(Change::Remove, Change::To)
                })
            })
            .collect();
        let change = or_as_before(groups.change(&of_groups), earlier, "[]");
        changes.push(events.or_keep(&item.name, change, "[]"));
    }
    if told.entries.is_empty() {
        return Ok(told);
    }
    if let Some(before) = before.filter(|before| is_same_besides(text, before)) {
        told.is_restored = true;
        told.text = (!before.is_empty()).then(|| before.to_owned());
        return Ok(told);
    }
    let change = or_as_before(events.change(&changes), earlier, "{}");
    let change = file.or_keep("hooks", change, "{}");
    let left = file.with(hooks_at, change);
    // What was written into no file leaves none.
    let there_was_none = before.is_none_or(str::is_empty);
    let left = left.or_else(|| (!there_was_none).then(|| "{}".to_owned()));
    told.text = left.map(|left| text.replacen(file.text(), &left, 1));
    Ok(told)
}

/// Something that has lost all stays, if it was there before and empty.
fn or_as_before(change: Change, before: Option<&str>, empty: &str) -> Change {
    let is_empty = |text: &&str| text.split_ascii_whitespace().collect::<String>() == empty;
    match (change, before.filter(is_empty)) {
        (Change::Remove, Some(before)) => Change::To(before.to_owned()),
        (change, _) => change,
    }
}

/// The entries of ours in the groups of one event, as they are written.
fn own_entries(groups: &str) -> Vec<String> {
    let mut found = Vec::new();
    let Ok(groups) = Written::list(groups) else { return found };
    for group in groups.items() {
        in_group(group.value, |_, entry| {
            found.push(entry.to_owned());
            Change::None
        });
    }
    found
}

/// Whether two texts are the same but for our entries and the room between words. An empty one is a file that is
/// not there.
fn is_same_besides(one: &str, other: &str) -> bool {
    let bare = |text: &str| if text.is_empty() { Some("{}".to_owned()) } else { bare(text) };
    matches!((bare(one), bare(other)), (Some(one), Some(other)) if one == other)
}

/// A text without our entries, what holds nothing, and room.
fn bare(text: &str) -> Option<String> {
    let file = Written::object(body(text)).ok()?;
    Some(bare_of(&file, "hooks", |events| {
        let events = Written::object(events).ok()?;
        let mut kept = Vec::new();
        for item in events.items() {
            let groups = Written::list(item.value)
                .map_or_else(|_| without_room(item.value), |list| bare_groups(&list));
            if groups != "[]" {
                kept.push(format!("{:?}:{groups}", item.name));
            }
        }
        Some(format!("{{{}}}", kept.join(",")))
    }))
}

fn bare_groups(groups: &Written<'_>) -> String {
    let mut kept = Vec::new();
    for item in groups.items() {
        // A group without entries does nothing.
        let mut is_empty = false;
        let text = Written::object(item.value).map_or_else(
            |_| without_room(item.value),
            |group| {
                bare_of(&group, "hooks", |entries| {
                    let entries = Written::list(entries).ok()?;
                    let of_others = |entry: &&Item<'_>| !is_own_text(entry.value);
                    let left: Vec<String> = entries
                        .items()
                        .iter()
                        .filter(of_others)
                        .map(|entry| without_room(entry.value))
                        .collect();
                    is_empty = left.is_empty();
                    Some(format!("[{}]", left.join(",")))
                })
            },
        );
        if !is_empty {
            kept.push(text);
        }
    }
    format!("[{}]", kept.join(","))
}

/// An object without room, in which one field is another. If nothing is in that, it is left out.
fn bare_of(object: &Written<'_>, name: &str, mut inner: impl FnMut(&str) -> Option<String>) -> String {
    let at = object.last(name).map(|(at, _)| at);
    let mut fields = Vec::new();
    for (number, item) in object.items().iter().enumerate() {
        let special = (at == Some(number)).then(|| inner(item.value)).flatten();
        let value = special.unwrap_or_else(|| without_room(item.value));
        if at != Some(number) || !matches!(value.as_str(), "{}" | "[]") {
            fields.push(format!("{:?}:{value}", item.name));
        }
    }
    format!("{{{}}}", fields.join(","))
}

#[cfg(test)]
mod tests;
