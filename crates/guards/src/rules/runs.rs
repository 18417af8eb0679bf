//! Whether a command starts a program that a rule names.

use crate::prelude::*;

use super::call::KeyMatch;
use super::scene::{CommandEffects, Scene};
use provost_core::effect::Effect;
use provost_core::rules::{FETCHED_CODE, RuleSubject, RuleText};
use provost_core::text::quote_start;
use provost_shell::pattern::{ArgumentWord, CommandPattern, PatternMatch, ProgramWord, RunView};
use regex_lite::Regex;

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
        if found == PatternMatch::No || match_any(exceptions, run) == PatternMatch::Yes {
            continue;
        }
        if subject.argument.as_ref().is_some_and(|pattern| !has_argument(pattern, run)) {
            continue;
        }
        if subject.code.as_ref().is_some_and(|pattern| !gets_code(pattern, run, command.number, scene)) {
            continue;
        }
        if !subject.fed_by.is_empty() && !is_fed_by(&subject.fed_by, command.number, scene) {
            continue;
        }
        if found == PatternMatch::Yes {
            return KeyMatch::Yes(format!("runs {}", quote_start(&describe(run))));
        }
        result = KeyMatch::Unknown;
    }
    result
}

/// The best match of all patterns.
fn match_any(patterns: &[RuleText], run: &RunView<'_>) -> PatternMatch {
    let mut best = PatternMatch::No;
    for text in patterns.iter().filter(|text| may_name_program(&text.text, run)) {
        // A rule with a broken pattern decides nothing; `config check` reports it.
        let Ok(pattern) = CommandPattern::parse(&text.text) else { continue };
        best = best.max(pattern.matches(run));
        if best == PatternMatch::Yes {
            break;
        }
    }
    best
}

/// Whether the first word of a pattern may be the program. Most patterns end here, before they are parsed.
fn may_name_program(pattern: &str, run: &RunView<'_>) -> bool {
    let ProgramWord::Known(program) = run.program() else { return true };
    let name = program.rsplit('/').next().unwrap_or(program);
    let name = name.strip_suffix(".exe").unwrap_or(name);
    let first = pattern.split_ascii_whitespace().next().unwrap_or_default();
    first.split('|').any(|wanted| wanted == name || wanted == "*" || wanted.contains('/'))
}

/// Whether a program that a pattern names feeds a command.
fn is_fed_by(patterns: &[RuleText], number: u32, scene: &Scene<'_>) -> bool {
    let mut feeding = scene.feeding_commands(number);
    feeding.any(|command| command.runs.iter().any(|run| match_any(patterns, run) == PatternMatch::Yes))
}

/// Whether a program gets code that a regular expression matches: in its words, from `echo` or in a here-document.
fn gets_code(pattern: &RuleText, run: &RunView<'_>, number: u32, scene: &Scene<'_>) -> bool {
    let is_printer = |run: &&RunView<'_>| match run.program() {
        ProgramWord::Known(program) => matches!(program, "echo" | "printf"),
        ProgramWord::Unknown(_) => false,
    };
    let prints_code = |command: &CommandEffects<'_>| {
        command.runs.iter().filter(is_printer).any(|run| has_argument(pattern, run))
    };
    has_argument(pattern, run)
        || scene.feeding_commands(number).any(prints_code)
        || Regex::new(&pattern.text)
            .is_ok_and(|pattern| scene.event.line().texts_for(number).any(|text| pattern.is_match(text)))
}

fn has_argument(pattern: &RuleText, run: &RunView<'_>) -> bool {
    // A rule with a broken pattern decides nothing; `config check` reports it.
    let Ok(pattern) = Regex::new(&pattern.text) else { return false };
    run.arguments().iter().any(|word| match word {
        ArgumentWord::Known(text) => pattern.is_match(text),
        ArgumentWord::Unknown(word) => pattern.is_match(&word.source),
    })
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
