//! `provost check`: what a command line would do, and how the guards judge it.

use std::io::{self, Write};
use std::path::Path;

use serde_json::{Value, json};

use super::screen::{self, BOLD, CYAN, DIM, decision_colour, paint, print_detail};
use super::{CommandResult, Exit, current_directory};
use crate::cli::current_client;
use crate::decision::{Decision, Finding, Ruling};
use crate::effect::git::{CommitMessage, NamedBranch, Push, PushForce, PushTarget, UpdatedBranch};
use crate::effect::{Effect, Line, WriteContent};
use crate::engine;
use crate::environment::{open_workspace, read_places};
use crate::event::{Agent, Event, EventKind};
use crate::opinion::{Denial, Verdict};
use crate::registry::GuardSelection;
use crate::text::{make_one_line, quote_for_shell, quote_start};
use crate::tool::{Tool, ToolCall};

/// Show what a command would do, and whether a guard would deny it
///
/// Runs nothing. Reads the command as a shell in the current directory would: each program that it
/// runs, what it writes, deletes, reads and sets, and what cannot be known.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  provost check ls -la
  provost check 'git log --oneline | tee log.txt'
  provost check --agent tdd-planner 'find . -name \"*.tmp\" -delete'
  provost check --json rm -rf build

Exit codes: 0 allowed; 1 denied.")]
pub(crate) struct Check {
    /// Judge the command as one of this type of subagent [default: the main conversation]
    #[arg(long, value_name = "TYPE")]
    agent: Option<String>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    /// The command line: one quoted word, or a command with its arguments
    #[arg(required = true, value_name = "COMMAND", trailing_var_arg = true)]
    command: Vec<String>,
}

impl Check {
    pub(crate) fn run(self) -> CommandResult {
        let cwd = current_directory()?;
        let call = ToolCall {
            native_tool: String::new(),
            other_name: None,
            id: None,
            tool: Tool::Shell { command: join_words(&self.command) },
            outcome: crate::tool::ToolOutcome::default(),
        };
        let mut event = Event::new(String::new(), EventKind::BeforeTool(call), cwd);
        event.agent = self.agent.map(|kind| Agent { id: None, kind: Some(kind) });
        event.home = read_places().home;
        let workspace = open_workspace(current_client(), &event);
        let guards = GuardSelection::select_for_event(&event, &workspace.config);
        let mut findings = engine::ask_guards(&guards, &event, &workspace);
        // A guard that the call does not concern is not listed.
        findings.retain(|finding| !finding.is_unconcerned());
        let denied = !matches!(Decision::fold(&findings).ruling, Ruling::Silence);
        let mut out = anstream::stdout().lock();
        if self.json {
            let line = event.line();
            let numbered = line.effects.iter().zip(&line.command_numbers);
            let effects: Vec<Value> =
                numbered.map(|(effect, number)| effect_to_json(effect, line, *number)).collect();
            let guards: Vec<Value> = findings.iter().map(finding_to_json).collect();
            screen::print_json(&mut out, &json!({"denied": denied, "effects": effects, "guards": guards}))?;
        } else {
            print_effects(&mut out, event.effects(), &event.cwd)?;
            for finding in &findings {
                print_finding(&mut out, finding)?;
            }
        }
        Ok(if denied { Exit::Problem } else { Exit::Done })
    }
}

/// One word is a whole command line. Several words have lost their quotes to the calling shell, and get them back.
fn join_words(words: &[String]) -> String {
    match words {
        [line] => line.clone(),
        words => words.iter().map(|word| quote_for_shell(word)).collect::<Vec<_>>().join(" "),
    }
}

