//! `provost review continue`: how the work on a plan goes on.

use std::io::{self, Write};

use super::overview::paths;
use super::{Chosen, Here, refuse, say};
use crate::cli::screen::{BOLD, labelled, painted};
use crate::cli::{Exit, Outcome};
use crate::review_loop::phase::{CONTINUE_TASK, NEW_PLAN};
use crate::review_loop::prompts;
use crate::review_loop::rounds::Loop;
use crate::review_loop::route::{self, Action, Route};
use crate::review_loop::state::{State, StateFile};
use crate::text::one_line;

/// What stands in a command's text for the words that a person gave it.
const WORDS: &str = "$ARGUMENTS";
const NO_WORDS: &str = "(nothing more: this action comes from continue-plan)";
const WORDS_OF_A_PLAN: &str = "(what stands in the plan.md that is there; only without one, ask)";

/// Tell how the work on a plan goes on: the route for its state, and with --with-action what to do there
///
/// The route is a command of the plugin, or `stop` (the review that is due is made when the agent stops),
/// `complete`, `tell` (all is done) or `ask` (only the person knows). `/taskie:continue-plan` takes it.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  provost review continue
  provost review continue --plan login-limit --with-action

Exit codes: 0 the route is told; 1 there is no such plan.")]
pub(crate) struct Continue {
    /// The plan; without, the one whose files were changed last
    #[arg(long)]
    pub(super) plan: Option<String>,
    /// Print the text of the action, too
    #[arg(long)]
    with_action: bool,
}

impl Continue {
    pub(crate) fn run(self, here: &Here) -> Outcome {
        let mut out = anstream::stdout().lock();
        let Some(chosen) = here.choose(self.plan.as_deref()) else {
            return refuse(&mut out, &here.no_plan(self.plan.as_deref()));
        };
        let looked = Loop { plan: &chosen.plan, workspace: &here.workspace };
        let bytes = match looked.read_state() {
            Ok(Some(bytes)) => bytes,
            Ok(None) => {
                headline(&mut out, "git history")?;
                say(
                    &mut out,
                    "There is no state.json, as in a plan that is older than it. The last resort is the history of git \
                     and the plan's files: tell the person where the work seems to stand, and go on from there.",
                )?;
                about(&mut out, &chosen, here)?;
                return Ok(Exit::Done);
            }
            Err(fault) => return unreadable(&mut out, &chosen, here, &fault.to_string()),
        };
        let state = match StateFile::read(&bytes) {
            Ok(file) => file.state(),
            Err(malformed) => return unreadable(&mut out, &chosen, here, &malformed.0),
        };
        let route = route::route(&state, route::done(&looked, &state)?);
        let answered = looked.found(&state)?.post_review;
        show(&mut out, &route, &state, &chosen, here)?;
        if answered {
            labelled(
                &mut out,
                "note",
                "the file to write is there already: if it is complete, set the state and end the turn",
            )?;
        }
        if self.with_action {
            action(&mut out, &route, &state, &chosen)?;
        }
        Ok(Exit::Done)
    }
}

fn unreadable(out: &mut impl Write, chosen: &Chosen, here: &Here, why: &str) -> Outcome {
    headline(out, "ask")?;
    say(
        out,
        &format!(
            "state.json is there and cannot be read ({why}). Tell the person, who mends it; nothing is changed before."
        ),
    )?;
    about(out, chosen, here)?;
    Ok(Exit::Done)
}

fn show(out: &mut impl Write, route: &Route, state: &State, chosen: &Chosen, here: &Here) -> io::Result<()> {
    headline(out, &route.action.to_string())?;
    let mut why = route.why.clone();
    if let Some(first) = why.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    let does = match route.action {
        Action::Command(NEW_PLAN) => " The plan that is there is finished, and what stands in it is kept.".into(),
        Action::Command(_) => String::new(),
        Action::Stop => " Say so in a sentence and end the turn: the review begins when the agent stops.".into(),
        Action::Complete => format!(
            " `provost review set{} phase=complete next_phase=null` says so; tell the person that all tasks are done.",
            chosen.name()
        ),
        Action::Tell => " Tell the person that all tasks are done; nothing is changed.".into(),
        Action::Ask => {
            " Show the person phase, next_phase and current_task, and ask what to do; nothing is changed before.".into()
        }
    };
    say(out, &format!("{why}.{does}"))?;
    about(out, chosen, here)?;
    let word = |value: &Option<String>| value.as_deref().map_or("null".into(), one_line);
    let standing = format!(
        "phase {}, next_phase {}, current_task {}",
        word(&state.phase),
        word(&state.next_phase),
        word(&state.current_task)
    );
    labelled(out, "state", &standing)?;
    if let Some((read, write)) = paths(state) {
        labelled(out, "read", &chosen.shown(&read, &here.cwd))?;
        labelled(out, "write", &chosen.shown(&write, &here.cwd))?;
    }
    Ok(())
}

fn headline(out: &mut impl Write, route: &str) -> io::Result<()> {
    writeln!(out, "{}", painted(BOLD, &format!("Route: {route}")))
}

/// Which plan it is, and which ones it is not.
fn about(out: &mut impl Write, chosen: &Chosen, here: &Here) -> io::Result<()> {
    labelled(out, "plan", &chosen.shown("plan.md", &here.cwd))?;
    if chosen.is_newest && !chosen.others.is_empty() {
        let others = super::listed(&chosen.others);
        labelled(out, "others", &format!("{others}; `--plan` names one of them"))?;
    }
    Ok(())
}

/// The text of the action, as it is for everybody who comes to it by a route.
fn action(out: &mut impl Write, route: &Route, state: &State, chosen: &Chosen) -> io::Result<()> {
    let Action::Command(name) = route.action else { return Ok(()) };
    let task = match (name, state.current_task.as_deref()) {
        (CONTINUE_TASK | "post-code-review", Some(task)) => {
            format!(" and on task `{}`", one_line(task))
        }
        _ => String::new(),
    };
    writeln!(out)?;
    say(
        out,
        &format!(
            "This is the action {name}, its section `## State` included. It works on the plan `{}`{task}; where it \
             asks for words of the person, those that came with continue-plan count.",
            one_line(&chosen.plan.id)
        ),
    )?;
    let words = if name == NEW_PLAN { WORDS_OF_A_PLAN } else { NO_WORDS };
    let text = prompts::action(name).replace(WORDS, words);
    writeln!(out, "\n<action>\n{}\n</action>", crate::text::printable(&text))
}
