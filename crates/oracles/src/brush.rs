//! brush-parser: typed commands, whose words and command substitutions are texts that have to be parsed again.
//!
//! Its time grows exponentially with unclosed parentheses, so it is not used on lines with many of them.

use std::panic;

use brush_parser::ast::{
    AndOr, Assignment, AssignmentName, AssignmentValue, Command, CommandPrefixOrSuffixItem as Item,
    CompoundCommand, CompoundList, ExtendedTestExpr, IoFileRedirectTarget, IoRedirect, Pipeline,
    SimpleCommand, Word,
};
use brush_parser::word::{self, Parameter, ParameterExpr, WordPiece, WordPieceWithSource};
use brush_parser::{Parser, ParserOptions};

use crate::CommandNames;

/// More opening parentheses can take seconds.
const MOST_PARENTHESES: usize = 12;
const DEEPEST: usize = 12;

/// The names, or `None` if the parser does not understand the line, would take too long, or panics.
pub fn find_names(line: &str) -> Option<CommandNames> {
    panic::catch_unwind(|| {
        let mut collector =
            NameCollector { options: ParserOptions::default(), names: CommandNames::new(), depth: 0 };
        collector.visit_program(line)?;
        Some(collector.names)
    })
    .ok()?
}

struct NameCollector {
    options: ParserOptions,
    names: CommandNames,
    depth: usize,
}

impl NameCollector {
    fn visit_program(&mut self, text: &str) -> Option<()> {
        if self.depth == DEEPEST || text.matches('(').count() > MOST_PARENTHESES {
            return None;
        }
        let program = Parser::new(text.as_bytes(), &self.options).parse_program().ok()?;
        self.depth += 1;
        for list in &program.complete_commands {
            self.visit_list(list);
        }
        self.depth -= 1;
        Some(())
    }

    fn visit_list(&mut self, list: &CompoundList) {
        for item in &list.0 {
            self.visit_pipeline(&item.0.first);
            for AndOr::And(pipeline) | AndOr::Or(pipeline) in &item.0.additional {
                self.visit_pipeline(pipeline);
            }
        }
    }

    fn visit_pipeline(&mut self, pipeline: &Pipeline) {
        for command in &pipeline.seq {
            self.visit_command(command);
        }
    }

    fn visit_command(&mut self, command: &Command) {
        match command {
            Command::Simple(simple) => self.visit_simple(simple),
            Command::Compound(compound, redirections) => {
                self.visit_compound(compound);
                self.visit_redirections(redirections.iter().flat_map(|list| &list.0));
            }
            Command::Function(function) => {
                self.visit_compound(&function.body.0);
                self.visit_redirections(function.body.1.iter().flat_map(|list| &list.0));
            }
            Command::ExtendedTest(test, redirections) => {
                self.visit_test(&test.expr);
                self.visit_redirections(redirections.iter().flat_map(|list| &list.0));
            }
        }
    }

    fn visit_compound(&mut self, compound: &CompoundCommand) {
        match compound {
            CompoundCommand::Arithmetic(command) => self.visit_text(&command.expr.value),
            CompoundCommand::ArithmeticForClause(clause) => {
                for part in [&clause.initializer, &clause.condition, &clause.updater].into_iter().flatten() {
                    self.visit_text(&part.value);
                }
                self.visit_list(&clause.body.list);
            }
            CompoundCommand::BraceGroup(group) => self.visit_list(&group.list),
            CompoundCommand::Subshell(subshell) => self.visit_list(&subshell.list),
            CompoundCommand::ForClause(clause) => {
                self.visit_words(clause.values.iter().flatten());
                self.visit_list(&clause.body.list);
            }
            CompoundCommand::CaseClause(clause) => {
                self.visit_word(&clause.value);
                for case in &clause.cases {
                    self.visit_words(&case.patterns);
                    case.cmd.iter().for_each(|list| self.visit_list(list));
                }
            }
            CompoundCommand::IfClause(clause) => {
                self.visit_list(&clause.condition);
                self.visit_list(&clause.then);
                for other in clause.elses.iter().flatten() {
                    other.condition.iter().for_each(|list| self.visit_list(list));
                    self.visit_list(&other.body);
                }
            }
            CompoundCommand::WhileClause(clause) | CompoundCommand::UntilClause(clause) => {
                self.visit_list(&clause.0);
                self.visit_list(&clause.1.list);
            }
            CompoundCommand::Coprocess(process) => self.visit_command(&process.body),
        }
    }

