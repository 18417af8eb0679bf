//! Compares the words of a pattern with the words of a run.
//!
//! Options are looked up one by one. Operands are matched by walking over the run once with the set of all possible
//! numbers of pattern words that have been matched so far. The walk happens twice: once for what is certain, and once
//! for what some value of the unknown words makes possible.

use std::cell::LazyCell;

use crate::effect::UnknownWord;
use crate::pattern::arguments::{Arguments, OptionValue, Token, is_number, strip_equals};
use crate::pattern::run::{ProgramWord, RunView, is_subsequence, strip_directory};
use crate::pattern::spellings::list_spellings;
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
        best = best.max(match_words(pattern, &arguments).min(limit));
    }
    best
}

/// A pattern word that an operand can match.
struct OperandStep<'a> {
    word: PatternWord<'a>,
    /// Whether an option matches it instead.
    by_option: PatternMatch,
}

fn match_words(pattern: &CommandPattern, arguments: &Arguments) -> PatternMatch {
    let CommandPattern { words, is_whole, .. } = pattern;
    if *is_whole && has_other_option(words, arguments) {
        return PatternMatch::No;
    }
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
    let spellings = LazyCell::new(|| list_spellings(arguments.scope.program(), &arguments.tokens, *is_whole));
    let mut levels = [PatternMatch::Yes, PatternMatch::Unknown].into_iter().filter(|level| *level <= answer);
    let matches_at = |level: &PatternMatch| {
        let matches = |tokens: &[Token]| matches_operands(&steps, tokens, *level, *is_whole);
        matches(&arguments.tokens) || spellings.iter().any(|tokens| matches(tokens))
    };
    levels.find(matches_at).unwrap_or(PatternMatch::No)
}

/// Whether an option is given that no word of a pattern asks for.
fn has_other_option(words: &[PatternWord], arguments: &Arguments) -> bool {
    let has_option = |token: Token| {
        let alone = Arguments { tokens: vec![token], scope: arguments.scope.clone() };
        let mut options = words.iter().flat_map(|word| word.options());
        options.any(|option| match token {
            Token::Separator => option == "--",
            Token::Letter(letter, _) if is_cluster(option, &alone.scope) => {
                let mut letters = option.chars().skip(1);
                letters.any(|wanted| is_wanted_letter(WantedOption::Letter(wanted), letter, &alone.scope))
            }
            _ => find_option(option, &alone) == PatternMatch::Yes,
        })
    };
    let is_option = |token: &&Token| matches!(token, Token::Letter(..) | Token::Name(..) | Token::Separator);
    arguments.tokens.iter().filter(is_option).any(|token| !has_option(*token))
}

/// A set of numbers of matched steps: bit `n` is set if the first `n` steps may be matched.
type StepSet = u64;

/// The walk over the operands of a run.
// Each bool is a fact of its own about the walk.
#[allow(clippy::struct_excessive_bools)]
struct OperandWalk<'s, 'a> {
    steps: &'s [OperandStep<'a>],
    /// `Yes` for what is certain, `Unknown` for what is possible.
    level: PatternMatch,
    has_ended: bool,
    has_operand: bool,
    /// The next word may be the value of an option.
    may_be_value: bool,
    /// Each operand must be one of a step.
    is_whole: bool,
}

fn matches_operands(steps: &[OperandStep], tokens: &[Token], level: PatternMatch, is_whole: bool) -> bool {
    let mut walk =
        OperandWalk { steps, level, has_ended: false, has_operand: false, may_be_value: false, is_whole };
    let done: StepSet = 1 << steps.len();
    let mut set = walk.skip_options(1);
    for token in tokens {
        if set & done != 0 && !is_whole || set == 0 {
            break;
        }
        set = walk.follow(set, token);
        set = walk.skip_options(set);
    }
    set & done != 0
}

impl OperandWalk<'_, '_> {
    /// Adds the steps behind those that an option matches, because they need no operand.
    fn skip_options(&self, mut set: StepSet) -> StepSet {
        for (at, step) in self.steps.iter().enumerate() {
            if set >> at & 1 == 1 && step.by_option >= self.level {
                set |= 2 << at;
            }
        }
        set
    }

    /// Matches one operand.
    fn advance(&self, set: StepSet, is_match: impl Fn(&str) -> bool) -> StepSet {
        let mut next = 0;
        for (at, step) in self.steps.iter().enumerate() {
            if set >> at & 1 == 1 && step.word.operands().any(&is_match) {
                next |= 2 << at;
            }
        }
        next
    }

