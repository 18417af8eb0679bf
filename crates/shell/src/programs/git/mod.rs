//! `git`: which of its commands read, which change something, and where a commit lands.
//!
//! The command follows the options of git itself. [`commands`] says what kind of command it is, and [`forms`] judges
//! commands that only read in some forms. [`switches`] follows the checked-out branch from one command of a line to
//! the next, [`branch_updates`] finds the branches that get commits, [`pushes`] those of other
//! repositories, and [`tree_changes`] the files that change. An
//! unknown command may be an alias for anything.

mod branch_updates;
mod child_programs;
mod commands;
mod context;
mod forms;
mod messages;
mod named_files;
mod options;
mod pushes;
mod settings;
mod switches;
mod tree_changes;

pub(crate) use context::GitContext;
pub(super) use settings::shows_signature;

use super::{CommandName, ParsedArguments, RUNS, is_listed};
use crate::LineWalker;
use crate::word::Word;
use commands::GitCommandKind;
use context::GitDirectory;
use settings::GitSetting;

const GIT: CommandName = CommandName::new("git");
const UNKNOWN_DIRECTORY: &str = "git in an unknown directory";

/// Options of git itself that change nothing.
const HARMLESS: &str = "\
    --no-pager -P --no-replace-objects --no-lazy-fetch --no-optional-locks --no-advice --literal-pathspecs \
    --glob-pathspecs --noglob-pathspecs --icase-pathspecs --bare";
/// Options of git itself that take a value.
const WITH_VALUE: &str = "-C -c --git-dir --work-tree --config-env --namespace --super-prefix --attr-source";
/// Options of git itself that print something instead of running a command.
const QUESTIONS: &str = "--exec-path --html-path --man-path --info-path --version -v --help -h --list-cmds";

impl LineWalker<'_> {
    pub(super) fn report_git(&mut self, mut words: &[Word]) {
        while let Some(word) = words.first().filter(|word| word.prefix().starts_with('-')) {
            words = &words[1..];
            let text = word.prefix();
            let (name, attached) = match text.split_once('=') {
                Some((name, _)) => (name, Some(word.skip_bytes(name.len() + 1))),
                None if word.text().is_none() => return self.report_unknown_git_word(word),
                None => (text, None),
            };
            match name {
                _ if is_listed(HARMLESS, name) => {}
                _ if is_listed(WITH_VALUE, name) => {
                    let value = attached.or_else(|| words.split_off_first().cloned());
                    self.apply_git_option(name, value.as_ref());
                }
                "-p" | "--paginate" => self.report_mutation(GIT, name, "runs a pager"),
                "--exec-path" if attached.is_some() => self.report_mutation(GIT, name, RUNS),
                _ if is_listed(QUESTIONS, name) => return,
                _ => return self.report_unknown_git_word(word),
            }
        }
        self.note_command_site();
        let Some((command, words)) = words.split_first() else {
            if self.git.is_fed {
                self.record_unknown_switch();
            }
            return;
        };
        let Some(name) = command.text() else { return self.report_unknown_git_word(command) };
        self.run_argument_programs(name, words);
        let Some(kind) = commands::find_kind(name) else { return self.run_alias(name, words) };
        if let [only] = words
            && matches!(only.text(), Some("-h" | "--help"))
        {
            return;
        }
        let caller = CommandName { program: "git", command: name };
        match kind {
            GitCommandKind::Reads(options) => {
                self.report_options(caller, options, words);
            }
            GitCommandKind::DependsOnArguments => self.report_git_form(caller, words),
            GitCommandKind::Does(_)
                if name == "commit" && switches::is_dry_run(&switches::parse_commit(words)) => {}
            GitCommandKind::Does(does) => self.report_mutation(caller, "", does),
        }
        if let ("config", Some((alias, value))) = (name, parse_written_setting(words)) {
            self.git.learn_alias(alias, value);
            self.run_setting_value(alias, value);
        }
        self.report_branch_effects(name, words);
        self.report_changed_files(name, words);
    }

    /// Runs an unknown command as the alias that the line has defined, if there is one.
    fn run_alias(&mut self, name: &str, words: &[Word]) {
        self.report_unparsed(&format!("`{name}`: a command of git that is not known here"));
        let is_it = |(alias, _): &&(String, String)| alias.eq_ignore_ascii_case(name);
        let Some((_, value)) = self.git.aliases.iter().rfind(is_it).cloned() else {
            self.report_branch_updates(name, words);
            return self.assume_alias_switches(words);
        };
        let line = match value.strip_prefix('!') {
            Some(text) => text.to_owned(),
            None => format!("git {value}"),
        };
        let rest: Vec<&str> = words.iter().map(|word| word.source).collect();
        let queued = self.nested.len();
        self.run_text(format!("{line} {}", rest.join(" ")));
        self.pass_status_from(queued);
    }

    /// Reports an unknown option of git itself, or an unknown command: the rest may be anything.
    fn report_unknown_git_word(&mut self, word: &Word) {
        self.record_unknown_switch();
        match word.text() {
            Some(_) => self.report_unknown_option(GIT, word),
            None => self.report_possible_option(GIT, word),
        }
    }

    /// Applies an option of git itself that takes a value.
    fn apply_git_option(&mut self, name: &str, value: Option<&Word>) {
        let is_unknown = value.is_some_and(|word| word.text().is_none());
        let text = value.and_then(Word::text);
        match (name, value) {
            ("-c", Some(setting)) => self.report_setting(setting),
            ("--config-env", _) => self.apply_setting_from_variable(text),
            // Files in a repository decide what git runs, so the repository must be known.
            ("-C" | "--git-dir" | "--work-tree", Some(_)) if is_unknown => {
                self.report_unparsed(UNKNOWN_DIRECTORY);
                if name == "--work-tree" {
                    self.git.work_tree = None;
                } else {
                    self.git.directory = GitDirectory::Unknown;
                }
            }
            ("-C", Some(directory)) if text != Some("") => {
                self.enter_directory(directory, UNKNOWN_DIRECTORY);
            }
            ("--git-dir", _) => self.git.directory = self.resolve_git_directory(text),
            ("--work-tree", _) => self.git.work_tree = text.map(Into::into),
            _ => {}
        }
    }

    /// `-c name=value`.
    fn report_setting(&mut self, word: &Word) {
        let text = word.prefix();
        let (name, value) = match text.split_once('=') {
            Some((name, value)) => {
                self.git.learn_alias(name, value);
                (name, word.text().map(|_| value))
            }
            None if word.text().is_none() => return self.report_unparsed_word(word),
            None => (text, Some("true")),
        };
        match settings::classify_setting(name, value) {
            GitSetting::Harmless => {}
            GitSetting::Runs => {
                self.report_mutation(GIT, &format!("-c {name}"), RUNS);
                // An alias that the line defines is followed where it is used.
                if !name.to_ascii_lowercase().starts_with("alias.") {
                    self.run_setting_value(name, value.unwrap_or_default());
                }
            }
            GitSetting::Unknown => {
                self.report_unparsed(&format!("`-c {name}`: a setting of git that is not known here"));
            }
        }
    }
}

/// The name and the value of `git config NAME VALUE`.
fn parse_written_setting<'w>(words: &'w [Word]) -> Option<(&'w str, &'w str)> {
    let arguments = ParsedArguments::parse(words, "elzf:t:", options::CONFIG);
    let mut operands = arguments.operands.into_iter().filter_map(Word::text);
    let mut name = operands.next()?;
    if name == "set" {
        name = operands.next()?;
    }
    Some((name, operands.next()?))
}
