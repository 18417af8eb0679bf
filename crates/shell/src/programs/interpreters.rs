//! Programs that run the code that they are given.

use super::{CommandName, is_listed};
use crate::LineWalker;
use crate::word::Word;

/// Whether the program, with or without a version after its name, runs code.
pub(super) fn is_interpreter(program: &str) -> bool {
    #[rustfmt::skip]
    const INTERPRETERS: &[&str] = &[
        "python", "pypy", "node", "nodejs", "ruby", "perl", "php", "lua", "luajit", "deno", "bun", "Rscript",
        "osascript", "tclsh", "irb", "guile", "julia", "groovy", "ts-node", "tsx",
    ];
    INTERPRETERS.contains(&program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.'))
}

impl LineWalker<'_> {
    pub(super) fn report_interpreter(&mut self, program: &str, words: &[Word]) {
        let is_question = |word: &Word| {
            word.text().is_some_and(|text| is_listed("--version -V -v -version --help -h", text))
        };
        if matches!(words, [only] if is_question(only)) {
            return;
        }
        self.note_interpreter_code(words);
        // What runs is the text after `-c` or `-e`, or else the script.
        let is_code = |word: &&Word| {
            !word.is_option() || word.text().is_some_and(|text| is_listed("-c -e -m -p -r -E --eval", text))
        };
        let by = words.iter().find(is_code).or(words.first()).map_or(program, |word| word.source);
        self.report_mutation(CommandName::new(program), by, "runs program code");
    }
}
