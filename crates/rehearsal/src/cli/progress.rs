//! Shows a rehearsal while it happens.
//!
//! One line per moment, short enough to read along. When several scenarios are played at once
//! their lines are held back and shown together, because interleaved dialogue tells nothing.

use std::io::{IsTerminal, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rehearsal::{Error, HookRecord, Moment, Observer, Verdict};
use serde_json::Value;

const WIDTH: usize = 90;

/// Whether to use colours.
#[derive(Clone, Copy)]
pub(crate) struct Paint(bool);

impl Paint {
    pub(crate) fn of_stdout() -> Self {
        let wanted = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        Self(wanted && std::io::stdout().is_terminal())
    }

    fn with(self, code: &str, text: &str) -> String {
        if self.0 { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }

    fn good(self, text: &str) -> String {
        self.with("32", text)
    }

    fn bad(self, text: &str) -> String {
        self.with("1;31", text)
    }

    fn dim(self, text: &str) -> String {
        self.with("2", text)
    }

    fn strong(self, text: &str) -> String {
        self.with("1", text)
    }
}

pub(crate) struct Screen {
    paint: Paint,
    quiet: bool,
    live: bool,
    held: String,
    failed: bool,
    interrupted: Arc<AtomicBool>,
}

impl Screen {
    pub(crate) fn new(paint: Paint, quiet: bool, live: bool, interrupted: Arc<AtomicBool>) -> Self {
        // What is quiet shows nothing until it is known to have failed.
        Self { paint, quiet, live: live && !quiet, held: String::new(), failed: false, interrupted }
    }

    pub(crate) fn title(&mut self, title: &str) {
        let title = self.paint.strong(title);
        self.line(&format!("▸ {title}"));
    }

    pub(crate) fn verdict(&mut self, file: &Path, verdict: &Verdict, seconds: f64) {
        let checks = match verdict.checks {
            1 => "1 check".to_owned(),
            n => format!("{n} checks"),
        };
        if verdict.mismatches.is_empty() {
            let word = self.paint.good("ok");
            self.line(&format!("  {word}  {checks}, {seconds:.1} s"));
            return;
        }
        self.failed = true;
        for mismatch in &verdict.mismatches {
            let cross = self.paint.bad("✗");
            let told = mismatch.to_string().replace('\n', "\n    ");
            self.line(&format!("  {cross} {told}"));
        }
        let word = self.paint.bad("failed");
        let count = verdict.mismatches.len();
        self.line(&format!("  {word}  {count} wrong, {checks}, {seconds:.1} s, {}", file.display()));
    }

    pub(crate) fn cannot_play(&mut self, error: &Error) {
        self.failed = true;
        let word = self.paint.bad("cannot be played");
        let told = error.to_string().replace('\n', "\n    ");
        self.line(&format!("  {word}  {told}"));
    }

    pub(crate) fn kept(&mut self, root: &Path) {
        // Said even when quiet: whoever asked to keep it wants to find it.
        let line = format!("  kept  {}", root.display());
        if self.quiet && !self.failed { tell(&format!("{line}\n")) } else { self.line(&line) }
    }

    /// Shows what was held back.
    pub(crate) fn finish(self) {
        if !self.quiet || self.failed {
            tell(&self.held);
        }
    }

    fn line(&mut self, line: &str) {
        if self.live {
            tell(&format!("{line}\n"));
        } else {
            self.held.push_str(line);
            self.held.push('\n');
        }
    }

    fn moment(&mut self, who: &str, what: &str) {
        let who = self.paint.dim(&format!("{who:<6}"));
        self.line(&format!("    {who} {what}"));
    }

    fn hook(&mut self, hook: &HookRecord) {
        let name = [Some(hook.event.as_str()), hook.tool.as_deref()]
            .into_iter()
            .flatten()
            .collect::<Vec<_>>()
            .join(" ");
        let millis = hook.end.as_ref().map_or(0, |end| end.micros / 1000);
        let time = self.paint.dim(&format!("{millis} ms"));
        self.moment("hook", &format!("{name}  {}  {time}", outcome(hook)));
    }
}

impl Observer for Screen {
    fn has_seen_enough(&self) -> bool {
        self.interrupted.load(Ordering::SeqCst)
    }

    fn see(&mut self, moment: &Moment) {
        match moment {
            Moment::Answered { route, text, calls, .. } => {
                let who = if route == "main" { "model" } else { route };
                if let Some(text) = text {
                    self.moment(who, &format!("→ {:?}", first_line(text)));
                }
                for (tool, input) in calls {
                    self.moment(who, &format!("→ {tool} {}", gist(input)));
                }
            }
            Moment::Failed { route, status } => {
                let who = if route == "main" { "model" } else { route };
                self.moment(who, &format!("→ error {status}"));
            }
            Moment::Hook(hook) => self.hook(hook),
            Moment::Asked { tool, allowed } => {
                let answer = if *allowed { "allows" } else { "denies" };
                self.moment("host", &format!("{answer} {tool}"));
            }
            Moment::User(what) => self.moment("user", what),
            Moment::Outside(what) => self.moment("person", what),
        }
    }
}

/// The part of a call that tells most: a command, a path, or else everything.
fn gist(input: &str) -> String {
    let value: Value = serde_json::from_str(input).unwrap_or_default();
    let telling = ["command", "file_path", "prompt", "plan"].iter().find_map(|key| value[key].as_str());
    first_line(telling.unwrap_or(if input == "{}" { "" } else { input }))
}

/// How a hook ended, in the words of the client's protocol.
fn outcome(hook: &HookRecord) -> String {
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
    let said =
        reason.or_else(|| [end.stderr.trim(), end.stdout.trim()].into_iter().find(|said| !said.is_empty()));
    words.extend(said.map(|said| format!("{:?}", first_line(said))));
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

/// Writes to stdout; a reader that has gone away (`| head`) is no reason to panic.
pub(crate) fn tell(text: &str) {
    let mut stdout = std::io::stdout().lock();
    let _ = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
}
