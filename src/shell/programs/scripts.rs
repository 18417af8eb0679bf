//! Small languages and builtins whose operands can do more than they seem to: `awk`, `test`,
//! `printf`, `xxd`.

use super::Caller;
use super::options::{Item, Options, STRICT, Walk};
use crate::effect::Effect;
use crate::shell::Line;
use crate::shell::arithmetic::{Reach, reach_of};
use crate::shell::word::Word;

const AWK: Options =
    Options { letters: "F:v:", longs: "--assign= --field-separator= --help --version", ..STRICT };

impl Line<'_> {
    /// The text of the program decides; options end where it starts.
    pub(super) fn awk(&mut self, program: &str, words: &[Word]) {
        let caller = Caller { program, command: "" };
        for item in Walk::new(&AWK, words) {
            match item {
                Item::Known { .. } | Item::Dashes => {}
                Item::Strange(word) => return self.strange(caller, word),
                Item::Doubtful(word) => return self.doubt(caller, word),
                Item::Operand(text) => {
                    if !text.known().is_some_and(only_prints) {
                        self.obscure(&format!(
                            "`{}`: a program of {caller} that may do more than print",
                            text.source()
                        ));
                    }
                    return;
                }
            }
        }
    }

    /// `-v` and `-R` evaluate the subscript of the name that they are given, and the numbers that
    /// `[[` compares are evaluated too: both can run commands.
    pub(super) fn test(&mut self, program: &str, words: &[Word]) {
        let caller = Caller { program, command: "" };
        for (at, word) in words.iter().enumerate() {
            let next = words.get(at + 1);
            match word.known() {
                Some("-v" | "-R") if next.is_some_and(|name| !is_name(name) && !is_operator(name)) => {
                    self.evaluated(caller, word, next);
                }
                Some("-eq" | "-ne" | "-lt" | "-le" | "-gt" | "-ge") if program == "[[" => {
                    let before = at.checked_sub(1).and_then(|at| words.get(at));
                    if ![before, next].into_iter().flatten().all(is_number) {
                        self.evaluated(caller, word, next);
                    }
                }
                // Not every version of bash evaluates these.
                Some("-eq" | "-ne" | "-lt" | "-le" | "-gt" | "-ge") => self.may_evaluate(Reach::Subscripts),
                None if program != "[[" && may_be_test(word, next) => self.doubt(caller, word),
                _ => {}
            }
        }
    }

    fn evaluated(&mut self, caller: Caller, word: &Word, operand: Option<&Word>) {
        self.may_evaluate(operand.map_or(Reach::Subscripts, reach_of));
        self.obscure(&format!("`{}`: {caller} evaluates what stands beside it", word.source()));
    }

    /// `printf -v NAME` sets a variable.
    pub(super) fn printf(&mut self, words: &[Word]) {
        let Some(first) = words.first() else { return };
        let name = match first.start() {
            "-v" if first.known().is_some() => words.get(1).cloned(),
            text if text.starts_with("-v") => Some(first.behind(2)),
            _ if first.may_be_option() => {
                return self.doubt(Caller { program: "printf", command: "" }, first);
            }
            _ => return,
        };
        match name {
            Some(name) if is_name(&name) => {
                let name = name.start().to_owned();
                self.evaluate_set(&name);
                let cost = name.len();
                self.push(Effect::SetVariable { name, value: None }, cost);
            }
            name => {
                self.may_evaluate(name.as_ref().map_or(Reach::Subscripts, reach_of));
                self.obscure("printf to a variable that is not known");
            }
        }
    }

    /// A second operand is written.
    pub(super) fn xxd(&mut self, words: &[Word]) {
        let caller = Caller { program: "xxd", command: "" };
        let mut operands = 0;
        let mut words = words.iter();
        while let Some(word) = words.next() {
            match word.known() {
                Some(
                    "-c" | "-cols" | "-g" | "-groupsize" | "-l" | "-len" | "-n" | "-name" | "-o" | "-s"
                    | "-seek" | "-R",
                ) => {
                    words.next();
                }
                Some(text) if text.starts_with('-') && text.len() > 1 => {}
                None if word.may_be_option() || word.splits() => self.doubt(caller, word),
                _ => {
                    operands += 1;
                    if operands == 2 {
                        self.act(caller, "a second operand", "writes a file");
                        self.write(word);
                    }
                }
            }
        }
    }
}

/// Whether a program of awk neither runs nor writes anything. Only what stands behind `print` can
/// be redirected, so a `>` before the first one compares.
fn only_prints(text: &str) -> bool {
    let behind = text.find("print").map_or("", |at| &text[at..]);
    !behind.contains(['>', '|']) && !["system", "getline", "@"].iter().any(|word| text.contains(word))
}

fn is_name(word: &Word) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    word.known().is_some_and(|text| !text.is_empty() && text.chars().all(is_part))
}

fn is_number(word: &Word) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|c| c.is_ascii_digit());
    match word.known() {
        Some(text) => digits(text.strip_prefix('-').unwrap_or(text)),
        None => matches!(word.source().trim_matches('"'), "$#" | "$?"),
    }
}

fn is_operator(word: &Word) -> bool {
    matches!(
        word.known(),
        Some(
            "=" | "=="
                | "!="
                | "<"
                | ">"
                | "-eq"
                | "-ne"
                | "-lt"
                | "-le"
                | "-gt"
                | "-ge"
                | "-nt"
                | "-ot"
                | "-ef"
                | "-a"
                | "-o"
                | "]"
                | "]]"
                | ")"
        )
    )
}

/// Whether a word that is not known may be a test of its own: `-v`, in front of an operand.
fn may_be_test(word: &Word, next: Option<&Word>) -> bool {
    let splits = word.splits() && word.source().contains(['$', '`']);
    splits || (word.may_be_option() && next.is_some_and(|next| !is_operator(next)))
}
