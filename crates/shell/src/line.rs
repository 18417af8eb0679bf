//! Walks over the syntax events of a line, and follows the texts that are command lines themselves.

use std::collections::VecDeque;
use std::rc::Rc;

use crate::DEEPEST;
use crate::arithmetic::{EvaluationScope, QuotedTexts};
use crate::budget::{Budget, PARSING_COST};
use crate::command_tree::{CommandTree, StatusRule};
use crate::directories::{CurrentDirectory, DirectoryChanges, DirectoryList, LoopStart};
use crate::effect::{Effect, ReadScope};
use crate::flow::{Flow, FlowStep, ScriptTime};
use crate::grammar::{
    ControlOperator, Parser, QUOTED_ARITHMETIC, Redirection, Scope, SimpleCommand, StructureEvent,
    SyntaxEvent, TOO_DEEP, TRANSFORMED, TextKind,
};
use crate::programs::git::GitContext;
use crate::texts::TextFlow;
use crate::word::Word;

/// The values of `$0`, `$1` and so on that a shell gets.
#[derive(Default)]
pub(super) struct ShellParameters {
    /// The values up to the first one that is not known.
    pub(super) known: Vec<String>,
    /// Nothing follows the known values.
    pub(super) are_all_known: bool,
}

/// A text that a command line makes the shell read, and where.
pub(super) struct NestedText {
    pub(super) text: String,
    pub(super) kind: TextKind,
    /// Its number in the [`Flow`].
    pub(super) script: usize,
    pub(super) git: GitContext,
    pub(super) place: CurrentDirectory,
    /// The command that runs it, or whose words contain it.
    pub(super) within: Option<u32>,
    /// Its output becomes a part of that command's words or input.
    pub(super) is_substituted: bool,
    pub(super) status: StatusRule,
    pub(super) parameters: ShellParameters,
    /// It may not be commands at all.
    pub(super) is_guess: bool,
    pub(super) is_remote: bool,
    pub(super) depth: u32,
}

/// The state of the walk over one command line.
pub(super) struct LineWalker<'a> {
    pub(super) git: GitContext,
    pub(super) flow: &'a mut Flow,
    pub(super) evaluation: &'a mut QuotedTexts,
    pub(super) tree: &'a mut CommandTree,
    /// The number of this line in the flow.
    pub(super) script: usize,
    /// How many programs of this line run the current one.
    pub(super) nesting: u32,
    pub(super) place: CurrentDirectory,
    pub(super) changes: DirectoryChanges,
    /// Where the current pipeline starts.
    pub(super) pipeline_start: DirectoryList,
    /// The state around each open subshell.
    pub(super) subshells: Vec<(CurrentDirectory, GitContext)>,
    pub(super) loops: Vec<LoopStart>,
    pub(super) home: Option<&'a str>,
    pub(super) work: &'a Budget,
    /// The budget of texts that may not be commands.
    pub(super) guesses: &'a Budget,
    pub(super) is_guess: bool,
    /// The commands run on another machine or in a container: only the programs that they start count.
    pub(super) is_remote: bool,
    pub(super) effects: &'a mut Vec<Effect>,
    pub(super) nested: Vec<NestedText>,
    /// The here-documents whose texts follow.
    pub(super) documents: VecDeque<PendingDocument>,
    pub(super) texts: TextFlow,
    /// What `alias` has defined so far.
    pub(super) aliases: Vec<(String, String)>,
    pub(super) depth: u32,
}

/// A here-document whose text follows.
pub(super) struct PendingDocument {
    /// The script that it is, if a shell reads it.
    pub(super) script: Option<usize>,
    /// That shell runs on another machine.
    pub(super) is_remote: bool,
    /// It is the code of an interpreter; whether that runs what stands between backticks.
    pub(super) code: Option<bool>,
    /// It is a patch of `apply_patch`, and these are the directories that its names may be relative to.
    pub(super) envelope: Option<DirectoryList>,
    /// The command that it is the input of.
    pub(super) command: u32,
    /// The effects that get its text.
    pub(super) receivers: Vec<usize>,
}

