//! The message of a commit, where the words of the line give it.
//!
//! Agents write long messages as `-m "$(cat <<'EOF' … EOF)"`. To the parser that word is unknown, because commands run in
//! it, but what it prints is there to be read.

use std::borrow::Cow;
use std::path::PathBuf;

use super::super::options::ParsedArguments;
use crate::effect::Effect;
use crate::word::Word;
use crate::{LONGEST_PATH, LineWalker};

impl LineWalker<'_> {
    /// Gives the effects from this index on the message of the current command.
    pub(super) fn note_message(&mut self, arguments: &ParsedArguments, from: usize) {
        if arguments.mentions('F', "--file") {
            let file = arguments.value('F', "--file").and_then(Word::text);
            match file.filter(|_| !arguments.mentions('m', "--message")) {
                Some("-" | "/dev/stdin") => self.give_input_as_message(from),
                Some(file) => self.give_file_as_message(from, file),
                None => {}
            }
            return;
        }
        let mut paragraphs: Option<String> = None;
        for word in arguments.values('m', "--message") {
            let Some(text) = word.and_then(find_text).filter(|text| self.work.pay(text.len())) else {
                return;
            };
            let message = paragraphs.get_or_insert_default();
            if !message.is_empty() {
                message.push_str("\n\n");
            }
            message.push_str(&text);
        }
        if let Some(message) = paragraphs {
            self.set_messages(from, &message);
        }
    }
}

impl LineWalker<'_> {
    /// Names the file that holds the message of the commits from this index on.
    fn give_file_as_message(&mut self, from: usize, file: &str) {
        let Some(directory) = self.place.known_directory() else { return };
        let path = PathBuf::from(directory).join(file);
        if path.as_os_str().len() > LONGEST_PATH || !self.work.pay(path.as_os_str().len()) {
            return;
        }
        if let Some(Effect::Commit { message_file, .. }) = self.effects.get_mut(from) {
            *message_file = Some(path);
        }
    }
}

fn find_text<'w>(word: &'w Word) -> Option<Cow<'w, str>> {
    word.text().map_or_else(|| find_printed_document(word.source), |text| Some(Cow::Borrowed(text)))
}

/// The text of a word that consists of `$(cat <<'EOF' … EOF)`, without the line ends behind it.
fn find_printed_document(source: &str) -> Option<Cow<'_, str>> {
    let inside = source.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(source);
    let commands = inside.strip_prefix("$(")?.strip_suffix(')')?.trim_start();
    let announcement = commands.strip_prefix("cat")?.trim_start_matches([' ', '\t']).strip_prefix("<<")?;
    let (announcement, strips_tabs) =
        announcement.strip_prefix('-').map_or((announcement, false), |rest| (rest, true));
    let (delimiter, body) = announcement.split_once('\n')?;
    let delimiter = delimiter.trim_matches([' ', '\t']);
    let bare: Option<&str> = ['\'', '"']
        .into_iter()
        .find_map(|quote| delimiter.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote)));
    let is_quoted = bare.is_some() || delimiter.starts_with('\\');
    let bare = bare.unwrap_or(delimiter.trim_start_matches('\\'));
    let is_plain = bare.bytes().all(|c| c.is_ascii_alphanumeric() || c == b'_');
    if bare.is_empty() || !is_plain || !is_quoted && body.contains(['$', '`', '\\']) {
        return None;
    }
    let strip = |line: &'_ str| if strips_tabs { line.trim_start_matches('\t').len() } else { line.len() };
    let mut end = 0;
    for line in body.split_inclusive('\n') {
        let rest = &line[line.len() - strip(line)..];
        if rest.trim_end_matches('\n') == bare {
            // Only the bracket follows.
            if !body[end + line.len()..].trim().is_empty() {
                return None;
            }
            let text = body[..end].trim_end_matches('\n');
            return Some(if strips_tabs {
                text.split_inclusive('\n').map(|line| line.trim_start_matches('\t')).collect()
            } else {
                Cow::Borrowed(text)
            });
        }
        end += line.len();
    }
    None
}
