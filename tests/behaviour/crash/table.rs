//! The table of the page, made from the runs.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use super::scene::{MOST, Step, is_unfinished};
use super::snapshot::steady_name;
use super::writers::Writer;

const BEGIN: &str = "<!-- crash table: PROVOST_BLESS=1 cargo test --test behaviour crash:: -->\n";
const END: &str = "<!-- end of the crash table -->";

/// The page has exactly the table that these runs give.
pub fn compare(rows: &[(&Writer, Vec<Step>)]) {
    let mut table = String::from(
        "| what happens | written by | what changes, in this order | stops |\n|---|---|---|---|\n",
    );
    for (writer, steps) in rows {
        let who: Vec<String> = writer.who.iter().map(|who| format!("`{who}`")).collect();
        let who = if who.is_empty() { "the journal".to_owned() } else { who.join(", ") };
        table += &format!("| {} | {who} | {} | {} |\n", writer.what, files(steps), steps.len().min(MOST));
    }
    let all: usize = rows.iter().map(|(_, steps)| steps.len().min(MOST)).sum();
    table += &format!(
        "\n{} writers, {all} stops: none leaves a torn or lost file, and none leaves anything behind.\n",
        rows.len()
    );
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/reliability.md");
    let page = fs::read_to_string(&path).unwrap();
    let (before, rest) = page.split_once(BEGIN).expect("the page has a place for the table");
    let (there, after) = rest.split_once(END).expect("the table ends");
    let table = format!("\n{table}\n");
    if std::env::var_os("PROVOST_BLESS").is_some() {
        fs::write(&path, format!("{before}{BEGIN}{table}{END}{after}")).unwrap();
    } else {
        assert_eq!(there, table, "stale: PROVOST_BLESS=1 cargo test --test behaviour crash:: writes it anew");
    }
}

/// No row names more files.
const SHOWN: usize = 8;

/// The files that change, each once, in the order in which they are begun.
fn files(steps: &[Step]) -> String {
    let mut seen = BTreeSet::new();
    let mut files = Vec::new();
    for Step { path, name, .. } in steps {
        if name == "make the directory" || name == "create the lock" || name == "remove the directory" {
            continue;
        }
        let file = shown(path);
        if seen.insert(file.clone()) {
            files.push(format!("`{file}`"));
        }
    }
    let more = files.len().saturating_sub(SHOWN);
    files.truncate(SHOWN);
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    files.join(", ") + &more
}

/// A name that is the same in every run.
fn shown(path: &str) -> String {
    let name = steady_name(path);
    let (folder, name) = name.rsplit_once('/').unwrap_or(("", &name));
    let name = if is_unfinished(name) {
        name.trim_start_matches('.').trim_end_matches(".provost.tmp")
    } else {
        name
    };
    let is_hash = |part: &str| part.len() >= 12 && part.bytes().all(|byte| byte.is_ascii_hexdigit());
    let is_process = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let name = match name.rsplit_once('.') {
        // The name of a new file on the way has its process in it.
        Some((name, process)) if is_process(process) && process.len() > 1 => name,
        _ => name,
    };
    let name = name.strip_prefix("TIME-PROCESS-").unwrap_or(name);
    let parts: Vec<&str> = name.split('.').map(|part| if is_hash(part) { "NAME" } else { part }).collect();
    let mut name = parts.join(".").replace("db05b49a-780f-4b0b-bd53-5359177b8aba", "SESSION");
    if let Some((first, rest)) = name.split_once('-').filter(|(first, _)| is_hash(first)) {
        // A new file is named after the process that makes it.
        let rest = rest.split_once('-').filter(|(first, _)| is_process(first)).map_or(rest, |(_, rest)| rest);
        name = format!("{}{rest}", if first.is_empty() { "" } else { "NAME-" });
    }
    let state = ".local/state/provost";
    if !folder.starts_with(state) {
        return name;
    }
    let folder = folder[state.len()..].trim_start_matches('/').split('/').next().unwrap_or_default();
    if folder == "answers" {
        return "answers/NAME".into();
    }
    if folder.is_empty() || folder == "projects" { name } else { format!("{folder}/{name}") }
}
