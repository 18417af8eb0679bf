//! Texts that the words of a line give to a command or make it print, and the effects that carry them.
//!
//! `cat > f <<'EOF'`, `echo x >> f` and `echo x | tee f` say what they write. The text of a here-document follows its
//! command, so an effect that needs it waits for it. Expansions are left out of a text, and it is marked as incomplete.

use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;

use crate::LineWalker;
use crate::ansi::decode_escapes;
use crate::effect::git::CommitMessage;
use crate::effect::{Effect, WriteContent};
use crate::grammar::{OutputMode, Redirection, SimpleCommand};
use crate::line::PendingDocument;
use crate::word::Word;

/// A file that is run is looked for in this many of the last effects.
const MOST_SEARCHED: usize = 64;
/// A longer text is not put together.
const LONGEST_TEXT: usize = 1 << 20;

/// The texts at one command of a line.
#[derive(Default)]
pub(super) struct TextFlow {
    /// What the command reads from its standard input.
    pub(super) input: Option<TextSource>,
    /// What the command prints.
    output: Option<TextSource>,
    /// What the command in front of `|` prints.
    pub(super) piped: Option<TextSource>,
    /// The effects of the redirection that gets the output, and whether it appends.
    files: Option<(usize, usize, bool)>,
    /// The output goes to a file or to another command.
    wants_output: bool,
    /// The command is behind `|`, or a redirection gives it input.
    has_input: bool,
    /// How many here-documents this text has announced so far.
    documents: usize,
    /// What the commands of each open construct have printed so far.
    groups: Vec<GroupText>,
    /// What the construct printed that has just ended.
    closed: Option<TextSource>,
    /// All that the construct printed that has just ended, if it is known.
    printed: Option<Arc<str>>,
}

/// What the commands of a construct have printed so far.
#[derive(Default)]
struct GroupText {
    parts: Vec<TextSource>,
    commands: usize,
}

/// Where a text comes from.
#[derive(Clone)]
pub(super) enum TextSource {
    Known {
        text: Arc<str>,
        is_complete: bool,
    },
    /// The here-document with this number, whose text follows.
    Document(usize),
    /// What this file holds.
    File(String),
}

impl TextFlow {
    /// All that the construct printed that has just ended, if it is known.
    pub(super) fn take_printed(&mut self) -> Option<Arc<str>> {
        self.printed.take()
    }
}

