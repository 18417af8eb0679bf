//! Which plan a stop belongs to.
//!
//! Plans are the directories below `.taskie/plans`. A session is held only for a plan that it worked
//! on itself: the last one that its own record shows it to have written to, given to an agent, or named
//! to this program; where that shows none, the records of its agents count. Where there is no record,
//! and for the document's script, it is the plan that was changed last.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::state;
use crate::config::settings;
use crate::decision::Fault;
use crate::effect::Effect;
use crate::event::{Event, Kind, Stopping, Tool};
use crate::search;
use crate::text::one_line;
use crate::workspace::{Workspace, is_provost, is_within};

/// Where plans lie in a project.
pub const PLANS: &str = ".taskie/plans";
/// Commands of the workflow begin with this.
const COMMAND: &str = "/taskie:";
/// A record is looked through as far back as this.
const LONGEST_RECORD: u64 = 256 << 20;
/// So long a record may be behind its session.
const LONGEST_LAG: Duration = Duration::from_secs(2);
/// So long it usually is, where nothing shows it.
const USUAL_LAG: Duration = Duration::from_millis(200);
/// As many agents of a session are asked what they worked on, the last ones first.
const MOST_AGENTS: usize = 32;

/// The directory of one plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    pub id: String,
    /// Where it really lies.
    pub path: PathBuf,
    /// The directory that the project's `.taskie` lies in.
    pub root: PathBuf,
}

/// Whose a stop is.
pub enum Claim {
    /// No plan's.
    None,
    Certain(Plan),
    /// This plan's or none's: it is the only one. To know it, the session's record must be read
    /// ([`Plan::is_of_stop`]).
    Perhaps(Plan),
}

/// What a session's record shows.
enum Sign {
    /// It worked on this plan.
    Plan(Plan),
    /// It was told to go on, and nobody said with which plan.
    SomePlan,
}

impl Plan {
    /// One of its files.
    pub fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// What names it on a command line, in its project.
    pub fn argument(&self) -> String {
        argument(&self.id)
    }

    /// What names it on a command line, anywhere.
    pub fn argument_anywhere(&self) -> String {
        argument(&self.path.to_string_lossy())
    }

    /// A file's path for somebody who works in this directory.
    pub fn shown(&self, name: &str, cwd: &Path) -> String {
        let path = self.file(name);
        let short = path.strip_prefix(&self.root).ok().filter(|_| cwd == self.root);
        one_line(&short.unwrap_or(&path).to_string_lossy())
    }

    /// The plan of this name, or at this path. A path that leads nowhere names no plan, not even where
    /// it would lie in one: whoever stands in a plan's directory names another plan, too.
    pub fn named(name: &str, start: &Path, workspace: &Workspace) -> Option<Self> {
        let by_name = all(start, workspace).into_iter().find(|plan| plan.id == name);
        by_name.or_else(|| {
            let path = workspace.resolve(&start.join(name));
            let roots = roots(start, workspace).into_iter().filter(|_| workspace.exists(&path));
            roots.into_iter().find_map(|root| Self::around(&path, &root, workspace))
        })
    }

    /// The plan that was changed last.
    pub fn newest(start: &Path, workspace: &Workspace) -> Option<Self> {
        roots(start, workspace).iter().find_map(|root| {
            let mut plans = below(root, workspace);
            // One alone is the newest whatever its time, and to ask thousands of files for theirs is slow.
            if let [only] = &plans[..] {
                return only.has_files(workspace).then(|| plans.pop()).flatten();
            }
            let changed = |plan: &Self| workspace.last_change(&plan.path, is_part);
            let dated = plans.into_iter().filter_map(|plan| changed(&plan).map(|at| (at, plan)));
            dated.max_by(|(a, _), (b, _)| a.cmp(b)).map(|(_, plan)| plan)
        })
    }

    /// Whether there is anything of a plan in its directory.
    fn has_files(&self, workspace: &Workspace) -> bool {
        let usual = ["plan.md", state::FILE].iter().any(|name| workspace.exists(&self.file(name)));
        usual || workspace.last_change(&self.path, is_part).is_some()
    }

