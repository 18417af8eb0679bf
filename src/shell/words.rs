//! Cutting a command line into words, redirections and command ends, in one pass.

/// A piece of a command line.
pub(super) enum Piece {
    Word(Word),
    Redirection {
        target: Word,
        writes: bool,
    },
    /// The end of a simple command; `and`: what follows runs only if it succeeded.
    End {
        and: bool,
    },
}

/// One word: its source, and its value if that does not depend on the shell's state.
#[derive(Clone, Default)]
pub(super) struct Word {
    source: String,
    value: String,
    unknown: bool,
    /// It holds a substitution, which runs a command of its own.
    runs: bool,
    quoted: bool,
}

impl Word {
    pub(super) fn known(&self) -> Option<&str> {
        (!self.unknown).then_some(&self.value)
    }

    pub(super) fn runs(&self) -> bool {
        self.runs
    }

    pub(super) fn source(&self) -> &str {
        &self.source
    }

    /// What stands behind a sign: the value of `--option=value` or `of=file`.
    pub(super) fn after(&self, sign: char) -> Self {
        let behind =
            |text: &str| text.split_once(sign).map(|(_, value)| value.to_owned()).unwrap_or_default();
        Self { source: behind(&self.source), value: behind(&self.value), ..*self }
    }

    pub(super) fn is_long(&self) -> bool {
        self.value.starts_with("--")
    }

    pub(super) fn is_option(&self) -> bool {
        self.value.starts_with('-') && self.value.len() > 1
    }

    /// The variable's name, if this is an assignment.
    pub(super) fn assigned(&self) -> Option<&str> {
        let (name, _) = self.source.split_once('=')?;
        let is_name = !name.starts_with(|c: char| c.is_ascii_digit())
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        (is_name && !name.is_empty()).then_some(name)
    }
}

struct Cutter<'a> {
    home: Option<&'a str>,
    rest: std::iter::Peekable<std::str::Chars<'a>>,
    pieces: Vec<Piece>,
    word: Option<Word>,
    /// A redirection that still waits for its target.
    redirection: Option<bool>,
    /// Delimiters of here-documents whose bodies start after this line.
    documents: Vec<(String, bool)>,
    /// The next word is the delimiter of a here-document; the flag strips tabs.
    delimiter: Option<bool>,
    /// The next word is the text of a here-string.
    text: bool,
}

/// All pieces of a line; every simple command is closed by a [`Piece::End`].
pub(super) fn pieces(text: &str, home: Option<&str>) -> Vec<Piece> {
    let mut cutter = Cutter {
        home,
        rest: text.chars().peekable(),
        pieces: Vec::new(),
        word: None,
        redirection: None,
        documents: Vec::new(),
        delimiter: None,
        text: false,
    };
    cutter.run();
    cutter.pieces
}

