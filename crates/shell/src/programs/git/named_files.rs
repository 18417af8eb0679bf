//! Git commands that name the file or directory that they write or delete as one operand or option.

use super::super::options::ParsedArguments;
use super::options;
use crate::LineWalker;
use crate::word::Word;

/// Which operands of a command are files that it changes.
#[derive(PartialEq)]
enum ChangedOperands {
    AllDeleted,
    AllWritten,
    /// Only the one at this index is written.
    OneWritten(usize),
}
use ChangedOperands::{AllDeleted, AllWritten, OneWritten};

/// The command and its subcommand, its letters and long names for [`ParsedArguments::parse`], and what it changes.
const COMMANDS: &[(&str, &str, &str, &str, ChangedOperands)] = &[
    ("worktree", "remove", "f", "--force", AllDeleted),
    ("worktree", "add", "b:B:dfq", "--reason=", OneWritten(0)),
    ("submodule", "deinit", "fq", "--all --force", AllDeleted),
    (
        "clone",
        "",
        "b:c:j:lno:qsu:v",
        "--branch= --bundle-uri= --config= --depth= --filter= --jobs= --origin= --reference= --reference-if-able= \
         --separate-git-dir= --server-option= --shallow-exclude= --shallow-since= --template= --upload-pack=",
        OneWritten(1),
    ),
    (
        "init",
        "",
        "b:q",
        "--bare --initial-branch= --object-format= --quiet --ref-format= --separate-git-dir= --shared --template=",
        OneWritten(0),
    ),
    ("bundle", "create", "q", "--version=", OneWritten(0)),
    ("merge-file", "", "L:pq", "--diff-algorithm= --marker-size= --stdout", OneWritten(0)),
    ("mailinfo", "", "bkmnu", "--encoding= --quoted-cr=", AllWritten),
    ("interpret-trailers", "", "", "--if-exists= --if-missing= --trailer= --where=", AllWritten),
];

impl LineWalker<'_> {
    /// Reports the files that a command names in one way only.
    pub(super) fn report_named_file(&mut self, command: &str, words: &[Word]) {
        if command == "config" {
            return self.report_config_file(words);
        }
        let first = words.first().and_then(Word::text);
        let is_it = |name: &str, subcommand: &str| {
            name == command && (subcommand.is_empty() || first == Some(subcommand))
        };
        let Some((_, subcommand, letters, longs, changed)) =
            COMMANDS.iter().find(|(name, subcommand, ..)| is_it(name, subcommand))
        else {
            return;
        };
        let is_in_place = |word: &Word| matches!(word.text(), Some("--in-place" | "--in-pl"));
        let mut before_dashes = words.iter().take_while(|word| word.text() != Some("--"));
        if command == "interpret-trailers" && !before_dashes.any(is_in_place) {
            return;
        }
        let words = if subcommand.is_empty() { words } else { &words[1..] };
        let arguments = ParsedArguments::parse(words, letters, longs);
        if arguments.has('p', "--stdout") {
            return;
        }
        for (at, path) in arguments.operands.into_iter().enumerate() {
            match changed {
                AllDeleted => self.report_delete(path),
                AllWritten => self.report_write(path),
                OneWritten(index) if *index == at => self.report_write(path),
                OneWritten(_) => {}
            }
        }
    }

    /// `git config --file FILE NAME VALUE`.
    fn report_config_file(&mut self, words: &[Word]) {
        const READS: &[&str] =
            &["--get", "--get-all", "--get-regexp", "--get-urlmatch", "--list", "--get-color"];
        let arguments = ParsedArguments::parse(words, "elzf:t:", options::CONFIG);
        let reads = arguments.has('l', "")
            || arguments.has_any(READS)
            || matches!(arguments.operands.first().and_then(|word| word.text()), Some("get" | "list"));
        // A name alone is a question, unless the name is removed.
        let is_question = arguments.operands.len() < 2 && !words.iter().any(is_deletion);
        if let Some(Some(file)) = arguments.values('f', "--file").next()
            && !reads
            && !is_question
        {
            self.report_write(file);
        }
    }
}

fn is_deletion(word: &Word) -> bool {
    let options = ["--unset", "--remove", "--rename", "--edit", "-e", "unset"];
    options.iter().any(|name| word.prefix().starts_with(name))
}
