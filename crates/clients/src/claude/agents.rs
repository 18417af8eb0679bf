//! Finds the agent that does the work if a call names only a skill, or only an agent's id.
//!
//! A skill or command with `context: fork` in its frontmatter runs as the agent that `agent` names there, or as
//! `general-purpose`. Claude Code finds it by its directory or file, and by the `name` in its frontmatter. Beside the
//! transcript of each agent, a file names the agent's type.

use std::fs;
use std::path::{Component, Path, PathBuf};

use serde_json::Value;

use super::frontmatter::Frontmatter;
use super::registrations::plugin_root;
use super::{config_directory, read_json};
use provost_core::places::Places;
use provost_files as files;

/// The agent of a skill that names none.
const DEFAULT_AGENT: &str = "general-purpose";
const LARGEST: u64 = 1 << 20;
/// At most this many files are searched for a name.
const MOST_FILES: usize = 500;

pub(super) fn find_forked_agent(skill: &str, places: &Places, directories: &[&Path]) -> Option<String> {
    let skill = skill.trim().trim_start_matches('/');
    let roots = directories.iter().map(|directory| directory.join(".claude"));
    let roots: Vec<PathBuf> = roots.chain(config_directory(places)).collect();
    // Some versions pass the whole command line.
    let first_word = skill.split_whitespace().next().unwrap_or_default();
    for name in [skill, first_word].into_iter().filter(|name| is_relative_path(name)) {
        let path: PathBuf = name.split(':').collect();
        let mut files: Vec<PathBuf> = roots.iter().flat_map(|root| instruction_files(root, &path)).collect();
        if let Some((plugin, rest)) = name.split_once(':') {
            let path: PathBuf = rest.split(':').collect();
            files.extend(plugin_roots(plugin, places).iter().flat_map(|root| instruction_files(root, &path)));
        }
        if let Some(header) = files.iter().find_map(|file| read_frontmatter(file)) {
            return forked_agent(&header);
        }
    }
    let by_name = roots.iter().flat_map(|root| {
        let entries = fs::read_dir(root.join("skills")).into_iter().flatten().flatten();
        entries.take(MOST_FILES).filter_map(|entry| read_frontmatter(&entry.path().join("SKILL.md")))
    });
    let mut by_name = by_name.into_iter();
    forked_agent(&by_name.find(|header| header.find_value("name").as_deref() == Some(skill))?)
}

/// The files of a skill and of a command with this path.
fn instruction_files(root: &Path, path: &Path) -> [PathBuf; 2] {
    let mut command = root.join("commands").join(path).into_os_string();
    command.push(".md");
    [root.join("skills").join(path).join("SKILL.md"), command.into()]
}

/// The directories of the installed plugins of this name.
fn plugin_roots(name: &str, places: &Places) -> Vec<PathBuf> {
    let file = config_directory(places).map(|own| own.join("plugins/installed_plugins.json"));
    let list = file.and_then(|file| read_json(&file, LARGEST)).unwrap_or_default();
    let all = list["plugins"].as_object().into_iter().flatten().map(|(key, _)| key);
    let same = all.filter(|key| key.split('@').next() == Some(name));
    same.filter_map(|key| plugin_root(key, places)).collect()
}

/// Whether a name leads to a file below a directory, and never out of it.
fn is_relative_path(name: &str) -> bool {
    let is_part = |part: &str| {
        let mut parts = Path::new(part).components();
        matches!((parts.next(), parts.next()), (Some(Component::Normal(_)), None))
    };
    name.split(':').all(is_part)
}

/// The directory of the transcripts of a session's agents.
pub(super) fn transcript_directory(transcript: &Path) -> PathBuf {
    transcript.with_extension("").join("subagents")
}

/// The type of the agent that a message goes to.
pub(super) fn find_recipient(to: &str, transcript: &Path) -> Option<String> {
    let directory = transcript_directory(transcript);
    let agent_type = |about: Value| about["agentType"].as_str().map(str::to_owned);
    if to.is_empty() || !is_relative_path(to) {
        return None;
    }
    if let Some(about) = read_json(&directory.join(format!("agent-{to}.meta.json")), LARGEST) {
        return agent_type(about);
    }
    let entries = fs::read_dir(&directory).into_iter().flatten().flatten();
    let about = entries.filter(|entry| entry.file_name().to_string_lossy().ends_with(".meta.json"));
    let mut about = about.take(MOST_FILES).filter_map(|entry| read_json(&entry.path(), LARGEST));
    about.find(|about| about["name"] == to).and_then(agent_type)
}

/// The frontmatter of a skill or command, which may be empty; `None` if there is no such file.
fn read_frontmatter(file: &Path) -> Option<Frontmatter> {
    let bytes = files::read_file(file, LARGEST).ok().flatten()?;
    Some(Frontmatter::parse(&String::from_utf8_lossy(&bytes)).unwrap_or_default())
}

/// The agent that a skill runs as; `None` if it runs in the conversation.
fn forked_agent(header: &Frontmatter) -> Option<String> {
    let is_forked = header.find_value("context").as_deref() == Some("fork");
    is_forked.then(|| {
        header.find_value("agent").filter(|agent| !agent.is_empty()).unwrap_or_else(|| DEFAULT_AGENT.into())
    })
}
