//! `provost gate assess`: critic and validator are asked about a plan, and the verdict is recorded.

use std::io::Write;
use std::path::PathBuf;
use std::time::Instant;

use super::{Chosen, tell_none};
use crate::cli::screen::{DIM, GREEN, RED, painted, width, wrapped};
use crate::cli::{Exit, Outcome};
use crate::decision::Fault;
use crate::plan_gate::assessment::Assessment;
use crate::plan_gate::place::Session;
use crate::plan_gate::store;
use crate::text::one_line;
use crate::workspace::Workspace;

/// Have a plan assessed: goals, gaps, leakage, critic, validator, verdict
///
/// Critic and validator are reviewers (`reviewer.command`; by default the client itself, without hooks and
/// tools). Each is asked again once if its answer cannot be used; after that no verdict is recorded, and the
/// plan stays unassessed. Progress goes to standard error, the result to standard output.
///
/// A person runs it. From inside an agent's tool it is refused: what an agent starts has the agent's
/// environment, and with it perhaps the agent's reviewer.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  provost gate assess
  provost gate assess plans/login.md
  provost gate assess plan.md --session db05b49a-780f-4b0b-bd53-5359177b8aba

Exit codes: 0 passed; 1 failed, or no verdict.")]
pub(crate) struct Assess {
    /// The plan's file; without, the plan that was changed last
    plan: Option<PathBuf>,
    /// The session that may leave plan mode with it; without, the one that the plan belongs to
    #[arg(long, value_name = "ID")]
    session: Option<String>,
}

impl Assess {
    pub(crate) fn run(self, workspace: &Workspace) -> Outcome {
        let mut out = anstream::stdout().lock();
        if (workspace.client.is_inside)() {
            let text = "[provost] `gate assess` does not run inside an agent's tool: what decides which reviewer \
                        is asked (PATH, the model's address) could be the agent's there. To fix: ask the person to \
                        run it in a terminal; with `plan_gate.assess = \"exit\"` the hook does it when plan mode is \
                        left.";
            writeln!(out, "{}", wrapped(text, 0, width()))?;
            return Ok(Exit::Found);
        }
        let Some(chosen) = Chosen::find(self.plan.as_deref(), workspace) else {
            return tell_none(&mut out, None, workspace);
        };
        let Some(text) = store::read(&chosen.path, workspace)? else {
            return tell_none(&mut out, Some(&chosen.path), workspace);
        };
        let session = match self.session(&chosen, &text, workspace)? {
            Ok(session) => session,
            Err(why) => {
                writeln!(out, "{}", wrapped(&format!("[provost] {why}"), 0, width()))?;
                return Ok(Exit::Found);
            }
        };
        drop(text);
        let began = Instant::now();
        let mut progress = anstream::stderr();
        let mut tell = |step: &str| {
            let time = painted(DIM, &format!("{:6.1} s", began.elapsed().as_secs_f64()));
            // Whether anybody watches changes nothing.
            let _ = writeln!(progress, "{time}  {}", one_line(step));
        };
        let newest = if chosen.is_newest { " (changed last)" } else { "" };
        tell(&format!("plan: {}{newest}, session {}", chosen.path.display(), session.id()));
        let outcome =
            Assessment { plan: &chosen.path, session: &session, end: None, workspace }.run(&mut tell)?;
        let (passed, text) = match outcome.result {
            Ok(judgement) => (judgement.passed, judgement.told),
            Err(stop) => {
                let fix = stop.fix.map_or(String::new(), |fix| format!(" To fix: {fix}."));
                (false, format!("[RODIN] {}.{fix}", stop.why))
            }
        };
        let (style, word) = if passed { (GREEN, "pass") } else { (RED, "blocked") };
        let plan = painted(DIM, &one_line(&chosen.path.to_string_lossy()));
        // Where nobody reads, the exit code still tells.
        let _ = writeln!(out, "{}  {plan}\n{}", painted(style, word), wrapped(&one_line(&text), 2, width()));
        Ok(if passed { Exit::Done } else { Exit::Found })
    }

    /// For whom the plan is assessed, or why that is not known.
    fn session(
        &self,
        chosen: &Chosen,
        text: &[u8],
        workspace: &Workspace,
    ) -> Result<Result<Session, String>, Fault> {
        let known = match &self.session {
            Some(id) => Some(id.clone()),
            None => store::of(workspace)
                .dossier(&chosen.path, text, workspace)?
                .session
                .or_else(|| (workspace.client.session)()),
        };
        let Some(id) = known else {
            return Ok(Err(format!(
                "no session is known for {}: the plan names none. To fix: write the plan in plan mode with \
                 Provost's hooks, or name the session with --session ID.",
                one_line(&chosen.path.to_string_lossy())
            )));
        };
        let wrong =
            || format!("`{}` is not the id of a session. To fix: name one with --session ID.", one_line(&id));
        Ok(Session::new(&id).ok_or_else(wrong))
    }
}
