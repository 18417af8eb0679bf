//! Programs that a line gives git to run: in options, settings and variables.
//!
//! Each of them is a command line for the shell. They count as run, because git may run them at any time.

use crate::effect::Effect;
use crate::shell::Line;
use crate::shell::grammar::Kind;
use crate::shell::programs::steers;
use crate::shell::word::Word;

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

impl Line<'_> {
    /// The programs that the words behind a command of git name.
    pub(super) fn run_given_programs(&mut self, command: &str, words: &[Word]) {
        match command {
            "bisect" if words.first().and_then(Word::known) == Some("run") => self.inner(&words[1..]),
            "submodule" => {
                let is_foreach = |word: &Word| word.known() == Some("foreach");
                let at = words.iter().position(is_foreach).map_or(words.len(), |at| at + 1);
                let options = words[at..].iter().take_while(|word| word.is_option()).count();
                match &words[at + options..] {
                    [text] => self.run_text(text),
                    words => self.inner(words),
                }
            }
            "filter-branch" => {
                self.run_options(words, |name| name.starts_with("--") && name.ends_with("-filter"), '\0');
            }
            "fast-export" | "fast-import" => {
                let is_output = |word: &&Word| {
                    ["--export-marks=", "--export-pack-edges="]
                        .iter()
                        .any(|name| word.start().starts_with(name))
                };
                for word in words.iter().filter(is_output) {
                    let at = word.start().find('=').map_or(0, |at| at + 1);
                    self.write(&word.behind(at));
                }
            }
            _ => {
                if let Some((_, letter, names)) = OPTIONS.iter().find(|(name, ..)| *name == command) {
                    let is_it =
                        |given: &str| given.len() > 4 && names.iter().any(|name| name.starts_with(given));
                    self.run_options(words, is_it, *letter);
                }
            }
        }
        // An address that names the program which fetches it: `ext::sh -c …`, with `% ` for a blank.
        for word in words {
            if let Some((_, line)) = word.known().and_then(|text| text.split_once("ext::")) {
                self.read_before(line.replace("% ", "\\ "), Kind::Commands);
            }
        }
    }

    /// Runs the values of options, with a letter or a long name.
    fn run_options(&mut self, words: &[Word], is_name: impl Fn(&str) -> bool, letter: char) {
        for (at, word) in words.iter().enumerate().filter(|(_, word)| word.is_option()) {
            let text = word.start();
            let (name, attached) = match text.find('=') {
                Some(equals) if text.starts_with("--") => (&text[..equals], Some(equals + 1)),
                _ if text.starts_with("--") => (text, None),
                _ => match text.find(letter).filter(|at| *at > 0) {
                    Some(at) => ("", Some(at + 1).filter(|at| *at < text.len() || word.known().is_none())),
                    None => continue,
                },
            };
            if !name.is_empty() && !is_name(name) {
                continue;
            }
            match (attached, words.get(at + 1)) {
                (Some(from), _) => self.run_text(&word.behind(from)),
                // A letter that takes only an attached value has none here.
                (None, Some(next)) if letter != 'O' => self.run_text(next),
                _ => {}
            }
        }
    }

    fn run_text(&mut self, word: &Word) {
        match word.known() {
            Some(text) => self.read_before(text.to_owned(), Kind::Commands),
            None => self.read_before(word.unquoted(), Kind::Rest),
        }
    }

    /// A setting whose value git runs.
    pub(super) fn run_setting(&mut self, name: &str, value: &str) {
        let name = name.to_ascii_lowercase();
        let is_it = |pattern: &&str| match pattern.split_once('*') {
            Some((start, end)) => {
                name.len() >= start.len() + end.len() && name.starts_with(start) && name.ends_with(end)
            }
            None => name == **pattern,
        };
        let line = match value.strip_prefix('!') {
            // Another command of git counts where it is used.
            Some(line) if line.trim_start().starts_with("git ") => return,
            Some(line) => line,
            // Without the sign it is a command of git, the name of a helper, or a word.
            None if ["alias.", "credential.", "submodule."].iter().any(|start| name.starts_with(start)) => {
                return;
            }
            None => value,
        };
        if SETTINGS.iter().any(is_it) {
            self.read_before(line.to_owned(), Kind::Commands);
        }
    }

    /// `--config-env=NAME=VARIABLE`, where the line itself has set the variable.
    pub(super) fn setting_from_variable(&mut self, pair: Option<&str>) {
        let Some((name, variable)) = pair.and_then(|pair| pair.rsplit_once('=')) else { return };
        let value = self.effects.iter().rev().find_map(|effect| match effect {
            Effect::SetVariable { name, value: Some(value) } if name == variable => Some(value.clone()),
            _ => None,
        });
        self.obscure("`--config-env`: a setting of git that is not known here");
        if let Some(value) = value {
            self.git.learn_alias(name, &value);
            if !name.to_ascii_lowercase().starts_with("alias.") {
                self.run_setting(name, &value);
            }
        }
    }
}

impl Line<'_> {
    /// A variable whose value programs run.
    pub(in crate::shell) fn run_variable(&mut self, name: &str, word: &Word) {
        if !VARIABLES.contains(&name) && !name.starts_with("GIT_CONFIG_") {
            return;
        }
        let Some((_, value)) = word.known().and_then(|text| text.split_once('=')) else { return };
        if name.starts_with("GIT_CONFIG_VALUE_") {
            return self.read_before(value.trim_start_matches('!').to_owned(), Kind::Commands);
        }
        if name == "GIT_CONFIG_PARAMETERS" {
            for part in value.split('\'').filter_map(|part| part.strip_prefix('!')) {
                self.read_before(part.to_owned(), Kind::Commands);
            }
        } else if VARIABLES.contains(&name) && steers(name, Some(value)) {
            self.read_before(value.trim_start_matches('|').to_owned(), Kind::Commands);
        }
    }
}
