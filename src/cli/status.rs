//! `provost status`: the state of all packs in this project, on one screen.

use std::io::{self, Write};

use serde_json::{Value, json};

use super::overview::activation::HookState;
use super::overview::instances::RootReport;
use super::overview::journal_tail::{JournalTail, PastDenial};
use super::overview::review::{ReviewProgress, find_stage};
use super::overview::workflow::WorkflowStatus;
use super::overview::{Overview, OverviewPart, RuleCounts};
use super::screen::{BOLD, DIM, GREEN, RED, YELLOW, paint, print_json, print_json_line, print_labelled};
use super::watch::{self, WatchedView};
use super::{CommandResult, Exit, current_directory, gate};
use crate::phases::phase_names;
use crate::places::resolve_path;
use crate::plan_gate::gate::strip_tag;
use crate::plan_gate::plan_status::PlanStatus;
use crate::registry::GUARDS;
use crate::review_loop::phase::PlanStage;
use crate::review_loop::transition::CLEAN_NEEDED;
use crate::text::{make_one_line, truncate_utf16};

/// The most denials on the screen.
const MOST_DENIALS: usize = 5;
/// The length of a name or a reason on a line.
const LONGEST: usize = 200;

/// Show the state of the project: packs, plan, reviews, phase, last denials, next step
///
/// Each line is the summary of another command: `provost gate status`, `provost review status`, `provost phases
/// status`, `provost explain`. The denials are the last ones in the journal.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  provost status
  provost status --watch
  provost status --json | jq -r .next

Exit codes: 0 shown; 1 shown, but a part of it cannot be read, and says so; 74 there is no current
directory.")]
pub(crate) struct Status {
    /// Print JSON; with --watch, one line for each change
    #[arg(long)]
    json: bool,
    /// Show it again after every change, until Ctrl-C
    #[arg(long)]
    watch: bool,
}

impl Status {
    pub(crate) fn run(self) -> CommandResult {
        let cwd = resolve_path(&current_directory()?);
        let open = || Overview::open(&cwd, &cwd);
        if self.watch {
            return watch::show_changes(!self.json, || {
                let overview = open();
                Ok(WatchedView { facts: as_json(&overview), text: self.render(&overview)? })
            });
        }
        let overview = open();
        anstream::stdout().lock().write_all(self.render(&overview)?.as_bytes())?;
        Ok(if overview.is_readable() { Exit::Done } else { Exit::Problem })
    }

    fn render(&self, overview: &Overview) -> io::Result<String> {
        let mut out = Vec::new();
        match (self.json, self.watch) {
            (true, true) => print_json_line(&mut out, &as_json(overview))?,
            (true, false) => print_json(&mut out, &as_json(overview))?,
            (false, _) => show(&mut out, overview)?,
        }
        Ok(String::from_utf8_lossy(&out).into_owned())
    }
}

fn as_json(overview: &Overview) -> Value {
    let packs = overview.packs().iter();
    json!({
        "project": overview.workspace.project.to_string_lossy(),
        "registered": overview.hook_state() == HookState::Active,
        "packs": packs.map(|pack| json!({"name": pack.name, "on": pack.is_on, "why": pack.why})).collect::<Vec<_>>(),
        "plan_gate": part_as_json(overview.plan(), gate::parts::as_json),
        "review": part_as_json(overview.review(), ReviewProgress::as_json),
        "workflows": overview.instances().iter().map(RootReport::as_json).collect::<Vec<_>>(),
        "phases": part_as_json(overview.workflow(), WorkflowStatus::as_json),
        "denials": part_as_json(overview.journal(), |journal| {
            journal.denials.iter().take(MOST_DENIALS).map(PastDenial::as_json).collect()
        }),
        "would": part_as_json(overview.journal(), watched_as_json),
        "guards": {"on": overview.guards_on().len(), "all": GUARDS.len(), "off": overview.guards_off(),
            "watched": overview.guards_watched()},
        "rules": rules_as_json(&overview.count_rules()),
        "mistakes": overview.config_mistakes(),
        "next": overview.next_step(),
    })
}

fn rules_as_json(counts: &RuleCounts) -> Value {
    let RuleCounts { all, built_in, watched, off, untrusted } = counts;
    json!({"all": all, "built_in": built_in, "watched": watched, "off": off, "untrusted": untrusted})
}

