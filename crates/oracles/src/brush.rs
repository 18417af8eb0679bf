//! brush-parser: typed commands, but words are text that has to be parsed again, and so are the
//! command substitutions in them.
//!
//! Its time grows exponentially with unclosed parentheses, so a line with many is left alone.

use std::panic;

use brush_parser::ast::{
    AndOr, Assignment, AssignmentName, AssignmentValue, Command, CommandPrefixOrSuffixItem as Item,
    CompoundCommand, CompoundList, ExtendedTestExpr, IoFileRedirectTarget, IoRedirect, Pipeline,
    SimpleCommand, Word,
};
use brush_parser::word::{self, Parameter, ParameterExpr, WordPiece, WordPieceWithSource};
use brush_parser::{Parser, ParserOptions};

use crate::Names;

/// More opening parentheses than this can take seconds.
const MOST_PARENTHESES: usize = 12;
const DEEPEST: usize = 12;

/// The names, or `None` where the line is not understood, would take too long, or makes the parser
/// panic.
pub fn names(line: &str) -> Option<Names> {
    panic::catch_unwind(|| {
        let mut walk = Walk { options: ParserOptions::default(), names: Names::new(), depth: 0 };
        walk.program(line)?;
        Some(walk.names)
    })
    .ok()?
}

struct Walk {
    options: ParserOptions,
    names: Names,
    depth: usize,
}

impl Walk {
    fn program(&mut self, text: &str) -> Option<()> {
        if self.depth == DEEPEST || text.matches('(').count() > MOST_PARENTHESES {
            return None;
        }
        let program = Parser::new(text.as_bytes(), &self.options).parse_program().ok()?;
        self.depth += 1;
        for list in &program.complete_commands {
            self.list(list);
        }
        self.depth -= 1;
        Some(())
    }

    fn list(&mut self, list: &CompoundList) {
        for item in &list.0 {
            self.pipeline(&item.0.first);
            for AndOr::And(pipeline) | AndOr::Or(pipeline) in &item.0.additional {
                self.pipeline(pipeline);
            }
        }
    }

    fn pipeline(&mut self, pipeline: &Pipeline) {
        for command in &pipeline.seq {
            self.command(command);
        }
    }

    fn command(&mut self, command: &Command) {
        match command {
            Command::Simple(simple) => self.simple(simple),
            Command::Compound(compound, redirections) => {
                self.compound(compound);
                self.redirections(redirections.iter().flat_map(|list| &list.0));
            }
            Command::Function(function) => {
                self.compound(&function.body.0);
                self.redirections(function.body.1.iter().flat_map(|list| &list.0));
            }
            Command::ExtendedTest(test, redirections) => {
                self.test(&test.expr);
                self.redirections(redirections.iter().flat_map(|list| &list.0));
            }
        }
    }

    fn compound(&mut self, compound: &CompoundCommand) {
        match compound {
            CompoundCommand::Arithmetic(command) => self.text(&command.expr.value),
            CompoundCommand::ArithmeticForClause(clause) => {
                for part in [&clause.initializer, &clause.condition, &clause.updater].into_iter().flatten() {
                    self.text(&part.value);
                }
                self.list(&clause.body.list);
            }
            CompoundCommand::BraceGroup(group) => self.list(&group.list),
            CompoundCommand::Subshell(subshell) => self.list(&subshell.list),
            CompoundCommand::ForClause(clause) => {
                self.words(clause.values.iter().flatten());
                self.list(&clause.body.list);
            }
            CompoundCommand::CaseClause(clause) => {
                self.word(&clause.value);
                for case in &clause.cases {
                    self.words(&case.patterns);
                    case.cmd.iter().for_each(|list| self.list(list));
                }
            }
            CompoundCommand::IfClause(clause) => {
                self.list(&clause.condition);
                self.list(&clause.then);
                for other in clause.elses.iter().flatten() {
                    other.condition.iter().for_each(|list| self.list(list));
                    self.list(&other.body);
                }
            }
            CompoundCommand::WhileClause(clause) | CompoundCommand::UntilClause(clause) => {
                self.list(&clause.0);
                self.list(&clause.1.list);
            }
            CompoundCommand::Coprocess(process) => self.command(&process.body),
        }
    }

    fn simple(&mut self, simple: &SimpleCommand) {
        simple.prefix.iter().flat_map(|prefix| &prefix.0).for_each(|item| self.item(item));
        if let Some(word) = &simple.word_or_name {
            self.names.extend(self.literal(word));
            self.word(word);
        }
        simple.suffix.iter().flat_map(|suffix| &suffix.0).for_each(|item| self.item(item));
    }

    fn item(&mut self, item: &Item) {
        match item {
            Item::IoRedirect(redirection) => self.redirections([redirection]),
            Item::Word(word) => self.word(word),
            Item::AssignmentWord(assignment, _) => self.assignment(assignment),
            Item::ProcessSubstitution(_, subshell) => self.list(&subshell.list),
        }
    }

    fn assignment(&mut self, assignment: &Assignment) {
        if let AssignmentName::ArrayElementName(_, index) = &assignment.name {
            self.text(index);
        }
        match &assignment.value {
            AssignmentValue::Scalar(word) => self.word(word),
            AssignmentValue::Array(elements) => {
                for (index, value) in elements {
                    self.words(index);
                    self.word(value);
                }
            }
        }
    }

