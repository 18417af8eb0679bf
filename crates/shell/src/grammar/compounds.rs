//! Conditions, loops, `case`, `[[`, groups and the other words of the grammar.

use super::variables::ValueShape;
use super::{
    Case, CompoundPart, ControlOperator, For, If, Loop, Mode, ParseResult, Parser, StructureEvent,
    SyntaxError, SyntaxEvent, WordPosition,
};
use crate::word::{LoopValue, Word, is_name, is_name_part};

/// Keywords that may only start a command.
const OPENING: &[&str] =
    &["if", "while", "until", "for", "select", "case", "{", "[[", "!", "time", "function", "coproc"];
const BLANKS: [char; 2] = [' ', '\t'];

impl<'a> Parser<'a> {
    /// Parses a keyword where a command may start, or after a compound command.
    pub(super) fn parse_keyword(
        &mut self,
        keyword: &'static str,
        word: Word<'a>,
        start: usize,
    ) -> ParseResult {
        if self.list().position == WordPosition::AfterCompound {
            if OPENING.contains(&keyword) {
                return Err(SyntaxError::new("a word behind a compound command", start));
            }
            // `if (a) then`: the command in front has ended.
            self.end_command(ControlOperator::Next)?;
        }
        match (keyword, self.mode()) {
            ("if", _) => self.open_construct(Mode::If(If::Condition))?,
            ("while" | "until", _) => {
                self.open_construct(Mode::Loop(Loop::Condition))?;
                if keyword == "until" {
                    self.emit_structure(StructureEvent::Part(CompoundPart::Until));
                }
            }
            ("for" | "select", _) => {
                self.open_construct(Mode::For(For::Name))?;
                // The variable of `select` is empty if the answer is not a number of the list.
                self.is_select = keyword == "select";
            }
            ("case", _) => self.open_construct(Mode::Case(Case::Word))?,
            ("{", _) => self.open_construct(Mode::Group)?,
            // In a substitution, bash takes this `[[` for a program.
            ("[[", _) if self.list().is_timed => return Err(SyntaxError::new("`[[` behind `time`", start)),
            ("[[", _) => {
                self.open_construct(Mode::Test(None))?;
                self.list().command.words.push(word);
            }
            ("!", _) => {
                self.list().is_negated = true;
                self.emit_structure(StructureEvent::Negated);
            }
            // Shells disagree on `time<file program`.
            ("time", _) if self.rest().starts_with(['<', '>']) => {
                self.report_doubt("`time` before a redirection");
                self.list().is_timed = true;
            }
            // These three need a blank after them.
            ("time" | "function" | "coproc", _) if !self.rest().starts_with([' ', '\t']) => {
                return Err(SyntaxError::new(format!("`{keyword}` alone"), start));
            }
            ("time", _) => {
                self.list().is_timed = true;
                let rest = self.rest().trim_start_matches(BLANKS);
                if let Some(behind) = rest.strip_prefix("-p").filter(|rest| rest.starts_with(BLANKS)) {
                    self.seek(behind);
                }
            }
            ("function", _) => {
                self.report_doubt("a function definition");
                self.emit_structure(StructureEvent::Function);
                let rest = self.rest().trim_start_matches(BLANKS);
                let rest = rest.trim_start_matches(|c: char| !" \t\n;&|()<>".contains(c));
                let empty = rest.trim_start_matches(BLANKS).strip_prefix('(');
                let empty = empty.and_then(|rest| rest.trim_start_matches(BLANKS).strip_prefix(')'));
                self.seek(empty.unwrap_or(rest));
            }
            ("coproc", _) => {
                self.report_doubt("a coprocess");
                self.emit_structure(StructureEvent::Function);
                let rest = self.rest().trim_start_matches(BLANKS);
                let behind = rest.trim_start_matches(is_name_part);
                let body = behind.trim_start_matches(BLANKS);
                if body.starts_with(['{', '(']) && behind.len() < rest.len() {
                    self.seek(body);
                }
            }
            ("then", Mode::If(If::Condition)) => self.change_part(Mode::If(If::Body), CompoundPart::Then),
            ("elif", Mode::If(If::Body)) => self.change_part(Mode::If(If::Condition), CompoundPart::Elif),
            ("else", Mode::If(If::Body)) => self.change_part(Mode::If(If::Else), CompoundPart::Else),
            ("fi", Mode::If(If::Body | If::Else)) => self.close_compound(),
            ("do", Mode::Loop(Loop::Condition)) => self.change_part(Mode::Loop(Loop::Body), CompoundPart::Do),
            ("done", Mode::Loop(Loop::Body)) => self.close_compound(),
            ("}", Mode::Group) | ("esac", Mode::Case(Case::Body)) => self.close_compound(),
            _ => return Err(SyntaxError::new(format!("`{keyword}` that belongs to nothing"), start)),
        }
        Ok(())
    }

    fn change_part(&mut self, mode: Mode, part: CompoundPart) {
        self.set_mode(mode);
        self.emit_structure(StructureEvent::Part(part));
    }

    fn close_compound(&mut self) {
        self.close_construct();
        self.list().position = WordPosition::AfterCompound;
    }

