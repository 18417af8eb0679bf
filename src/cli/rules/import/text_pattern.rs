//! Regular expressions of other tools, as far as they only name words of a command or parts of a path.
//!
//! Such an expression is read into its alternatives, each a row of pieces. An expression that says more is an error.

use crate::shell::pattern::END;

/// Programs that are blocked by their name alone. Any other single word may be a part of a text.
#[rustfmt::skip]
const PROGRAMS: &[&str] = &[
    "sudo", "su", "doas", "eval", "mkfs", "dd", "fdisk", "parted", "shred", "shutdown", "reboot", "halt", "poweroff", "curl",
    "wget", "ssh", "scp", "sftp", "nc", "ncat", "telnet", "docker", "podman", "kubectl", "helm", "terraform", "npm", "npx",
    "yarn", "pnpm", "pip", "pip3", "brew", "apt", "apt-get", "yum", "dnf", "rm", "rmdir", "chmod", "chown", "kill",
    "killall", "pkill", "crontab", "iptables", "systemctl", "launchctl", "psql", "mysql", "sqlite3", "mongo", "redis-cli",
];
/// More alternatives are refused.
const MOST_ALTERNATIVES: usize = 64;
/// Deeper groups are refused.
const DEEPEST: usize = 20;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Piece {
    Char(char),
    /// One or more blanks.
    Blank,
    /// Any text.
    Any,
    /// Any text without a blank or slash.
    AnyName,
    Start,
    End,
    /// The end of a word.
    Boundary,
}

pub(super) type Alternative = Vec<Piece>;

/// The alternatives of a regular expression.
pub(super) fn parse_regex(regex: &str) -> Result<Vec<Alternative>, String> {
    let text = regex.strip_prefix("(?i)").unwrap_or(regex);
    let mut parser = Parser { rest: text.chars().peekable() };
    let found = parser.read_choice(0).filter(|_| parser.rest.peek().is_none());
    found.ok_or_else(|| format!("the regular expression `{regex}` says more than a rule can"))
}

/// A plain text as pieces.
pub(super) fn parse_text(text: &str) -> Alternative {
    text.chars().map(|c| if c.is_whitespace() { Piece::Blank } else { Piece::Char(c) }).collect()
}

struct Parser<'a> {
    rest: std::iter::Peekable<std::str::Chars<'a>>,
}

impl Parser<'_> {
    fn read_choice(&mut self, depth: usize) -> Option<Vec<Alternative>> {
        if depth > DEEPEST {
            return None;
        }
        let mut all = self.read_sequence(depth)?;
        while self.rest.next_if_eq(&'|').is_some() {
            all.extend(self.read_sequence(depth)?);
        }
        (all.len() <= MOST_ALTERNATIVES).then_some(all)
    }

    fn read_sequence(&mut self, depth: usize) -> Option<Vec<Alternative>> {
        let mut all: Vec<Alternative> = vec![Vec::new()];
        while !matches!(self.rest.peek(), None | Some('|' | ')')) {
            let atoms = self.read_atom(depth)?;
            let longer = all.iter().flat_map(|start| atoms.iter().map(|atom| [&start[..], atom].concat()));
            all = longer.take(MOST_ALTERNATIVES + 1).collect();
            if all.len() > MOST_ALTERNATIVES {
                return None;
            }
        }
        Some(all)
    }

    /// One atom with what is said about its number.
    fn read_atom(&mut self, depth: usize) -> Option<Vec<Alternative>> {
        let one = |piece| Some(vec![vec![piece]]);
        let atoms = match self.rest.next()? {
            '^' => return one(Piece::Start),
            '$' => return one(Piece::End),
            '.' => return self.read_repetition().then_some(vec![vec![Piece::Any]]),
            ' ' => vec![vec![Piece::Blank]],
            '\\' => match self.rest.next()? {
                'b' => return one(Piece::Boundary),
                's' => {
                    self.rest.next_if(|c| matches!(c, '+' | '*'));
                    return one(Piece::Blank);
                }
                'S' | 'w' => return self.read_repetition().then_some(vec![vec![Piece::AnyName]]),
                c if c.is_ascii_punctuation() => vec![vec![Piece::Char(c)]],
                _ => return None,
            },
            '(' => {
                if self.rest.next_if_eq(&'?').is_some() && self.rest.next()? != ':' {
                    return None;
                }
                let inner = self.read_choice(depth + 1)?;
                self.rest.next_if_eq(&')')?;
                inner
            }
            '[' => match self.read_class()? {
                Some(chars) => chars.into_iter().map(|c| vec![Piece::Char(c)]).collect(),
                None => return self.read_repetition().then_some(vec![vec![Piece::AnyName]]),
            },
            '*' | '+' | '?' | '{' | ')' | ']' | '}' => return None,
            c => vec![vec![Piece::Char(c)]],
        };
        match self.rest.peek() {
            Some('?') => {
                self.rest.next();
                Some([atoms, vec![Vec::new()]].concat())
            }
            Some('*' | '+' | '{') => None,
            _ => Some(atoms),
        }
    }

    /// Whether what was read may be repeated.
    fn read_repetition(&mut self) -> bool {
        let is_repeated = self.rest.next_if(|c| matches!(c, '*' | '+')).is_some();
        self.rest.next_if_eq(&'?');
        is_repeated
    }

    /// A few characters; `Some(None)` is all but blanks, quotes or slashes.
    #[allow(clippy::option_option)]
    fn read_class(&mut self) -> Option<Option<Vec<char>>> {
        const MOST: usize = 8;
        let is_negated = self.rest.next_if_eq(&'^').is_some();
        let mut chars = Vec::new();
        loop {
            match self.rest.next()? {
                ']' if !chars.is_empty() => break,
                '\\' if self.rest.next_if_eq(&'s').is_some() => chars.push(' '),
                '\\' => chars.push(self.rest.next().filter(char::is_ascii_punctuation)?),
                '-' if !chars.is_empty() && self.rest.peek() != Some(&']') => return None,
                '[' => return None,
                c => chars.push(c),
            }
        }
        if is_negated {
            return chars.iter().all(|c| matches!(c, ' ' | '/' | '"' | '\'')).then_some(None);
        }
        (chars.len() <= MOST).then_some(Some(chars))
    }
}

