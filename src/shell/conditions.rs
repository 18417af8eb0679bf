//! What `[[ … ]]` may run: some of its operators evaluate a text as arithmetic, in which a subscript
//! runs commands, and `-v` does so with the name of a variable.

use super::Line;
use super::grammar::is_name;
use super::word::Word;

const ARITHMETIC: &[&str] = &["-eq", "-ne", "-lt", "-le", "-gt", "-ge"];

impl Line<'_> {
    pub(super) fn condition(&mut self, words: &[Word]) {
        for (at, word) in words.iter().enumerate() {
            let Some(operator) = word.plain() else { continue };
            if matches!(operator, "-v" | "-R") {
                let name = words.get(at + 1).and_then(Word::known);
                if !name.is_some_and(|name| is_name(name) || name == "]]") {
                    self.obscure("`-v` in `[[` with more than a name");
                }
            }
            if ARITHMETIC.contains(&operator) {
                let before = at.checked_sub(1).map(|before| &words[before]);
                if ![before, words.get(at + 1)].into_iter().flatten().all(is_number) {
                    self.obscure(&format!("`{operator}` in `[[` with more than numbers"));
                }
            }
        }
    }
}

fn is_number(word: &Word) -> bool {
    let digits = word.known().map(|text| text.strip_prefix('-').unwrap_or(text));
    digits.is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|c| c.is_ascii_digit()))
}
