//! The user's way past a guard: one denial is lifted, once, for a reason.
//!
//! A prompt that begins with `provost override GUARD REASON` is a request. The guard `override` turns it into a
//! permission: a file in the state directory for this session and this guard. When the guard has denied, the permission
//! is used up by a rename, which succeeds for one call only. The new name contains the name of the call,
//! because a client with two entries for Provost starts two processes for one call, and both must give the same answer.

use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

use crate::clock;
use crate::decision::Finding;
use crate::event::Event;
use crate::opinion::{Denial, Fault, Opinion, Verdict};
use crate::places::fnv1a;
use crate::text::{clip_line, make_one_line, truncate_utf16};
use crate::workspace::Workspace;
use provost_files as files;

/// How long a permission is valid.
pub const PERMISSION_LIFETIME: Duration = Duration::from_hours(1);
/// How long the files of permissions are kept, used or not.
const FILE_LIFETIME: Duration = Duration::from_hours(24);
const LARGEST: u64 = 64 << 10;
/// How many characters of a prompt are looked at.
const LONGEST_LINE: usize = 2000;
const LONGEST_REASON: usize = 300;
const QUOTES: [char; 3] = ['`', '"', '\''];

/// The user's request to override a guard or a rule, valid or not.
#[derive(Debug, PartialEq, Eq)]
pub struct OverrideRequest<'a> {
    /// The guard or `rule:NAME`, as the user wrote it; empty if it is missing.
    pub guard: &'a str,
    /// On one line; empty if it is missing.
    pub reason: String,
}

impl<'a> OverrideRequest<'a> {
    /// Reads `provost override GUARD [:] [because] REASON` from the first line of a text.
    pub fn parse(text: &'a str) -> Option<Self> {
        let text = text.trim_start();
        let end = text.char_indices().nth(LONGEST_LINE).map_or(text.len(), |(at, _)| at);
        let line = text[..end].lines().next()?;
        let rest = after_word(after_word(line, "provost")?, "override")?;
        let (guard, rest) = rest.split_at(find_name_end(rest));
        let rest = rest.trim_start_matches(is_separator);
        let rest = after_word(rest, "because").unwrap_or(rest).trim();
        // A full stop alone is not a reason.
        let reason = if rest.contains(char::is_alphanumeric) { rest } else { "" };
        Some(Self {
            guard: guard.trim_matches(QUOTES),
            reason: truncate_utf16(&make_one_line(reason), LONGEST_REASON).into_owned(),
        })
    }
}

/// Where the name of a guard or rule ends. The colon in `rule:NAME` is a part of the name.
fn find_name_end(text: &str) -> usize {
    let end_after = |start: usize| text[start..].find(is_separator).map_or(text.len(), |at| start + at);
    let end = end_after(0);
    let is_rule = text[..end].trim_start_matches(QUOTES) == "rule" && text[end..].starts_with(':');
    if is_rule { end_after(end + 1) } else { end }
}

/// The text after a word and its separators; `None` if it begins with another word.
fn after_word<'a>(text: &'a str, word: &str) -> Option<&'a str> {
    let (first, rest) = text.split_at_checked(word.len())?;
    let ends = rest.is_empty() || rest.starts_with(is_separator);
    (ends && first.eq_ignore_ascii_case(word)).then(|| rest.trim_start_matches(is_separator))
}

fn is_separator(c: char) -> bool {
    c.is_whitespace() || c == ':'
}

/// Permits one override of a guard in a session.
pub fn store_permission(
    workspace: &Workspace,
    session: &str,
    guard: &str,
    reason: &str,
) -> Result<(), Fault> {
    workspace.permit_change()?;
    let Some(directory) = workspace.places.overrides_directory() else {
        return Err(Fault::Error("there is no home directory to keep it in".into()));
    };
    let permission = json!({"session": session, "guard": guard, "reason": reason, "given": now()});
    files::replace_private(&permission_file(&directory, session, guard), permission.to_string().as_bytes())
        .map_err(|error| Fault::Error(format!("{}: {error}", directory.display())))?;
    files::remove_older_files(&directory, FILE_LIFETIME);
    Ok(())
}