impl LineWalker<'_> {
    pub(super) fn walk(&mut self, mut parser: Parser) {
        parser.pwd = self.place.known_directory();
        while let Some(event) = parser.next() {
            let before = self.place.current.clone();
            let starts_pipeline = !matches!(
                event,
                SyntaxEvent::Simple(_)
                    | SyntaxEvent::Structure(StructureEvent::Joined { join: ControlOperator::Pipe, .. })
            );
            let is_substitution =
                matches!(event, SyntaxEvent::Structure(StructureEvent::Close(Scope::Substitution)));
            self.follow_event(event);
            if let Some(printed) = self.texts.take_printed().filter(|_| is_substitution) {
                parser.give_value(printed.trim_end_matches('\n'));
            }
            if starts_pipeline {
                self.pipeline_start = self.place.current.clone();
            }
            if self.place.is_lost || !Rc::ptr_eq(&before, &self.place.current) {
                parser.pwd = self.place.known_directory();
            }
            if self.work.is_spent() {
                return;
            }
        }
    }

    fn follow_event(&mut self, event: SyntaxEvent) {
        if !matches!(event, SyntaxEvent::Structure(_) | SyntaxEvent::Body { .. }) {
            self.tree.enter_command();
        }
        match event {
            SyntaxEvent::Simple(command) => {
                // The redirections of a compound command are a command without words.
                if !command.words.is_empty() {
                    self.changes.track_command(&self.place);
                }
                self.note_command_site();
                self.apply_redirections(&command);
                self.run_simple_command(&command);
                self.end_command_texts(command.is_piped);
            }
            SyntaxEvent::Structure(event) => self.follow_structure(event),
            SyntaxEvent::Body { text, quoted, strips_tabs } => {
                let document = self.documents.pop_front();
                if let Some(document) = &document {
                    self.tree.current = document.command;
                    self.deliver_document(document, text, quoted, strips_tabs);
                    if let Some(has_backticks) = document.code {
                        self.report_code(text, has_backticks);
                    }
                    if let Some(directories) = &document.envelope {
                        self.report_envelope_text(text, directories);
                        self.report_expanded_envelope(text, quoted);
                    }
                }
                match document.and_then(|document| document.script) {
                    Some(script) => {
                        let from = self.nested.len();
                        self.queue_text(text.to_owned(), TextKind::Commands, script);
                        self.pass_status_from(from);
                        // A shell of its own.
                        self.nested[from..].iter_mut().for_each(|nested| nested.status.has_pipefail = false);
                    }
                    None if quoted => self.store_quoted(text),
                    None => self.run_text_before(text.to_owned(), TextKind::Text),
                }
            }
            SyntaxEvent::Commands(text) => {
                let from = self.nested.len();
                self.run_text_before(text, TextKind::Commands);
                self.nested[from..].iter_mut().for_each(|nested| nested.is_substituted = true);
            }
            SyntaxEvent::Otherwise(text) => self.run_text_before(text.to_owned(), TextKind::Rest),
            SyntaxEvent::Quoted(text) => self.store_quoted(&text),
            SyntaxEvent::Set(name) => self.set_unknown_variable(name),
            SyntaxEvent::NotUnderstood { what, .. } if what == TOO_DEEP => self.report_too_deep(&what),
            SyntaxEvent::NotUnderstood { what, at } => {
                let is_text = what == QUOTED_ARITHMETIC || what == TRANSFORMED;
                self.widen_evaluation(if is_text {
                    EvaluationScope::Everything
                } else {
                    EvaluationScope::Subscripts
                });
                self.report_unparsed(&format!("{what} at byte {at}"));
            }
        }
    }

    fn follow_structure(&mut self, event: StructureEvent) {
        self.record_step(FlowStep::Structure(event));
        self.tree.follow_structure(event);
        self.changes.track_structure(event, &mut self.place);
        match event {
            StructureEvent::Open(scope) => {
                self.open_group_text();
                self.place.conditions += usize::from(scope.is_conditional());
                if scope.is_process() {
                    self.subshells.push((self.place.clone(), self.git.clone()));
                } else if scope == Scope::Loop {
                    self.loops.push(LoopStart {
                        effects: self.effects.len(),
                        nested: self.nested.len(),
                        subshells: self.subshells.len(),
                    });
                }
            }
            StructureEvent::Close(scope) => {
                self.close_group_text();
                let closed = usize::from(scope.is_conditional());
                self.place.conditions = self.place.conditions.saturating_sub(closed);
                if scope == Scope::Loop {
                    self.loops.pop();
                } else if let Some(outside) = self.subshells.pop_if(|_| scope.is_process()) {
                    (self.place, self.git) = outside;
                }
            }
            StructureEvent::Joined { join, behind } => {
                self.start_stage(behind == ControlOperator::Pipe);
                self.place.is_chained =
                    matches!(behind, ControlOperator::And | ControlOperator::Or | ControlOperator::Pipe);
                // After `&&`, a `cd` has succeeded, and every part of a pipeline starts where the pipeline does. After
                // any other operator a `cd` may have failed, so every directory of the line is possible.
                let is_certain = join == ControlOperator::And
                    || join == ControlOperator::Pipe && Rc::ptr_eq(&self.place.current, &self.pipeline_start);
                if !is_certain {
                    self.place.reset_to_seen();
                }
            }
            StructureEvent::Function => self.place.conditions += 1,
            StructureEvent::Part(_) | StructureEvent::Negated | StructureEvent::Restart => {}
        }
    }

    pub(super) fn record_step(&mut self, step: FlowStep) {
        let is_elsewhere =
            self.is_remote && !matches!(step, FlowStep::Structure(_) | FlowStep::Run(..) | FlowStep::Doubt);
        if !is_elsewhere && self.work.pay(size_of::<FlowStep>()) {
            self.flow.record(self.script, step);
        }
    }

    fn apply_redirections(&mut self, command: &SimpleCommand) {
        self.start_command_texts(command);
        for redirection in &command.redirections {
            match redirection {
                Redirection::Write { target, output } => {
                    let from = self.effects.len();
                    self.report_write(target);
                    self.note_output_file(from, *output);
                }
                Redirection::Read(target) => {
                    self.report_read(target, ReadScope::File);
                    self.feed_file(target);
                }
                Redirection::HereString(word) => self.feed_here_string(word),
                Redirection::Document => {
                    let command = self.tree.current;
                    self.documents.push_back(PendingDocument {
                        script: None,
                        is_remote: false,
                        code: None,
                        envelope: None,
                        command,
                        receivers: Vec::new(),
                    });
                    self.feed_document();
                }
            }
        }
    }

    /// Records that the commands of another text run, and returns the number of its script.
    pub(super) fn record_script(&mut self, time: ScriptTime) -> usize {
        let script = self.flow.new_script();
        self.record_step(FlowStep::Run(script, time));
        script
    }

    /// Runs a text whose status is that of the current command.
    pub(super) fn run_text(&mut self, text: String) {
        let script = self.record_script(ScriptTime::Now);
        self.queue_text(text, TextKind::Commands, script);
    }

    /// Runs a text whose commands run before the current command, or may do so.
    pub(super) fn run_text_before(&mut self, text: String, kind: TextKind) {
        let script = self.record_script(ScriptTime::Before);
        self.queue_text(text, kind, script);
    }

    pub(super) fn run_word(&mut self, word: &Word) {
        if let Some([text]) = self.expand_printed_word(word).as_deref() {
            return self.run_text(text.clone());
        }
        let is_known = word.text().is_some();
        let script = self.record_script(if is_known { ScriptTime::Now } else { ScriptTime::Before });
        self.queue_word(word, script);
    }

    pub(super) fn queue_word(&mut self, word: &Word, script: usize) {
        if let Some(text) = word.text() {
            return self.queue_text(text.to_owned(), TextKind::Commands, script);
        }
        self.report_unparsed_word(word);
        self.queue_text(word.source_without_quotes(), TextKind::Rest, script);
    }

    fn queue_text(&mut self, text: String, kind: TextKind, script: usize) {
        if text.is_empty() {
            return;
        }
        let is_guess = self.is_guess || kind == TextKind::Rest;
        let work = if is_guess { self.guesses } else { self.work };
        let can_pay = work.pay(text.len() * PARSING_COST);
        if is_guess && !can_pay {
            return;
        }
        if self.depth >= DEEPEST || !can_pay {
            return self.report_too_deep("deeply nested shells");
        }
        let nested = self.nest_text(text, kind, script, is_guess);
        self.nested.push(nested);
    }

    /// A text that runs where the current command does.
    pub(super) fn nest_text(
        &self,
        text: String,
        kind: TextKind,
        script: usize,
        is_guess: bool,
    ) -> NestedText {
        let (git, place) = (self.git.clone(), self.place.nested());
        NestedText {
            text,
            kind,
            script,
            git,
            place,
            within: Some(self.tree.current),
            is_substituted: false,
            status: StatusRule { passes: false, has_pipefail: self.tree.has_pipefail() },
            parameters: ShellParameters::default(),
            is_guess,
            is_remote: self.is_remote,
            depth: self.depth + 1,
        }
    }

    /// Lets the texts that were queued since then decide on the exit code of the current command.
    pub(super) fn pass_status_from(&mut self, queued: usize) {
        for nested in &mut self.nested[queued..] {
            nested.status.passes = nested.kind == TextKind::Commands;
        }
    }
}
