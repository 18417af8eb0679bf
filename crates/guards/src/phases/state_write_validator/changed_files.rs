//! Which state files an event changes, with any tool.
//!
//! A state file is recognized by its path, both as it is given and with links resolved, and by its identity,
//! because a hard link under another name is the same file.

use crate::phases::prelude::*;
use std::cell::OnceCell;
use std::path::{Path, PathBuf};

use crate::phases::workflow_context::WORKFLOW_FOLDER;
use provost_core::effect::git::TreeChangeKind;
use provost_core::effect::{Effect, WriteContent};
use provost_core::places::is_within;
use provost_core::workspace::work_tree::WorkTrees;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeKind {
    /// The call contains the new content.
    Written,
    /// The new content is not known beforehand.
    Unknown,
    Deleted,
}

/// A state file that an event changes.
#[derive(Debug)]
pub struct ChangedFile {
    /// The path as it is given.
    pub named: PathBuf,
    /// The path with links resolved.
    pub real: PathBuf,
    pub kind: ChangeKind,
}

/// Each file once for each kind of change.
pub fn find_changed_files(event: &Event, workspace: &Workspace) -> Vec<ChangedFile> {
    let mut finder = StateFileFinder { event, workspace, own: OnceCell::new(), found: Vec::new() };
    let is_reader = event.call().is_some_and(provost_core::tool::ToolCall::only_reads_by_name);
    let mut trees = WorkTrees::new(workspace);
    for effect in event.effects() {
        match effect {
            Effect::Write { path, content: WriteContent::InCall } => {
                finder.add_named(path, ChangeKind::Written);
            }
            Effect::Write { path, .. } => finder.add_named(path, ChangeKind::Unknown),
            Effect::Place { names, to, tree } => finder.add_copied(names, to, *tree),
            Effect::Delete { path } => finder.add_deleted(path),
            // To stash or reset the whole work tree does not end a workflow.
            Effect::ChangeTree(change) if !change.paths.is_empty() => {
                let deletes = matches!(change.kind, TreeChangeKind::Remove | TreeChangeKind::Clean { .. });
                let kind = if deletes { ChangeKind::Deleted } else { ChangeKind::Unknown };
                finder.add_existing(kind, |file| trees.is_changed_by(change, &file.named));
            }
            // Most strings that an unknown tool gets are not paths.
            Effect::Touch { path } if !is_reader && (is_state(path) || !workspace.is_unreachable(path)) => {
                finder.add_named(path, ChangeKind::Unknown);
            }
            Effect::UnknownTarget { target, .. } if may_be_state(target) => {
                finder.add_existing(ChangeKind::Unknown, |_| true);
            }
            Effect::Run { program, .. } if is_interpreter(program) && code_writes_state(event) => {
                finder.add_existing(ChangeKind::Unknown, |_| true);
            }
            _ => {}
        }
    }
    finder.found
}

struct StateFileFinder<'a> {
    event: &'a Event,
    workspace: &'a Workspace,
    /// The paths of all state files that the project can have.
    own: OnceCell<Vec<PathBuf>>,
    found: Vec<ChangedFile>,
}

