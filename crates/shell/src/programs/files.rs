//! What programs do to the files that they are given.
//!
//! [`operand_use`] says how each program uses its operands; a few programs name files in ways of their own. A program
//! that is not listed may at least read its operands, so that no unknown program prints a secret.

use std::path::{Path, PathBuf};

use super::archives::is_compressor;
use super::{is_listed, operands};
use crate::directories::resolve_parent_names;
use crate::effect::{Effect, FileChange, ReadScope};
use crate::word::Word;
use crate::{LONGEST_PATH, LineWalker, SHELLS};

/// How a program uses its operands.
#[derive(Clone, Copy, PartialEq)]
enum OperandUse {
    Deleted,
    Written,
    Read,
    /// The last is written, the others are read.
    Copied,
    /// The last is written, the others are deleted.
    Moved,
    /// The first is written, the others are read.
    Packed,
    /// Addresses whose last part names a file here.
    Fetched,
    /// Neither read nor written.
    Text,
}

fn operand_use(program: &str) -> Option<OperandUse> {
    Some(match program {
        "rm" | "grm" | "rmdir" | "unlink" | "shred" | "srm" | "trash" | "trash-put" | "rimraf"
        | "del-cli" | "Remove-Item" => OperandUse::Deleted,
        "tee" | "sponge" | "ed" | "ex" | "touch" | "truncate" | "chmod" | "chown" | "chgrp" | "chattr"
        | "mkdir" | "mkfifo" | "mknod" | "setfacl" | "Clear-Content" => OperandUse::Written,
        "cp" | "ln" | "link" | "install" | "rsync" | "scp" | "Copy-Item" => OperandUse::Copied,
        "mv" | "Move-Item" => OperandUse::Moved,
        "zip" => OperandUse::Packed,
        "objcopy" => OperandUse::Copied,
        "wget" => OperandUse::Fetched,
        "echo" | "printf" | "test" | "[" | "[[" | ":" | "true" | "false" => OperandUse::Text,
        "Get-Content" | "cat" | "head" | "tail" | "less" | "more" | "tac" | "nl" | "od" | "xxd"
        | "hexdump" | "strings" | "uniq" | "base64" | "base32" | "wc" | "sort" | "cut" | "diff" | "cmp"
        | "grep" | "egrep" | "fgrep" | "rg" | "awk" | "sed" | "tar" | "curl" | "dd" | "perl" | "source"
        | "." => OperandUse::Read,
        _ => return None,
    })
}

/// The option of a program that names a file to write or a directory to write into.
fn target_option(program: &str) -> Option<(char, &'static str)> {
    Some(match program {
        "cp" | "mv" | "ln" | "install" => ('t', "--target-directory"),
        "curl" => ('o', "--output"),
        "wget" => ('O', "--output-document"),
        _ if has_output_option(program) => ('o', "--output"),
        _ => return None,
    })
}

/// Whether a program that is not listed otherwise names the file that it writes by `-o`.
fn has_output_option(program: &str) -> bool {
    #[rustfmt::skip]
    const PROGRAMS: &[&str] = &[
        "aria2c", "as", "axel", "c++", "cc", "clang", "clang++", "g++", "gcc", "gpg", "gpg2", "iconv", "ld", "pandoc", "shuf",
        "strip",
    ];
    PROGRAMS.contains(&program)
}

/// Whether a word after a wrapper's options can only be the program.
pub(super) fn is_known_file_program(program: &str) -> bool {
    operand_use(program).is_some()
        || SHELLS.contains(&program)
        || is_listed("cd pushd eval su export declare typeset readonly", program)
}

/// Whether an option that starts with one of these names, or has one of these letters, is given.
pub(super) fn has_option(words: &[Word], names: &[&str], letters: &[char]) -> bool {
    words
        .iter()
        .any(|word| word.has_letter(letters) || names.iter().any(|option| word.prefix().starts_with(option)))
}

