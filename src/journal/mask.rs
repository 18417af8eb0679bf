//! Hiding what looks like a credential.
//!
//! A journal outlives the session and is read by people who did not see it. Masking errs on the
//! side of hiding: the start of a known kind of token stays, so that a reader can tell what it was.

use std::borrow::Cow;

/// Beginnings of tokens that services hand out.
const TOKENS: &[&str] = &[
    "sk-",
    "sk_",
    "pk_live",
    "rk_live",
    "ghp_",
    "gho_",
    "ghu_",
    "ghs_",
    "ghr_",
    "github_pat_",
    "glpat-",
    "xoxb-",
    "xoxp-",
    "xoxa-",
    "xoxs-",
    "xapp-",
    "AKIA",
    "ASIA",
    "AIza",
    "ya29.",
    "eyJ",
    "npm_",
    "pypi-",
    "hf_",
    "dop_v1_",
    "SG.",
];

/// Names whose value is a secret, wherever `name=value`, `name: value` or `name value` is written.
const NAMES: &[&str] = &[
    "password",
    "passwd",
    "pwd",
    "passphrase",
    "secret",
    "token",
    "api_key",
    "apikey",
    "api-key",
    "access_key",
    "private_key",
    "authorization",
    "bearer",
    "credential",
];

const MASK: &str = "••••";

/// The start of a private key, whose rest is all that follows.
const KEY: &str = "-----BEGIN";

/// With which two letters the texts begin, in either case. The journal is written at nearly every call, so a text
/// is passed once, and at most places two letters tell that nothing begins there.
struct Beginnings([bool; 1 << 10]);

impl Beginnings {
    const fn of(texts: &[&str]) -> Self {
        let mut found = [false; 1 << 10];
        let mut at = 0;
        while at < texts.len() {
            let text = texts[at].as_bytes();
            found[Self::index(text[0], text[1])] = true;
            at += 1;
        }
        Self(found)
    }

    /// A small letter and its capital are the same here, and some signs as well.
    const fn index(first: u8, second: u8) -> usize {
        (first as usize & 31) << 5 | (second as usize & 31)
    }

    fn may_be(&self, text: &[u8], at: usize) -> bool {
        text.get(at + 1).is_some_and(|second| self.0[Self::index(text[at], *second)])
    }
}

static OF_TOKENS: Beginnings = Beginnings::of(TOKENS);
static OF_NAMES: Beginnings = Beginnings::of(NAMES);

/// The text with credentials masked.
pub fn masked(text: &str) -> Cow<'_, str> {
    let mut hidden: Vec<(usize, usize)> = Vec::new();
    let mut is_start = true;
    for (at, c) in text.char_indices() {
        let shifted = |(from, to)| (at + from, at + to);
        if is_start && OF_TOKENS.may_be(text.as_bytes(), at) {
            hidden.extend(token(&text[at..]).map(shifted));
        }
        if OF_NAMES.may_be(text.as_bytes(), at) {
            hidden.extend(NAMES.iter().filter_map(|name| value(&text[at..], name)).map(shifted));
        }
        if c == ':' {
            hidden.extend(user_info(&text[at..]).map(shifted));
        }
        if c == '-' && text[at..].starts_with(KEY) {
            hidden.push((at + KEY.len(), text.len()));
            break;
        }
        is_start = separates(c);
    }
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

#[rustfmt::skip]
fn separates(c: char) -> bool {
    c.is_whitespace()
        || matches!(c, '"' | '\'' | '`' | '=' | ':' | ',' | ';' | '(' | ')' | '[' | ']' | '{' | '}' | '<' | '>' | '|'
            | '&' | '@' | '/' | '?' | '\\')
}

/// A word at the start of a text that is a token, from where it is secret.
fn token(text: &str) -> Option<(usize, usize)> {
    let token = TOKENS.iter().find(|token| text.starts_with(**token))?;
    let end = text.find(separates).unwrap_or(text.len());
    (end >= token.len() + 8).then_some((token.len(), end))
}

/// `password=…`, `"token": "…"`, `Authorization: Bearer …`
fn value(text: &str, name: &str) -> Option<(usize, usize)> {
    let starts = text.as_bytes().get(..name.len())?.eq_ignore_ascii_case(name.as_bytes());
    if !starts {
        return None;
    }
    // The rest of a longer name (`token_id`, `secrets`) belongs to the name.
    let tail = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let rest = text[name.len()..].trim_start_matches(tail);
    let value = rest.trim_start_matches([' ', '"', '\'', '=', ':']);
    let separator = &rest[..rest.len() - value.len()];
    if !separator.contains(['=', ':']) && name != "bearer" {
        return None;
    }
    let end = value.find(|c: char| c.is_whitespace() || "\"'`,;&)}".contains(c)).unwrap_or(value.len());
    // A header's scheme is not the secret; what follows it is.
    let is_scheme =
        ["bearer", "basic", "token"].iter().any(|scheme| value[..end].eq_ignore_ascii_case(scheme));
    if is_scheme {
        let secret = value[end..].trim_start();
        let start = text.len() - secret.len();
        return Some((start, start + secret.find(char::is_whitespace).unwrap_or(secret.len())));
    }
    let start = text.len() - value.len();
    (end > 0).then_some((start, start + end))
}

/// `://user:password@host`
fn user_info(text: &str) -> Option<(usize, usize)> {
    let place = text.strip_prefix("://")?;
    let end = place.find(|c: char| c.is_whitespace() || "/\"'`".contains(c)).unwrap_or(place.len());
    let at = place[..end].rfind('@')?;
    let colon = place[..at].find(':')?;
    let start = text.len() - place.len();
    Some((start + colon + 1, start + at))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_are_masked() {
        let cases = [
            ("write /tmp/sk-ant-REDACTED", "write /tmp/sk-••••"),
            ("ghp_abcdefghij0123456789 rest", "ghp_•••• rest"),
            ("PASSWORD=hunter2 x", "PASSWORD=•••• x"),
            ("{\"api_key\": \"abc\"}", "{\"api_key\": \"••••\"}"),
            ("Authorization: Bearer abc.def", "Authorization: Bearer ••••"),
            ("https://me:secret@host/x", "https://me:••••@host/x"),
            ("-----BEGIN RSA PRIVATE KEY-----\nMII", "-----BEGIN••••"),
            ("AWS_SECRET_ACCESS_KEY=abcd/efgh", "AWS_SECRET_ACCESS_KEY=••••"),
            ("é token=ñandú é", "é token=•••• é"),
        ];
        for (text, expected) in cases {
            assert_eq!(masked(text), expected);
        }
    }

    #[test]
    fn ordinary_text_stays() {
        for text in [
            "/home/me/project/provost.toml is Provost's configuration",
            "the token file",
            "a tokenizer",
            "http://h:80/x",
            "sk-",
            "",
        ] {
            assert_eq!(masked(text), text);
        }
    }
}
