//! Values that bash evaluates as arithmetic.
//!
//! In `RANDOM='a[$(rm f)]'`, `let`, `declare -i` or `test -v`, bash evaluates the value, and a substitution in a
//! subscript runs although it was quoted. Values are not followed from variable to variable: once anything
//! on a line is evaluated that is not a plain number, every quoted substitution that can be in the value
//! is read as commands.

use std::collections::VecDeque;

use super::word::Word;
use super::{DEEPEST, Kind, Line, Nested, READING};

/// Variables whose values bash evaluates when they are assigned, in some of its versions.
const EVALUATED: &[&str] = &["HISTCMD", "OPTIND", "RANDOM", "SECONDS", "SRANDOM"];

/// Which quoted substitutions an evaluation can run.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) enum Reach {
    #[default]
    Nothing,
    /// Those inside a subscript: `a[$(…)]`.
    Subscripts,
    Everything,
}

/// The quoted substitutions of a call, and which of them can run.
#[derive(Default)]
pub(super) struct Evaluation {
    in_subscripts: VecDeque<Nested>,
    elsewhere: VecDeque<Nested>,
    reach: Reach,
}

impl Evaluation {
    /// The next text whose substitutions can run.
    pub(super) fn next_text(&mut self) -> Option<Nested> {
        let first = if self.reach >= Reach::Subscripts { self.in_subscripts.pop_front() } else { None };
        first.or_else(|| if self.reach == Reach::Everything { self.elsewhere.pop_front() } else { None })
    }
}

impl Line<'_> {
    /// Keeps a text with quoted substitutions until it is known whether anything is evaluated.
    pub(super) fn keep_quoted(&mut self, text: &str) {
        if !has_substitution(text) || self.depth >= DEEPEST || !self.guesses.pay(text.len() * READING) {
            return;
        }
        let subscript = substituted_subscript(text);
        let nested = Nested {
            text: text[subscript.unwrap_or(0)..].to_owned(),
            script: self.flow.new_script(),
            git: self.git.clone(),
            kind: Kind::Text,
            directories: self.place.current.clone(),
            entered: self.place.entered(),
            is_lost: self.place.is_lost,
            is_guess: true,
            depth: self.depth + 1,
        };
        let evaluation = &mut *self.evaluation;
        let texts =
            if subscript.is_some() { &mut evaluation.in_subscripts } else { &mut evaluation.elsewhere };
        texts.push_back(nested);
    }

    /// Something that is not a plain number may be evaluated.
    pub(super) fn may_evaluate(&mut self, reach: Reach) {
        self.evaluation.reach = self.evaluation.reach.max(reach);
    }

    /// The shell evaluates this word, or what it names.
    pub(super) fn evaluate(&mut self, word: &Word) {
        self.may_evaluate(reach_of(word));
        self.obscure(&format!("`{}`: the shell evaluates it as arithmetic", word.source()));
    }

    /// A variable gets a value. `word`: the whole assignment.
    pub(super) fn evaluate_assignment(&mut self, name: &str, word: &Word) {
        if name == "PS4" {
            self.may_evaluate(Reach::Everything);
        }
        if !is_evaluated(name) {
            return;
        }
        let value = match word.known() {
            Some(text) => text.split_once('=').map(|(_, value)| value),
            None => word.source().split_once('=').map(|(_, value)| value),
        };
        if value.is_some_and(|value| !is_number(value)) {
            self.evaluate(word);
        }
    }

    /// The shell itself gives a variable values that are not known here: `for RANDOM in …`.
    pub(super) fn evaluate_set(&mut self, name: &str) {
        if is_evaluated(name) {
            self.may_evaluate(Reach::Subscripts);
            self.obscure(&format!("`{name}`: the shell evaluates its values as arithmetic"));
        }
    }

    /// `declare`, `export` and the like.
    pub(super) fn declare(&mut self, words: &[Word]) {
        for word in words {
            if word.is_option() || word.start().starts_with('+') {
                // The values of an integer and the name in a reference are evaluated from here on.
                if word.has_letter(&['i', 'n']) || word.known().is_none() {
                    self.evaluate(word);
                }
                continue;
            }
            let Some(name) = word.assigned().or_else(|| word.known()) else {
                self.evaluate(word);
                continue;
            };
            let name = name.split_once('=').map_or(name, |(name, _)| name);
            let name = name.strip_suffix('+').unwrap_or(name);
            let holds_list = word.known().is_some_and(|text| text.contains("=(") && has_substitution(text));
            if name.contains('[') || holds_list {
                self.may_evaluate(if holds_list { Reach::Everything } else { Reach::Nothing });
                self.evaluate(word);
            }
            self.set(name, word);
        }
    }

    /// Builtins that evaluate their words, or set the variables that these name.
    pub(super) fn evaluate_operands(&mut self, program: &str, words: &[Word]) {
        for (at, word) in words.iter().enumerate() {
            let is_callback = matches!(program, "mapfile" | "readarray" | "compgen");
            if is_callback && word.known() == Some("-C") {
                words.get(at + 1).into_iter().for_each(|callback| self.run_word(callback));
            }
            if program == "compgen" && word.known().is_some_and(has_substitution) {
                self.may_evaluate(Reach::Everything);
                self.obscure_word(word);
            }
            let is_harmless = match word.known() {
                Some(text) if program == "let" => is_number(text),
                Some(text) => !text.contains('[') && !is_evaluated(text),
                // Only the name behind `-p` is evaluated.
                None => matches!(program, "wait" | "compgen"),
            };
            if !is_harmless {
                self.evaluate(word);
            }
        }
    }
}

fn is_evaluated(name: &str) -> bool {
    EVALUATED.contains(&name)
}

/// A name with a subscript expands what stands in it.
pub(super) fn reach_of(word: &Word) -> Reach {
    let is_subscripted = word.start().contains('[') || word.source().contains('[');
    if is_subscripted { Reach::Everything } else { Reach::Subscripts }
}

/// Whether a value is a number, also by the signs that bash fills in itself.
fn is_number(value: &str) -> bool {
    let value = value.trim_matches('"');
    let digits = value.strip_prefix(['-', '+']).unwrap_or(value);
    matches!(value, "" | "$$" | "$?" | "$#" | "$!" | "$RANDOM" | "$SECONDS" | "$EPOCHSECONDS")
        || digits.bytes().all(|c| c.is_ascii_digit())
}

/// Whether a text that is quoted holds a substitution.
pub(super) fn has_substitution(text: &str) -> bool {
    text.contains('`') || text.contains("$(") || text.contains("${")
}

/// Where the first subscript starts that holds a substitution.
fn substituted_subscript(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let (mut open, mut start) = (0_usize, 0);
    for (at, c) in bytes.iter().enumerate() {
        match c {
            b'[' if open > 0 => open += 1,
            b'[' => {
                let before = at.checked_sub(1).map(|before| bytes[before]);
                if before.is_none_or(|c| c.is_ascii_alphanumeric() || b"_=}]".contains(&c)) {
                    (open, start) = (1, at);
                }
            }
            b']' => open = open.saturating_sub(1),
            b'`' if open > 0 => return Some(start),
            b'$' if open > 0 && matches!(bytes.get(at + 1), Some(b'(' | b'{' | b'[')) => return Some(start),
            _ => {}
        }
    }
    None
}
