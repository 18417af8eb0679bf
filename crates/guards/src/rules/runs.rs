//! Whether a command starts a program that a rule names.

use crate::prelude::*;

use super::call::KeyMatch;
use super::scene::{CommandEffects, Scene};
use provost_core::effect::Effect;
use provost_core::rules::{FETCHED_CODE, RuleRegex, RuleSubject, RuleText, SAME_PROGRAM};
use provost_core::text::quote_start;
use provost_shell::pattern::{
    ArgumentWord, CommandPattern, PatternMatch, ProgramWord, RunView, is_excused, may_name_program,
};

/// What the words that `xargs` gives to a command are called.
const FED_WORDS: &str = "xargs";

pub(super) fn match_runs(
    subject: &RuleSubject,
    exceptions: &[RuleText],
    command: &CommandEffects<'_>,
    scene: &Scene<'_>,
) -> KeyMatch {
    if runs_fetched_code(&subject.runs, &command.effects) {
        return KeyMatch::Yes("runs code from the network".into());
    }
    let mut result = KeyMatch::No;
    for run in &command.runs {
        let found = match_any(&subject.runs, run);
        if found == PatternMatch::No || is_excepted(exceptions, run) {
            continue;
        }
        if subject.argument.as_ref().is_some_and(|pattern| !has_argument(pattern, run, command.number, scene))
        {
            continue;
        }
        if subject.code.as_ref().is_some_and(|pattern| !gets_code(pattern, run, command.number, scene)) {
            continue;
        }
        if subject.sets.as_ref().is_some_and(|pattern| !is_set(pattern, command.number, scene)) {
            continue;
        }
        if !subject.fed_by.is_empty() && !is_fed_by(&subject.fed_by, run, command.number, scene) {
            continue;
        }
        if found == PatternMatch::Yes {
            return KeyMatch::Yes(format!("runs {}", quote_start(&describe(run))));
        }
        result = KeyMatch::Unknown;
    }
    result
}

fn is_excepted(exceptions: &[RuleText], run: &RunView<'_>) -> bool {
    is_excused(&parse_patterns(exceptions, run).collect::<Vec<_>>(), run)
}

/// The patterns that may be about the program of a run. Most patterns end here, before they are parsed.
fn parse_patterns<'p>(
    patterns: &'p [RuleText],
    run: &RunView<'_>,
) -> impl Iterator<Item = CommandPattern<'p>> {
    let program = run.program();
    let may_match = move |pattern: &&RuleText| match program {
        ProgramWord::Known(program) => may_name_program(&pattern.text, program),
        ProgramWord::Unknown(_) => true,
    };
    // A rule with a broken pattern decides nothing; `config check` reports it.
    patterns.iter().filter(may_match).filter_map(|pattern| CommandPattern::parse(&pattern.text).ok())
}

/// The best match of all patterns.
fn match_any(patterns: &[RuleText], run: &RunView<'_>) -> PatternMatch {
    let mut best = PatternMatch::No;
    for pattern in parse_patterns(patterns, run) {
        best = best.max(pattern.matches(run));
        if best == PatternMatch::Yes {
            break;
        }
    }
    best
}

/// Whether a program that a pattern names feeds a command.
fn is_fed_by(patterns: &[RuleText], fed: &RunView<'_>, number: u32, scene: &Scene<'_>) -> bool {
    let feeds = |run: &RunView<'_>| {
        let is_same = patterns.iter().any(|pattern| pattern.text == SAME_PROGRAM)
            && matches!((run.program(), fed.program()), (ProgramWord::Known(one), ProgramWord::Known(other)) if one == other);
        is_same || match_any(patterns, run) == PatternMatch::Yes
    };
    scene.feeding_commands(number).any(|command| command.runs.iter().any(feeds))
}

/// Whether the command, or one in front of it, sets such a variable.
fn is_set(pattern: &RuleRegex, number: u32, scene: &Scene<'_>) -> bool {
    let before = scene.commands().iter().filter(|other| other.number <= number);
    before.flat_map(|command| &command.effects).any(|effect| match effect {
        Effect::SetVariable { name, value } => {
            pattern.finds(&format!("{name}={}", value.as_deref().unwrap_or_default()))
        }
        _ => false,
    })
}

/// Whether a program gets code that a regular expression matches: in its words, from `echo` or in a here-document.
fn gets_code(pattern: &RuleRegex, run: &RunView<'_>, number: u32, scene: &Scene<'_>) -> bool {
    let is_printer = |run: &&RunView<'_>| match run.program() {
        ProgramWord::Known(program) => matches!(program, "echo" | "printf"),
        ProgramWord::Unknown(_) => false,
    };
    let prints_code = |command: &CommandEffects<'_>| {
        command.runs.iter().filter(is_printer).any(|run| has_argument(pattern, run, command.number, scene))
    };
    has_argument(pattern, run, number, scene)
        || scene.feeding_commands(number).any(prints_code)
        || scene.event.line().texts_for(number).any(|text| pattern.finds(text))
}

fn has_argument(pattern: &RuleRegex, run: &RunView<'_>, number: u32, scene: &Scene<'_>) -> bool {
    run.arguments().iter().any(|word| {
        let text = match word {
            // `sudo /usr/bin/apt` starts the file, and does nothing to it.
            ArgumentWord::Known(text) if text.contains('/') && is_started(text, number, scene) => "",
            ArgumentWord::Known(text) => text,
            // What a search finds is chosen by its own words, and not by a list that nobody has seen.
            ArgumentWord::Unknown(word) if word.source == FED_WORDS && is_fed_by_search(number, scene) => "",
            ArgumentWord::Unknown(word) => word.source.as_str(),
        };
        pattern.finds(text)
    })
}

/// Whether a command starts a program by this path.
fn is_started(path: &str, number: u32, scene: &Scene<'_>) -> bool {
    let mut own = scene.commands().iter().filter(|command| command.number == number);
    own.any(|command| {
        command.runs.iter().any(|run| matches!(run.program(), ProgramWord::Known(program) if program == path))
    })
}

fn is_fed_by_search(number: u32, scene: &Scene<'_>) -> bool {
    let is_search = |run: &RunView<'_>| match run.program() {
        ProgramWord::Known(program) => {
            matches!(program.rsplit('/').next(), Some("find" | "gfind" | "fd" | "fdfind"))
        }
        ProgramWord::Unknown(_) => false,
    };
    scene.feeding_commands(number).any(|command| command.runs.iter().any(is_search))
}

fn describe(run: &RunView<'_>) -> String {
    let program = match run.program() {
        ProgramWord::Known(program) => program,
        ProgramWord::Unknown(word) => &word.source,
    };
    let mut text = program.to_owned();
    for word in run.arguments() {
        text.push(' ');
        text.push_str(match word {
            ArgumentWord::Known(text) => text,
            ArgumentWord::Unknown(word) => &word.source,
        });
    }
    text
}

/// Whether the command runs code from the network, and a rule is about that.
fn runs_fetched_code(patterns: &[RuleText], command: &[&Effect]) -> bool {
    command.iter().any(|effect| matches!(effect, Effect::RunFetched))
        && patterns.iter().any(|pattern| pattern.text == FETCHED_CODE)
}
