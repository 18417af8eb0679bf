//! Programs that run whatever code they are given.

use super::Caller;
use crate::shell::Line;
use crate::shell::word::Word;

/// Whether the program, with or without a version behind its name, runs code.
pub(super) fn is_interpreter(program: &str) -> bool {
    let name = program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    matches!(
        name,
        "python"
            | "pypy"
            | "node"
            | "nodejs"
            | "ruby"
            | "perl"
            | "php"
            | "lua"
            | "luajit"
            | "deno"
            | "bun"
            | "Rscript"
            | "osascript"
            | "tclsh"
            | "irb"
            | "guile"
            | "julia"
            | "groovy"
            | "ts-node"
            | "tsx"
    )
}

impl Line<'_> {
    pub(super) fn interpreter(&mut self, program: &str, words: &[Word]) {
        let is_question = |word: &Word| {
            matches!(word.known(), Some("--version" | "-V" | "-v" | "-version" | "--help" | "-h"))
        };
        if let [only] = words
            && is_question(only)
        {
            return;
        }
        // What runs is the text behind `-c` or `-e`, or else the script.
        let is_code = |word: &&Word| {
            !word.is_option()
                || matches!(word.known(), Some("-c" | "-e" | "-m" | "-p" | "-r" | "-E" | "--eval"))
        };
        let by = words.iter().find(is_code).or(words.first()).map_or(program, |word| word.source());
        self.act(Caller { program, command: "" }, by, "runs program code");
    }
}
