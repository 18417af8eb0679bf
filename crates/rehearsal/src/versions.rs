//! Compares versions of the client: which scenarios pass on which version, and what else differs.
//!
//! Reads a directory with one file of [`Results`] for each version, and `groups.toml`, which groups the scenarios and explains
//! failures to the users of a version. The table is generated from these files alone. A scenario without results has no row.

mod table;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::Deserialize;

use crate::client::version_numbers;
use crate::error::{Error, Result};
use crate::results::{Results, ScenarioResult};

/// The results of several versions, the oldest first.
#[derive(Debug)]
pub struct Versions {
    pub results: Vec<Results>,
    groups: Groups,
}

/// `groups.toml`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Groups {
    #[serde(rename = "group")]
    groups: Vec<Group>,
    #[serde(default, rename = "reason")]
    reasons: Vec<Reason>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Group {
    /// The topic of its scenarios.
    name: String,
    /// The prefixes of their names.
    begins: Vec<String>,
}

/// Why scenarios fail on some versions.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Reason {
    scenarios: BTreeSet<String>,
    versions: BTreeSet<String>,
    text: String,
}

impl Versions {
    pub fn load(directory: &Path) -> Result<Self> {
        let action = || format!("read the directory `{}`", directory.display());
        let path = directory.join("groups.toml");
        let text = std::fs::read_to_string(&path)
            .map_err(Error::machine(format!("read the groups `{}`", path.display())))?;
        let groups = toml::from_str(&text).map_err(|error| Error::scenario(&path, error.to_string()))?;
        let mut results = Vec::new();
        for entry in directory.read_dir().map_err(Error::machine(action()))? {
            let path = entry.map_err(Error::machine(action()))?.path();
            if path.extension().is_some_and(|kind| kind == "json") {
                let one = Results::load(&path)?;
                if path.file_stem().is_none_or(|name| name.to_string_lossy() != one.client) {
                    return Err(Error::scenario(&path, format!("holds the results of {}", one.client)));
                }
                results.push(one);
            }
        }
        results.sort_by_key(|one| version_numbers(&one.client));
        Ok(Self { results, groups })
    }

    /// Every scenario with results, and its title on the newest version.
    pub fn scenarios(&self) -> BTreeMap<&str, &str> {
        let all = self.results.iter().flat_map(|one| &one.scenarios);
        all.map(|(name, outcome)| (name.as_str(), outcome.title.as_str())).collect()
    }

    /// Checks `groups.toml` against the existing scenarios: each has a group, each group has results, each failure has a
    /// reason, and each reason has a failure.
    pub fn find_faults(&self, scenarios: &BTreeSet<String>) -> Vec<String> {
        let played = self.scenarios();
        let names = scenarios.iter().map(String::as_str).chain(played.keys().copied());
        let ungrouped: BTreeSet<&str> = names.filter(|name| self.group(name).is_none()).collect();
        let mut faults: Vec<String> =
            ungrouped.iter().map(|name| format!("`{name}` belongs to no group of groups.toml")).collect();
        let gone = played.keys().filter(|name| !scenarios.contains(**name));
        faults.extend(gone.map(|name| format!("`{name}` has results and is no scenario any more")));
        for (index, group) in self.groups.groups.iter().enumerate() {
            if !played.keys().any(|name| self.group(name) == Some(index)) {
                faults.push(format!("nothing about `{}` was played", group.name));
            }
        }
        for results in &self.results {
            for name in failing(results).filter(|name| self.reason(name, &results.client).is_none()) {
                faults.push(format!("`{name}` does not hold on {} for no reason", results.client));
            }
        }
        for reason in &self.groups.reasons {
            for (name, version) in
                reason.scenarios.iter().flat_map(|name| reason.versions.iter().map(move |v| (name, v)))
            {
                let results = self.results.iter().find(|one| one.client == *version);
                if !results.is_some_and(|one| failing(one).any(|failing| failing == name)) {
                    faults.push(format!("`{name}` has a reason for {version}, where nothing failed"));
                }
            }
        }
        faults
    }

    /// The index of a scenario's group: the one with the longest matching prefix.
    fn group(&self, scenario: &str) -> Option<usize> {
        let fits = |group: &Group| {
            let begins = group.begins.iter().filter(|word| scenario.starts_with(word.as_str()));
            begins.map(String::len).max()
        };
        let groups = self.groups.groups.iter().enumerate();
        groups.filter_map(|(index, group)| Some((fits(group)?, index))).max().map(|(_, index)| index)
    }

    fn reason(&self, scenario: &str, version: &str) -> Option<usize> {
        let about = |one: &Reason| one.scenarios.contains(scenario) && one.versions.contains(version);
        self.groups.reasons.iter().position(about)
    }
}

/// The scenarios that failed.
fn failing(results: &Results) -> impl Iterator<Item = &str> {
    let fails = |(_, outcome): &(&String, &ScenarioResult)| !outcome.has_passed();
    results.scenarios.iter().filter(fails).map(|(name, _)| name.as_str())
}

#[cfg(test)]
#[path = "versions/tests.rs"]
mod tests;
