//! Programs that run a command line in a way of their own: `script -c`, `watch`, `parallel`.

use super::is_listed;
use crate::LineWalker;
use crate::grammar::TextKind;
use crate::word::Word;

impl LineWalker<'_> {
    pub(super) fn report_launcher(&mut self, program: &str, words: &[Word]) {
        if program == "runuser" {
            let queued = self.nested.len();
            self.run_as_user(words);
            return self.pass_status_from(queued);
        }
        match program {
            "script" => {
                self.run_command_option(words);
                // The session is written to the file.
                let mut is_value = false;
                for word in words {
                    if !word.is_option() && !is_value {
                        self.report_write(word);
                    }
                    is_value =
                        word.is_option() && word.prefix().ends_with('c') || word.text() == Some("--command");
                }
            }
            // All words together are one line of the shell.
            "watch" => self.run_eval(skip_options(words, "nq", "--interval --equexit")),
            "parallel" => self.run_parallel(words),
            // `claude mcp add NAME -- PROGRAM …`: the client starts the program by itself from then on.
            "claude" if matches!(words, [mcp, add, ..] if mcp.text() == Some("mcp") && add.text() == Some("add")) =>
            {
                self.run_command_after_dashes(words);
            }
            _ => {}
        }
    }

    fn run_as_user(&mut self, words: &[Word]) {
        if words.iter().any(|word| word.has_letter(&['c']) || word.prefix().starts_with("--command")) {
            self.run_command_option(words);
        } else {
            self.run_command_after_dashes(words);
        }
    }

    /// The command is one line of the shell, with each argument at its end or in place of `{}`. Without a command,
    /// each argument is a line.
    fn run_parallel(&mut self, words: &[Word]) {
        const WITH_VALUE: &str = "\
            --arg-file --colsep --delay --delimiter --env --halt --joblog --jobs --load --max-args --max-procs \
            --results --retries --sshlogin --tagstring --timeout --tmpdir --workdir";
        let is_mark = |word: &Word| word.prefix().starts_with(":::");
        let at = words.iter().position(is_mark).unwrap_or(words.len());
        let command = skip_options(&words[..at], "aCdIjLnNPsS", WITH_VALUE);
        let arguments: Vec<Word> = words[at..].iter().filter(|word| !is_mark(word)).cloned().collect();
        if command.is_empty() {
            if arguments.is_empty() {
                self.note_code_input();
            }
            arguments.chunks(1).for_each(|line| self.run_eval(line));
            return;
        }
        let join = |words: &[Word]| {
            let texts = words
                .iter()
                .map(|word| word.text().map_or_else(|| word.source_without_quotes(), str::to_owned));
            texts.collect::<Vec<_>>().join(" ")
        };
        let line = join(command);
        if line.contains("{}") {
            return self.run_text_before(line.replacen("{}", &join(&arguments), 1), TextKind::Commands);
        }
        self.run_eval(&[command, &arguments].concat());
    }
}

/// The words after a program's options. Some options take the next word: short ones by their last letter.
fn skip_options<'a, 'w>(mut words: &'a [Word<'w>], letters: &str, longs: &str) -> &'a [Word<'w>] {
    while let Some((first, rest)) = words.split_first().filter(|(first, _)| first.is_option()) {
        let text = first.text().unwrap_or_default();
        let takes_value = if text.starts_with("--") {
            is_listed(longs, text)
        } else {
            text.ends_with(|c| letters.contains(c))
        };
        words = if takes_value { rest.get(1..).unwrap_or_default() } else { rest };
    }
    words
}
