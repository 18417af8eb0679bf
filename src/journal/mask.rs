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

/// The text with credentials masked.
pub fn masked(text: &str) -> Cow<'_, str> {
    let mut hidden: Vec<(usize, usize)> = Vec::new();
    let mut at = 0;
    for word in text.split(separates) {
        let start = at;
        let end = start + word.len();
        at = end + text[end..].chars().next().map_or(0, char::len_utf8);
        if let Some(token) =
            TOKENS.iter().find(|token| word.starts_with(**token) && word.len() >= token.len() + 8)
        {
            hidden.push((start + token.len(), end));
        }
    }
    secret_values(text, &mut hidden);
    user_info(text, &mut hidden);
    if let Some(key) = text.find("-----BEGIN") {
        hidden.push((key + "-----BEGIN".len(), text.len()));
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

fn separates(c: char) -> bool {
    c.is_whitespace() || "\"'`=:,;()[]{}<>|&@/?\\".contains(c)
}

/// `password=…`, `"token": "…"`, `Authorization: Bearer …`
fn secret_values(text: &str, hidden: &mut Vec<(usize, usize)>) {
    let lower = text.to_ascii_lowercase();
    // Most texts name no value at all, and the journal is written at every call.
    if !lower.contains(['=', ':']) && !lower.contains("bearer") {
        return;
    }
    for name in NAMES {
        let mut from = 0;
        while let Some(found) = lower[from..].find(name) {
            let after = from + found + name.len();
            from = after;
            // The rest of a longer name (`token_id`, `secrets`) belongs to the name.
            let tail = text[after..].find(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '-'));
            let after = tail.map_or(text.len(), |tail| after + tail);
            let rest = &text[after..];
            let value = rest.trim_start_matches(|c: char| c == ' ' || "\"'=:".contains(c));
            let given = rest.len() - value.len();
            let separator = &rest[..given];
            if !separator.contains(['=', ':']) && *name != "bearer" {
                continue;
            }
            let end =
                value.find(|c: char| c.is_whitespace() || "\"'`,;&)}".contains(c)).unwrap_or(value.len());
            // A header's scheme is not the secret; what follows it is.
            let scheme = ["bearer", "basic", "token"].contains(&value[..end].to_ascii_lowercase().as_str());
            if end > 0 && !scheme {
                hidden.push((after + given, after + given + end));
            } else if scheme {
                let secret = value[end..].trim_start();
                let start = text.len() - secret.len();
                let length = secret.find(char::is_whitespace).unwrap_or(secret.len());
                hidden.push((start, start + length));
            }
        }
    }
}

/// `https://user:password@host`
fn user_info(text: &str, hidden: &mut Vec<(usize, usize)>) {
    let mut from = 0;
    while let Some(found) = text[from..].find("://") {
        let start = from + found + 3;
        from = start;
        let end = text[start..]
            .find(|c: char| c.is_whitespace() || "/\"'`".contains(c))
            .map_or(text.len(), |e| start + e);
        if let Some(at) = text[start..end].rfind('@')
            && let Some(colon) = text[start..start + at].find(':')
        {
            hidden.push((start + colon + 1, start + at));
        }
    }
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
