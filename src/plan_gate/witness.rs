//! What critics and validators answered, as this program itself saw it.
//!
//! An answer counts for the texts that its agent was given, and for no others: what it was given
//! stands in its own transcript, and must be word for word what it had to judge. A critic's answer
//! becomes evidence; a validator's becomes the verdict of the plan, and a pass is sealed.

use std::path::PathBuf;
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
use super::{gate, judges, prompts};
use crate::clients::Briefing;
use crate::decision::{Fault, Opinion};
use crate::event::{Event, Kind, Tool};
use crate::workspace::Workspace;

/// The longest transcript of a critic or validator that is read.
const LARGEST_TRANSCRIPT: u64 = 32 << 20;

/// The longest note about an agent that is read.
const LARGEST_NOTE: u64 = 64 << 10;

/// Stands in the place of an answer's digest where the answer does not count.
const UNUSABLE: &[u8] = b"unusable";

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
    if let Kind::Prompt { finished_task, .. } = &event.kind {
        let told = finished_task.as_deref().map(|agent| told_about(agent, &session, workspace));
        return Ok(told.flatten().map_or_else(Opinion::unconcerned, |text| Opinion {
            evidence: vec![text.clone()],
            to_model: Some(text),
            ..Opinion::default()
        }));
    }
    let Some(answer) = given_answer(event, &session, workspace) else { return Ok(Opinion::silence()) };
    judges::note_answer(answer.role, answer.agent.as_deref(), &session, workspace);
    let outcome = match hear(&answer, &session, workspace)? {
        Err(why) => Err(why),
        Ok(testimony) => match weigh(&testimony, &session, workspace) {
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
    // Words at the stop of an agent would reach that agent, or the user. The one who asked reads them with
    // the answer, or with the notification that an agent in the background has ended.
    let is_reported = matches!(event.kind, Kind::AfterTool(_));
    let is_announced = matches!(&event.kind, Kind::SubagentStop(stopping) if stopping.in_background);
    if let (true, Some(agent)) = (is_announced, &answer.agent) {
        let _ = own_note("told", agent, &session, workspace)
            .and_then(|place| workspace.replace_own(&place, text.as_bytes()));
    }
    Ok(Opinion { to_model: is_reported.then(|| text.clone()), evidence: vec![text], ..Opinion::default() })
}

/// What is to be said about a judge whose end the client announces.
fn told_about(agent: &str, session: &Session, workspace: &Workspace) -> Option<String> {
    let ended = judges::note_end(agent, session, workspace);
    let place = own_note("told", agent, session, workspace).ok()?;
    let told = workspace.read_text(&place, LARGEST_NOTE).ok().flatten();
    told.or_else(|| {
        let what = format!("The {} has ended without an answer", ended?.word());
        Some(gate::block(&what, "", RERUN).to_string())
    })
}

/// An answer as an event tells it: the last part of what an agent said.
struct Answer {
    role: Role,
    agent: Option<String>,
    /// `None`: it cannot be read.
    last_part: Option<String>,
    /// The agent's own transcript.
    transcript: Option<PathBuf>,
    /// What the event says that the agent was given; `None` at its stop.
    given: Option<String>,
}

/// The answer of a judge that an event brings. One that has only been started is noted.
fn given_answer(event: &Event, session: &Session, workspace: &Workspace) -> Option<Answer> {
    match &event.kind {
        Kind::AfterTool(call) => {
            if let (Some(agent), Tool::Delegate { agent: Some(name), .. }) =
                (&call.outcome.launched, &call.tool)
            {
                let role = Role::called(name, &workspace.config)?;
                let is_heard =
                    own_note("heard", agent, session, workspace).is_ok_and(|it| workspace.exists(&it));
                if !is_heard {
                    judges::note_launch(role, agent, session, workspace);
                }
                return None;
            }
            let report = call.outcome.report.as_ref()?;
            let record = event.transcript.as_ref().zip(report.id.as_ref());
            Some(Answer {
                role: Role::of(report.agent.as_deref()?, &workspace.config)?,
                agent: report.id.clone(),
                last_part: report.answer.clone(),
                transcript: record
                    .and_then(|(session, agent)| workspace.record_of_agent(session, agent))
                    .filter(|transcript| workspace.exists(transcript)),
                given: Some(report.prompt.clone().unwrap_or_default()),
            })
        }
        Kind::SubagentStop(stopping) => {
            let agent = event.agent.as_ref()?;
            Some(Answer {
                role: Role::of(agent.kind.as_deref()?, &workspace.config)?,
                agent: agent.id.clone(),
                last_part: Some(stopping.last_message.clone()?),
                transcript: stopping.transcript.clone(),
                given: None,
            })
        }
        _ => None,
    }
}

/// The whole answer and what it answers, or why it is not heard. The client tells only the last part of an
/// answer, so the agent's own transcript counts; where there is none, the event must say what it was given.
fn hear(
    answer: &Answer,
    session: &Session,
    workspace: &Workspace,
) -> Result<Result<Testimony, String>, Fault> {
    let Some(last_part) = &answer.last_part else {
        return Ok(Err("what the agent was given or answered cannot be read".into()));
    };
    if let Some(agent) = &answer.agent {
        let known = workspace.read_text(&own_note("heard", agent, session, workspace)?, LARGEST_NOTE)?;
        let is_stop = answer.given.is_none();
        if known.as_deref().is_some_and(|known| known.as_bytes() == UNUSABLE) {
            return Ok(Err("the agent's answer was not heard whole when it stopped".into()));
        }
        if is_stop && !is_first_answer(agent, last_part, session, workspace)? {
            return Ok(Err("the agent has given another answer before".into()));
        }
    }
    // Until the answer stands there, somebody may have spoken to the agent before it.
    let briefing = |text: &str| (workspace.client.briefing)(text).filter(|it| it.reaches(last_part));
    let found = match (&answer.transcript, &answer.given) {
        (Some(transcript), _) => workspace.await_text(transcript, LARGEST_TRANSCRIPT, PATIENCE, briefing)?,
        (None, Some(given)) => Some(Briefing {
            prompt: given.clone(),
            spoken_to_again: false,
            said: vec![last_part.clone()],
            is_cut: false,
        }),
        (None, None) => None,
    };
    let why = match found {
        None => "the agent's own transcript does not show what it was given and what it answered",
        Some(briefing) if briefing.is_cut => {
            "it was cut off at the token limit, and an answer counts only whole"
        }
        Some(briefing) if briefing.spoken_to_again => {
            "the agent was spoken to again after it had been started"
        }
        Some(Briefing { prompt, said, .. }) => {
            return Ok(Ok(Testimony { role: answer.role, given: prompt, answer: said.join("\n") }));
        }
    };
    if let Some(agent) = &answer.agent {
        // Mark this answer as unusable, so that a later event that shows less of it does not count.
        workspace.replace_own(&own_note("heard", agent, session, workspace)?, UNUSABLE)?;
    }
    Ok(Err(why.into()))
}

/// A note of Provost's own about an agent of a session.
fn own_note(folder: &str, agent: &str, session: &Session, workspace: &Workspace) -> Result<PathBuf, Fault> {
    let name = Digest::of(&[format!("{}\n{agent}", session.id()).as_bytes()]).short();
    workspace.own_file(folder, &name)
}

/// Whether an agent has not stopped with another answer before. One that did was spoken to again, even if
/// its transcript does not show it: that is a file, and a script that nobody sees through can write to it.
/// An answer may be told more than once, where more than one entry calls.
fn is_first_answer(
    agent: &str,
    answer: &str,
    session: &Session,
    workspace: &Workspace,
) -> Result<bool, Fault> {
    let place = own_note("heard", agent, session, workspace)?;
    let digest = Digest::of(&[answer.as_bytes()]);
    match workspace.read_text(&place, LARGEST_NOTE)? {
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
    let critique = match evidence::critique(&testimony.answer) {
        Ok(critique) => critique,
        Err(why) => return Ok(Err(format!("the critic's answer: {why}"))),
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
        Err(why) => Ok(Err(format!("the validator's answer: {why}"))),
        Ok(coverage) => Ok(Ok(checked(coverage, &dossier.gaps, &evidence))),
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
    evidence::keep_failure((!passed).then_some(reason), dossier.texts(), key, workspace)?;
    let recorded = store.record(plan, &judged, workspace)?;
    let told = if passed {
        format!("{TAG}Ready to exit plan mode: the verdict is recorded for exactly this text.")
    } else {
        gate::failed(reason, store).to_string()
    };
    Ok(recorded.then_some(told))
}
