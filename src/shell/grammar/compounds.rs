//! Conditions, loops, `case`, `[[`, groups and the other words of the grammar.

use super::variables::Shape;
use super::{Case, For, Grammar, If, Join, Loop, Mode, Position, Progress, Step, Stuck, Turn};
use crate::shell::word::Word;

impl<'a> Grammar<'a> {
    /// A word of the grammar where a command may start or a compound one is over.
    pub(super) fn keyword(&mut self, keyword: &'static str, word: Word<'a>, start: usize) -> Progress {
        let opens = matches!(
            keyword,
            "if" | "while"
                | "until"
                | "for"
                | "select"
                | "case"
                | "{"
                | "[["
                | "!"
                | "time"
                | "function"
                | "coproc"
        );
        if self.list().position == Position::AfterCompound {
            if opens {
                return Err(Stuck { what: "a word behind a compound command".into(), at: start });
            }
            // `if (a) then`: the command in front is over.
            self.end_command(Join::Next)?;
        }
        match (keyword, self.mode()) {
            ("if", _) => self.push(Mode::If(If::Condition))?,
            ("while" | "until", _) => {
                self.push(Mode::Loop(Loop::Condition))?;
                if keyword == "until" {
                    self.ready.push_back(Step::Turn(Turn::Until));
                }
            }
            ("for" | "select", _) => {
                self.push(Mode::For(For::Name))?;
                // An answer that is no number of the list makes the variable of `select` empty.
                self.is_select = keyword == "select";
            }
            ("case", _) => self.push(Mode::Case(Case::Word))?,
            ("{", _) => self.push(Mode::Group)?,
            // In a substitution, bash takes it for a program then.
            ("[[", _) if self.list().is_timed => {
                return Err(Stuck { what: "`[[` behind `time`".into(), at: start });
            }
            ("[[", _) => {
                self.push(Mode::Test(None))?;
                self.list().command.words.push(word);
            }
            ("!", _) => {
                self.list().is_negated = true;
                self.ready.push_back(Step::Negated);
            }
            // `time<file program`: not all shells agree on it.
            ("time", _) if self.rest().starts_with(['<', '>']) => {
                self.doubt("`time` before a redirection");
                self.list().is_timed = true;
            }
            // What these three take stands behind a blank.
            ("time" | "function" | "coproc", _) if !self.rest().starts_with([' ', '\t']) => {
                return Err(Stuck { what: format!("`{keyword}` alone").into(), at: start });
            }
            ("time", _) => {
                self.list().is_timed = true;
                let rest = self.rest().trim_start_matches([' ', '\t']);
                if let Some(behind) = rest.strip_prefix("-p").filter(|rest| rest.starts_with([' ', '\t'])) {
                    self.at = self.text.len() - behind.len();
                }
            }
            ("function", _) => {
                self.doubt("a function definition");
                self.ready.push_back(Step::Function);
                let rest = self.rest().trim_start_matches([' ', '\t']);
                let rest = rest.trim_start_matches(|c: char| !" \t\n;&|()<>".contains(c));
                let behind = rest.trim_start_matches([' ', '\t']);
                let empty = behind.strip_prefix('(').map(|rest| rest.trim_start_matches([' ', '\t']));
                self.at =
                    self.text.len() - empty.and_then(|rest| rest.strip_prefix(')')).unwrap_or(rest).len();
            }
            ("coproc", _) => {
                self.doubt("a coprocess");
                self.ready.push_back(Step::Function);
                let rest = self.rest().trim_start_matches([' ', '\t']);
                let behind = rest.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '_');
                let body = behind.trim_start_matches([' ', '\t']);
                if body.starts_with(['{', '(']) && behind.len() < rest.len() {
                    self.at = self.text.len() - body.len();
                }
            }
            ("then", Mode::If(If::Condition)) => self.turn_to(Mode::If(If::Body), Turn::Then),
            ("elif", Mode::If(If::Body)) => self.turn_to(Mode::If(If::Condition), Turn::Elif),
            ("else", Mode::If(If::Body)) => self.turn_to(Mode::If(If::Else), Turn::Else),
            ("fi", Mode::If(If::Body | If::Else)) => self.close_compound(),
            ("do", Mode::Loop(Loop::Condition)) => self.turn_to(Mode::Loop(Loop::Body), Turn::Do),
            ("done", Mode::Loop(Loop::Body)) => self.close_compound(),
            ("}", Mode::Group) | ("esac", Mode::Case(Case::Body)) => self.close_compound(),
            _ => {
                return Err(Stuck { what: format!("`{keyword}` that belongs to nothing").into(), at: start });
            }
        }
        Ok(())
    }

    fn turn_to(&mut self, mode: Mode, turn: Turn) {
        self.turn(mode);
        self.ready.push_back(Step::Turn(turn));
    }

    fn close_compound(&mut self) {
        self.pop();
        self.list().position = Position::AfterCompound;
    }

    pub(super) fn for_word(&mut self, word: &Word<'a>, stage: For, start: usize) -> Progress {
        match (stage, word.plain()) {
            (For::Name, Some(_)) if is_name(word.source) => {
                self.forget_variable(word.source);
                self.ready.push_back(Step::Set(word.source));
                self.loop_variable = Some(word.source).filter(|_| !self.is_select);
                self.turn(Mode::For(For::AfterName));
            }
            (For::AfterName, Some("in")) => self.turn(Mode::For(For::Words(Shape::default()))),
            (For::AfterName | For::AwaitDo(_), Some("do")) => {
                let frame = self.frame();
                self.pop();
                self.push(Mode::Loop(Loop::Body))?;
                if let Some(opened) = self.frames.last_mut() {
                    opened.at = frame.at;
                }
                if let (For::AwaitDo(Some(shape)), Some(name)) = (stage, self.loop_variable.take()) {
                    self.variables.learn_shape(name, shape);
                }
            }
            (For::Words(shape), _) => self.turn(Mode::For(For::Words(shape.with(word)))),
            _ => return Err(Stuck { what: "a loop without `do`".into(), at: start }),
        }
        Ok(())
    }

    pub(super) fn for_operator(&mut self, c: u8, stage: For) -> Progress {
        self.end_word()?;
        match (c, stage) {
            (b'(', For::Name) if self.peek(1) == Some(b'(') => {
                self.turn(Mode::For(For::AwaitDo(None)));
                self.open_arithmetic()?;
            }
            (b';', _) => {
                // The word that just ended may have been the name.
                match self.mode() {
                    Mode::For(stage) if stage != For::Name => {
                        self.turn(Mode::For(stage.at_the_end_of_a_line()));
                    }
                    _ => return Err(self.stuck("a loop without a name")),
                }
                self.at += 1;
            }
            _ => return Err(self.stuck("an operator in the head of a loop")),
        }
        Ok(())
    }

    pub(super) fn case_word(&mut self, word: &Word<'a>, stage: Case, start: usize) -> Progress {
        match (stage, word.plain()) {
            (Case::Word, _) => self.turn(Mode::Case(Case::In)),
            (Case::In, Some("in")) => self.turn(Mode::Case(Case::Pattern)),
            (Case::In, _) => return Err(Stuck { what: "`case` without `in`".into(), at: start }),
            (_, Some("esac")) => self.close_compound(),
            _ => {}
        }
        Ok(())
    }

    pub(super) fn case_operator(&mut self, c: u8, stage: Case) -> Progress {
        let in_word = self.list().word.is_some();
        match (c, stage) {
            (b'(', Case::Pattern) if !in_word => {}
            (b'|', Case::Pattern) => self.end_word()?,
            (b')', Case::Pattern) => {
                self.end_word()?;
                // The word may have been `esac`, and then the parenthesis belongs to what is around.
                if self.mode() != Mode::Case(Case::Pattern) {
                    return Ok(());
                }
                self.turn_to(Mode::Case(Case::Body), Turn::Clause);
            }
            _ if in_word => {
                // `esac;`, `esac)`: the word decides first.
                self.end_word()?;
                return match self.mode() {
                    Mode::Case(now) if now == stage => Err(self.stuck("an operator in the head of `case`")),
                    _ => Ok(()),
                };
            }
            _ => return Err(self.stuck("an operator in the head of `case`")),
        }
        self.at += 1;
        Ok(())
    }

    /// `;;`, `;&`, `;;&`.
    pub(super) fn case_end(&mut self) -> Progress {
        if self.mode() != Mode::Case(Case::Body) {
            self.end_word()?;
        }
        if self.mode() != Mode::Case(Case::Body) {
            return Err(self.stuck("`;;` outside `case`"));
        }
        self.end_command(Join::Next)?;
        let falls_through = !self.rest().starts_with(";;") || self.rest().starts_with(";;&");
        self.at += if self.rest().starts_with(";;&") { 3 } else { 2 };
        self.turn_to(Mode::Case(Case::Pattern), Turn::ClauseEnd { falls_through });
        Ok(())
    }

    pub(super) fn test_word(&mut self, word: Word<'a>) {
        match word.plain() {
            Some("]]") => {
                self.pop();
                self.list().position = Position::AfterCompound;
                self.list().command.words.push(word);
            }
            text => {
                self.turn(Mode::Test((text == Some("=~")).then_some(0)));
                self.list().command.words.push(word);
            }
        }
    }

    pub(super) fn test_operator(&mut self, c: u8, regex: Option<u32>) -> Progress {
        if let Some(open) = regex {
            let open = match c {
                b'(' => open + 1,
                b')' if open > 0 => open - 1,
                b'|' => open,
                _ => return Err(self.stuck("an operator in a regular expression")),
            };
            self.plain(1);
            self.turn(Mode::Test(Some(open)));
            return Ok(());
        }
        if c == b'(' && self.list().word.is_some() {
            return Err(self.stuck("an extended pattern"));
        }
        self.end_word()?;
        // The word may have been the end.
        if !matches!(self.mode(), Mode::Test(_)) {
            return Ok(());
        }
        let length = match (c, self.peek(1)) {
            (b'&', Some(b'&')) | (b'|', Some(b'|')) => 2,
            (b'(' | b')' | b'<' | b'>', _) => 1,
            _ => return Err(self.stuck("an operator in `[[`")),
        };
        let sign = Word::literal(&self.rest()[..length]);
        self.list().command.words.push(sign);
        self.at += length;
        Ok(())
    }
}

pub(super) fn is_name(text: &str) -> bool {
    !text.is_empty()
        && !text.starts_with(|c: char| c.is_ascii_digit())
        && text.bytes().all(|c| c.is_ascii_alphanumeric() || c == b'_')
}
