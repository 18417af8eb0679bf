//! Finds the plan that a stop belongs to.
//!
//! Plans are the directories below `.taskie/plans`. A session is blocked only for a plan that it worked on itself:
//! the last plan that its transcript shows it wrote to, delegated, or named to Provost. If its own transcript shows
//! none, the transcripts of its agents count. Without a transcript, and in `compat`, it is the plan that changed
//! last.

use crate::prelude::*;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::state;
use provost_core::byte_search;
use provost_core::config::settings;
use provost_core::effect::Effect;
use provost_core::event::{Event, EventKind, TurnEnd};
use provost_core::opinion::Fault;
use provost_core::places::{is_provost_program, is_within};
use provost_core::text::make_one_line;
use provost_core::tool::Tool;
use provost_core::workspace::Workspace;

/// The directory of a project that holds its plans.
pub const PLANS: &str = ".taskie/plans";
/// The prefix of the workflow's commands.
const COMMAND: &str = "/taskie:";
/// At most this many bytes at the end of a transcript are searched.
const LONGEST_TRANSCRIPT: u64 = 256 << 20;
/// The client writes a transcript with a delay of at most this.
const LONGEST_LAG: Duration = Duration::from_secs(2);
/// The delay to assume when the event does not say how the turn ended.
const USUAL_LAG: Duration = Duration::from_millis(200);
/// At most this many agents' transcripts are searched, the newest first.
const MOST_AGENTS: usize = 32;

/// The directory of one plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    pub id: String,
    /// The resolved path.
    pub path: PathBuf,
    /// The directory that contains `.taskie`.
    pub root: PathBuf,
}

/// All plans that can be meant in one directory, listed once: one list for each root, the nearest root first.
pub(super) struct PlanList(Vec<Vec<Plan>>);

/// What a line of a transcript shows about the session's plan.
enum PlanHint {
    Plan(Plan),
    /// A command of the workflow ran, and it did not name a plan.
    Unnamed,
}

impl Plan {
    pub fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// The command line argument that names this plan, inside its project.
    pub fn argument(&self) -> String {
        format_argument(&self.id)
    }

    /// The command line argument that names this plan, from any directory.
    pub fn argument_anywhere(&self) -> String {
        format_argument(&self.path.to_string_lossy())
    }

    /// The path of a file of this plan, relative to `cwd` if that is the plan's root.
    pub fn display_file(&self, name: &str, cwd: &Path) -> String {
        let path = self.file(name);
        let short = path.strip_prefix(&self.root).ok().filter(|_| cwd == self.root);
        make_one_line(&short.unwrap_or(&path).to_string_lossy())
    }

    /// The plan with this name, or the plan at or around this path. The path must exist: inside a plan's directory,
    /// an unknown name would otherwise mean that plan.
    pub fn find(name: &str, start: &Path, workspace: &Workspace) -> Option<Self> {
        let plans = PlanList::read(start, workspace);
        let by_name = plans.iter().find(|plan| plan.id == name);
        let by_path = || {
            let path = workspace.resolve(&start.join(name));
            plans.find_around(&path).filter(|_| workspace.exists(&path))
        };
        by_name.or_else(by_path).cloned()
    }

    /// The plan that changed last.
    pub fn find_newest(start: &Path, workspace: &Workspace) -> Option<Self> {
        PlanList::read(start, workspace).find_newest(workspace).cloned()
    }

    /// Whether the directory contains any file of a plan.
    pub(super) fn has_files(&self, workspace: &Workspace) -> bool {
        let has_usual = ["plan.md", state::FILE].iter().any(|name| workspace.exists(&self.file(name)));
        has_usual || self.last_change(workspace).is_some()
    }

    fn last_change(&self, workspace: &Workspace) -> Option<impl Ord + use<>> {
        let is_part =
            |name: &str| name == state::FILE || Path::new(name).extension().is_some_and(|kind| kind == "md");
        workspace.find_last_change(&self.path, is_part)
    }
}

impl PlanList {
    pub(super) fn read(start: &Path, workspace: &Workspace) -> Self {
        Self(find_roots(start, workspace).iter().map(|root| list_below(root, workspace)).collect())
    }

    pub(super) fn iter(&self) -> impl DoubleEndedIterator<Item = &Plan> {
        self.0.iter().flatten()
    }

