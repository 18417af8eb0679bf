//! Compares the words of a pattern with the words of a run.
//!
//! Options are looked up one by one. Operands are matched by walking over the run once with the set of all possible
//! numbers of pattern words that have been matched so far. The walk happens twice: once for what is certain, and once
//! for what some value of the unknown words makes possible.

use crate::effect::UnknownWord;
use crate::pattern::arguments::{Arguments, OptionValue, Token, is_number, strip_equals};
use crate::pattern::run::{ProgramWord, RunView, is_subsequence, strip_directory};
use crate::pattern::table::{OptionScope, ValueForm};
use crate::pattern::{CommandPattern, PatternMatch, PatternWord};

pub(super) fn match_run(pattern: &CommandPattern, run: &RunView) -> PatternMatch {
    let mut best = PatternMatch::No;
    for wanted in pattern.program.alternatives() {
        let is_program = run.match_program(wanted);
        if is_program <= best {
            continue;
        }
        let name = match run.program() {
            ProgramWord::Known(program) => strip_directory(program),
            // Its own words may follow: `$X` may be `git push --force`.
            ProgramWord::Unknown(word) if word.splits => return PatternMatch::Unknown,
            ProgramWord::Unknown(_) => strip_directory(wanted),
        };
        let arguments = Arguments::parse(name, run.arguments());
        let is_unknown = matches!(run.program(), ProgramWord::Unknown(_));
        let limit = if is_unknown { PatternMatch::Unknown } else { is_program };
        best = best.max(match_words(&pattern.words, &arguments).min(limit));
    }
    best
}

/// A pattern word that an operand can match.
struct OperandStep<'a> {
    word: PatternWord<'a>,
    /// Whether an option matches it instead.
    by_option: PatternMatch,
}

fn match_words(words: &[PatternWord], arguments: &Arguments) -> PatternMatch {
    let mut answer = PatternMatch::Yes;
    let mut steps = Vec::with_capacity(words.len());
    for word in words {
        let found = word.options().map(|option| find_option(option, arguments)).max();
        if word.operands().next().is_some() {
            steps.push(OperandStep { word: *word, by_option: found.unwrap_or(PatternMatch::No) });
        } else {
            answer = answer.min(found.unwrap_or(PatternMatch::No));
        }
        if answer == PatternMatch::No {
            return PatternMatch::No;
        }
    }
    if answer == PatternMatch::Yes && matches_operands(&steps, &arguments.tokens, true) {
        PatternMatch::Yes
    } else if matches_operands(&steps, &arguments.tokens, false) {
        PatternMatch::Unknown
    } else {
        PatternMatch::No
    }
}

/// A set of numbers of matched steps: bit `n` is set if the first `n` steps may be matched.
type StepSet = u64;

