//! Commands that apply patches: `git apply`, `git am`, `patch`.
//!
//! Their words say where the patch comes from and how its names are read. Which files it changes is decided by
//! whoever can read it: see [`PatchCommand`].

use std::path::{Path, PathBuf};

use super::git::found;
use super::options::Name;
use super::{Found, is};
use crate::effect::Effect;
use crate::effect::patch::PatchCommand;
use crate::shell::word::Word;
use crate::shell::{LONGEST_PATH, Line};

const PATCH: &str = "\
    --backup --backup-if-mismatch --batch --context --directory= --dry-run --ed --force --forward --fuzz= --get= \
    --ifdef= --input= --merge --normal --output= --posix --prefix= --quiet --quoting-style= --reject-file= \
    --reject-format= --remove-empty-files --reverse --set-time --silent --strip= --suffix= --unified --verbose \
    --version-control=";

impl Line<'_> {
    /// `git apply` and `git am`, with the words that were found.
    pub(super) fn apply_patches(&mut self, program: &'static str, found: &Found) {
        let command = PatchCommand {
            program,
            is_from_top: true,
            strip: number_of(found, 'p', "").or(Some(1)),
            below: value_of(found, '\0', "--directory").and_then(|word| word.known().map(PathBuf::from)),
            included: known_values(found, "--include"),
            excluded: known_values(found, "--exclude"),
            ..PatchCommand::default()
        };
        self.push_patches(&command, &found.operands);
    }

    pub(super) fn patch(&mut self, words: &[Word]) {
        let found = found(words, "bB:cd:D:eEfF:g:i:lnNo:p:r:RstTuvV:x:Y:z:Z", PATCH);
        if found.has('\0', "--dry-run") || found.has('C', "") {
            return;
        }
        let outside = self.place.current.clone();
        if let Some(directory) = value_of(&found, 'd', "--directory") {
            match directory.known() {
                Some(text) => {
                    if let Some(what) = self.place.enter(text, self.work) {
                        self.obscure(what);
                    }
                }
                None => self.obscure("a patch in an unknown directory"),
            }
        }
        let outputs = [value_of(&found, 'o', "--output"), value_of(&found, 'r', "--reject-file")];
        for file in outputs.iter().flatten() {
            self.write(file);
        }
        if let Some(file) = found.operands.first() {
            self.write(file);
        }
        let input = value_of(&found, 'i', "--input");
        let files: Vec<&Word> = input.iter().chain(found.operands.get(1).copied()).collect();
        let strip = number_of(&found, 'p', "--strip");
        self.push_patches(&PatchCommand { program: "patch", strip, ..PatchCommand::default() }, &files);
        self.place.current = outside;
    }

    fn push_patches(&mut self, command: &PatchCommand, files: &[&Word]) {
        let mut is_fed = files.is_empty();
        let mut names = Vec::new();
        for word in files {
            let source = word.source();
            match word.known() {
                Some(text) if text == "-" || text.starts_with("/dev/") || text.starts_with("/proc/") => {
                    is_fed = true;
                }
                Some(text) if text.len() <= LONGEST_PATH => names.push(text.to_owned()),
                Some(_) => {}
                None if source.contains(['$', '`', '(', '{', '~']) => is_fed |= source.contains('('),
                None => names.push(word.unquoted()),
            }
        }
        for directory in self.place.current.clone().iter() {
            let files: Vec<PathBuf> = names.iter().map(|name| directory.join(name)).collect();
            let cost = files.iter().map(|file| file.as_os_str().len() + size_of::<PathBuf>()).sum::<usize>();
            let cost = cost + directory.as_os_str().len() + size_of::<PatchCommand>();
            let work_tree = self.git.work_tree().map(|top: &Path| directory.join(top));
            let directory = directory.to_path_buf();
            let command = PatchCommand { directory, work_tree, files, is_fed, ..command.clone() };
            self.push(Effect::ApplyPatch(Box::new(command)), cost);
        }
    }
}

fn value_of<'a>(found: &Found<'_, 'a>, letter: char, long: &str) -> Option<Word<'a>> {
    found.options.iter().rev().find(|(name, _)| is(*name, letter, long)).and_then(|(_, value)| value.clone())
}

fn number_of(found: &Found, letter: char, long: &str) -> Option<usize> {
    value_of(found, letter, long)?.known()?.parse().ok()
}

fn known_values(found: &Found, long: &str) -> Vec<String> {
    let values = found.options.iter().filter(|(name, _)| matches!(name, Name::Long(found) if *found == long));
    values.filter_map(|(_, value)| value.as_ref()?.known().map(str::to_owned)).collect()
}