impl LineWalker<'_> {
    /// Whether the current command gets input from another command or from a redirection.
    pub(super) fn has_input(&self) -> bool {
        self.texts.has_input
    }

    /// Notes what the next command gets, at the operator in front of it.
    pub(super) fn start_stage(&mut self, is_behind_pipe: bool) {
        self.texts.has_input = is_behind_pipe;
        let closed = self.texts.closed.take();
        if !is_behind_pipe {
            self.texts.piped = None;
        } else if closed.is_some() {
            self.texts.piped = closed;
            return;
        }
        if let Some(group) = self.texts.groups.last_mut() {
            group.parts.extend(closed);
        }
    }

    pub(super) fn open_group_text(&mut self) {
        self.texts.groups.push(GroupText::default());
    }

    /// Joins what the commands of a construct print. Which of them run is not known, so the text is incomplete.
    pub(super) fn close_group_text(&mut self) {
        let GroupText { parts, commands } = self.texts.groups.pop().unwrap_or_default();
        self.texts.printed = match &*parts {
            [TextSource::Known { text, is_complete: true }] if commands == 1 => Some(text.clone()),
            _ => None,
        };
        self.texts.closed = match &*parts {
            [] => None,
            [TextSource::Document(number)] => Some(TextSource::Document(*number)),
            parts => {
                let mut text = String::new();
                for part in parts {
                    if let TextSource::Known { text: part, .. } = part
                        && self.work.pay(part.len())
                    {
                        text.push_str(part);
                    }
                }
                Some(TextSource::Known { text: text.into(), is_complete: false })
            }
        };
    }

    pub(super) fn start_command_texts(&mut self, command: &SimpleCommand) {
        let is_piped = command.is_piped;
        let is_input = |redirection: &Redirection| !matches!(redirection, Redirection::Write { .. });
        let texts = &mut self.texts;
        texts.has_input |= command.redirections.iter().any(is_input);
        texts.input = texts.piped.take();
        // The redirections of a construct are a command without words.
        let closed = texts.closed.take().filter(|_| command.words.is_empty());
        (texts.output, texts.files, texts.wants_output) =
            (closed, None, is_piped || !texts.groups.is_empty());
        if command.has_other_output {
            texts.wants_output = false;
        }
        if let Some(group) = texts.groups.last_mut() {
            group.commands += 1;
        }
    }

    /// Notes the effects of a redirection, from this index on.
    pub(super) fn note_output_file(&mut self, from: usize, output: OutputMode) {
        if output != OutputMode::Other {
            self.texts.files = Some((from, self.effects.len(), output == OutputMode::Appends));
            self.texts.wants_output = true;
        }
    }

    pub(super) fn feed_here_string(&mut self, word: &Word) {
        let text = word.literal_text();
        self.texts.input = self.work.pay(text.len()).then(|| TextSource::Known {
            text: format!("{text}\n").into(),
            is_complete: word.text().is_some(),
        });
    }

    pub(super) fn feed_file(&mut self, word: &Word) {
        let file = word.text().filter(|text| self.work.pay(text.len()));
        self.texts.input = file.map(|file| TextSource::File(file.to_owned()));
    }

    pub(super) fn feed_document(&mut self) {
        self.texts.input = Some(TextSource::Document(self.texts.documents));
        self.texts.documents += 1;
    }

    /// Gives the output to the files and the command that it goes to.
    pub(super) fn end_command_texts(&mut self, is_piped: bool) {
        let Some(output) = self.texts.output.take() else {
            if let Some((from, to, true)) = self.texts.files {
                let nothing = TextSource::Known { text: "".into(), is_complete: false };
                self.deliver_writes(&nothing, from, to, true);
            }
            return;
        };
        match self.texts.files {
            Some((from, to, append)) => self.deliver_writes(&output, from, to, append),
            None if is_piped => self.texts.piped = Some(output),
            None => {
                if let Some(group) = self.texts.groups.last_mut() {
                    group.parts.push(output);
                }
            }
        }
    }

    /// Runs a part of a command whose output is not that of the command.
    pub(super) fn without_output(&mut self, run: impl FnOnce(&mut Self)) {
        let outside = std::mem::replace(&mut self.texts.wants_output, false);
        run(self);
        self.texts.wants_output = outside;
    }

    /// Notes the text that a program reads, if another part of the line says it.
    pub(super) fn note_input_text(&mut self) {
        if let Some(TextSource::Known { text, .. }) = &self.texts.input {
            self.tree.note_input(self.tree.current, text.clone());
        }
    }

    /// Reads the text that the current command, an interpreter, gets as its code.
    pub(super) fn read_input_code(&mut self, has_backticks: bool) {
        match self.texts.input.clone() {
            Some(TextSource::Known { text, .. }) => self.report_code(&text, has_backticks),
            Some(TextSource::Document(number)) => {
                if let Some(document) = self.find_document(number) {
                    document.code = Some(has_backticks);
                }
            }
            Some(TextSource::File(_)) | None => {}
        }
    }

    /// The text of a file that the line itself has written, if all of it is known.
    pub(super) fn find_written_text(&self, file: &str) -> Option<Arc<str>> {
        let path = Path::new(self.place.known_directory()?.as_str()).join(file);
        let mut writes = self.effects.iter().rev().take(MOST_SEARCHED);
        writes.find_map(|effect| match effect {
            Effect::Write { path: written, content } if *written == path => match content {
                WriteContent::Known { text, append: false, is_complete: true } => Some(Some(text.clone())),
                // `chmod +x` keeps the text.
                WriteContent::Unknown => None,
                _ => Some(None),
            },
            _ => None,
        })?
    }

    /// Runs a program or script that the line itself has written.
    pub(super) fn run_written_script(&mut self, file: &str) {
        let Some(text) = self.find_written_text(file).filter(|text| self.work.pay(text.len())) else {
            return;
        };
        let shell = text.lines().next().filter(|line| line.starts_with("#!"));
        if shell.is_none_or(|line| line.trim_end().ends_with("sh")) {
            self.run_text(text.to_string());
        } else {
            self.report_code(&text, false);
        }
    }

    /// Notes what a program prints that prints its words or its input.
    pub(super) fn note_output(&mut self, program: &str, words: &[Word]) {
        if !self.texts.wants_output {
            return;
        }
        self.texts.output = match program {
            "echo" => self.join_echo(words),
            "printf" => self.format_printf(words),
            "cat" => self.join_cat(words),
            "tee" => self.texts.input.clone(),
            _ => None,
        };
    }

    /// Gives the input to the files that the current program writes, whose effects start at this index.
    pub(super) fn write_input(&mut self, from: usize, append: bool) {
        if let Some(input) = self.texts.input.clone() {
            self.deliver_writes(&input, from, self.effects.len(), append);
        }
    }

    /// Gives the files whose effects start at this index the text that an edit adds.
    pub(super) fn note_added_text(&mut self, from: usize, added: Option<String>) {
        let Some(added) = added.filter(|text| self.work.pay(text.len())) else { return };
        let added: Arc<str> = added.into();
        for effect in &mut self.effects[from..] {
            if let Effect::Write { content: content @ WriteContent::Unknown, .. } = effect {
                *content = WriteContent::Adds { text: added.clone() };
            }
        }
    }

    /// Gives the files whose effects start at this index the input, which is the script of an editor.
    pub(super) fn note_input_as_added(&mut self, from: usize) {
        match self.texts.input.clone() {
            Some(TextSource::Known { text, .. }) => self.note_added_text(from, Some(text.to_string())),
            Some(TextSource::Document(number)) => {
                self.note_added_text(from, Some(String::new()));
                (from..self.effects.len()).for_each(|at| self.await_document(number, at));
            }
            Some(TextSource::File(_)) | None => {}
        }
    }

    fn deliver_writes(&mut self, source: &TextSource, from: usize, to: usize, append: bool) {
        let (text, is_complete) = match source {
            TextSource::Known { text, is_complete } => (text.clone(), *is_complete),
            TextSource::Document(_) => ("".into(), false),
            TextSource::File(file) => return self.deliver_copies(file, from, to, append),
        };
        for at in from..to.min(self.effects.len()) {
            if let Effect::Write { content: content @ WriteContent::Unknown, .. } = &mut self.effects[at] {
                *content = WriteContent::Known { text: text.clone(), append, is_complete };
                if let TextSource::Document(number) = source {
                    self.await_document(*number, at);
                }
            }
        }
    }

    /// Lets the files of the effects from this index on get what another file holds.
    fn deliver_copies(&mut self, file: &str, from: usize, to: usize, append: bool) {
        let Some(directory) = self.place.known_directory() else { return };
        let file = Path::new(&directory).join(file);
        for at in from..to.min(self.effects.len()) {
            if let Effect::Write { content: content @ WriteContent::Unknown, .. } = &mut self.effects[at]
                && self.work.pay(file.as_os_str().len())
            {
                *content = WriteContent::Copied { file: file.clone(), append };
            }
        }
    }

    /// Gives the commits from this index on the input of the current command as their message.
    pub(super) fn give_input_as_message(&mut self, from: usize) {
        match self.texts.input.clone() {
            Some(TextSource::Known { text, is_complete: true }) => {
                let text = text.trim_end_matches('\n').to_owned();
                self.set_message(from, &CommitMessage::Known(text));
            }
            Some(TextSource::Document(number)) => {
                self.set_message(from, &CommitMessage::Unknown);
                (from..self.effects.len()).for_each(|at| self.await_document(number, at));
            }
            Some(TextSource::File(file)) => self.give_file_as_message(from, &file),
            _ => self.set_message(from, &CommitMessage::Unknown),
        }
    }

    /// Lets the effect with this index get the text of a here-document.
    fn await_document(&mut self, number: usize, effect: usize) {
        if let Some(document) = self.find_document(number) {
            document.receivers.push(effect);
        }
    }

    /// The here-document with this number, if its text has not been read yet.
    pub(super) fn find_document(&mut self, number: usize) -> Option<&mut PendingDocument> {
        let first = self.texts.documents - self.documents.len();
        number.checked_sub(first).and_then(|at| self.documents.get_mut(at))
    }

    pub(super) fn deliver_document(
        &mut self,
        document: &PendingDocument,
        body: &str,
        is_quoted: bool,
        strips_tabs: bool,
    ) {
        // The body of a here-document comes right after it was announced, in the order of the announcements.
        let number = self.texts.documents - self.documents.len() - 1;
        let is_it = |part: &TextSource| matches!(part, TextSource::Document(other) if *other == number);
        let is_grouped = self.texts.groups.iter().flat_map(|group| &group.parts).any(is_it);
        let is_commands = document.script.is_some() && !document.is_remote;
        if document.receivers.is_empty() && !is_grouped && is_commands || !self.work.pay(body.len()) {
            return;
        }
        let stripped = if strips_tabs { strip_tabs(body) } else { Cow::Borrowed(body) };
        let (known, is_whole) = if is_quoted { (stripped, true) } else { drop_expansions(&stripped) };
        let shared: Arc<str> = known.into();
        if !is_commands {
            self.tree.note_input(document.command, shared.clone());
        }
        let parts = self.texts.groups.iter_mut().flat_map(|group| &mut group.parts);
        for part in parts.filter(|part| is_it(part)) {
            *part = TextSource::Known { text: shared.clone(), is_complete: is_whole };
        }
        for at in &document.receivers {
            let message = match self.effects.get_mut(*at) {
                Some(Effect::Write { content: WriteContent::Known { text, is_complete, .. }, .. }) => {
                    (*text, *is_complete) = (shared.clone(), is_whole);
                    continue;
                }
                Some(Effect::Write { content: WriteContent::Adds { text }, .. }) => {
                    *text = shared.clone();
                    continue;
                }
                Some(Effect::Commit { message, .. }) => message,
                Some(Effect::UpdateBranch(update)) => &mut update.message,
                _ => continue,
            };
            if is_whole && self.work.pay(shared.len()) {
                *message = CommitMessage::Known(shared.trim_end_matches('\n').to_owned());
            }
        }
    }

    /// Of several files, none is known to be all that is printed.
    fn join_cat(&mut self, words: &[Word]) -> Option<TextSource> {
        match words {
            [word] if word.text().is_some_and(|text| !text.starts_with('-')) => {
                self.work.pay(word.value.len()).then(|| TextSource::File(word.value.clone().into_owned()))
            }
            _ if words.iter().all(|word| word.text() == Some("-")) => self.texts.input.clone(),
            _ => None,
        }
    }

    pub(super) fn join_echo(&self, mut words: &[Word]) -> Option<TextSource> {
        let (mut has_end, mut has_escapes) = (true, false);
        let is_option = |text: &str| text.len() > 1 && text[1..].bytes().all(|c| b"neE".contains(&c));
        while let Some((first, rest)) = words.split_first()
            && let Some(text) = first.text().filter(|text| text.starts_with('-') && is_option(text))
        {
            has_end &= !text.contains('n');
            has_escapes = text.rfind(['e', 'E']).map_or(has_escapes, |at| text[at..].starts_with('e'));
            words = rest;
        }
        let mut text = String::new();
        for (at, word) in words.iter().enumerate() {
            let part = word.literal_text();
            if !self.work.pay(part.len() + 1) {
                return None;
            }
            text.push_str(if at > 0 { " " } else { "" });
            text.push_str(&part);
        }
        if has_escapes {
            text = decode_escapes(&text)?;
        }
        text.push_str(if has_end { "\n" } else { "" });
        let is_complete = words.iter().all(|word| word.text().is_some());
        Some(TextSource::Known { text: text.into(), is_complete })
    }

    /// Follows the conversions and escapes of the format, without padding. The format is used again for further words.
    pub(super) fn format_printf(&self, words: &[Word]) -> Option<TextSource> {
        let words = if words.first()?.text() == Some("--") { &words[1..] } else { words };
        let (format, operands) = words.split_first()?;
        let mut is_complete = words.iter().all(|word| word.text().is_some());
        let format = decode_escapes(&format.literal_text())?;
        let mut operands = operands.iter();
        let mut text = String::new();
        loop {
            let left = operands.len();
            let mut rest = format.chars();
            if !self.work.pay(format.len()) || text.len() > LONGEST_TEXT {
                return None;
            }
            while let Some(c) = rest.next() {
                if c != '%' {
                    text.push(c);
                    continue;
                }
                let is_flag = |c: &char| matches!(c, '0'..='9' | '-' | '+' | '#' | ' ' | '.' | '\'');
                let after_sign = rest.clone().next();
                let conversion = rest.find(|c| !is_flag(c))?;
                if conversion == '%' {
                    text.push('%');
                    continue;
                }
                let operand = operands.next().map_or_else(Cow::default, Word::literal_text);
                match conversion {
                    'b' => text.push_str(&decode_escapes(&operand)?),
                    'A'..='Z' | 'a'..='z' => text.push_str(&operand),
                    _ => return None,
                }
                is_complete &= matches!(conversion, 's' | 'd' | 'i' | 'b') && after_sign == Some(conversion);
            }
            if operands.len() == 0 || operands.len() == left {
                return Some(TextSource::Known { text: text.into(), is_complete });
            }
        }
    }
}

