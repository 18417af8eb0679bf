//! What a command line would do to files, as far as this version can see it.
//!
//! The seam is [`effects`]: text in, the same [`Effect`]s out that the file tools produce. What
//! stands behind it now sees redirections and plain file commands in lists, pipelines, groups,
//! substitutions and `sh -c` operands, without recursion and within [`Work`]. What it cannot read
//! (variables, patterns) it does not guess at: a word that could have been a target and is not
//! known becomes [`Effect::Obscure`].

mod ansi;
mod directories;
mod programs;
mod substitution;
#[cfg(test)]
mod tests;
mod word;
mod words;

use std::cell::Cell;
use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use crate::effect::{Content, Effect};
use directories::{Directories, Whereabouts};
use programs::git::Branches;
#[allow(unused_imports, reason = "the guard of a planner's shell asks it")]
pub use programs::steers;
use word::Word;
use words::{Cutter, Piece};

const SHELLS: &[&str] = &["sh", "bash", "dash", "zsh", "ksh"];
/// How deep `sh -c "sh -c …"` and `$($(…))` are followed.
const DEEPEST: u32 = 8;
/// A longer line is not read at all.
const LONGEST_LINE: usize = 1 << 20;
/// No system opens a longer path.
const LONGEST_PATH: usize = 4096;

/// How many bytes a line may still make the reader build or pass again. A line that names its
/// files in the cross product of many directories ends here, and not in memory.
struct Work(Cell<usize>);

impl Work {
    fn new() -> Self {
        Self(Cell::new(64 << 20))
    }

    fn pay(&self, bytes: usize) -> bool {
        self.0.set(self.0.get().saturating_sub(bytes));
        !self.is_spent()
    }

    fn is_spent(&self) -> bool {
        self.0.get() == 0
    }
}

/// The effects of a command line that starts in `cwd`.
pub fn effects(command: &str, cwd: &Path, home: Option<&Path>) -> Vec<Effect> {
    if command.len() > LONGEST_LINE {
        return vec![Effect::TooLarge { what: format!("a command line of {} bytes", command.len()) }];
    }
    let home = home.and_then(Path::to_str);
    let work = Work::new();
    let mut effects = Vec::new();
    let mut has_moved = false;
    let mut open = VecDeque::from([(command.to_owned(), Directories::from([cwd.into()]), 0)]);
    while let Some((text, directories, depth)) = open.pop_front() {
        let before = effects.len();
        let mut line = Line {
            branches: Branches::new(has_moved),
            inner: 0,
            place: Whereabouts::new(directories),
            home,
            work: &work,
            effects: &mut effects,
            nested: Vec::new(),
            fed: VecDeque::new(),
        };
        line.read_all(Cutter::new(&text, home, &work));
        for (text, directories) in std::mem::take(&mut line.nested) {
            if depth < DEEPEST {
                open.push_back((text, directories, depth + 1));
            } else {
                line.obscure("deeply nested shells");
            }
        }
        let moves = line.branches.have_moved();
        if moves && depth > 0 {
            programs::git::forget_branches(&mut effects[..before]);
        }
        has_moved |= moves;
        if work.is_spent() {
            return vec![Effect::TooLarge { what: "a command line that names so many files".into() }];
        }
    }
    effects
}

/// One command line while it is read.
struct Line<'a> {
    branches: Branches,
    /// How many programs of this line the current one runs in.
    inner: u32,
    place: Whereabouts,
    home: Option<&'a str>,
    work: &'a Work,
    effects: &'a mut Vec<Effect>,
    /// Command lines that this one runs, and where.
    nested: Vec<(String, Directories)>,
    /// For each here-document whose body is still to come: whether a shell reads it.
    fed: VecDeque<bool>,
}

/// A simple command with what it is given to read.
#[derive(Default)]
struct Command<'a> {
    words: Vec<Word<'a>>,
    here_strings: Vec<Word<'a>>,
    documents: usize,
}