fn part_as_json<T>(part: &OverviewPart<T>, as_json: impl Fn(&T) -> Value) -> Value {
    match part {
        Ok(part) => part.as_ref().map_or(Value::Null, as_json),
        Err(why) => json!({"fault": why}),
    }
}

fn show(out: &mut Vec<u8>, overview: &Overview) -> io::Result<()> {
    print_labelled(
        out,
        "project",
        &paint(BOLD, &make_one_line(&overview.workspace.project.to_string_lossy())),
    )?;
    let problem = match overview.hook_state() {
        HookState::Active => "",
        HookState::OnlyInJournal => {
            "no settings file or installed plugin calls Provost now; the journal is from other sessions"
        }
        HookState::Missing => "nothing here calls Provost, so nothing is guarded yet",
        HookState::SwitchedOff => "a settings file switches all hooks off, so nothing is guarded",
        HookState::Rejected => "the client rejects a settings file or plugin, so nothing is guarded",
    };
    if !problem.is_empty() {
        print_labelled(out, "hooks", &paint(YELLOW, problem))?;
    }
    show_packs(out, overview)?;
    show_part(out, "plan", overview.plan(), show_plan)?;
    show_part(out, "review", overview.review(), show_review)?;
    show_part(out, "workflow", overview.workflow(), show_workflow)?;
    for report in overview.instances() {
        show_instances(out, report)?;
    }
    show_guards(out, overview)?;
    show_rules(out, overview)?;
    let mistakes = match overview.config_mistakes().as_slice() {
        [] => String::new(),
        [mistake] => format!("1 mistake: {mistake}"),
        mistakes => format!("{} mistakes; `provost config check` shows them", mistakes.len()),
    };
    if !mistakes.is_empty() {
        print_labelled(out, "config", &paint(YELLOW, &mistakes))?;
    }
    print_labelled(out, "next", &paint(BOLD, &overview.next_step()))?;
    if let Ok(Some(journal)) = overview.journal() {
        show_watched(out, journal)?;
    }
    // Last, so that on a low terminal nothing else falls off the screen.
    show_denials(out, overview)
}

fn show_guards(out: &mut Vec<u8>, overview: &Overview) -> io::Result<()> {
    let count = overview.count_guards();
    let mut parts = vec![count];
    for (label, guards) in
        [("switched off", overview.guards_off()), ("only watched", overview.guards_watched())]
    {
        match guards.len() {
            0 => {}
            all if all == GUARDS.len() => parts.push(format!("{label}: all")),
            _ => parts.push(format!("{label}: {}", guards.join(", "))),
        }
    }
    let text = parts.join("; ");
    print_labelled(out, "guards", &if parts.len() > 1 { paint(YELLOW, &text) } else { text })
}

/// How many rules hold here, if there are any.
fn show_rules(out: &mut Vec<u8>, overview: &Overview) -> io::Result<()> {
    let counts = overview.count_rules();
    if counts.all == 0 {
        return Ok(());
    }
    let rules = match (counts.all, counts.built_in) {
        (1, 0) => "1 rule".to_owned(),
        (all, 0) => format!("{all} rules"),
        (all, built_in) if all == built_in => format!("{all} built-in rules"),
        (all, built_in) => format!("{all} rules, {built_in} of them built in"),
    };
    let mut parts = vec![rules];
    for (count, label) in [
        (counts.off, "switched off"),
        (counts.watched, "only watched"),
        (counts.untrusted, "with a command that you have not trusted"),
    ] {
        if count > 0 {
            parts.push(format!("{count} {label}"));
        }
    }
    let text = parts.join("; ");
    print_labelled(out, "rules", &if parts.len() > 1 { paint(YELLOW, &text) } else { text })
}

