//! What programs do to the files that they are given.
//!
//! A table of how each uses its operands, and the few that name files in ways of their own. A program
//! that is not in it may at least read what it is given, so that a secret is not printed by a stranger.

use std::path::{Path, PathBuf};

use super::archives::is_compressor;
use crate::effect::Effect;
use crate::shell::directories::by_name;
use crate::shell::word::Word;
use crate::shell::{LONGEST_PATH, Line, SHELLS};

/// How a program uses its operands.
#[derive(Clone, Copy, PartialEq)]
enum Operands {
    Deleted,
    Written,
    Read,
    /// The last is written, the others are read.
    Copied,
    /// The last is written, the others are gone.
    Moved,
    /// The first is written, the others are read.
    Packed,
    /// Addresses whose last part names a file here.
    Fetched,
    /// Neither read nor written.
    Text,
}

fn operands_of(program: &str) -> Option<Operands> {
    Some(match program {
        "rm" | "rmdir" | "unlink" | "shred" => Operands::Deleted,
        "tee" | "sponge" | "touch" | "truncate" | "chmod" | "chown" | "chgrp" | "chattr" | "mkdir"
        | "mkfifo" | "mknod" | "setfacl" => Operands::Written,
        "cp" | "ln" | "link" | "install" | "rsync" | "scp" => Operands::Copied,
        "mv" => Operands::Moved,
        "zip" => Operands::Packed,
        "objcopy" => Operands::Copied,
        "wget" => Operands::Fetched,
        "echo" | "printf" | "test" | "[" | "[[" | ":" | "true" | "false" => Operands::Text,
        "cat" | "head" | "tail" | "less" | "more" | "tac" | "nl" | "od" | "xxd" | "hexdump" | "strings"
        | "uniq" | "base64" | "base32" | "wc" | "sort" | "cut" | "diff" | "cmp" | "grep" | "egrep"
        | "fgrep" | "rg" | "awk" | "sed" | "tar" | "curl" | "dd" | "perl" | "source" | "." => Operands::Read,
        _ => return None,
    })
}

/// The option of a program that names a file to write or a directory to write into.
fn target_option(program: &str) -> Option<(char, &'static str)> {
    Some(match program {
        "cp" | "mv" | "ln" | "install" => ('t', "--target-directory"),
        "curl" => ('o', "--output"),
        "wget" => ('O', "--output-document"),
        _ if has_output(program) => ('o', "--output"),
        _ => return None,
    })
}

/// Programs that are not known otherwise, and name the file that they write by `-o`.
fn has_output(program: &str) -> bool {
    matches!(
        program,
        "as" | "c++"
            | "cc"
            | "clang"
            | "clang++"
            | "g++"
            | "gcc"
            | "gpg"
            | "gpg2"
            | "iconv"
            | "ld"
            | "pandoc"
            | "shuf"
            | "strip"
    )
}

/// Whether a word behind a wrapper's options can only be the program.
pub(in crate::shell) fn is_known(program: &str) -> bool {
    operands_of(program).is_some()
        || SHELLS.contains(&program)
        || matches!(program, "cd" | "pushd" | "eval" | "su" | "export" | "declare" | "typeset" | "readonly")
}