impl Line<'_> {
    fn read_all(&mut self, mut cutter: Cutter) {
        let mut command = Command::default();
        cutter.pwd = self.place.certain();
        while let Some(piece) = cutter.next() {
            match piece {
                Piece::Word(word) => command.words.push(word),
                Piece::Redirection { target, writes: true } => self.write(&target),
                Piece::Redirection { target, writes: false } => self.read(&target, false),
                Piece::HereString(word) => command.here_strings.push(word),
                Piece::Document => {
                    command.documents += 1;
                    self.fed.push_back(false);
                }
                Piece::Commands(text) => self.run(text.into_owned()),
                Piece::Expanded(text) => self.expanded(text),
                Piece::Body { text, quoted } => match self.fed.pop_front() {
                    Some(true) => self.run(text.to_owned()),
                    _ if quoted => {}
                    _ => self.expanded(text),
                },
                Piece::End { and } => {
                    let before = self.place.current.clone();
                    self.simple(&command);
                    // Behind `&&` a `cd` has succeeded. Behind anything else it may have failed,
                    // or been in a subshell, so every directory of the line is possible.
                    if !and {
                        self.place.forget();
                        self.branches.doubt();
                    }
                    if self.place.is_lost || !Rc::ptr_eq(&before, &self.place.current) {
                        cutter.pwd = self.place.certain();
                    }
                    command.words.clear();
                    command.here_strings.clear();
                    command.documents = 0;
                }
            }
            if self.work.is_spent() {
                return;
            }
        }
    }

    /// A text that is a command line of its own.
    fn run(&mut self, text: String) {
        if !text.is_empty() {
            self.nested.push((text, self.place.current.clone()));
        }
    }

    fn run_word(&mut self, word: &Word) {
        match word.known() {
            Some(text) => self.run(text.to_owned()),
            None => self.obscure_word(word),
        }
    }

    fn expanded(&mut self, text: &str) {
        for inner in substitution::inside(text, self.work) {
            self.run(inner.into_owned());
        }
    }

    fn simple(&mut self, command: &Command) {
        let outside = self.place.current.clone();
        let Some((program, words)) = self.program(&command.words) else {
            self.place.current = outside;
            return;
        };
        match program {
            _ if SHELLS.contains(&program) => self.shell(words, command),
            "eval" => match words.iter().map(Word::known).collect::<Option<Vec<_>>>() {
                Some(words) => self.run(words.join(" ")),
                None => self.obscure("eval of an unknown text"),
            },
            "trap" => {
                if let Some(text) = words.iter().find(|word| !word.is_option()) {
                    self.run_word(text);
                }
            }
            "su" => self.operand_of_c(words),
            "cd" | "pushd" => return self.change_directory(words),
            "export" | "declare" | "typeset" | "readonly" => {
                for word in words {
                    if let Some(name) = word.assigned().or_else(|| word.known()) {
                        self.set(name, word);
                    }
                }
            }
            _ => self.program_effects(program, words),
        }
        self.place.current = outside;
    }

    /// A command that another program runs, by its words.
    fn simple_words(&mut self, words: &[Word]) {
        self.simple(&Command { words: words.to_vec(), ..Command::default() });
    }

    /// `sh -c TEXT`, or a shell that reads its commands from what it is given.
    fn shell(&mut self, words: &[Word], command: &Command) {
        // `-c` may stand among other letters: `bash -lc`.
        if words.iter().any(|word| word.has_letter(&['c'])) {
            return self.operand_of_c(words);
        }
        let script = words.iter().find(|word| !word.is_option());
        let reads = words.iter().any(|word| word.has_letter(&['s']))
            || script.is_none_or(|script| matches!(script.known(), Some("-" | "/dev/stdin" | "/dev/fd/0")));
        if reads {
            command.here_strings.iter().for_each(|text| self.run_word(text));
            self.fed.iter_mut().rev().take(command.documents).for_each(|fed| *fed = true);
        }
        if let Some(script) = script {
            self.read(script, false);
        }
    }

    fn operand_of_c(&mut self, words: &[Word]) {
        let is_c = |word: &Word| word.has_letter(&['c']) || word.known() == Some("--command");
        let long = words.iter().find(|word| word.start().starts_with("--command="));
        if let Some(word) = long {
            self.run_word(&word.behind("--command=".len()));
        } else if let Some(at) = words.iter().position(is_c)
            && let Some(text) = words[at + 1..].iter().find(|word| !word.is_option())
        {
            self.run_word(text);
        }
    }

    fn change_directory(&mut self, words: &[Word]) {
        let target = words.iter().find(|word| !word.is_option());
        let lost = match target.map(Word::known) {
            Some(Some("-") | None) => {
                self.place.is_lost = true;
                Some("cd to an unknown directory")
            }
            Some(Some(directory)) => self.place.enter(directory, self.work),
            None => self.home.and_then(|home| self.place.enter(home, self.work)),
        };
        self.place.remember();
        if let Some(what) = lost.or(self.place.overflow()) {
            self.obscure(what);
        }
    }

    fn write(&mut self, word: &Word) {
        self.each(word, 0, |path| Effect::Write { path, content: Content::Unknown });
    }

    fn read(&mut self, word: &Word, recursive: bool) {
        if word.known().is_none_or(|text| text.len() <= LONGEST_PATH) {
            self.each(word, 0, |path| Effect::Read { path, recursive });
        }
    }

    /// One effect for each place that a word may mean; `cost`: what it takes besides the path.
    fn each(&mut self, word: &Word, cost: usize, effect: impl Fn(PathBuf) -> Effect) {
        let Some(text) = word.known().filter(|text| !text.is_empty()) else {
            return self.obscure_word(word);
        };
        let current = self.place.current.clone();
        let is_absolute = Path::new(text).is_absolute();
        for cwd in &current[..if is_absolute { 1.min(current.len()) } else { current.len() }] {
            let cost = cost + cwd.as_os_str().len() + text.len();
            if self.work.pay(cost + size_of::<Effect>()) {
                self.effects.push(effect(cwd.join(text)));
            }
        }
    }

    /// An assignment: what stands behind the first `=` of the word is the value.
    fn set(&mut self, name: &str, word: &Word) {
        self.branches.is_elsewhere |= matches!(name, "GIT_DIR" | "GIT_WORK_TREE" | "GIT_COMMON_DIR");
        let value = word.known().and_then(|text| text.split_once('=')).map(|(_, value)| value.to_owned());
        let cost = name.len() + value.as_ref().map_or(0, String::len);
        self.push(Effect::SetVariable { name: name.to_owned(), value }, cost);
    }

    fn push(&mut self, effect: Effect, cost: usize) {
        if self.work.pay(cost + size_of::<Effect>()) {
            self.effects.push(effect);
        }
    }

    fn obscure(&mut self, what: &str) {
        self.push(Effect::Obscure { what: what.to_owned() }, what.len());
    }

    fn obscure_word(&mut self, word: &Word) {
        self.obscure(&format!("`{}`", word.source()));
    }
}
