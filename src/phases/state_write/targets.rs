//! Which state files an event changes, whichever tool changes them.
//!
//! A state file is known by its name, as it is given and where it really lies, and by its identity,
//! because a link under another name leads to the same file.

use std::cell::LazyCell;
use std::path::{Path, PathBuf};

use crate::effect::git::{TreeChange, TreeChangeKind};
use crate::effect::{Content, Effect};
use crate::event::{Event, Tool};
use crate::phases::ground::{FOLDER, Ground};
use crate::workspace::work_tree::WorkTrees;
use crate::workspace::{Workspace, is_within};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deed {
    /// The call carries the new content.
    Written,
    /// The new content cannot be known beforehand.
    Unforeseen,
    Deleted,
}

/// A state file that an event changes.
#[derive(Debug)]
pub struct Target {
    /// As it is named.
    pub named: PathBuf,
    /// Where it really lies.
    pub real: PathBuf,
    pub deed: Deed,
}

/// Each file once for each deed.
pub fn targets(event: &Event, workspace: &Workspace) -> Vec<Target> {
    let finder = Finder { workspace, own: LazyCell::new(Box::new(|| own(event, workspace))) };
    let is_reader = event.call().is_some_and(|call| is_reader(&call.native_tool, &call.tool));
    let mut trees = WorkTrees::new(workspace);
    let mut found: Vec<Target> = Vec::new();
    for effect in event.effects() {
        let new = match effect {
            Effect::Write { path, content: Content::InCall } => finder.named(path, Deed::Written),
            Effect::Write { path, .. } => finder.named(path, Deed::Unforeseen),
            Effect::Place { names, to, tree } => finder.placed(names, to, *tree),
            Effect::Delete { path } => finder.deleted(path),
            // A workflow goes on while the whole work tree is put aside or set back.
            Effect::ChangeTree(change) if !change.paths.is_empty() => finder.changed_by(change, &mut trees),
            Effect::Touch { path } if !is_reader => finder.touched(path),
            Effect::Somewhere { target, .. } if may_be_state(target) => finder.all(Deed::Unforeseen),
            Effect::Run { program, .. } if is_interpreter(program) && code_writes_state(event) => {
                finder.all(Deed::Unforeseen)
            }
            _ => Vec::new(),
        };
        for target in new {
            if !found.iter().any(|known| known.real == target.real && known.deed == target.deed) {
                found.push(target);
            }
        }
    }
    found
}

/// The state files of the project, as they are named.
fn own(event: &Event, workspace: &Workspace) -> Vec<PathBuf> {
    let Some(ground) = Ground::of(event, workspace) else { return Vec::new() };
    let folder = ground.root().join(FOLDER);
    let projects = folder.join("projects");
    let members = workspace.directories(&projects).into_iter().map(|(name, _)| projects.join(name));
    std::iter::once(folder).chain(members).map(|directory| directory.join("state.json")).collect()
}

/// Whether a path names a state file: `.isdlc/state.json`, `.isdlc/projects/NAME/state.json`.
fn is_state(path: &Path) -> bool {
    let Some(text) = path.to_str() else { return false };
    let mut parts = text.rsplit(['/', '\\']);
    if parts.next() != Some("state.json") {
        return false;
    }
    match parts.next() {
        Some(FOLDER) => true,
        Some(member) => {
            !member.is_empty() && parts.next() == Some("projects") && parts.next() == Some(FOLDER)
        }
        None => false,
    }
}

/// Whether a target of which only a part is known may be a state file: `$ROOT/.isdlc/state.json`,
/// `.isdlc/*.json`.
fn may_be_state(target: &str) -> bool {
    let source = target.split_once('`').and_then(|(_, rest)| rest.rsplit_once('`'));
    let source = source.map_or(target, |(source, _)| source).replace(['"', '\''], "");
    let Some((_, name)) = source.rsplit_once(&format!("{FOLDER}/")) else { return false };
    let of_member = name.strip_prefix("projects/");
    let name = of_member.map_or(name, |rest| rest.split_once('/').map_or(rest, |(_, name)| name));
    may_match(name, "state.json")
}

/// Whether a pattern, or a text with variables, may become this name, by its first and its last letters.
fn may_match(pattern: &str, name: &str) -> bool {
    let is_open = |c: char| matches!(c, '*' | '?' | '[' | '{' | '$' | '`');
    let Some(start) = pattern.find(is_open) else { return pattern == name };
    let end = match pattern.rfind(|c: char| is_open(c) || matches!(c, ']' | '}' | ')')) {
        // How long the name of a variable is does not matter here.
        Some(at) if !pattern[at..].starts_with(['$', '`']) => &pattern[at + 1..],
        _ => "",
    };
    name.starts_with(&pattern[..start]) && name.ends_with(end)
}

/// Whether a program runs code that a command line can carry.
fn is_interpreter(program: &str) -> bool {
    const PROGRAMS: &[&str] = &["python", "node", "bun", "deno", "ruby", "perl", "php"];
    let name = program.rsplit('/').next().unwrap_or(program);
    PROGRAMS.contains(&name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.'))
}

/// In code: calls that write, copy, move or delete files, or start other programs.
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

/// Whether the command line itself carries code that names a state file and opens files to write. Code that
/// only reads is common, and code of another file is not looked at.
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
    code.contains(FOLDER)
        && code.contains("state.json")
        && (OPENS.iter().any(opens)
            || CHANGING_CALLS.iter().any(|word| code.contains(word))
            || code.split("open").skip(1).any(redirects))
}

