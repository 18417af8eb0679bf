//! Programs that run the code that they are given.

use super::{CommandName, is_listed};
use crate::LineWalker;
use crate::word::Word;

/// Whether the program, with or without a version after its name, runs code.
pub(crate) fn is_interpreter(program: &str) -> bool {
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
        self.read_interpreter_code(program, words);
        // What runs is the text after `-c` or `-e`, or else the script.
        let is_code = |word: &&Word| {
            !word.is_option() || word.text().is_some_and(|text| is_listed("-c -e -m -p -r -E --eval", text))
        };
        let by = words.iter().find(is_code).or(words.first()).map_or(program, |word| word.source);
        self.report_mutation(CommandName::new(program), by, "runs program code");
    }

    /// Reads the code after `-c` or `-e`, or the code that the program gets as its input.
    fn read_interpreter_code(&mut self, program: &str, words: &[Word]) {
        let has_backticks =
            program.starts_with("ruby") || program.starts_with("perl") || program.starts_with("php");
        let code = words.iter().position(|word| !word.is_option() || names_code(word));
        match code.map(|at| (&words[at], words.get(at + 1))) {
            Some((option, Some(code))) if names_code(option) => {
                let text = code.literal_text();
                self.report_code(&text, has_backticks);
            }
            Some((option, _)) if option.prefix().starts_with("--eval=") => {
                self.report_code(&option.prefix()["--eval=".len()..], has_backticks);
            }
            Some((script, _)) if script.text() != Some("-") => {
                let text = script.text().and_then(|file| self.find_written_text(file));
                if let Some(text) = text {
                    self.report_code(&text, has_backticks);
                }
            }
            _ => self.read_input_code(has_backticks),
        }
    }
}

/// Whether the next word is code: `-c`, `-ne`, `--eval`, `eval`.
fn names_code(word: &Word) -> bool {
    let Some(text) = word.text() else { return false };
    let is_cluster =
        text.starts_with('-') && !text.starts_with("--") && text.ends_with(['c', 'e', 'r', 'E', 'p']);
    is_cluster || text.starts_with("--eval") || matches!(text, "--print" | "eval")
}
