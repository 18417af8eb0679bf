//! `provost check`: what a command line would do, as Provost understands it.

use std::io::{self, Write};
use std::path::Path;

use serde_json::{Value, json};

use super::screen::{BOLD, CYAN, DIM, colour_of, painted, width, wrapped};
use super::{Exit, Outcome, current_directory};
use crate::clients;
use crate::decision::{Decision, Finding, Ruling, Verdict};
use crate::effect::Effect;
use crate::effect::git::{NamedBranch, UpdatedBranch};
use crate::engine;
use crate::event::{self, Agent, Call, Event, Kind, Tool};
use crate::registry::{self, GUARDS};
use crate::text::{one_line, shell_word};
use crate::workspace::Workspace;

/// Show what a command line would do, and what each guard would say to it
///
/// Nothing is run. The command is read as a shell in the current directory would read it: every
/// program of every part of it, what it would write, delete, read and set, and what cannot be known.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  provost check ls -la
  provost check 'git log --oneline | tee log.txt'
  provost check --agent tdd-planner 'find . -name \"*.tmp\" -delete'
  provost check --json rm -rf build

Exit codes: 0 allowed; 1 denied.")]
pub(crate) struct Check {
    /// The kind of agent that would run it; without, it is the main conversation
    #[arg(long, value_name = "TYPE")]
    agent: Option<String>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    /// The command line: as one word, or as the words of a command with its arguments
    #[arg(required = true, value_name = "COMMAND", trailing_var_arg = true)]
    command: Vec<String>,
}

impl Check {
    pub(crate) fn run(self) -> Outcome {
        let cwd = current_directory()?;
        let call = Call {
            native_tool: String::new(),
            id: None,
            tool: Tool::Shell { command: command_line(&self.command) },
            outcome: event::Outcome::default(),
        };
        let mut event = Event::new(String::new(), Kind::BeforeTool(call), cwd);
        event.agent = self.agent.map(|kind| Agent { id: None, kind: Some(kind) });
        let workspace = Workspace::of(clients::DEFAULT, &event);
        event.home.clone_from(&workspace.places.home);
        let concerned = GUARDS.iter().filter(|guard| registry::concerns(guard, &event)).collect();
        let guards = registry::asked_about(&event, concerned, &[], &workspace.config);
        let mut findings = Vec::new();
        engine::ask(&guards, &event, &workspace, |_| {}, |finding| findings.push(finding));
        // What is none of its business, a guard was as good as not asked about.
        findings.retain(|finding| !finding.outcome.as_ref().is_ok_and(|opinion| opinion.is_unconcerned));
        let denied = !matches!(Decision::fold(&findings).ruling, Ruling::Silence);
        let mut out = anstream::stdout().lock();
        if self.json {
            let effects: Vec<Value> = event.effects().iter().map(as_json).collect();
            let guards: Vec<Value> = findings.iter().map(guard_as_json).collect();
            crate::cli::screen::json(
                &mut out,
                &json!({"denied": denied, "effects": effects, "guards": guards}),
            )?;
        } else {
            show(&mut out, event.effects(), &event.cwd)?;
            for finding in &findings {
                show_guard(&mut out, finding)?;
            }
        }
        Ok(if denied { Exit::Found } else { Exit::Done })
    }
}

/// One word is a command line by itself; of several, a shell has already taken the quotes away.
fn command_line(words: &[String]) -> String {
    match words {
        [line] => line.clone(),
        words => words.iter().map(|word| shell_word(word)).collect::<Vec<_>>().join(" "),
    }
}

/// An effect as a verb and what it is about.
fn in_words(effect: &Effect) -> (&'static str, String) {
    let shown = |path: &Path| path.display().to_string();
    match effect {
        Effect::Run { program, arguments, .. } => {
            let words: Vec<&str> = std::iter::once(program).chain(arguments).map(String::as_str).collect();
            ("runs", words.join(" "))
        }
        Effect::Act { program, by, does } => ("acts", format!("{program} {by}: {does}")),
        Effect::Commit { site, dry_run } => {
            let place = site.repository.as_deref().map_or("a repository that is not known".into(), shown);
            let branch = match site.named_branch() {
                NamedBranch::Current => "its current branch",
                NamedBranch::Named(name) => name,
                NamedBranch::Unknown => "a branch that is not known",
            };
            let kind = if *dry_run { " (only tried)" } else { "" };
            ("commits", format!("to {branch} in {place}{kind}"))
        }
        Effect::UpdateBranch(update) => {
            let branch = match &update.branch {
                UpdatedBranch::CheckedOut => "the branch that is checked out",
                UpdatedBranch::Named(name) => name,
                UpdatedBranch::Unknown => "a branch that is not known",
            };
            ("updates", format!("{branch} by git {}", update.command))
        }
        Effect::Write { path, .. } => ("writes", shown(path)),
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
        Effect::Somewhere { target, .. } => ("writes", format!("{target}, which cannot be known")),
        Effect::Obscure { what } | Effect::TooLarge { what } => ("unknown", what.clone()),
        other => ("does", format!("{other:?}")),
    }
}