    fn visit_simple(&mut self, simple: &SimpleCommand) {
        simple.prefix.iter().flat_map(|prefix| &prefix.0).for_each(|item| self.visit_item(item));
        if let Some(word) = &simple.word_or_name {
            self.names.extend(self.literal_name(word));
            self.visit_word(word);
        }
        simple.suffix.iter().flat_map(|suffix| &suffix.0).for_each(|item| self.visit_item(item));
    }

    fn visit_item(&mut self, item: &Item) {
        match item {
            Item::IoRedirect(redirection) => self.visit_redirections([redirection]),
            Item::Word(word) => self.visit_word(word),
            Item::AssignmentWord(assignment, _) => self.visit_assignment(assignment),
            Item::ProcessSubstitution(_, subshell) => self.visit_list(&subshell.list),
        }
    }

    fn visit_assignment(&mut self, assignment: &Assignment) {
        if let AssignmentName::ArrayElementName(_, index) = &assignment.name {
            self.visit_text(index);
        }
        match &assignment.value {
            AssignmentValue::Scalar(word) => self.visit_word(word),
            AssignmentValue::Array(elements) => {
                for (index, value) in elements {
                    self.visit_words(index);
                    self.visit_word(value);
                }
            }
        }
    }

    fn visit_redirections<'a>(&mut self, redirections: impl IntoIterator<Item = &'a IoRedirect>) {
        for redirection in redirections {
            match redirection {
                IoRedirect::File(_, _, IoFileRedirectTarget::ProcessSubstitution(_, subshell)) => {
                    self.visit_list(&subshell.list);
                }
                IoRedirect::File(
                    _,
                    _,
                    IoFileRedirectTarget::Filename(word) | IoFileRedirectTarget::Duplicate(word),
                )
                | IoRedirect::HereString(_, word)
                | IoRedirect::OutputAndError(word, _) => self.visit_word(word),
                IoRedirect::File(_, _, IoFileRedirectTarget::Fd(_)) => {}
                IoRedirect::HereDocument(_, document) if document.requires_expansion => {
                    let pieces = word::parse_heredoc(&document.doc.value, &self.options);
                    self.visit_pieces(&pieces.unwrap_or_default());
                }
                IoRedirect::HereDocument(..) => {}
            }
        }
    }

    fn visit_test(&mut self, test: &ExtendedTestExpr) {
        match test {
            ExtendedTestExpr::And(a, b) | ExtendedTestExpr::Or(a, b) => {
                self.visit_test(a);
                self.visit_test(b);
            }
            ExtendedTestExpr::Not(inner) | ExtendedTestExpr::Parenthesized(inner) => self.visit_test(inner),
            ExtendedTestExpr::UnaryTest(_, word) => self.visit_word(word),
            ExtendedTestExpr::BinaryTest(_, a, b) => self.visit_words([a, b]),
        }
    }

    fn visit_words<'a>(&mut self, words: impl IntoIterator<Item = &'a Word>) {
        words.into_iter().for_each(|word| self.visit_word(word));
    }

    fn visit_word(&mut self, word: &Word) {
        self.visit_text(&word.value);
    }

    fn visit_text(&mut self, text: &str) {
        let pieces = word::parse(text, &self.options);
        self.visit_pieces(&pieces.unwrap_or_default());
    }

    fn visit_pieces(&mut self, pieces: &[WordPieceWithSource]) {
        for piece in pieces {
            match &piece.piece {
                WordPiece::DoubleQuotedSequence(inner) | WordPiece::GettextDoubleQuotedSequence(inner) => {
                    self.visit_pieces(inner);
                }
                WordPiece::CommandSubstitution(text) | WordPiece::BackquotedCommandSubstitution(text) => {
                    self.visit_program(text);
                }
                WordPiece::ArithmeticExpression(expression) => self.visit_text(&expression.value),
                WordPiece::ParameterExpansion(expansion) => self.visit_expansion(expansion),
                _ => {}
            }
        }
    }

    fn visit_expansion(&mut self, expansion: &ParameterExpr) {
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
            self.visit_text(index);
        }
        texts.into_iter().flatten().for_each(|text| self.visit_text(text));
    }

    /// The text of a name without expansions.
    fn literal_name(&self, word: &Word) -> Option<String> {
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
        // Bash expands braces and patterns.
        (!name.contains(['{', '*', '?', '['])).then_some(name)
    }
}
