//! The paths that a command uses, by its effects and by the disk.

use crate::prelude::*;
use std::cell::RefCell;
use std::path::{Path, PathBuf};

use super::find_deletion::{self, SearchedDirectory};
use super::paths::PathUse;
use super::placed_paths::collect_placed;
use super::scene::{CommandEffects, Scene};
use crate::patched_files::list_patched_files;
use crate::shell_words::{expand_braces, expand_prefix, read_written_word};
use provost_core::effect::git::{TreeChange, TreeChangeKind};
use provost_core::effect::patch::PatchCommand;
use provost_core::effect::{Effect, FileChange, ReadScope, WriteContent};
use provost_core::rules::RuleText;
use provost_core::rules::path_pattern::{PathPatterns, matches_name};
use provost_core::tool::Tool;
use provost_core::workspace::work_tree::WorkTrees;

/// Programs that look at the names of files, and not at what is in them.
const NAMING_PROGRAMS: &[&str] =
    &["ls", "exa", "eza", "lsd", "tree", "stat", "du", "df", "find", "fd", "realpath", "readlink"];
/// Git commands that read the files that they name.
const READING_GIT: &[&str] = &[
    "add",
    "am",
    "annotate",
    "apply",
    "archive",
    "blame",
    "commit",
    "diff",
    "grep",
    "hash-object",
    "show",
    "stage",
];

/// A path that a command uses.
pub(crate) struct UsedPath<'a> {
    pub(crate) path: PathBuf,
    pub(crate) contents: Contents<'a>,
    /// The content, if the path is written.
    pub(crate) content: Option<&'a WriteContent>,
    /// Where the new lines come from, if the effect does not say it.
    pub(crate) source: Option<Source>,
    pub(crate) verb: &'static str,
}

/// Where the new lines of a file come from.
pub(crate) enum Source {
    /// This file is copied there.
    File(PathBuf),
    /// A patch adds these lines.
    Patch(String),
}

/// What is used below a path.
pub(crate) enum Contents<'a> {
    Nothing,
    All,
    /// Files whose names are not known.
    Unknown,
    /// The files that exist and fit. `counts_any`: a pattern for any file in the directory matches too.
    Some {
        fits: Box<dyn Fn(&Path) -> bool + 'a>,
        counts_any: bool,
    },
}

/// Collects the paths that are used in one way.
pub(crate) struct UsedPaths<'a, 's> {
    pub(crate) paths: Vec<UsedPath<'a>>,
    /// A path that cannot be known is used.
    pub(crate) is_unknown: bool,
    pub(crate) scene: &'a Scene<'s>,
    path_use: PathUse,
}

impl<'a, 's> UsedPaths<'a, 's> {
    pub(crate) fn new(path_use: PathUse, scene: &'a Scene<'s>) -> Self {
        Self { paths: Vec::new(), is_unknown: false, scene, path_use }
    }

    fn reads(&self) -> bool {
        !self.writes() && !self.deletes()
    }

    fn writes(&self) -> bool {
        matches!(self.path_use, PathUse::Write | PathUse::Change)
    }

    fn deletes(&self) -> bool {
        matches!(self.path_use, PathUse::Delete | PathUse::Change)
    }

    /// Adds the paths that a command uses. `patterns`: those that an example is about.
    pub(crate) fn collect(&mut self, command: &'a CommandEffects<'_>, patterns: &[RuleText]) {
        if self.reads() && only_names_files(command) {
            return;
        }
        for effect in &command.effects {
            // `git worktree remove` refuses to lose anything, so it is no deletion for a rule.
            if !matches!(effect, Effect::Delete { .. }) || !removes_work_tree(command) {
                self.collect_effect(effect, command, patterns);
            }
        }
        if self.deletes() {
            for searched in find_deletion::list_searched(command, self.scene) {
                self.collect_searched(searched);
            }
        }
    }

    /// Adds what `find` deletes below a directory.
    fn collect_searched(&mut self, searched: SearchedDirectory) {
        let (scene, path) = (self.scene, self.scene.resolve(&searched.path));
        // A search of the disk does not enter repositories.
        let own = [".git/HEAD", ".git/config"].map(|own| path.join(own));
        for own in own.into_iter().filter(|own| scene.exists(own) && searched.may_find(own, scene)) {
            self.add(own, Contents::Nothing, None, "deletes");
        }
        if searched.is_whole {
            return self.add(path, Contents::All, None, "deletes");
        }
        let fits = move |path: &Path| searched.may_find(path, scene);
        self.add(path, Contents::Some { fits: Box::new(fits), counts_any: true }, None, "deletes");
    }

