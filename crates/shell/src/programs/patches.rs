//! Commands that apply patches: `git apply`, `git am`, `patch`, `apply_patch`.
//!
//! Their arguments say where the patch comes from and how its names are read. The caller reads the patch itself to
//! find out which files it changes: see [`PatchCommand`].

use std::path::PathBuf;

use super::ParsedArguments;
use crate::directories::DirectoryList;
use crate::effect::envelope::{self, EnvelopeChange};
use crate::effect::patch::PatchCommand;
use crate::effect::{Effect, FileChange};
use crate::texts::TextSource;
use crate::word::Word;
use crate::{LONGEST_PATH, LineWalker};

const PATCH: &str = "\
    --backup --backup-if-mismatch --batch --context --directory= --dry-run --ed --force --forward --fuzz= --get= \
    --ifdef= --input= --merge --normal --output= --posix --prefix= --quiet --quoting-style= --reject-file= \
    --reject-format= --remove-empty-files --reverse --set-time --silent --strip= --suffix= --unified --verbose \
    --version-control=";

impl LineWalker<'_> {
    /// Reports the patches of `git apply` and `git am`.
    pub(super) fn report_git_patches(&mut self, program: &'static str, arguments: &ParsedArguments) {
        let command = PatchCommand {
            program,
            is_from_top: true,
            strip: parse_number(arguments, 'p', "").or(Some(1)),
            below: arguments.value('\0', "--directory").and_then(|word| word.text().map(PathBuf::from)),
            included: arguments.known_values('\0', "--include"),
            excluded: arguments.known_values('\0', "--exclude"),
            is_reversed: arguments.has('R', "--reverse"),
            ..PatchCommand::default()
        };
        self.report_patches(&command, &arguments.operands, None);
    }

    pub(super) fn report_patch(&mut self, words: &[Word]) {
        let arguments = ParsedArguments::parse(words, "bB:cd:D:eEfF:g:i:lnNo:p:r:RstTuvV:x:Y:z:Z", PATCH);
        if arguments.has('\0', "--dry-run") || arguments.has('C', "") {
            return;
        }
        let outside = self.place.current.clone();
        if let Some(directory) = arguments.value('d', "--directory") {
            self.enter_directory(directory, "a patch in an unknown directory");
        }
        let outputs = [arguments.value('o', "--output"), arguments.value('r', "--reject-file")];
        for file in outputs.into_iter().flatten().chain(arguments.operands.first().copied()) {
            self.report_write(file);
        }
        let input = arguments.value('i', "--input");
        let files: Vec<&Word> = input.into_iter().chain(arguments.operands.get(1).copied()).collect();
        let command = PatchCommand {
            program: "patch",
            strip: parse_number(&arguments, 'p', "--strip"),
            is_reversed: arguments.has('R', "--reverse"),
            ..PatchCommand::default()
        };
        self.report_patches(&command, &files, arguments.operands.first().and_then(|word| word.text()));
        self.place.current = outside;
    }

    /// Reports the files of an `apply_patch` patch, which is an argument or the input.
    pub(super) fn report_envelope(&mut self, words: &[Word]) {
        let directories = self.place.current.clone();
        match (words.first(), self.texts.input.clone()) {
            (Some(word), _) => match word.text() {
                Some(text) => self.report_envelope_text(text, &directories),
                None => self.report_unknown_envelope(word.source),
            },
            (None, Some(TextSource::Known { text, is_complete: true })) => {
                self.report_envelope_text(&text, &directories);
            }
            (None, Some(TextSource::Document(number))) => {
                if let Some(document) = self.find_document(number) {
                    document.envelope = Some(directories);
                }
            }
            (None, _) => self.report_unknown_envelope("apply_patch"),
        }
    }

    /// Reports the files of a patch whose names are relative to these directories.
    pub(crate) fn report_envelope_text(&mut self, text: &str, directories: &DirectoryList) {
        for directory in directories.iter() {
            for effect in envelope::list_effects(text, directory) {
                self.report_effect(effect, text.len());
            }
        }
    }

    /// Reports the files of a here-document whose names the shell expands.
    pub(crate) fn report_expanded_envelope(&mut self, text: &str, is_quoted: bool) {
        if is_quoted || !text.contains(['$', '`']) {
            return;
        }
        for file in envelope::read_envelope(text) {
            let moved_to = match file.change {
                EnvelopeChange::Update { moved_to, .. } => moved_to,
                _ => None,
            };
            for name in [Some(file.name), moved_to].into_iter().flatten() {
                if name.contains(['$', '`']) {
                    self.report_unknown_envelope(&name);
                }
            }
        }
    }

    fn report_unknown_envelope(&mut self, target: &str) {
        let effect = Effect::UnknownTarget {
            target: target.to_owned(),
            places: Vec::new(),
            change: FileChange::Write,
        };
        self.report_effect(effect, target.len());
    }

    /// `target`: the file that all patches change.
    fn report_patches(&mut self, command: &PatchCommand, files: &[&Word], target: Option<&str>) {
        let target = target.filter(|name| name.len() <= LONGEST_PATH);
        let mut is_fed = files.is_empty();
        let mut names = Vec::new();
        for word in files {
            let source = word.source;
            match word.text() {
                Some(text) if text == "-" || text.starts_with("/dev/") || text.starts_with("/proc/") => {
                    is_fed = true;
                }
                Some(text) if text.len() <= LONGEST_PATH => names.push(text.to_owned()),
                Some(_) => {}
                None if source.contains(['$', '`', '(', '{', '~']) => is_fed |= source.contains('('),
                None => names.push(word.source_without_quotes()),
            }
        }
        for directory in self.place.current.clone().iter() {
            let files: Vec<PathBuf> = names.iter().map(|name| directory.join(name)).collect();
            let target = target.map(|name| directory.join(name));
            let cost = files
                .iter()
                .chain(&target)
                .map(|file| file.as_os_str().len() + size_of::<PathBuf>())
                .sum::<usize>();
            let cost = cost + directory.as_os_str().len() + size_of::<PatchCommand>();
            let work_tree = self.git.work_tree.as_ref().map(|top| directory.join(top));
            let directory = directory.to_path_buf();
            let command = PatchCommand { directory, work_tree, target, files, is_fed, ..command.clone() };
            self.report_effect(Effect::ApplyPatch(Box::new(command)), cost);
        }
    }
}

fn parse_number(arguments: &ParsedArguments, letter: char, long: &str) -> Option<usize> {
    arguments.value(letter, long)?.text()?.parse().ok()
}