impl LineWalker<'_> {
    /// Reports what a symbolic link points to: its text is relative to the directory of the link.
    fn report_link_targets(&mut self, sources: &[&Word], targets: &[Word]) {
        let relative = |word: &&Word| word.text().is_some_and(|text| !text.starts_with('/'));
        for target in targets.iter().filter_map(Word::text) {
            let above = target.rsplit_once('/').map_or(".", |(above, _)| above);
            for source in sources.iter().copied().filter(relative) {
                for directory in [target, above] {
                    let length = directory.len() + source.prefix().len();
                    if length <= LONGEST_PATH && self.work.pay(length) {
                        let path = format!("{directory}/{}", source.prefix());
                        self.report_in_each_directory(&path, 0, |path| Effect::Read {
                            path: resolve_parent_names(&path),
                            scope: ReadScope::File,
                        });
                    }
                }
            }
        }
    }

    fn report_openssl(&mut self, words: &[Word]) {
        let outputs = words.windows(2).filter(|pair| pair[0].text() == Some("-out"));
        outputs.for_each(|pair| self.report_write(&pair[1]));
    }

    pub(super) fn report_files(&mut self, program: &str, words: &[Word]) {
        match program {
            "dd" => return self.report_dd(words),
            "tar" | "bsdtar" | "gtar" => return self.report_tar(words),
            "unzip" => return self.report_unzip(words),
            "7z" | "7za" | "7zz" | "7zr" => self.report_7z(words),
            "openssl" => self.report_openssl(words),
            _ if is_compressor(program) => return self.report_compressor(program, words),
            _ => {}
        }
        let has = |names: &[&str], letters: &[char]| has_option(words, names, letters);
        let known_use = operand_use(program);
        let is_in_place = matches!(program, "sed" | "perl") && has(&["--in-place"], &['i'])
            || program == "yq" && has(&["--inplace", "--in-place"], &['i'])
            || program.ends_with("awk") && words.windows(2).any(loads_inplace);
        let operand_use = match program {
            _ if is_in_place => OperandUse::Written,
            "curl" if has(&["--remote-name"], &['O']) => OperandUse::Fetched,
            _ => known_use.unwrap_or(OperandUse::Read),
        };
        let is_recursive = program == "rg"
            || known_use.is_some()
                && has(&["--recursive", "--archive", "--dereference-recursive"], &['r', 'R', 'a']);
        let is_copy = matches!(operand_use, OperandUse::Copied | OperandUse::Moved | OperandUse::Packed);
        let scope = match operand_use {
            OperandUse::Moved => ReadScope::Tree,
            _ if is_copy && (is_recursive || matches!(program, "zip" | "scp" | "rsync")) => ReadScope::Tree,
            _ if is_recursive => ReadScope::Search,
            _ => ReadScope::File,
        };
        let deletes_sources = match operand_use {
            OperandUse::Deleted | OperandUse::Moved => true,
            OperandUse::Copied => program == "rsync" && has(&["--remove-s"], &[]),
            OperandUse::Packed => has(&["--move"], &['m']),
            _ => false,
        };
        let (mut operands, mut targets) =
            split_targets(words, target_option(program), has_output_option(program));
        if operand_use != OperandUse::Fetched {
            keep_files(program, words, &mut operands);
        }
        let mut sources = operands.as_slice();
        let here = Word::literal(".");
        match (operand_use, sources) {
            (OperandUse::Copied, [_]) if program == "ln" && targets.is_empty() => targets.push(here.clone()),
            (OperandUse::Copied | OperandUse::Moved, [first @ .., last]) if targets.is_empty() => {
                sources = first;
                targets.push((*last).clone());
                if operand_use == OperandUse::Moved && first.is_empty() && last.text().is_none() {
                    // `mv a{,.bak}`: one word is both source and target.
                    self.report_delete(last);
                }
            }
            (OperandUse::Packed, [archive, others @ ..]) => {
                self.report_write(archive);
                sources = others;
            }
            _ => {}
        }
        let from = self.effects.len();
        for word in sources {
            match operand_use {
                _ if deletes_sources => {
                    self.report_delete(word);
                    if is_copy {
                        self.report_read_operand(word, scope);
                    }
                }
                OperandUse::Written => self.report_write(word),
                _ if program == "git" => {
                    self.report_read_operand(word, scope);
                    self.report_revision_file(word);
                }
                OperandUse::Fetched | OperandUse::Text => {}
                _ => self.report_read_operand(word, scope),
            }
        }
        match program {
            "tee" => self.write_input(from, has(&["--append"], &['a'])),
            "ed" | "ex" => self.note_input_as_added(from),
            _ => {}
        }
        if program == "ln" && has(&["--s"], &['s']) {
            self.report_link_targets(sources, &targets);
        }
        if operand_use == OperandUse::Fetched && targets.is_empty() {
            self.report_placement(sources, &here, false);
        }
        let empties_target = program == "rsync" && has(&["--del"], &[]) && !has(&["--dry"], &['n']);
        for target in &targets {
            if empties_target {
                self.report_change_below(target, FileChange::Delete);
            }
            match operand_use {
                OperandUse::Copied => self.report_placement(sources, target, is_recursive),
                OperandUse::Moved => self.report_placement(sources, target, true),
                _ => self.report_write(target),
            }
        }
        if known_use.is_none() {
            self.report_option_reads(program, words);
        }
    }

    /// Reports files that are copied or moved to a place.
    pub(super) fn report_placement(&mut self, sources: &[&Word], to: &Word, tree: bool) {
        let names = sources.iter().filter_map(|source| Path::new(source.text()?).file_name());
        let names: Vec<PathBuf> = names.map(PathBuf::from).collect();
        let cost = names.iter().map(|name| name.as_os_str().len() + size_of::<PathBuf>()).sum();
        self.report_change(to, cost, |to| Effect::Place { names: names.clone(), to, tree });
    }

    /// Reports the files that an operand of a reading program can mean: `FILE`, `@FILE`, `file://FILE`.
    pub(super) fn report_read_operand(&mut self, word: &Word, scope: ReadScope) {
        self.report_read(word, scope);
        for front in ["@", "file://", "file:"] {
            if word.prefix().starts_with(front) {
                self.report_read(&word.skip_bytes(front.len()), scope);
            }
        }
    }

    /// Reports the file that git reads from a revision: `git show HEAD:FILE`.
    fn report_revision_file(&mut self, word: &Word) {
        let at = word.prefix().find(':').filter(|at| at + 1 < word.prefix().len());
        if let Some(at) = at {
            self.report_read(&word.skip_bytes(at + 1), ReadScope::File);
        }
    }

    /// Reports the file in `--option=FILE`.
    fn report_option_reads(&mut self, program: &str, words: &[Word]) {
        for word in words.iter().filter(|word| word.is_option()) {
            let text = word.prefix();
            if let Some(at) = text.find('=').filter(|at| at + 1 < text.len())
                && !operands::has_text_value(program, &text[..at])
            {
                self.report_read_operand(&word.skip_bytes(at + 1), ReadScope::File);
            }
        }
    }

    fn report_dd(&mut self, words: &[Word]) {
        for word in words {
            match word.prefix().get(..3) {
                Some("of=") => {
                    let from = self.effects.len();
                    self.report_write(&word.skip_bytes(3));
                    self.write_input(from, false);
                }
                Some("if=") => self.report_read(&word.skip_bytes(3), ReadScope::File),
                _ => {}
            }
        }
    }
}