/// What watched guards and rules would have stopped lately.
fn show_watched(out: &mut Vec<u8>, journal: &JournalTail) -> io::Result<()> {
    let verbs = [("would deny", "would have been denied"), ("would ask", "would have needed your consent")];
    let mut has_any = false;
    for (opinion, verb) in verbs {
        let (calls, by_guard) = journal.count_watched(opinion);
        if calls == 0 {
            continue;
        }
        let names = by_guard.iter().take(MOST_DENIALS).map(|(name, count)| match count {
            1 => paint(BOLD, name),
            count => format!("{} ({count})", paint(BOLD, name)),
        });
        let mut names = names.collect::<Vec<_>>().join(", ");
        if by_guard.len() > MOST_DENIALS {
            names += &format!(" and {} more", by_guard.len() - MOST_DENIALS);
        }
        let calls = if calls == 1 { "1 call".to_owned() } else { format!("{calls} calls") };
        print_labelled(
            out,
            if has_any { "" } else { "watched" },
            &format!("{calls} lately {verb}, by {names}"),
        )?;
        has_any = true;
    }
    if has_any {
        print_labelled(out, "", &paint(DIM, "`provost journal -n 999 --would` lists them"))?;
    }
    Ok(())
}

fn watched_as_json(journal: &JournalTail) -> Value {
    let by = |opinion| {
        let (calls, by_guard) = journal.count_watched(opinion);
        let by = by_guard.iter().map(|(name, count)| json!({"guard": name, "calls": count}));
        json!({"calls": calls, "by": by.collect::<Vec<_>>()})
    };
    json!({"deny": by("would deny"), "ask": by("would ask"), "warn": by("would warn")})
}

fn show_part<T>(
    out: &mut Vec<u8>,
    label: &str,
    part: &OverviewPart<T>,
    show: impl Fn(&mut Vec<u8>, &T) -> io::Result<()>,
) -> io::Result<()> {
    match part {
        Ok(part) => part.as_ref().map_or(Ok(()), |part| show(out, part)),
        // The reason may name a file twice: what is wrong with it, and how to fix it.
        Err(why) => {
            print_labelled(out, label, &paint(RED, &make_one_line(&truncate_utf16(why, 3 * LONGEST))))
        }
    }
}

fn show_packs(out: &mut Vec<u8>, overview: &Overview) -> io::Result<()> {
    let on = overview.packs().iter().filter(|pack| pack.is_on);
    let on: Vec<String> = on.map(|pack| paint(GREEN, pack.name)).collect();
    let text = match on.as_slice() {
        [] => "none is on".into(),
        [pack] => format!("{pack} is on"),
        packs => format!("{} are on", packs.join(", ")),
    };
    print_labelled(out, "packs", &text)?;
    for pack in overview.packs().iter().filter(|pack| !pack.is_on) {
        print_labelled(out, "", &paint(DIM, &format!("{} off: {}", pack.name, pack.why)))?;
    }
    Ok(())
}

fn show_plan(out: &mut Vec<u8>, plan: &PlanStatus) -> io::Result<()> {
    let name = paint(BOLD, &shorten(&plan.plan.file_name().unwrap_or_default().to_string_lossy()));
    let word = plan.summary();
    let text = match &plan.blocked {
        None => format!("{}, plan mode can be left with it", paint(GREEN, word)),
        Some(denial) => {
            format!("{}; the gate is closed: {}", paint(RED, word), shorten(strip_tag(denial)))
        }
    };
    print_labelled(out, "plan", &format!("{name}: {text}"))
}

fn show_review(out: &mut Vec<u8>, review: &ReviewProgress) -> io::Result<()> {
    let text = match &review.cycle {
        Err(unknown) => paint(RED, &shorten(&unknown.why)),
        Ok(cycle) => {
            let state = &cycle.state;
            let mut text = find_stage(state).map_or("unknown stage", PlanStage::label).to_owned();
            if state.is_in_loop() {
                text += &format!(
                    "; {}; {} of {CLEAN_NEEDED} clean in a row",
                    cycle.describe_round(),
                    state.clean
                );
            }
            if let Some(tasks) = &review.tasks {
                text += &format!("; {} of {} tasks left", tasks.open, tasks.all);
            }
            text
        }
    };
    print_labelled(out, "review", &format!("{}: {text}", paint(BOLD, &shorten(&review.id))))?;
    if let Some(running) = &review.running {
        print_labelled(out, "running", &paint(YELLOW, &running.describe()))?;
    }
    if let Some(violation) = review.violations.first() {
        let more = match review.violations.len() {
            1 => String::new(),
            count => format!(" (and {} more)", count - 1),
        };
        print_labelled(out, "rules", &paint(RED, &format!("{}{more}", shorten(violation))))?;
    }
    review.cycle.as_ref().map_or(Ok(()), |cycle| print_labelled(out, "next stop", &cycle.at_next_stop))
}