/// Lifts the denials that the user has permitted, and answers the questions that they have permitted.
// INVARIANT: a permission is used up only if nothing else denies the event, because a call that is denied anyway must not
// cost it.
pub fn lift_permitted_denials(findings: &mut [Finding], event: &Event, workspace: &Workspace) {
    if workspace.permit_change().is_err() {
        return;
    }
    let stopping: Vec<(usize, Denial)> =
        findings.iter().enumerate().filter_map(|(at, finding)| Some((at, finding.obstacle()?))).collect();
    let is_denial = |at: usize| findings[at].denial().is_some();
    if stopping.is_empty() || stopping.iter().any(|(at, _)| !findings[*at].is_overridable()) {
        return;
    }
    let (Some(session), Some(directory)) = (&event.session, workspace.places.overrides_directory()) else {
        return;
    };
    let find = |at: usize| Permission::find(&directory, session, findings[at].name(), event);
    let mut permitted = Vec::new();
    for (at, denial) in stopping {
        match find(at) {
            Some(permission) => permitted.push((at, denial, permission)),
            None if is_denial(at) => return,
            // The user is asked.
            None => {}
        }
    }
    for (at, denial, permission) in permitted {
        let finding = &mut findings[at];
        match permission.use_up() {
            Ok(true) => finding.outcome = Ok(lift_denial(finding, &denial, &permission.reason)),
            Ok(false) => {}
            Err(error) => report_unusable(finding, &error),
        }
    }
}

/// Whether a permission would lift a denial of this guard.
pub fn has_permission(guard: &str, event: &Event, workspace: &Workspace) -> bool {
    let found = || {
        let (session, directory) = (event.session.as_ref()?, workspace.places.overrides_directory()?);
        Permission::find(&directory, session, guard, event)
    };
    found().is_some()
}

/// The opinion of a guard whose denial is lifted.
fn lift_denial(finding: &Finding, denial: &Denial, reason: &str) -> Opinion {
    let name = finding.name();
    let mut opinion = finding.outcome.clone().unwrap_or_default();
    let otherwise = if matches!(opinion.verdict, Verdict::Ask(_)) { "you are asked" } else { "it is denied" };
    opinion.verdict = Verdict::Silence;
    opinion.lifted_denial = Some(denial.clone());
    opinion.evidence.push(format!("overridden by the user: {reason}"));
    let why = clip_line(if denial.why.is_empty() { &denial.what } else { &denial.why }, 160);
    opinion.to_user = Some(format!(
        "[provost] `{name}` allowed this once, as you asked ({reason}). Otherwise {otherwise}: {why}."
    ));
    opinion
}

/// A permission that cannot be used up could be used for ever, so it is not used at all.
fn report_unusable(finding: &mut Finding, error: &io::Error) {
    let name = finding.name().to_owned();
    if let Ok(opinion) = &mut finding.outcome {
        opinion.to_user = Some(format!(
            "[provost] the override of `{name}` was not used: {error}. To fix: make the directory writable."
        ));
    }
}

/// A permission that applies to an event.
struct Permission {
    reason: String,
    unused: PathBuf,
    used: PathBuf,
    /// Another process has used it for the same event.
    is_used: bool,
}

impl Permission {
    fn find(directory: &Path, session: &str, guard: &str, event: &Event) -> Option<Self> {
        let unused = permission_file(directory, session, guard);
        // No other process handles an event without an id.
        let occasion = event.shared_id().unwrap_or_else(|| format!("{:?}", SystemTime::now()));
        let occasion = format!("{:016x}.used", fnv1a(occasion.as_bytes()));
        let used = unused.with_extension(occasion);
        let read = |path: &Path| files::read_file(path, LARGEST).ok().flatten();
        let first = read(&used).map(|bytes| (bytes, true)).or_else(|| Some((read(&unused)?, false)));
        // Another process may use it up between the two reads: then it is at its new place.
        let moved = || used.exists().then(|| Some((read(&used)?, true))).flatten();
        let (bytes, is_used) = first.or_else(moved)?;
        let value: Value = serde_json::from_slice(&bytes).ok()?;
        // The name of the file is only a digest of the session.
        let is_same = value["session"] == session && value["guard"] == guard;
        // Setting the clock back does not prolong a permission.
        let is_valid = value["given"].as_u64()?.abs_diff(now()) <= PERMISSION_LIFETIME.as_secs();
        let reason = value["reason"].as_str()?.to_owned();
        (is_same && is_valid).then_some(Self { reason, unused, used, is_used })
    }

    /// Uses the permission up. Returns whether it was used for this event, by this process or another.
    fn use_up(&self) -> io::Result<bool> {
        if self.is_used {
            return Ok(true);
        }
        match files::rename_file(&self.unused, &self.used) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(self.used.exists()),
            Err(error) => Err(io::Error::new(error.kind(), format!("{}: {error}", self.unused.display()))),
        }
    }
}

/// The file of an unused permission. Its name contains digests of what comes from outside: the session's id, and the name of
/// a rule.
fn permission_file(directory: &Path, session: &str, guard: &str) -> PathBuf {
    let name = match guard.strip_prefix("rule:") {
        Some(rule) => format!("rule-{:016x}", fnv1a(rule.as_bytes())),
        None => guard.to_owned(),
    };
    directory.join(format!("{:016x}-{name}.json", fnv1a(session.as_bytes())))
}

fn now() -> u64 {
    clock::time_since_epoch().as_secs()
}

#[cfg(test)]
mod tests;
