//! The expression of `find`: for which paths it reaches the action that deletes.
//!
//! A test of the name, the path or the type has a clear answer. One of the age, size or owner may have either.

use crate::prelude::*;
use std::path::Path;

use super::find_deletion::is_deleting_program;
use super::scene::Scene;
use provost_core::rules::path_pattern::matches_name;

/// More nested parentheses are not followed: every path may be deleted.
const DEEPEST: usize = 8;
/// Actions and tests with one argument whose answer is not known, or which answer yes.
const WITH_ARGUMENT: &[&str] = &[
    "-amin",
    "-anewer",
    "-atime",
    "-cmin",
    "-cnewer",
    "-ctime",
    "-fls",
    "-fprint",
    "-fprint0",
    "-fstype",
    "-gid",
    "-group",
    "-inum",
    "-iregex",
    "-links",
    "-lname",
    "-mmin",
    "-mtime",
    "-newer",
    "-perm",
    "-printf",
    "-regex",
    "-regextype",
    "-samefile",
    "-uid",
    "-used",
    "-user",
];

/// Whether something holds for a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Answer {
    No,
    Perhaps,
    Yes,
}

impl Answer {
    fn from_bool(holds: bool) -> Self {
        if holds { Self::Yes } else { Self::No }
    }

    fn negated(self) -> Self {
        match self {
            Self::No => Self::Yes,
            Self::Perhaps => Self::Perhaps,
            Self::Yes => Self::No,
        }
    }
}

/// What happens at one path.
#[derive(Clone, Copy)]
struct Visit {
    result: Answer,
    deletes: Answer,
    prunes: Answer,
}

/// The words of an expression, at one path.
struct Evaluation<'e, 's> {
    words: &'e [String],
    at: usize,
    depth: usize,
    start: &'e Path,
    path: &'e Path,
    scene: &'e Scene<'s>,
    /// Another command deletes what is found.
    is_fed: bool,
}

/// Whether these words of `find` have an action that deletes.
pub(super) fn has_deletion(words: &[String]) -> bool {
    let mut at = 0;
    while let Some(word) = words.get(at) {
        at += 1;
        if word == "-delete" {
            return true;
        }
        if is_exec(word) {
            let command = take_command(&words[at..]);
            if runs_deletion(command) {
                return true;
            }
            at += command.len();
        }
    }
    false
}

/// Whether an expression deletes a path below its starting point. `is_fed`: another command deletes what it prints.
pub(super) fn deletes(words: &[String], start: &Path, path: &Path, is_fed: bool, scene: &Scene<'_>) -> bool {
    let visit = |path: &Path| {
        let depth = path.components().count().saturating_sub(start.components().count());
        let limit = |name: &str| {
            let at = words.iter().position(|word| word == name)?;
            words.get(at + 1)?.parse::<usize>().ok()
        };
        let is_in_range = limit("-maxdepth").is_none_or(|most| depth <= most)
            && limit("-mindepth").is_none_or(|least| depth >= least);
        let mut evaluation = Evaluation { words, at: 0, depth: 0, start, path, scene, is_fed };
        let found = evaluation.read_alternatives();
        if is_in_range { found } else { Visit { deletes: Answer::No, ..found } }
    };
    // `-delete` visits what a directory holds first, so that `-prune` has no effect.
    let can_prune = !words.iter().any(|word| matches!(&**word, "-delete" | "-depth" | "-d"));
    let above = path.ancestors().skip(1).take_while(|above| above.starts_with(start));
    let is_pruned = can_prune && above.into_iter().any(|above| visit(above).prunes == Answer::Yes);
    !is_pruned && visit(path).deletes > Answer::No
}

impl Evaluation<'_, '_> {
    fn peek(&self) -> Option<&str> {
        self.words.get(self.at).map(String::as_str)
    }

    /// `A -o B`: B is evaluated where A does not hold.
    fn read_alternatives(&mut self) -> Visit {
        let mut visit = self.read_sequence();
        while matches!(self.peek(), Some("-o" | "-or" | ",")) {
            let is_list = self.peek() == Some(",");
            self.at += 1;
            let next = self.read_sequence();
            let runs = if is_list { Answer::Yes } else { visit.result.negated() };
            visit = Visit {
                result: if is_list { next.result } else { visit.result.max(next.result) },
                deletes: visit.deletes.max(next.deletes.min(runs)),
                prunes: visit.prunes.max(next.prunes.min(runs)),
            };
        }
        visit
    }

    /// `A B`, `A -a B`: B is evaluated where A holds.
    fn read_sequence(&mut self) -> Visit {
        let mut visit = Visit { result: Answer::Yes, deletes: Answer::No, prunes: Answer::No };
        let mut has_action = false;
        while let Some(word) = self.peek() {
            if matches!(word, "-o" | "-or" | "," | ")") {
                break;
            }
            has_action |= matches!(word, "-prune" | "-print" | "-print0" | "-printf" | "-quit");
            let next = self.read_primary();
            visit = Visit {
                deletes: visit.deletes.max(next.deletes.min(visit.result)),
                prunes: visit.prunes.max(next.prunes.min(visit.result)),
                result: visit.result.min(next.result),
            };
        }
        if self.is_fed && self.depth == 0 && !has_action {
            visit.deletes = visit.deletes.max(visit.result);
        }
        visit
    }

