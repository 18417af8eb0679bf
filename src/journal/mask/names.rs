//! Secrets that are known by the name before them: `password=…`, `"token": "…"`, `Authorization: Bearer …`.

use super::tokens::Prefixes;
use super::{Span, find_value_end, is_reference};

/// Names whose value is a secret, wherever `name=value` or `name: value` is written, also within a longer name.
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
    "access-key",
    "accesskey",
    "accountkey",
    "private_key",
    "privatekey",
    "identified by",
    "authorization",
    "bearer",
    "credential",
    "cookie",
    "x-auth",
];

/// Names that only count before `=`, or before `:` if they are quoted, and as a whole or the last part of a longer name:
/// `DB_PASS=x`, `--pass=x`, `&sig=x`, but not `passed: 3`.
const LAST_PARTS: &[&str] =
    &["pass", "passcode", "pw", "auth", "sig", "signature", "pin", "dsn", "salt", "creds", "otp"];

/// The endings of environment variables with a secret: `STRIPE_KEY=x`. In lower case, a key is often no secret.
const VARIABLE_ENDINGS: &[&str] = &["_KEY", "_SIGNING", "_HMAC", "_PEM"];

static NAME_PREFIXES: Prefixes = Prefixes::from_texts(NAMES);
static PART_PREFIXES: Prefixes = Prefixes::from_texts(LAST_PARTS);
static ENDING_PREFIXES: Prefixes = Prefixes::from_texts(VARIABLE_ENDINGS);

/// Adds the values of the names that begin at a place of a text.
pub(super) fn find_values(text: &str, at: usize, found: &mut Vec<Span>) {
    let bytes = text.as_bytes();
    let begins = |name: &&&str| {
        let word = bytes.get(at..at + name.len());
        word.is_some_and(|word| word.eq_ignore_ascii_case(name.as_bytes()))
    };
    if NAME_PREFIXES.may_match(bytes, at) {
        found.extend(NAMES.iter().filter(begins).find_map(|name| find_value(text, at, name)));
    }
    if PART_PREFIXES.may_match(bytes, at) {
        found.extend(LAST_PARTS.iter().filter(begins).find_map(|name| find_part_value(text, at, name)));
    }
    if ENDING_PREFIXES.may_match(bytes, at) {
        let endings = VARIABLE_ENDINGS.iter().filter(|ending| text[at..].starts_with(**ending));
        found.extend(endings.map(|ending| at + ending.len()).find_map(|end| find_assigned(text, end)));
    }
}

fn find_value(text: &str, at: usize, name: &str) -> Option<Span> {
    // A longer name (`token_id`, `secrets`) is a name too.
    let tail = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let rest = text[at + name.len()..].trim_start_matches(tail);
    let value = rest.trim_start_matches([' ', '"', '\'', '=', ':', '\\']);
    let separator = &rest[..rest.len() - value.len()];
    let start = text.len() - value.len();
    // `token::refresh` is a path of a program.
    let is_assigned = separator.contains(['=', ':']) && !separator.starts_with("::");
    if !is_assigned {
        // In SQL, a string follows.
        if matches!(name, "password" | "identified by") && separator == " '" {
            return Some((start, start + find_value_end(value, Some('\''))));
        }
        // In prose, what follows is a word.
        let secret = &value[..find_value_end(value, None)];
        let is_token = name == "bearer" && separator.starts_with(' ') && looks_like_token(secret);
        return is_token.then_some((start, start + secret.len()));
    }
    let quote =
        separator.chars().rev().find(|c| "\"'".contains(*c)).filter(|_| separator.ends_with(['"', '\'']));
    if name == "cookie" {
        return Some((start, start + find_header_end(value)));
    }
    let end = find_value_end(value, quote);
    // In a header, the secret is after the scheme.
    let first = value[..end].split(' ').next().unwrap_or_default();
    let schemes = ["bearer", "basic", "token", "digest", "negotiate", "apikey", "aws4-hmac-sha256"];
    if schemes.iter().any(|scheme| first.eq_ignore_ascii_case(scheme)) {
        let secret = value[first.len()..].trim_start();
        let (start, end) = (text.len() - secret.len(), find_header_end(secret));
        return (!is_reference(&secret[..end])).then_some((start, start + end));
    }
    let is_ordinary = is_ordinary_value(&text[at..text.len() - value.len()], name, &value[..end]);
    let is_directory = is_working_directory(text, at, name, value);
    (end > 0 && !is_ordinary && !is_directory).then_some((start, start + end))
}

/// The end of a header's value: its closing quote, or the end of the line.
fn find_header_end(value: &str) -> usize {
    value.find(['"', '\'', '`', '\n', '\r']).unwrap_or(value.len())
}

/// Whether a text after the word `bearer` is a token, and not the next word of a sentence.
fn looks_like_token(text: &str) -> bool {
    text.len() >= 16 || (text.len() >= 8 && text.bytes().any(|byte| byte.is_ascii_digit()))
}

/// Whether a value names where the secret is, or is a number of tokens.
fn is_ordinary_value(before: &str, name: &str, value: &str) -> bool {
    let is_count = || value.len() <= 7 && value.bytes().all(|byte| byte.is_ascii_digit());
    is_reference(value) || (name == "token" && before.len() > name.len() && is_count())
}

/// Whether the name is the variable of the current directory.
fn is_working_directory(text: &str, at: usize, name: &str, value: &str) -> bool {
    let before = text[..at].trim_end_matches("OLD").chars().next_back();
    let is_variable =
        text[at..].starts_with("PWD") && before.is_none_or(|c| !c.is_ascii_alphanumeric() && c != '_');
    name == "pwd" && is_variable && value.starts_with(['/', '~', '.', '\\'])
}

fn find_part_value(text: &str, at: usize, name: &str) -> Option<Span> {
    let before = text[..at].chars().next_back();
    let is_part = before.is_none_or(|c| !c.is_ascii_alphanumeric());
    // `userPass` in camel case.
    let is_hump = text[at..].starts_with(|c: char| c.is_ascii_uppercase())
        && before.is_some_and(|c| c.is_ascii_lowercase());
    if is_part || is_hump { find_assigned(text, at + name.len()) } else { None }
}

/// The value of an assignment whose name ends here: `=value`, or `": "value"`.
fn find_assigned(text: &str, end: usize) -> Option<Span> {
    let rest = &text[end..];
    let value = rest
        .strip_prefix('=')
        .or_else(|| rest.strip_prefix("\": "))
        .or_else(|| rest.strip_prefix("\":"))
        .or_else(|| rest.strip_prefix("': "))?;
    let quote = value.chars().next().filter(|c| "\"'".contains(*c));
    let value = if quote.is_some() { &value[1..] } else { value };
    let start = text.len() - value.len();
    let length = find_value_end(value, quote);
    // A call or a tuple: `auth=('me', 'x')`.
    let length = if value[..length].contains('(') && !value.starts_with('$') {
        value.find(')').unwrap_or(value.len())
    } else {
        length
    };
    // `==` compares.
    let is_value = length > 0 && !value.starts_with('=') && !is_reference(&value[..length]);
    is_value.then_some((start, start + length))
}