fn show_workflow(out: &mut Vec<u8>, status: &WorkflowStatus) -> io::Result<()> {
    let Some(active) = &status.active else {
        let Some(denial) = &status.left_over else {
            return print_labelled(out, "workflow", "none is active");
        };
        let text = format!("none is active, but the state still names a phase: {}", denial.what);
        return print_labelled(out, "workflow", &paint(YELLOW, &shorten(&text)));
    };
    let kind = active.workflow.kind.as_deref().map_or_else(|| "without a type".into(), shorten);
    let position = active.position().map(|at| format!(" ({} of {})", at + 1, active.phases.len()));
    let phase = match &active.current {
        None => "in no phase".into(),
        Some(current) => format!("{}{}", shorten(current), position.unwrap_or_default()),
    };
    let member = status.member.as_deref().map_or(String::new(), |name| format!(" of {}", shorten(name)));
    print_labelled(out, "workflow", &format!("{}{member}, {phase}", paint(BOLD, &kind)))?;
    let Some(current) = &active.current else { return Ok(()) };
    let missing = match active.missing().as_slice() {
        [] => paint(GREEN, "nothing known is missing"),
        missing => paint(RED, &format!("{} missing", missing.join(", "))),
    };
    print_labelled(out, "gate", &format!("{}: {missing}", phase_names::gate_name(current)))
}

/// A spec-driven workflow, on one line.
fn show_instances(out: &mut Vec<u8>, report: &RootReport) -> io::Result<()> {
    let label = shorten(&report.workflow);
    if let Some(fault) = &report.fault {
        return print_labelled(out, &label, &paint(RED, &shorten(fault)));
    }
    let Some(instance) = report.find_governing() else {
        return print_labelled(out, &label, &format!("no {} is open, so work is free", report.noun));
    };
    let style = if instance.approval.allows_work() { GREEN } else { RED };
    let more = match report.count_open() {
        1 => String::new(),
        count => format!("; {} more open", count - 1),
    };
    let text = format!(
        "{}: {}, {}{more}",
        paint(BOLD, &shorten(&instance.name)),
        paint(style, &shorten(&instance.approval.describe())),
        instance.describe_tasks()
    );
    print_labelled(out, &label, &text)
}

fn show_denials(out: &mut Vec<u8>, overview: &Overview) -> io::Result<()> {
    let denials = match overview.journal() {
        Ok(None) => {
            return print_labelled(out, "denied", "there is no home directory, so there is no journal");
        }
        Ok(Some(journal)) if journal.denials.is_empty() => {
            return print_labelled(out, "denied", "nothing lately");
        }
        Ok(Some(journal)) => &journal.denials,
        unreadable @ Err(_) => return show_part(out, "denied", unreadable, |_, _| Ok(())),
    };
    for (at, denial) in denials.iter().take(MOST_DENIALS).enumerate() {
        let time = denial.time.get(..19).unwrap_or_default().replace('T', " ");
        let or = |text: &str, other: &str| if text.is_empty() { other.to_owned() } else { text.to_owned() };
        let guard = paint(BOLD, &or(&denial.guard, "an unknown guard"));
        let colon = if denial.why.is_empty() { "" } else { ": " };
        let reason = shorten(&format!("{}{colon}{}", denial.what, denial.why));
        let text = format!("{} {guard}: {}", paint(DIM, &time), or(&reason, "no reason is recorded"));
        print_labelled(out, if at == 0 { "denied" } else { "" }, &text)?;
    }
    // With its id, because the last denial of the journal may be a stop with a review, which is not listed here.
    let explain = format!("provost explain {}", denials.first().map_or("", |denial| denial.id.as_str()));
    let text = format!("`{}` shows why, and how to continue", explain.trim_end());
    print_labelled(out, "", &paint(DIM, &text))
}

fn shorten(text: &str) -> String {
    make_one_line(&truncate_utf16(text, LONGEST))
}