/// `gawk -i inplace`.
fn loads_inplace(pair: &[Word]) -> bool {
    matches!(pair[0].text(), Some("-i" | "--include")) && pair[1].text() == Some("inplace")
}

/// Removes the operands that are not files.
fn keep_files(program: &str, words: &[Word], operands: &mut Vec<&Word>) {
    let mut others = Vec::new();
    operands::find_other_words(program, words, |at| others.extend(words.get(at)));
    // Both lists are in the order of the words.
    let mut others: &[&Word] = &others;
    operands.retain(|operand| {
        while let [first, rest @ ..] = others
            && std::ptr::from_ref::<Word>(first) < std::ptr::from_ref::<Word>(operand)
        {
            others = rest;
        }
        !others.first().is_some_and(|other| std::ptr::eq::<Word>(*other, *operand))
    });
}

/// Splits words into operands and the values of the option that names a target. `is_strict`: the letter of the option
/// comes right after the dash.
fn split_targets<'w, 'a>(
    words: &'w [Word<'a>],
    option: Option<(char, &str)>,
    is_strict: bool,
) -> (Vec<&'w Word<'a>>, Vec<Word<'a>>) {
    let (mut operands, mut targets) = (Vec::new(), Vec::new());
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let text = word.prefix();
        if word.text() == Some("--") {
            operands.extend(words.by_ref());
        } else if !word.is_option() {
            operands.push(word);
        } else if let Some((letter, long)) = option {
            // Long names may be abbreviated, and letters may be clustered.
            let name = text.split_once('=').map_or(text, |(name, _)| name);
            let value = if text.starts_with("--") {
                let is_it = name.len() > 2 && long.starts_with(name);
                is_it.then_some((name.len() + 1, name.len() < text.len()))
            } else {
                let at = text.find(letter).filter(|at| !is_strict || *at == 1);
                at.map(|at| (at + 1, at + 1 < text.len() || word.text().is_none()))
            };
            if let Some((at, is_attached)) = value {
                let attached = is_attached.then(|| word.skip_bytes(at));
                targets.extend(attached.or_else(|| words.next().cloned()));
            }
        }
    }
    (operands, targets)
}
