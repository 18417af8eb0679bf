//! Values that bash evaluates as arithmetic.
//!
//! In `RANDOM='a[$(rm f)]'`, `let`, `declare -i` or `test -v`, bash evaluates the value, and a substitution in a
//! subscript runs although it was quoted. Values are not followed from variable to variable: once a line evaluates
//! anything but a plain number, every quoted substitution that can be in the value counts as commands.

use std::collections::VecDeque;

use super::budget::PARSING_COST;
use super::word::Word;
use super::{DEEPEST, LineWalker, NestedText, TextKind};

/// Variables whose values bash evaluates when they are assigned, in some of its versions.
const EVALUATED: &[&str] = &["HISTCMD", "OPTIND", "RANDOM", "SECONDS", "SRANDOM"];

/// Which quoted substitutions an evaluation can run.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) enum EvaluationScope {
    #[default]
    Nothing,
    /// Those inside a subscript: `a[$(…)]`.
    Subscripts,
    Everything,
}

/// The quoted substitutions of a call, and which of them can run.
#[derive(Default)]
pub(super) struct QuotedTexts {
    in_subscripts: VecDeque<NestedText>,
    elsewhere: VecDeque<NestedText>,
    scope: EvaluationScope,
}

impl QuotedTexts {
    /// The next text whose substitutions can run.
    pub(super) fn next_text(&mut self) -> Option<NestedText> {
        match self.scope {
            EvaluationScope::Nothing => None,
            EvaluationScope::Subscripts => self.in_subscripts.pop_front(),
            EvaluationScope::Everything => {
                self.in_subscripts.pop_front().or_else(|| self.elsewhere.pop_front())
            }
        }
    }
}

impl LineWalker<'_> {
    /// Stores a text with quoted substitutions until it is known whether the line evaluates anything.
    pub(super) fn store_quoted(&mut self, text: &str) {
        if !has_substitution(text) || self.depth >= DEEPEST || !self.guesses.pay(text.len() * PARSING_COST) {
            return;
        }
        let subscript = substituted_subscript(text);
        let script = self.flow.new_script();
        let text = text[subscript.unwrap_or(0)..].to_owned();
        let nested = self.nest_text(text, TextKind::Text, script, true);
        let evaluation = &mut *self.evaluation;
        let texts =
            if subscript.is_some() { &mut evaluation.in_subscripts } else { &mut evaluation.elsewhere };
        texts.push_back(nested);
    }

    /// Notes that bash may evaluate something that is not a plain number.
    pub(super) fn widen_evaluation(&mut self, scope: EvaluationScope) {
        self.evaluation.scope = self.evaluation.scope.max(scope);
    }

    /// Reports a word that bash evaluates, or whose variable it evaluates.
    fn report_evaluated(&mut self, word: &Word) {
        self.widen_evaluation(evaluation_scope(word));
        self.report_unparsed(&format!("`{}`: the shell evaluates it as arithmetic", word.source));
    }

    /// Reports an assignment that bash evaluates. `word`: the whole assignment.
    pub(super) fn evaluate_assignment(&mut self, name: &str, word: &Word) {
        if name == "PS4" {
            self.widen_evaluation(EvaluationScope::Everything);
        }
        if !EVALUATED.contains(&name) {
            return;
        }
        let value = word.text().unwrap_or(word.source).split_once('=');
        if value.is_some_and(|(_, value)| !is_number(value)) {
            self.report_evaluated(word);
        }
    }

    /// Reports that bash evaluates unknown values of a variable: `for RANDOM in …`.
    pub(super) fn evaluate_unknown_value(&mut self, name: &str) {
        if EVALUATED.contains(&name) {
            self.widen_evaluation(EvaluationScope::Subscripts);
            self.report_unparsed(&format!("`{name}`: the shell evaluates its values as arithmetic"));
        }
    }

    /// Reports the variables of `declare`, `export` and the like.
    pub(super) fn declare_variables(&mut self, words: &[Word]) {
        for word in words {
            if word.is_option() || word.prefix().starts_with('+') {
                // From here on, bash evaluates the values of an integer and the name in a reference.
                if word.has_letter(&['i', 'n']) || word.text().is_none() {
                    self.report_evaluated(word);
                }
                continue;
            }
            let Some(name) = word.assigned_name().or_else(|| word.text()) else {
                self.report_evaluated(word);
                continue;
            };
            let name = name.split_once('=').map_or(name, |(name, _)| name);
            let name = name.strip_suffix('+').unwrap_or(name);
            let holds_list = word.text().is_some_and(|text| text.contains("=(") && has_substitution(text));
            if name.contains('[') || holds_list {
                if holds_list {
                    self.widen_evaluation(EvaluationScope::Everything);
                }
                self.report_evaluated(word);
            }
            self.set_variable(name, word);
        }
    }

    /// Reports builtins that evaluate their operands, or set the variables that the operands name.
    pub(super) fn evaluate_operands(&mut self, program: &str, words: &[Word]) {
        for (at, word) in words.iter().enumerate() {
            let is_callback = matches!(program, "mapfile" | "readarray" | "compgen");
            if is_callback && word.text() == Some("-C") {
                words.get(at + 1).into_iter().for_each(|callback| self.run_word(callback));
            }
            if program == "compgen" && word.text().is_some_and(has_substitution) {
                self.widen_evaluation(EvaluationScope::Everything);
                self.report_unparsed_word(word);
            }
            let is_harmless = match word.text() {
                Some(text) if program == "let" => is_number(text),
                Some(text) => !text.contains('[') && !EVALUATED.contains(&text),
                // These evaluate only the name after `-p`.
                None => matches!(program, "wait" | "compgen"),
            };
            if !is_harmless {
                self.report_evaluated(word);
            }
        }
    }
}

/// What the evaluation of a word can run: bash expands the text of a subscript.
pub(super) fn evaluation_scope(word: &Word) -> EvaluationScope {
    let is_subscripted = word.prefix().contains('[') || word.source.contains('[');
    if is_subscripted { EvaluationScope::Everything } else { EvaluationScope::Subscripts }
}

/// Whether a value is a number, or a parameter that bash itself sets to one.
fn is_number(value: &str) -> bool {
    let value = value.trim_matches('"');
    let digits = value.strip_prefix(['-', '+']).unwrap_or(value);
    matches!(value, "" | "$$" | "$?" | "$#" | "$!" | "$RANDOM" | "$SECONDS" | "$EPOCHSECONDS")
        || digits.bytes().all(|c| c.is_ascii_digit())
}

/// Whether a quoted text contains a substitution.
pub(super) fn has_substitution(text: &str) -> bool {
    text.contains('`') || text.contains("$(") || text.contains("${")
}

/// Where the first subscript with a substitution starts.
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