fn matches_operands(steps: &[OperandStep], tokens: &[Token], is_certain: bool) -> bool {
    let least = if is_certain { PatternMatch::Yes } else { PatternMatch::Unknown };
    // Steps that an option matches need no operand.
    let close = |mut set: StepSet| {
        for (at, step) in steps.iter().enumerate() {
            if set >> at & 1 == 1 && step.by_option >= least {
                set |= 2 << at;
            }
        }
        set
    };
    let done: StepSet = 1 << steps.len();
    let advance = |set: StepSet, is_match: &dyn Fn(&OperandStep) -> bool| {
        let matched =
            |(at, step): (usize, &OperandStep)| (set >> at & 1 == 1 && is_match(step)).then_some(2 << at);
        // All steps are matched, so the other operands do not matter.
        steps.iter().enumerate().filter_map(matched).fold(set & done, |all: StepSet, bit: StepSet| all | bit)
    };
    let mut set = close(1);
    let (mut has_ended, mut has_operand, mut may_be_value) = (false, false, false);
    for token in tokens {
        if set & done != 0 || set == 0 {
            break;
        }
        let was_value = std::mem::take(&mut may_be_value);
        set = match *token {
            Token::Operand(text) => {
                has_operand = true;
                let next =
                    advance(set, &|step| step.word.operands().any(|operand| is_operand(operand, text)));
                if was_value { next | set } else { next }
            }
            Token::Prelude(text) => {
                set | advance(set, &|step| step.word.operands().any(|operand| is_operand(operand, text)))
            }
            Token::Separator => {
                has_ended = true;
                set
            }
            Token::Letter(..) | Token::Name(..) => set,
            Token::Unknown { is_rest: true, .. } if is_certain => set,
            Token::Unknown { word, .. } if is_certain => {
                let is_option = !has_ended && word.prefix.starts_with('-');
                // Before the command, a variable is for options, and may be empty.
                let may_vanish = word.splits && word.prefix.is_empty() && !has_operand && !has_ended;
                let next = advance(set, &|step| step.word.operands().any(|operand| operand == "*"));
                match (is_option, may_vanish) {
                    (true, _) => set,
                    (false, true) => next | set,
                    (false, false) => {
                        has_operand = true;
                        next
                    }
                }
            }
            Token::Unknown { word, is_rest } => {
                let may_be_option = !has_ended && (word.may_dash || word.prefix.starts_with('-'));
                may_be_value = may_be_option;
                if is_rest || word.splits && (word.may_dash || word.prefix.is_empty()) {
                    // Any number of operands.
                    let lowest = set & set.wrapping_neg();
                    !(lowest - 1) & (done | (done - 1))
                } else {
                    let is_match = |step: &OperandStep| {
                        step.word.operands().any(|operand| may_be_operand(word, operand))
                    };
                    let mut next = advance(set, &is_match);
                    if word.splits {
                        // Bits only move up, so one round for each step is enough.
                        for _ in steps {
                            next |= advance(close(next), &is_match);
                        }
                    }
                    if may_be_option { next | set } else { next }
                }
            }
        };
        set = close(set);
    }
    set & done != 0
}

fn is_operand(wanted: &str, text: &str) -> bool {
    wanted == "*" || trim_slashes(wanted) == trim_slashes(text)
}

/// A path without slashes at its end; `/` stays.
fn trim_slashes(text: &str) -> &str {
    match text.trim_end_matches('/') {
        "" => text.get(..1).unwrap_or(text),
        trimmed => trimmed,
    }
}

fn may_be_operand(word: &UnknownWord, wanted: &str) -> bool {
    let wanted = trim_slashes(wanted);
    wanted == "*"
        || word.prefix.strip_prefix(wanted).is_some_and(|rest| rest == "/" && word.tail.is_empty())
        || wanted.strip_prefix(&*word.prefix).is_some_and(|rest| {
            let tail = word.tail.trim_end_matches('/');
            word.splits || is_subsequence(tail, rest)
        })
}

fn find_option(option: &str, arguments: &Arguments) -> PatternMatch {
    let Arguments { tokens, scope } = arguments;
    if option == "--" {
        if tokens.iter().any(|token| matches!(token, Token::Separator)) {
            return PatternMatch::Yes;
        }
        return find_unknown(tokens, "--");
    }
    if option.starts_with("--") || scope.has_word_options() || is_number(option) {
        let (name, value) = match option.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (option, None),
        };
        return find_in_tokens(arguments, WantedOption::Name(name), value).max(find_unknown(tokens, name));
    }
    let mut answer = PatternMatch::Yes;
    for (at, letter) in option.char_indices().skip(1) {
        let rest = &option[at + letter.len_utf8()..];
        let has_value =
            !rest.is_empty() && (rest.starts_with('=') || scope.letter_value(letter) != ValueForm::Nothing);
        let value = has_value.then(|| strip_equals(rest));
        let found = find_in_tokens(arguments, WantedOption::Letter(letter), value);
        answer = answer.min(found.max(find_unknown_letter(tokens, letter)));
        if has_value {
            break;
        }
    }
    answer
}

