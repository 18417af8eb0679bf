//! Programs that pack and unpack: what happens to the files that their arguments name.
//!
//! The content of an archive is unknown, but a member that is named is written, and a file that is packed may be
//! deleted.

use std::collections::VecDeque;

use super::files::has_option;
use crate::LineWalker;
use crate::directories::DirectoryList;
use crate::effect::{FileChange, ReadScope};
use crate::grammar::TextKind;
use crate::word::Word;

/// Whether a program replaces a file with its packed form, or the other way round.
pub(super) fn is_compressor(program: &str) -> bool {
    #[rustfmt::skip]
    const COMPRESSORS: &[&str] = &[
        "bunzip2", "bzip2", "compress", "gunzip", "gzip", "lzip", "lzma", "pigz", "uncompress", "unlzma",
        "unxz", "unzstd", "xz", "zstd",
    ];
    COMPRESSORS.contains(&program)
}

const UNKNOWN_DIRECTORY: &str = "a command in an unknown directory";

/// The arguments of `tar`, as far as they are parsed.
#[derive(Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of its own")]
struct TarArguments<'w, 'a> {
    packs: bool,
    unpacks: bool,
    prints: bool,
    removes: bool,
    /// Letters whose values are in the next words.
    waiting: VecDeque<char>,
    /// Each member, and where it is.
    members: Vec<(&'w Word<'a>, DirectoryList)>,
    archive: Option<(Word<'a>, DirectoryList)>,
}

impl TarArguments<'_, '_> {
    /// Notes a letter, or the letter of a long name. The last mode counts.
    fn note_letter(&mut self, letter: char) {
        match letter {
            'c' | 'r' | 'u' | 'A' => (self.packs, self.unpacks) = (true, false),
            'x' => (self.packs, self.unpacks) = (false, true),
            'O' => self.prints = true,
            _ => {}
        }
    }
}

/// Long options of `tar`, each with the letter that means the same. `I` stands for all that run a command.
const TAR_LONGS: &[(&str, char)] = &[
    ("--create", 'c'),
    ("--append", 'r'),
    ("--update", 'u'),
    ("--concatenate", 'A'),
    ("--extract", 'x'),
    ("--get", 'x'),
    ("--to-stdout", 'O'),
    ("--remove-files", '-'),
    ("--file", 'f'),
    ("--directory", 'C'),
    ("--use-compress-program", 'I'),
    ("--to-command", 'I'),
    ("--info-script", 'I'),
    ("--new-volume-script", 'I'),
    ("--rsh-command", 'I'),
    ("--checkpoint-action", 'I'),
];
/// Letters of `tar` that take a value.
const TAR_VALUES: &str = "fCITXbgHKLNVF";

impl LineWalker<'_> {
    pub(super) fn report_compressor(&mut self, program: &str, words: &[Word]) {
        let has = |names: &[&str], letters: &[char]| has_option(words, names, letters);
        let keeps = program.ends_with("zstd") && !has(&["--rm"], &[]) || has(&["--keep"], &['k']);
        let prints = has(&["--stdout", "--to-stdout", "--list", "--test"], &['c', 'l', 't']);
        for word in words.iter().filter(|word| !word.is_option()) {
            if prints || keeps {
                self.report_read_operand(word, ReadScope::File);
            } else {
                self.report_delete(word);
            }
            // An unpacked file has the name of the packed one without the extension.
            let name = word.text().and_then(|text| text.rsplit_once('.')).filter(|_| !prints);
            if let Some((name, _)) = name {
                self.report_write(&Word::literal(name));
            }
        }
    }

