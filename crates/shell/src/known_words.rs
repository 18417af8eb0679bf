//! Words whose commands the line itself prints, but between other signs than `$(…)`: `` `echo rm` -rf x ``, `bash <(echo ls)`.
//!
//! What `echo` and `printf` print is in the line. Only a substitution of one such command with known words counts; any
//! other word stays unknown. The parser itself follows what `$(…)` prints.

use std::borrow::Cow;
use std::sync::Arc;

use crate::LineWalker;
use crate::budget::PARSING_COST;
use crate::grammar::{Parser, SimpleCommand, StructureEvent, SyntaxEvent, TextKind};
use crate::texts::TextSource;
use crate::word::Word;

/// A longer word is not put together.
const LONGEST: usize = 4096;
/// Characters that the shell would expand in a word without quotes, or in the text behind a substitution.
const EXPANDED: &[char] = &['$', '`', '"', '\'', '\\', '*', '?', '[', '{', '~'];

impl LineWalker<'_> {
    /// The words with every such word replaced; `None` if there is none.
    pub(super) fn replace_known_words<'w>(&self, words: &[Word<'w>]) -> Option<Vec<Word<'w>>> {
        if !words.iter().any(may_be_printed) {
            return None;
        }
        let mut replaced = Vec::with_capacity(words.len());
        let mut has_replaced = false;
        for word in words {
            match self.expand_printed_word(word) {
                Some(texts) => {
                    has_replaced = true;
                    replaced.extend(texts.into_iter().map(|text| known_word(word, text)));
                }
                None => replaced.push(word.clone()),
            }
        }
        has_replaced.then_some(replaced)
    }

    /// The words that a word becomes which begins with a printed text.
    pub(super) fn expand_printed_word(&self, word: &Word) -> Option<Vec<String>> {
        let (inside, tail, is_quoted) =
            Some(word).filter(|word| may_be_printed(word)).and_then(split_word)?;
        let text = self.print_text(inside)?;
        let text = text.trim_end_matches('\n');
        if is_quoted {
            return Some(vec![format!("{text}{tail}")]);
        }
        if text.contains(EXPANDED) {
            return None;
        }
        let mut parts: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
        parts.last_mut()?.push_str(tail);
        Some(parts)
    }

    /// The text of `<(echo …)`.
    pub(super) fn find_printed_script(&self, word: &Word) -> Option<String> {
        let inside = word.source.strip_prefix("<(")?.strip_suffix(')')?;
        self.print_text(inside).map(|text| text.to_string())
    }

    /// What these commands print, if they are one `echo` or `printf` whose words are known.
    fn print_text(&self, commands: &str) -> Option<Arc<str>> {
        let name = commands.split_whitespace().next()?;
        if !matches!(name, "echo" | "printf")
            || commands.len() > LONGEST
            || !self.work.pay(commands.len() * PARSING_COST)
        {
            return None;
        }
        let mut only: Option<SimpleCommand> = None;
        for event in Parser::new(commands, TextKind::Commands, self.home, self.work) {
            match event {
                SyntaxEvent::Simple(command) if only.is_none() && command.redirections.is_empty() => {
                    only = Some(command);
                }
                SyntaxEvent::Structure(StructureEvent::Joined { .. }) => {}
                _ => return None,
            }
        }
        let words = only?.words;
        let (program, words) = words.split_first()?;
        let printed = match program.text()? {
            "echo" => self.join_echo(words),
            _ => self.format_printf(words),
        };
        match printed? {
            TextSource::Known { text, is_complete: true } => Some(text),
            _ => None,
        }
    }
}

/// Whether a word may be the output of a command between backticks whose name says that it prints its words.
fn may_be_printed(word: &Word) -> bool {
    let inside = word.source.trim_start_matches('"').strip_prefix('`');
    word.text().is_none()
        && inside.is_some_and(|inside| {
            let inside = inside.trim_start();
            inside.starts_with("echo") || inside.starts_with("printf")
        })
}

/// The commands between the backticks that a word begins with, the text behind them, and whether the word is quoted.
fn split_word<'s>(word: &Word<'s>) -> Option<(&'s str, &'s str, bool)> {
    let quoted = word.source.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    let (inside, tail) = quoted.unwrap_or(word.source).strip_prefix('`')?.split_once('`')?;
    let is_plain = !tail.contains(EXPANDED) && !inside.contains('\\');
    is_plain.then_some((inside, tail, quoted.is_some()))
}

fn known_word<'w>(word: &Word<'w>, text: String) -> Word<'w> {
    Word { source: word.source, value: Cow::Owned(text), quoted: true, ..Word::default() }
}