#[derive(Clone, Copy)]
enum WantedOption<'a> {
    Letter(char),
    Name(&'a str),
}

fn find_in_tokens(arguments: &Arguments, wanted: WantedOption, value: Option<&str>) -> PatternMatch {
    let Arguments { tokens, scope } = arguments;
    let mut answer = PatternMatch::No;
    for (at, token) in tokens.iter().enumerate() {
        let (is_it, given) = match *token {
            Token::Letter(letter, given) => (is_wanted_letter(wanted, letter, scope), given),
            Token::Name(name, given) => (is_wanted_name(wanted, name, scope), given),
            Token::Separator => break,
            _ => continue,
        };
        if !is_it {
            continue;
        }
        let found = match (value, given) {
            (None, _) => PatternMatch::Yes,
            (Some(_), OptionValue::Unknown) => PatternMatch::Unknown,
            (Some(value), OptionValue::Known(given)) if value == given => PatternMatch::Yes,
            // The table does not know that the option takes a value, but the pattern does.
            (Some(value), OptionValue::Nothing) => match tokens.get(at + 1) {
                Some(Token::Operand(next) | Token::Prelude(next)) if *next == value => PatternMatch::Yes,
                Some(Token::Unknown { .. }) => PatternMatch::Unknown,
                _ => PatternMatch::No,
            },
            _ => PatternMatch::No,
        };
        answer = answer.max(found);
    }
    answer
}

fn is_wanted_letter(wanted: WantedOption, letter: char, scope: &OptionScope) -> bool {
    match wanted {
        WantedOption::Letter(wanted) => {
            wanted == letter || scope.has_synonyms() && scope.are_synonyms(&short(wanted), &short(letter))
        }
        WantedOption::Name(name) => scope.has_synonyms() && scope.are_synonyms(name, &short(letter)),
    }
}

fn is_wanted_name(wanted: WantedOption, name: &str, scope: &OptionScope) -> bool {
    match wanted {
        WantedOption::Letter(wanted) => {
            scope.has_synonyms()
                && scope.are_synonyms(&short(wanted), scope.resolve_long(name).0.unwrap_or(name))
        }
        WantedOption::Name(wanted) => {
            scope.is_same_name(name, wanted)
                || scope.has_synonyms()
                    && scope.are_synonyms(wanted, scope.resolve_long(name).0.unwrap_or(name))
        }
    }
}

fn short(letter: char) -> String {
    format!("-{letter}")
}

/// Whether an unknown word may be this option.
fn find_unknown(tokens: &[Token], name: &str) -> PatternMatch {
    find_unknown_token(tokens, |word| {
        let is_name = name.starts_with(&*word.prefix);
        is_name
            && (word.splits
                || word.tail.contains('=')
                || is_subsequence(&word.tail, &name[word.prefix.len()..]))
    })
}

/// Whether an unknown word may be a cluster with this letter.
fn find_unknown_letter(tokens: &[Token], letter: char) -> PatternMatch {
    // The known letters of a cluster are tokens of their own.
    find_unknown_token(tokens, |word| {
        !word.prefix.starts_with("--")
            && (word.splits || !word.tail.contains('/') || word.tail.contains(letter))
    })
}

fn find_unknown_token(tokens: &[Token], may_be: impl Fn(&UnknownWord) -> bool) -> PatternMatch {
    let before_separator = tokens.iter().take_while(|token| !matches!(token, Token::Separator));
    let is_found = |token: &Token| match *token {
        Token::Unknown { word, is_rest } => {
            let is_any = word.splits && word.may_dash;
            is_rest || is_any || (word.may_dash || word.prefix.starts_with('-')) && may_be(word)
        }
        _ => false,
    };
    if before_separator.into_iter().any(is_found) { PatternMatch::Unknown } else { PatternMatch::No }
}
