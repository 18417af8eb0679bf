//! The record of decisions: one JSON line for each, per project, appended with one write.
//!
//! The journal shows long after a call which guard decided what, and on which evidence. No error here changes an answer.
//! It holds no file contents, and what looks like a credential is masked. When a file is full, a new one begins; two old
//! files stay as they are, and older ones are compacted ([`archive`]).

mod archive;
pub mod day_totals;
pub mod lines;
pub mod mask;
mod records;

use std::borrow::Cow;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::ser::{Serialize, SerializeMap, Serializer};

use crate::clock;
use crate::decision::{Decision, Finding};
use crate::engine::to_micros;
use crate::event::{Event, EventKind, PermissionMode};
use crate::opinion::{AssessmentRecord, Opinion, ReviewerWork, RoundRecord, Verdict};
use crate::text::truncate_utf16;
use crate::tool::Tool;
pub use archive::{ArchiveHeader, compact as compact_archive};
use mask::KnownSecrets;
use provost_files as files;
pub use records::{GuardRecord, JournalRecord, follow_records, visit_last_lines, visit_lines};
use serde_json::json;

const FILE: &str = "journal.jsonl";
const LOCK: &str = "journal.lock";
/// How many old files are kept whole beside the current one.
const KEPT: u32 = 2;
/// No line is longer, even with the texts of all guards.
const LONGEST_LINE: usize = 4 << 20;
/// How many pieces of evidence a line has for each guard.
const MOST_EVIDENCE: usize = 16;
const MOST_TEXT: usize = 2_000;
/// How much of a command or a path is recorded.
const LONGEST_SUBJECT: usize = 300;
/// The word for a denial that the user lifted.
const OVERRIDDEN: &str = "overridden";
/// The words for what a guard or rule that is only watched would do, the strictest first.
const WOULD: [&str; 3] = ["would deny", "would ask", "would warn"];

/// The content of one line.
pub struct JournalEntry<'a> {
    pub client: &'a str,
    pub project: &'a Path,
    /// `None` if the input could not be read as an event.
    pub event: Option<&'a Event>,
    pub findings: &'a [Finding],
    pub decision: &'a Decision,
    pub micros: u64,
    /// What was wrong with the input or the command line.
    pub remark: Option<&'a str>,
}

/// The journal of one project.
pub fn journal_file(project_state: &Path) -> PathBuf {
    project_state.join(FILE)
}

/// Appends one line; starts a new file when this one has grown to `limit` bytes. Returns whether it did: then the caller
/// calls [`compact_archive`] when there is time for it.
pub fn append_entry(project_state: &Path, entry: &JournalEntry<'_>, limit: u64) -> io::Result<bool> {
    let mut line = Vec::with_capacity(1_000);
    serde_json::to_writer(&mut line, entry)?;
    line.push(b'\n');
    let path = journal_file(project_state);
    let (mut file, size) = match files::append_open(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            files::make_private_directory(project_state)?;
            files::append_open(&path)?
        }
        opened => opened?,
    };
    let mut is_rotated = false;
    if size + line.len() as u64 > limit {
        (file, is_rotated) = rotate(project_state, file, limit)?;
    }
    files::append_bytes(&mut file, &path, &line)?;
    Ok(is_rotated)
}

/// Renames each file to the next number, under a lock, so that only one process does it. The oldest joins the archive.
fn rotate(directory: &Path, full: fs::File, limit: u64) -> io::Result<(fs::File, bool)> {
    let Some(_lock) = files::try_lock(&directory.join(LOCK))? else { return Ok((full, false)) };
    let path = journal_file(directory);
    // Another process may have rotated the files.
    let is_full = fs::metadata(&path).is_ok_and(|metadata| metadata.len() * 2 > limit);
    if is_full {
        // A process that was killed here may have left a gap.
        let has_gap = (1..=KEPT).any(|old| old_file(directory, old).symlink_metadata().is_err());
        if !has_gap {
            files::rename_file(&old_file(directory, KEPT), &archive::next_path(directory))?;
        }
        for old in (1..KEPT).rev() {
            let _ = files::rename_file(&old_file(directory, old), &old_file(directory, old + 1));
        }
        files::rename_file(&path, &old_file(directory, 1))?;
    }
    Ok((files::append_open(&path)?.0, is_full))
}

