//! Provost's own configuration: mistakes in it, and guards that it switches off.

use super::report::{CheckGroup, DoctorFinding, format_count, join_words};
use crate::cli::overview::Overview;
use crate::cli::rules::example_run::ExampleReport;
use crate::text::{clip_line, make_one_line};

pub(super) fn check(overview: &Overview) -> CheckGroup {
    let config = &overview.workspace.config;
    let mut findings: Vec<DoctorFinding> = Vec::new();
    for problem in overview.config_problems() {
        let file = overview.short_path(&problem.file);
        let line =
            problem.place.map_or(String::new(), |(line, column)| format!(" line {line}, column {column}"));
        findings.push(DoctorFinding::error(
            "config",
            format!("a part of {file}{line} is ignored"),
            make_one_line(&problem.text),
            "correct it in an editor; `provost config check` shows what is left",
        ));
    }
    for failure in ExampleReport::judge_layers(config, &overview.workspace).failures {
        let file = overview.short_path(&failure.file);
        findings.push(DoctorFinding::warning(
            "rule-example",
            format!("the rule `{}` does not judge an example as it should", make_one_line(&failure.rule)),
            make_one_line(&format!(
                "{file} line {}: {}: expected {}, got {}",
                failure.place.0, failure.example, failure.expected, failure.got
            )),
            "correct the rule or its example in an editor; `provost rules test` judges all examples",
        ));
    }
    let off: Vec<String> = overview.guards_off().iter().map(|name| format!("`{name}`")).collect();
    if !off.is_empty() {
        let files: Vec<String> = config.files.iter().map(|(_, file)| overview.short_path(file)).collect();
        let (word, verb) = if off.len() == 1 { ("guard", "is") } else { ("guards", "are") };
        findings.push(DoctorFinding::warning(
            "guard-off",
            format!("the {word} {} {verb} off", join_words(&off)),
            format!("{} says so", join_words(&files)),
            "remove the lines below `[guards]` in an editor, if nobody needs them any more",
        ));
    }
    let waiting = overview.workspace.list_untrusted_commands();
    if !waiting.is_empty() {
        let commands: Vec<String> =
            waiting.iter().map(|command| format!("`{}`", clip_line(command, 60))).collect();
        findings.push(DoctorFinding::warning(
            "rules-untrusted",
            format!("{} of this project's rules do not run", format_count(waiting.len(), "command")),
            format!("you have not trusted {}", join_words(&commands)),
            "run `provost rules trust`",
        ));
    }
    let files = match config.files.len() {
        0 => "no configuration file, so the defaults apply".to_owned(),
        files => format_count(files, "configuration file"),
    };
    let watched = match overview.guards_watched().len() {
        0 => String::new(),
        watched => format!(", {watched} of them only watched"),
    };
    CheckGroup::new("configuration", format!("{files}; {}{watched}", overview.count_guards()), findings)
}
