//! `find`: an expression of words, some of which delete, write or run.
//!
//! A command that it runs is judged like any other command. `{}` in it is a word that no program can take for an
//! option, because a path that `find` prints starts with its starting point.

use super::{CommandName, RUNS, is_listed};
use crate::LineWalker;
use crate::word::{UnknownPart, Word};

const FIND: CommandName = CommandName::new("find");

/// A word of the expression.
#[derive(Clone, Copy)]
enum ExpressionPart {
    /// An operator, an action or a test that is harmless, with this many arguments.
    Harmless(usize),
    /// A harmless test that reduces the files that are found, with this many arguments.
    Test(usize),
    /// An action that writes to the next argument, with this many more arguments.
    Writes(usize),
    Deletes,
    Runs,
}

const PARTS: &[(ExpressionPart, &str)] = &[
    (
        ExpressionPart::Harmless(0),
        "( ) ! , -a -and -not -o -or -H -L -P -E -X -s -x -d -depth -daystart -follow -help --help -version \
        --version -ignore_readdir_race -noignore_readdir_race -mount -noleaf -nowarn -warn -xdev -print -print0 -ls \
        -prune -quit -true -false -O0 -O1 -O2 -O3",
    ),
    (ExpressionPart::Harmless(1), "-D -f -files0-from -maxdepth -mindepth -printf -regextype -type -xtype"),
    (ExpressionPart::Test(0), "-empty -executable -readable -writable -nogroup -nouser"),
    (
        ExpressionPart::Test(1),
        "-amin -anewer -atime -cmin -cnewer -ctime -context -flags -fstype -gid -group -ilname -iname -inum -ipath \
        -iregex -iwholename -links -lname -mmin -mtime -name -newer -path -perm -regex -samefile -size -uid -used \
        -user -wholename -Bmin -Btime -Bnewer -bmin -btime -mnewer",
    ),
    (ExpressionPart::Deletes, "-delete"),
    (ExpressionPart::Writes(0), "-fls -fprint -fprint0"),
    (ExpressionPart::Writes(1), "-fprintf"),
    (ExpressionPart::Runs, "-exec -execdir -ok -okdir"),
];

fn find_part(word: &str) -> Option<ExpressionPart> {
    if let Some((part, _)) = PARTS.iter().find(|(_, words)| is_listed(words, word)) {
        return Some(*part);
    }
    // `-newerXY`: which time of the file is compared with which time of the other file.
    let times = word.strip_prefix("-newer")?.as_bytes();
    let is_time = times.len() == 2 && times.iter().all(|c| b"aBcmt".contains(c));
    is_time.then_some(ExpressionPart::Test(1))
}

impl LineWalker<'_> {
    pub(super) fn report_find(&mut self, mut words: &[Word]) {
        let mut starts = Vec::new();
        let (mut is_narrow, mut deletes) = (false, false);
        while let Some((word, rest)) = words.split_first() {
            words = rest;
            let Some(text) = word.text() else {
                if word.may_be_option() {
                    self.report_possible_option(FIND, word);
                }
                starts.push(word);
                continue;
            };
            match find_part(text) {
                None if text.starts_with('-') && text.len() > 1 => self.report_unknown_option(FIND, word),
                None => starts.push(word),
                Some(ExpressionPart::Harmless(arguments)) => self.skip_test_arguments(&mut words, arguments),
                Some(ExpressionPart::Test(arguments)) => {
                    is_narrow = true;
                    self.skip_test_arguments(&mut words, arguments);
                }
                Some(ExpressionPart::Deletes) => {
                    deletes = true;
                    self.report_mutation(FIND, text, "deletes files");
                }
                Some(ExpressionPart::Writes(more)) => {
                    self.report_mutation(FIND, text, "writes a file");
                    if let Some(file) = words.first() {
                        self.report_write(file);
                    }
                    self.skip_test_arguments(&mut words, 1 + more);
                }
                Some(ExpressionPart::Runs) => words = self.run_find_command(text, words),
            }
            if self.work.is_spent() {
                return;
            }
        }
        // Without a test, the search deletes everything below its starting points.
        if deletes && !is_narrow {
            for start in starts {
                self.report_delete(start);
            }
        }
    }

    /// Skips the arguments of a test. One that may become several words may contain an action.
    fn skip_test_arguments(&mut self, words: &mut &[Word], arguments: usize) {
        let (passed, rest) = words.split_at(arguments.min(words.len()));
        *words = rest;
        for word in passed.iter().filter(|word| word.may_split()) {
            self.report_possible_option(FIND, word);
        }
    }

    /// Runs the command of `-exec COMMAND ;` or `-exec COMMAND {} +`, and returns the words after it.
    fn run_find_command<'w, 'a>(&mut self, action: &str, words: &'w [Word<'a>]) -> &'w [Word<'a>] {
        let is_end = |at: usize| match words[at].text() {
            Some(";") => true,
            Some("+") => at > 0 && words[at - 1].text() == Some("{}"),
            _ => false,
        };
        let end = (0..words.len()).find(|at| is_end(*at)).unwrap_or(words.len());
        let (command, rest) = words.split_at(end);
        if command.is_empty() {
            self.report_mutation(FIND, action, RUNS);
        }
        // An unknown word may be the end of the command, and the next words then belong to the expression.
        let may_end = |word: &&Word| {
            word.text().is_none() && [";", "+", "{}"].iter().any(|end| end.starts_with(word.prefix()))
        };
        if let Some(word) = command.iter().find(may_end) {
            self.report_possible_option(FIND, word);
        }
        let command: Vec<_> = command.iter().map(insert_unknown_path).collect();
        let was_lost = self.place.is_lost;
        // The command runs in the directory of the file.
        self.place.is_lost |= matches!(action, "-execdir" | "-okdir");
        self.run_nested_command(&command);
        self.place.is_lost = was_lost;
        rest.get(1..).unwrap_or_default()
    }
}

/// Replaces every `{}` in a word with an unknown path.
fn insert_unknown_path<'a>(word: &Word<'a>) -> Word<'a> {
    match word.prefix().find("{}") {
        Some(at) => {
            let value = word.prefix()[..at].to_owned().into();
            Word { value, unknown: Some(UnknownPart::default()), ..word.clone() }
        }
        None => word.clone(),
    }
}
