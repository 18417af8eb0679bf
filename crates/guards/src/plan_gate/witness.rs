//! Reads the answers of critics and validators, as Claude Code reports them.
//!
//! An answer counts only for the texts that its agent was given. The agent's own transcript shows what it
//! was given, and that must match word for word. A critic's answer becomes evidence. A validator's answer
//! becomes the verdict of the plan, and a pass is sealed.

use crate::prelude::*;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::brief::Role;
use super::digest::Digest;
use super::entries::{self, Coverage};
use super::evidence::{self, Evidence};
use super::gate::TAG;
use super::plan_files::Session;
use super::plan_record::{Gaps, PlanRecord, SettledVerdict};
use super::store::{self, JudgedPlan, RERUN};
use super::verdict::{PlanVerdict, VerdictStatus};
use super::{Declined, gate, judge_notes, prompts, split_fault};
use crate::seal::SealKey;
use provost_core::client::SubagentTranscript;
use provost_core::event::{Event, EventKind};
use provost_core::opinion::{AssessmentRecord, Fault, Opinion, ReviewerWork};
use provost_core::tool::Tool;
use provost_core::workspace::Workspace;

const LARGEST_TRANSCRIPT: u64 = 32 << 20;

const LARGEST_NOTE: u64 = 64 << 10;

/// Replaces the digest of an answer that does not count.
const UNUSABLE: &[u8] = b"unusable";

/// How long the client may take to write an answer to the transcript. It needs a fraction of a second, and
/// all guards of an event together have more time than this.
const PATIENCE: Duration = Duration::from_secs(3);

struct Testimony {
    role: Role,
    given: String,
    answer: String,
}

/// A result, or why the answer does not count.
type TestimonyResult<T> = Result<T, Declined<String>>;

fn ignore<T>(why: impl Into<String>) -> TestimonyResult<T> {
    Err(Declined::Reason(why.into()))
}

pub fn judge(event: &Event, workspace: &Workspace) -> Result<Opinion, Fault> {
    let Some(session) = event.session.as_deref().and_then(Session::new) else {
        return Ok(Opinion::silent());
    };
    if let EventKind::Prompt { finished_task, .. } = &event.kind {
        let text =
            finished_task.as_deref().and_then(|agent| describe_ended_agent(agent, &session, workspace));
        return Ok(text.map_or_else(Opinion::unconcerned, |text| Opinion {
            evidence: vec![text.clone()],
            to_model: Some(text),
            ..Opinion::default()
        }));
    }
    let Some(answer) = read_event(event, &session, workspace) else { return Ok(Opinion::silent()) };
    judge_notes::note_answer(answer.role, answer.agent.as_deref(), &session, workspace);
    // The agent that asked reads the result of its call. Text at the stop of an agent would reach that agent or the
    // user; for an agent in the background, it is kept for the notification.
    let is_result = matches!(event.kind, EventKind::AfterTool(_));
    let is_background = matches!(&event.kind, EventKind::SubagentStop(stopping) if stopping.is_in_background);
    let outcome = match split_fault(read_testimony(&answer, &session, workspace))? {
        Err(why) => Err(why),
        Ok(testimony) => match weigh(&testimony, &session, workspace) {
            // Otherwise the agent that asked would wait for a verdict that was not recorded.
            Err(Declined::Fault(fault)) if is_result => Err(format!("it cannot be recorded ({fault})")),
            weighed => split_fault(weighed)?,
        },
    };
    let (text, work) = outcome.unwrap_or_else(|why| {
        (gate::build_denial("The answer does not count", &why, RERUN).to_string(), None)
    });
    if let (true, Some(agent)) = (is_background, &answer.agent) {
        let _ = note_file("told", agent, &session, workspace)
            .and_then(|file| workspace.write_state_file(&file, text.as_bytes()));
    }
    Ok(Opinion {
        to_model: is_result.then(|| text.clone()),
        evidence: vec![text],
        reviewer_work: work,
        ..Opinion::default()
    })
}

/// The text for the notification that an agent has ended, if the agent was a critic or validator.
fn describe_ended_agent(agent: &str, session: &Session, workspace: &Workspace) -> Option<String> {
    let role = judge_notes::note_end(agent, session, workspace);
    let file = note_file("told", agent, session, workspace).ok()?;
    workspace.read_text(&file, LARGEST_NOTE).ok().flatten().or_else(|| {
        let what = format!("The {} has ended without an answer", role?.word());
        Some(gate::build_denial(&what, "", RERUN).to_string())
    })
}

/// An agent's answer as an event reports it.
struct AgentAnswer {
    role: Role,
    agent: Option<String>,
    /// `None` if it cannot be read.
    last_part: Option<String>,
    transcript: Option<PathBuf>,
    /// The prompt, if the event has it. At the agent's stop it has none.
    given: Option<String>,
}

