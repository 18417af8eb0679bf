//! The person's way past a guard: one denial becomes silence, once, for a reason.
//!
//! A prompt that begins with `provost override GUARD REASON` is a [`Request`]; the guard `override`
//! makes a permission of it, a file in the state directory for this session and this guard. It is
//! looked for only when such a guard has denied ([`apply`]), and used up by a rename, which
//! succeeds for one call alone. The new name holds the call's name, because a client that has two
//! entries for Provost asks two processes about one call, and both must come to the same answer.

use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use crate::config;
use crate::decision::{Denial, Finding, Opinion, Verdict};
use crate::event::Event;
use crate::files;
use crate::registry::{GUARDS, Guard};
use crate::text::{bounded, clipped, one_line};
use crate::workspace::{Workspace, fnv1a};

/// How long a permission can be used.
pub const VALID: Duration = Duration::from_hours(1);
/// How long the files of permissions stay, used or not.
const KEPT: Duration = Duration::from_hours(24);
const LARGEST: u64 = 64 << 10;
/// No request is longer; of a longer prompt nothing else is looked at.
const LONGEST_LINE: usize = 2000;
const LONGEST_REASON: usize = 300;

/// A prompt's wish to pass a guard, whether it can be granted or not.
#[derive(Debug, PartialEq, Eq)]
pub struct Request<'a> {
    /// As it was written; empty if it is missing.
    pub guard: &'a str,
    /// On one line; empty if it is missing.
    pub reason: String,
}

impl<'a> Request<'a> {
    /// Reads `provost override GUARD [:] [because] REASON` from the first line of a text.
    pub fn read(text: &'a str) -> Option<Self> {
        let text = text.trim_start();
        let end = text.char_indices().nth(LONGEST_LINE).map_or(text.len(), |(at, _)| at);
        let line = text[..end].lines().next()?;
        let rest = after_word(after_word(line, "provost")?, "override")?;
        let (guard, rest) = rest.split_at(rest.find(is_between).unwrap_or(rest.len()));
        let rest = rest.trim_start_matches(is_between);
        let rest = after_word(rest, "because").unwrap_or(rest).trim();
        // A reason is words, not a full stop.
        let reason = if rest.contains(char::is_alphanumeric) { rest } else { "" };
        Some(Self {
            guard: guard.trim_matches(['`', '"', '\'']),
            reason: bounded(&one_line(reason), LONGEST_REASON).into_owned(),
        })
    }

    /// The guard that it names, if that can be overridden.
    pub fn overridable(&self) -> Option<&'static Guard> {
        Guard::find(self.guard).filter(|guard| guard.overridable)
    }
}

/// What is left of a text behind a word and what separates it.
fn after_word<'a>(text: &'a str, word: &str) -> Option<&'a str> {
    let (first, rest) = text.split_at_checked(word.len())?;
    let ends = rest.is_empty() || rest.starts_with(is_between);
    (ends && first.eq_ignore_ascii_case(word)).then(|| rest.trim_start_matches(is_between))
}

fn is_between(c: char) -> bool {
    c.is_whitespace() || c == ':'
}

/// The form of a request, for messages; every guard that can be overridden is named.
pub fn form() -> String {
    let names: Vec<String> =
        GUARDS.iter().filter(|guard| guard.overridable).map(|guard| format!("`{}`", guard.name)).collect();
    format!(
        "type the prompt `provost override GUARD REASON` in the client, where GUARD is one of {}",
        names.join(", ")
    )
}

/// `; did you mean …?` for the name of a guard that is nearly one that can be overridden.
pub fn suggestion(name: &str) -> String {
    let known = GUARDS.iter().filter(|guard| guard.overridable).map(|guard| guard.name.to_owned());
    config::suggestion(&name.to_lowercase(), known)
}

/// Records that a guard may be passed once in a session.
pub fn permit(directory: &Path, session: &str, guard: &Guard, reason: &str) -> io::Result<()> {
    let permission = json!({"session": session, "guard": guard.name, "reason": reason, "given": now()});
    files::replace(&unused(directory, session, guard), permission.to_string().as_bytes())?;
    files::remove_older(directory, KEPT);
    Ok(())
}

