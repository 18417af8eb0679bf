//! Secrets that are known by their own form: tokens of services, passwords in URLs, random texts.

use super::{Span, find_value_end, is_reference, is_separator};

/// How the tokens of services begin.
#[rustfmt::skip]
const TOKENS: &[&str] = &[
    // AI
    "sk-", "sk_", "gsk_", "xai-", "pplx-", "nvapi-", "r8_", "hf_",
    // payment, mail and messages
    "pk_live", "rk_live", "rk_test", "whsec_", "sq0atp-", "sq0csp-", "SG.", "key-", "xkeysib-", "xoxb-", "xoxp-", "xoxa-", "xoxs-",
    "xoxe", "xoxr-", "xapp-", "EAAC",
    // clouds
    "AKIA", "ASIA", "ABIA", "ACCA", "AIza", "ya29.", "GOCSPX-", "1//0", "dop_v1_", "doo_v1_", "dor_v1_", "dapi", "hvs.", "hvb.",
    "hvr.", "sbp_", "FlyV1", "fo1_", "pscale_", "CFPAT-",
    // code and packages
    "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "gldt-", "glrt-", "glcbt-", "glptt-", "glft-", "ATATT3", "ATCTT3",
    "ATBB", "npm_", "pypi-", "rubygems_", "dckr_pat_", "oy2", "cio", "CIRCLE", "ghb_",
    // tools
    "eyJ", "shpat_", "shpss_", "shpca_", "shppa_", "lin_api_", "figd_", "PMAK-", "glsa_", "glc_", "NRAK-", "ntn_", "secret_", "sntrys_",
    "sntryu_", "AGE-SECRET-KEY-1", "tskey-", "phc_", "phx_", "pul-", "rpa_", "ops_", "sgp_",
];

/// The addresses of services in which a part of the path is the secret.
const SECRET_PATHS: &[&str] = &[
    "hooks.slack.com/services/",
    "hooks.slack.com/workflows/",
    "discord.com/api/webhooks/",
    "discordapp.com/api/webhooks/",
    "api.telegram.org/bot",
    "webhook.office.com/",
    "hooks.zapier.com/hooks/",
];

/// How ids begin that look random and are no secrets: those of tool calls, messages and requests.
const IDS: &[&str] = &[
    "toolu_",
    "tooluse_",
    "call_",
    "fc_",
    "item_",
    "msg_",
    "req_",
    "resp_",
    "run_",
    "thread_",
    "chatcmpl-",
    "sha256-",
    "sha384-",
    "sha512-",
];

/// The first two letters of some texts, in either case. The journal is written at nearly every call, so a text is read
/// once, and at most positions two letters rule out a match.
pub(super) struct Prefixes([bool; 1 << 10]);

