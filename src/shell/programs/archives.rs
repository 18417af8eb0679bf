//! Programs that pack and unpack: what becomes of the files that their words name.
//!
//! What an archive holds is not known, but a member that is asked for by its name is, and so is a file that is
//! packed away.

use crate::effect::Effect;
use crate::shell::Line;
use crate::shell::grammar::Kind;
use crate::shell::word::Word;

/// Whether a program puts a packed file in the place of the one that it is given, or the other way round.
pub(super) fn is_compressor(program: &str) -> bool {
    matches!(
        program,
        "bunzip2"
            | "bzip2"
            | "compress"
            | "gunzip"
            | "gzip"
            | "lzip"
            | "lzma"
            | "pigz"
            | "uncompress"
            | "unlzma"
            | "unxz"
            | "unzstd"
            | "xz"
            | "zstd"
    )
}

/// What tar is told to do.
#[derive(Clone, Copy, PartialEq)]
enum Tar {
    Packs,
    Unpacks,
    Lists,
}

impl Line<'_> {
    pub(super) fn compress(&mut self, program: &str, words: &[Word]) {
        let has = |names: &[&str], letters: &[char]| {
            words.iter().any(|word| {
                word.has_letter(letters) || names.iter().any(|name| word.start().starts_with(name))
            })
        };
        let keeps = program.ends_with("zstd") && !has(&["--rm"], &[]) || has(&["--keep"], &['k']);
        let prints = has(&["--stdout", "--to-stdout", "--list", "--test"], &['c', 'l', 't']);
        for word in words.iter().filter(|word| !word.is_option()) {
            if prints {
                self.read_operand(word, false);
                continue;
            }
            if keeps {
                self.read_operand(word, false);
            } else {
                self.each(word, 0, |path| Effect::Delete { path });
            }
            // What comes out of a packed file has its name without the ending.
            if let Some((name, _)) = word.known().and_then(|text| text.rsplit_once('.')) {
                self.write(&Word::literal(name));
            }
        }
    }

    pub(super) fn unzip(&mut self, words: &[Word]) {
        let shows = words.iter().any(|word| word.has_letter(&['c', 'l', 'p', 't', 'v', 'z', 'Z']));
        let outside = self.place.current.clone();
        let mut members = Vec::new();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            match word.known() {
                Some("-d") => {
                    if let Some(directory) = words.next() {
                        self.enter_archive(directory);
                    }
                }
                // Behind it stands what is left out.
                Some("-x") => break,
                _ if word.is_option() => {}
                _ => members.push(word),
            }
        }
        for member in members.iter().skip(1).filter(|_| !shows) {
            self.write(member);
        }
        self.place.current = outside;
    }

    /// Packing reads whole directories, and writes the archive. Unpacking writes the members that are named.
    pub(super) fn tar(&mut self, words: &[Word]) {
        const LONGS: &[&str] = &[
            "--create",
            "--append",
            "--update",
            "--concatenate",
            "--extract",
            "--get",
            "--to-stdout",
            "--remove-files",
            "--file",
            "--directory",
        ];
        const RUN: &[&str] = &[
            "--use-compress-program",
            "--to-command",
            "--info-script",
            "--new-volume-script",
            "--rsh-command",
            "--checkpoint-action",
        ];
        let (mut mode, mut removes, mut prints) = (Tar::Lists, false, false);
        // In the old style the values of all letters follow the first word, in the order of the letters.
        let is_old_style = words.first().is_some_and(|word| !word.is_option());
        let mut waiting: std::collections::VecDeque<char> = std::collections::VecDeque::new();
        let (mut operands, mut archive) = (Vec::new(), None);
        for (at, word) in words.iter().enumerate() {
            let text = word.start();
            if let Some(letter) = waiting.pop_front().filter(|_| !(is_old_style && at == 0)) {
                self.tar_value(letter, word, &mut archive);
                continue;
            }
            let is_letters = at == 0 && is_old_style || word.is_option() && !text.starts_with("--");
            if is_letters {
                for (from, letter) in text.char_indices().skip(usize::from(word.is_option())) {
                    match letter {
                        'c' | 'r' | 'u' | 'A' => mode = Tar::Packs,
                        'x' => mode = Tar::Unpacks,
                        'O' => prints = true,
                        _ => {}
                    }
                    if "fCITXbgHKLNVF".contains(letter) {
                        if word.is_option() && (from + 1 < text.len() || word.known().is_none()) {
                            self.tar_value(letter, &word.behind(from + 1), &mut archive);
                            break;
                        }
                        waiting.push_back(letter);
                    }
                }
            } else if text.starts_with("--") {
                let (name, value) = text
                    .split_once('=')
                    .map_or((text, None), |(name, _)| (name, Some(word.behind(name.len() + 1))));
                // tar knows its options by any start that no other has.
                let is_start = |long: &&&str| name.len() > 4 && long.starts_with(name);
                match LONGS.iter().find(is_start).copied().unwrap_or(name) {
                    "--create" | "--append" | "--update" | "--concatenate" => mode = Tar::Packs,
                    "--extract" | "--get" => mode = Tar::Unpacks,
                    "--to-stdout" => prints = true,
                    "--remove-files" => removes = true,
                    long @ ("--file" | "--directory") => {
                        let letter = if long == "--file" { 'f' } else { 'C' };
                        match value {
                            Some(value) => self.tar_value(letter, &value, &mut archive),
                            None => waiting.push_back(letter),
                        }
                    }
                    _ if name.len() > 4 && RUN.iter().any(|run| run.starts_with(name)) => match value {
                        Some(value) => self.tar_value('I', &value, &mut archive),
                        None => waiting.push_back('I'),
                    },
                    _ => {}
                }
            } else {
                operands.push((word, self.place.current.clone()));
            }
        }
        let outside = self.place.current.clone();
        for (word, place) in operands {
            self.place.current = place;
            match mode {
                Tar::Packs if removes => self.each(word, 0, |path| Effect::Delete { path }),
                Tar::Unpacks if !prints => self.write(word),
                _ => self.read_operand(word, mode == Tar::Packs),
            }
        }
        self.place.current = outside;
        match archive {
            Some((archive, place)) if archive.known() != Some("-") => {
                let here = std::mem::replace(&mut self.place.current, place);
                if mode == Tar::Packs {
                    self.write(&archive);
                } else {
                    self.read_operand(&archive, false);
                }
                self.place.current = here;
            }
            _ => {}
        }
    }

    fn tar_value<'w>(
        &mut self,
        letter: char,
        value: &Word<'w>,
        archive: &mut Option<(Word<'w>, crate::shell::directories::Directories)>,
    ) {
        match letter {
            'f' => *archive = Some((value.clone(), self.place.current.clone())),
            'C' => self.enter_archive(value),
            'I' | 'F' => {
                if let Some(text) = value.known() {
                    let line = text.strip_prefix("exec=").unwrap_or(text);
                    self.read_before(line.to_owned(), Kind::Commands);
                }
            }
            'T' | 'X' => self.read_operand(value, false),
            _ => {}
        }
    }

    fn enter_archive(&mut self, directory: &Word) {
        let lost = match directory.known() {
            Some(text) => self.place.enter(text, self.work),
            None => Some("a command in an unknown directory"),
        };
        if let Some(what) = lost {
            self.obscure(what);
        }
    }
}