/// Lets pass what the person has permitted.
// INVARIANT: a permission is used up only if nothing else holds the event back, because a call that
// is denied anyway must not cost it.
pub fn apply(findings: &mut [Finding], event: &Event, workspace: &Workspace) {
    let denied: Vec<(usize, Denial)> =
        findings.iter().enumerate().filter_map(|(at, finding)| Some((at, finding.denial()?))).collect();
    if denied.is_empty() || denied.iter().any(|(at, _)| !findings[*at].is_overridable()) {
        return;
    }
    let (Some(session), Some(directory)) = (&event.session, workspace.places.overrides()) else { return };
    let find = |&(at, _): &(usize, Denial)| Permission::find(&directory, session, findings[at].guard, event);
    let Some(permissions) = denied.iter().map(find).collect::<Option<Vec<_>>>() else { return };
    for ((at, denial), permission) in denied.into_iter().zip(permissions) {
        let finding = &mut findings[at];
        match permission.use_up() {
            Ok(true) => finding.outcome = Ok(passed(finding, &denial, &permission.reason)),
            Ok(false) => {}
            Err(error) => tell_unusable(finding, &error),
        }
    }
}

/// Whether a denial of this guard would be let pass.
pub fn is_permitted(guard: &str, event: &Event, workspace: &Workspace) -> bool {
    let found = || {
        let (session, directory) = (event.session.as_ref()?, workspace.places.overrides()?);
        Permission::find(&directory, session, Guard::find(guard)?, event)
    };
    found().is_some()
}

/// The opinion that stands in for a denial.
fn passed(finding: &Finding, denial: &Denial, reason: &str) -> Opinion {
    let name = finding.guard.name;
    let mut opinion = finding.outcome.clone().unwrap_or_default();
    opinion.verdict = Verdict::Silence;
    opinion.overridden = Some(denial.clone());
    opinion.evidence.push(format!("overridden by the user: {reason}"));
    let why = clipped(if denial.why.is_empty() { &denial.what } else { &denial.why }, 160);
    opinion.to_person = Some(format!(
        "[provost] `{name}` allowed this once, as you asked ({reason}). Otherwise it is denied: {why}."
    ));
    opinion
}

/// What cannot be used up could be used for ever, so it is not used at all.
fn tell_unusable(finding: &mut Finding, error: &io::Error) {
    if let Ok(opinion) = &mut finding.outcome {
        opinion.to_person = Some(format!(
            "[provost] the override of `{}` was not used: {error}. To fix: make the directory writable.",
            finding.guard.name
        ));
    }
}

/// A permission that holds for an event.
struct Permission {
    reason: String,
    unused: PathBuf,
    used: PathBuf,
    /// Another process has used it for this very event.
    is_used: bool,
}

impl Permission {
    fn find(directory: &Path, session: &str, guard: &Guard, event: &Event) -> Option<Self> {
        let unused = unused(directory, session, guard);
        // What has no name is nobody else's.
        let occasion = event.occasion().unwrap_or_else(|| format!("{:?}", SystemTime::now()));
        let occasion = format!("{:016x}.used", fnv1a(occasion.as_bytes()));
        let used = unused.with_extension(occasion);
        let read = |path: &Path| files::read(path, LARGEST).ok().flatten();
        let (bytes, is_used) = match read(&used) {
            Some(bytes) => (bytes, true),
            None => (read(&unused)?, false),
        };
        let value: Value = serde_json::from_slice(&bytes).ok()?;
        // The name of the file is only a fingerprint of the session.
        let is_meant = value["session"] == session && value["guard"] == guard.name;
        // A clock that was set back does not prolong it.
        let is_valid = value["given"].as_u64()?.abs_diff(now()) <= VALID.as_secs();
        let reason = value["reason"].as_str()?.to_owned();
        (is_meant && is_valid).then_some(Self { reason, unused, used, is_used })
    }

    /// Whether this event is the one that it was used for.
    fn use_up(&self) -> io::Result<bool> {
        if self.is_used {
            return Ok(true);
        }
        match files::rename(&self.unused, &self.used) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(self.used.exists()),
            Err(error) => Err(io::Error::new(error.kind(), format!("{}: {error}", self.unused.display()))),
        }
    }
}

/// The file of a permission. Nothing of its name comes from outside as it is.
fn unused(directory: &Path, session: &str, guard: &Guard) -> PathBuf {
    directory.join(format!("{:016x}-{}.json", fnv1a(session.as_bytes()), guard.name))
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}

#[cfg(test)]
mod tests;
