//! The patches of `apply_patch`, in which headers name each file and say what happens to it.
//!
//! Coding agents get such a patch as a tool, and write it as a here-document to a program of that name. Each file in it
//! becomes one effect with the text that the patch adds. The reader accepts what the program accepts, and more: a header
//! counts even where the lines around it are malformed.

use std::path::Path;

use super::{Effect, WriteContent};

/// What a patch does to one file.
#[derive(Debug, PartialEq, Eq)]
pub struct EnvelopeFile {
    /// The name as it is written.
    pub name: String,
    /// What happens to the file.
    pub change: EnvelopeChange,
}

/// What happens to a file.
#[derive(Debug, PartialEq, Eq)]
pub enum EnvelopeChange {
    /// It is created, or replaced, with this text.
    Add(String),
    /// Lines of it change.
    Update {
        /// The lines that the patch adds.
        added: String,
        /// The new name, if the file is renamed.
        moved_to: Option<String>,
    },
    /// It is deleted.
    Delete,
}

/// The files of a patch, in order.
pub fn read_envelope(text: &str) -> Vec<EnvelopeFile> {
    let mut files: Vec<EnvelopeFile> = Vec::new();
    for line in text.lines() {
        let change = files.last_mut().map(|file| &mut file.change);
        // In the hunks of an update, an indented line is context.
        let is_update = matches!(change, Some(EnvelopeChange::Update { .. }));
        let header = if is_update { line } else { line.trim_start() };
        if let Some((name, change)) = read_header(header) {
            files.push(EnvelopeFile { name, change });
            continue;
        }
        match change {
            Some(EnvelopeChange::Add(text)) => add_line(text, line),
            Some(EnvelopeChange::Update { added, moved_to }) => match line.strip_prefix("*** Move to: ") {
                Some(name) => *moved_to = Some(name.trim().to_owned()),
                None => add_line(added, line),
            },
            Some(EnvelopeChange::Delete) | None => {}
        }
    }
    files
}

/// Whether a text holds such a patch.
pub fn is_envelope(text: &str) -> bool {
    text.contains("*** ") && text.lines().any(|line| read_header(line.trim_start()).is_some())
}

/// What a patch does to files, whose names are relative to this directory.
pub fn list_effects(text: &str, directory: &Path) -> Vec<Effect> {
    let mut effects = Vec::new();
    for EnvelopeFile { name, change } in read_envelope(text) {
        let path = directory.join(name);
        match change {
            EnvelopeChange::Add(text) => {
                let content = WriteContent::Known { text: text.into(), append: false, is_complete: true };
                effects.push(Effect::Write { path, content });
            }
            EnvelopeChange::Update { added, moved_to } => {
                let content = WriteContent::Adds { text: added.into() };
                let Some(moved_to) = moved_to else {
                    effects.push(Effect::Write { path, content });
                    continue;
                };
                effects.push(Effect::Write { path: directory.join(moved_to), content });
                effects.push(Effect::Delete { path });
            }
            EnvelopeChange::Delete => effects.push(Effect::Delete { path }),
        }
    }
    effects
}

fn read_header(line: &str) -> Option<(String, EnvelopeChange)> {
    let rest = line.strip_prefix("*** ")?;
    let (kind, name) = rest.split_once(" File: ")?;
    let change = match kind {
        "Add" => EnvelopeChange::Add(String::new()),
        "Update" => EnvelopeChange::Update { added: String::new(), moved_to: None },
        "Delete" => EnvelopeChange::Delete,
        _ => return None,
    };
    let name = name.trim();
    (!name.is_empty()).then(|| (name.to_owned(), change))
}

fn add_line(text: &mut String, line: &str) {
    if let Some(added) = line.strip_prefix('+') {
        text.push_str(added);
        text.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATCH: &str = "*** Begin Patch\n*** Add File: a/new.txt\n+one\n+*** Delete File: kept.txt\n+\n\
        *** Update File: b.txt\n*** Move to: c/d.txt\n@@ fn main\n keep\n-old\n+new\n *** Delete File: context.txt\n\
        *** Delete File: gone.txt\n*** End Patch\n";

    fn describe(text: &str) -> Vec<String> {
        let describe = |effect| match effect {
            Effect::Write { path, content: WriteContent::Known { text, .. } } => {
                format!("write {} {text:?}", path.display())
            }
            Effect::Write { path, content: WriteContent::Adds { text } } => {
                format!("edit {} {text:?}", path.display())
            }
            Effect::Delete { path } => format!("delete {}", path.display()),
            other => format!("{other:?}"),
        };
        list_effects(text, Path::new("/p")).into_iter().map(describe).collect()
    }

    #[test]
    fn each_file_is_one_effect_with_its_new_text() {
        assert_eq!(
            describe(PATCH),
            [
                r#"write /p/a/new.txt "one\n*** Delete File: kept.txt\n\n""#,
                r#"edit /p/c/d.txt "new\n""#,
                "delete /p/b.txt",
                "delete /p/gone.txt"
            ]
        );
    }

    #[test]
    fn a_patch_is_read_like_the_program_reads_it() {
        assert_eq!(describe("*** Add File: /q/x\r\n+a\r\n"), [r#"write /q/x "a\n""#]);
        // Without the lines around it, and with blanks in front.
        assert_eq!(describe("  *** Delete File:  x y \n"), ["delete /p/x y"]);
        // A file that is added does not end at an empty line.
        assert_eq!(describe("*** Add File: x\n+a\n\n+b\n"), [r#"write /p/x "a\nb\n""#]);
        for none in
            ["", "*** Begin Patch\n*** End Patch", "*** Update File: ", "Add File: x", "*** Other File: x"]
        {
            assert!(describe(none).is_empty(), "{none}");
            assert!(!is_envelope(none), "{none}");
        }
        assert!(is_envelope(PATCH));
    }
}