    pub(super) fn report_unzip(&mut self, words: &[Word]) {
        let prints = words.iter().any(|word| word.has_letter(&['c', 'l', 'p', 't', 'v', 'z', 'Z']));
        let outside = self.place.current.clone();
        let mut members = Vec::new();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            match word.text() {
                Some("-d") => {
                    if let Some(directory) = words.next() {
                        self.enter_directory(directory, UNKNOWN_DIRECTORY);
                    }
                }
                // The members after it are left out.
                Some("-x") => break,
                _ if word.is_option() => {}
                _ => members.push(word),
            }
        }
        if !prints {
            self.report_unpacked(members.get(1..).unwrap_or_default());
        }
        self.place.current = outside;
    }

    /// `7z x ARCHIVE -oDIRECTORY MEMBER…`. Everything else that it does is that of any program.
    pub(super) fn report_7z(&mut self, words: &[Word]) {
        if !matches!(words.first().and_then(Word::text), Some("x" | "e")) {
            return;
        }
        let outside = self.place.current.clone();
        if let Some(directory) = words.iter().find(|word| word.prefix().starts_with("-o")) {
            self.enter_directory(&directory.skip_bytes(2), UNKNOWN_DIRECTORY);
        }
        let members: Vec<&Word> = words.iter().skip(1).filter(|word| !word.is_option()).skip(1).collect();
        self.report_unpacked(&members);
        self.place.current = outside;
    }

    /// Reports the members of an archive that are unpacked into the current directory; none: all of them.
    fn report_unpacked(&mut self, members: &[&Word]) {
        if members.is_empty() {
            return self.report_change_below(&Word::literal("."), FileChange::Write);
        }
        for member in members {
            self.report_write(member);
            self.report_change_below(member, FileChange::Write);
        }
    }

    /// Packing reads whole directories, and writes the archive. Unpacking writes the members that are named.
    pub(super) fn report_tar(&mut self, words: &[Word]) {
        let mut tar = TarArguments::default();
        // In the old style, the values of all letters follow the first word, in the order of the letters.
        let is_old_style = words.first().is_some_and(|word| !word.is_option());
        for (at, word) in words.iter().enumerate() {
            let text = word.prefix();
            if let Some(letter) = tar.waiting.pop_front() {
                self.apply_tar_value(letter, word, &mut tar);
            } else if text.starts_with("--") {
                let (name, value) = text
                    .split_once('=')
                    .map_or((text, None), |(name, _)| (name, Some(word.skip_bytes(name.len() + 1))));
                // tar accepts any abbreviation that is unique.
                let is_it =
                    |(long, _): &&(&str, char)| *long == name || name.len() > 4 && long.starts_with(name);
                match (TAR_LONGS.iter().find(is_it), value) {
                    (Some((_, '-')), _) => tar.removes = true,
                    (Some((_, letter)), Some(value)) if TAR_VALUES.contains(*letter) => {
                        self.apply_tar_value(*letter, &value, &mut tar);
                    }
                    (Some((_, letter)), None) if TAR_VALUES.contains(*letter) => {
                        tar.waiting.push_back(*letter);
                    }
                    (Some((_, letter)), _) => tar.note_letter(*letter),
                    (None, _) => {}
                }
            } else if word.is_option() || at == 0 && is_old_style {
                for (from, letter) in text.char_indices().skip(usize::from(word.is_option())) {
                    tar.note_letter(letter);
                    if TAR_VALUES.contains(letter) {
                        if word.is_option() && (from + 1 < text.len() || word.text().is_none()) {
                            self.apply_tar_value(letter, &word.skip_bytes(from + 1), &mut tar);
                            break;
                        }
                        tar.waiting.push_back(letter);
                    }
                }
            } else {
                tar.members.push((word, self.place.current.clone()));
            }
        }
        let outside = self.place.current.clone();
        if tar.unpacks && !tar.prints && tar.members.is_empty() {
            self.report_unpacked(&[]);
        }
        let scope = if tar.packs { ReadScope::Tree } else { ReadScope::File };
        for (word, place) in tar.members {
            self.place.current = place;
            if tar.packs && tar.removes {
                self.report_delete(word);
                self.report_read_operand(word, scope);
            } else if tar.unpacks && !tar.prints {
                self.report_unpacked(&[word]);
            } else {
                self.report_read_operand(word, scope);
            }
        }
        if let Some((archive, place)) = tar.archive.filter(|(archive, _)| archive.text() != Some("-")) {
            self.place.current = place;
            if tar.packs {
                self.report_write(&archive);
            } else {
                self.report_read_operand(&archive, ReadScope::File);
            }
        }
        self.place.current = outside;
    }

    fn apply_tar_value<'a>(&mut self, letter: char, value: &Word<'a>, tar: &mut TarArguments<'_, 'a>) {
        match letter {
            'f' => tar.archive = Some((value.clone(), self.place.current.clone())),
            'C' => self.enter_directory(value, UNKNOWN_DIRECTORY),
            'I' | 'F' => {
                if let Some(text) = value.text() {
                    let line = text.strip_prefix("exec=").unwrap_or(text);
                    self.run_text_before(line.to_owned(), TextKind::Commands);
                }
            }
            'T' | 'X' => self.report_read_operand(value, ReadScope::File),
            _ => {}
        }
    }
}
