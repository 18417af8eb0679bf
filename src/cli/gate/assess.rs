//! `provost gate assess`: asks a critic and a validator about a plan, and records the verdict.

use std::io::Write;
use std::path::PathBuf;
use std::time::Instant;

use super::{PlanChoice, refuse_without_plan, show_result};
use crate::cli::current_client;
use crate::cli::record_work::record_work;
use crate::cli::screen::{DIM, GREEN, RED, paint, text_width, wrap};
use crate::cli::{CommandResult, Exit};
use crate::opinion::Fault;
use crate::plan_gate::assessment::Assessment;
use crate::plan_gate::plan_files::Session;
use crate::plan_gate::store;
use crate::text::make_one_line;
use crate::workspace::Workspace;

/// Assess a plan: goals, gaps, leakage, critic, validator, verdict
///
/// Critic and validator are reviewers (`reviewer.command`; by default the client itself, without hooks and tools).
/// If an answer cannot be used, Provost asks once more; after that it records no verdict, and the plan stays
/// unassessed. Progress goes to standard error, the result to standard output.
///
/// It runs in your terminal only. Inside an agent's tool it is refused, because there the agent could choose the
/// reviewer through its environment.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  provost gate assess
  provost gate assess plans/login.md
  provost gate assess plan.md --session db05b49a-780f-4b0b-bd53-5359177b8aba

Exit codes: 0 passed; 1 failed, or no verdict.")]
pub(crate) struct Assess {
    /// The plan's file [default: the plan that was changed last]
    plan: Option<PathBuf>,
    /// The session that may leave plan mode with it [default: the session that the plan belongs to]
    #[arg(long, value_name = "ID")]
    session: Option<String>,
}

impl Assess {
    pub(crate) fn run(self, workspace: &Workspace) -> CommandResult {
        let mut out = anstream::stdout().lock();
        if (current_client().is_agent_process)() {
            let text = "[provost] `gate assess` does not run inside an agent's tool: there the agent could choose the \
                        reviewer (PATH, the model's address). To fix: ask the user to run it in a terminal; with \
                        `plan_gate.assess = \"exit\"` the hook runs it when plan mode is left.";
            writeln!(out, "{}", wrap(text, 0, text_width()))?;
            return Ok(Exit::Problem);
        }
        let Some(chosen) = PlanChoice::find(self.plan.as_deref(), workspace) else {
            return refuse_without_plan(&mut out, None, workspace);
        };
        let Some(text) = store::read_plan(&chosen.path, workspace)? else {
            return refuse_without_plan(&mut out, Some(&chosen.path), workspace);
        };
        let session = match self.find_session(&chosen, &text, workspace)? {
            Ok(session) => session,
            Err(why) => {
                writeln!(out, "{}", wrap(&format!("[provost] {why}"), 0, text_width()))?;
                return Ok(Exit::Problem);
            }
        };
        drop(text);
        let began = Instant::now();
        let mut progress = anstream::stderr();
        let mut report = |step: &str| {
            let time = paint(DIM, &format!("{:6.1} s", began.elapsed().as_secs_f64()));
            // A closed standard error does not stop the assessment.
            let _ = writeln!(progress, "{time}  {}", make_one_line(step));
        };
        let newest = if chosen.is_newest { " (changed last)" } else { "" };
        report(&format!("plan: {}{newest}, session {}", chosen.path.display(), session.id()));
        let assessment = Assessment { plan: &chosen.path, session: &session, end: None, workspace };
        let outcome = assessment.run(&mut report)?;
        record_work("provost gate assess", "plan-gate", outcome.record_verdict(&chosen.path), workspace);
        let (passed, text) = match outcome.result {
            Ok(judgement) => (judgement.passed, judgement.message),
            Err(stop) => {
                let fix = stop.fix.map_or(String::new(), |fix| format!(" To fix: {fix}."));
                (false, format!("[RODIN] {}.{fix}", stop.why))
            }
        };
        let word = if passed { (GREEN, "pass") } else { (RED, "blocked") };
        // The exit code says it too, so a closed standard output is not an error.
        let _ = show_result(&mut out, word, &chosen.path, &[text]);
        Ok(if passed { Exit::Done } else { Exit::Problem })
    }

    /// The session that the assessment is for, or why it is unknown.
    fn find_session(
        &self,
        chosen: &PlanChoice,
        text: &[u8],
        workspace: &Workspace,
    ) -> Result<Result<Session, String>, Fault> {
        let id = if let Some(id) = &self.session {
            Some(id.clone())
        } else {
            let recorded =
                store::configured_store(workspace).read_record(&chosen.path, text, workspace)?.session;
            recorded.or_else(|| (current_client().find_session)())
        };
        let Some(id) = id else {
            return Ok(Err(format!(
                "the session of {} is unknown: the plan names none. To fix: write the plan in plan mode with \
                 Provost's hooks, or name the session with --session ID.",
                make_one_line(&chosen.path.to_string_lossy())
            )));
        };
        let wrong = || {
            format!(
                "`{}` is not the id of a session. To fix: name one with --session ID.",
                make_one_line(&id)
            )
        };
        Ok(Session::new(&id).ok_or_else(wrong))
    }
}
