//! Judges the examples of rules, for `rules test`, `rules add`, `config check` and `doctor`.

use std::path::PathBuf;

use crate::clients::make_example_call;
use crate::config::{Config, ConfigLayer, find_place};
use crate::event::{Agent, Event, EventKind, TurnEnd};
use crate::opinion::Fault;
use crate::rules::examples::{Example, ExampleSubject, read_baseline_examples, read_examples};
use crate::rules::{BASELINE, Rule, read_baseline};
use crate::rules_guard::{ExampleFacts, Scene, matches_call_example, matches_stop_example};
use crate::text::make_one_line;
use crate::workspace::Workspace;

/// What came of all examples.
#[derive(Default)]
pub(crate) struct ExampleReport {
    pub(crate) rules: usize,
    pub(crate) judged: usize,
    pub(crate) failures: Vec<ExampleFailure>,
}

/// An example that a rule does not judge as it should.
pub(crate) struct ExampleFailure {
    pub(crate) rule: String,
    pub(crate) file: PathBuf,
    /// Line and column, from 1.
    pub(crate) place: (usize, usize),
    pub(crate) example: String,
    pub(crate) expected: &'static str,
    pub(crate) got: String,
}

impl std::fmt::Display for ExampleFailure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { rule, file, place: (line, column), example, expected, got } = self;
        let text = format!(
            "{}:{line}:{column}: rule `{rule}`: {example}: expected {expected}, got {got}",
            file.display()
        );
        f.write_str(&make_one_line(&text))
    }
}

impl ExampleReport {
    /// Judges every example of all layers.
    pub(crate) fn judge_layers(config: &Config, workspace: &Workspace) -> Self {
        let mut report = Self::default();
        for file in &config.rule_files {
            let rules: Vec<&Rule> =
                config.rules.rules.iter().filter(|rule| *rule.origin.file == *file.path).collect();
            let examples = read_examples(&file.text).examples;
            report.judge(&rules, &examples, (&file.path, &file.text), workspace);
        }
        report
    }

    /// Judges every example of the built-in rules.
    pub(crate) fn judge_baseline(&mut self, workspace: &Workspace) {
        let rules = read_baseline(ConfigLayer::default(), None);
        let examples = read_baseline_examples().examples;
        let file = PathBuf::from("baseline.toml");
        self.judge(&rules.iter().collect::<Vec<_>>(), &examples, (&file, BASELINE), workspace);
    }

    fn judge(
        &mut self,
        rules: &[&Rule],
        examples: &[Example],
        (file, text): (&PathBuf, &str),
        workspace: &Workspace,
    ) {
        for rule in rules {
            let mut has_examples = false;
            // A rule that is switched off or has a mistake has nothing to judge.
            for example in examples.iter().filter(|example| example.rule == rule.name) {
                has_examples = true;
                let expected = if example.must_match { "a match" } else { "no match" };
                let failure = |got: String| ExampleFailure {
                    rule: rule.name.clone(),
                    file: file.clone(),
                    place: find_place(text, example.offset),
                    example: example.subject.to_string(),
                    expected,
                    got,
                };
                self.judged += 1;
                match judge_example(rule, example, workspace) {
                    Ok(is_match) if is_match != example.must_match => {
                        let got = if is_match { "a match" } else { "no match" };
                        self.failures.push(failure(got.into()));
                    }
                    Ok(_) => {}
                    Err(fault) => self.failures.push(failure(format!("an error ({fault})"))),
                }
            }
            self.rules += usize::from(has_examples);
        }
    }
}

/// Whether a rule matches its example.
fn judge_example(rule: &Rule, example: &Example, workspace: &Workspace) -> Result<bool, Fault> {
    let facts = ExampleFacts { branch: example.branch.clone(), is_new: example.is_new };
    let agent = example.agent.clone().filter(|agent| agent != "main");
    let agent = || agent.clone().map(|kind| Agent { id: Some("example".into()), kind: Some(kind) });
    let make_event = |kind| {
        let mut event = Event::new(String::new(), kind, workspace.project.clone());
        event.home.clone_from(&workspace.places.home);
        event.agent = agent();
        event
    };
    let make_call = |subject: &ExampleSubject| {
        let call = make_example_call(subject, &workspace.project, workspace.places.home.as_deref());
        call.map(|call| make_event(EventKind::BeforeTool(call)))
    };
    if let ExampleSubject::Stop { changed, ran, reviewed } = &example.subject {
        let end = TurnEnd::default();
        let event =
            make_event(if agent().is_some() { EventKind::SubagentStop(end) } else { EventKind::Stop(end) });
        let changed: Vec<PathBuf> = changed.iter().map(|path| workspace.project.join(path)).collect();
        let ran: Vec<Event> =
            ran.iter().filter_map(|line| make_call(&ExampleSubject::Line(line.clone()))).collect();
        let scene = Scene::for_example(&event, workspace).with_facts(facts);
        return Ok(matches_stop_example(rule, &scene, &changed, &ran, *reviewed));
    }
    let Some(event) = make_call(&example.subject) else { return Ok(false) };
    matches_call_example(rule, &Scene::for_example(&event, workspace).with_facts(facts))
}
