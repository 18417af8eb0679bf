//! The screen of `provost status`: a label and a few words for each part.

use std::io::{self, Write};

use super::asked::Called;
use super::summary::{MOST_DENIALS, Summary, guards_counted};
use crate::cli::phases::overview::{Overview as Workflow, Standing};
use crate::cli::review::overview::{Overview as Rounds, stage};
use crate::cli::screen::{BOLD, DIM, GREEN, RED, YELLOW, labelled, painted};
use crate::phases::table;
use crate::plan_gate::gate;
use crate::plan_gate::overview::Overview as Plan;
use crate::registry::GUARDS;
use crate::review_loop::phase::Stage;
use crate::review_loop::transition::ENOUGH;
use crate::text::{bounded, one_line};

/// As much of a name or a reason as a line has.
const LONGEST: usize = 200;

pub(super) fn show(out: &mut impl Write, summary: &Summary) -> io::Result<()> {
    labelled(out, "project", &painted(BOLD, &one_line(&summary.project.to_string_lossy())))?;
    let silent = match summary.called {
        Called::Yes => None,
        Called::Formerly => {
            Some("no settings file or installed plugin calls Provost now; the journal is of other sessions")
        }
        Called::No => Some("nothing here calls Provost, so nothing is guarded yet"),
        Called::Off => Some("a settings file switches all hooks off, so nothing is guarded"),
        Called::Dropped => {
            Some("the client takes nothing from a settings file or plugin, so nothing is guarded")
        }
    };
    if let Some(text) = silent {
        labelled(out, "hooks", &painted(YELLOW, text))?;
    }
    packs(out, summary)?;
    match &summary.plan {
        Err(why) => unreadable(out, "plan", why)?,
        Ok(None) => {}
        Ok(Some(overview)) => plan(out, overview)?,
    }
    match &summary.rounds {
        Err(why) => unreadable(out, "review", why)?,
        Ok(None) => {}
        Ok(Some(overview)) => rounds(out, overview)?,
    }
    match &summary.workflow {
        Err(why) => unreadable(out, "workflow", why)?,
        Ok(None) => {}
        Ok(Some(overview)) => workflow(out, overview)?,
    }
    let count = guards_counted(summary.guards_on.len());
    match summary.guards_off.as_slice() {
        [] => labelled(out, "guards", &count)?,
        off => {
            let names = if off.len() == GUARDS.len() { "all".into() } else { off.join(", ") };
            labelled(out, "guards", &painted(YELLOW, &format!("{count}; switched off: {names}")))?;
        }
    }
    match summary.mistakes.len() {
        0 => {}
        1 => labelled(out, "config", &painted(YELLOW, &format!("1 mistake: {}", summary.mistakes[0])))?,
        count => labelled(
            out,
            "config",
            &painted(YELLOW, &format!("{count} mistakes; `provost config check` shows them")),
        )?,
    }
    labelled(out, "next", &painted(BOLD, &summary.next))?;
    // Last, so that on a low terminal nothing else falls off the screen.
    denials(out, summary)
}

fn unreadable(out: &mut impl Write, label: &str, why: &str) -> io::Result<()> {
    // It may name a file twice: what is wrong with it, and how to mend it.
    labelled(out, label, &painted(RED, &one_line(&bounded(why, 3 * LONGEST))))
}

fn packs(out: &mut impl Write, summary: &Summary) -> io::Result<()> {
    let on: Vec<String> =
        summary.packs.iter().filter(|pack| pack.is_on).map(|pack| painted(GREEN, pack.name)).collect();
    let on = if on.is_empty() { "none is on".into() } else { format!("{} on", and(&on)) };
    labelled(out, "packs", &on)?;
    for pack in summary.packs.iter().filter(|pack| !pack.is_on) {
        labelled(out, "", &painted(DIM, &format!("{} off: {}", pack.name, pack.why)))?;
    }
    Ok(())
}

/// Names in a row, and the verb's number.
fn and(names: &[String]) -> String {
    let verb = if names.len() == 1 { "is" } else { "are" };
    format!("{} {verb}", names.join(", "))
}

fn plan(out: &mut impl Write, plan: &Plan) -> io::Result<()> {
    let name = shortened(&plan.plan.file_name().unwrap_or_default().to_string_lossy());
    let name = painted(BOLD, &name);
    let word = plan.shortly();
    match &plan.blocked {
        None => {
            labelled(out, "plan", &format!("{name}: {}, plan mode can be left with it", painted(GREEN, word)))
        }
        Some(denial) => {
            let what = shortened(gate::untagged(denial));
            labelled(out, "plan", &format!("{name}: {}; the gate is closed: {what}", painted(RED, word)))
        }
    }
}

