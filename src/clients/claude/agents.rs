//! Which agent works where a call does not name one: behind a skill, or behind an agent's id.
//!
//! A skill or command with `context: fork` in its frontmatter is done by the agent that `agent` names there,
//! or by `general-purpose`. The client finds it by its directory or file, and by the `name` of its frontmatter.
//! Beside the transcript of each agent it keeps a file that says of what kind the agent is.

use std::fs;
use std::path::{Component, Path, PathBuf};

use serde_json::Value;

use super::instructions::front_matter;
use super::own_directory;
use super::registrations::plugin_root;
use crate::files;
use crate::workspace::Places;

/// The agent that works where a skill names none.
const USUAL: &str = "general-purpose";
const LARGEST: u64 = 1 << 20;
/// So many files are looked at for a name.
const MOST: usize = 500;

pub(super) fn forked(skill: &str, places: &Places, directories: &[&Path]) -> Option<String> {
    let skill = skill.trim().trim_start_matches('/');
    let own = own_directory(places);
    let roots = directories.iter().map(|directory| directory.join(".claude")).chain(own);
    let roots: Vec<PathBuf> = roots.collect();
    // Some clients hand over the whole line.
    let words = skill.split_whitespace().next().unwrap_or_default();
    for name in [skill, words].into_iter().filter(|name| is_path(name)) {
        let path: PathBuf = name.split(':').collect();
        let mut files: Vec<PathBuf> = roots.iter().flat_map(|root| files_of(root, &path)).collect();
        if let Some((plugin, rest)) = name.split_once(':') {
            let path: PathBuf = rest.split(':').collect();
            files.extend(plugins(plugin, places).iter().flat_map(|root| files_of(root, &path)));
        }
        if let Some(header) = files.iter().find_map(|file| Header::read(file)) {
            return header.agent();
        }
    }
    let by_name = roots.iter().flat_map(|root| {
        let entries = fs::read_dir(root.join("skills")).into_iter().flatten().flatten();
        entries.take(MOST).filter_map(|entry| Header::read(&entry.path().join("SKILL.md")))
    });
    by_name.into_iter().find(|header| header.value("name").as_deref() == Some(skill))?.agent()
}

/// The files that a skill or a command of this name has below a directory.
fn files_of(root: &Path, path: &Path) -> [PathBuf; 2] {
    let mut command = root.join("commands").join(path).into_os_string();
    command.push(".md");
    [root.join("skills").join(path).join("SKILL.md"), command.into()]
}

/// Where the installed plugins of this name lie.
fn plugins(name: &str, places: &Places) -> Vec<PathBuf> {
    let list = own_directory(places).map(|own| own.join("plugins/installed_plugins.json"));
    let list = list.and_then(|list| files::read(&list, LARGEST).ok().flatten());
    let list: Value = list.and_then(|list| serde_json::from_slice(&list).ok()).unwrap_or_default();
    let all = list["plugins"].as_object().into_iter().flatten().map(|(key, _)| key);
    let same = all.filter(|key| key.split('@').next() == Some(name));
    same.filter_map(|key| plugin_root(key, places)).collect()
}

/// Whether a name leads to one file below a directory.
fn is_path(name: &str) -> bool {
    let is_part = |part: &str| {
        let mut parts = Path::new(part).components();
        matches!((parts.next(), parts.next()), (Some(Component::Normal(_)), None))
    };
    name.split(':').all(is_part)
}

pub(super) fn addressee(to: &str, transcript: &Path) -> Option<String> {
    let directory = transcript.with_extension("").join("subagents");
    let read = |file: &Path| -> Option<Value> {
        serde_json::from_slice(&files::read(file, LARGEST).ok().flatten()?).ok()
    };
    let kind = |about: &Value| about["agentType"].as_str().map(str::to_owned);
    if to.is_empty() || !is_path(to) {
        return None;
    }
    if let Some(about) = read(&directory.join(format!("agent-{to}.meta.json"))) {
        return kind(&about);
    }
    let entries = fs::read_dir(&directory).into_iter().flatten().flatten();
    let about = entries.filter(|entry| entry.file_name().to_string_lossy().ends_with(".meta.json"));
    about
        .take(MOST)
        .filter_map(|entry| read(&entry.path()))
        .find(|about| about["name"] == to)
        .as_ref()
        .and_then(kind)
}

/// The frontmatter of a skill.
struct Header(String);

impl Header {
    fn read(file: &Path) -> Option<Self> {
        let text = String::from_utf8_lossy(&files::read(file, LARGEST).ok().flatten()?).into_owned();
        Some(Self(front_matter(&text).unwrap_or_default().join("\n")))
    }

    /// The agent that does the work elsewhere; `None`: the skill works in the conversation.
    fn agent(&self) -> Option<String> {
        let is_forked = self.value("context").as_deref() == Some("fork");
        is_forked
            .then(|| self.value("agent").filter(|agent| !agent.is_empty()).unwrap_or_else(|| USUAL.into()))
    }

    /// A value of the outermost mapping, in the forms of YAML that one word can have.
    fn value(&self, key: &str) -> Option<String> {
        let is_flow = self.0.trim_start().starts_with('{');
        let separators: &[char] = if is_flow { &['\n', ',', '{', '}'] } else { &['\n'] };
        let is_content = |part: &&str| !part.trim().is_empty() && !part.trim_start().starts_with('#');
        let mut parts = self.0.split(separators).filter(is_content).peekable();
        let indent = |part: &str| part.len() - part.trim_start().len();
        let outer = parts.peek().map_or(0, |first| indent(first));
        while let Some(part) = parts.next() {
            if !is_flow && indent(part) > outer {
                continue;
            }
            let own = part.trim();
            // `? key` has its value on the next line.
            let (name, value) = match own.strip_prefix('?') {
                Some(name) => (name, parts.next().unwrap_or_default().trim().trim_start_matches(':')),
                None => own.split_once(':').unwrap_or_default(),
            };
            if unquoted(name.trim()) == key {
                let value = value.trim();
                let is_below = value.is_empty() || value.starts_with(['>', '|', '#']);
                let value = if is_below { parts.next().unwrap_or_default().trim() } else { value };
                return Some(self.resolved(value));
            }
        }
        None
    }

    /// What an alias stands for, or the value itself.
    fn resolved(&self, value: &str) -> String {
        let anchor = value.strip_prefix('*').map(|name| format!("&{} ", name.trim()));
        let named = anchor.and_then(|anchor| self.0.split_once(&anchor)?.1.lines().next());
        unquoted(named.map_or(value, str::trim))
    }
}

/// A scalar without its quotes, its comment, its tag and its anchor.
fn unquoted(text: &str) -> String {
    let mut text = text;
    while text.starts_with(['!', '&']) {
        text = text.split_once(char::is_whitespace).map_or("", |(_, rest)| rest).trim_start();
    }
    if let Some(rest) = text.strip_prefix('\'') {
        return rest.split('\'').next().unwrap_or_default().to_owned();
    }
    if let Some(end) = text.strip_prefix('"').and_then(|rest| rest.find('"')) {
        // JSON has all escapes of YAML that a name may need, but one.
        let quoted = &text[..end + 2].replace("\\x", "\\u00");
        return serde_json::from_str(quoted).unwrap_or_else(|_| quoted.trim_matches('"').to_owned());
    }
    text.split(" #").next().unwrap_or_default().trim().to_owned()
}
