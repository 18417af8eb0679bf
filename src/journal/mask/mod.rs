//! Masks what looks like a credential.
//!
//! A journal outlives the session, and people who were not there read it. When in doubt, a text is masked. The start of a
//! known kind of token stays, so that a reader can tell what it was, and so does a variable: `$TOKEN` is no secret.
//!
//! A secret is known by its own form ([`tokens`]), by the name before it ([`names`]), or by the option of a program that it
//! follows ([`options`]).

mod names;
mod options;
mod tokens;

use std::borrow::Cow;

use serde_json::Value;

const MASK: &str = "••••";

/// The start of a private key. All text after it is masked.
const KEY: &str = "-----BEGIN";

/// Fields of the journal whose values are ids. They look random, and are no secrets unless they have the form of a token.
const IDS: &[&str] = &["id", "call", "session", "turn", "time", "subject_hash"];

/// The bytes of a secret in a text.
type Span = (usize, usize);

/// Masks the credentials in a text.
pub fn mask_credentials(text: &str) -> Cow<'_, str> {
    hide(text, find_credentials(text, true))
}

/// Masks the credentials in the value of a field of the journal.
pub fn mask_field<'t>(name: &str, text: &'t str) -> Cow<'t, str> {
    hide(text, find_credentials(text, !IDS.contains(&name)))
}

fn hide(text: &str, mut hidden: Vec<Span>) -> Cow<'_, str> {
    if hidden.is_empty() {
        return Cow::Borrowed(text);
    }
    hidden.sort_unstable();
    let mut shown = String::with_capacity(text.len());
    let mut copied = 0;
    for (start, end) in hidden {
        if start >= copied {
            shown += &text[copied..start];
            shown += MASK;
        }
        copied = copied.max(end);
    }
    shown += &text[copied..];
    Cow::Owned(shown)
}

/// The credentials of a command. Other texts about it quote parts of it, from which they could not be told any more.
#[derive(Default)]
pub struct KnownSecrets(Vec<String>);

impl KnownSecrets {
    /// Finds the credentials in a command.
    pub fn find(command: &str) -> Self {
        /// A shorter one could be part of any word.
        const SHORTEST: usize = 4;
        let spans = find_credentials(command, true).into_iter();
        let secrets = spans.map(|(start, end)| command[start..end].trim_matches(['"', '\'']).to_owned());
        Self(secrets.filter(|secret| secret.len() >= SHORTEST && !secret.contains(MASK)).collect())
    }

    /// Masks the credentials in a text, and those of the command wherever it quotes them, also if it cuts them.
    pub fn mask<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut hidden = find_credentials(text, true);
        for secret in &self.0 {
            hidden.extend(text.match_indices(secret.as_str()).map(|(at, part)| (at, at + part.len())));
            for (cut, _) in text.match_indices('…') {
                hidden.extend(find_cut(&text[..cut], secret).map(|start| (start, cut)));
            }
        }
        hide(text, hidden)
    }
}

/// Where the start of a secret begins at the end of a text.
fn find_cut(text: &str, secret: &str) -> Option<usize> {
    const SHORTEST: usize = 3;
    let starts = secret.char_indices().map(|(at, _)| &secret[..at]).rev();
    let mut starts = starts.filter(|start| start.len() >= SHORTEST);
    starts.find(|start| text.ends_with(*start)).map(|start| text.len() - start.len())
}

/// Masks the credentials in all texts of a line of the journal, which another version may have written.
pub fn mask_line(line: &mut Value) {
    let secrets = KnownSecrets::find(line["subject"].as_str().unwrap_or_default());
    mask_value(line, &secrets);
}