fn as_json(effect: &Effect) -> Value {
    let (does, what) = in_words(effect);
    match effect {
        Effect::Run { program, arguments, directory, .. } => {
            json!({"does": does, "program": program, "arguments": arguments, "directory": directory})
        }
        Effect::Act { program, by, does: what } => {
            json!({"does": does, "program": program, "by": by, "what": what})
        }
        Effect::Commit { site, dry_run } => {
            let (on, name) = match site.named_branch() {
                NamedBranch::Current => ("current", None),
                NamedBranch::Named(name) => ("named", Some(name)),
                NamedBranch::Unknown => ("unknown", None),
            };
            json!({"does": does, "repository": site.repository, "on": on, "branch": name, "dry_run": dry_run})
        }
        Effect::Place { names, to, .. } => json!({"does": does, "names": names, "to": to}),
        Effect::Write { path, .. } | Effect::Delete { path } | Effect::Read { path, .. } => {
            json!({"does": does, "path": path})
        }
        Effect::SetVariable { name, value } => json!({"does": does, "name": name, "value": value}),
        _ => json!({"does": does, "what": what}),
    }
}

fn guard_as_json(finding: &Finding) -> Value {
    let name = finding.guard.name;
    match &finding.outcome {
        Ok(opinion) => match &opinion.verdict {
            Verdict::Silence => json!({"guard": name, "opinion": "silence"}),
            Verdict::Ask(denial) | Verdict::Deny(denial) => {
                let opinion = if matches!(opinion.verdict, Verdict::Ask(_)) { "ask" } else { "deny" };
                json!({"guard": name, "opinion": opinion, "what": denial.what, "why": denial.why, "fix": denial.fix})
            }
        },
        Err(fault) => json!({"guard": name, "opinion": "fault", "what": fault.to_string()}),
    }
}

fn show(out: &mut impl Write, effects: &[Effect], cwd: &Path) -> io::Result<()> {
    for effect in effects {
        // Any word may name a file that a program reads; most do not.
        if matches!(effect, Effect::Read { path, .. } if !path.exists()) {
            continue;
        }
        let (verb, what) = in_words(effect);
        let colour = match verb {
            "runs" => BOLD,
            "reads" => DIM,
            "unknown" | "acts" | "writes" | "deletes" => colour_of("ask"),
            _ => CYAN,
        };
        let elsewhere = match effect {
            Effect::Run { directory: Some(directory), .. } if directory != cwd => {
                format!("  (in {})", directory.display())
            }
            Effect::Run { directory: None, .. } => "  (in a directory that is not certain)".into(),
            _ => String::new(),
        };
        writeln!(
            out,
            "{}  {}{}",
            painted(colour, &format!("{verb:8}")),
            one_line(&what),
            painted(DIM, &one_line(&elsewhere))
        )?;
    }
    Ok(())
}

fn show_guard(out: &mut impl Write, finding: &Finding) -> io::Result<()> {
    let (word, texts) = match &finding.outcome {
        Ok(opinion) => match &opinion.verdict {
            Verdict::Silence => ("silence", Vec::new()),
            Verdict::Ask(denial) => {
                ("ask", vec![("what", &denial.what), ("why", &denial.why), ("to fix", &denial.fix)])
            }
            Verdict::Deny(denial) => {
                ("deny", vec![("what", &denial.what), ("why", &denial.why), ("to fix", &denial.fix)])
            }
        },
        Err(_) => ("fault", Vec::new()),
    };
    writeln!(out)?;
    writeln!(out, "{}  {}", painted(BOLD, finding.guard.name), painted(colour_of(word), word))?;
    for (label, text) in texts {
        let text = wrapped(&one_line(text), 12, width());
        writeln!(out, "  {}  {}", painted(CYAN, &format!("{label:8}")), text.trim_start())?;
    }
    if let Err(fault) = &finding.outcome {
        writeln!(out, "  {}", one_line(&fault.to_string()))?;
    }
    Ok(())
}