/// Reads the answer of a critic or validator from an event. Notes the launch of one in the background.
fn read_event(event: &Event, session: &Session, workspace: &Workspace) -> Option<AgentAnswer> {
    match &event.kind {
        EventKind::AfterTool(call) => {
            if let (Some(agent), Tool::Delegate { agent: Some(name), .. }) =
                (&call.outcome.launched_agent, &call.tool)
            {
                let role = Role::from_call(name, &workspace.config)?;
                let has_answered =
                    note_file("heard", agent, session, workspace).is_ok_and(|file| workspace.exists(&file));
                if !has_answered {
                    judge_notes::note_launch(role, agent, session, workspace);
                }
                return None;
            }
            let report = call.outcome.report.as_ref()?;
            let record = event.transcript.as_ref().zip(report.id.as_ref());
            Some(AgentAnswer {
                role: Role::from_type(report.agent.as_deref()?, &workspace.config)?,
                agent: report.id.clone(),
                last_part: report.answer.clone(),
                transcript: record
                    .and_then(|(session, agent)| workspace.find_agent_transcript(session, agent))
                    .filter(|transcript| workspace.exists(transcript)),
                given: Some(report.prompt.clone().unwrap_or_default()),
            })
        }
        EventKind::SubagentStop(stopping) => {
            let agent = event.agent.as_ref()?;
            Some(AgentAnswer {
                role: Role::from_type(agent.kind.as_deref()?, &workspace.config)?,
                agent: agent.id.clone(),
                last_part: Some(stopping.last_message.clone()?),
                transcript: stopping.transcript.clone(),
                given: None,
            })
        }
        _ => None,
    }
}

/// Reads the whole answer and its prompt. An event has only the last part of an answer, so the agent's own
/// transcript counts. Without a transcript, the event must have the prompt.
fn read_testimony(
    answer: &AgentAnswer,
    session: &Session,
    workspace: &Workspace,
) -> TestimonyResult<Testimony> {
    let Some(last_part) = &answer.last_part else {
        return ignore("what the agent was given or answered cannot be read");
    };
    if let Some(agent) = &answer.agent {
        let file = note_file("heard", agent, session, workspace)?;
        let known = workspace.read_text(&file, LARGEST_NOTE)?;
        if known.as_deref().is_some_and(|known| known.as_bytes() == UNUSABLE) {
            return ignore("the agent's answer was not heard whole when it stopped");
        }
        let is_stop = answer.given.is_none();
        if is_stop {
            // An agent that stops with a second answer was spoken to again, even if its transcript does not show it:
            // a script can write to that file. An equal answer is not a second one: several hook entries may call.
            let digest = Digest::hash_text(&[last_part.as_bytes()]);
            match known {
                Some(known) if !digest.equals_hex(&known) => {
                    return ignore("the agent has given another answer before");
                }
                Some(_) => {}
                None => workspace.write_state_file(&file, digest.to_string().as_bytes())?,
            }
        }
    }
    // Until the transcript has the answer, a message to the agent may still be missing in it.
    let briefing = |text: &str| {
        (workspace.client.transcripts().parse_subagent_transcript)(text).filter(|it| it.has_answer(last_part))
    };
    let found = match (&answer.transcript, &answer.given) {
        (Some(transcript), _) => {
            workspace.wait_for_text(transcript, LARGEST_TRANSCRIPT, PATIENCE, briefing)?
        }
        (None, Some(given)) => Some(SubagentTranscript {
            prompt: given.clone(),
            has_later_message: false,
            answer_parts: vec![last_part.clone()],
            is_truncated: false,
        }),
        (None, None) => None,
    };
    let why = match found {
        None => "the agent's own transcript does not show what it was given and what it answered",
        Some(briefing) if briefing.is_truncated => {
            "it was cut off at the token limit, and an answer counts only whole"
        }
        Some(briefing) if briefing.has_later_message => {
            "the agent was spoken to again after it had been started"
        }
        Some(SubagentTranscript { prompt, answer_parts: said, .. }) => {
            return Ok(Testimony { role: answer.role, given: prompt, answer: said.join("\n") });
        }
    };
    if let Some(agent) = &answer.agent {
        // Mark this answer as unusable, so that a later event that shows less of it does not count.
        workspace.write_state_file(&note_file("heard", agent, session, workspace)?, UNUSABLE)?;
    }
    ignore(why)
}

/// The file of a note about an agent, in Provost's own state.
fn note_file(folder: &str, agent: &str, session: &Session, workspace: &Workspace) -> Result<PathBuf, Fault> {
    let name = Digest::hash_text(&[format!("{}\n{agent}", session.id()).as_bytes()]).short_hex();
    workspace.state_file(folder, &name)
}

