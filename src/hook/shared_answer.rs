//! One event, one answer, also where several hook entries call Provost about it.
//!
//! A client runs each entry as a process of its own, at the same time. Each of them judges for itself, so that
//! no denial depends on another process. When a process answers, it holds the lock of a small file, and finds
//! there what others have said about the same event: that is not said again, neither to the user nor to the
//! model nor in the journal. It adds what it has said just before it ends, so whatever a process that is killed
//! has left unsaid is said by the next one.

use std::ffi::OsStr;
use std::time::Duration;

use super::case::Case;
use crate::decision::{Finding, Opinion, Verdict};
use crate::faults;
use crate::files::{self, LockedFile};
use crate::workspace::fnv1a;

/// How long to wait for another process to answer. After that, this one answers as if it were alone.
pub(super) const PATIENCE: Duration = Duration::from_millis(500);
/// So many files serve all events. Two events that need the same one at once are answered as if each process
/// were alone.
const FILES: u64 = 256;
const LARGEST: u64 = 64 << 10;

/// What the processes that are asked about one event have said so far. It is locked as long as this lives.
pub(super) struct SharedAnswer {
    file: LockedFile,
    key: u64,
    /// A digest for the event, for each entry that has answered, and for each finding that was said.
    said: Vec<u64>,
}

impl SharedAnswer {
    /// The shared answer to an event; `None` if there is nothing to say, nobody to share with, or the file cannot
    /// be used in time.
    pub(super) fn open(case: &Case, findings: &[Finding], patience: Duration) -> Option<Self> {
        let event = &case.event;
        let session = event.session.as_deref().filter(|session| !session.is_empty())?;
        if !case.may_have_siblings() || !findings.iter().any(|finding| case.may_be_repeated(finding)) {
            return None;
        }
        // A client may use the id of a call again.
        let key = digest(0, &[session, &event.native_name, &event.occasion()?, &event.subject()]);
        let path = case.workspace.places.answers()?.join(format!("{:02x}", key % FILES));
        let file = files::lock_and_read(&path, LARGEST, faults::extend_limit(patience)).ok()?;
        let entry = entry_digest(key, case);
        let mut said = read(file.content());
        // An entry is run once for an event. If this one has answered already, the event has happened again.
        if said.first() != Some(&key) || said.contains(&entry) {
            said = vec![key];
        }
        said.push(entry);
        Some(Self { file, key, said })
    }

    /// Takes out of `findings` what another process has said, and returns it.
    pub(super) fn take_repeated(&mut self, findings: &mut Vec<Finding>) -> Vec<Finding> {
        let is_repeated = |finding: &mut Finding| {
            if matches!(&finding.outcome, Ok(opinion) if opinion.is_unconcerned) {
                return false;
            }
            let digest = finding_digest(self.key, finding);
            let is_known = self.said.contains(&digest);
            if !is_known {
                self.said.push(digest);
            }
            is_known
        };
        findings.extract_if(.., is_repeated).collect()
    }

    /// Records that everything is said, and lets the next process answer. An error means that it says it again.
    pub(super) fn close(self) {
        let lines: Vec<String> = self.said.iter().map(|digest| format!("{digest:016x}\n")).collect();
        let _ = self.file.overwrite(lines.concat().as_bytes());
    }
}

/// The digests of a file. A line that a killed process has cut is left out.
fn read(content: &[u8]) -> Vec<u64> {
    let lines = content.split(|byte| *byte == b'\n').filter(|line| line.len() == 16);
    lines.filter_map(|line| u64::from_str_radix(str::from_utf8(line).ok()?, 16).ok()).collect()
}

/// Every digest carries the event's, so that what is left of another event in the same file means nothing.
fn digest(key: u64, parts: &[&str]) -> u64 {
    let mut bytes = key.to_le_bytes().to_vec();
    for part in parts {
        bytes.extend(part.as_bytes());
        bytes.push(0xff);
    }
    fnv1a(&bytes)
}

/// What makes a hook entry this one and no other: the plugin that it belongs to, and its command line.
fn entry_digest(key: u64, case: &Case) -> u64 {
    let plugin = (case.workspace.client.settings.plugin)().unwrap_or_default();
    let words: Vec<_> = std::env::args_os().chain([plugin.into_os_string()]).collect();
    let words: Vec<_> = words.iter().map(|word| OsStr::to_string_lossy(word)).collect();
    digest(key, &words.iter().map(AsRef::as_ref).collect::<Vec<_>>())
}

fn finding_digest(key: u64, finding: &Finding) -> u64 {
    let name = finding.guard.name;
    match &finding.outcome {
        Err(fault) => digest(key, &[name, "fault", &fault.to_string()]),
        Ok(Opinion { verdict, evidence, to_model, to_person, brief, .. }) => {
            let words = [to_model, to_person, brief].map(|text| text.as_deref().unwrap_or_default());
            let evidence: Vec<&str> = evidence.iter().map(String::as_str).collect();
            let (verdict, denial) = match verdict {
                Verdict::Silence => ("silence", None),
                Verdict::Ask(denial) => ("ask", Some(denial)),
                Verdict::Deny(denial) => ("deny", Some(denial)),
            };
            let denial = denial.map_or([""; 3], |denial| [&denial.what, &denial.why, &denial.fix]);
            digest(key, &[&[name, verdict][..], &words, &denial, &evidence].concat())
        }
    }
}