/// The patterns of paths for what an expression finds in an absolute path.
pub(super) fn to_path_patterns(alternatives: &[Alternative]) -> Result<Vec<String>, String> {
    let mut patterns = Vec::new();
    for alternative in alternatives {
        for pattern in to_paths(alternative)? {
            if !patterns.contains(&pattern) {
                patterns.push(pattern);
            }
        }
    }
    if patterns.is_empty() { Err("it matches no absolute path".into()) } else { Ok(patterns) }
}

fn to_paths(pieces: &[Piece]) -> Result<Vec<String>, String> {
    const MOST: usize = 8;
    let is_anchored = pieces.first() == Some(&Piece::Start);
    let is_closed = pieces.last() == Some(&Piece::End);
    let inner = &pieces[usize::from(is_anchored)..pieces.len() - usize::from(is_closed)];
    let mut paths = vec![String::new()];
    for piece in inner {
        let choices: &[&str] = match piece {
            Piece::Char(c) if c.is_alphanumeric() || "._-/@+=,~%".contains(*c) => {
                for path in &mut paths {
                    path.push(*c);
                }
                continue;
            }
            Piece::Blank => &[" "],
            Piece::AnyName => &["*"],
            // It may go over several directories.
            Piece::Any => &["*", "*/**/*"],
            Piece::Boundary => continue,
            Piece::Char(c) => return Err(format!("a rule cannot say `{c}` in a path")),
            Piece::Start | Piece::End => {
                return Err("it says in its middle where a path begins or ends".into());
            }
        };
        paths = paths.iter().flat_map(|start| choices.iter().map(|next| join_stars(start, next))).collect();
        if paths.len() > MOST {
            return Err("it leaves too much of the path open".into());
        }
    }
    Ok(paths.iter().filter_map(|path| close_path(path, is_anchored, is_closed)).collect())
}

/// A part of an absolute path as a pattern; `None` if no absolute path has it.
fn close_path(part: &str, is_anchored: bool, is_closed: bool) -> Option<String> {
    let start = match (is_anchored, part.strip_prefix('/')) {
        (true, Some(_)) => part.to_owned(),
        (true, None) if part.starts_with('*') => format!("**/{part}"),
        (true, None) => return None,
        (false, Some(rest)) => format!("**/{rest}"),
        (false, None) if part.contains('/') => format!("**/{}", join_stars("*", part)),
        (false, None) => join_stars("*", part),
    };
    Some(match start.strip_suffix('/') {
        Some(directory) => format!("{directory}/**"),
        None if is_closed => start,
        None => join_stars(&start, "*"),
    })
}

/// Joins two parts of a pattern. Two stars in a row would mean something else.
fn join_stars(start: &str, next: &str) -> String {
    let is_double = start.ends_with('*') && next.starts_with('*');
    format!("{start}{}", &next[usize::from(is_double)..])
}