    fn read_primary(&mut self) -> Visit {
        let mut is_negated = false;
        while matches!(self.peek(), Some("!" | "-not" | "-a" | "-and")) {
            is_negated ^= matches!(self.peek(), Some("!" | "-not"));
            self.at += 1;
        }
        let word = self.peek().unwrap_or_default().to_owned();
        self.at += 1;
        let mut visit = Visit { result: Answer::Yes, deletes: Answer::No, prunes: Answer::No };
        match &*word {
            "(" if self.depth == DEEPEST => {
                self.at = self.words.len();
                return Visit { result: Answer::Perhaps, deletes: Answer::Perhaps, prunes: Answer::No };
            }
            "(" => {
                self.depth += 1;
                visit = self.read_alternatives();
                self.depth -= 1;
                self.at += usize::from(self.peek() == Some(")"));
            }
            "-delete" => visit.deletes = Answer::Yes,
            "-print" | "-print0" if self.is_fed => visit.deletes = Answer::Yes,
            "-printf" if self.is_fed => {
                self.at += 1;
                visit.deletes = Answer::Yes;
            }
            "-prune" => visit.prunes = Answer::Yes,
            action if is_exec(action) => {
                let command = take_command(&self.words[self.at.min(self.words.len())..]);
                let is_deletion = runs_deletion(command);
                self.at += command.len() + 1;
                visit.deletes = Answer::from_bool(is_deletion);
                // `-exec grep -q x {} \;` is a test.
                visit.result = if is_deletion { Answer::Yes } else { Answer::Perhaps };
            }
            _ => visit.result = self.read_test(&word),
        }
        if is_negated {
            visit.result = visit.result.negated();
        }
        visit
    }

    /// The answer of a test, whose argument is the next word.
    fn read_test(&mut self, test: &str) -> Answer {
        let next = self.words.get(self.at).cloned().unwrap_or_default();
        let name = self.path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let is_directory = self.scene.is_directory(self.path);
        let (takes_argument, answer) = match test {
            "-name" => (true, Answer::from_bool(matches_name(&next, &name))),
            "-iname" => (true, Answer::from_bool(matches_name(&next.to_lowercase(), &name.to_lowercase()))),
            "-path" | "-wholename" | "-ipath" | "-iwholename" => (true, self.matches_path(&next)),
            "-type" | "-xtype" => (true, Answer::from_bool(next.contains('d') == is_directory)),
            "-size" if matches!(&*next, "0" | "0c" | "0k" | "0b") => (true, self.is_empty(is_directory)),
            "-size" => (true, Answer::Perhaps),
            "-empty" => (false, self.is_empty(is_directory)),
            "-maxdepth" | "-mindepth" => (true, Answer::Yes),
            "-false" => (false, Answer::No),
            "-executable" | "-readable" | "-writable" | "-nouser" | "-nogroup" => (false, Answer::Perhaps),
            "-fprintf" => {
                self.at += 1;
                (true, Answer::Yes)
            }
            _ if WITH_ARGUMENT.contains(&test) || test.starts_with("-newer") => (true, Answer::Perhaps),
            _ => (false, Answer::Yes),
        };
        self.at += usize::from(takes_argument);
        answer
    }

    /// The path as `find` prints it begins with its starting point, which is most often `.`.
    fn matches_path(&self, pattern: &str) -> Answer {
        let Ok(below) = self.path.strip_prefix(self.start) else { return Answer::Perhaps };
        let below = below.to_string_lossy();
        let matches = |text: &str| matches_name(pattern, text);
        let is_match =
            matches(&format!("./{below}")) || matches(&below) || matches(&self.path.to_string_lossy());
        Answer::from_bool(is_match)
    }

    fn is_empty(&self, is_directory: bool) -> Answer {
        let workspace = self.scene.workspace;
        Answer::from_bool(if is_directory {
            workspace.list_files_below(self.path).is_some_and(|files| files.is_empty())
        } else {
            !workspace.has_content(self.path)
        })
    }
}

fn is_exec(word: &str) -> bool {
    matches!(word, "-exec" | "-execdir" | "-ok" | "-okdir")
}

/// The words up to the end of the command of `-exec`.
fn take_command(words: &[String]) -> &[String] {
    let end = words.iter().position(|word| word == ";" || word == "+").unwrap_or(words.len());
    &words[..end]
}

/// Whether the command of `-exec` deletes: `rm`, `sudo rm`, `sh -c 'rm "$1"'`.
fn runs_deletion(command: &[String]) -> bool {
    let name = |word: &String| word.rsplit('/').next().unwrap_or(word).to_owned();
    let Some(first) = command.first().map(name) else { return false };
    let after_wrapper = || command.iter().skip(1).find(|word| !word.starts_with('-') && !word.contains('='));
    match &*first {
        "sudo" | "doas" | "env" | "command" | "nice" | "busybox" | "time" => {
            after_wrapper().map(name).is_some_and(|name| is_deleting_program(&name))
        }
        "sh" | "bash" | "dash" | "zsh" | "ksh" => command.iter().skip(1).any(|text| {
            text.split(|c: char| c.is_whitespace() || ";&|(".contains(c)).any(is_deleting_program)
        }),
        name => is_deleting_program(name),
    }
}
