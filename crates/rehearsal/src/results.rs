//! What came of all scenarios on one version of the client, as a file that can be kept and compared.
//!
//! A client changes every week. Whether each scenario held is half of what one wants to know about a new version; the other
//! half is what no scenario asks for: a tool that was not there before, a field that hooks are no longer given. So both are
//! kept, and [`Versions`](crate::Versions) holds them side by side. Nothing in it depends on the machine or the time.

mod program;
mod shape;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::mismatch::Mismatch;
use crate::playback::Playback;

/// All that was learned about one version of the client.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Results {
    /// The version, as the client tells it.
    pub client: String,
    /// By the name of the scenario's file, without its ending.
    pub scenarios: BTreeMap<String, Outcome>,
    /// The events that the client's program names.
    pub events: Words,
    /// The tools that the model was offered, at once or on demand.
    pub tools: Words,
    /// What hooks were given: for each event and tool the fields with their kinds.
    pub given: BTreeMap<String, Words>,
}

/// What came of one scenario.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Outcome {
    pub title: String,
    pub played: usize,
    pub held: usize,
    /// What was wrong in the last run that did not hold.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub wrong: Vec<String>,
}

impl Outcome {
    pub fn holds(&self) -> bool {
        self.played > 0 && self.held == self.played
    }
}

/// Words in order, kept as one line so that a difference between two files can be read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub struct Words(pub BTreeSet<String>);

impl From<String> for Words {
    fn from(line: String) -> Self {
        Self(line.split_whitespace().map(str::to_owned).collect())
    }
}

impl From<Words> for String {
    fn from(words: Words) -> Self {
        words.0.into_iter().collect::<Vec<_>>().join(" ")
    }
}

impl Results {
    /// Empty results of a client, which is asked for its version.
    pub fn of(client: &Path) -> Result<Self> {
        let events = Words(program::events(client)?);
        Ok(Self { client: program::version(client)?, events, ..Self::default() })
    }

    /// What a file says of this client already, without the scenarios that are played now; empty results if there is no such
    /// file, or if it is about another version.
    pub fn continued(client: &Path, path: &Path, files: &[PathBuf]) -> Result<Self> {
        let mut results = Self::of(client)?;
        if path.exists() {
            let before = Self::load(path)?;
            if before.client == results.client {
                results = before;
            }
        }
        for file in files {
            results.scenarios.remove(&name_of(file));
        }
        Ok(results)
    }

    /// Adds one run of a scenario; `wrong` is empty if it held.
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
            shape::note(&hook.input, &mut self.given.entry(name).or_default().0);
        }
    }

    /// Adds a scenario that could not be played.
    pub fn add_unplayed(&mut self, file: &Path, title: &str, error: &Error) {
        // The words of an error name places of this machine; the screen has them.
        let what =
            if matches!(error, Error::Scenario { .. }) { "is no scenario" } else { "cannot be played" };
        self.count(file, title, vec![format!("the scenario {what}")]);
    }

    fn count(&mut self, file: &Path, title: &str, wrong: Vec<String>) {
        let outcome = self.scenarios.entry(name_of(file)).or_default();
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

    /// Replaces the file as a whole.
    pub fn save(&self, path: &Path) -> Result<()> {
        let told = || format!("write the results `{}`", path.display());
        let directory = path.parent().filter(|place| !place.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let write = || {
            let text = serde_json::to_string_pretty(self)?;
            let mut file = tempfile::NamedTempFile::new_in(directory)?;
            std::io::Write::write_all(&mut file, format!("{text}\n").as_bytes())?;
            // Others may read it, like any file of a repository.
            let everyone = std::os::unix::fs::PermissionsExt::from_mode(0o644);
            file.as_file().set_permissions(everyone)?;
            file.persist(path).map_err(|error| error.error)?;
            Ok(())
        };
        write().map_err(Error::machine(told()))
    }
}

fn name_of(scenario: &Path) -> String {
    scenario.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_read_as_they_were_written() {
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
        assert!(!results.scenarios["b"].holds(), "once is not always");
        assert_eq!(dir.path().read_dir().unwrap().count(), 1);
    }
}
