//! The file with what a session has done ([`SessionEvidence`]).
//!
//! Processes of one session write at the same time, so each locks the file. A line is written whole or cut off by a
//! kill; the next writer ends a line that was cut off. A file that has grown too long loses its older half, which then
//! counts as a change of any file.

use std::path::{Path, PathBuf};

use super::Workspace;
use super::disk::fault_at;
use crate::opinion::Fault;
use crate::places::fnv1a;
use crate::rules::evidence::{ChangedPath, EvidenceRecord, SessionEvidence};
use provost_files as files;

/// The largest file. Thousands of changes fit in.
const LARGEST: u64 = 1 << 20;

impl Workspace {
    /// What a session has done so far.
    pub fn read_evidence(&self, session: &str) -> Result<SessionEvidence, Fault> {
        if let Some(evidence) = self.read_past_evidence(session) {
            return Ok(evidence);
        }
        let path = self.evidence_file(session)?;
        let _lock = self.lock(&path)?;
        let bytes = files::read_file(&path, 2 * LARGEST).map_err(fault_at(&path))?.unwrap_or_default();
        Ok(SessionEvidence::parse(&String::from_utf8_lossy(&bytes)))
    }

    /// Adds to what a session has done.
    pub fn append_evidence(&self, session: &str, records: &[EvidenceRecord]) -> Result<(), Fault> {
        if records.is_empty() || self.append_past_evidence(session, records) {
            return Ok(());
        }
        self.permit_change()?;
        let path = self.evidence_file(session)?;
        let added: String = records.iter().map(EvidenceRecord::to_line).collect();
        let _lock = self.lock(&path)?;
        let before = files::read_file(&path, 2 * LARGEST).map_err(fault_at(&path))?;
        let Some(before) = before else { return self.write_state_file(&path, added.as_bytes()) };
        if before.len() as u64 > LARGEST {
            let kept = String::from_utf8_lossy(&before);
            return self.write_state_file(&path, (drop_older_half(&kept) + &added).as_bytes());
        }
        let separator = if before.last().is_some_and(|byte| *byte != b'\n') { "\n" } else { "" };
        let (mut file, _) = files::append_open(&path).map_err(fault_at(&path))?;
        files::append_bytes(&mut file, &path, format!("{separator}{added}").as_bytes())
            .map_err(fault_at(&path))
    }

    /// Whether a session has a record.
    pub fn has_evidence(&self, session: &str) -> bool {
        self.is_past() || self.evidence_file(session).is_ok_and(|path| path.exists())
    }

    /// The name is a digest of the session's id, which comes from outside.
    fn evidence_file(&self, session: &str) -> Result<PathBuf, Fault> {
        self.state_file("evidence", &format!("{:016x}.jsonl", fnv1a(session.as_bytes())))
    }

    /// Whether a path exists, or a link of that name.
    pub fn has_entry(&self, path: &Path) -> bool {
        self.ask_existence().unwrap_or_else(|| std::fs::symlink_metadata(path).is_ok())
    }
}

fn drop_older_half(text: &str) -> String {
    let unknown = EvidenceRecord::Changed { change: ChangedPath::Any, call: String::new() }.to_line();
    let from = (text.len() / 2..=text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len());
    let kept = text[from..].split_once('\n').map_or("", |(_, kept)| kept);
    let end = if kept.is_empty() || kept.ends_with('\n') { "" } else { "\n" };
    format!("{unknown}{kept}{end}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ran(call: usize) -> EvidenceRecord {
        EvidenceRecord::Ran { pattern: "make".into(), has_succeeded: true, call: call.to_string() }
    }

    #[test]
    fn a_long_record_loses_its_start_and_stays_bounded() {
        let root = tempfile::tempdir().unwrap();
        let workspace = Workspace::for_tests(root.path());
        let change = |number: usize| EvidenceRecord::Changed {
            change: ChangedPath::File(format!("/{}{number}", "x".repeat(900)).into()),
            call: String::new(),
        };
        let many: Vec<EvidenceRecord> = (0..1300).map(change).collect();
        workspace.append_evidence("s", &[ran(1)]).unwrap();
        workspace.append_evidence("s", &many).unwrap();
        workspace.append_evidence("s", &[ran(2)]).unwrap();
        let file = workspace.evidence_file("s").unwrap();
        assert!(file.metadata().unwrap().len() < LARGEST);
        let evidence = workspace.read_evidence("s").unwrap();
        assert!(evidence.find_last_run("make").is_some_and(|run| run.has_succeeded));
        assert_eq!(evidence.list_changes_since(None).next(), Some(&ChangedPath::Any));
    }

    #[test]
    fn a_line_that_a_kill_has_cut_off_does_not_swallow_the_next() {
        let root = tempfile::tempdir().unwrap();
        let workspace = Workspace::for_tests(root.path());
        workspace.append_evidence("s", &[ran(1)]).unwrap();
        let file = workspace.evidence_file("s").unwrap();
        std::fs::write(&file, "[\"changed\",\"/a").unwrap();
        workspace.append_evidence("s", &[ran(2)]).unwrap();
        let evidence = workspace.read_evidence("s").unwrap();
        let run = evidence.find_last_run("make");
        assert!(run.is_some());
        assert_eq!(evidence.list_changes_since(None).count(), 1);
        assert_eq!(evidence.list_changes_since(run).count(), 0);
    }
}
