//! What the matcher of a hook entry lets through, as the client reads it.
//!
//! Names and lists of names are exact; everything else is a regular expression of the client's language
//! that may match anywhere. The part of that language that people use in matchers is read here, with the
//! look ahead that a list of exceptions needs. What is beyond it is not guessed.

/// More steps than this no matcher needs that a person wrote.
const MOST_STEPS: u32 = 20_000;
const DEEPEST: usize = 20;

/// Whether a tool's name passes; `None`: the matcher has a form that is not read here.
pub(super) fn lets_through(matcher: Option<&str>, name: &str) -> Option<bool> {
    let Some(matcher) = matcher.filter(|matcher| !super::settings::matches_all(matcher)) else {
        return Some(true);
    };
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_|, -".contains(c);
    if matcher.chars().all(is_plain) {
        return Some(matcher.split(['|', ',']).any(|one| one.trim() == name));
    }
    let text: Vec<char> = matcher.chars().collect();
    let mut reader = Reader { text: &text, at: 0, depth: 0 };
    let expression = reader.alternatives().filter(|_| reader.at == text.len())?;
    let name: Vec<char> = name.chars().collect();
    let mut steps = 0;
    let mut search = Search { text: &name, steps: &mut steps };
    let found = (0..=name.len()).any(|start| search.any(&expression, start, &mut |_, _| true));
    (steps < MOST_STEPS).then_some(found)
}

type Sequence = Vec<Piece>;

enum Piece {
    One(Box<dyn Fn(char) -> bool>),
    Start,
    End,
    Group(Vec<Sequence>),
    Ahead { inner: Vec<Sequence>, must: bool },
    Repeated { inner: Box<Piece>, least: usize, most: usize },
}

struct Reader<'a> {
    text: &'a [char],
    at: usize,
    depth: usize,
}

impl Reader<'_> {
    fn peek(&self) -> Option<char> {
        self.text.get(self.at).copied()
    }

    fn takes(&mut self, words: &str) -> bool {
        let words: Vec<char> = words.chars().collect();
        let is_next = self.text[self.at..].starts_with(&words);
        if is_next {
            self.at += words.len();
        }
        is_next
    }

    fn alternatives(&mut self) -> Option<Vec<Sequence>> {
        let mut all = vec![self.sequence()?];
        while self.takes("|") {
            all.push(self.sequence()?);
        }
        Some(all)
    }

    fn sequence(&mut self) -> Option<Sequence> {
        let mut pieces = Vec::new();
        while let Some(c) = self.peek().filter(|c| !"|)".contains(*c)) {
            let piece = self.piece(c)?;
            let (least, most) = match self.peek() {
                Some('*') => (0, usize::MAX),
                Some('+') => (1, usize::MAX),
                Some('?') => (0, 1),
                Some('{') => return None,
                _ => {
                    pieces.push(piece);
                    continue;
                }
            };
            self.at += 1;
            // Whether it prefers many or few does not change whether it matches.
            self.takes("?");
            pieces.push(Piece::Repeated { inner: Box::new(piece), least, most });
        }
        Some(pieces)
    }

    fn piece(&mut self, c: char) -> Option<Piece> {
        self.at += 1;
        Some(match c {
            '^' => Piece::Start,
            '$' => Piece::End,
            '.' => Piece::One(Box::new(|c| c != '\n')),
            '(' => return self.group(),
            '[' => self.class()?,
            '\\' => {
                let c = self.peek()?;
                self.at += 1;
                Piece::One(escaped(c)?)
            }
            '*' | '+' | '?' | '{' => return None,
            c => Piece::One(Box::new(move |found| found == c)),
        })
    }

    fn group(&mut self) -> Option<Piece> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return None;
        }
        let ahead = if self.takes("?!") {
            Some(false)
        } else if self.takes("?=") {
            Some(true)
        } else if self.takes("?:") {
            None
        } else if self.peek() == Some('?') {
            return None;
        } else {
            None
        };
        let inner = self.alternatives()?;
        self.depth -= 1;
        self.takes(")").then_some(match ahead {
            Some(must) => Piece::Ahead { inner, must },
            None => Piece::Group(inner),
        })
    }

    fn class(&mut self) -> Option<Piece> {
        let is_negated = self.takes("^");
        let mut ranges = Vec::new();
        loop {
            let first = self.peek()?;
            self.at += 1;
            if first == ']' {
                break;
            }
            if first == '\\' {
                return None;
            }
            let is_range = self.peek() == Some('-') && self.text.get(self.at + 1).is_some_and(|c| *c != ']');
            let last = if is_range { self.text[self.at + 1] } else { first };
            self.at += if is_range { 2 } else { 0 };
            ranges.push((first, last));
        }
        Some(Piece::One(Box::new(move |c| {
            ranges.iter().any(|(first, last)| (*first..=*last).contains(&c)) != is_negated
        })))
    }
}