    /// The plan of this stop, as far as it can be told without the session's record.
    pub fn of_stop(event: &Event, workspace: &Workspace) -> Result<Claim, Fault> {
        let mut plans = all(&event.cwd, workspace);
        Ok(match (plans.pop(), plans.is_empty()) {
            (None, _) => Claim::None,
            (Some(only), true) => Claim::Perhaps(only),
            _ => Self::among_many(event, workspace)?.map_or(Claim::None, Claim::Certain),
        })
    }

    /// Whether a stop is this plan's, which is the only one.
    pub fn is_of_stop(&self, event: &Event, workspace: &Workspace) -> Result<bool, Fault> {
        Ok(self.has_files(workspace) && Self::among_many(event, workspace)?.as_ref() == Some(self))
    }

    /// The session's plan, or where there is no record of it, the newest.
    fn among_many(event: &Event, workspace: &Workspace) -> Result<Option<Self>, Fault> {
        match record(event, workspace)? {
            Some(record) => Self::of_session(record, event, workspace),
            None => Ok(Self::newest(&event.cwd, workspace)),
        }
    }

    /// The plan that the session worked on last, as its record shows.
    fn of_session(record: &Path, event: &Event, workspace: &Workspace) -> Result<Option<Self>, Fault> {
        let roots = roots(&event.cwd, workspace);
        let last_sign = |record: &Path| {
            workspace.find_line_backwards(record, LONGEST_RECORD, |line| sign(line, &roots, workspace))
        };
        let mut sign = last_sign(record)?;
        // Whoever only delegates leaves the work to the records of others.
        for agent in workspace.records_of_agents(record).iter().take(MOST_AGENTS) {
            if sign.is_some() {
                break;
            }
            // One that vanishes shows nothing.
            sign = last_sign(agent).unwrap_or_default();
        }
        Ok(match sign {
            Some(Sign::Plan(plan)) => Some(plan),
            Some(Sign::SomePlan) => Self::newest(&event.cwd, workspace),
            None => None,
        })
    }

    /// The plan whose directory this is, or is around this.
    fn around(path: &Path, root: &Path, workspace: &Workspace) -> Option<Self> {
        let around = below(root, workspace).into_iter().filter(|plan| is_within(path, &plan.path));
        // Of two names, the directory's own counts.
        around.max_by_key(|plan| plan.path.ends_with(&plan.id))
    }
}

/// The argument that names a plan, as a shell takes it.
fn argument(name: &str) -> String {
    let name = one_line(name);
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./".contains(c);
    if name.chars().all(is_plain) && !name.starts_with('-') {
        format!("--plan {name}")
    } else {
        format!("--plan='{}'", name.replace('\'', r"'\''"))
    }
}

/// The session's own record, where it counts and there is one. The client writes a moment later what was
/// done, so it is waited for until the end of the turn stands in it: it may not even be there yet.
fn record<'e>(event: &'e Event, workspace: &Workspace) -> Result<Option<&'e Path>, Fault> {
    let by_session = workspace.config.word(settings::REVIEW_LOOP_PLAN) == "session";
    let Some(record) = event.transcript.as_deref().filter(|_| by_session) else { return Ok(None) };
    if let Kind::Stop(Stopping { last_message: said, .. }) = &event.kind {
        let patience = if said.is_some() { LONGEST_LAG } else { USUAL_LAG };
        workspace.await_that(patience, || {
            let Some(said) = said.as_ref().filter(|_| workspace.exists(record)) else { return Ok(false) };
            let ends = |line: &[u8]| (workspace.client.ends)(line, said);
            Ok(workspace.find_line_backwards(record, LONGEST_RECORD, ends)?.unwrap_or(false))
        })?;
    }
    Ok(Some(record).filter(|record| workspace.exists(record)))
}

/// Whether plans are looked for here: there is a directory for them.
pub fn is_place(start: &Path, workspace: &Workspace) -> bool {
    !roots(start, workspace).is_empty()
}

/// All plans that can be meant here.
pub fn all(start: &Path, workspace: &Workspace) -> Vec<Plan> {
    roots(start, workspace).iter().flat_map(|root| below(root, workspace)).collect()
}

