//! Programs that a line makes git run: in options, settings and variables.
//!
//! Each of them is a command line for the shell. All of them count as run, because git may run them at any time.

use super::settings::matches_any;
use crate::LineWalker;
use crate::effect::Effect;
use crate::grammar::TextKind;
use crate::programs::variable_steers_programs;
use crate::word::Word;

/// Options whose value is a command line: the command of git, a letter, long names.
const OPTIONS: &[(&str, char, &[&str])] = &[
    ("clone", 'u', &["--upload-pack"]),
    ("difftool", 'x', &["--extcmd"]),
    ("fetch", '\0', &["--upload-pack"]),
    ("fetch-pack", '\0', &["--upload-pack", "--exec"]),
    ("grep", 'O', &["--open-files-in-pager"]),
    ("pull", '\0', &["--upload-pack"]),
    ("push", '\0', &["--receive-pack", "--exec"]),
    ("rebase", 'x', &["--exec"]),
    ("send-email", '\0', &["--sendmail-cmd", "--to-cmd", "--cc-cmd", "--header-cmd"]),
    ("send-pack", '\0', &["--receive-pack", "--exec"]),
];

/// Settings whose value is a command line. A star stands for any text.
#[rustfmt::skip]
const SETTINGS: &[&str] = &[
    "alias.*", "browser.*.cmd", "core.alternaterefscommand", "core.askpass", "core.editor", "core.fsmonitor",
    "core.gitproxy", "core.pager", "core.sshcommand", "credential.*helper", "diff.*.command", "diff.*.textconv",
    "diff.external", "difftool.*.cmd", "filter.*.clean", "filter.*.process", "filter.*.smudge", "gpg.*program",
    "interactive.difffilter", "man.*.cmd", "merge.*.driver", "mergetool.*.cmd", "pager.*",
    "remote.*.receivepack", "remote.*.uploadpack", "sendemail.*cmd", "sequence.editor", "submodule.*.update",
    "tar.*.command", "trailer.*.cmd", "trailer.*.command", "uploadpack.packobjectshook",
];

/// Variables whose value is a command line.
#[rustfmt::skip]
const VARIABLES: &[&str] = &[
    "BROWSER", "EDITOR", "GIT_ASKPASS", "GIT_EDITOR", "GIT_EXTERNAL_DIFF", "GIT_PAGER", "GIT_PROXY_COMMAND",
    "GIT_SEQUENCE_EDITOR", "GIT_SSH", "GIT_SSH_COMMAND", "LESSCLOSE", "LESSOPEN", "MANPAGER", "PAGER",
    "PROMPT_COMMAND", "SSH_ASKPASS", "SUDO_ASKPASS", "VISUAL",
];