fn old_file(directory: &Path, number: u32) -> PathBuf {
    directory.join(format!("journal.{number}.jsonl"))
}

impl JournalEntry<'_> {
    /// The secrets of the command, if a guard has something to say about it.
    fn find_secrets(&self) -> KnownSecrets {
        /// Texts quote the start of a command.
        const LONGEST: usize = 8_000;
        let is_mute = |finding: &Finding| {
            let silent = |opinion: &Opinion| opinion.is_silent() && opinion.evidence.is_empty();
            finding.outcome.as_ref().is_ok_and(silent)
        };
        let tool = self.event.and_then(Event::call).map(|call| &call.tool);
        let command = match tool {
            Some(Tool::Shell { command }) => Some(command),
            Some(Tool::Other { commands, .. }) => commands.first(),
            _ => None,
        };
        match command {
            Some(command) if !self.findings.iter().all(is_mute) => {
                KnownSecrets::find(&truncate_utf16(command, LONGEST))
            }
            _ => KnownSecrets::default(),
        }
    }
}

/// Writes the line without a tree of values in between, because a line is written at nearly every call.
impl Serialize for JournalEntry<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let now = clock::time_since_epoch();
        let mut line = serializer.serialize_map(None)?;
        line.serialize_entry("id", &make_id(u64::try_from(now.as_micros()).unwrap_or(0)))?;
        line.serialize_entry("time", &clock::format_utc_millis(now))?;
        line.serialize_entry("version", env!("CARGO_PKG_VERSION"))?;
        line.serialize_entry("client", self.client)?;
        line.serialize_entry("project", &prepare(&self.project.to_string_lossy()))?;
        let is_overridden = self.findings.iter().any(Finding::is_overridden);
        if let Some(event) = self.event {
            line.serialize_entry("event", &prepare(&event.native_name))?;
            let (agent, call) = (event.agent.as_ref(), event.call());
            let subject = call.map(|_| prepare_subject(event));
            let mode = match &event.mode {
                PermissionMode::Unknown => None,
                PermissionMode::Plan => Some("plan"),
                PermissionMode::Other(mode) => Some(mode.as_str()),
            };
            let fields = [
                ("session", event.session.as_deref()),
                ("turn", event.turn.as_deref()),
                ("agent", agent.and_then(|agent| agent.kind.as_deref().or(agent.id.as_deref()))),
                ("tool", call.map(|call| call.native_tool.as_str())),
                ("call", call.and_then(|call| call.id.as_deref())),
                ("mode", mode),
            ];
            for (name, value) in fields {
                if let Some(value) = value {
                    line.serialize_entry(name, &mask::mask_field(name, &shorten(value)))?;
                }
            }
            // Of a call that is not stopped, only the tool is recorded, and whether it is the same as another.
            if let (EventKind::BeforeTool(_), Some(subject)) = (&event.kind, &subject) {
                line.serialize_entry("subject_hash", &lines::hash_subject(subject))?;
            }
            let would_stop = |finding: &Finding| finding.is_watched && finding.would_stop();
            if (is_overridden
                || self.decision.stop_reason().is_some()
                || self.findings.iter().any(would_stop))
                && let Some(subject) = subject.filter(|subject| !subject.is_empty())
            {
                line.serialize_entry("subject", &subject)?;
            }
        }
        if let Some(remark) = self.remark {
            line.serialize_entry("remark", &prepare(remark))?;
        }
        let findings = self.findings.iter().filter(|finding| !finding.is_unconcerned());
        let secrets = self.find_secrets();
        let entries = findings.map(|finding| GuardEntry { finding, secrets: &secrets });
        line.serialize_entry("guards", &entries.collect::<Vec<_>>())?;
        let decision = match self.decision.stop_reason() {
            None if is_overridden => OVERRIDDEN,
            _ => self.decision.ruling.name(),
        };
        line.serialize_entry("decision", decision)?;
        line.serialize_entry("micros", &self.micros)?;
        line.end()
    }
}