impl StateFileFinder<'_> {
    fn own_states(&self) -> &[PathBuf] {
        self.own.get_or_init(|| {
            let Some(context) = WorkflowContext::find(self.event, self.workspace) else { return Vec::new() };
            let folder = context.root().join(WORKFLOW_FOLDER);
            let projects = folder.join("projects");
            let names = self.workspace.list_directories(&projects).into_iter();
            let members = names.map(|(name, _)| projects.join(name));
            std::iter::once(folder).chain(members).map(|directory| directory.join("state.json")).collect()
        })
    }

    fn add(&mut self, file: ChangedFile) {
        if !self.found.iter().any(|known| known.real == file.real && known.kind == file.kind) {
            self.found.push(file);
        }
    }

    /// Adds the state file that a path means, if it means one.
    fn add_named(&mut self, path: &Path, kind: ChangeKind) {
        if let Some(real) = self.resolve_state(path) {
            self.add(ChangedFile { named: path.to_owned(), real, kind });
        }
    }

    /// The real path of the state file that a path means; `None`: it means another file.
    fn resolve_state(&self, path: &Path) -> Option<PathBuf> {
        let real = self.workspace.resolve(path);
        if is_state(path) || is_state(&real) {
            let text = path.to_str().filter(|text| text.contains('\\') && !self.workspace.exists(&real));
            return Some(
                text.map_or(real, |text| self.workspace.resolve(Path::new(&text.replace('\\', "/")))),
            );
        }
        let identity = self.workspace.find_identity(&real)?;
        let is_own = self.own_states().iter().any(|own| self.workspace.find_identity(own) == Some(identity));
        is_own.then_some(real)
    }

    /// Adds files that are copied or moved: into the target, if it is a directory.
    fn add_copied(&mut self, names: &[PathBuf], to: &Path, is_tree: bool) {
        let is_into = self.workspace.is_directory(to);
        // `cp -r x/.isdlc/. .isdlc` merges the directories.
        if is_tree && is_into && names.iter().any(|name| to.file_name() == Some(name.as_os_str())) {
            self.add_below(&self.workspace.resolve(to), ChangeKind::Unknown);
        }
        let targets =
            if is_into { names.iter().map(|name| to.join(name)).collect() } else { vec![to.to_owned()] };
        for target in targets {
            self.add_named(&target, ChangeKind::Unknown);
            if is_tree {
                self.add_below(&self.workspace.resolve(&target), ChangeKind::Unknown);
            }
        }
    }

    /// Adds what a deletion removes. It removes a link, not the link's target.
    fn add_deleted(&mut self, path: &Path) {
        let named = self.workspace.resolve_parent(path);
        let kind = ChangeKind::Deleted;
        if is_state(&named) || is_state(path) {
            let real = self.workspace.resolve(path);
            self.add(ChangedFile { named: path.to_owned(), real, kind });
        } else {
            self.add_below(&named, kind);
        }
    }

    /// Adds the existing state files below a directory, and those that a link below it leads to.
    fn add_below(&mut self, directory: &Path, kind: ChangeKind) {
        self.add_existing(kind, |file| is_within(&file.real, directory) || is_within(&file.named, directory));
    }

    /// Adds the project's state files that exist and that `is_changed` accepts.
    fn add_existing(&mut self, kind: ChangeKind, mut is_changed: impl FnMut(&ChangedFile) -> bool) {
        for named in self.own_states().to_vec() {
            let file = ChangedFile { real: self.workspace.resolve(&named), named, kind };
            if self.workspace.exists(&file.real) && is_changed(&file) {
                self.add(file);
            }
        }
    }
}

/// Whether a path names a state file: `.isdlc/state.json`, `.isdlc/projects/NAME/state.json`.
fn is_state(path: &Path) -> bool {
    let Some(text) = path.to_str() else { return false };
    let mut parts = text.rsplit(['/', '\\']);
    if parts.next() != Some("state.json") {
        return false;
    }
    match parts.next() {
        Some(WORKFLOW_FOLDER) => true,
        Some(member) => {
            !member.is_empty() && parts.next() == Some("projects") && parts.next() == Some(WORKFLOW_FOLDER)
        }
        None => false,
    }
}

/// Whether a target that is only known in part may be a state file: `$ROOT/.isdlc/state.json`,
/// `.isdlc/*.json`.
fn may_be_state(target: &str) -> bool {
    let source = target.split_once('`').and_then(|(_, rest)| rest.rsplit_once('`'));
    let source = source.map_or(target, |(source, _)| source).replace(['"', '\''], "");
    let Some((_, name)) = source.rsplit_once(&format!("{WORKFLOW_FOLDER}/")) else { return false };
    let of_member = name.strip_prefix("projects/");
    let name = of_member.map_or(name, |rest| rest.split_once('/').map_or(rest, |(_, name)| name));
    may_match(name, "state.json")
}

/// Whether a pattern, or a text with variables, may become this name. Its first and last letters decide.
fn may_match(pattern: &str, name: &str) -> bool {
    let is_open = |c: char| matches!(c, '*' | '?' | '[' | '{' | '$' | '`');
    let Some(start) = pattern.find(is_open) else { return pattern == name };
    let end = match pattern.rfind(|c: char| is_open(c) || matches!(c, ']' | '}' | ')')) {
        // Where the name of a variable ends is not known.
        Some(at) if !pattern[at..].starts_with(['$', '`']) => &pattern[at + 1..],
        _ => "",
    };
    name.starts_with(&pattern[..start]) && name.ends_with(end)
}

