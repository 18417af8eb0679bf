//! Which tools the matcher of a hook entry matches, as Claude Code reads it.
//!
//! Names and lists of names are exact. Everything else is a JavaScript regular expression that may match anywhere. The
//! `regex-lite` crate reads the part of that language that people use in matchers. It has no lookahead, so this module
//! reads the one form that a list of exceptions needs: `^(?!Read$|Grep$).*`.

use regex_lite::Regex;

/// Whether a matcher matches a tool's name; `None` if this module cannot read the matcher.
pub(super) fn matches_name(matcher: Option<&str>, name: &str) -> Option<bool> {
    let Some(matcher) = matcher.filter(|matcher| !super::settings::matches_all(matcher)) else {
        return Some(true);
    };
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_|, -".contains(c);
    if matcher.chars().all(is_plain) {
        return Some(matcher.split(['|', ',']).any(|one| one.trim() == name));
    }
    let Some(lookahead) = matcher.strip_prefix("^(?!") else { return is_match(matcher, name) };
    let (exceptions, rest) = split_group(lookahead)?;
    let is_exception = is_match(&format!("^(?:{exceptions})"), name)?;
    Some(!is_exception && is_match(&format!("^(?:{rest})"), name)?)
}

fn is_match(expression: &str, name: &str) -> Option<bool> {
    let expression = Regex::new(expression).ok().filter(|_| is_javascript(expression))?;
    Some(expression.is_match(name))
}

/// Whether an expression means the same in JavaScript: it has no flags, names, classes in classes or special escapes.
fn is_javascript(expression: &str) -> bool {
    let is_followed_by = |mark: &str, is_allowed: fn(char) -> bool| {
        let mut behind = expression.match_indices(mark).map(|(at, _)| &expression[at + mark.len()..]);
        behind.all(|rest| rest.starts_with(is_allowed))
    };
    let is_escapable =
        |c: char| matches!(c, 'w' | 'd' | 's') || c.is_ascii_punctuation() && !matches!(c, '<' | '>');
    is_followed_by("(?", |c| c == ':')
        && is_followed_by("\\", is_escapable)
        && is_followed_by("[", |c| c != '[')
        && is_followed_by("{", |c| c != ',')
}

/// The inside of a group whose opening parenthesis has been read, and what follows the group.
fn split_group(text: &str) -> Option<(&str, &str)> {
    let mut depth = 1;
    let mut is_escaped = false;
    for (at, c) in text.char_indices() {
        depth += match c {
            _ if is_escaped => 0,
            '(' => 1,
            ')' => -1,
            _ => 0,
        };
        is_escaped = c == '\\' && !is_escaped;
        if depth == 0 {
            return Some((&text[..at], &text[at + 1..]));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The cases with `Some` were measured on the client, or follow from its language.
    #[test]
    fn matchers_mean_what_they_mean_to_the_client() {
        let cases: &[(&str, &str, Option<bool>)] = &[
            ("*", "Bash", Some(true)),
            ("", "Bash", Some(true)),
            ("Write, Bash", "Bash", Some(true)),
            ("Write|Bash", "Bash", Some(true)),
            ("Bas", "Bash", Some(false)),
            ("bash", "Bash", Some(false)),
            ("B.sh", "Bash", Some(true)),
            ("ash$", "Bash", Some(true)),
            ("^B", "Bash", Some(true)),
            ("^ash", "Bash", Some(false)),
            ("Bash(touch *)", "Bash", Some(false)),
            ("^(?!ExitPlanMode$)", "Bash", Some(true)),
            ("^(?!ExitPlanMode$)", "ExitPlanMode", Some(false)),
            ("^(?!(Read|Grep)$).*", "ReadMcp", Some(true)),
            ("^(?!(Read|Grep)$).*", "Grep", Some(false)),
            ("mcp__.*", "mcp__server__tool", Some(true)),
            ("^(Edit|Write)+$", "Write", Some(true)),
            ("^[A-Z][a-z]+$", "Bash", Some(true)),
            ("^[^B]", "Bash", Some(false)),
            (r"^\w+$", "Bash", Some(true)),
            (r"^Ba?s*h{1}$", "Bash", Some(true)),
            ("(", "Bash", None),
            ("(?<name>B)", "Bash", None),
            ("(?i)bash", "Bash", None),
            (r"Bas\z", "Bash", None),
            ("^[[:alpha:]]", "Bash", None),
            ("^Ba{,2}s", "Bash", None),
            (r"^mcp\.[\w-]+", "mcp.a-b", Some(true)),
            ("^(?!Write$|Edit$).*", "Edit", Some(false)),
            ("^(?!Write$|Edit$).*", "Read", Some(true)),
            (r"^(?!\(Bash)B", "Bash", Some(true)),
            ("^(?!(Read)", "Bash", None),
            ("Ba(?!x)sh", "Bash", None),
            ("(?=B)Bash", "Bash", None),
            ("*a", "Bash", None),
            (r"\p{L}", "Bash", None),
        ];
        for (matcher, name, expected) in cases {
            assert_eq!(matches_name(Some(matcher), name), *expected, "{matcher} {name}");
        }
        assert_eq!(matches_name(None, "Bash"), Some(true));
    }

    #[test]
    fn a_hostile_matcher_takes_no_time() {
        assert_eq!(matches_name(Some("^(a*)*(a*)*(a*)*$"), &"a".repeat(40)), Some(true));
        assert_eq!(matches_name(Some("^((a|a)*)*b$"), &"a".repeat(40)), Some(false));
        assert_eq!(matches_name(Some("a{1000000}{1000000}"), "Bash"), None);
        assert_eq!(matches_name(Some(&"(".repeat(5_000)), "Bash"), None);
    }
}