    fn follow(&mut self, set: StepSet, token: &Token) -> StepSet {
        let may_be_value = std::mem::take(&mut self.may_be_value);
        match *token {
            Token::Operand(text) => {
                self.has_operand = true;
                let next = self.advance(set, |operand| is_operand(operand, text));
                if may_be_value { next | set } else { next }
            }
            Token::Prelude(text) => {
                let next = self.advance(set, |operand| is_operand(operand, text));
                if self.is_whole { next } else { next | set }
            }
            Token::Separator => {
                self.has_ended = true;
                set
            }
            Token::Letter(..) | Token::Name(..) => set,
            Token::Unknown { word, is_rest } if self.level == PatternMatch::Yes => {
                if is_rest || !self.has_ended && word.prefix.starts_with('-') {
                    return if self.is_whole { 0 } else { set };
                }
                // Before the command, a variable is for options, and may be empty.
                let is_optional =
                    word.splits && word.prefix.is_empty() && !self.has_operand && !self.has_ended;
                self.has_operand |= !is_optional;
                if self.is_whole && word.splits {
                    return 0;
                }
                let next = self.advance(set, |operand| operand == "*");
                if is_optional { next | set } else { next }
            }
            Token::Unknown { word, is_rest } => self.follow_unknown(set, word, is_rest),
        }
    }

    /// All that an unknown word makes possible.
    fn follow_unknown(&mut self, set: StepSet, word: &UnknownWord, is_rest: bool) -> StepSet {
        let has_dash = !self.has_ended && word.prefix.starts_with('-');
        let may_be_option = has_dash || !self.has_ended && word.may_dash;
        self.may_be_value = may_be_option;
        let is_match = |operand: &str| may_be_operand(word, operand);
        if word.splits && (word.may_dash || word.prefix.is_empty()) {
            // Any number of operands, but a known beginning belongs to the first of them.
            let is_free = is_rest || has_dash || word.prefix.is_empty();
            let first = if is_free { set } else { self.advance(set, is_match) };
            return all_above(first, self.steps.len());
        }
        let mut next = self.advance(set, is_match);
        if word.splits {
            // A pattern of files: one or more operands with the same beginning.
            for (at, step) in self.steps.iter().enumerate() {
                if next >> at & 1 == 1 && step.word.operands().any(is_match) {
                    next |= 2 << at;
                }
            }
        }
        if may_be_option { next | set } else { next }
    }
}

/// All numbers from the least one of a set up to `count`.
fn all_above(set: StepSet, count: usize) -> StepSet {
    let lowest = set & set.wrapping_neg();
    let all = (2 << count) - 1;
    if lowest == 0 { 0 } else { all & !(lowest - 1) }
}

fn is_operand(wanted: &str, text: &str) -> bool {
    match wanted.split_once('*') {
        None => trim_slashes(wanted) == trim_slashes(text),
        Some(parts) => matches_wildcard(parts, text),
    }
}

fn is_value(wanted: &str, given: &str) -> bool {
    wanted.split_once('*').map_or(wanted == given, |parts| matches_wildcard(parts, given))
}

/// Whether a text fits a word with at least one `*`: what stands in front of the first one, and the rest.
fn matches_wildcard((start, rest): (&str, &str), text: &str) -> bool {
    let Some(mut text) = text.strip_prefix(start) else { return false };
    let mut parts = rest.split('*');
    let last = parts.next_back().unwrap_or_default();
    for part in parts {
        match text.find(part) {
            Some(at) => text = &text[at + part.len()..],
            None => return false,
        }
    }
    text.ends_with(last)
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
    if let Some((start, _)) = wanted.split_once('*') {
        return may_start_with(word, start);
    }
    word.prefix.strip_prefix(wanted).is_some_and(|rest| rest == "/" && word.tail.is_empty())
        || wanted.strip_prefix(&*word.prefix).is_some_and(|rest| {
            let tail = word.tail.trim_end_matches('/');
            word.splits || is_subsequence(tail, rest)
        })
}

/// Whether an unknown word may start with a text.
fn may_start_with(word: &UnknownWord, start: &str) -> bool {
    start.starts_with(&*word.prefix) || word.prefix.starts_with(start)
}

fn find_option(option: &str, arguments: &Arguments) -> PatternMatch {
    let Arguments { tokens, scope } = arguments;
    if option == "--" {
        if tokens.iter().any(|token| matches!(token, Token::Separator)) {
            return PatternMatch::Yes;
        }
        return find_unknown(tokens, "--");
    }
    if !is_cluster(option, scope) {
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

/// Whether each letter of an option is an option of its own.
fn is_cluster(option: &str, scope: &OptionScope) -> bool {
    !(option.starts_with("--") || scope.has_word_options() || is_number(option))
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
            _ => continue,
        };
        if !is_it {
            continue;
        }
        let found = match (value, given) {
            // `--force=false`, `--dry-run=none`
            (None, OptionValue::Known("false" | "none")) => PatternMatch::No,
            (None, _) => PatternMatch::Yes,
            (Some(_), OptionValue::Unknown) => PatternMatch::Unknown,
            (Some(value), OptionValue::Known(given)) if is_value(value, given) => PatternMatch::Yes,
            // The table does not know that the option takes a value, but the pattern does.
            (Some(value), OptionValue::Nothing) => match tokens.get(at + 1) {
                Some(Token::Operand(next) | Token::Prelude(next)) if is_value(value, next) => {
                    PatternMatch::Yes
                }
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
        WantedOption::Name(wanted) if let Some(parts) = wanted.split_once('*') => {
            matches_wildcard(parts, name)
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
    if let Some((start, _)) = name.split_once('*') {
        return find_unknown_token(tokens, |word| may_start_with(word, start));
    }
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