/// Whether a program runs code from its command line.
fn is_interpreter(program: &str) -> bool {
    const PROGRAMS: &[&str] = &["python", "node", "bun", "deno", "ruby", "perl", "php"];
    let name = program.rsplit('/').next().unwrap_or(program);
    PROGRAMS.contains(&name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.'))
}

/// Calls in code that write, copy, move or delete files, or start other programs.
#[rustfmt::skip]
const CHANGING_CALLS: &[&str] = &[
    // Python
    "write_text", "write_bytes", "shutil", "os.replace", "os.rename", "os.remove", "os.link", "os.write", "os.open",
    "os.system", "os.popen", "os.exec", "os.spawn", "subprocess", "hardlink_to", "fileinput",
    // Node, Bun, Deno
    "writeFile", "appendFile", "WriteStream", "copyFile", "cpSync", "fs.cp", "rmSync", "fs.rm", "Bun.write",
    "writeTextFile", "Deno.remove", "Deno.Command", "child_process", "execSync", "spawnSync", "Bun.spawn", "Bun.$",
    // Ruby, Perl, PHP
    "File.write", "IO.write", "File.delete", "FileUtils", "File::Copy", "file_put_contents", "fputs", "copy('",
    "shell_exec", "passthru", "exec('",
    // Several of them
    "rename(", "rename '", "renameSync", "unlink", "truncate", "symlink", "system(", "system '",
];

/// Whether the command line contains code that names a state file and writes files. Code that only reads is
/// common. Code in another file is not read.
fn code_writes_state(event: &Event) -> bool {
    const OPENS: &[&str] =
        &["w", "wt", "wb", "w+", "wb+", "w+b", "a", "at", "ab", "a+", "ab+", "a+b", "r+", "rb+", "r+b"];
    let Some(Tool::Shell { command, .. }) = event.call().map(|call| &call.tool) else { return false };
    let code = command.replace('\\', "").replace(['"', '`'], "'");
    let opens = |mode: &&str| code.contains(&format!("'{mode}'"));
    // Perl and Ruby: `open F, '>', …`, `open('f', '+<')`.
    let redirects = |rest: &str| {
        let near: String = rest.chars().take(40).collect();
        near.contains("'>") || near.contains("'+<")
    };
    code.contains(WORKFLOW_FOLDER)
        && code.contains("state.json")
        && (OPENS.iter().any(opens)
            || CHANGING_CALLS.iter().any(|word| code.contains(word))
            || code.split("open").skip(1).any(redirects))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_file_is_recognized_by_its_path() {
        for path in [
            "/p/.isdlc/state.json",
            "/p/.isdlc/projects/api/state.json",
            ".isdlc/state.json",
            "C:\\p\\.isdlc\\state.json",
            "C:\\p\\.isdlc\\projects\\api\\state.json",
            "/p/.isdlc\\projects/api\\state.json",
        ] {
            assert!(is_state(Path::new(path)), "{path}");
        }
        for path in [
            "/p/state.json",
            "/p/isdlc/state.json",
            "/p/.isdlc/state.json.bak",
            "/p/.isdlc/my-state.json",
            "/p/.isdlc/x/state.json",
            "/p/.isdlc/projects/state.json",
            "/p/.isdlc/projects/a/b/state.json",
            "/p/x.isdlc/state.json",
            "/p/.isdlc/State.json",
            "state.json",
            "",
        ] {
            assert!(!is_state(Path::new(path)), "{path}");
        }
    }

    #[test]
    fn a_partly_known_target_may_be_a_state_file() {
        for source in [
            "$ROOT/.isdlc/state.json",
            "\"$(git rev-parse --show-toplevel)\"/.isdlc/state.json",
            "\"$ROOT/.isdlc/projects/$P/state.json\"",
            ".isdlc/*.json",
            ".isdlc/*",
            ".isdlc/{state,x}.json",
            ".isdlc/st?te.json",
            ".isdlc/$NAME",
            ".isdlc/projects/*",
        ] {
            assert!(may_be_state(&format!("`{source}`")), "{source}");
        }
        assert!(may_be_state("`.isdlc/state.json` in a directory that is not known"));
        for source in
            ["$X", "*.json", ".isdlc/*.md", ".isdlc/tmp*", "$ROOT/.isdlc/tasks.md", ".isdlc/x/$N", "`x`"]
        {
            assert!(!may_be_state(&format!("`{source}`")), "{source}");
        }
    }
}