/// Whether a tool that is not known says by its name that it reads, and nothing else.
fn is_reader(name: &str, tool: &Tool) -> bool {
    const READS: &[&str] = &["read", "get", "list", "search", "view", "stat", "find", "show", "grep"];
    const WRITES: &[&str] = &["write", "replace", "edit", "set", "update", "put", "patch", "save", "move"];
    let own_name = name.rsplit("__").next().unwrap_or(name);
    let first = own_name.split(|c: char| !c.is_ascii_lowercase()).next().unwrap_or_default();
    let own_name = own_name.to_lowercase();
    let may_write = || WRITES.iter().any(|word| own_name.contains(word));
    matches!(tool, Tool::Other { deletes: false, .. }) && READS.contains(&first) && !may_write()
}

struct Finder<'a> {
    workspace: &'a Workspace,
    own: LazyCell<Vec<PathBuf>, Box<dyn FnOnce() -> Vec<PathBuf> + 'a>>,
}

impl Finder<'_> {
    fn named(&self, path: &Path, deed: Deed) -> Vec<Target> {
        self.real(path).map(|real| Target { named: path.to_owned(), real, deed }).into_iter().collect()
    }

    /// Where the state file that a path means really lies; `None`: it means another file.
    fn real(&self, path: &Path) -> Option<PathBuf> {
        let real = self.workspace.resolve(path);
        if is_state(path) || is_state(&real) {
            let text = path.to_str().filter(|text| text.contains('\\') && !self.workspace.exists(&real));
            return Some(
                text.map_or(real, |text| self.workspace.resolve(Path::new(&text.replace('\\', "/")))),
            );
        }
        let identity = self.workspace.identity(&real)?;
        let is_own = self.own.iter().any(|own| self.workspace.identity(own) == Some(identity));
        is_own.then_some(real)
    }

    /// Files that are copied or moved to a place: into it, if it is a directory.
    fn placed(&self, names: &[PathBuf], to: &Path, tree: bool) -> Vec<Target> {
        let into = self.workspace.is_directory(to);
        let landings =
            if into { names.iter().map(|name| to.join(name)).collect() } else { vec![to.to_owned()] };
        let mut found = Vec::new();
        // `cp -r x/.isdlc/. .isdlc` lays the one over the other, and does not put it inside.
        if tree && into && names.iter().any(|name| to.file_name() == Some(name.as_os_str())) {
            found.extend(self.below(&self.workspace.resolve(to), Deed::Unforeseen));
        }
        for landing in landings {
            found.extend(self.named(&landing, Deed::Unforeseen));
            if tree {
                found.extend(self.below(&self.workspace.resolve(&landing), Deed::Unforeseen));
            }
        }
        found
    }

    /// What is taken away is a name: a link, not what it leads to.
    fn deleted(&self, path: &Path) -> Vec<Target> {
        let named = self.workspace.resolve_parent(path);
        if is_state(&named) || is_state(path) {
            let real = self.workspace.resolve(path);
            return vec![Target { named: path.to_owned(), real, deed: Deed::Deleted }];
        }
        self.below(&named, Deed::Deleted)
    }

    /// The state files below a directory that goes, or that another one is laid over: those that lie
    /// there, and those that are reached through a link that lies there.
    fn below(&self, directory: &Path, deed: Deed) -> Vec<Target> {
        let mut found = self.all(deed);
        found.retain(|target| is_within(&target.real, directory) || is_within(&target.named, directory));
        found
    }

    /// The state files of the project that are there.
    fn all(&self, deed: Deed) -> Vec<Target> {
        let target = |own: &PathBuf| Target { named: own.clone(), real: self.workspace.resolve(own), deed };
        let targets = self.own.iter().map(target);
        targets.filter(|target| self.workspace.exists(&target.real)).collect()
    }

    /// The state files that a command of git changes.
    fn changed_by(&self, change: &TreeChange, trees: &mut WorkTrees) -> Vec<Target> {
        let deletes = matches!(change.kind, TreeChangeKind::Remove | TreeChangeKind::Clean { .. });
        let mut found = self.all(if deletes { Deed::Deleted } else { Deed::Unforeseen });
        found.retain(|target| trees.changes(change, &target.named));
        found
    }

    fn touched(&self, path: &Path) -> Vec<Target> {
        // Most strings that an unknown tool is given are no paths at all.
        if !is_state(path) && self.workspace.leads_nowhere(path) {
            return Vec::new();
        }
        self.named(path, Deed::Unforeseen)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_file_is_known_by_its_name() {
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
    fn a_target_that_is_known_in_part_may_be_a_state_file() {
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

    #[test]
    fn an_unknown_tool_reads_if_its_name_says_so() {
        let other = |deletes| Tool::Other { paths: Vec::new(), commands: Vec::new(), deletes };
        for name in ["mcp__files__read_text_file", "mcp__x__getFile", "list"] {
            assert!(is_reader(name, &other(false)), "{name}");
        }
        for name in [
            "mcp__files__do",
            "mcp__read__write_file",
            "search_replace",
            "readOrWrite",
            "readjust",
            "Read",
            "mcp__x__",
            "",
        ] {
            assert!(!is_reader(name, &other(false)), "{name}");
        }
        assert!(!is_reader("mcp__x__read", &other(true)));
    }
}