/// A verb for an effect, and its object.
fn describe_effect(effect: &Effect) -> (&'static str, String) {
    let shown = |path: &Path| path.display().to_string();
    match effect {
        Effect::Run { program, arguments, .. } => {
            let words: Vec<&str> = std::iter::once(program).chain(arguments).map(String::as_str).collect();
            ("runs", words.join(" "))
        }
        Effect::MutatingOption { program, by, does } => ("acts", format!("{program} {by}: {does}")),
        Effect::Commit { site, dry_run, message, .. } => {
            let place = site.repository.as_deref().map_or("an unknown repository".into(), shown);
            let branch = match site.named_branch() {
                NamedBranch::Current => "its current branch",
                NamedBranch::Named(name) => name,
                NamedBranch::Unknown => "an unknown branch",
            };
            let kind = if *dry_run { " (dry run)" } else { "" };
            let message = match message {
                CommitMessage::Known(message) => format!(": {}", quote_start(message)),
                CommitMessage::InFile(file) => format!(", with the message in {}", shown(file)),
                CommitMessage::Unknown => ", with a message that is not known".into(),
                CommitMessage::NotGiven => String::new(),
            };
            ("commits", format!("to {branch} in {place}{kind}{message}"))
        }
        Effect::UpdateBranch(update) => {
            let branch = match &update.branch {
                UpdatedBranch::CheckedOut => "the branch that is checked out",
                UpdatedBranch::Named(name) => name,
                UpdatedBranch::Unknown => "an unknown branch",
            };
            ("updates", format!("{branch} by git {}", update.command))
        }
        Effect::RunFetched => ("runs", "code that this line fetches from the network".into()),
        Effect::Send { program, destination } => {
            let to = destination.as_deref().unwrap_or("the network");
            ("sends", format!("data to {to} by {program}"))
        }
        Effect::Push(push) => ("pushes", describe_push(push)),
        Effect::Write { path, content } => {
            let (sign, text) = match content {
                WriteContent::Known { text, append: false, .. } => ("", text),
                WriteContent::Known { text, append: true, .. } => ("appends ", text),
                WriteContent::Adds { text } => ("adds ", text),
                WriteContent::Copied { file, append } => {
                    let sign = if *append { "appends " } else { "" };
                    return ("writes", format!("{}: {sign}what {} holds", shown(path), shown(file)));
                }
                WriteContent::InCall | WriteContent::Unknown => return ("writes", shown(path)),
            };
            ("writes", format!("{}: {sign}{}", shown(path), quote_start(text)))
        }
        Effect::Place { names, to, .. } => {
            let names: Vec<String> = names.iter().map(|name| shown(name)).collect();
            ("writes", format!("{} at {}", names.join(" "), shown(to)))
        }
        Effect::Delete { path } => ("deletes", shown(path)),
        Effect::ChangeTree(change) => (
            "changes",
            format!("files of the work tree at {} by git {}", shown(&change.directory), change.command),
        ),
        Effect::ApplyPatch(patch) => (
            "changes",
            format!("files that a patch names, at {}, by {}", shown(&patch.directory), patch.program),
        ),
        Effect::Read { path, .. } => ("reads", shown(path)),
        Effect::SetVariable { name, value } => {
            ("sets", value.as_ref().map_or_else(|| name.clone(), |value| format!("{name} to `{value}`")))
        }
        Effect::UnknownTarget { target, .. } => ("writes", format!("{target} (unknown path)")),
        Effect::UnknownRead { target, .. } => ("reads", format!("{target} (unknown path)")),
        Effect::ChangeBelow { directory, .. } => ("changes", format!("files below {}", shown(directory))),
        Effect::Unparsed { what, .. } | Effect::TooLarge { what } => ("unknown", what.clone()),
        Effect::Touch { path } => ("may change", shown(path)),
    }
}

fn describe_push(push: &Push) -> String {
    let branches = push.branches.iter().map(|branch| {
        let name = match &branch.target {
            PushTarget::Upstream => "the upstream of the current branch",
            PushTarget::CheckedOut => "the current branch",
            PushTarget::Named(name) => name,
            PushTarget::All => "all branches",
            PushTarget::Unknown => "an unknown branch",
        };
        let mark = match (branch.is_deletion, branch.force) {
            (true, _) => " (deletes it)",
            (false, PushForce::Never) => "",
            (false, PushForce::WithLease) => " (force with lease)",
            (false, PushForce::Always) => " (force)",
        };
        format!("{name}{mark}")
    });
    let branches: Vec<String> = branches.collect();
    let branches = if branches.is_empty() { "tags".to_owned() } else { branches.join(", ") };
    let remote = push.remote.as_deref().unwrap_or("the default remote");
    format!("{branches} to {remote}{}", if push.is_dry_run { " (dry run)" } else { "" })
}

/// `number`: the command that has the effect.
fn known_message(message: &CommitMessage) -> Option<&str> {
    if let CommitMessage::Known(message) = message { Some(message) } else { None }
}

fn effect_to_json(effect: &Effect, line: &Line, number: u32) -> Value {
    let (does, what) = describe_effect(effect);
    let mut value = match effect {
        Effect::Run { program, arguments, directory, .. } => {
            json!({"does": does, "program": program, "arguments": arguments, "directory": directory})
        }
        Effect::MutatingOption { program, by, does: what } => {
            json!({"does": does, "program": program, "by": by, "what": what})
        }
        Effect::Commit { site, dry_run, message, .. } => {
            let (on, name) = match site.named_branch() {
                NamedBranch::Current => ("current", None),
                NamedBranch::Named(name) => ("named", Some(name)),
                NamedBranch::Unknown => ("unknown", None),
            };
            json!({"does": does, "repository": site.repository, "on": on, "branch": name, "dry_run": dry_run, "message": known_message(message)})
        }
        Effect::Place { names, to, .. } => json!({"does": does, "names": names, "to": to}),
        Effect::Write { path, content: WriteContent::Known { text, append, .. } } => {
            json!({"does": does, "path": path, "text": &**text, "append": append})
        }
        Effect::Write { path, content: WriteContent::Adds { text } } => {
            json!({"does": does, "path": path, "adds": &**text})
        }
        Effect::Write { path, .. } | Effect::Delete { path } | Effect::Read { path, .. } => {
            json!({"does": does, "path": path})
        }
        Effect::SetVariable { name, value } => json!({"does": does, "name": name, "value": value}),
        _ => json!({"does": does, "what": what}),
    };
    value["command"] = number.into();
    if let Some(command) = line.commands.get(number as usize) {
        value["pipeline"] = command.pipeline.into();
        if matches!(effect, Effect::Run { .. }) {
            value["decides_status"] = command.decides_status.into();
        }
    }
    value
}