fn rounds(out: &mut impl Write, rounds: &Rounds) -> io::Result<()> {
    let name = painted(BOLD, &shortened(&rounds.id));
    match &rounds.standing {
        Err(unknown) => {
            labelled(out, "review", &format!("{name}: {}", painted(RED, &shortened(&unknown.why))))?;
        }
        Ok(standing) => {
            let state = &standing.state;
            let words = stage(state).map_or("unknown stage", Stage::words);
            let mut text = format!("{name}: {words}");
            if state.is_in_loop() {
                text += &format!("; {}", standing.round_in_words());
                text += &format!("; {} of {ENOUGH} clean in a row", state.clean);
            }
            if let Some(tasks) = &rounds.tasks {
                text += &format!("; {} of {} tasks left", tasks.open, tasks.all);
            }
            labelled(out, "review", &text)?;
        }
    }
    if let Some(running) = &rounds.running {
        let ago = running.seconds().map_or(String::new(), |seconds| format!(" for {seconds} s"));
        labelled(out, "running", &painted(YELLOW, &format!("a review is being made{ago}")))?;
    }
    for violation in rounds.violations.iter().take(1) {
        let more = match rounds.violations.len() {
            1 => String::new(),
            count => format!(" (and {} more)", count - 1),
        };
        labelled(out, "rules", &painted(RED, &format!("{}{more}", shortened(violation))))?;
    }
    match &rounds.standing {
        Ok(standing) => labelled(out, "next stop", &standing.next_stop),
        Err(_) => Ok(()),
    }
}

fn workflow(out: &mut impl Write, workflow: &Workflow) -> io::Result<()> {
    let Some(standing) = &workflow.workflow else {
        return match &workflow.left_over {
            None => labelled(out, "workflow", "none is under way"),
            Some(denial) => {
                let text = format!("none is under way, but the state still names a phase: {}", denial.what);
                labelled(out, "workflow", &painted(YELLOW, &shortened(&text)))
            }
        };
    };
    let kind = standing.workflow.kind.as_deref().map_or_else(|| "of no type".into(), shortened);
    let phase = match &standing.current {
        None => "in no phase".into(),
        Some(current) => {
            let at = standing
                .at()
                .map_or(String::new(), |at| format!(" ({} of {})", at + 1, standing.phases.len()));
            format!("{}{at}", shortened(current))
        }
    };
    let member = workflow.member.as_deref().map_or(String::new(), |name| format!(" of {}", shortened(name)));
    labelled(out, "workflow", &format!("{}{member}, {phase}", painted(BOLD, &kind)))?;
    let Some(current) = &standing.current else { return Ok(()) };
    let name = table::gate(current);
    labelled(
        out,
        "gate",
        &match missing(standing).as_slice() {
            [] => format!("{name}: {}", painted(GREEN, "nothing is known to be missing")),
            missing => format!("{name}: {}", painted(RED, &format!("{} missing", missing.join(", ")))),
        },
    )
}

/// What a phase still demands, by name.
pub(crate) fn missing(standing: &Standing) -> Vec<&'static str> {
    let unmet = standing.demands.iter().filter(|demand| !demand.is_met).map(|demand| demand.what);
    let no_tasks = (standing.needs_tasks && !standing.tasks.1).then_some("tasks.md");
    unmet.chain(no_tasks).collect()
}

fn denials(out: &mut impl Write, summary: &Summary) -> io::Result<()> {
    let denials = match &summary.denials {
        Err(why) => return unreadable(out, "denied", why),
        Ok(None) => return labelled(out, "denied", "there is no home directory, so no journal is kept"),
        Ok(Some(denials)) if denials.is_empty() => return labelled(out, "denied", "nothing lately"),
        Ok(Some(denials)) => denials,
    };
    for (at, denial) in denials.iter().take(MOST_DENIALS).enumerate() {
        let time = denial.time.get(..19).unwrap_or_default().replace('T', " ");
        let or = |text: &str, other: &str| if text.is_empty() { other.to_owned() } else { text.to_owned() };
        let guard = painted(BOLD, &or(&denial.guard, "an unknown guard"));
        let colon = if denial.why.is_empty() { "" } else { ": " };
        let reason = shortened(&format!("{}{colon}{}", denial.what, denial.why));
        let text = format!("{} {guard}: {}", painted(DIM, &time), or(&reason, "no reason is kept"));
        labelled(out, if at == 0 { "denied" } else { "" }, &text)?;
    }
    // Without its id, the last denial of all is told; that may be a stop with a review, which is none of these.
    let id = denials.first().map_or("", |denial| denial.id.as_str());
    let explain = format!("provost explain {id}");
    let text = format!("`{}` tells why, and how to go on", explain.trim_end());
    labelled(out, "", &painted(DIM, &text))
}

fn shortened(text: &str) -> String {
    one_line(&bounded(text, LONGEST))
}