    pub(super) fn parse_for_word(&mut self, word: &Word<'a>, stage: For, start: usize) -> ParseResult {
        match (stage, word.unquoted_text()) {
            (For::Name, Some(_)) if is_name(word.source) => {
                self.forget_variable(word.source);
                self.ready.push_back(SyntaxEvent::Set(word.source));
                self.loop_variable = Some(word.source).filter(|_| !self.is_select);
                self.loop_values.clear();
                self.set_mode(Mode::For(For::AfterName));
            }
            (For::AfterName, Some("in")) => self.set_mode(Mode::For(For::Words(ValueShape::default()))),
            (For::AfterName | For::AwaitDo(_), Some("do")) => {
                let frame = self.innermost();
                self.close_construct();
                self.open_construct(Mode::Loop(Loop::Body))?;
                if let Some(opened) = self.frames.last_mut() {
                    opened.at = frame.at;
                }
                if let (For::AwaitDo(Some(shape)), Some(name)) = (stage, self.loop_variable.take()) {
                    let values = std::mem::take(&mut self.loop_values);
                    self.variables.learn_loop(name, shape, values.into());
                }
            }
            (For::Words(shape), _) => {
                let text = word.text().unwrap_or(word.source);
                if self.work.pay(text.len() + size_of::<LoopValue>()) {
                    let value = LoopValue { text: text.to_owned(), is_known: word.text().is_some() };
                    self.loop_values.push(value);
                }
                self.set_mode(Mode::For(For::Words(shape.with(word))));
            }
            _ => return Err(SyntaxError::new("a loop without `do`", start)),
        }
        Ok(())
    }

    pub(super) fn parse_for_operator(&mut self, c: u8, stage: For) -> ParseResult {
        self.end_word()?;
        match (c, stage) {
            (b'(', For::Name) if self.peek(1) == Some(b'(') => {
                self.set_mode(Mode::For(For::AwaitDo(None)));
                self.open_arithmetic()
            }
            // The word that just ended may have been the name.
            (b';', _) => match self.mode() {
                Mode::For(stage) if stage != For::Name => {
                    self.set_mode(Mode::For(stage.after_line_end()));
                    self.advance(1)
                }
                _ => Err(self.error("a loop without a name")),
            },
            _ => Err(self.error("an operator in the head of a loop")),
        }
    }

    pub(super) fn parse_case_word(&mut self, word: &Word<'a>, stage: Case, start: usize) -> ParseResult {
        match (stage, word.unquoted_text()) {
            (Case::Word, _) => self.set_mode(Mode::Case(Case::In)),
            (Case::In, Some("in")) => self.set_mode(Mode::Case(Case::Pattern)),
            (Case::In, _) => return Err(SyntaxError::new("`case` without `in`", start)),
            (_, Some("esac")) => self.close_compound(),
            _ => {}
        }
        Ok(())
    }

    pub(super) fn parse_case_operator(&mut self, c: u8, stage: Case) -> ParseResult {
        let in_word = self.list().word.is_some();
        match (c, stage) {
            (b'(', Case::Pattern) if !in_word => {}
            (b'|', Case::Pattern) => self.end_word()?,
            (b')', Case::Pattern) => {
                self.end_word()?;
                // If the word was `esac`, the parenthesis belongs to the construct around.
                if self.mode() != Mode::Case(Case::Pattern) {
                    return Ok(());
                }
                self.change_part(Mode::Case(Case::Body), CompoundPart::Clause);
            }
            _ if in_word => {
                // `esac;`, `esac)`: the word may have closed the construct.
                self.end_word()?;
                return match self.mode() {
                    Mode::Case(now) if now == stage => Err(self.error("an operator in the head of `case`")),
                    _ => Ok(()),
                };
            }
            _ => return Err(self.error("an operator in the head of `case`")),
        }
        self.advance(1)
    }

    /// `;;`, `;&`, `;;&`.
    pub(super) fn parse_case_end(&mut self) -> ParseResult {
        if self.mode() != Mode::Case(Case::Body) {
            self.end_word()?;
        }
        if self.mode() != Mode::Case(Case::Body) {
            return Err(self.error("`;;` outside `case`"));
        }
        self.end_command(ControlOperator::Next)?;
        let falls_through = !self.rest().starts_with(";;") || self.rest().starts_with(";;&");
        self.at += if self.rest().starts_with(";;&") { 3 } else { 2 };
        self.change_part(Mode::Case(Case::Pattern), CompoundPart::ClauseEnd { falls_through });
        Ok(())
    }

    pub(super) fn parse_test_word(&mut self, word: Word<'a>) {
        match word.unquoted_text() {
            Some("]]") => self.close_compound(),
            text => self.set_mode(Mode::Test((text == Some("=~")).then_some(0))),
        }
        self.list().command.words.push(word);
    }

    pub(super) fn parse_test_operator(&mut self, c: u8, regex: Option<u32>) -> ParseResult {
        if let Some(open) = regex {
            let open = match c {
                b'(' => open + 1,
                b')' if open > 0 => open - 1,
                b'|' => open,
                _ => return Err(self.error("an operator in a regular expression")),
            };
            self.append_plain(1);
            self.set_mode(Mode::Test(Some(open)));
            return Ok(());
        }
        if c == b'(' && self.list().word.is_some() {
            return Err(self.error("an extended pattern"));
        }
        self.end_word()?;
        // The word may have been `]]`.
        if !matches!(self.mode(), Mode::Test(_)) {
            return Ok(());
        }
        let length = match (c, self.peek(1)) {
            (b'&', Some(b'&')) | (b'|', Some(b'|')) => 2,
            (b'(' | b')' | b'<' | b'>', _) => 1,
            _ => return Err(self.error("an operator in `[[`")),
        };
        let sign = Word::literal(&self.rest()[..length]);
        self.list().command.words.push(sign);
        self.advance(length)
    }
}
