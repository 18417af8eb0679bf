//! Small languages and builtins whose operands can do more than they seem to: `awk`, `test`, `printf`, `xxd`.

use super::options::{Argument, ArgumentParser, OptionTable, STRICT};
use super::{CommandName, is_listed};
use crate::LineWalker;
use crate::arithmetic::{EvaluationScope, evaluation_scope};
use crate::word::{Word, is_name_part};

const AWK: OptionTable =
    OptionTable { letters: "F:v:", longs: "--assign= --field-separator= --help --version", ..STRICT };

impl LineWalker<'_> {
    /// Reports `awk` by the text of its program. Options end where the program starts.
    pub(super) fn report_awk(&mut self, program: &str, words: &[Word]) {
        let caller = CommandName::new(program);
        for argument in ArgumentParser::new(&AWK, words) {
            match argument {
                Argument::Option { .. } | Argument::EndOfOptions => {}
                Argument::UnknownOption(word) => return self.report_unknown_option(caller, word),
                Argument::Uncertain(word) => return self.report_possible_option(caller, word),
                Argument::Operand(text) if text.text().is_some_and(only_prints) => return,
                Argument::Operand(word @ Word { source, .. }) => {
                    self.report_code(&word.literal_text(), false);
                    let what = format!("`{source}`: a program of {caller} that may do more than print");
                    return self.report_unparsed(&what);
                }
            }
        }
    }

    /// `-v` and `-R` evaluate the subscript of their operand, and `[[` evaluates the numbers that it compares. Both
    /// can run commands.
    pub(super) fn report_test(&mut self, program: &str, words: &[Word]) {
        let caller = CommandName::new(program);
        for (at, word) in words.iter().enumerate() {
            let next = words.get(at + 1);
            match word.text() {
                Some("-v" | "-R") if next.is_some_and(|name| !is_name(name) && !is_operator(name)) => {
                    self.report_evaluated_operand(caller, word, next);
                }
                Some("-eq" | "-ne" | "-lt" | "-le" | "-gt" | "-ge") if program == "[[" => {
                    let before = at.checked_sub(1).and_then(|at| words.get(at));
                    if ![before, next].into_iter().flatten().all(is_number) {
                        self.report_evaluated_operand(caller, word, next);
                    }
                }
                // Some versions of bash evaluate these.
                Some("-eq" | "-ne" | "-lt" | "-le" | "-gt" | "-ge") => {
                    self.widen_evaluation(EvaluationScope::Subscripts);
                }
                None if program != "[[" && may_be_test(word, next) => {
                    self.report_possible_option(caller, word);
                }
                _ => {}
            }
        }
    }

    fn report_evaluated_operand(&mut self, caller: CommandName, word: &Word, operand: Option<&Word>) {
        self.widen_evaluation(operand.map_or(EvaluationScope::Subscripts, evaluation_scope));
        self.report_unparsed(&format!("`{}`: {caller} evaluates what stands beside it", word.source));
    }

    /// `printf -v NAME` sets a variable.
    pub(super) fn report_printf(&mut self, words: &[Word]) {
        let Some(first) = words.first() else { return };
        let name = match first.prefix() {
            "-v" if first.text().is_some() => words.get(1).cloned(),
            text if text.starts_with("-v") => Some(first.skip_bytes(2)),
            _ if first.may_be_option() => {
                return self.report_possible_option(CommandName::new("printf"), first);
            }
            _ => return,
        };
        match name {
            Some(name) if is_name(&name) => self.set_unknown_variable(name.prefix()),
            name => {
                self.widen_evaluation(name.as_ref().map_or(EvaluationScope::Subscripts, evaluation_scope));
                self.report_unparsed("printf to a variable that is not known");
            }
        }
    }

    /// `xxd` writes its second operand.
    pub(super) fn report_xxd(&mut self, words: &[Word]) {
        const WITH_VALUE: &str = "-c -cols -g -groupsize -l -len -n -name -o -s -seek -R";
        let caller = CommandName::new("xxd");
        let mut operands = 0;
        let mut words = words.iter();
        while let Some(word) = words.next() {
            match word.text() {
                Some(text) if is_listed(WITH_VALUE, text) => {
                    words.next();
                }
                Some(text) if text.starts_with('-') && text.len() > 1 => {}
                None if word.may_be_option() || word.may_split() => self.report_possible_option(caller, word),
                _ => {
                    operands += 1;
                    if operands == 2 {
                        self.report_mutation(caller, "a second operand", "writes a file");
                        self.report_write(word);
                    }
                }
            }
        }
    }
}

/// Whether a program of awk neither runs nor writes anything. Only `print` can be redirected, so a `>` before the
/// first `print` compares.
fn only_prints(text: &str) -> bool {
    let behind = text.find("print").map_or("", |at| &text[at..]);
    !behind.contains(['>', '|']) && !["system", "getline", "@"].iter().any(|word| text.contains(word))
}

fn is_name(word: &Word) -> bool {
    word.text().is_some_and(|text| !text.is_empty() && text.chars().all(is_name_part))
}

fn is_number(word: &Word) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|c| c.is_ascii_digit());
    match word.text() {
        Some(text) => digits(text.strip_prefix('-').unwrap_or(text)),
        None => matches!(word.source.trim_matches('"'), "$#" | "$?"),
    }
}

fn is_operator(word: &Word) -> bool {
    const OPERATORS: &str = "= == != < > -eq -ne -lt -le -gt -ge -nt -ot -ef -a -o ] ]] )";
    word.text().is_some_and(|text| is_listed(OPERATORS, text))
}

/// Whether an unknown word may be a test of its own: `-v`, in front of an operand.
fn may_be_test(word: &Word, next: Option<&Word>) -> bool {
    let splits = word.may_split() && word.source.contains(['$', '`']);
    splits || (word.may_be_option() && next.is_some_and(|next| !is_operator(next)))
}
