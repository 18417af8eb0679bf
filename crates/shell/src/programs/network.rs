//! Programs that fetch from the network or send to it.
//!
//! A fetch matters where its output or its file is run as code, so the tree notes which commands fetch and which run
//! code that is not in the line. What is sent is found through the reads of the same command, or of one that feeds it.

use super::is_listed;
use crate::LineWalker;
use crate::effect::{Effect, ReadScope};
use crate::word::Word;

/// Options of curl that send their value, a file, or standard input.
const CURL_DATA: &str =
    "--data --data-ascii --data-binary --data-raw --data-urlencode --form --form-string --json --upload-file";
const WGET_DATA: &str = "--post-data --post-file --body-data --body-file";

impl LineWalker<'_> {
    pub(super) fn report_network(&mut self, program: &str, words: &[Word]) {
        let first = words.first().and_then(Word::text);
        match program {
            "curl" => self.report_curl(words),
            "wget" => self.report_wget(words),
            "http" | "https" | "xh" => {
                self.tree.note_fetch(true);
                let is_item = |word: &Word| !word.is_option() && word.prefix().contains(['=', '@']);
                if self.has_input() || words.iter().any(|word| is_item(word) || is_computed(word)) {
                    self.report_send(program, words.iter().find(|word| is_address(word)));
                }
            }
            "fetch" | "lynx" | "links" | "elinks" | "w3m" | "aria2c" | "axel" => self.tree.note_fetch(true),
            "nc" | "ncat" | "netcat" | "socat" | "telnet" => {
                self.tree.note_fetch(true);
                if !words.iter().any(|word| word.has_letter(&['z'])) {
                    self.report_send(program, words.iter().find(|word| !word.is_option()));
                }
            }
            "openssl" if first == Some("s_client") => {
                self.tree.note_fetch(true);
                self.report_send(program, None);
            }
            "ssh" if self.has_input() || words.iter().any(is_computed) => {
                self.report_send(program, words.iter().find(|word| !word.is_option()));
            }
            "scp" | "rsync" | "sftp" => {
                let target = words.iter().rfind(|word| !word.is_option());
                if let Some(target) = target.filter(|word| is_remote(word)) {
                    self.report_send(program, Some(target));
                }
            }
            "aws" | "gsutil" | "gcloud" | "rclone" | "s3cmd" | "mc" => {
                if prints_stored_file(program, words) {
                    self.tree.note_fetch(true);
                }
                let target = words.iter().rfind(|word| !word.is_option());
                if let Some(target) = target.filter(|word| is_remote(word) || is_address(word)) {
                    self.report_send(program, Some(target));
                }
            }
            "gh" if first == Some("gist") => {
                self.tree.note_fetch(words.get(1).and_then(Word::text) == Some("view"));
                self.report_send(program, None);
            }
            "mail" | "mailx" | "mutt" | "sendmail" | "ftp" | "tftp" | "croc" | "wormhole" | "pastebinit" => {
                self.report_send(program, None);
            }
            _ => {}
        }
    }

    fn report_send(&mut self, program: &str, to: Option<&Word>) {
        let destination = to.and_then(Word::text).map(str::to_owned);
        let cost = program.len() + destination.as_ref().map_or(0, String::len);
        self.report_effect(Effect::Send { program: program.to_owned(), destination }, cost);
    }

    fn report_curl(&mut self, words: &[Word]) {
        let mut sends = words.iter().any(is_computed);
        let mut prints = true;
        let mut words_left = words.iter();
        while let Some(word) = words_left.next() {
            let text = word.prefix();
            if text.starts_with("--") {
                let name = text.split_once('=').map_or(text, |(name, _)| name);
                prints &= !matches!(name, "--output" | "--remote-name" | "--remote-name-all");
                if name.len() > 3 && CURL_DATA.split(' ').any(|option| option.starts_with(name)) {
                    sends = true;
                    if name.len() < text.len() {
                        self.report_sent_file(&word.skip_bytes(name.len() + 1), true);
                    } else if let Some(value) = words_left.next() {
                        self.report_sent_file(value, false);
                    }
                }
                continue;
            }
            // The first letter that takes a value ends the cluster.
            let Some(at) = text.find(['d', 'F', 'T', 'o', 'O', 'H', 'X', 'u', 'A', 'e', 'b', 'm', 'w', 'x'])
            else {
                continue;
            };
            if !word.is_option() {
                continue;
            }
            let letter = text.as_bytes()[at];
            prints &= !matches!(letter, b'o' | b'O') || text[at + 1..].trim() == "-";
            if matches!(letter, b'd' | b'F' | b'T') {
                sends = true;
                if at + 1 < text.len() {
                    self.report_sent_file(&word.skip_bytes(at + 1), true);
                } else if let Some(value) = words_left.next() {
                    self.report_sent_file(value, false);
                }
            } else if letter == b'o' && at + 1 == text.len() {
                prints |= words_left.next().and_then(Word::text) == Some("-");
            }
        }
        self.tree.note_fetch(prints);
        if sends {
            self.report_send("curl", words.iter().find(|word| is_address(word)));
        }
    }

    /// `@FILE`, `name=@FILE`, `name=<FILE`, `name@FILE`. A word of its own is an operand, whose plain forms are reported
    /// with the operands.
    fn report_sent_file(&mut self, value: &Word, is_attached: bool) {
        let Some(text) = value.text() else { return };
        let file = match text.split_once("=@").or_else(|| text.split_once("=<")) {
            Some((_, file)) => file.split([';', ',']).next().unwrap_or_default(),
            None => match text.split_once('@') {
                Some(("", file)) if is_attached => file,
                Some((name, file)) if !name.is_empty() && !name.contains(['=', '{', ' ', '/']) => file,
                None if is_attached => text,
                _ => return,
            },
        };
        if file != "-" {
            self.report_read(&Word::literal(file), ReadScope::File);
        }
    }

    fn report_wget(&mut self, words: &[Word]) {
        let mut sends = words.iter().any(is_computed);
        for (at, word) in words.iter().enumerate() {
            let text = word.prefix();
            let name = text.split_once('=').map_or(text, |(name, _)| name);
            if name.len() > 3 && WGET_DATA.split(' ').any(|option| option.starts_with(name)) {
                sends = true;
                if name.ends_with("-file") {
                    let next = words.get(at + 1).cloned();
                    let attached = (name.len() < text.len()).then(|| word.skip_bytes(name.len() + 1));
                    if let Some(file) = attached.or(next) {
                        self.report_read(&file, ReadScope::File);
                    }
                }
            }
        }
        let is_output = |pair: &[Word]| pair[0].prefix().ends_with('O') && pair[1].text() == Some("-");
        let prints = words.windows(2).any(is_output)
            || words.iter().any(|word| {
                let text = word.prefix();
                text.ends_with("O-") && word.is_option() || text == "--output-document=-"
            });
        self.tree.note_fetch(prints);
        if sends {
            self.report_send("wget", words.iter().find(|word| is_address(word)));
        }
    }

    /// Notes that an interpreter runs code from its input, from a substitution, or from a file.
    pub(super) fn note_interpreter_code(&mut self, words: &[Word]) {
        const CODE: &str = "-c -e -m -p -r -E --eval --print";
        // `-mjson.tool`
        let is_attached =
            |text: &str| text.len() > 2 && ["-c", "-e", "-m"].contains(&text.get(..2).unwrap_or_default());
        let is_code =
            |word: &Word| word.text().is_some_and(|text| is_listed(CODE, text) || is_attached(text));
        if !words.iter().any(is_code) {
            // `deno run -`
            let runs = words.first().is_some_and(|word| word.text() == Some("run"));
            let operands = if runs && words.len() > 1 { &words[1..] } else { words };
            match operands.iter().find(|word| !word.is_option() || word.text() == Some("-")) {
                Some(script) if script.text().is_some_and(|text| text != "-") => self.tree.note_script(),
                _ => self.note_code_input(),
            }
        }
        let code = words.iter().position(is_code).and_then(|at| words.get(at + 1));
        if code.is_some_and(is_computed) {
            self.note_code_input();
        }
    }
}

/// Whether a word contains the output of a command.
fn is_computed(word: &Word) -> bool {
    word.text().is_none() && (word.source.contains("$(") || word.source.contains('`'))
}

/// Whether a client of a cloud prints a file that is stored there: `aws s3 cp s3://b/x -`, `gsutil cat gs://b/x`.
fn prints_stored_file(program: &str, words: &[Word]) -> bool {
    let is = |word: &Word, text: &str| word.text() == Some(text);
    let operands = || words.iter().filter(|word| !word.is_option());
    match program {
        "aws" => {
            operands().nth(1).is_some_and(|word| is(word, "cp"))
                && operands().next_back().is_some_and(|word| is(word, "-"))
        }
        _ => operands().take(2).any(|word| is(word, "cat")),
    }
}

fn is_address(word: &Word) -> bool {
    !word.is_option() && word.prefix().contains("://") && !word.prefix().starts_with("file:")
}

/// `host:path`, `user@host:`, `rsync://host`.
fn is_remote(word: &Word) -> bool {
    let text = word.prefix();
    text.split_once(':').is_some_and(|(host, _)| !host.is_empty() && !host.contains('/')) || is_address(word)
}
