//! Provost's own configuration: mistakes in it, and guards that it switches off.

use super::report::{Finding, Group, counted};
use super::subject::{Subject, listed};
use crate::cli::status::{Summary, guards_counted};
use crate::registry::GUARDS;
use crate::text::one_line;

pub(super) fn check(subject: &Subject) -> Group {
    let mut findings: Vec<Finding> = Vec::new();
    for problem in &subject.config.problems {
        let place = match problem.line {
            Some(line) => format!("{} line {line}", subject.shown(&problem.file)),
            None => subject.shown(&problem.file),
        };
        findings.push(Finding::error(
            "config",
            format!("a part of {place} does not count"),
            one_line(&problem.text),
            "correct it in an editor; `provost config check` shows what is left".into(),
        ));
    }
    let off = |name: &&str| !subject.config.guard_is_on(name);
    let off: Vec<String> =
        GUARDS.iter().map(|guard| guard.name).filter(off).map(|name| format!("`{name}`")).collect();
    if !off.is_empty() {
        let places = subject.config.files.iter().map(|(_, file)| subject.shown(file));
        let (word, verb) = if off.len() == 1 { ("guard", "is") } else { ("guards", "are") };
        findings.push(Finding::warning(
            "guard-off",
            format!("the {word} {} {verb} off", listed(&off)),
            format!("{} says so", listed(&places.collect::<Vec<_>>())),
            "take the lines below `[guards]` out in an editor, if nobody wants that any more".into(),
        ));
    }
    let files = match subject.config.files.len() {
        0 => "no configuration file, so all is by default".to_owned(),
        files => counted(files, "configuration file"),
    };
    let here = Summary::of(&subject.project, &subject.project);
    let checked = format!("{files}; {}", guards_counted(here.guards_on.len()));
    Group { name: "configuration", checked, findings, is_skipped: false }
}
