//! `find`: an expression of words, some of which delete, write or run.
//!
//! A command that it runs is judged by itself, as if it stood alone. `{}` is then a word that no
//! program can take for an option, because a path that is found starts with its starting point.

use super::Caller;
use crate::effect::Effect;
use crate::shell::Line;
use crate::shell::word::{Unknown, Word};

const FIND: Caller = Caller { program: "find", command: "" };

/// What a word of the expression is.
enum Part {
    /// A sign, an action or a test that does no harm, with so many arguments.
    Harmless(usize),
    /// The same, and fewer files are found.
    Test(usize),
    Writes(usize),
    Deletes,
    Runs,
}

fn part(word: &str) -> Option<Part> {
    Some(match word {
        "("
        | ")"
        | "!"
        | ","
        | "-a"
        | "-and"
        | "-not"
        | "-o"
        | "-or"
        | "-H"
        | "-L"
        | "-P"
        | "-E"
        | "-X"
        | "-s"
        | "-x"
        | "-d"
        | "-depth"
        | "-daystart"
        | "-follow"
        | "-help"
        | "--help"
        | "-version"
        | "--version"
        | "-ignore_readdir_race"
        | "-noignore_readdir_race"
        | "-mount"
        | "-noleaf"
        | "-nowarn"
        | "-warn"
        | "-xdev"
        | "-print"
        | "-print0"
        | "-ls"
        | "-prune"
        | "-quit"
        | "-true"
        | "-false"
        | "-O0"
        | "-O1"
        | "-O2"
        | "-O3" => Part::Harmless(0),
        "-D" | "-f" | "-files0-from" | "-maxdepth" | "-mindepth" | "-printf" | "-regextype" | "-type"
        | "-xtype" => Part::Harmless(1),
        "-empty" | "-executable" | "-readable" | "-writable" | "-nogroup" | "-nouser" => Part::Test(0),
        "-amin" | "-anewer" | "-atime" | "-cmin" | "-cnewer" | "-ctime" | "-context" | "-flags"
        | "-fstype" | "-gid" | "-group" | "-ilname" | "-iname" | "-inum" | "-ipath" | "-iregex"
        | "-iwholename" | "-links" | "-lname" | "-mmin" | "-mtime" | "-name" | "-newer" | "-path"
        | "-perm" | "-regex" | "-samefile" | "-size" | "-uid" | "-used" | "-user" | "-wholename"
        | "-Bmin" | "-Btime" | "-Bnewer" | "-bmin" | "-btime" | "-mnewer" => Part::Test(1),
        "-delete" => Part::Deletes,
        "-fls" | "-fprint" | "-fprint0" => Part::Writes(0),
        "-fprintf" => Part::Writes(1),
        "-exec" | "-execdir" | "-ok" | "-okdir" => Part::Runs,
        _ => {
            // `-newerXY`: which of its times is compared with which of the other file's.
            let times = word.strip_prefix("-newer")?.as_bytes();
            let is_time = times.len() == 2 && times.iter().all(|c| b"aBcmt".contains(c));
            return is_time.then_some(Part::Test(1));
        }
    })
}

impl Line<'_> {
    pub(super) fn find(&mut self, words: &[Word]) {
        let mut starts = Vec::new();
        let (mut is_narrow, mut deletes) = (false, false);
        let mut words = words;
        while let Some((word, rest)) = words.split_first() {
            words = rest;
            let Some(text) = word.known() else {
                if word.may_be_option() {
                    self.doubt(FIND, word);
                }
                starts.push(word);
                continue;
            };
            match part(text) {
                None if text.starts_with('-') && text.len() > 1 => self.strange(FIND, word),
                None => starts.push(word),
                Some(Part::Harmless(arguments)) => self.skip(&mut words, arguments),
                Some(Part::Test(arguments)) => {
                    is_narrow = true;
                    self.skip(&mut words, arguments);
                }
                Some(Part::Deletes) => {
                    deletes = true;
                    self.act(FIND, text, "deletes files");
                }
                Some(Part::Writes(more)) => {
                    self.act(FIND, text, "writes a file");
                    if let Some(file) = words.first() {
                        self.write(file);
                    }
                    self.skip(&mut words, 1 + more);
                }
                Some(Part::Runs) => words = self.run_by_find(text, words),
            }
            if self.work.is_spent() {
                return;
            }
        }
        // A search that is narrowed deletes some of what lies below; one that is not deletes all.
        if deletes && !is_narrow {
            for start in starts {
                self.each(start, 0, |path| Effect::Delete { path });
            }
        }
    }

    /// Passes the arguments of a test. One that may be several words may hold an action.
    fn skip(&mut self, words: &mut &[Word], arguments: usize) {
        let (passed, rest) = words.split_at(arguments.min(words.len()));
        *words = rest;
        for word in passed.iter().filter(|word| word.splits()) {
            self.doubt(FIND, word);
        }
    }

    /// `-exec COMMAND ;` or `-exec COMMAND {} +`: the words behind it.
    fn run_by_find<'w, 'a>(&mut self, action: &str, words: &'w [Word<'a>]) -> &'w [Word<'a>] {
        let is_end = |at: usize| match words[at].known() {
            Some(";") => true,
            Some("+") => at > 0 && words[at - 1].known() == Some("{}"),
            _ => false,
        };
        let end = (0..words.len()).find(|at| is_end(*at)).unwrap_or(words.len());
        let (command, rest) = words.split_at(end);
        if command.is_empty() {
            self.act(FIND, action, "runs another program");
        }
        // A word that is not known may be the end, and what follows then a part of the expression.
        let may_end = |word: &&Word| {
            word.known().is_none() && [";", "+", "{}"].iter().any(|end| end.starts_with(word.start()))
        };
        if let Some(word) = command.iter().find(may_end) {
            self.doubt(FIND, word);
        }
        let command: Vec<_> = command.iter().map(with_path).collect();
        let was_lost = self.place.is_lost;
        // It runs where the file is that was found.
        self.place.is_lost |= matches!(action, "-execdir" | "-okdir");
        self.inner(&command);
        self.place.is_lost = was_lost;
        rest.get(1..).unwrap_or_default()
    }
}

/// The word with a path in the place of every `{}`.
fn with_path<'a>(word: &Word<'a>) -> Word<'a> {
    match word.start().find("{}") {
        Some(at) => {
            let value = word.start()[..at].to_owned().into();
            Word { value, unknown: Some(Unknown::default()), ..word.clone() }
        }
        None => word.clone(),
    }
}
