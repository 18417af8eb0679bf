//! `provost review run` in any project: one review of the changes in the work tree, or of a range of commits.

use std::io::Write;
use std::time::Duration;

use serde_json::{Value, json};

use super::run::{ReviewRun, run_with_progress};
use crate::change_review::round::{
    ChangeReview, FinishedChangeReview, choose_model, describe_cost, describe_size, read_findings,
};
use crate::cli::overview::Overview;
use crate::cli::record_work::record_work;
use crate::cli::screen::{DIM, GREEN, RED, YELLOW, paint, print_json, print_sentence, wrap_line};
use crate::cli::{CommandResult, Exit};
use crate::opinion::Fault;
use crate::registry::RULES;
use crate::review_verdict::ReviewOutcome;
use crate::reviewer;
use crate::signals;
use crate::text::make_one_line;
use crate::workspace::change_diff::ChangeDiff;

/// Reviews the changes once. The exit code says what came of it.
pub(super) fn run(command: &ReviewRun, overview: &Overview) -> CommandResult {
    signals::watch_signals();
    let workspace = &overview.workspace;
    // The reviewer that the user's own terminal finds is the one to trust.
    reviewer::remember_reviewer(workspace, &workspace.project, true);
    let range = command.range.as_deref();
    let mut out = anstream::stdout().lock();
    let diff = match workspace.diff_range(range) {
        Ok(Ok(diff)) => diff,
        Ok(Err(why)) => {
            let text =
                format!("[provost] nothing was reviewed: {why}. To fix: give a range such as `main...HEAD`.");
            eprintln!("{}", wrap_line(&make_one_line(&text), 0));
            return Ok(Exit::Usage);
        }
        Err(fault) => return report_missing(&mut out, command, &ChangeDiff::default(), &fault),
    };
    if diff.files.is_empty() {
        let text = "Nothing to review: no file has changed that a reviewer reads.";
        if command.json {
            print_json(&mut out, &describe(&diff, "nothing", json!({})))?;
        } else {
            print_sentence(&mut out, text)?;
        }
        return Ok(Exit::Done);
    }
    let about = range.map_or("the changes that are not committed".to_owned(), |range| {
        format!("the changes of `{}`", make_one_line(range))
    });
    let model = command.model.as_deref().unwrap_or(choose_model(0));
    let limit = Duration::from_secs(command.seconds);
    let review = ChangeReview { diff: &diff, about: &about, model, limit, number: 1 };
    let finished = run_with_progress(|show| {
        show(&format!(
            "{}, by {}, for at most {} s",
            describe_size(&diff),
            make_one_line(model),
            command.seconds
        ));
        review.run(workspace)
    });
    let done = match finished {
        Ok(done) => done,
        Err(fault) => return report_missing(&mut out, command, &diff, &fault),
    };
    record_work("provost review run", RULES, Some(done.record("", &review, true)), workspace);
    if let Err(fault) = &done.finished.verdict {
        return report_missing(&mut out, command, &diff, fault);
    }
    let exit = if done.outcome() == ReviewOutcome::Clean { Exit::Done } else { Exit::Problem };
    if command.json {
        print_json(&mut out, &describe_verdict(&done, &review, overview))?;
    } else {
        print_verdict(&mut out, &done, &review, overview)?;
    }
    Ok(exit)
}

fn report_missing(
    out: &mut impl Write,
    command: &ReviewRun,
    diff: &ChangeDiff,
    why: &Fault,
) -> CommandResult {
    let why = make_one_line(&why.to_string());
    if command.json {
        print_json(out, &describe(diff, ReviewOutcome::Missing.name(), json!({"why": why})))?;
    } else {
        let text = format!(
            "There is no verdict: {}. To try again: `provost review run`.",
            why.trim_end_matches('.')
        );
        writeln!(out, "{}", paint(YELLOW, "nothing"))?;
        writeln!(out, "{}", wrap_line(&text, 2))?;
    }
    Ok(Exit::NoVerdict)
}

/// A diff and its verdict as JSON, with more fields.
fn describe(diff: &ChangeDiff, verdict: &str, more: Value) -> Value {
    let files: Vec<&str> = diff.files.iter().map(|file| file.path.as_str()).collect();
    let left_out: Vec<Value> =
        diff.left_out.iter().map(|file| json!({"path": file.path, "why": file.why})).collect();
    let mut value =
        json!({"verdict": verdict, "files": files, "lines": diff.count_lines(), "left_out": left_out});
    if let (Value::Object(fields), Value::Object(more)) = (&mut value, more) {
        fields.extend(more);
    }
    value
}

fn describe_verdict(done: &FinishedChangeReview, review: &ChangeReview<'_>, overview: &Overview) -> Value {
    let finished = &done.finished;
    let more = json!({
        "model": review.model,
        "seconds": finished.took.as_secs(),
        "tokens": finished.usage.tokens,
        "cost": finished.usage.cost,
        "file": done.file,
        "findings": read_findings(&done.file, &overview.workspace),
    });
    describe(review.diff, done.outcome().name(), more)
}

fn print_verdict(
    out: &mut impl Write,
    done: &FinishedChangeReview,
    review: &ChangeReview<'_>,
    overview: &Overview,
) -> std::io::Result<()> {
    let is_clean = done.outcome() == ReviewOutcome::Clean;
    let (style, word) = if is_clean { (GREEN, "clean") } else { (RED, "issues") };
    let about = overview.short_path(&done.file);
    writeln!(out, "{}  {}", paint(style, word), paint(DIM, &make_one_line(&about)))?;
    let cost = describe_cost(1, done.finished.took.as_secs(), done.finished.usage);
    writeln!(
        out,
        "{}",
        wrap_line(&format!("{}, by {} ({cost})", describe_size(review.diff), review.model), 2)
    )?;
    if !is_clean {
        writeln!(out, "\n{}", read_findings(&done.file, &overview.workspace))?;
    }
    Ok(())
}