    fn redirections<'a>(&mut self, redirections: impl IntoIterator<Item = &'a IoRedirect>) {
        for redirection in redirections {
            match redirection {
                IoRedirect::File(_, _, IoFileRedirectTarget::ProcessSubstitution(_, subshell)) => {
                    self.list(&subshell.list);
                }
                IoRedirect::File(
                    _,
                    _,
                    IoFileRedirectTarget::Filename(word) | IoFileRedirectTarget::Duplicate(word),
                )
                | IoRedirect::HereString(_, word)
                | IoRedirect::OutputAndError(word, _) => self.word(word),
                IoRedirect::File(_, _, IoFileRedirectTarget::Fd(_)) => {}
                IoRedirect::HereDocument(_, document) if document.requires_expansion => {
                    let pieces = word::parse_heredoc(&document.doc.value, &self.options);
                    self.pieces(&pieces.unwrap_or_default());
                }
                IoRedirect::HereDocument(..) => {}
            }
        }
    }

    fn test(&mut self, test: &ExtendedTestExpr) {
        match test {
            ExtendedTestExpr::And(a, b) | ExtendedTestExpr::Or(a, b) => {
                self.test(a);
                self.test(b);
            }
            ExtendedTestExpr::Not(inner) | ExtendedTestExpr::Parenthesized(inner) => self.test(inner),
            ExtendedTestExpr::UnaryTest(_, word) => self.word(word),
            ExtendedTestExpr::BinaryTest(_, a, b) => self.words([a, b]),
        }
    }

    fn words<'a>(&mut self, words: impl IntoIterator<Item = &'a Word>) {
        words.into_iter().for_each(|word| self.word(word));
    }

    fn word(&mut self, word: &Word) {
        self.text(&word.value);
    }

    fn text(&mut self, text: &str) {
        let pieces = word::parse(text, &self.options);
        self.pieces(&pieces.unwrap_or_default());
    }

    fn pieces(&mut self, pieces: &[WordPieceWithSource]) {
        for piece in pieces {
            match &piece.piece {
                WordPiece::DoubleQuotedSequence(inner) | WordPiece::GettextDoubleQuotedSequence(inner) => {
                    self.pieces(inner);
                }
                WordPiece::CommandSubstitution(text) | WordPiece::BackquotedCommandSubstitution(text) => {
                    self.program(text);
                }
                WordPiece::ArithmeticExpression(expression) => self.text(&expression.value),
                WordPiece::ParameterExpansion(expansion) => self.expansion(expansion),
                _ => {}
            }
        }
    }

    fn expansion(&mut self, expansion: &ParameterExpr) {
        use ParameterExpr as E;
        let (parameter, texts) = match expansion {
            E::Parameter { parameter, .. }
            | E::ParameterLength { parameter, .. }
            | E::Transform { parameter, .. } => (parameter, [None, None]),
            E::UseDefaultValues { parameter, default_value: text, .. }
            | E::AssignDefaultValues { parameter, default_value: text, .. }
            | E::IndicateErrorIfNullOrUnset { parameter, error_message: text, .. }
            | E::UseAlternativeValue { parameter, alternative_value: text, .. }
            | E::RemoveSmallestSuffixPattern { parameter, pattern: text, .. }
            | E::RemoveLargestSuffixPattern { parameter, pattern: text, .. }
            | E::RemoveSmallestPrefixPattern { parameter, pattern: text, .. }
            | E::RemoveLargestPrefixPattern { parameter, pattern: text, .. }
            | E::UppercaseFirstChar { parameter, pattern: text, .. }
            | E::UppercasePattern { parameter, pattern: text, .. }
            | E::LowercaseFirstChar { parameter, pattern: text, .. }
            | E::LowercasePattern { parameter, pattern: text, .. } => (parameter, [text.as_ref(), None]),
            E::Substring { parameter, offset, length, .. } => {
                (parameter, [Some(&offset.value), length.as_ref().map(|length| &length.value)])
            }
            E::ReplaceSubstring { parameter, pattern, replacement, .. } => {
                (parameter, [Some(pattern), replacement.as_ref()])
            }
            E::VariableNames { .. } | E::MemberKeys { .. } => return,
        };
        if let Parameter::NamedWithIndex { index, .. } = parameter {
            self.text(index);
        }
        texts.into_iter().flatten().for_each(|text| self.text(text));
    }

    /// The text of a name in which nothing is expanded.
    fn literal(&self, word: &Word) -> Option<String> {
        fn spell(pieces: &[WordPieceWithSource], name: &mut String) -> Option<()> {
            for piece in pieces {
                match &piece.piece {
                    WordPiece::Text(text) | WordPiece::SingleQuotedText(text) => name.push_str(text),
                    WordPiece::EscapeSequence(text) => name.push_str(text.strip_prefix('\\')?),
                    WordPiece::DoubleQuotedSequence(inner) => spell(inner, name)?,
                    _ => return None,
                }
            }
            Some(())
        }
        let mut name = String::new();
        spell(&word::parse(&word.value, &self.options).ok()?, &mut name)?;
        // Braces and patterns are expanded into something else.
        (!name.contains(['{', '*', '?', '['])).then_some(name)
    }
}
