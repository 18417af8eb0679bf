//! Commands of git that name the file or directory that they write or delete as one operand or option.

use super::super::options::Name;
use super::branch::{found, has_word};
use super::options;
use crate::effect::Effect;
use crate::shell::Line;
use crate::shell::word::Word;

impl Line<'_> {
    /// Commands that name a file or a directory in one way only.
    pub(super) fn change_named_file(&mut self, command: &str, words: &[Word]) {
        let after = |name: &str| match words.split_first() {
            Some((first, rest)) if first.known() == Some(name) => Some(rest),
            _ => None,
        };
        match command {
            "worktree" => {
                if let Some(rest) = after("remove") {
                    for path in found(rest, "f", "--force").operands {
                        self.each(path, 0, |path| Effect::Delete { path });
                    }
                } else if let Some(rest) = after("add")
                    && let Some(path) = found(rest, "b:B:dfq", "--reason=").operands.first()
                {
                    self.write(path);
                }
            }
            "submodule" => {
                if let Some(rest) = after("deinit") {
                    for path in found(rest, "fq", "--all --force").operands {
                        self.each(path, 0, |path| Effect::Delete { path });
                    }
                }
            }
            "clone" => {
                let longs = "--branch= --bundle-uri= --config= --depth= --filter= --jobs= --origin= --reference= \
                             --reference-if-able= --separate-git-dir= --server-option= --shallow-exclude= \
                             --shallow-since= --template= --upload-pack=";
                if let Some(path) = found(words, "b:c:j:lno:qsu:v", longs).operands.get(1) {
                    self.write(path);
                }
            }
            "bundle" => {
                let rest = after("create").unwrap_or_default();
                if let Some(path) = found(rest, "q", "--version=").operands.first() {
                    self.write(path);
                }
            }
            "merge-file" => {
                let found = found(words, "L:pq", "--diff-algorithm= --marker-size= --stdout");
                if !found.has('p', "--stdout")
                    && let Some(path) = found.operands.first()
                {
                    self.write(path);
                }
            }
            "mailinfo" => found(words, "bkmnu", "--encoding= --quoted-cr=")
                .operands
                .iter()
                .for_each(|path| self.write(path)),
            "interpret-trailers" if ["--in-place", "--in-pl"].iter().any(|name| has_word(words, name)) => {
                found(words, "", "--if-exists= --if-missing= --trailer= --where=")
                    .operands
                    .iter()
                    .for_each(|path| self.write(path));
            }
            "config" => self.write_settings(words),
            _ => {}
        }
    }

    /// `git config --file FILE NAME VALUE`.
    fn write_settings(&mut self, words: &[Word]) {
        const READS: &[&str] =
            &["--get", "--get-all", "--get-regexp", "--get-urlmatch", "--list", "--get-color"];
        let found = found(words, "elzf:t:", options::CONFIG);
        let file =
            found.options.iter().find(|(name, _)| matches!(name, Name::Letter('f') | Name::Long("--file")));
        let reads = found.has('l', "")
            || READS.iter().any(|name| found.has('\0', name))
            || matches!(found.operands.first().and_then(|word| word.known()), Some("get" | "list"));
        // A name alone is asked for, unless it is taken away.
        let is_question = found.operands.len() < 2 && !words.iter().any(|word| is_deletion(word));
        if let Some((_, Some(file))) = file
            && !reads
            && !is_question
        {
            self.write(file);
        }
    }
}

fn is_deletion(word: &Word) -> bool {
    ["--unset", "--remove", "--rename", "--edit", "-e", "unset"]
        .iter()
        .any(|name| word.start().starts_with(name))
}