    pub(crate) fn add(
        &mut self,
        path: PathBuf,
        contents: Contents<'a>,
        content: Option<&'a WriteContent>,
        verb: &'static str,
    ) {
        self.paths.push(UsedPath { path, contents, content, source: None, verb });
    }

    fn collect_effect(&mut self, effect: &'a Effect, command: &CommandEffects<'_>, patterns: &[RuleText]) {
        let (scene, tree) =
            (self.scene, |is_tree: bool| if is_tree { Contents::All } else { Contents::Nothing });
        match effect {
            Effect::Write { path, content } if self.writes() => {
                self.add(scene.resolve(path), Contents::Nothing, Some(content), "writes");
            }
            Effect::Place { names, to, tree } if self.writes() => {
                collect_placed(names, to, *tree, command, self);
            }
            Effect::Delete { path } => {
                if self.deletes() {
                    self.add(scene.resolve_deleted(path), Contents::All, None, "deletes");
                } else if self.writes() && is_moved_by_tool(scene) {
                    self.add(scene.resolve(path), Contents::All, None, "writes");
                }
            }
            Effect::Read { path, scope } if self.reads() => {
                // A search for a word is not a way to send a directory away.
                self.add(scene.resolve(path), tree(*scope == ReadScope::Tree), None, "reads");
            }
            Effect::Touch { path }
                if (self.reads() || self.writes() && !scene.only_reads()) && may_be_path(path, scene) =>
            {
                self.add(scene.resolve(path), Contents::Nothing, None, "names");
            }
            Effect::UnknownRead { target, places, scope } if self.reads() => {
                let is_tree = *scope == ReadScope::Tree;
                self.collect_words(target, places, ("reads", is_tree), patterns);
            }
            Effect::UnknownTarget { target, places, change: FileChange::Delete } if self.deletes() => {
                self.collect_words(target, places, ("deletes", true), patterns);
            }
            Effect::UnknownTarget { target, places, change: FileChange::Write | FileChange::Place }
                if self.writes() =>
            {
                self.collect_words(target, places, ("writes", false), patterns);
            }
            Effect::ChangeBelow { directory, change: FileChange::Delete } if self.deletes() => {
                let contents = Contents::Some { fits: Box::new(|_| true), counts_any: true };
                self.add(scene.resolve(directory), contents, None, "deletes");
            }
            Effect::ChangeBelow { directory, change: FileChange::Write | FileChange::Place }
                if self.writes() =>
            {
                self.add(scene.resolve(directory), Contents::Unknown, None, "writes");
            }
            Effect::ChangeTree(change) => self.collect_tree(change),
            Effect::ApplyPatch(patch) if self.writes() => self.collect_patch(patch, command.number),
            Effect::TooLarge { .. } => self.is_unknown = true,
            Effect::Unparsed { what, command } => {
                // A part that is not understood is not one that cannot be known.
                let is_word = what.starts_with('`') && what.ends_with('`');
                self.is_unknown |= command.is_some() || is_word && what.contains('$');
            }
            _ => {}
        }
    }

