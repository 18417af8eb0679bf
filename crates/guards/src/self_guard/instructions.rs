//! Refuses agents, skills and commands with hooks that could undo a judgement.
//!
//! If the new content is in the call, it is parsed as the client would. If a shell assembles the file, its possible
//! sources are searched: the command line, the files that it reads or moves, and the current content.

use crate::prelude::*;
use std::path::{Path, PathBuf};

use super::LARGEST_SETTINGS;
use super::refusal::{Refusal, Refused};
use super::tools::ToolCheck;
use crate::patched_files::{find_sources, find_texts};
use provost_core::effect::{self, Effect, ProposedContent, WriteContent};
use provost_core::places::is_within;
use provost_core::tool::Tool;

impl ToolCheck<'_> {
    /// Whether the client reads a file as an agent, skill or command, by its name.
    pub(super) fn is_instructions(&self, path: &Path, real: &Path) -> bool {
        let is_named_so = self.workspace.client.settings.instructions.is_instruction_file;
        is_named_so(path) || is_named_so(real)
    }

    /// Whether the call gives a file hooks, and the client reads that file through a link. Without hooks, no link is
    /// searched for.
    pub(super) fn is_linked_instructions(&self, real: &Path, content: &WriteContent) -> bool {
        let has_hooks =
            |text: &str| (self.workspace.client.settings.instructions.find_risky_hooks)(text).is_some();
        let Some(call) = self.event.call().filter(|_| *content == WriteContent::InCall) else { return false };
        let adds_hooks = match &call.tool {
            Tool::Write { content: Some(text), .. } => has_hooks(text),
            tool @ Tool::Edit { .. } if find_texts(tool).iter().any(|text| text.contains("hooks")) => {
                let before = self.workspace.read_text(real, LARGEST_SETTINGS).ok().flatten();
                matches!(effect::compute_proposed_content(tool, before.as_deref()), ProposedContent::Text(text) if has_hooks(&text))
            }
            _ => false,
        };
        adds_hooks && self.is_link_target(real)
    }

    /// Whether one of the client's directories for such files is a link to this file or around it, or contains one.
    fn is_link_target(&self, real: &Path) -> bool {
        let workspace = self.workspace;
        let mut above: Vec<PathBuf> = workspace
            .list_settings_files()
            .iter()
            .filter_map(|file| Some(file.parent()?.to_owned()))
            .collect();
        above.dedup();
        let names = workspace.client.settings.instructions.folders;
        let mut folders = above.iter().flat_map(|above| names.iter().map(|name| above.join(name)));
        folders.any(|folder| {
            let links = workspace.list_links(&folder).into_iter().map(|link| workspace.resolve(&link));
            std::iter::once(workspace.resolve(&folder)).chain(links).any(|place| is_within(real, &place))
        })
    }

    /// Refuses a write that adds hooks to an agent, skill or command.
    pub(super) fn refuse_instructions(&self, path: &Path, content: &WriteContent) -> Refused {
        let workspace = self.workspace;
        let instructions = &workspace.client.settings.instructions;
        let Some(call) = self.event.call() else { return Ok(None) };
        let before = workspace.read_text(path, LARGEST_SETTINGS)?;
        let after = match content {
            WriteContent::InCall => effect::compute_proposed_content(&call.tool, before.as_deref()),
            _ => ProposedContent::Unknown,
        };
        let hooks_before = before.as_deref().and_then(instructions.find_risky_hooks);
        Ok(match &after {
            ProposedContent::Text(after) => {
                let has_more =
                    (instructions.find_risky_hooks)(after).is_some_and(|hooks| hooks_before != Some(hooks));
                has_more.then(|| Refusal::for_hooked_instructions(path, workspace))
            }
            ProposedContent::Unknown => {
                let may_have_more = (instructions.may_add_hooks)(&find_texts(&call.tool), before.as_deref())
                    || find_sources(self.event.effects()).any(|file| self.has_hooks(file));
                may_have_more.then(|| Refusal::for_unknown_instructions(path, workspace))
            }
        })
    }

    /// Refuses to copy or move an agent, skill or command with hooks to where the client reads it.
    pub(super) fn refuse_placed_instructions(
        &self,
        names: &[PathBuf],
        to: &Path,
        effects: &[Effect],
    ) -> Refused {
        let workspace = self.workspace;
        for source in find_sources(effects) {
            let Some(name) = source.file_name().filter(|name| names.iter().any(|placed| placed == name))
            else {
                continue;
            };
            let into = to.join(name);
            let landings = match (workspace.is_directory(to), workspace.exists(to)) {
                (true, _) => vec![into],
                (false, true) => vec![to.to_owned()],
                // The command line may create the directory first.
                (false, false) => vec![to.to_owned(), into],
            };
            let refusal = landings.iter().find_map(|landing| self.refuse_landing(source, landing));
            if refusal.is_some() {
                return Ok(refusal);
            }
        }
        Ok(None)
    }

    fn refuse_landing(&self, source: &Path, landing: &Path) -> Option<Refusal> {
        let workspace = self.workspace;
        if !(workspace.client.settings.instructions.may_be_below)(landing) {
            return None;
        }
        let is_hooked = |file: &Path, landing: &Path| {
            self.is_instructions(landing, &workspace.resolve(landing)) && self.has_hooks(file)
        };
        let hooked = if workspace.is_directory(source) {
            workspace.list_markdown_below(source).into_iter().find_map(|file| {
                let landing = landing.join(file.strip_prefix(source).ok()?);
                is_hooked(&file, &landing).then_some(landing)
            })
        } else {
            is_hooked(source, landing).then(|| landing.to_owned())
        };
        hooked.map(|landing| Refusal::for_hooked_instructions(&landing, workspace))
    }

    /// Refuses a write to a path that only the shell knows, if its end names an agent, skill or command and the
    /// command line contains hooks.
    pub(super) fn refuse_unknown_instructions_target(&self, target: &str) -> Option<Refusal> {
        let instructions = &self.workspace.client.settings.instructions;
        let is_quote = |c: &char| matches!(c, '"' | '\'' | '\\' | '`' | '{' | '}');
        let path = PathBuf::from(target.chars().filter(|c| !is_quote(c)).collect::<String>());
        let may_add_hooks = (instructions.is_instruction_file)(&path)
            && (instructions.may_add_hooks)(&find_texts(&self.event.call()?.tool), None);
        may_add_hooks.then(|| Refusal::for_unknown_instructions(&path, self.workspace))
    }

    /// Whether a file has hooks. An unreadable file cannot be copied either.
    fn has_hooks(&self, file: &Path) -> bool {
        let text = self.workspace.read_text(file, LARGEST_SETTINGS).ok().flatten();
        text.is_some_and(|text| {
            (self.workspace.client.settings.instructions.find_risky_hooks)(&text).is_some()
        })
    }
}
