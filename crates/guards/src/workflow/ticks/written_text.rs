//! What a call writes into a file, as far as it is known before the call.

use crate::prelude::*;
use std::path::Path;

use crate::rules::paths::keeps_content;
use crate::rules::scene::{CommandEffects, Scene};
use crate::rules::used_paths::{Source, UsedPath};
use provost_core::effect::{self, ProposedContent, WriteContent};
use provost_core::tool::Tool;

/// The largest task file that is read.
pub(crate) const LARGEST_FILE: u64 = 16 << 20;
const EDITORS: &[&str] = &["ed", "ex", "vi", "vim", "nvim", "emacs"];

/// What a call writes into a file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum WrittenText {
    /// The file holds this text afterwards.
    Whole(String),
    /// These texts are replaced, wherever they are.
    Replaced(Vec<(String, String)>),
    /// These whole lines are added, and others may be removed.
    Lines(String),
    /// This becomes a part of lines. It may have marks of the editing program in it.
    Piece(String),
    /// One of these texts of an unknown tool may be the new content, or a part of it.
    OneOf(Vec<String>),
    Unknown,
}

/// What a command writes into a file with this content; `None` if the file keeps it.
pub(crate) fn find_written_text(
    used: &UsedPath<'_>,
    command: &CommandEffects<'_>,
    old: Option<&str>,
    scene: &Scene<'_>,
) -> Option<WrittenText> {
    let join = |text: &str, append: bool| match (append, old) {
        (true, Some(old)) => WrittenText::Whole(format!("{old}{text}")),
        _ => WrittenText::Whole(text.to_owned()),
    };
    let copy = |file: &Path, append: bool| {
        let text = read_source(file, scene);
        text.map_or(WrittenText::Unknown, |text| join(&text, append))
    };
    let tool = scene.event.call().map(|call| &call.tool);
    Some(match (used.content, tool) {
        (Some(WriteContent::InCall), Some(tool)) => match effect::compute_proposed_content(tool, old) {
            ProposedContent::Text(text) => WrittenText::Whole(text.into_owned()),
            ProposedContent::Unknown => match tool {
                Tool::Edit { replacements, .. } => WrittenText::Replaced(
                    replacements.iter().map(|edit| (edit.old.clone(), edit.new.clone())).collect(),
                ),
                _ => WrittenText::Unknown,
            },
        },
        (Some(WriteContent::Known { text, append, is_complete: true }), _) => join(text, *append),
        // What is left out may be a mark.
        (Some(WriteContent::Known { .. }), _) => WrittenText::Unknown,
        (Some(WriteContent::Copied { file, append }), _) => copy(file, *append),
        (Some(WriteContent::Adds { text }), Some(Tool::Patch { .. })) => WrittenText::Lines(text.to_string()),
        // The script of an editor is not read.
        (Some(WriteContent::Adds { .. }), _)
            if command.programs().any(|(name, _)| EDITORS.contains(&name)) =>
        {
            WrittenText::Unknown
        }
        (Some(WriteContent::Adds { text }), _) => WrittenText::Piece(text.to_string()),
        (None, Some(Tool::Other { texts, .. })) => {
            let is_path =
                |text: &String| scene.resolve(&scene.event.make_absolute(Path::new(text))) == used.path;
            WrittenText::OneOf(texts.iter().filter(|text| !is_path(text)).cloned().collect())
        }
        (None, _) if let Some(source) = &used.source => match source {
            Source::File(file) => copy(file, false),
            Source::Patch(added) => WrittenText::Lines(added.clone()),
        },
        _ if keeps_content(used, command) => return None,
        _ if has_harmless_script(command) => WrittenText::Piece(String::new()),
        _ => WrittenText::Unknown,
    })
}

/// Whether a command only runs scripts of sed or perl that cannot make a mark, whatever the file holds.
pub(super) fn has_harmless_script(command: &CommandEffects<'_>) -> bool {
    let is_harmless = |(program, words): (&str, &[String])| {
        let has_file = words.iter().any(|word| word.starts_with("-f") || word.starts_with("--file"));
        let has_mark = |word: &String| {
            let mut after_backslash = word.split('\\').skip(1);
            word.contains(['x', 'X', '&'])
                || after_backslash.any(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
        };
        matches!(program, "sed" | "gsed" | "perl") && !has_file && !words.iter().any(has_mark)
    };
    let mut programs = command.programs().filter(|(program, _)| *program != "xargs").peekable();
    programs.peek().is_some() && programs.all(is_harmless)
}

/// The text of a file that is copied; `None` if the line itself changes that file, or if it cannot be read.
fn read_source(file: &Path, scene: &Scene<'_>) -> Option<String> {
    let file = scene.resolve(file);
    let is_changed = scene.event.effects().iter().any(|effect| match effect {
        effect::Effect::Write { path, .. } => scene.resolve(path) == file,
        _ => false,
    });
    if is_changed {
        return None;
    }
    scene.workspace.read_text(&file, LARGEST_FILE).ok().flatten()
}