    /// Adds the paths of a word that only a shell can expand.
    fn collect_words(
        &mut self,
        target: &str,
        places: &[PathBuf],
        (verb, has_contents): (&'static str, bool),
        patterns: &[RuleText],
    ) {
        let scene = self.scene;
        let Some(targets) = expand_words(target, places, scene) else {
            self.is_unknown = true;
            return;
        };
        let contents = || if has_contents { Contents::All } else { Contents::Nothing };
        let resolve =
            |path: &Path| if verb == "deletes" { scene.resolve_deleted(path) } else { scene.resolve(path) };
        for target in targets {
            let is_all = target.file_name().is_some_and(|name| name == "*");
            let project = &scene.workspace.project;
            // `rm -rf *` in the root deletes the project. Where `cd` may have failed, that is not what is meant.
            if is_all && verb == "deletes" && places.len() == 1 && target.parent() == Some(project) {
                self.add(project.clone(), Contents::All, None, verb);
            }
            let known: PathBuf =
                target.components().take_while(|part| !is_wildcard(part.as_os_str())).collect();
            if known == target {
                self.add(resolve(&known), contents(), None, verb);
            } else if !scene.is_example {
                if verb != "reads" {
                    // A file in the last directory that is known, whether one is there or not.
                    self.add(scene.resolve(&known).join("*"), Contents::Nothing, None, verb);
                }
                for path in scene.workspace.expand_path_pattern(&target) {
                    self.add(resolve(&path), contents(), None, verb);
                }
            } else {
                self.collect_example_names(&target, scene.resolve(&known), verb, patterns);
            }
        }
    }

    /// Adds the directories of deleted files whose names are unknown: `rm -rf ~/$X` deletes something in the home.
    pub(crate) fn collect_known_directories(&mut self, command: &CommandEffects<'_>) {
        if !self.deletes() {
            return;
        }
        for effect in &command.effects {
            let Effect::UnknownTarget { target, places, change: FileChange::Delete } = effect else {
                continue;
            };
            let Some(word) = read_written_word(target, self.scene.workspace) else { continue };
            let known = word.find(['$', '`']).map_or("", |unknown| &word[..unknown]);
            let Some((directory, _)) = known.rsplit_once('/') else { continue };
            let root = Path::new("/").to_owned();
            let start = if known.starts_with('/') {
                Some(&root)
            } else {
                places.first().filter(|_| places.len() == 1)
            };
            if let Some(start) = start {
                let path = self.scene.resolve(&start.join(directory)).join("*");
                self.add(path, Contents::Nothing, None, "deletes");
            }
        }
    }

    /// Adds the files of a pattern in an example, where every file exists that the rule names.
    fn collect_example_names(
        &mut self,
        target: &Path,
        known: PathBuf,
        verb: &'static str,
        patterns: &[RuleText],
    ) {
        let wildcard = target.file_name().map(|name| name.to_string_lossy().into_owned());
        if let (Some(wildcard), Ok(patterns)) = (wildcard, PathPatterns::parse(patterns)) {
            for name in patterns.list_last_names() {
                let is_hidden = name.starts_with('.') && !wildcard.starts_with('.');
                if matches_name(&wildcard, name) && !is_hidden {
                    self.add(known.join(name), Contents::Nothing, None, verb);
                }
            }
        }
        let contents = Contents::Some { fits: Box::new(|_| true), counts_any: true };
        self.add(known, contents, None, verb);
    }

    /// Adds the files of a work tree that a git command changes or deletes.
    fn collect_tree(&mut self, change: &'a TreeChange) {
        let scene = self.scene;
        let is_write = matches!(change.kind, TreeChangeKind::Restore | TreeChangeKind::Replace);
        if !(if is_write { self.writes() } else { self.deletes() }) {
            return;
        }
        let verb = if is_write { "writes" } else { "deletes" };
        let mut trees = WorkTrees::new(scene.workspace);
        let listed_top = if scene.is_example { None } else { trees.find_listed_top(change) };
        let top = listed_top.as_ref().or(change.work_tree.as_ref()).unwrap_or(&change.directory);
        let trees = std::rc::Rc::new(RefCell::new(trees));
        let starts = change.paths.iter().map(|spec| {
            let base = if spec.from_top { top } else { &change.directory };
            let path = base.join(&spec.pattern);
            let parts = path.components();
            if spec.is_literal {
                path
            } else {
                parts.take_while(|part| !is_wildcard(part.as_os_str())).collect()
            }
        });
        let mut starts: Vec<PathBuf> = starts.collect();
        if starts.is_empty() {
            starts.push(top.clone());
        }
        for start in starts {
            let path = scene.resolve_deleted(&start);
            if listed_top.is_none() {
                // Git has no list of the files, so it may change all of them.
                self.add(path, Contents::All, None, verb);
                continue;
            }
            let trees = trees.clone();
            let fits = move |path: &Path| {
                !scene.is_directory(path) && trees.borrow_mut().is_changed_by(change, path)
            };
            self.add(path, Contents::Some { fits: Box::new(fits), counts_any: false }, None, verb);
        }
    }

    fn collect_patch(&mut self, patch: &PatchCommand, number: u32) {
        let scene = self.scene;
        let tool = scene.event.call().map(|call| &call.tool);
        let texts = scene.event.line().texts_for(number);
        let disk = Some(scene.workspace).filter(|_| !scene.is_example);
        let files = list_patched_files(patch, tool, texts, scene.event.effects(), disk).unwrap_or_default();
        self.is_unknown |= files.is_empty();
        for (file, added) in files {
            self.paths.push(UsedPath {
                path: scene.resolve(&file),
                contents: Contents::Nothing,
                content: None,
                source: Some(Source::Patch(added)),
                verb: "writes",
            });
        }
    }
}

/// The files that a command writes.
pub(crate) fn list_written(command: &CommandEffects<'_>, scene: &Scene<'_>) -> Vec<PathBuf> {
    let mut used = UsedPaths::new(PathUse::Write, scene);
    used.collect(command, &[]);
    used.paths.into_iter().map(|used| used.path).collect()
}

/// The paths of a word that only a shell can expand, in which wildcards are left; `None` if they cannot be known.
pub(crate) fn expand_words(target: &str, places: &[PathBuf], scene: &Scene<'_>) -> Option<Vec<PathBuf>> {
    let words = read_target(target, scene).and_then(|word| expand_braces(&word));
    let words = words.filter(|_| !places.is_empty())?;
    // The shell expands `~` after the braces.
    let words: Vec<_> = words.iter().map(|word| expand_prefix(word, scene.workspace)).collect();
    Some(places.iter().flat_map(|place| words.iter().map(move |word| place.join(&**word))).collect())
}

/// Whether a string of an unknown tool may name a file: it is given as it is, or there is a directory for it.
fn may_be_path(path: &Path, scene: &Scene<'_>) -> bool {
    let Some(Tool::Other { texts, .. }) = scene.event.call().map(|call| &call.tool) else { return true };
    let is_given = |text: &String| path == scene.event.cwd.join(text);
    let parent = path.parent().unwrap_or(path);
    let has_place = texts.iter().any(is_given) || scene.is_directory(parent);
    !path.to_string_lossy().contains('\n') && !scene.is_file(parent) && (scene.is_example || has_place)
}

/// Whether all programs of a command look at names only.
fn only_names_files(command: &CommandEffects<'_>) -> bool {
    let names_only = |(program, arguments): (&str, &[String])| match program {
        "git" => !arguments.iter().any(|word| READING_GIT.contains(&&**word)),
        program => NAMING_PROGRAMS.contains(&program),
    };
    command.programs().next().is_some() && command.programs().all(names_only)
}

fn removes_work_tree(command: &CommandEffects<'_>) -> bool {
    command.programs().any(|(program, arguments)| {
        let has_force = arguments.iter().any(|word| word == "--force" || word == "-f");
        program == "git" && !has_force && arguments.windows(2).any(|two| two == ["worktree", "remove"])
    })
}

/// Whether the call is one of an unknown tool whose name says that it moves files.
fn is_moved_by_tool(scene: &Scene<'_>) -> bool {
    scene.event.call().is_some_and(|call| {
        let name = call.native_tool.to_ascii_lowercase();
        matches!(call.tool, Tool::Other { .. }) && (name.contains("move") || name.contains("rename"))
    })
}

/// The word of an unknown target, if nothing but wildcards and braces makes it unknown.
fn read_target(target: &str, scene: &Scene<'_>) -> Option<String> {
    if matches!(target, "`$(pwd)`" | "`\"$(pwd)\"`" | "``pwd``" | "`\"`pwd`\"`") {
        return Some(".".into());
    }
    let project = scene.workspace.project.to_str();
    match target.trim_matches(['`', '"']) {
        "$(git rev-parse --show-toplevel)" => return project.map(str::to_owned),
        "$(git rev-parse --git-dir)" => return project.map(|project| format!("{project}/.git")),
        _ => {}
    }
    let word = read_written_word(target, scene.workspace)?;
    (word != "{}" && !word.contains(['$', '`'])).then_some(word)
}

fn is_wildcard(name: &std::ffi::OsStr) -> bool {
    name.to_string_lossy().contains(['*', '?', '['])
}
