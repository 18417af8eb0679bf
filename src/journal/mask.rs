//! Masks what looks like a credential.
//!
//! A journal outlives the session, and people who were not there read it. When in doubt, a text is masked. The start of a
//! known kind of token stays, so that a reader can tell what it was.

use std::borrow::Cow;

/// How the tokens of services begin.
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

/// The start of a private key. All text after it is masked.
const KEY: &str = "-----BEGIN";

/// The first two letters of some texts, in either case. The journal is written at nearly every call, so a text is read
/// once, and at most positions two letters rule out a match.
struct Prefixes([bool; 1 << 10]);

impl Prefixes {
    const fn from_texts(texts: &[&str]) -> Self {
        let mut found = [false; 1 << 10];
        let mut at = 0;
        while at < texts.len() {
            let text = texts[at].as_bytes();
            found[Self::index(text[0], text[1])] = true;
            at += 1;
        }
        Self(found)
    }

    /// Upper and lower case have the same index, and so have some other characters.
    const fn index(first: u8, second: u8) -> usize {
        (first as usize & 31) << 5 | (second as usize & 31)
    }

    fn may_match(&self, text: &[u8], at: usize) -> bool {
        text.get(at + 1).is_some_and(|second| self.0[Self::index(text[at], *second)])
    }
}

static TOKEN_PREFIXES: Prefixes = Prefixes::from_texts(TOKENS);
static NAME_PREFIXES: Prefixes = Prefixes::from_texts(NAMES);

/// Masks the credentials in a text.
pub fn mask_credentials(text: &str) -> Cow<'_, str> {
    let mut hidden: Vec<(usize, usize)> = Vec::new();
    let mut is_start = true;
    for (at, c) in text.char_indices() {
        let shift = |(from, to)| (at + from, at + to);
        if is_start && TOKEN_PREFIXES.may_match(text.as_bytes(), at) {
            hidden.extend(find_token(&text[at..]).map(shift));
        }
        if NAME_PREFIXES.may_match(text.as_bytes(), at) {
            hidden.extend(NAMES.iter().filter_map(|name| find_value(&text[at..], name)).map(shift));
        }
        if c == ':' {
            hidden.extend(find_user_info(&text[at..]).map(shift));
        }
        if c == '-' && text[at..].starts_with(KEY) {
            hidden.push((at + KEY.len(), text.len()));
            break;
        }
        is_start = is_separator(c);
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
fn is_separator(c: char) -> bool {
    c.is_whitespace()
        || matches!(c, '"' | '\'' | '`' | '=' | ':' | ',' | ';' | '(' | ')' | '[' | ']' | '{' | '}' | '<' | '>' | '|'
            | '&' | '@' | '/' | '?' | '\\')
}

/// The secret part of a token at the start of a text.
fn find_token(text: &str) -> Option<(usize, usize)> {
    let token = TOKENS.iter().find(|token| text.starts_with(**token))?;
    let end = text.find(is_separator).unwrap_or(text.len());
    (end >= token.len() + 8).then_some((token.len(), end))
}

/// The secret part of `password=…`, `"token": "…"`, `Authorization: Bearer …`.
fn find_value(text: &str, name: &str) -> Option<(usize, usize)> {
    let starts = text.as_bytes().get(..name.len())?.eq_ignore_ascii_case(name.as_bytes());
    if !starts {
        return None;
    }
    // A longer name (`token_id`, `secrets`) is a name too.
    let tail = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let rest = text[name.len()..].trim_start_matches(tail);
    let value = rest.trim_start_matches([' ', '"', '\'', '=', ':']);
    let separator = &rest[..rest.len() - value.len()];
    if !separator.contains(['=', ':']) && name != "bearer" {
        return None;
    }
    let end = value.find(|c: char| c.is_whitespace() || "\"'`,;&)}".contains(c)).unwrap_or(value.len());
    // In a header, the secret is after the scheme.
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

/// The password in `://user:password@host`.
fn find_user_info(text: &str) -> Option<(usize, usize)> {
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
            assert_eq!(mask_credentials(text), expected);
        }
    }

    #[test]
    fn ordinary_text_is_not_masked() {
        for text in [
            "/home/me/project/provost.toml is Provost's configuration",
            "the token file",
            "a tokenizer",
            "http://h:80/x",
            "sk-",
            "",
        ] {
            assert_eq!(mask_credentials(text), text);
        }
    }
}