fn strip_tabs(body: &str) -> Cow<'_, str> {
    body.split_inclusive('\n').map(|line| line.trim_start_matches('\t')).collect()
}

/// The text of a here-document with expansions, without them, and whether it has none.
fn drop_expansions(body: &str) -> (Cow<'_, str>, bool) {
    if !body.contains(['$', '`', '\\']) {
        return (Cow::Borrowed(body), true);
    }
    let mut text = String::with_capacity(body.len());
    let mut is_complete = true;
    let mut rest = body;
    while let Some(at) = rest.find(['$', '`', '\\']) {
        text.push_str(&rest[..at]);
        let behind = &rest[at + 1..];
        let skipped = match (rest.as_bytes()[at], behind.as_bytes().first()) {
            (b'\\', Some(b'\n')) => 1,
            (b'\\', Some(c @ (b'$' | b'`' | b'\\'))) => {
                text.push(char::from(*c));
                1
            }
            (b'`', _) => behind.find('`').map_or(behind.len(), |end| end + 1),
            (b'$', Some(b'{')) => find_closing(behind, b'{', b'}'),
            (b'$', Some(b'(')) => find_closing(behind, b'(', b')'),
            (b'$', Some(c)) if c.is_ascii_alphabetic() || *c == b'_' => {
                behind.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(behind.len())
            }
            (b'$', Some(c)) if c.is_ascii_digit() || b"@*#?$!-".contains(c) => 1,
            (c, _) => {
                text.push(char::from(c));
                rest = behind;
                continue;
            }
        };
        is_complete &= rest.as_bytes()[at] == b'\\';
        rest = &behind[skipped..];
    }
    text.push_str(rest);
    (Cow::Owned(text), is_complete)
}

/// The length of a text up to the bracket that closes the one at its start.
fn find_closing(text: &str, open: u8, close: u8) -> usize {
    let mut depth = 0;
    for (at, c) in text.bytes().enumerate() {
        depth += usize::from(c == open);
        if c == close {
            depth -= 1;
            if depth == 0 {
                return at + 1;
            }
        }
    }
    text.len()
}