/// A guard's opinion in one word, and the denial if there is one.
fn describe_opinion(finding: &Finding) -> (&'static str, Option<&Denial>) {
    let Ok(opinion) = &finding.outcome else { return ("fault", None) };
    match (&opinion.verdict, finding.is_watched) {
        (Verdict::Silence, _) if opinion.is_silent() => ("silence", None),
        (Verdict::Silence, false) => ("warn", None),
        (Verdict::Silence, true) => ("would warn", None),
        (Verdict::Ask(denial), false) => ("ask", Some(denial)),
        (Verdict::Ask(denial), true) => ("would ask", Some(denial)),
        (Verdict::Deny(denial), false) => ("deny", Some(denial)),
        (Verdict::Deny(denial), true) => ("would deny", Some(denial)),
    }
}

/// The text of a warning, without its tag.
fn warning_text(finding: &Finding) -> Option<&str> {
    let opinion = finding.outcome.as_ref().ok()?;
    let text = opinion.to_user.as_deref().or(opinion.to_model.as_deref())?;
    Some(text.strip_prefix("[provost] ").unwrap_or(text))
}

fn list_evidence(finding: &Finding) -> &[String] {
    finding.outcome.as_ref().map_or(&[], |opinion| &opinion.evidence)
}

fn finding_to_json(finding: &Finding) -> Value {
    let (opinion, denial) = describe_opinion(finding);
    let mut value = json!({"guard": finding.name(), "opinion": opinion});
    if let Some(denial) = denial {
        value["what"] = denial.what.as_str().into();
        value["why"] = denial.why.as_str().into();
        value["fix"] = denial.fix.as_str().into();
    }
    match (&finding.outcome, warning_text(finding)) {
        (Err(fault), _) => value["what"] = fault.to_string().into(),
        (Ok(_), Some(text)) if denial.is_none() => value["what"] = text.into(),
        _ => {}
    }
    if finding.judge.rule.is_some() {
        value["evidence"] = list_evidence(finding).into();
    }
    value
}

fn print_effects(out: &mut impl Write, effects: &[Effect], cwd: &Path) -> io::Result<()> {
    for effect in effects {
        // Every word that could name a file counts as read; most of them name none.
        if matches!(effect, Effect::Read { path, .. } if !path.exists()) {
            continue;
        }
        let (verb, what) = describe_effect(effect);
        let colour = match verb {
            "runs" => BOLD,
            "reads" => DIM,
            "unknown" | "acts" | "writes" | "deletes" => decision_colour("ask"),
            _ => CYAN,
        };
        let place = match effect {
            Effect::Run { directory: Some(directory), .. } if directory != cwd => {
                format!("  (in {})", directory.display())
            }
            Effect::Run { directory: None, .. } => "  (in an unknown directory)".into(),
            _ => String::new(),
        };
        writeln!(
            out,
            "{}  {}{}",
            paint(colour, &format!("{verb:8}")),
            make_one_line(&what),
            paint(DIM, &make_one_line(&place))
        )?;
    }
    Ok(())
}

fn print_finding(out: &mut impl Write, finding: &Finding) -> io::Result<()> {
    let (word, denial) = describe_opinion(finding);
    writeln!(out)?;
    writeln!(out, "{}  {}", paint(BOLD, finding.name()), paint(decision_colour(word), word))?;
    if let Some(denial) = denial {
        for (label, text) in [("what", &denial.what), ("why", &denial.why), ("to fix", &denial.fix)] {
            print_detail(out, CYAN, label, &make_one_line(text))?;
        }
    }
    if denial.is_none()
        && let Some(text) = warning_text(finding)
    {
        print_detail(out, CYAN, "what", &make_one_line(text))?;
    }
    if finding.judge.rule.is_some() {
        for evidence in list_evidence(finding) {
            print_detail(out, CYAN, "evidence", &make_one_line(evidence))?;
        }
    }
    if let Err(fault) = &finding.outcome {
        writeln!(out, "  {}", make_one_line(&fault.to_string()))?;
    }
    Ok(())
}