impl Line<'_> {
    /// A symbolic link leads to what its text means from where the link lies.
    fn read_linked(&mut self, sources: &[&Word], targets: &[Word]) {
        for target in targets.iter().filter_map(Word::known) {
            let above = target.rsplit_once('/').map_or(".", |(above, _)| above);
            let relative =
                sources.iter().filter_map(|word| word.known()).filter(|text| !text.starts_with('/'));
            for source in relative {
                for directory in [target, above] {
                    let length = directory.len() + source.len();
                    if length <= LONGEST_PATH && self.work.pay(length) {
                        let path = format!("{directory}/{source}");
                        let read = |path: PathBuf| Effect::Read { path: by_name(&path), recursive: false };
                        self.at_each_place(&path, 0, read);
                    }
                }
            }
        }
    }

    pub(in crate::shell) fn file_command(&mut self, program: &str, words: &[Word]) {
        let has = |wanted: &[&str], letters: &[char]| {
            words.iter().any(|word| {
                wanted.iter().any(|option| word.start().starts_with(option)) || word.has_letter(letters)
            })
        };
        match program {
            "dd" => return self.dd(words),
            "tar" | "bsdtar" | "gtar" => return self.tar(words),
            "unzip" => return self.unzip(words),
            "openssl" => {
                let outputs = words.windows(2).filter(|pair| pair[0].known() == Some("-out"));
                outputs.for_each(|pair| self.write(&pair[1]));
            }
            _ if is_compressor(program) => return self.compress(program, words),
            _ => {}
        }
        let in_place = matches!(program, "sed" | "perl") && has(&["--in-place"], &['i'])
            || program == "yq" && has(&["--inplace", "--in-place"], &['i']);
        let fetched = program == "curl" && has(&["--remote-name"], &['O']);
        let use_of = match operands_of(program) {
            _ if in_place => Operands::Written,
            _ if fetched => Operands::Fetched,
            Some(use_of) => use_of,
            // A program that is not known may at least read what it is given.
            None => Operands::Read,
        };
        let may_walk = operands_of(program).is_some();
        let recursive = program == "rg"
            || may_walk && has(&["--recursive", "--archive", "--dereference-recursive"], &['r', 'R', 'a']);
        let removes = program == "rsync" && has(&["--remove-s"], &[]);
        let packs_away = program == "zip" && has(&["--move"], &['m']);
        let walks = recursive || matches!(program, "zip" | "scp" | "rsync");
        let is_strict = has_output(program);
        let Split { operands, mut targets } = Split::of(words, target_option(program), is_strict);
        let mut sources = operands.as_slice();
        let here = Word::literal(".");
        match (use_of, sources) {
            (Operands::Copied, [_]) if program == "ln" && targets.is_empty() => targets.push(here.clone()),
            (Operands::Copied | Operands::Moved, [first @ .., last]) if targets.is_empty() => {
                sources = first;
                targets.push((*last).clone());
                if use_of == Operands::Moved && first.is_empty() && last.known().is_none() {
                    // `mv a{,.bak}`: one word that is both.
                    self.each(last, 0, |path| Effect::Delete { path });
                }
            }
            (Operands::Packed, [archive, others @ ..]) => {
                self.write(archive);
                sources = others;
            }
            _ => {}
        }
        for word in sources {
            match use_of {
                Operands::Copied if removes => self.each(word, 0, |path| Effect::Delete { path }),
                Operands::Packed if packs_away => self.each(word, 0, |path| Effect::Delete { path }),
                Operands::Deleted | Operands::Moved => self.each(word, 0, |path| Effect::Delete { path }),
                Operands::Written => self.write(word),
                Operands::Read | Operands::Copied | Operands::Packed => {
                    self.read_operand(word, walks);
                }
                Operands::Fetched | Operands::Text => {}
            }
        }
        if program == "ln" && has(&["--s"], &['s']) {
            self.read_linked(sources, &targets);
        }
        let places = matches!(use_of, Operands::Copied | Operands::Moved);
        if use_of == Operands::Fetched && targets.is_empty() {
            self.place(sources, &here, false);
        }
        for target in &targets {
            if places {
                self.place(sources, target, recursive || use_of == Operands::Moved);
            } else {
                self.write(target);
            }
        }
        if operands_of(program).is_none() {
            self.read_values(words);
        }
    }

    /// Files of the names of these words come to a place.
    pub(super) fn place(&mut self, sources: &[&Word], to: &Word, tree: bool) {
        let names = sources.iter().filter_map(|source| Path::new(source.known()?).file_name());
        let names: Vec<PathBuf> = names.map(PathBuf::from).collect();
        let cost = names.iter().map(|name| name.as_os_str().len() + size_of::<PathBuf>()).sum();
        self.each(to, cost, |to| Effect::Place { names: names.clone(), to, tree });
    }

    /// What an operand of a reading program can mean: `FILE`, `@FILE`, `file://FILE`. One that is not known is
    /// no target, so nothing is said about it.
    pub(super) fn read_operand(&mut self, word: &Word, recursive: bool) {
        if word.known().is_some_and(|text| !text.is_empty()) {
            self.read(word, recursive);
            for front in ["@", "file://", "file:"] {
                if word.start().starts_with(front) {
                    self.read(&word.behind(front.len()), recursive);
                }
            }
        }
    }

    /// `--option=FILE`.
    fn read_values(&mut self, words: &[Word]) {
        for word in words.iter().filter(|word| word.is_option()) {
            if let Some(at) = word.start().find('=').filter(|at| at + 1 < word.start().len()) {
                self.read_operand(&word.behind(at + 1), false);
            }
        }
    }

    fn dd(&mut self, words: &[Word]) {
        for word in words {
            match word.start().get(..3) {
                Some("of=") => self.write(&word.behind(3)),
                Some("if=") => self.read(&word.behind(3), false),
                _ => {}
            }
        }
    }
}

/// The words behind a program: operands, and the values of the option that names a target.
struct Split<'w, 'a> {
    operands: Vec<&'w Word<'a>>,
    targets: Vec<Word<'a>>,
}

impl<'w, 'a> Split<'w, 'a> {
    /// `is_strict`: the letter of the option stands right behind the dash.
    fn of(words: &'w [Word<'a>], option: Option<(char, &str)>, is_strict: bool) -> Self {
        let mut split = Self { operands: Vec::new(), targets: Vec::new() };
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let text = word.start();
            if word.known() == Some("--") {
                split.operands.extend(words.by_ref());
            } else if !word.is_option() {
                split.operands.push(word);
            } else if let Some((letter, long)) = option {
                // Long names may be cut short, and letters may stand among others.
                let name = text.split_once('=').map_or(text, |(name, _)| name);
                if text.starts_with("--") {
                    if name.len() > 2 && long.starts_with(name) {
                        let attached = (name.len() < text.len()).then(|| word.behind(name.len() + 1));
                        split.targets.extend(attached.or_else(|| words.next().cloned()));
                    }
                } else if let Some(at) = text.find(letter).filter(|at| !is_strict || *at == 1) {
                    let is_attached = at + 1 < text.len() || word.known().is_none();
                    let attached = is_attached.then(|| word.behind(at + 1));
                    split.targets.extend(attached.or_else(|| words.next().cloned()));
                }
            }
        }
        split
    }
}
