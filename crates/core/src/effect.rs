//! What an event would do, in the same form for every tool.
//!
//! A write by a file tool, by a redirection and by `tee` all become the same [`Effect`], so that a guard judges them
//! alike. Paths are absolute, but links are not followed. An effect does not hold the content of a write; it is
//! computed on demand, so that a guard can judge it before it is written.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

pub use provost_shell::effect::commands::{Line, LineCommand};
use provost_shell::effect::envelope::EnvelopeChange;
pub use provost_shell::effect::{Effect, FileChange, ReadScope, WriteContent, envelope, git, patch};

use crate::tool::{Replacement, Tool};

/// The largest file that an edit is applied to in memory.
const LARGEST_PROPOSAL: usize = 64 << 20;

/// The content of a file after a call.
#[derive(Debug, PartialEq, Eq)]
pub enum ProposedContent<'a> {
    Text(Cow<'a, str>),
    /// The call does not say, or it is not known how the client would apply it.
    Unknown,
}

/// The effects of a tool call in `cwd`, in the order in which they would happen.
pub fn compute_effects(tool: &Tool, cwd: &Path, home: Option<&Path>) -> Line {
    let absolute = |path: &PathBuf| cwd.join(path);
    let run = |line: &str| provost_shell::read_line(line, cwd, home);
    let effects = match tool {
        Tool::Write { path, .. } | Tool::Edit { path, .. } => {
            vec![Effect::Write { path: absolute(path), content: WriteContent::InCall }]
        }
        Tool::Notebook { path, .. } => {
            vec![Effect::Write { path: absolute(path), content: WriteContent::Unknown }]
        }
        Tool::Patch { text } => match envelope::list_effects(text, cwd) {
            effects if effects.is_empty() => {
                vec![Effect::Unparsed { what: "a patch that names no file".into(), command: None }]
            }
            effects => effects,
        },
        Tool::Shell { command } => return run(command),
        Tool::Read { path, is_recursive } => {
            let path = path.as_ref().map_or_else(|| cwd.to_owned(), absolute);
            let scope = if *is_recursive { ReadScope::Search } else { ReadScope::File };
            vec![Effect::Read { path, scope }]
        }
        Tool::Other { paths, texts, commands, is_deleting: deletes } => {
            let named =
                paths.iter().map(absolute).chain(texts.iter().flat_map(|text| list_patched(text, cwd)));
            let named =
                named.map(|path| if *deletes { Effect::Delete { path } } else { Effect::Touch { path } });
            let mut line = Line::of_one_command(named.collect());
            for command in commands {
                line.append(run(command));
            }
            return line;
        }
        Tool::Delegate { .. }
        | Tool::Skill { .. }
        | Tool::LeavePlanMode { .. }
        | Tool::Message { .. }
        | Tool::Inert => return Line::default(),
    };
    Line::of_one_command(effects)
}

/// The files that a patch may change which an unknown tool gets.
fn list_patched(text: &str, cwd: &Path) -> Vec<PathBuf> {
    let mut names = Vec::new();
    if envelope::is_envelope(text) {
        for file in envelope::read_envelope(text) {
            let moved_to = match file.change {
                EnvelopeChange::Update { moved_to, .. } => moved_to,
                _ => None,
            };
            names.extend([Some(file.name), moved_to].into_iter().flatten().map(PathBuf::from));
        }
    } else if patch::is_patch(text) {
        let strip = |name: &patch::PatchedName| [Some(0), Some(1)].map(|parts| name.strip_components(parts));
        names.extend(patch::find_patched_names(text).iter().flat_map(strip).flatten());
    }
    names.iter().map(|name| cwd.join(name)).collect()
}

/// The content of the file after this call, given its current content (`None`: no file).
pub fn compute_proposed_content<'a>(tool: &'a Tool, current: Option<&str>) -> ProposedContent<'a> {
    match tool {
        Tool::Write { content: Some(content), .. } => ProposedContent::Text(Cow::Borrowed(content)),
        Tool::Edit { replacements, .. } => apply(replacements, current),
        _ => ProposedContent::Unknown,
    }
}

/// Applies replacements in order. If a text is not found exactly, the result is `Unknown`, because clients also match
/// after folding quotes and white space.
fn apply(replacements: &[Replacement], current: Option<&str>) -> ProposedContent<'static> {
    let mut text = current.unwrap_or_default().to_owned();
    for Replacement { old, new, replaces_all: all } in replacements {
        if old.is_empty() {
            if !text.is_empty() {
                return ProposedContent::Unknown;
            }
            text.clone_from(new);
            continue;
        }
        // Clients edit a file with Windows line ends as if it had Unix ones.
        if !text.contains(old.as_str()) && text.contains("\r\n") {
            text = text.replace("\r\n", "\n");
        }
        match (text.matches(old.as_str()).count(), all) {
            (0, _) | (2.., false) => return ProposedContent::Unknown,
            (count, _) if text.len().saturating_add(count.saturating_mul(new.len())) > LARGEST_PROPOSAL => {
                return ProposedContent::Unknown;
            }
            _ => text = text.replace(old.as_str(), new),
        }
    }
    ProposedContent::Text(Cow::Owned(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edit(old: &str, new: &str, replaces_all: bool) -> Tool {
        let replacements = vec![Replacement { old: old.into(), new: new.into(), replaces_all }];
        Tool::Edit { path: "f".into(), replacements }
    }

    fn text(text: &str) -> ProposedContent<'_> {
        ProposedContent::Text(Cow::Borrowed(text))
    }

    #[test]
    fn an_edit_is_applied_to_the_file_as_it_stands() {
        assert_eq!(compute_proposed_content(&edit("two", "2", false), Some("one two")), text("one 2"));
        assert_eq!(compute_proposed_content(&edit("a", "b", true), Some("a a")), text("b b"));
    }

    #[test]
    fn several_replacements_build_on_each_other() {
        let replacements = vec![
            Replacement { old: "a".into(), new: "b".into(), replaces_all: false },
            Replacement { old: "bc".into(), new: "d".into(), replaces_all: false },
        ];
        let tool = Tool::Edit { path: "f".into(), replacements };
        assert_eq!(compute_proposed_content(&tool, Some("ac")), text("d"));
    }

    #[test]
    fn an_edit_that_cannot_be_foretold_is_unknown() {
        assert_eq!(compute_proposed_content(&edit("x", "y", false), Some("a")), ProposedContent::Unknown);
        assert_eq!(compute_proposed_content(&edit("a", "b", false), Some("a a")), ProposedContent::Unknown);
        assert_eq!(compute_proposed_content(&edit("", "b", false), Some("a")), ProposedContent::Unknown);
        assert_eq!(
            compute_proposed_content(&edit("a", &"b".repeat(1 << 20), true), Some(&"a".repeat(100))),
            ProposedContent::Unknown
        );
    }

    #[test]
    fn an_empty_old_text_makes_a_new_file() {
        assert_eq!(compute_proposed_content(&edit("", "new", false), None), text("new"));
    }

    #[test]
    fn windows_line_ends_do_not_hide_a_match() {
        assert_eq!(compute_proposed_content(&edit("a\nb", "c", false), Some("a\r\nb\r\n")), text("c\n"));
    }
}