fn escaped(c: char) -> Option<Box<dyn Fn(char) -> bool>> {
    Some(match c {
        'w' => Box::new(|c: char| c.is_ascii_alphanumeric() || c == '_'),
        'd' => Box::new(|c: char| c.is_ascii_digit()),
        's' => Box::new(char::is_whitespace),
        c if c.is_ascii_punctuation() => Box::new(move |found| found == c),
        _ => return None,
    })
}

struct Search<'a> {
    text: &'a [char],
    steps: &'a mut u32,
}

/// What has to match behind a piece.
type Rest<'a> = &'a mut dyn FnMut(&mut Search<'_>, usize) -> bool;

impl Search<'_> {
    fn any(&mut self, alternatives: &[Sequence], at: usize, rest: Rest<'_>) -> bool {
        alternatives.iter().any(|sequence| self.sequence(sequence, at, rest))
    }

    fn sequence(&mut self, pieces: &[Piece], at: usize, rest: Rest<'_>) -> bool {
        match pieces.split_first() {
            None => rest(self, at),
            Some((first, behind)) => {
                self.piece(first, at, &mut |search, at| search.sequence(behind, at, rest))
            }
        }
    }

    fn piece(&mut self, piece: &Piece, at: usize, rest: Rest<'_>) -> bool {
        *self.steps += 1;
        if *self.steps >= MOST_STEPS {
            return false;
        }
        match piece {
            Piece::One(takes) => self.text.get(at).is_some_and(|c| takes(*c)) && rest(self, at + 1),
            Piece::Start => at == 0 && rest(self, at),
            Piece::End => at == self.text.len() && rest(self, at),
            Piece::Group(inner) => self.any(inner, at, rest),
            Piece::Ahead { inner, must } => self.any(inner, at, &mut |_, _| true) == *must && rest(self, at),
            Piece::Repeated { inner, least, most } => self.repeated(inner, *least, *most, at, rest),
        }
    }

    fn repeated(&mut self, inner: &Piece, least: usize, most: usize, at: usize, rest: Rest<'_>) -> bool {
        if least == 0 && rest(self, at) {
            return true;
        }
        most > 0
            && self.piece(inner, at, &mut |search, next| {
                // A piece that takes nothing can be repeated for ever.
                (next > at || least > 0)
                    && search.repeated(inner, least.saturating_sub(1), most.saturating_sub(1), next, rest)
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The cases with `Some` were measured on the client, or follow from its language.
    #[test]
    fn matchers_are_read_as_the_client_reads_them() {
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
            (r"^Ba?s*h{1}$", "Bash", None),
            ("(", "Bash", None),
            ("(?<name>B)", "Bash", None),
            ("*a", "Bash", None),
            (r"\p{L}", "Bash", None),
        ];
        for (matcher, name, expected) in cases {
            assert_eq!(lets_through(Some(matcher), name), *expected, "{matcher} {name}");
        }
        assert_eq!(lets_through(None, "Bash"), Some(true));
    }

    #[test]
    fn a_matcher_that_never_ends_is_given_up() {
        assert_eq!(lets_through(Some("^(a*)*(a*)*(a*)*$"), &"a".repeat(40)), Some(true));
        assert_eq!(lets_through(Some("^((a|a)*)*b$"), &"a".repeat(40)), None);
        assert_eq!(lets_through(Some(&"(".repeat(5_000)), "Bash"), None);
    }
}
