//! What critics and validators answered, as this program itself saw it.
//!
//! An answer counts for the texts that its agent was given, and for no others: what it was given
//! stands in its own transcript, and must be word for word what it had to judge. A critic's answer
//! becomes evidence; a validator's becomes the verdict of the plan, and a pass is sealed.

use std::time::Duration;

use super::brief::Role;
use super::digest::Digest;
use super::dossier::{Dossier, Gaps, Settled};
use super::entries::{self, Coverage, Entry};
use super::evidence::{self, Evidence};
use super::gate::TAG;
use super::place::Session;
use super::seal::Key;
use super::store::{self, Judged, RERUN, Store};
use super::verdict::{Status, Verdict};
use super::{gate, prompts};
use crate::decision::{Fault, Opinion};
use crate::event::{Event, Kind};
use crate::workspace::Workspace;

/// The longest transcript of a critic or validator that is read.
const LARGEST_TRANSCRIPT: u64 = 32 << 20;

/// How long the client may take to write down an answer that it has told already. It is a fraction of
/// a second, and less than what all guards of an event have.
const PATIENCE: Duration = Duration::from_secs(3);

/// An answer, and what it answers.
struct Testimony {
    role: Role,
    given: String,
    answer: String,
}

pub fn judge(event: &Event, workspace: &Workspace) -> Result<Opinion, Fault> {
    let Some(session) = event.session.as_deref().and_then(Session::new) else {
        return Ok(Opinion::silence());
    };
    let outcome = match testimony(event, workspace)? {
        Heard::Nothing => return Ok(Opinion::silence()),
        Heard::Unusable(why) => Err(why),
        Heard::Testimony(testimony) => match weigh(&testimony, &session, workspace) {
            // Whoever asked would wait for a verdict that nobody could write down.
            Err(fault) if matches!(event.kind, Kind::AfterTool(_)) => {
                Err(format!("it cannot be recorded ({fault})"))
            }
            weighed => weighed?,
        },
    };
    let text = match &outcome {
        Ok(what) => what.clone(),
        Err(why) => gate::block("The answer does not count", why, RERUN).to_string(),
    };
    // Words at the stop of an agent would reach that agent, or the person; the one who asked reads
    // what comes with the answer.
    let to_model = matches!(event.kind, Kind::AfterTool(_)).then(|| text.clone());
    Ok(Opinion { to_model, evidence: vec![text], ..Opinion::default() })
}

enum Heard {
    Nothing,
    Testimony(Testimony),
    Unusable(String),
}

fn testimony(event: &Event, workspace: &Workspace) -> Result<Heard, Fault> {
    let role = |agent: Option<&str>| agent.and_then(|agent| Role::of(agent, &workspace.config));
    match &event.kind {
        Kind::AfterTool(call) => {
            let Some(report) = &call.outcome.report else { return Ok(Heard::Nothing) };
            let Some(role) = role(report.agent.as_deref()) else { return Ok(Heard::Nothing) };
            Ok(match (&report.prompt, &report.answer) {
                (Some(given), Some(answer)) => {
                    Heard::Testimony(Testimony { role, given: given.clone(), answer: answer.clone() })
                }
                _ => Heard::Unusable("what the agent was given or answered cannot be read".into()),
            })
        }
        Kind::SubagentStop(stopping) => {
            let agent = event.agent.as_ref().and_then(|agent| agent.kind.as_deref());
            let (Some(role), Some(answer)) = (role(agent), &stopping.last_message) else {
                return Ok(Heard::Nothing);
            };
            let id = event.agent.as_ref().and_then(|agent| agent.id.as_deref());
            if !is_first_answer(id, answer, event, workspace)? {
                return Ok(Heard::Unusable("the agent has given another answer before".into()));
            }
            // Until the answer stands there, somebody may have spoken to the agent before it.
            let briefing = |text: &str| (workspace.client.briefing)(text).filter(|it| it.reaches(answer));
            let given = match &stopping.transcript {
                Some(transcript) => {
                    workspace.await_text(transcript, LARGEST_TRANSCRIPT, PATIENCE, briefing)?
                }
                None => None,
            };
            Ok(match given {
                None => Heard::Unusable(
                    "the agent's own transcript does not show what it was given and what it answered".into(),
                ),
                Some(given) if given.spoken_to_again => {
                    Heard::Unusable("the agent was spoken to again after it had been started".into())
                }
                Some(given) => {
                    Heard::Testimony(Testimony { role, given: given.prompt, answer: answer.clone() })
                }
            })
        }
        _ => Ok(Heard::Nothing),
    }
}

/// Whether an agent has not stopped with another answer before. One that did was spoken to again, even if
/// its transcript does not show it: that is a file, and a script that nobody sees through can write to it.
/// An answer may be told more than once, where more than one entry calls.
fn is_first_answer(
    agent: Option<&str>,
    answer: &str,
    event: &Event,
    workspace: &Workspace,
) -> Result<bool, Fault> {
    let Some(agent) = agent else { return Ok(true) };
    let whose = format!("{}\n{agent}", event.session.as_deref().unwrap_or_default());
    let place = workspace.own_file("heard", &Digest::of(&[whose.as_bytes()]).short())?;
    let digest = Digest::of(&[answer.as_bytes()]);
    match workspace.read_text(&place, 1 << 10)? {
        Some(known) => Ok(digest.is(&known)),
        None => workspace.replace_own(&place, digest.to_string().as_bytes()).map(|()| true),
    }
}