    /// The plan that changed last, in the nearest root that has one.
    fn find_newest(&self, workspace: &Workspace) -> Option<&Plan> {
        self.0.iter().find_map(|plans| {
            // A single plan needs no date, and reading the dates of thousands of files is slow.
            if let [only] = &plans[..] {
                return Some(only).filter(|plan| plan.has_files(workspace));
            }
            let dated = plans.iter().filter_map(|plan| Some((plan.last_change(workspace)?, plan)));
            dated.max_by(|(a, _), (b, _)| a.cmp(b)).map(|(_, plan)| plan)
        })
    }

    /// The plan whose directory contains this path.
    fn find_around(&self, path: &Path) -> Option<&Plan> {
        self.0.iter().find_map(|plans| {
            let around = plans.iter().filter(|plan| is_within(path, &plan.path));
            // A plan can also be listed under the name of a link. Prefer the directory's own name.
            around.max_by_key(|plan| plan.path.ends_with(&plan.id))
        })
    }

    /// The plan that the session worked on last, or without a transcript, the newest.
    pub(super) fn find_for_stop(&self, event: &Event, workspace: &Workspace) -> Result<Option<Plan>, Fault> {
        let Some(transcript) = await_transcript(event, workspace)? else {
            return Ok(self.find_newest(workspace).cloned());
        };
        let last_hint = |transcript: &Path| {
            workspace
                .find_line_backwards(transcript, LONGEST_TRANSCRIPT, |line| self.read_hint(line, workspace))
        };
        let mut hint = last_hint(transcript)?;
        // A session that only delegates leaves no trace in its own transcript.
        for agent in workspace.list_agent_transcripts(transcript).iter().take(MOST_AGENTS) {
            if hint.is_some() {
                break;
            }
            // An agent's transcript may vanish in the meantime.
            hint = last_hint(agent).unwrap_or_default();
        }
        Ok(match hint {
            Some(PlanHint::Plan(plan)) => Some(plan),
            Some(PlanHint::Unnamed) => self.find_newest(workspace).cloned(),
            None => None,
        })
    }

    fn read_hint(&self, line: &[u8], workspace: &Workspace) -> Option<PlanHint> {
        // Most lines are about something else, and parsing them is slow.
        if byte_search::find_part(line, b"taskie").is_none()
            && byte_search::find_part(line, b"provost").is_none()
        {
            return None;
        }
        let done = (workspace.client.transcripts().parse_transcript_line)(line);
        done.iter().rev().find_map(|event| match &event.kind {
            EventKind::Prompt { text: Some(text), .. } => {
                text.starts_with(COMMAND).then_some(PlanHint::Unnamed)
            }
            EventKind::AfterTool(call) => match &call.tool {
                Tool::Delegate { prompt: Some(prompt), .. } => {
                    self.find_mentioned(prompt).cloned().map(PlanHint::Plan)
                }
                Tool::Skill { name: Some(name), .. } => {
                    name.starts_with(&COMMAND[1..]).then_some(PlanHint::Unnamed)
                }
                _ => event
                    .effects()
                    .iter()
                    .rev()
                    .find_map(|effect| self.read_effect_hint(effect, event, workspace)),
            },
            _ => None,
        })
    }

    fn read_effect_hint(&self, effect: &Effect, event: &Event, workspace: &Workspace) -> Option<PlanHint> {
        match effect {
            Effect::Write { path, .. }
            | Effect::Delete { path }
            | Effect::Touch { path }
            | Effect::Place { to: path, .. } => {
                self.find_around(&workspace.resolve(path)).cloned().map(PlanHint::Plan)
            }
            Effect::Run { program, arguments, directory, .. } if is_provost_program(program) => {
                let (first, rest) = arguments.split_first()?;
                // Reading a plan is not working on it.
                if first != "review" || rest.first().is_none_or(|command| command == "status") {
                    return None;
                }
                let separate =
                    rest.windows(2).find_map(|pair| (pair[0] == "--plan").then_some(pair[1].as_str()));
                let name =
                    separate.or_else(|| rest.iter().find_map(|argument| argument.strip_prefix("--plan=")));
                let Some(name) = name else { return Some(PlanHint::Unnamed) };
                // The command may have run in another directory, which has other plans.
                let start = directory.as_deref().unwrap_or(&event.cwd);
                Plan::find(name, start, workspace).map(PlanHint::Plan)
            }
            _ => None,
        }
    }