fn mask_value(value: &mut Value, secrets: &KnownSecrets) {
    match value {
        Value::String(text) => {
            if let Cow::Owned(masked) = secrets.mask(text) {
                *text = masked;
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| mask_value(item, secrets)),
        Value::Object(fields) => {
            for (name, value) in fields {
                match value {
                    Value::String(id) if IDS.contains(&name.as_str()) => {
                        *id = mask_field(name, id).into_owned();
                    }
                    _ => mask_value(value, secrets),
                }
            }
        }
        _ => {}
    }
}

/// Finds credentials; with `may_be_random`, also texts that only look random.
fn find_credentials(text: &str, may_be_random: bool) -> Vec<Span> {
    let mut hidden: Vec<Span> = Vec::new();
    let mut is_start = true;
    // The characters before this one belong to a long word that was looked at.
    let mut looked_at = 0;
    for (at, c) in text.char_indices() {
        let was_start = std::mem::replace(&mut is_start, is_separator(c));
        // Nothing is searched in what is hidden already.
        if hidden.last().is_some_and(|(_, end)| at < *end) {
            continue;
        }
        let shift = |(from, to)| (at + from, at + to);
        if was_start {
            hidden.extend(tokens::find_token(&text[at..]).map(shift));
            if may_be_random
                && at >= looked_at
                && let Some(word) = tokens::find_random(&text[at..])
            {
                hidden.extend(word.is_secret.then_some((at, at + word.length)));
                looked_at = at + word.length;
            }
        }
        names::find_values(text, at, &mut hidden);
        if c == ':' {
            hidden.extend(tokens::find_user_info(&text[at..]).map(shift));
        }
        if c == '-' && text[at..].starts_with(KEY) {
            hidden.push((at + KEY.len(), text.len()));
            break;
        }
    }
    // Most texts of a line are one word.
    if text.contains(' ') {
        options::find_option_values(text, &mut hidden);
        find_again(text, &mut hidden);
    }
    hidden
}

/// Adds the other places of secrets that a text has more than once.
fn find_again(text: &str, hidden: &mut Vec<Span>) {
    const SHORTEST: usize = 8;
    /// So many secrets are searched for, because each search reads the text.
    const MOST: usize = 8;
    // A word may be used as a password, but it is no secret elsewhere.
    let is_word = |secret: &str| secret.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-');
    let secrets = hidden.iter().map(|(start, end)| text[*start..*end].trim_matches(['"', '\'']));
    let secrets: Vec<&str> =
        secrets.filter(|secret| secret.len() >= SHORTEST && !is_word(secret)).take(MOST).collect();
    for secret in secrets {
        let places = text.match_indices(secret).map(|(at, _)| (at, at + secret.len()));
        let is_new = |place: &Span| !hidden.iter().any(|known| known.0 <= place.0 && place.1 <= known.1);
        let places: Vec<Span> = places.filter(is_new).collect();
        hidden.extend(places);
    }
}

#[rustfmt::skip]
fn is_separator(c: char) -> bool {
    c.is_whitespace()
        || matches!(c, '"' | '\'' | '`' | '=' | ':' | ',' | ';' | '(' | ')' | '[' | ']' | '{' | '}' | '<' | '>' | '|'
            | '&' | '@' | '/' | '?' | '\\')
}

/// The end of a secret that begins a text: at the quote that was opened before it, or else where a word of a command line
/// ends.
fn find_value_end(text: &str, quote: Option<char>) -> usize {
    if let Some(quote) = quote {
        let mut is_escaped = false;
        let closing = text.char_indices().find(|(_, c)| {
            let is_end = *c == quote && !is_escaped;
            is_escaped = *c == '\\' && !is_escaped;
            is_end
        });
        // A text that was cut has no closing quote.
        return closing.map_or(text.len(), |(at, _)| at);
    }
    let mut is_escaped = false;
    let mut characters = text.char_indices().peekable();
    while let Some((at, c)) = characters.next() {
        let is_followed = characters.peek().is_some_and(|(_, next)| !next.is_whitespace());
        let is_end = c.is_whitespace() || "\"'`;&|)}<>".contains(c) || (c == ',' && !is_followed);
        if is_end && !is_escaped {
            return at;
        }
        is_escaped = c == '\\' && !is_escaped;
    }
    text.len()
}

/// Whether a value only names where the secret is (`$TOKEN`, `${TOKEN}`, `$(cat file)`, `%TOKEN%`, `{{ token }}`), or says
/// whether there is one.
fn is_reference(value: &str) -> bool {
    const ANSWERS: &[&str] =
        &["0", "1", "2", "true", "false", "yes", "no", "none", "null", "nil", "undefined"];
    let is_name =
        |name: &str| !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let inner = |start: &str, end: &str| value.strip_prefix(start).and_then(|rest| rest.strip_suffix(end));
    ANSWERS.iter().any(|answer| value.eq_ignore_ascii_case(answer))
        || value.starts_with("$(")
        || value.starts_with("${{")
        || value.starts_with("{{")
        || value.strip_prefix('$').is_some_and(is_name)
        || inner("${", "}")
            .or(inner("${", ""))
            .is_some_and(|name| is_name(name.trim_end_matches([':', '-', '?'])))
        || inner("%", "%").is_some_and(is_name)
        || value.starts_with(MASK)
}

#[cfg(test)]
mod tests;
