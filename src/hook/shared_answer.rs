//! One event, one answer, even if several hook entries call Provost about it.
//!
//! A client runs each entry as a process of its own, at the same time. Each process judges for itself, so that no
//! denial depends on another process. When a process answers, it locks a small file and reads there what others have
//! reported about the same event: it does not repeat that to the user, to the model or in the journal. It adds its own
//! findings just before it ends, so the next process reports what a killed one could not.

use std::ffi::OsStr;
use std::time::Duration;

use super::hook_call::HookCall;
use crate::decision::Finding;
use crate::opinion::{Opinion, Verdict};
use crate::places::fnv1a;
use provost_files::faults;
use provost_files::{self as files, LockedFile};

/// How long to wait for another process to answer. After that, this one answers as if it were alone.
pub(super) const PATIENCE: Duration = Duration::from_millis(500);
/// How many files serve all events. Two events that need the same file at once are answered as if each process were
/// alone.
const FILES: u64 = 256;
const LARGEST: u64 = 64 << 10;

/// What the processes that handle one event have reported so far. The file is locked as long as this value lives.
pub(super) struct SharedAnswer {
    file: LockedFile,
    key: u64,
    /// A digest of the event, of each entry that has answered, and of each finding that was reported.
    digests: Vec<u64>,
}

impl SharedAnswer {
    /// The shared answer to an event; `None` if there is nothing to report, no other process, or the file cannot be
    /// used in time.
    pub(super) fn open(call: &HookCall, findings: &[Finding], patience: Duration) -> Option<Self> {
        let event = &call.event;
        if !call.may_have_siblings() || !findings.iter().any(|finding| call.may_be_repeated(finding)) {
            return None;
        }
        let key = event.shared_digest()?;
        let path = call.workspace.places.answers_directory()?.join(format!("{:02x}", key % FILES));
        let file = files::lock_and_read_file(&path, LARGEST, faults::extend_limit(patience)).ok()?;
        let entry = entry_digest(key, call);
        let mut digests = parse_digests(file.content());
        // A client runs an entry once for an event. If this entry has answered already, the event has happened again.
        if digests.first() != Some(&key) || digests.contains(&entry) {
            digests = vec![key];
        }
        digests.push(entry);
        Some(Self { file, key, digests })
    }

    /// Removes the findings that another process has reported, and returns whether there were any.
    pub(super) fn remove_repeated(&mut self, findings: &mut Vec<Finding>) -> bool {
        let before = findings.len();
        findings.retain(|finding| {
            if finding.is_unconcerned() {
                return true;
            }
            let digest = finding_digest(self.key, finding);
            let is_new = !self.digests.contains(&digest);
            if is_new {
                self.digests.push(digest);
            }
            is_new
        });
        findings.len() < before
    }

    /// Saves that everything is reported, and lets the next process answer. After an error, that one reports it again.
    pub(super) fn save(self) {
        let lines: Vec<String> = self.digests.iter().map(|digest| format!("{digest:016x}\n")).collect();
        let _ = self.file.overwrite(lines.concat().as_bytes());
    }
}

/// Reads the digests of a file. A line that a killed process has cut off is skipped.
fn parse_digests(content: &[u8]) -> Vec<u64> {
    let lines = content.split(|byte| *byte == b'\n').filter(|line| line.len() == 16);
    lines.filter_map(|line| u64::from_str_radix(str::from_utf8(line).ok()?, 16).ok()).collect()
}

/// Every digest includes the event's, so that the rest of another event in the same file means nothing.
fn digest(key: u64, parts: &[&str]) -> u64 {
    let mut bytes = key.to_le_bytes().to_vec();
    for part in parts {
        bytes.extend(part.as_bytes());
        bytes.push(0xff);
    }
    fnv1a(&bytes)
}

/// Identifies a hook entry by its plugin and its command line.
fn entry_digest(key: u64, call: &HookCall) -> u64 {
    let plugin = (call.workspace.client.settings.find_plugin)().unwrap_or_default();
    let words: Vec<_> = std::env::args_os().chain([plugin.into_os_string()]).collect();
    let words: Vec<_> = words.iter().map(|word| OsStr::to_string_lossy(word)).collect();
    digest(key, &words.iter().map(AsRef::as_ref).collect::<Vec<_>>())
}

fn finding_digest(key: u64, finding: &Finding) -> u64 {
    let name = finding.name();
    match &finding.outcome {
        Err(fault) => digest(key, &[name, "fault", &fault.to_string()]),
        Ok(Opinion { verdict, evidence, to_model, to_user: to_person, agent_prompt: brief, .. }) => {
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