/// The part of a line about one guard.
struct GuardEntry<'a> {
    finding: &'a Finding,
    secrets: &'a KnownSecrets,
}

impl Serialize for GuardEntry<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { finding, secrets } = self;
        let prepare = |text: &str| secrets.mask(&shorten(text)).into_owned();
        let (word, denial, evidence) = match &finding.outcome {
            Ok(opinion) => {
                let has_note = opinion.to_model.is_some() || opinion.to_user.is_some();
                let (word, denial) = match (&opinion.verdict, &opinion.lifted_denial) {
                    (Verdict::Silence, Some(denial)) => (OVERRIDDEN, Some(denial)),
                    (Verdict::Silence, None) if has_note => ("note", None),
                    (Verdict::Silence, None) => ("silence", None),
                    (Verdict::Ask(denial), _) => ("ask", Some(denial)),
                    (Verdict::Deny(denial), _) => ("deny", Some(denial)),
                };
                (word, denial.map(Cow::Borrowed), opinion.evidence.as_slice())
            }
            Err(fault) => {
                ("fault", Some(Cow::Owned(finding.judge.guard.describe_fault(fault))), &[] as &[String])
            }
        };
        let mut entry = serializer.serialize_map(None)?;
        entry.serialize_entry("guard", finding.name())?;
        let word = match word {
            "deny" if finding.is_watched => WOULD[0],
            "ask" if finding.is_watched => WOULD[1],
            "note" if finding.is_watched => WOULD[2],
            word => word,
        };
        entry.serialize_entry("opinion", word)?;
        if let Some(denial) = denial {
            entry.serialize_entry("what", &prepare(&denial.what))?;
            entry.serialize_entry("why", &prepare(&denial.why))?;
            entry.serialize_entry("fix", &prepare(&denial.fix))?;
            if finding.judge.guard.is_overridable && !finding.is_overridable() {
                entry.serialize_entry("final", "no prompt lifts it")?;
            }
        }
        if let Ok(Opinion { reviewer_work: Some(work), .. }) = &finding.outcome {
            write_work(&mut entry, work)?;
        }
        if !evidence.is_empty() {
            let texts = evidence.iter().take(MOST_EVIDENCE).map(|text| prepare(text));
            entry.serialize_entry("evidence", &texts.collect::<Vec<_>>())?;
        }
        entry.serialize_entry("micros", &finding.micros)?;
        entry.end()
    }
}

/// Writes what reviewers did.
fn write_work<M: SerializeMap>(entry: &mut M, work: &ReviewerWork) -> Result<(), M::Error> {
    match work {
        ReviewerWork::Round(round) => {
            let RoundRecord { plan, review, task, number, model, verdict, is_last, took, usage } = round;
            let task = task.as_deref().map(prepare);
            let value = json!({"plan": prepare(plan), "review": review, "task": task, "round": number,
                "model": prepare(model), "verdict": verdict, "is_last": is_last, "micros": to_micros(*took),
                "tokens": usage.tokens, "cost": usage.cost});
            entry.serialize_entry("review", &value)
        }
        ReviewerWork::Assessment(AssessmentRecord { plan, is_passed, took }) => {
            let value = json!({"plan": prepare(plan), "passed": is_passed, "micros": took.map(to_micros)});
            entry.serialize_entry("assessment", &value)
        }
    }
}