/// What an answer means for the session's plan, or why it means nothing.
fn weigh(
    testimony: &Testimony,
    session: &Session,
    workspace: &Workspace,
) -> Result<Result<String, String>, Fault> {
    let store = store::of(workspace);
    let Some(plan) = store.plan_of(session, workspace) else {
        return Ok(Err("no plan of this session is known".into()));
    };
    let Some(text) = store::read(&plan, workspace)? else { return Ok(Err("the plan is gone".into())) };
    let dossier = store.dossier(&plan, &text, workspace)?;
    let key = Key::obtain(workspace)?;
    match testimony.role {
        Role::Critic => heard_critic(testimony, &dossier, &key, workspace),
        Role::Validator => {
            let verdict = match heard_validator(testimony, &dossier, &key, workspace)? {
                Ok(verdict) => verdict,
                Err(why) => return Ok(Err(why)),
            };
            let recorded = record(verdict, &dossier, session, &key, store, &plan, workspace)?;
            Ok(recorded.ok_or_else(|| "the plan has changed meanwhile".into()))
        }
    }
}

fn heard_critic(
    testimony: &Testimony,
    dossier: &Dossier<'_>,
    key: &Key,
    workspace: &Workspace,
) -> Result<Result<String, String>, Fault> {
    let expected = prompts::for_critic(&dossier.document.content().to_text());
    if !prompts::same_words(&testimony.given, &expected) {
        return Ok(Err("the critic was not given this plan's text, exactly and alone".into()));
    }
    let Some(critique) = evidence::critique(&testimony.answer) else {
        return Ok(Err("the critic named no finding and did not declare `### NO ISSUES FOUND`".into()));
    };
    Evidence::keep(&testimony.answer, dossier.plan_hash, key, workspace)?;
    let (all, serious) = (critique.findings().len(), critique.serious().count());
    let noun = if all == 1 { "finding" } else { "findings" };
    Ok(Ok(format!("{TAG}The critic was heard on this plan: {all} {noun}, {serious} of them to be covered.")))
}

fn heard_validator(
    testimony: &Testimony,
    dossier: &Dossier<'_>,
    key: &Key,
    workspace: &Workspace,
) -> Result<Result<Coverage, String>, Fault> {
    let Some(evidence) = Evidence::find(dossier.plan_hash, key, workspace)? else {
        return Ok(Err("no critic has been seen to read this plan as it is now".into()));
    };
    let expected = prompts::for_validator(dossier.gaps.text(), &evidence.answer);
    if !prompts::same_words(&testimony.given, &expected) {
        return Ok(Err(
            "the validator was not given these gaps and the critic's findings, exactly and alone".into(),
        ));
    }
    match entries::coverage(&testimony.answer) {
        None => Ok(Err("the validator gave no `### VERDICT: PASS` or `### VERDICT: FAIL`".into())),
        Some(coverage) => Ok(Ok(checked(coverage, &dossier.gaps, &evidence))),
    }
}

/// What no validator can overlook: serious findings and not a single gap. And what it could: gaps that play
/// the critic's list, so that nobody can tell where the real one begins.
pub fn checked(coverage: Coverage, gaps: &Gaps, evidence: &Evidence) -> Coverage {
    if coverage.status == Status::Pass
        && let Some(line) = entries::pretence(gaps.text())
    {
        let reason = format!("The gaps hold the line `{line}`, which only a critic or a validator writes");
        return Coverage { status: Status::Fail, reason };
    }
    let serious: Vec<&Entry> = evidence.critique.serious().collect();
    if coverage.status == Status::Pass && !serious.is_empty() && gaps.entries().is_empty() {
        let list: Vec<String> = serious.iter().map(ToString::to_string).collect();
        let reason = format!("No gap is written down, so nothing covers {}", list.join(", "));
        return Coverage { status: Status::Fail, reason };
    }
    coverage
}

/// Records a verdict, and says so; `None`: the plan is no longer the one that was judged.
pub fn record(
    coverage: Coverage,
    dossier: &Dossier<'_>,
    session: &Session,
    key: &Key,
    store: &dyn Store,
    plan: &std::path::Path,
    workspace: &Workspace,
) -> Result<Option<String>, Fault> {
    let passed = coverage.status == Status::Pass;
    let reason = match (passed, coverage.reason.as_str()) {
        (true, "") => "All findings covered",
        (false, "") => "The validator named no reason",
        (_, reason) => reason,
    };
    let validation = Verdict::new(coverage.status, reason, workspace.now());
    let seal = passed.then(|| key.seal(dossier.plan_hash, dossier.gaps_hash));
    let judged = Judged {
        session,
        plan: dossier.plan_hash,
        gaps: dossier.gaps_hash,
        settled: Settled { validation, seal },
    };
    let recorded = store.record(plan, &judged, workspace)?;
    let told = if passed {
        format!("{TAG}Ready to exit plan mode: the verdict is recorded for exactly this text.")
    } else {
        gate::failed(reason, store).to_string()
    };
    Ok(recorded.then_some(told))
}