/// The words of a pattern of `runs` for what an expression finds in the text of a command.
pub(super) fn to_command_words(pieces: &[Piece]) -> Result<Vec<String>, String> {
    let is_whole = pieces.first() == Some(&Piece::Start) && pieces.last() == Some(&Piece::End);
    let mut words = vec![String::new()];
    let (mut is_open, mut is_after_any) = (false, false);
    for piece in pieces {
        let last = words.last_mut().ok_or("it has no words")?;
        match piece {
            Piece::Char(c) => {
                if last.is_empty() && std::mem::take(&mut is_after_any) && *c != '-' {
                    return Err("it does not say which operand a word is".into());
                }
                last.push(*c);
                is_open = true;
            }
            Piece::AnyName => last.push('*'),
            Piece::Boundary | Piece::End => is_open &= last.is_empty(),
            Piece::Blank | Piece::Any => {
                is_open &= *piece == Piece::Any;
                close_word(last, is_open);
                is_after_any |= *piece == Piece::Any && !words.iter().all(String::is_empty);
                words.push(String::new());
                is_open = false;
            }
            Piece::Start => {}
        }
    }
    words.last_mut().into_iter().for_each(|last| close_word(last, is_open));
    words.retain(|word| !word.is_empty());
    let first = words.first().ok_or("it has no words")?;
    if first.starts_with('-') {
        words.insert(0, "*".into());
    } else {
        let program = first.trim_end_matches('*').to_owned();
        let is_at_start = matches!(pieces.first(), Some(Piece::Start | Piece::Boundary));
        let may_be_text = words.len() == 1 && !is_at_start && !PROGRAMS.contains(&program.as_str());
        let is_name = |c: char| !c.is_ascii_uppercase() && c != '*';
        if may_be_text || program.is_empty() || !program.chars().all(is_name) {
            return Err(format!("`{program}` may be text anywhere in the line"));
        }
        words[0] = program;
    }
    if is_whole {
        words.push(END.into());
    }
    Ok(words)
}

/// Lets a word go on, unless it is one of short options, whose letters count.
fn close_word(word: &mut String, is_open: bool) {
    let is_short = word.starts_with('-') && !word.starts_with("--");
    if is_open && !word.is_empty() && !is_short && !word.ends_with('*') {
        word.push('*');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn commands(regex: &str) -> Vec<String> {
        let words =
            |pieces: &Alternative| to_command_words(pieces).map_or("-".into(), |words| words.join(" "));
        parse_regex(regex).map_or(Vec::new(), |all| all.iter().map(words).collect())
    }

    fn paths(regex: &str) -> Vec<String> {
        parse_regex(regex).and_then(|all| to_path_patterns(&all)).unwrap_or_default()
    }

    #[test]
    fn words_of_commands_are_found() {
        for (regex, expected) in [
            (r"git\s+push\s+(--force|-f)", &["git push --force*", "git push -f"][..]),
            (r"git push.*--force\b", &["git push* --force"]),
            (r"rm\s+-rf|dd\s+if=|mkfs|format", &["rm -rf", "dd if=*", "mkfs", "-"]),
            (r"\bsudo\b|^su\s", &["sudo", "su"]),
            (r"npm\s+(publish|unpublish)\b", &["npm publish", "npm unpublish"]),
            (r"rm\s+-[rf]f?\s+/", &["rm -rf /*", "rm -r /*", "rm -ff /*", "rm -f /*"]),
            (r"--no-verify", &["* --no-verify*"]),
            (r"^git push$", &["git push <end>"]),
            (r"git.*main", &["-"]),
            (r"DROP\s+TABLE", &["-"]),
            (r"prod", &["-"]),
        ] {
            assert_eq!(commands(regex), expected, "{regex}");
        }
    }

    #[test]
    fn parts_of_paths_are_found() {
        for (regex, expected) in [
            (r"\.env$", &["*.env"][..]),
            (r"/\.env$", &["**/.env"]),
            (r"\.env$|\.env\.|secrets", &["*.env", "*.env.*", "*secrets*"]),
            (r"\.tsx?$", &["*.tsx", "*.ts"]),
            (r"src/.*\.ts$", &["**/*src/*.ts", "**/*src/*/**/*.ts"]),
            (r"migrations/", &["**/*migrations/**"]),
            (r"^/etc/", &["/etc/**"]),
            (r"(^|/)\.git/", &["**/.git/**"]),
            (r".*\.lock$", &["*.lock", "**/*/**/*.lock"]),
            (r"test_[^/]*\.py$", &["*test_*.py"]),
        ] {
            assert_eq!(paths(regex), expected, "{regex}");
        }
    }

    #[test]
    fn what_says_more_is_an_error() {
        for regex in [
            r"a{2}",
            r"[a-z]+x",
            r"(?=x)",
            r"(?i:x)",
            r"\d+",
            r"a+",
            r"x.y",
            r"(a",
            r"a)",
            r"[",
            r"\",
            r"*",
            r"(ab)+",
            r"[^a]*",
            r"(?P<n>a)",
        ] {
            assert!(parse_regex(regex).is_err(), "{regex}");
        }
        assert!(parse_regex(&"(".repeat(100_000)).is_err());
        assert!(parse_regex(&"(a|b)".repeat(50)).is_err());
        assert!(paths(r"^src/").is_empty() && paths(r"a$b").is_empty() && paths("a*b").is_empty());
    }
}
