//! `flutter`, `dart` and `fvm`: questions about the project pass, what builds, runs or changes it
//! does not.

use super::options::{Deed, Name, Options, STRICT};
use super::{Caller, Found};
use crate::shell::Line;
use crate::shell::word::Word;

const ACTS: &str = "runs or changes the project";
const CHANGES: Deed = Deed::Does(ACTS);

/// Options before the command, of all three.
const GLOBAL: Options = Options {
    letters: "hvd:",
    longs: "\
        --color --device-id= --help --machine --no-color --no-version-check --no-wrap \
        --suppress-analytics --verbose --version --version-check --wrap --wrap-column=",
    loud: &[("--enable-analytics", CHANGES), ("--disable-analytics", CHANGES)],
    ..STRICT
};

/// The options of questions that can be turned into deeds; all others do no harm.
fn question(program: &str, command: &str) -> Option<&'static [(&'static str, Deed)]> {
    Some(match (program, command) {
        (_, "help")
        | ("flutter", "devices")
        | ("dart", "info")
        | ("fvm", "list" | "ls" | "releases" | "doctor") => &[],
        ("flutter", "doctor") => &[("--android-licenses", CHANGES)],
        ("flutter", "emulators") => &[("--launch=", CHANGES), ("--create", CHANGES), ("--name=", CHANGES)],
        _ => return None,
    })
}

impl Line<'_> {
    pub(super) fn flutter(&mut self, program: &str, words: &[Word]) {
        let caller = Caller { program, command: "" };
        // Options end where the command starts; a device is the value of one.
        let is_device = |word: &Word| matches!(word.known(), Some("-d" | "--device-id" | "--wrap-column"));
        let is_command = |at: &usize| !words[*at].is_option() && (*at == 0 || !is_device(&words[at - 1]));
        let at = (0..words.len()).find(is_command).unwrap_or(words.len());
        let (before, behind) = words.split_at(at);
        let found = self.judge(caller, &GLOBAL, before);
        let Some((command, rest)) = behind.split_first() else { return };
        if found.is_obscure {
            return;
        }
        let Some(command) = command.known() else { return self.doubt(caller, command) };
        let caller = Caller { program, command };
        if let [only] = rest
            && matches!(only.known(), Some("--help" | "-h"))
        {
            return;
        }
        match (program, command) {
            ("fvm", "flutter" | "dart") => self.flutter(command, rest),
            ("fvm", "exec") => {
                self.act(caller, "", "runs another program");
                self.inner(rest);
            }
            ("flutter" | "dart", "pub") => {
                let is_question = rest
                    .first()
                    .is_none_or(|word| matches!(word.known(), Some("deps" | "outdated" | "--help" | "-h")));
                if !is_question {
                    let by = rest[0].source();
                    self.act(caller, by, ACTS);
                }
            }
            ("flutter", "config") => {
                if !matches!(rest, [only] if matches!(only.known(), Some("--list" | "--machine")))
                    && !rest.is_empty()
                {
                    self.act(caller, "", "changes settings");
                }
            }
            ("flutter" | "dart", "analyze") => self.analyze(caller, rest),
            ("dart", "format") => self.dart_format(caller, rest),
            ("dart", "fix") => {
                let has = |names: &[&str]| {
                    rest.iter().any(|word| word.known().is_some_and(|text| names.contains(&text)))
                };
                let is_certain = rest.iter().all(|word| !word.may_be_option());
                if !has(&["--dry-run", "-n"]) || has(&["--apply"]) || !is_certain {
                    self.act(caller, "", ACTS);
                }
            }
            _ => match question(program, command) {
                Some(loud) => {
                    let options = Options { loud, quiet: true, ..STRICT };
                    self.judge_project(caller, &options, rest);
                }
                None => self.act(caller, "", ACTS),
            },
        }
    }

    fn judge_project<'w, 'a>(
        &mut self,
        caller: Caller,
        options: &Options,
        words: &'w [Word<'a>],
    ) -> Found<'w, 'a> {
        let found = self.judge(caller, options, words);
        // Files in a project tell it what to load, so it must be known which one is meant.
        if let Some(word) = found.operands.iter().find(|word| word.known().is_none()) {
            self.obscure(&format!("`{}`: a project of {caller} that is not known", word.source()));
        }
        found
    }

    /// `flutter analyze` first runs `flutter pub get`, which writes, unless it is told not to.
    fn analyze(&mut self, caller: Caller, words: &[Word]) {
        let options = if caller.program == "flutter" { FLUTTER_ANALYZE } else { DART_ANALYZE };
        let found = self.judge_project(caller, &options, words);
        let last = found.options.iter().rev().find_map(|(name, _)| match name {
            Name::Long("--pub") => Some(true),
            Name::Long("--no-pub") | Name::Not("--pub") => Some(false),
            _ => None,
        });
        if caller.program == "flutter" && last != Some(false) && !found.is_loud {
            self.act(caller, "", "runs `flutter pub get` first, unless it has `--no-pub`");
        }
    }

    /// It writes the files that it is given, unless every output that is asked for is another.
    fn dart_format(&mut self, caller: Caller, words: &[Word]) {
        let options = Options { letters: "o:l:hv", longs: FORMAT, ..STRICT };
        let found = self.judge(caller, &options, words);
        let mut outputs =
            found.options.iter().filter(|(name, _)| super::is(*name, 'o', "--output")).peekable();
        let is_harmless = |value: &Option<Word>| {
            value.as_ref().is_some_and(|word| matches!(word.known(), Some("none" | "show" | "json")))
        };
        if outputs.peek().is_none() || !outputs.all(|(_, value)| is_harmless(value)) {
            self.act(caller, "", "writes the files that it is given");
        }
    }
}

const FLUTTER_ANALYZE: Options = Options {
    letters: "hv",
    longs: "\
        --congratulate --current-package --fatal-infos --fatal-warnings --help --no-congratulate \
        --no-current-package --no-fatal-infos --no-fatal-warnings --no-preamble --no-pub --preamble --pub \
        --verbose",
    loud: &[
        ("--android", CHANGES),
        ("--benchmark", CHANGES),
        ("--ios", CHANGES),
        ("--macos", CHANGES),
        ("--protocol-traffic-log=", Deed::Writes),
        ("--watch", CHANGES),
        ("--write=", CHANGES),
    ],
    ..STRICT
};

const DART_ANALYZE: Options = Options {
    letters: "hv",
    longs: "\
        --enable-experiment= --fatal-infos --fatal-warnings --format= --help --no-fatal-warnings --packages= \
        --verbose",
    loud: &[
        ("--cache=", Deed::Does("writes files to the cache that it is given")),
        ("--protocol-traffic-log=", Deed::Writes),
        ("--sdk-path=", Deed::Does("runs another program")),
    ],
    ..STRICT
};

const FORMAT: &str = "\
    --enable-experiment= --fix --help --indent= --language-version= --line-length= --output= \
    --page-width= --set-exit-if-changed --show= --summary= --trailing-commas= --verbose";
