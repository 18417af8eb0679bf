//! Programs that run a command line in a way of their own: `script -c`, `watch`, `parallel`.

use crate::shell::Line;
use crate::shell::grammar::Kind;
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
            // All words together are one line of the shell.
            "watch" => self.eval(behind_options(words, "nq", &["--interval", "--equexit"])),
            "parallel" => self.parallel(words),
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

    /// The command is one line of the shell, with each argument at its end or in the place of `{}`. Without a
    /// command, each argument is a line.
    fn parallel(&mut self, words: &[Word]) {
        const NAMES: &[&str] = &[
            "--arg-file",
            "--colsep",
            "--delay",
            "--delimiter",
            "--env",
            "--halt",
            "--joblog",
            "--jobs",
            "--load",
            "--max-args",
            "--max-procs",
            "--results",
            "--retries",
            "--sshlogin",
            "--tagstring",
            "--timeout",
            "--tmpdir",
            "--workdir",
        ];
        let is_mark = |word: &Word| word.start().starts_with(":::");
        let at = words.iter().position(is_mark).unwrap_or(words.len());
        let command = behind_options(&words[..at], "aCdIjLnNPsS", NAMES);
        let arguments: Vec<Word> = words[at..].iter().filter(|word| !is_mark(word)).cloned().collect();
        if command.is_empty() {
            for line in &arguments {
                self.eval(std::slice::from_ref(line));
            }
            return;
        }
        let text_of = |words: &[Word]| {
            let texts = words.iter().map(|word| word.known().map_or_else(|| word.unquoted(), str::to_owned));
            texts.collect::<Vec<_>>().join(" ")
        };
        let line = text_of(command);
        if line.contains("{}") {
            let line = line.replacen("{}", &text_of(&arguments), 1);
            return self.read_before(line, Kind::Commands);
        }
        let all: Vec<Word> = command.iter().chain(&arguments).cloned().collect();
        self.eval(&all);
    }
}

/// The words behind a program's options. Some options take the next word: short ones by their last letter.
fn behind_options<'a, 'w>(mut words: &'a [Word<'w>], letters: &str, names: &[&str]) -> &'a [Word<'w>] {
    while let Some((first, rest)) = words.split_first().filter(|(first, _)| first.is_option()) {
        let text = first.known().unwrap_or_default();
        let takes = if text.starts_with("--") {
            names.contains(&text)
        } else {
            text.ends_with(|c| letters.contains(c))
        };
        words = if takes { rest.get(1..).unwrap_or_default() } else { rest };
    }
    words
}