impl LineWalker<'_> {
    /// Runs the programs that the arguments of a git command name.
    pub(super) fn run_argument_programs(&mut self, command: &str, words: &[Word]) {
        match command {
            "bisect" if words.first().and_then(Word::text) == Some("run") => {
                self.run_nested_command(&words[1..]);
            }
            "submodule" => {
                let is_foreach = |word: &Word| word.text() == Some("foreach");
                let at = words.iter().position(is_foreach).map_or(words.len(), |at| at + 1);
                let options = words[at..].iter().take_while(|word| word.is_option()).count();
                match &words[at + options..] {
                    [text] => self.run_word_before(text),
                    words => self.run_nested_command(words),
                }
            }
            "filter-branch" => self.run_option_values(words, |name| name.ends_with("-filter"), '\0'),
            "fast-export" | "fast-import" => {
                for word in words {
                    let name = word.prefix().split_once('=').map(|(name, _)| name);
                    if let Some(name @ ("--export-marks" | "--export-pack-edges")) = name {
                        self.report_write(&word.skip_bytes(name.len() + 1));
                    }
                }
            }
            _ => {
                if let Some((_, letter, names)) = OPTIONS.iter().find(|(name, ..)| *name == command) {
                    let is_it =
                        |given: &str| given.len() > 4 && names.iter().any(|name| name.starts_with(given));
                    self.run_option_values(words, is_it, *letter);
                }
            }
        }
        // An address can name the program that fetches it: `ext::sh -c …`, with `% ` for a blank.
        for word in words {
            if let Some((_, line)) = word.text().and_then(|text| text.split_once("ext::")) {
                self.run_text_before(line.replace("% ", "\\ "), TextKind::Commands);
            }
        }
    }

    /// Runs the values of options, with a letter or a long name.
    fn run_option_values(&mut self, words: &[Word], is_name: impl Fn(&str) -> bool, letter: char) {
        for (at, word) in words.iter().enumerate().filter(|(_, word)| word.is_option()) {
            let text = word.prefix();
            let (name, attached) = match text.find('=') {
                Some(equals) if text.starts_with("--") => (&text[..equals], Some(equals + 1)),
                _ if text.starts_with("--") => (text, None),
                _ => match text.find(letter).filter(|at| *at > 0) {
                    Some(at) => ("", Some(at + 1).filter(|at| *at < text.len() || word.text().is_none())),
                    None => continue,
                },
            };
            if !name.is_empty() && !is_name(name) {
                continue;
            }
            match (attached, words.get(at + 1)) {
                (Some(from), _) => self.run_word_before(&word.skip_bytes(from)),
                // `-O` takes only an attached value.
                (None, Some(next)) if letter != 'O' => self.run_word_before(next),
                _ => {}
            }
        }
    }

    fn run_word_before(&mut self, word: &Word) {
        match word.text() {
            Some(text) => self.run_text_before(text.to_owned(), TextKind::Commands),
            None => self.run_text_before(word.source_without_quotes(), TextKind::Rest),
        }
    }

    /// Runs the value of a setting, if git does.
    pub(super) fn run_setting_value(&mut self, name: &str, value: &str) {
        let name = name.to_ascii_lowercase();
        let line = match value.strip_prefix('!') {
            // A git command counts where it is used.
            Some(line) if line.trim_start().starts_with("git ") => return,
            Some(line) => line,
            // Without `!` it is a git command, the name of a helper, or a word.
            None if ["alias.", "credential.", "submodule."].iter().any(|start| name.starts_with(start)) => {
                return;
            }
            None => value,
        };
        if matches_any(&name, SETTINGS) {
            self.run_text_before(line.to_owned(), TextKind::Commands);
        }
    }

    /// `--config-env=NAME=VARIABLE`: the setting counts if the line itself sets the variable.
    pub(super) fn apply_setting_from_variable(&mut self, pair: Option<&str>) {
        let Some((name, variable)) = pair.and_then(|pair| pair.rsplit_once('=')) else { return };
        let value = self.effects.iter().rev().find_map(|effect| match effect {
            Effect::SetVariable { name, value: Some(value) } if name == variable => Some(value.clone()),
            _ => None,
        });
        self.report_unparsed("`--config-env`: a setting of git that is not known here");
        if let Some(value) = value {
            self.git.learn_alias(name, &value);
            if !name.to_ascii_lowercase().starts_with("alias.") {
                self.run_setting_value(name, &value);
            }
        }
    }

    /// Runs the value of a variable, if programs do.
    pub(crate) fn run_variable_value(&mut self, name: &str, word: &Word) {
        if !VARIABLES.contains(&name) && !name.starts_with("GIT_CONFIG_") {
            return;
        }
        let Some(value) = word.assigned_text() else { return };
        if name.starts_with("GIT_CONFIG_VALUE_") {
            return self.run_text_before(value.trim_start_matches('!').to_owned(), TextKind::Commands);
        }
        if name == "GIT_CONFIG_PARAMETERS" {
            for part in value.split('\'').filter_map(|part| part.strip_prefix('!')) {
                self.run_text_before(part.to_owned(), TextKind::Commands);
            }
        } else if VARIABLES.contains(&name) && variable_steers_programs(name, Some(value)) {
            self.run_text_before(value.trim_start_matches('|').to_owned(), TextKind::Commands);
        }
    }
}
