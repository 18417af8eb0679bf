//! Shows a scenario while it is played, one short line for each event.
//!
//! When several scenarios are played at once, the lines of each are collected and printed together.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anstyle::{AnsiColor, Style};
use rehearsal::{Error, HookRecord, Observer, RunEvent, Verdict};
use serde_json::Value;

const WIDTH: usize = 90;

const GOOD: Style = AnsiColor::Green.on_default();
const BAD: Style = AnsiColor::Red.on_default().bold();

/// Prints a scenario while it is played, or collects the lines until it is over.
pub(crate) struct Progress {
    quiet: bool,
    is_live: bool,
    collected: String,
    has_failed: bool,
    interrupted: Arc<AtomicBool>,
}

impl Progress {
    pub(crate) fn new(quiet: bool, is_live: bool, interrupted: Arc<AtomicBool>) -> Self {
        // With `--quiet`, lines are collected until the scenario is known to have failed.
        Self { quiet, is_live: is_live && !quiet, collected: String::new(), has_failed: false, interrupted }
    }

    pub(crate) fn show_title(&mut self, title: &str) {
        let title = paint(Style::new().bold(), title);
        self.line(&format!("▸ {title}"));
    }

    pub(crate) fn show_verdict(&mut self, file: &Path, verdict: &Verdict, seconds: f64) {
        let checks = match verdict.checks {
            1 => "1 check".to_owned(),
            n => format!("{n} checks"),
        };
        if verdict.mismatches.is_empty() {
            let word = paint(GOOD, "ok");
            self.line(&format!("  {word}  {checks}, {seconds:.1} s"));
            return;
        }
        self.has_failed = true;
        for mismatch in &verdict.mismatches {
            let cross = paint(BAD, "✗");
            let text = mismatch.to_string().replace('\n', "\n    ");
            self.line(&format!("  {cross} {text}"));
        }
        let word = paint(BAD, "failed");
        let count = verdict.mismatches.len();
        self.line(&format!("  {word}  {count} wrong, {checks}, {seconds:.1} s, {}", file.display()));
    }

    pub(crate) fn show_error(&mut self, error: &Error) {
        self.has_failed = true;
        let word = paint(BAD, "cannot be played");
        let text = error.to_string().replace('\n', "\n    ");
        self.line(&format!("  {word}  {text}"));
    }

    pub(crate) fn show_kept(&mut self, root: &Path) {
        // Shown even with `--quiet`, because the user asked to keep it.
        let line = format!("  kept  {}", root.display());
        if self.quiet && !self.has_failed { print(&format!("{line}\n")) } else { self.line(&line) }
    }

    /// Prints what was collected.
    pub(crate) fn finish(self) {
        if !self.quiet || self.has_failed {
            print(&self.collected);
        }
    }

    fn line(&mut self, line: &str) {
        if self.is_live {
            print(&format!("{line}\n"));
        } else {
            self.collected.push_str(line);
            self.collected.push('\n');
        }
    }

    fn show_event(&mut self, who: &str, what: &str) {
        let who = paint(Style::new().dimmed(), &format!("{who:<6}"));
        self.line(&format!("    {who} {what}"));
    }

    fn show_hook(&mut self, hook: &HookRecord) {
        let name = [Some(hook.event.as_str()), hook.tool.as_deref()]
            .into_iter()
            .flatten()
            .collect::<Vec<_>>()
            .join(" ");
        let millis = hook.end.as_ref().map_or(0, |end| end.micros / 1000);
        let time = paint(Style::new().dimmed(), &format!("{millis} ms"));
        self.show_event("hook", &format!("{name}  {}  {time}", describe_end(hook)));
    }
}

impl Observer for Progress {
    fn wants_to_stop(&self) -> bool {
        self.interrupted.load(Ordering::SeqCst)
    }

    fn observe(&mut self, moment: &RunEvent) {
        match moment {
            RunEvent::Answered { route, text, calls, .. } => {
                let who = if route == "main" { "model" } else { route };
                if let Some(text) = text {
                    self.show_event(who, &format!("→ {:?}", first_line(text)));
                }
                for (tool, input) in calls {
                    self.show_event(who, &format!("→ {tool} {}", summarize_input(input)));
                }
            }
            RunEvent::Failed { route, status } => {
                let who = if route == "main" { "model" } else { route };
                self.show_event(who, &format!("→ error {status}"));
            }
            RunEvent::Hook(hook) => self.show_hook(hook),
            RunEvent::Asked { tool, allowed } => {
                let answer = if *allowed { "allows" } else { "denies" };
                self.show_event("host", &format!("{answer} {tool}"));
            }
            RunEvent::User(what) => self.show_event("user", what),
            RunEvent::Outside(what) => self.show_event("user", what),
        }
    }
}

/// The most useful part of a tool call's input: a command or a path, or else everything.
fn summarize_input(input: &str) -> String {
    let value: Value = serde_json::from_str(input).unwrap_or_default();
    let part = ["command", "file_path", "prompt", "plan"].iter().find_map(|key| value[key].as_str());
    first_line(part.unwrap_or(if input == "{}" { "" } else { input }))
}

/// How a hook ended, in the words of the client's protocol.
fn describe_end(hook: &HookRecord) -> String {
    let Some(end) = &hook.end else {
        return "cut off".to_owned();
    };
    let answer = hook.answer().unwrap_or_default();
    let specific = &answer["hookSpecificOutput"];
    let decision = specific["permissionDecision"].as_str().or_else(|| answer["decision"].as_str());
    let reason = [
        &specific["permissionDecisionReason"],
        &answer["reason"],
        &specific["additionalContext"],
        &answer["systemMessage"],
    ]
    .into_iter()
    .find_map(Value::as_str);
    let mut words = Vec::new();
    match (end.exit, end.signal) {
        (Some(0), _) => {}
        (Some(exit), _) => words.push(format!("exit {exit}")),
        (None, signal) => words.push(format!("signal {}", signal.unwrap_or_default())),
    }
    words.extend(decision.map(str::to_owned));
    let output = || [end.stderr.trim(), end.stdout.trim()].into_iter().find(|text| !text.is_empty());
    words.extend(reason.or_else(output).map(|text| format!("{:?}", first_line(text))));
    if words.is_empty() { "silent".to_owned() } else { words.join(" ") }
}

fn first_line(text: &str) -> String {
    let line = text.trim().lines().next().unwrap_or_default();
    if line.chars().count() <= WIDTH && line.len() == text.trim().len() {
        return line.to_owned();
    }
    let start: String = line.chars().take(WIDTH).collect();
    format!("{start}…")
}

fn paint(style: Style, text: &str) -> String {
    format!("{style}{text}{style:#}")
}

/// Prints to standard output, and ignores a closed pipe (`| head`).
pub(crate) fn print(text: &str) {
    let mut stdout = anstream::stdout().lock();
    let _ = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
}