    /// The plan whose path a text mentions. An id may contain any character, so the known ids decide where it ends.
    fn find_mentioned(&self, text: &str) -> Option<&Plan> {
        let ends = |rest: &str| {
            let after = rest.trim_start_matches('.').chars().next();
            after.is_none_or(|c| c == '/' || c.is_whitespace() || "\"'`),;:".contains(c))
        };
        let mentions =
            text.match_indices(PLANS).filter_map(|(at, _)| text[at + PLANS.len()..].strip_prefix('/'));
        let mut mentioned = mentions.filter_map(|rest| {
            // `max_by_key` returns the last of equals, so the reversed order prefers the nearest root.
            let fitting =
                self.iter().rev().filter(|plan| rest.strip_prefix(plan.id.as_str()).is_some_and(ends));
            fitting.max_by_key(|plan| plan.id.len())
        });
        mentioned.next()
    }
}

/// `--plan NAME`, quoted for a shell.
fn format_argument(name: &str) -> String {
    let name = make_one_line(name);
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./".contains(c);
    if name.chars().all(is_plain) && !name.starts_with('-') {
        format!("--plan {name}")
    } else {
        format!("--plan='{}'", name.replace('\'', r"'\''"))
    }
}

/// The session's transcript, if it counts and exists. Waits until it contains the end of the turn, because the client
/// writes it with a delay.
fn await_transcript<'e>(event: &'e Event, workspace: &Workspace) -> Result<Option<&'e Path>, Fault> {
    let by_session = workspace.config.word(settings::REVIEW_LOOP_PLAN) == "session";
    let Some(transcript) = event.transcript.as_deref().filter(|_| by_session) else { return Ok(None) };
    if let EventKind::Stop(TurnEnd { last_message, .. }) = &event.kind {
        let patience = if last_message.is_some() { LONGEST_LAG } else { USUAL_LAG };
        workspace.wait_until(patience, || {
            let message = last_message.as_ref().filter(|_| workspace.exists(transcript));
            let Some(message) = message else { return Ok(false) };
            let ends = |line: &[u8]| (workspace.client.transcripts().ends_message)(line, message);
            Ok(workspace.find_line_backwards(transcript, LONGEST_TRANSCRIPT, ends)?.unwrap_or(false))
        })?;
    }
    Ok(Some(transcript).filter(|transcript| workspace.exists(transcript)))
}

/// Whether this directory, or one above it, has a directory for plans.
pub fn has_plans(start: &Path, workspace: &Workspace) -> bool {
    !find_roots(start, workspace).is_empty()
}

/// All plans that can be meant in this directory.
pub fn list_plans(start: &Path, workspace: &Workspace) -> Vec<Plan> {
    PlanList::read(start, workspace).0.into_iter().flatten().collect()
}

fn list_below(root: &Path, workspace: &Workspace) -> Vec<Plan> {
    // A plan, or the directory of all plans, may be a link. Resolved paths make its names comparable.
    let plans = workspace.resolve_below(root, Path::new(PLANS));
    let resolve = |id: &str, is_link: bool| {
        if is_link { workspace.resolve_below(&plans, Path::new(id)) } else { plans.join(id) }
    };
    let is_id =
        |name: &str| !name.is_empty() && !name.starts_with('.') && !name.chars().any(char::is_control);
    let directories = workspace.list_directories(&plans).into_iter().filter(|(id, _)| is_id(id));
    directories.map(|(id, is_link)| Plan { path: resolve(&id, is_link), root: root.to_owned(), id }).collect()
}

/// The directories that have plans: the nearest at or above `start`, the nearest at or above where the session began
/// (the agent may have changed its directory), and the project.
fn find_roots(start: &Path, workspace: &Workspace) -> Vec<PathBuf> {
    let has_plans = |directory: &&Path| workspace.is_directory(&directory.join(PLANS));
    let here = workspace.resolve(start);
    let mut roots: Vec<PathBuf> = Vec::new();
    let elsewhere = Some(&workspace.start).filter(|start| **start != here);
    for from in std::iter::once(&here).chain(elsewhere) {
        let nearest = from.ancestors().find(has_plans).map(Path::to_owned);
        roots.extend(nearest.filter(|root| !roots.contains(root)));
    }
    if !roots.contains(&workspace.project) && has_plans(&workspace.project.as_path()) {
        roots.push(workspace.project.clone());
    }
    roots
}