impl Prefixes {
    pub(super) const fn from_texts(texts: &[&str]) -> Self {
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

    pub(super) fn may_match(&self, text: &[u8], at: usize) -> bool {
        text.get(at + 1).is_some_and(|second| self.0[Self::index(text[at], *second)])
    }
}

static TOKEN_PREFIXES: Prefixes = Prefixes::from_texts(TOKENS);
static PATH_PREFIXES: Prefixes = Prefixes::from_texts(SECRET_PATHS);

/// The secret part of a token, or of a service's address, at the start of a text.
pub(super) fn find_token(text: &str) -> Option<Span> {
    if PATH_PREFIXES.may_match(text.as_bytes(), 0)
        && let Some(path) = SECRET_PATHS.iter().find(|path| text.starts_with(**path))
    {
        let end = find_value_end(text, None);
        return (end > path.len()).then_some((path.len(), end));
    }
    if !TOKEN_PREFIXES.may_match(text.as_bytes(), 0) {
        return None;
    }
    let token = TOKENS.iter().find(|token| text.starts_with(**token))?;
    let end = text.find(is_separator).unwrap_or(text.len());
    let secret = text.get(token.len()..end)?;
    // Words and names can begin in the same way: `key-value-store`, `secret_santa`, `cioppino`.
    let is_sure = token.len() > 3 && !token.ends_with(['-', '_'])
        || token.starts_with("gh")
        || ["ant-", "proj-", "or-", "svcacct-"].iter().any(|kind| secret.starts_with(kind));
    let is_secret = secret.len() >= 8 && (is_sure || is_mixed(secret));
    is_secret.then_some((token.len(), end))
}

/// Whether a text has digits and letters, and not only one number at its end.
fn is_mixed(text: &str) -> bool {
    let stem = text.trim_end_matches(|c: char| c.is_ascii_digit());
    let has_digit = text.bytes().any(|byte| byte.is_ascii_digit());
    let has_upper = text.bytes().any(|byte| byte.is_ascii_uppercase());
    let has_lower = text.bytes().any(|byte| byte.is_ascii_lowercase());
    has_digit && (stem.bytes().any(|byte| byte.is_ascii_digit()) || (has_upper && has_lower))
}

/// The password in `://user:password@host`. If the text was cut within it, it goes to the end.
pub(super) fn find_user_info(text: &str) -> Option<Span> {
    /// No name and password that people use are longer.
    const LONGEST: usize = 400;
    let whole = text.strip_prefix("://")?;
    let place = &whole[..whole.floor_char_boundary(LONGEST)];
    let is_end = |c: char| c.is_whitespace() || "\"'`<>".contains(c);
    let line = &place[..place.find(is_end).unwrap_or(place.len())];
    let host = &line[..line.find('/').unwrap_or(line.len())];
    let start = text.len() - whole.len();
    // A password may contain slashes, although it should not.
    let Some(at) = host.rfind('@').or_else(|| line.find('@')) else {
        let colon = host.find(':')?;
        let is_cut = host.len() == whole.len() || place[host.len()..].starts_with(" …");
        let is_port = host[colon + 1..].bytes().all(|byte| byte.is_ascii_digit());
        return (is_cut && !is_port).then_some((start + colon + 1, start + host.len()));
    };
    let colon = line[..at].find(':')?;
    let password = &line[colon + 1..at];
    // `http://host:80/user@example.org` names a port.
    let is_port =
        password.split_once('/').is_some_and(|(port, _)| port.bytes().all(|byte| byte.is_ascii_digit()));
    let is_secret = !password.is_empty() && !is_port && !is_reference(password);
    is_secret.then_some((start + colon + 1, start + at))
}

/// A text of characters of base64 at the start of a text.
pub(super) struct RandomText {
    pub(super) length: usize,
    pub(super) is_secret: bool,
}

/// Whether a text begins with characters that look random: letters of both cases and digits that take turns, as in base64.
/// Words, paths, identifiers and hexadecimal digests do not. `None` for a short text.
pub(super) fn find_random(text: &str) -> Option<RandomText> {
    /// 16 bytes in base64.
    const SHORTEST: usize = 22;
    let bytes = text.as_bytes();
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"+/_-.".contains(byte);
    let length = bytes.iter().position(|byte| !is_part(byte)).unwrap_or(bytes.len());
    let length = bytes[..length].iter().rposition(|byte| *byte != b'.').map_or(0, |last| last + 1);
    if length < SHORTEST {
        return None;
    }
    let kind = |byte: u8| match byte {
        b'0'..=b'9' => Some(0),
        b'a'..=b'z' => Some(1),
        b'A'..=b'Z' => Some(2),
        _ => None,
    };
    // The words and digests of a path say nothing about its other parts.
    let parts = text[..length].split('/').filter(|part| !is_word(part) && !is_digest(part));
    let kinds: Vec<u8> = parts.flat_map(str::bytes).filter_map(kind).collect();
    let has = |wanted: u8| kinds.contains(&wanted);
    let turns = kinds.windows(2).filter(|pair| pair[0] != pair[1]).count();
    // Of random letters and digits, 6 of 10 differ in kind from the one before; in a name or path, at most 4 of 10.
    let is_id = IDS.iter().any(|id| text.starts_with(id));
    let is_secret = !is_id
        && has(0)
        && has(1)
        && has(2)
        && kinds.len() >= SHORTEST - 2
        && turns * 100 >= kinds.len() * 48;
    let padding = bytes[length..].iter().take(2).take_while(|byte| **byte == b'=').count();
    Some(RandomText { length: length + padding, is_secret })
}

fn is_word(text: &str) -> bool {
    let capitals = text.bytes().filter(u8::is_ascii_uppercase).count();
    text.len() >= 5 && text.bytes().all(|byte| byte.is_ascii_alphabetic()) && capitals * 4 <= text.len()
}

/// Whether a text is a hexadecimal number, for example an address: these have letters of both cases.
fn is_digest(text: &str) -> bool {
    let digits = text.strip_prefix("0x").unwrap_or(text);
    digits.len() >= 8 && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
}
