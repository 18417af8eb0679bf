//! `flutter`, `dart` and `fvm`: questions about the project are harmless; commands that build, run or change it are
//! reported.

use super::options::{OptionAction, OptionName, OptionTable, STRICT};
use super::{CommandName, ParsedArguments, RUNS};
use crate::LineWalker;
use crate::word::Word;

const ACTS: &str = "runs or changes the project";
const CHANGES: OptionAction = OptionAction::Does(ACTS);

/// Options in front of the command, for all three programs.
const GLOBAL: OptionTable = OptionTable {
    letters: "hvd:",
    longs: "\
        --color --device-id= --help --machine --no-color --no-version-check --no-wrap \
        --suppress-analytics --verbose --version --version-check --wrap --wrap-column=",
    mutating: &[(CHANGES, "--enable-analytics --disable-analytics")],
    ..STRICT
};

/// The mutating options of a command that only answers a question otherwise.
fn find_question(program: &str, command: &str) -> Option<&'static [(OptionAction, &'static str)]> {
    Some(match (program, command) {
        (_, "help")
        | ("flutter", "devices")
        | ("dart", "info")
        | ("fvm", "list" | "ls" | "releases" | "doctor") => &[],
        ("flutter", "doctor") => &[(CHANGES, "--android-licenses")],
        ("flutter", "emulators") => &[(CHANGES, "--launch= --create --name=")],
        _ => return None,
    })
}

impl LineWalker<'_> {
    pub(super) fn report_flutter(&mut self, program: &str, words: &[Word]) {
        let caller = CommandName::new(program);
        // Options end where the command starts; a device is the value of one.
        let is_device = |word: &Word| matches!(word.text(), Some("-d" | "--device-id" | "--wrap-column"));
        let is_command = |at: &usize| !words[*at].is_option() && (*at == 0 || !is_device(&words[at - 1]));
        let at = (0..words.len()).find(is_command).unwrap_or(words.len());
        let arguments = self.report_options(caller, &GLOBAL, &words[..at]);
        let Some((command, rest)) = words[at..].split_first() else { return };
        if arguments.is_uncertain {
            return;
        }
        let Some(command) = command.text() else { return self.report_possible_option(caller, command) };
        let caller = CommandName { program, command };
        let is_help = |word: &Word| matches!(word.text(), Some("--help" | "-h"));
        if matches!(rest, [only] if is_help(only)) {
            return;
        }
        match (program, command) {
            ("fvm", "flutter" | "dart") => self.report_flutter(command, rest),
            ("fvm", "exec") => {
                self.report_mutation(caller, "", RUNS);
                self.run_nested_command(rest);
            }
            ("flutter" | "dart", "pub") => {
                let is_question =
                    |word: &Word| is_help(word) || matches!(word.text(), Some("deps" | "outdated"));
                if let Some(first) = rest.first().filter(|word| !is_question(word)) {
                    self.report_mutation(caller, first.source, ACTS);
                }
            }
            ("flutter", "config") => {
                let is_question = |word: &Word| matches!(word.text(), Some("--list" | "--machine"));
                if rest.len() > 1 || !rest.iter().all(is_question) {
                    self.report_mutation(caller, "", "changes settings");
                }
            }
            ("flutter" | "dart", "analyze") => self.report_analyze(caller, rest),
            ("dart", "format") => self.report_dart_format(caller, rest),
            ("dart", "fix") => {
                let has = |name: &str| rest.iter().any(|word| word.text() == Some(name));
                let is_certain = rest.iter().all(|word| !word.may_be_option());
                if !(has("--dry-run") || has("-n")) || has("--apply") || !is_certain {
                    self.report_mutation(caller, "", ACTS);
                }
            }
            _ => match find_question(program, command) {
                Some(mutating) => {
                    let options = OptionTable { mutating, allows_unlisted: true, ..STRICT };
                    self.report_project_options(caller, &options, rest);
                }
                None => self.report_mutation(caller, "", ACTS),
            },
        }
    }

    fn report_project_options<'w, 'a>(
        &mut self,
        caller: CommandName,
        options: &OptionTable,
        words: &'w [Word<'a>],
    ) -> ParsedArguments<'w, 'a> {
        let arguments = self.report_options(caller, options, words);
        // Files in a project decide what the program loads, so the project must be known.
        if let Some(word) = arguments.operands.iter().find(|word| word.text().is_none()) {
            self.report_unparsed(&format!("`{}`: a project of {caller} that is not known", word.source));
        }
        arguments
    }

    /// `flutter analyze` first runs `flutter pub get`, which writes, unless it has `--no-pub`.
    fn report_analyze(&mut self, caller: CommandName, words: &[Word]) {
        let options = if caller.program == "flutter" { FLUTTER_ANALYZE } else { DART_ANALYZE };
        let arguments = self.report_project_options(caller, &options, words);
        let last = arguments.options.iter().rev().find_map(|(name, _)| match name {
            OptionName::Long("--pub") => Some(true),
            OptionName::Long("--no-pub") | OptionName::Negated("--pub") => Some(false),
            _ => None,
        });
        if caller.program == "flutter" && last != Some(false) && !arguments.is_mutating {
            self.report_mutation(caller, "", "runs `flutter pub get` first, unless it has `--no-pub`");
        }
    }

    /// `dart format` writes the files that it is given, unless every `--output` is harmless.
    fn report_dart_format(&mut self, caller: CommandName, words: &[Word]) {
        let options = OptionTable { letters: "o:l:hv", longs: FORMAT, ..STRICT };
        let arguments = self.report_options(caller, &options, words);
        let mut outputs =
            arguments.values('o', "--output").map(|value| value.and_then(Word::text)).peekable();
        if outputs.peek().is_none() || !outputs.all(|value| matches!(value, Some("none" | "show" | "json"))) {
            self.report_mutation(caller, "", "writes the files that it is given");
        }
    }
}

const FLUTTER_ANALYZE: OptionTable = OptionTable {
    letters: "hv",
    longs: "\
        --congratulate --current-package --fatal-infos --fatal-warnings --help --no-congratulate \
        --no-current-package --no-fatal-infos --no-fatal-warnings --no-preamble --no-pub --preamble --pub \
        --verbose",
    mutating: &[
        (CHANGES, "--android --benchmark --ios --macos --watch --write="),
        (OptionAction::Writes, "--protocol-traffic-log="),
    ],
    ..STRICT
};

const DART_ANALYZE: OptionTable = OptionTable {
    letters: "hv",
    longs: "\
        --enable-experiment= --fatal-infos --fatal-warnings --format= --help --no-fatal-warnings --packages= \
        --verbose",
    mutating: &[
        (OptionAction::Does("writes files to the cache that it is given"), "--cache="),
        (OptionAction::Writes, "--protocol-traffic-log="),
        (OptionAction::Does(RUNS), "--sdk-path="),
    ],
    ..STRICT
};

const FORMAT: &str = "\
    --enable-experiment= --fix --help --indent= --language-version= --line-length= --output= \
    --page-width= --set-exit-if-changed --show= --summary= --trailing-commas= --verbose";
