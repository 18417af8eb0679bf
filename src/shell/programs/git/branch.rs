//! The branch on which a commit lands, as far as the line itself says it.
//!
//! Behind `git switch f &&` the repository is on `f`. Behind anything else the switch may have
//! failed or happened in a subshell, so the branch is unknown from then on; it is also unknown
//! in any other directory, because that may or may not be the same repository.

use std::path::{Path, PathBuf};

use super::super::Found;
use super::super::options::{Item, Name, Options, STRICT, Walk};
use super::options;
use crate::effect::{Branch, Effect};
use crate::shell::LONGEST_PATH;
use crate::shell::word::Word;

/// Where the line has taken its repositories so far.
#[derive(Clone, Default)]
pub(in crate::shell) struct Branches {
    state: State,
    /// A command of this line itself has moved one.
    has_moved: bool,
    /// The environment names another repository.
    pub(in crate::shell) is_elsewhere: bool,
}

#[derive(Clone, Default)]
enum State {
    #[default]
    Untouched,
    On {
        repository: PathBuf,
        branch: String,
    },
    Lost,
}

impl Branches {
    /// For a line that runs in the middle of others: `moved` if one of those has switched.
    pub(in crate::shell) fn new(moved: bool) -> Self {
        Self { state: if moved { State::Lost } else { State::Untouched }, ..Self::default() }
    }

    pub(in crate::shell) fn have_moved(&self) -> bool {
        self.has_moved
    }

    /// For the commands of a subshell: what is known outside holds inside.
    pub(in crate::shell) fn inside(&self) -> Self {
        Self { has_moved: false, ..self.clone() }
    }

    /// After a subshell: what is known outside holds again, unless the subshell has switched.
    pub(in crate::shell) fn after(self, inside: &Self) -> Self {
        if inside.has_moved { Self { state: State::Lost, has_moved: true, ..self } } else { self }
    }

    /// What came before may have failed, or may not have happened here.
    pub(in crate::shell) fn doubt(&mut self) {
        if self.has_moved {
            self.state = State::Lost;
        }
    }

    /// Some words of a command of git are not known.
    pub(in crate::shell) fn lose(&mut self) {
        self.moved(State::Lost);
    }

    fn moved(&mut self, state: State) {
        self.state = state;
        self.has_moved = true;
    }

    pub(super) fn known(&self, here: Option<&Path>) -> Branch {
        match &self.state {
            State::Untouched => Branch::Current,
            State::On { repository, branch } if here == Some(repository) => Branch::Named(branch.clone()),
            _ => Branch::Unknown,
        }
    }

    /// `git switch` and `git checkout`.
    pub(super) fn follow(&mut self, checkout: bool, words: &[Word], repository: Option<PathBuf>) {
        match (target(checkout, words), repository) {
            (Target::Stays, _) => {}
            // A branch is a file; no system has one with a longer name.
            (Target::Branch(branch), Some(repository)) if branch.len() <= LONGEST_PATH => {
                self.moved(State::On { repository, branch });
            }
            _ => self.lose(),
        }
    }
}

enum Target {
    /// Only files are restored.
    Stays,
    Branch(String),
    Unknown,
}

fn target(checkout: bool, words: &[Word]) -> Target {
    let letters = if checkout { "b:B:dfmlpqt23" } else { "c:C:dfmqt" };
    let options = Options { letters, longs: options::SWITCH, ..STRICT };
    let mut found = Found::default();
    for item in Walk::new(&options, words) {
        match item {
            Item::Operand(word) => found.operands.push(word),
            Item::Dashes => found.before_dashes = Some(found.operands.len()),
            Item::Known { name, value, .. } => found.options.push((name, value)),
            Item::Strange(_) | Item::Doubtful(_) => return Target::Unknown,
        }
    }
    let creates = |(name, _): &&(Name, _)| {
        let letters: &[char] = if checkout { &['b', 'B'] } else { &['c', 'C'] };
        matches!(name, Name::Letter(letter) if letters.contains(letter))
            || matches!(name, Name::Long("--create" | "--force-create" | "--orphan"))
    };
    if let Some((_, value)) = found.options.iter().find(creates) {
        return match value.as_ref().and_then(Word::known) {
            Some(name) => Target::Branch(name.to_owned()),
            None => Target::Unknown,
        };
    }
    if found.has('d', "--detach") || found.has('t', "--track") {
        return Target::Unknown;
    }
    let only_files = [('p', "--patch"), ('2', "--ours"), ('3', "--theirs"), ('\0', "--pathspec-from-file")];
    if checkout && only_files.iter().any(|(letter, long)| found.has(*letter, long)) {
        return Target::Stays;
    }
    let behind = found.before_dashes.map_or(0, |before| found.operands.len() - before);
    match &*found.operands {
        [] => Target::Stays,
        _ if checkout && behind > 0 => Target::Stays,
        [_, _, ..] if checkout => Target::Stays,
        [name] => match name.known() {
            Some(text) if checkout && (text == "." || text.ends_with('/')) => Target::Stays,
            Some(text) if is_branch(text, checkout && found.before_dashes.is_none()) => {
                Target::Branch(text.to_owned())
            }
            _ => Target::Unknown,
        },
        _ => Target::Unknown,
    }
}

/// Whether a name is that of a branch. To `checkout` it may also be a file's.
fn is_branch(name: &str, may_be_file: bool) -> bool {
    let is_hash = name.len() >= 7 && name.bytes().all(|c| c.is_ascii_hexdigit());
    let is_elsewhere = ["origin/", "upstream/", "refs/", "remotes/", "tags/", "./", "../", "/"]
        .iter()
        .any(|start| name.starts_with(start));
    let is_no_name = name.is_empty()
        || matches!(name, "-" | "HEAD" | "FETCH_HEAD" | "ORIG_HEAD")
        || name.contains(['~', '^', ':', '@', '*', '?', '[']);
    let is_file = may_be_file && name.contains('.');
    !(is_no_name || is_file || is_hash || is_elsewhere)
}

/// Whether a command of git can leave the repository on another branch, or rename the one it is on.
pub(super) fn may_move(command: &str, words: &[Word]) -> bool {
    let has =
        |names: &[&str]| words.iter().any(|word| names.iter().any(|name| word.start().starts_with(name)));
    match command {
        "symbolic-ref" | "bisect" | "rebase" => !words.is_empty(),
        "branch" => has(&["--m"]) || words.iter().any(|word| word.has_letter(&['m', 'M'])),
        "stash" => has(&["branch"]),
        _ => false,
    }
}

pub(super) fn is_dry_run(words: &[Word]) -> bool {
    let options = Options { letters: "qvsaeiopnzF:m:c:C:t:S::u::", longs: options::COMMIT, ..STRICT };
    let mut dry = false;
    for item in Walk::new(&options, words) {
        match item {
            Item::Known { name: Name::Long("--dry-run"), .. } => dry = true,
            Item::Known { name: Name::Not("--dry-run"), .. } => dry = false,
            // What is not known may take it back, or take it for a value.
            Item::Strange(_) | Item::Doubtful(_) => return false,
            _ => {}
        }
    }
    dry
}

/// A line in the middle of these has switched: where their commits land is not known any more.
pub(in crate::shell) fn forget_branches(effects: &mut [Effect]) {
    for effect in effects {
        if let Effect::Commit { branch, .. } = effect {
            *branch = Branch::Unknown;
        }
    }
}
