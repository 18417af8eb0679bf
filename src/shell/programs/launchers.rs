//! Programs that run a command line in a way of their own: `script -c`, `watch`, `parallel`.

use crate::shell::Line;
use crate::shell::word::Word;

impl Line<'_> {
    pub(super) fn launch(&mut self, program: &str, words: &[Word]) {
        match program {
            "script" => {
                self.operand_of_c(words);
                // What was typed and shown goes into a file.
                let mut is_value = false;
                for word in words {
                    let takes =
                        word.is_option() && word.start().ends_with('c') || word.known() == Some("--command");
                    if !word.is_option() && !is_value {
                        self.write(word);
                    }
                    is_value = takes;
                }
            }
            "runuser" => {
                if words.iter().any(|word| word.has_letter(&['c']) || word.start().starts_with("--command")) {
                    self.operand_of_c(words);
                } else if let Some(at) = words.iter().position(|word| word.known() == Some("--")) {
                    self.inner(&words[at + 1..]);
                }
            }
            "watch" => {
                let takes =
                    |word: &Word| matches!(word.known(), Some("-n" | "--interval" | "-q" | "--equexit"));
                let mut rest = words;
                while let Some((first, more)) = rest.split_first().filter(|(first, _)| first.is_option()) {
                    rest = if takes(first) { more.get(1..).unwrap_or_default() } else { more };
                }
                // All words together are one line of the shell.
                self.eval(rest);
            }
            "parallel" => {
                let is_mark = |word: &Word| word.start().starts_with(":::");
                let at = words.iter().position(is_mark).unwrap_or(words.len());
                let front = words[..at].iter().skip_while(|word| word.is_option());
                let all: Vec<Word> =
                    front.chain(words[at..].iter().filter(|word| !is_mark(word))).cloned().collect();
                self.inner(&all);
            }
            // `claude mcp add NAME -- PROGRAM …`: the client starts it by itself from then on.
            "claude" => {
                let is_added = words.first().and_then(Word::known) == Some("mcp")
                    && words.get(1).and_then(Word::known) == Some("add");
                let at = words.iter().position(|word| word.known() == Some("--"));
                if let Some(at) = at.filter(|_| is_added) {
                    self.inner(&words[at + 1..]);
                }
            }
            _ => {}
        }
    }
}
