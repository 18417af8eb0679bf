//! Generates the tables of `docs/security.md` from the table of tricks.

use std::fs;

use super::table::{self, Trick, Verdict};

const START: &str = "<!-- tricks: made by PROVOST_BLESS=1 cargo test --test behaviour adversary:: -->\n";
const END: &str = "<!-- end of tricks -->\n";

fn generate_tables() -> String {
    let tricks = table::tricks();
    let mut text = String::new();
    let count = |verdict: Verdict| tricks.iter().filter(|trick| trick.verdict == verdict).count();
    let counts: Vec<String> =
        Verdict::ALL.into_iter().map(|verdict| format!("{} {}", count(verdict), verdict.word())).collect();
    text += &format!("{} tricks: {}.\n", tricks.len(), counts.join(", "));
    for (id, title) in table::groups() {
        text += &format!("\n#### {title}\n\n| an agent | | by, or what helps |\n|---|---|---|\n");
        let mut rows: Vec<&Trick> = tricks.iter().filter(|trick| trick.group == id).collect();
        rows.sort_by_key(|trick| trick.verdict);
        for trick in rows {
            text += &row(trick);
        }
    }
    text
}

fn row(trick: &Trick) -> String {
    let does = trick.does.trim_end_matches('.').replace('|', "\\|");
    let guard = trick.by.as_ref().map(|by| format!("`{by}`"));
    let by = match (guard, &trick.helps) {
        (Some(guard), Some(helps)) => format!("{guard}; {helps}"),
        (Some(one), None) => one,
        (None, Some(one)) => one.clone(),
        (None, None) => String::new(),
    };
    let client = trick.rehearsal.as_ref().map_or("", |_| " °");
    let word = trick.verdict.word();
    format!("| {does}{client} | {word} | {by} |\n")
}

#[test]
fn the_page_shows_the_table() {
    let path = table::root().join("docs/security.md");
    let page = fs::read_to_string(&path).unwrap();
    let (before, rest) = page.split_once(START).expect("the start of the tables");
    let (_, after) = rest.split_once(END).expect("the end of the tables");
    let fresh = format!("{before}{START}\n{}\n{END}{after}", generate_tables());
    if std::env::var_os("PROVOST_BLESS").is_some() {
        fs::write(&path, &fresh).unwrap();
        return;
    }
    assert!(page == fresh, "stale: PROVOST_BLESS=1 cargo test --test behaviour adversary::");
}
