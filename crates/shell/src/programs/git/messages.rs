//! The message of a commit, where the words of the line give it, or name the file that holds it.

use std::path::PathBuf;

use super::super::options::ParsedArguments;
use crate::effect::Effect;
use crate::effect::git::CommitMessage;
use crate::{LONGEST_PATH, LineWalker};

impl LineWalker<'_> {
    /// Gives the effects from this index on the message of the current command.
    pub(super) fn note_message(&mut self, arguments: &ParsedArguments, from: usize) {
        if arguments.mentions('F', "--file") {
            let file = arguments.value('F', "--file").filter(|_| !arguments.mentions('m', "--message"));
            return match file.map(|word| (word.text(), word)) {
                Some((Some("-" | "/dev/stdin"), _)) => self.give_input_as_message(from),
                Some((Some(file), _)) => self.give_file_as_message(from, file),
                Some((None, _)) => self.set_message(from, &CommitMessage::Unknown),
                None => {}
            };
        }
        let mut words = arguments.values('m', "--message").flatten();
        let (first, second) = (words.next(), words.next());
        if let (Some(word), None) = (first, second)
            && let Some(file) = find_printed_file(word.source)
        {
            return self.give_file_as_message(from, file);
        }
        let mut message = String::new();
        for word in first.into_iter().chain(second).chain(words) {
            let Some(text) = word.text().filter(|text| self.work.pay(text.len())) else {
                return self.set_message(from, &CommitMessage::Unknown);
            };
            if !message.is_empty() {
                message.push_str("\n\n");
            }
            message.push_str(text);
        }
        if first.is_some() {
            self.set_message(from, &CommitMessage::Known(message));
        }
    }

    /// Names the file that holds the message of the commits from this index on.
    pub(crate) fn give_file_as_message(&mut self, from: usize, file: &str) {
        let Some(directory) = self.place.known_directory() else { return };
        let path = PathBuf::from(directory).join(file);
        if path.as_os_str().len() <= LONGEST_PATH {
            self.set_message(from, &CommitMessage::InFile(path));
        }
    }

    /// Gives the commits from this index on their message.
    pub(crate) fn set_message(&mut self, from: usize, given: &CommitMessage) {
        let cost = match given {
            CommitMessage::Known(text) => text.len(),
            CommitMessage::InFile(path) => path.as_os_str().len(),
            CommitMessage::NotGiven | CommitMessage::Unknown => 0,
        };
        for effect in self.effects.iter_mut().skip(from) {
            if !self.work.pay(cost) {
                return;
            }
            match effect {
                Effect::Commit { message, .. } => message.clone_from(given),
                Effect::UpdateBranch(update) => update.message.clone_from(given),
                _ => {}
            }
        }
    }
}

/// The file whose text a word consists of: `"$(cat FILE)"`, `"$(<FILE)"`.
fn find_printed_file(source: &str) -> Option<&str> {
    let inside = source.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(source);
    let commands = inside.strip_prefix("$(")?.strip_suffix(')')?.trim();
    let after_cat = commands.strip_prefix("cat").filter(|rest| rest.starts_with([' ', '\t', '<']));
    let file = after_cat.unwrap_or(commands).trim_start();
    let file = match file.strip_prefix('<') {
        Some(file) => file.trim_start(),
        None => after_cat?.trim_start(),
    };
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '/' | '.' | '_' | '-' | '+' | ',' | '@');
    (!file.is_empty() && !file.starts_with('-') && file.chars().all(is_plain)).then_some(file)
}