/// Records what an answer means for the session's plan, and describes it. A validator's verdict is also for the journal.
fn weigh(
    testimony: &Testimony,
    session: &Session,
    workspace: &Workspace,
) -> TestimonyResult<(String, Option<ReviewerWork>)> {
    let store = store::configured_store(workspace);
    let Some(plan) = store.find_plan(session, workspace) else {
        return ignore("no plan of this session is known");
    };
    let Some(text) = store::read_plan(&plan, workspace)? else { return ignore("the plan is gone") };
    let record = store.read_record(&plan, &text, workspace)?;
    let key = SealKey::load_or_create(workspace)?;
    match testimony.role {
        Role::Critic => Ok((weigh_critique(testimony, &record, &key, workspace)?, None)),
        Role::Validator => {
            let coverage = weigh_coverage(testimony, &record, &key, workspace)?;
            let work = ReviewerWork::Assessment(AssessmentRecord {
                plan: plan.to_string_lossy().into_owned(),
                is_passed: coverage.status == VerdictStatus::Pass,
                took: None,
            });
            match record_verdict(coverage, &record, session, &key, &plan, workspace)? {
                Some(message) => Ok((message, Some(work))),
                None => ignore("the plan has changed meanwhile"),
            }
        }
    }
}

fn weigh_critique(
    testimony: &Testimony,
    record: &PlanRecord<'_>,
    key: &SealKey,
    workspace: &Workspace,
) -> TestimonyResult<String> {
    let expected = prompts::write_critic_prompt(&record.document.content().to_text());
    if !prompts::have_same_words(&testimony.given, &expected) {
        return ignore("the critic was not given this plan's text, exactly and alone");
    }
    let critique = evidence::read_critique(&testimony.answer)
        .map_err(|why| Declined::Reason(format!("the critic's answer: {why}")))?;
    evidence::save_critique(&testimony.answer, record.plan_hash, key, workspace)?;
    Ok(format!("{TAG}The critic was heard on this plan: {}.", critique.count_findings()))
}

fn weigh_coverage(
    testimony: &Testimony,
    record: &PlanRecord<'_>,
    key: &SealKey,
    workspace: &Workspace,
) -> TestimonyResult<Coverage> {
    let Some(evidence) = evidence::find_critique(record.plan_hash, key, workspace)? else {
        return ignore("no critic has been seen to read this plan as it is now");
    };
    let expected = prompts::write_validator_prompt(record.gaps.text(), &evidence.answer);
    if !prompts::have_same_words(&testimony.given, &expected) {
        return ignore("the validator was not given these gaps and the critic's findings, exactly and alone");
    }
    match entries::read_coverage(&testimony.answer) {
        Err(why) => ignore(format!("the validator's answer: {why}")),
        Ok(coverage) => Ok(check_coverage(coverage, &record.gaps, &evidence)),
    }
}

/// Turns a pass into a failure if there are serious findings and no gap at all, or if the gaps imitate the critic's
/// list, so that a validator cannot tell where the real list begins.
pub fn check_coverage(coverage: Coverage, gaps: &Gaps, evidence: &Evidence) -> Coverage {
    if coverage.status != VerdictStatus::Pass {
        return coverage;
    }
    let serious: Vec<String> = evidence.critique.serious_findings().map(ToString::to_string).collect();
    let reason = if let Some(line) = entries::find_forged_line(gaps.text()) {
        format!("The gaps hold the line `{line}`, which only a critic or a validator writes")
    } else if !serious.is_empty() && gaps.entries().is_empty() {
        format!("No gap is written down, so nothing covers {}", serious.join(", "))
    } else {
        return coverage;
    };
    Coverage { status: VerdictStatus::Fail, reason }
}

/// Records a verdict and describes it; `None` if the plan is no longer the one that was judged.
pub fn record_verdict(
    coverage: Coverage,
    record: &PlanRecord<'_>,
    session: &Session,
    key: &SealKey,
    plan: &Path,
    workspace: &Workspace,
) -> Result<Option<String>, Fault> {
    let passed = coverage.status == VerdictStatus::Pass;
    let reason = match (passed, coverage.reason.as_str()) {
        (true, "") => "All findings covered",
        (false, "") => "The validator named no reason",
        (_, reason) => reason,
    };
    let validation = PlanVerdict::new(coverage.status, reason, workspace.format_now());
    let seal = passed.then(|| key.seal_texts(record.plan_hash, record.gaps_hash));
    let judged =
        JudgedPlan { session, hashes: record.hashes(), settled: SettledVerdict { validation, seal } };
    evidence::save_failure((!passed).then_some(reason), record.hashes(), key, workspace)?;
    let store = store::configured_store(workspace);
    let is_recorded = store.record_verdict(plan, &judged, workspace)?;
    let message = if passed {
        format!("{TAG}Ready to exit plan mode: the verdict is recorded for exactly this text.")
    } else {
        gate::deny_failed(reason, store).to_string()
    };
    Ok(is_recorded.then_some(message))
}