fn below(root: &Path, workspace: &Workspace) -> Vec<Plan> {
    // A plan, or all of them, may lie behind a link, and is one and the same under each of its names.
    let plans = workspace.resolve_below(root, Path::new(PLANS));
    let real = |id: &str, is_link: bool| {
        if is_link { workspace.resolve_below(&plans, Path::new(id)) } else { plans.join(id) }
    };
    let directories = workspace.directories(&plans).into_iter().filter(|(id, _)| is_id(id));
    directories.map(|(id, is_link)| Plan { path: real(&id, is_link), root: root.to_owned(), id }).collect()
}

/// Directories with plans: the nearest one from here upwards, the nearest one from where the session
/// began, since an agent may have gone elsewhere, and the project's.
fn roots(start: &Path, workspace: &Workspace) -> Vec<PathBuf> {
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

/// Whether a file belongs to a plan by its name.
fn is_part(name: &str) -> bool {
    name == state::FILE || Path::new(name).extension().is_some_and(|kind| kind == "md")
}

/// Whether a directory's name can be a plan's: anything that can be shown.
fn is_id(name: &str) -> bool {
    !name.is_empty() && !name.starts_with('.') && !name.chars().any(char::is_control)
}

/// What a line of a session's record shows of its work on a plan.
fn sign(line: &[u8], roots: &[PathBuf], workspace: &Workspace) -> Option<Sign> {
    // Most lines are about something else.
    if search::part(line, b"taskie").is_none() && search::part(line, b"provost").is_none() {
        return None;
    }
    let done = (workspace.client.done)(line);
    done.iter().rev().find_map(|event| match &event.kind {
        Kind::Prompt { text: Some(text), .. } => text.starts_with(COMMAND).then_some(Sign::SomePlan),
        Kind::AfterTool(call) => match &call.tool {
            Tool::Delegate { prompt: Some(prompt), .. } => named_in(prompt, roots, workspace).map(Sign::Plan),
            _ => event.effects().iter().rev().find_map(|effect| sign_of(effect, event, roots, workspace)),
        },
        _ => None,
    })
}

fn sign_of(effect: &Effect, event: &Event, roots: &[PathBuf], workspace: &Workspace) -> Option<Sign> {
    let around = |path: &Path| {
        let path = workspace.resolve(path);
        roots.iter().find_map(|root| Plan::around(&path, root, workspace))
    };
    match effect {
        Effect::Write { path, .. } | Effect::Delete { path } | Effect::Touch { path } => {
            around(path).map(Sign::Plan)
        }
        Effect::Place { to, .. } => around(to).map(Sign::Plan),
        Effect::UseSkill { name: Some(name) } => name.starts_with(&COMMAND[1..]).then_some(Sign::SomePlan),
        Effect::Run { program, arguments, directory, .. } if is_provost(program) => {
            let (first, rest) = arguments.split_first()?;
            // To look at a plan is not to work on it.
            if first != "review" || rest.first().is_none_or(|command| command == "status") {
                return None;
            }
            let named = |pair: &[String]| (pair[0] == "--plan").then(|| pair[1].clone());
            let joined = |argument: &String| argument.strip_prefix("--plan=").map(str::to_owned);
            let name = rest.windows(2).find_map(named).or_else(|| rest.iter().find_map(joined));
            let start = directory.as_deref().unwrap_or(&event.cwd);
            let plan = name.map(|name| Plan::named(&name, start, workspace));
            plan.map_or(Some(Sign::SomePlan), |plan| plan.map(Sign::Plan))
        }
        _ => None,
    }
}

/// The plan that a text names by its path. An id may have anything in it, so the plans that there are
/// say where it ends.
fn named_in(text: &str, roots: &[PathBuf], workspace: &Workspace) -> Option<Plan> {
    let ends = |rest: &str| {
        let behind = rest.trim_start_matches('.').chars().next();
        behind.is_none_or(|c| c == '/' || c.is_whitespace() || "\"'`),;:".contains(c))
    };
    let plans: Vec<Plan> = roots.iter().flat_map(|root| below(root, workspace)).collect();
    let mentions = text.match_indices(PLANS).filter_map(|(at, _)| text[at + PLANS.len()..].strip_prefix('/'));
    let mut named = mentions.filter_map(|rest| {
        // Of equal ones the last is taken, and the nearest plans stand first.
        let fitting = plans.iter().rev().filter(|plan| rest.strip_prefix(plan.id.as_str()).is_some_and(ends));
        fitting.max_by_key(|plan| plan.id.len())
    });
    named.next().cloned()
}
