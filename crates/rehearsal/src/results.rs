//! The results of all scenarios on one version of the client, as a file.
//!
//! The file says which scenarios passed, and what no scenario checks: which events and tools the client has, and which fields
//! hooks are given. [`Versions`](crate::Versions) compares the files of several versions. Nothing in a file depends on the
//! machine or the time.

mod client_program;
mod input_fields;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::mismatch::Mismatch;
use crate::playback::Playback;

/// The results on one version of the client.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Results {
    /// The client's version.
    pub client: String,
    /// The key is the name of the scenario's file without its extension.
    pub scenarios: BTreeMap<String, ScenarioResult>,
    /// The events that the client's program names.
    pub events: WordSet,
    /// The tools that the client offered, including deferred ones.
    pub tools: WordSet,
    /// The fields of hook inputs with their types, for each event and tool.
    pub given: BTreeMap<String, WordSet>,
}

/// The results of one scenario.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScenarioResult {
    pub title: String,
    pub played: usize,
    pub held: usize,
    /// The mismatches of the last run that failed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub wrong: Vec<String>,
}

impl ScenarioResult {
    pub fn has_passed(&self) -> bool {
        self.played > 0 && self.held == self.played
    }
}

/// Sorted words, stored as one line so that a diff of two files is readable.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub struct WordSet(pub BTreeSet<String>);

impl From<String> for WordSet {
    fn from(line: String) -> Self {
        Self(line.split_whitespace().map(str::to_owned).collect())
    }
}

impl From<WordSet> for String {
    fn from(words: WordSet) -> Self {
        words.0.into_iter().collect::<Vec<_>>().join(" ")
    }
}

impl Results {
    /// Empty results for a client, with its version and events.
    pub fn for_client(client: &Path) -> Result<Self> {
        let events = WordSet(client_program::read_events(client)?);
        Ok(Self { client: client_program::read_version(client)?, events, ..Self::default() })
    }

    /// The results in a file without those of `files`, which are played now. Empty if there is no file, or if it is about
    /// another version.
    pub fn load_or_create(client: &Path, path: &Path, files: &[PathBuf]) -> Result<Self> {
        let mut results = Self::for_client(client)?;
        if path.exists() {
            let before = Self::load(path)?;
            if before.client == results.client {
                results = before;
            }
        }
        for file in files {
            results.scenarios.remove(&scenario_name(file));
        }
        Ok(results)
    }

    /// Adds one run of a scenario; `wrong` is empty if it passed.
    pub fn add(&mut self, file: &Path, title: &str, wrong: &[Mismatch], playback: &Playback) {
        let wrong = wrong.iter().map(|one| format!("{} {}", one.subject, one.fault)).collect();
        self.count(file, title, wrong);
        for request in &playback.requests {
            self.tools.0.extend(request.tools.iter().cloned());
            self.tools.0.extend(request.tools_on_demand());
        }
        for hook in &playback.hooks {
            let name = [Some(hook.event.as_str()), hook.tool.as_deref()];
            let name = name.into_iter().flatten().collect::<Vec<_>>().join(" ");
            input_fields::add_fields(&hook.input, &mut self.given.entry(name).or_default().0);
        }
    }

    /// Adds a scenario that could not be played.
    pub fn add_unplayed(&mut self, file: &Path, title: &str, error: &Error) {
        // The text of the error is left out, because it has paths of this machine.
        let what = if matches!(error, Error::Scenario { .. }) { "is malformed" } else { "cannot be played" };
        self.count(file, title, vec![format!("the scenario {what}")]);
    }

    fn count(&mut self, file: &Path, title: &str, wrong: Vec<String>) {
        let outcome = self.scenarios.entry(scenario_name(file)).or_default();
        title.clone_into(&mut outcome.title);
        outcome.played += 1;
        if wrong.is_empty() {
            outcome.held += 1;
        } else {
            outcome.wrong = wrong;
        }
    }

    pub fn load(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path)
            .map_err(Error::machine(format!("read the results `{}`", path.display())))?;
        serde_json::from_str(&text).map_err(|error| Error::scenario(path, error.to_string()))
    }

    /// Replaces the file atomically.
    pub fn save(&self, path: &Path) -> Result<()> {
        let action = || format!("write the results `{}`", path.display());
        let directory = path.parent().filter(|place| !place.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let write = || {
            let text = serde_json::to_string_pretty(self)?;
            let mut file = tempfile::NamedTempFile::new_in(directory)?;
            std::io::Write::write_all(&mut file, format!("{text}\n").as_bytes())?;
            // Readable for everybody, like any file of a repository.
            let everyone = std::os::unix::fs::PermissionsExt::from_mode(0o644);
            file.as_file().set_permissions(everyone)?;
            file.persist(path).map_err(|error| error.error)?;
            Ok(())
        };
        write().map_err(Error::machine(action()))
    }
}

fn scenario_name(scenario: &Path) -> String {
    scenario.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_loaded_as_they_were_saved() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("1.2.3.json");
        let mut results = Results { client: "1.2.3".into(), ..Results::default() };
        results.tools.0.extend(["Write".to_owned(), "Bash".to_owned()]);
        results.count(Path::new("a/b.toml"), "it holds", Vec::new());
        results.count(Path::new("a/b.toml"), "it holds", vec!["the client ended".into()]);
        results.save(&path).unwrap();
        assert_eq!(Results::load(&path).unwrap(), results);
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.contains(r#""tools": "Bash Write""#), "{text}");
        assert!(!results.scenarios["b"].has_passed(), "one failure counts");
        assert_eq!(dir.path().read_dir().unwrap().count(), 1);
    }
}
