//! The comparison as Markdown: groups, failures, other differences, and every scenario.

use std::collections::BTreeSet;

use super::{Versions, failing};
use crate::results::{Results, ScenarioResult, WordSet};

impl Versions {
    /// The whole section of a page.
    pub fn to_markdown(&self) -> String {
        let parts = [self.groups_table(), self.not_holding(), self.differences(), self.sentences()];
        parts.map(|part| format!("{}\n", part.trim_end())).join("\n")
    }

    fn head(&self, first: &str) -> String {
        let versions: Vec<&str> = self.results.iter().map(|one| one.client.as_str()).collect();
        let line = "|---".repeat(versions.len() + 1);
        format!("| {first} | {} |\n{line}|\n", versions.join(" | "))
    }

    /// One row for each group: how many of its scenarios held.
    fn groups_table(&self) -> String {
        let mut table = self.head("about");
        for (index, group) in self.groups.groups.iter().enumerate() {
            let cell = |results: &Results| {
                let of_group: Vec<&ScenarioResult> = self.of_group(results, index).collect();
                match (of_group.iter().filter(|one| one.has_passed()).count(), of_group.len()) {
                    (_, 0) => "not played".to_owned(),
                    (held, all) if held == all => format!("all {all} hold"),
                    (held, all) => format!("**{held} of {all} hold**"),
                }
            };
            let cells: Vec<String> = self.results.iter().map(cell).collect();
            table.push_str(&format!("| {} | {} |\n", group.name, cells.join(" | ")));
        }
        table
    }

    fn of_group<'a>(
        &'a self,
        results: &'a Results,
        group: usize,
    ) -> impl Iterator<Item = &'a ScenarioResult> {
        let is_of = move |name: &str| self.group(name) == Some(group);
        results.scenarios.iter().filter(move |(name, _)| is_of(name)).map(|(_, outcome)| outcome)
    }

    fn not_holding(&self) -> String {
        if self.results.iter().all(|one| failing(one).next().is_none()) {
            return "All rehearsals that were run hold.\n".to_owned();
        }
        let mut text = "What does not hold:\n\n".to_owned();
        for (index, reason) in self.groups.reasons.iter().enumerate() {
            let of_reason = |results: &Results| {
                failing(results).any(|name| self.reason(name, &results.client) == Some(index))
            };
            let versions: Vec<&str> =
                self.results.iter().filter(|one| of_reason(one)).map(|one| one.client.as_str()).collect();
            let names: Vec<String> = reason.scenarios.iter().map(|name| format!("`{name}`")).collect();
            if !versions.is_empty() {
                let (versions, names) = (versions.join(", "), names.join(", "));
                text.push_str(&format!("- {versions}: {} ({names})\n", reason.text.trim()));
            }
        }
        for results in &self.results {
            for name in failing(results).filter(|name| self.reason(name, &results.client).is_none()) {
                let outcome = &results.scenarios[name];
                let (held, played) = (outcome.held, outcome.played);
                let wrong = outcome.wrong.first().map_or("", String::as_str);
                text.push_str(&format!(
                    "- {}: `{name}` held {held} of {played} times: {wrong}. Nobody has said why yet.\n",
                    results.client
                ));
            }
        }
        text
    }

    /// Events, tools and fields that were added or removed between two versions.
    fn differences(&self) -> String {
        let mut table = String::new();
        for pair in self.results.windows(2) {
            for (what, before, after) in facts(&pair[0], &pair[1]) {
                let listed = |from: &BTreeSet<&str>, to: &BTreeSet<&str>| {
                    let new: Vec<String> = to.difference(from).map(|word| format!("`{word}`")).collect();
                    if new.is_empty() { "nothing".to_owned() } else { new.join(", ") }
                };
                if before != after {
                    let (new, gone) = (listed(&before, &after), listed(&after, &before));
                    table.push_str(&format!("| {} | {what} | {new} | {gone} |\n", pair[1].client));
                }
            }
        }
        if table.is_empty() {
            return "The client's events, its tools and the fields that hooks are given are the same on all of them.\n"
                .to_owned();
        }
        format!(
            "What changed in the client since the version before:\n\n\
             | since | what | new | gone |\n|---|---|---|---|\n{table}"
        )
    }

    /// The title of every scenario, below its group.
    fn sentences(&self) -> String {
        let mut table = self.head("rehearsal");
        for (index, group) in self.groups.groups.iter().enumerate() {
            let empty = " |".repeat(self.results.len());
            table.push_str(&format!("| **{}** |{empty}\n", group.name));
            let of_group = self.scenarios().into_iter().filter(|(name, _)| self.group(name) == Some(index));
            for (name, title) in of_group {
                let cell = |results: &Results| match results.scenarios.get(name) {
                    None => "not played".to_owned(),
                    Some(outcome) if outcome.has_passed() => "holds".to_owned(),
                    Some(outcome) if outcome.held == 0 => "**does not hold**".to_owned(),
                    Some(outcome) => format!("**held {} of {} times**", outcome.held, outcome.played),
                };
                let cells: Vec<String> = self.results.iter().map(cell).collect();
                table.push_str(&format!("| {} | {} |\n", title.replace('|', "\\|"), cells.join(" | ")));
            }
        }
        table
    }
}

type Fact<'a> = (String, BTreeSet<&'a str>, BTreeSet<&'a str>);

/// The facts in which two versions can differ. For calls that only one of them made, fields are not compared.
fn facts<'a>(before: &'a Results, after: &'a Results) -> Vec<Fact<'a>> {
    let words = |words: &'a WordSet| words.0.iter().map(String::as_str).collect();
    let calls = |results: &'a Results| results.given.keys().map(String::as_str).collect();
    let mut facts = vec![
        ("events".to_owned(), words(&before.events), words(&after.events)),
        ("tools".to_owned(), words(&before.tools), words(&after.tools)),
        ("calls of hooks".to_owned(), calls(before), calls(after)),
    ];
    for (name, fields) in &after.given {
        if let Some(earlier) = before.given.get(name) {
            facts.push((format!("fields of `{name}`"), words(earlier), words(fields)));
        }
    }
    facts
}