/// What a call is about, as the journal shows it; empty if that is unknown.
fn prepare_subject(event: &Event) -> String {
    let subject = event.full_subject().unwrap_or_default();
    // Cut last, because the start of a secret may not look like one.
    truncate_utf16(&prepare(&subject), LONGEST_SUBJECT).into_owned()
}

/// Cuts a text and masks credentials in it.
fn prepare(text: &str) -> Cow<'_, str> {
    match shorten(text) {
        Cow::Borrowed(text) => mask::mask_credentials(text),
        Cow::Owned(text) => Cow::Owned(mask::mask_credentials(&text).into_owned()),
    }
}

fn shorten(text: &str) -> Cow<'_, str> {
    truncate_utf16(text, MOST_TEXT)
}

/// A short id for a line. Later lines have greater ids.
fn make_id(micros: u64) -> String {
    const LETTERS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
    let number = (micros << 10) | u64::from(std::process::id() & 0x3ff);
    (0..13).rev().map(|place| char::from(LETTERS[(number >> (place * 5) & 31) as usize])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(decision: &Decision) -> JournalEntry<'_> {
        JournalEntry {
            client: "claude",
            project: Path::new("/p"),
            event: None,
            findings: &[],
            decision,
            micros: 1,
            remark: Some("token=abcdefgh12345678"),
        }
    }

    #[test]
    fn the_journal_rotates_by_size_and_keeps_two_old_files_and_an_archive() {
        let dir = tempfile::tempdir().unwrap();
        let decision = Decision::default();
        let mut rotations = 0;
        for _ in 0..60 {
            if append_entry(dir.path(), &entry(&decision), 1000).unwrap() {
                compact_archive(dir.path()).unwrap();
                rotations += 1;
            }
        }
        let mut names: Vec<_> = fs::read_dir(dir.path())
            .unwrap()
            .map(|e| e.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        let archive = format!("journal.archive.{:06}.jsonl", rotations - 2);
        assert_eq!(
            names,
            ["journal.1.jsonl", "journal.2.jsonl", archive.as_str(), "journal.jsonl", "journal.lock"]
        );
        assert!(fs::metadata(journal_file(dir.path())).unwrap().len() <= 1000);
        let mut count = 0;
        let errors = visit_lines(dir.path(), |line| {
            count += usize::from(line.and_then(JournalRecord::parse_bytes).is_some());
        });
        assert!(errors.is_empty());
        // A remark is kept as a line.
        assert_eq!(count, 60);
    }

    #[test]
    fn credentials_do_not_reach_the_file() {
        let dir = tempfile::tempdir().unwrap();
        append_entry(dir.path(), &entry(&Decision::default()), 1 << 20).unwrap();
        let text = fs::read_to_string(journal_file(dir.path())).unwrap();
        assert!(!text.contains("abcdefgh12345678") && text.contains("token="), "{text}");
    }

    #[cfg(unix)]
    #[test]
    fn neither_a_link_nor_a_pipe_is_written_to() {
        let dir = tempfile::tempdir().unwrap();
        let other = dir.path().join("other");
        fs::write(&other, "").unwrap();
        let write = || append_entry(dir.path(), &entry(&Decision::default()), 1 << 20);
        std::os::unix::fs::symlink(&other, journal_file(dir.path())).unwrap();
        assert!(write().is_err() && fs::read(&other).unwrap().is_empty());
        fs::remove_file(journal_file(dir.path())).unwrap();
        let made = std::process::Command::new("mkfifo").arg(journal_file(dir.path())).status().unwrap();
        assert!(made.success() && write().is_err());
    }

    #[cfg(unix)]
    #[test]
    fn only_the_owner_can_read_it() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let state = dir.path().join("s");
        append_entry(&state, &entry(&Decision::default()), 1 << 20).unwrap();
        assert_eq!(fs::metadata(journal_file(&state)).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::metadata(&state).unwrap().permissions().mode() & 0o777, 0o700);
    }
}