impl Cutter<'_> {
    fn run(&mut self) {
        while let Some(c) = self.rest.next() {
            match c {
                ' ' | '\t' => self.end_word(),
                '\n' => {
                    self.end_command(false);
                    self.skip_documents();
                }
                ';' | '|' | '(' | ')' => self.end_command(false),
                '&' if self.rest.peek() == Some(&'>') => self.end_word(),
                '&' => {
                    let and = self.rest.next_if_eq(&'&').is_some();
                    self.end_command(and);
                }
                '#' if self.word.is_none() => while self.rest.next_if(|c| *c != '\n').is_some() {},
                '<' | '>' => self.operator(c),
                '\\' => match self.rest.next() {
                    Some('\n') => {}
                    Some(c) => self.push('\\', Some(c)),
                    None => self.push('\\', None),
                },
                '\'' => self.single_quoted(),
                '"' => self.double_quoted(),
                '$' if self.rest.peek() == Some(&'\'') => {
                    self.rest.next();
                    self.ansi_quoted();
                }
                '$' => self.expansion(),
                '`' => self.unknown('`'),
                '*' | '?' | '[' => self.unknown(c),
                '~' if self.word.is_none() => self.tilde(),
                // `{a,b}` makes several words of one; a brace alone groups, and `{}` is text.
                '{' if !matches!(self.rest.peek(), None | Some(' ' | '\t' | '\n' | '}')) => self.unknown('{'),
                '}' if self.word.is_none() => self.end_command(false),
                c => self.push(c, Some(c)),
            }
        }
        self.end_command(false);
    }

    fn word(&mut self) -> &mut Word {
        self.word.get_or_insert_default()
    }

    fn push(&mut self, source: char, value: Option<char>) {
        let word = self.word();
        word.source.push(source);
        if let Some(value) = value {
            if source != value {
                word.source.push(value);
                word.quoted = true;
            }
            word.value.push(value);
        }
    }

    fn unknown(&mut self, c: char) {
        let word = self.word();
        word.source.push(c);
        word.unknown = true;
        word.runs |= c == '`';
    }

    fn single_quoted(&mut self) {
        self.word().quoted = true;
        self.word().source.push('\'');
        while let Some(c) = self.rest.next() {
            self.word().source.push(c);
            if c == '\'' {
                return;
            }
            self.word().value.push(c);
        }
        self.word().unknown = true;
    }

    fn double_quoted(&mut self) {
        self.word().quoted = true;
        self.word().source.push('"');
        while let Some(c) = self.rest.next() {
            match c {
                '"' => {
                    self.word().source.push('"');
                    return;
                }
                '\\' => {
                    let next = self.rest.next();
                    let word = self.word();
                    word.source.push('\\');
                    match next {
                        Some('\n') | None => {}
                        Some(c) => {
                            word.source.push(c);
                            if !matches!(c, '$' | '`' | '"' | '\\') {
                                word.value.push('\\');
                            }
                            word.value.push(c);
                        }
                    }
                }
                '$' => self.expansion(),
                '`' => self.unknown('`'),
                c => self.push(c, Some(c)),
            }
        }
        self.word().unknown = true;
    }

    /// `$'…'`: only the escapes that stand for themselves are read; others are unknown.
    fn ansi_quoted(&mut self) {
        self.word().quoted = true;
        self.word().source.push_str("$'");
        while let Some(c) = self.rest.next() {
            self.word().source.push(c);
            match c {
                '\'' => return,
                '\\' => match self.rest.next() {
                    Some(c @ ('\'' | '"' | '\\')) => self.word().value.push(c),
                    _ => self.word().unknown = true,
                },
                c => self.word().value.push(c),
            }
        }
        self.word().unknown = true;
    }

    /// `$HOME` is known; every other expansion is not.
    fn expansion(&mut self) {
        let mut name = String::new();
        let braced = self.rest.next_if_eq(&'{').is_some();
        while let Some(c) = self.rest.next_if(|c| c.is_ascii_alphanumeric() || *c == '_') {
            name.push(c);
        }
        let runs = self.rest.peek() == Some(&'(') || (braced && name.is_empty());
        let closed = !braced || self.rest.next_if_eq(&'}').is_some();
        let home = self.home;
        let word = self.word();
        word.source +=
            &if braced { format!("${{{name}{}", if closed { "}" } else { "" }) } else { format!("${name}") };
        match home {
            Some(home) if name == "HOME" && closed => word.value += home,
            _ => word.unknown = true,
        }
        word.runs |= runs;
    }

    fn tilde(&mut self) {
        let alone = matches!(
            self.rest.peek(),
            None | Some('/' | ' ' | '\t' | '\n' | ';' | '&' | '|' | '>' | '<' | ')')
        );
        match self.home {
            Some(home) if alone => {
                let word = self.word();
                word.source.push('~');
                word.value += home;
            }
            _ => self.unknown('~'),
        }
    }

    fn operator(&mut self, c: char) {
        // A number right before the operator is a descriptor, not a word.
        if self.word.as_ref().is_some_and(|word| {
            !word.quoted && word.value.bytes().all(|b| b.is_ascii_digit()) && !word.unknown
        }) {
            self.word = None;
        }
        self.end_word();
        let next = self.rest.peek().copied();
        match (c, next) {
            ('<', Some('<')) => {
                self.rest.next();
                if self.rest.next_if_eq(&'<').is_some() {
                    // A here-string: the word behind it is text, and an operand to nobody.
                    while self.rest.next_if(|c| matches!(c, ' ' | '\t')).is_some() {}
                    self.text = true;
                } else {
                    self.delimiter = Some(self.rest.next_if_eq(&'-').is_some());
                }
            }
            (_, Some('(')) => self.unknown(c),
            ('<', Some('>')) => {
                self.rest.next();
                self.redirection = Some(true);
            }
            ('>', Some('>' | '|')) => {
                self.rest.next();
                self.redirection = Some(true);
            }
            (_, Some('&')) => {
                self.rest.next();
                // `>&2` and `>&-` copy or close a descriptor; `>&file` writes.
                if self.rest.next_if(|c| c.is_ascii_digit() || *c == '-').is_some() {
                    while self.rest.next_if(char::is_ascii_digit).is_some() {}
                } else {
                    self.redirection = Some(c == '>');
                }
            }
            _ => self.redirection = Some(c == '>'),
        }
    }

    fn end_word(&mut self) {
        let Some(word) = self.word.take() else { return };
        if std::mem::take(&mut self.text) {
            return;
        }
        if let Some(strip) = self.delimiter.take() {
            self.documents.push((word.value, strip));
        } else if let Some(writes) = self.redirection.take() {
            self.pieces.push(Piece::Redirection { target: word, writes });
        } else {
            self.pieces.push(Piece::Word(word));
        }
    }

    fn end_command(&mut self, and: bool) {
        self.end_word();
        self.pieces.push(Piece::End { and });
    }

    fn skip_documents(&mut self) {
        for (delimiter, strip) in std::mem::take(&mut self.documents) {
            loop {
                let mut line = String::new();
                let mut ended = true;
                for c in self.rest.by_ref() {
                    if c == '\n' {
                        ended = false;
                        break;
                    }
                    line.push(c);
                }
                let body = if strip { line.trim_start_matches('\t') } else { &line };
                if body == delimiter || ended {
                    break;
                }
            }
        }
    }
}
