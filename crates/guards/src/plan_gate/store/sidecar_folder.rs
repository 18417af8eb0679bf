//! The folder of the sidecar store: the names, contents and meaning of its files.
//!
//! Links are refused, because Provost must not read or write what they point to. One lock covers all
//! files of a folder.

use crate::prelude::*;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::gate_file::{GateFile, GateKey};
use super::{RERUN, change_locked, parse_plan};
use crate::plan_gate::LARGEST_PLAN;
use crate::plan_gate::digest::Digest;
use crate::plan_gate::document::missing_newline;
use crate::plan_gate::plan_files::{self, SIDECAR, Session};
use crate::plan_gate::plan_record::{Damage, Gaps, PlanRecord, RecordedHash, SettledVerdict};
use crate::plan_gate::verdict::{LONGEST_REASON, PlanVerdict, VerdictStatus};
use provost_core::opinion::Fault;
use provost_core::text::truncate_utf16;
use provost_core::workspace::{Lock, Workspace};

const MAPPING: &str = ".session";
const GATE: &str = ".gate.yml";
/// A real gate file has a few hundred bytes.
const LARGEST_GATE: u64 = 256 << 10;
const LARGEST_MAPPING: u64 = 1 << 10;
/// How many gate files are searched for a plan without a mapping.
const MOST_SESSIONS: usize = 64;

pub struct SidecarFolder<'w> {
    path: PathBuf,
    workspace: &'w Workspace,
}

impl<'w> SidecarFolder<'w> {
    pub fn in_directory(plans: &Path, workspace: &'w Workspace) -> Self {
        Self { path: plans.join(SIDECAR), workspace }
    }

    pub fn beside(plan: &Path, workspace: &'w Workspace) -> Option<Self> {
        Some(Self::in_directory(plan.parent()?, workspace))
    }

    fn mapping_file(&self, plan: &Path) -> PathBuf {
        let mut name = plan.file_stem().map(OsString::from).unwrap_or_default();
        name.push(MAPPING);
        self.path.join(name)
    }

    pub fn gate_file(&self, session: &Session) -> PathBuf {
        self.path.join(format!("{}{GATE}", session.id()))
    }

    pub fn gaps_file(&self, session: &Session) -> PathBuf {
        self.path.join(format!("{}{}", session.id(), plan_files::GAPS_SUFFIX))
    }

    fn read(&self, file: &Path, limit: u64) -> Result<Option<Vec<u8>>, Fault> {
        self.refuse_link(file)?;
        self.workspace.read_bytes(file, limit)
    }

    // INVARIANT: the folder lies in a resolved directory, so only it and the file can be links.
    fn refuse_link(&self, file: &Path) -> Result<(), Fault> {
        if self.workspace.resolve(file) == file {
            return Ok(());
        }
        Err(Fault::Error(format!("{}: a link, and none is followed here", file.display())))
    }

    pub fn read_gate(&self, session: &Session) -> Result<Option<GateFile>, Fault> {
        Ok(self.read(&self.gate_file(session), LARGEST_GATE)?.map(|bytes| GateFile::parse(&bytes)))
    }

    pub fn read_gaps(&self, session: &Session) -> Result<Option<Vec<u8>>, Fault> {
        self.read(&self.gaps_file(session), LARGEST_PLAN)
    }

    /// Whether a gate file is the record of this plan.
    pub fn is_record_for(&self, gate: &GateFile, plan: &Path) -> bool {
        gate.get(GateKey::PlanFile).is_some_and(|file| self.workspace.resolve(Path::new(&file)) == plan)
    }

    /// The session of a plan: by its mapping, or else by a gate file that names the plan.
    pub fn find_owner(&self, plan: &Path) -> Option<Session> {
        let mapping = self.read(&self.mapping_file(plan), LARGEST_MAPPING).ok().flatten();
        if let Some(session) = mapping.and_then(|id| Session::new(std::str::from_utf8(&id).ok()?.trim())) {
            return Some(session);
        }
        let files = self.workspace.list_newest_first(&self.path, "yml").into_iter().take(MOST_SESSIONS);
        let read_session = |file: PathBuf| Session::new(file.file_name()?.to_str()?.strip_suffix(GATE)?);
        files.filter_map(read_session).find(|session| {
            self.read_gate(session).is_ok_and(|gate| gate.is_some_and(|gate| self.is_record_for(&gate, plan)))
        })
    }

    /// The record of a plan, if it is the plan of this session.
    pub fn read_record<'t>(
        &self,
        plan: &Path,
        text: &'t [u8],
        session: &Session,
    ) -> Result<PlanRecord<'t>, Fault> {
        let mut record = PlanRecord::without_record(parse_plan(text)?);
        let gaps = self.read_gaps(session);
        let unreadable = gaps
            .as_ref()
            .err()
            .map(|fault| damage(format!("Cannot read gaps file: {fault}"), "Check file permissions"));
        let gaps = gaps.unwrap_or_default();
        if let Some(gaps) = &gaps {
            add_file_gaps(gaps, &mut record);
        }
        let gate = match self.read_gate(session) {
            Ok(None) => return Ok(record),
            Ok(Some(gate)) => gate,
            Err(fault) => {
                record.session = Some(session.id().to_owned());
                let fix = "Take the file away, edit the plan, and re-run /rodin:plan-gate";
                record.damage = Some(damage(format!("Cannot read gate file: {fault}"), fix));
                return Ok(record);
            }
        };
        let plan_file = gate.get(GateKey::PlanFile);
        // The session has another plan now.
        if plan_file.is_some() && !self.is_record_for(&gate, plan) {
            return Ok(record);
        }
        record.session = Some(session.id().to_owned());
        record.plan_recorded = self.compare_plan(&gate, plan, text)?;
        record.gaps_recorded = self.compare_gaps(&gate, session, gaps.as_deref());
        record.validation = read_verdict(&gate);
        record.seals = gate.get(GateKey::Seal).into_iter().collect();
        record.damage = match gate.get(GateKey::GapsFile) {
            _ if plan_file.is_none() => Some(describe_missing_plan_file()),
            _ if unreadable.is_some() => unreadable,
            Some(file) if !self.workspace.exists(Path::new(&file)) => {
                Some(damage(format!("Gaps file referenced but missing: {file}"), RERUN))
            }
            _ => gate
                .find_duplicate_key()
                .map(|key| damage(format!("Gate file corrupt: `{key}` is there more than once"), RERUN)),
        };
        Ok(record)
    }

    fn compare_plan(&self, gate: &GateFile, plan: &Path, text: &[u8]) -> Result<RecordedHash, Fault> {
        let recorded = gate.get(GateKey::PlanHash);
        let known = RecordedHash::compare(recorded.as_deref(), Digest::hash_file(text));
        if known == RecordedHash::Other
            && let Some(file) = super::read_plan(plan, self.workspace)?
            && trim_line_feeds(&file) == trim_line_feeds(text)
        {
            // A client may drop the last line feed of the text.
            return Ok(RecordedHash::compare(recorded.as_deref(), Digest::hash_file(&file)));
        }
        Ok(known)
    }

    fn compare_gaps(&self, gate: &GateFile, session: &Session, gaps: Option<&[u8]>) -> RecordedHash {
        match (gate.get(GateKey::GapsFile), gaps) {
            (None, None) => RecordedHash::Same,
            (None, Some(_)) => RecordedHash::Missing,
            (Some(file), _) if self.workspace.resolve(Path::new(&file)) != self.gaps_file(session) => {
                RecordedHash::Other
            }
            (Some(_), gaps) => {
                let now = Digest::hash_file(gaps.unwrap_or_default());
                RecordedHash::compare(gate.get(GateKey::GapsHash).as_deref(), now)
            }
        }
    }

    pub fn lock(&self) -> Result<Lock, Fault> {
        self.workspace.lock_directory(&self.path)
    }

    /// Removes what a killed process has left beside the files of a session.
    pub fn remove_leftovers(&self, plan: &Path, session: &Session) {
        if self.files(plan, session).iter().any(|file| self.workspace.has_unfinished(file)) {
            // Taking the lock removes what is left in the whole folder.
            let _ = self.lock();
        }
    }

    /// Changes a file of the folder. `edit` gets the current bytes and returns the new ones; `None` leaves the
    /// file.
    pub fn change<T>(
        &self,
        lock: &Lock,
        file: &Path,
        mut edit: impl FnMut(Option<&[u8]>) -> (Option<Vec<u8>>, T),
    ) -> Result<T, Fault> {
        self.refuse_link(file)?;
        self.workspace.make_directory(&self.path)?;
        change_locked(lock, file, self.workspace, |bytes| Ok(edit(bytes)))
    }

    pub fn write_record(
        &self,
        lock: &Lock,
        plan: &Path,
        text: &[u8],
        session: &Session,
        settled: &SettledVerdict,
    ) -> Result<(), Fault> {
        let gaps = self.read_gaps(session)?;
        // A gate file that is too large to read is not overwritten.
        self.read_gate(session)?;
        self.change(lock, &self.gate_file(session), |bytes| {
            let mut gate = GateFile::parse(bytes.unwrap_or_default());
            gate.set(GateKey::PlanFile, Some(&plan.to_string_lossy()));
            gate.set(GateKey::PlanHash, Some(&Digest::hash_file(text).to_string()));
            self.set_gaps(&mut gate, session, gaps.as_deref());
            set_verdict(&mut gate, settled);
            (Some(gate.to_bytes()), ())
        })?;
        self.change(lock, &self.mapping_file(plan), |known| {
            let is_known = known.is_some_and(|known| known.trim_ascii() == session.id().as_bytes());
            ((!is_known).then(|| format!("{}\n", session.id()).into_bytes()), ())
        })
    }

    pub fn set_gaps(&self, gate: &mut GateFile, session: &Session, gaps: Option<&[u8]>) {
        let file = gaps.map(|_| self.gaps_file(session).to_string_lossy().into_owned());
        gate.set(GateKey::GapsFile, file.as_deref());
        gate.set(GateKey::GapsHash, gaps.map(|gaps| Digest::hash_file(gaps).to_string()).as_deref());
    }

    /// Removes all files of a plan, the record first.
    pub fn remove(&self, _: &Lock, plan: &Path, session: &Session) -> Result<(), Fault> {
        self.files(plan, session).iter().try_for_each(|file| self.workspace.remove_file(file))
    }

    fn files(&self, plan: &Path, session: &Session) -> [PathBuf; 3] {
        [self.gate_file(session), self.gaps_file(session), self.mapping_file(plan)]
    }
}

/// Puts the gaps of the gaps file before those of the plan's gaps block.
fn add_file_gaps(gaps: &[u8], record: &mut PlanRecord<'_>) {
    let block = record.document.gaps_content().to_vec();
    let newline = if block.is_empty() { b"" } else { missing_newline(gaps) };
    let all = [gaps, newline, &block].concat();
    record.gaps_hash = Digest::hash_text(&[&all]);
    if !matches!(record.gaps, Gaps::Broken(_)) {
        record.gaps = Gaps::Present(String::from_utf8_lossy(&all).into_owned());
    }
}

fn read_verdict(gate: &GateFile) -> Option<PlanVerdict> {
    let reason = gate.get(GateKey::Reason).unwrap_or_default();
    Some(PlanVerdict {
        status: VerdictStatus::parse(&gate.get(GateKey::Status)?),
        reason: truncate_utf16(&reason, LONGEST_REASON).into_owned(),
        time: gate.get(GateKey::Timestamp),
    })
}

pub fn set_verdict(gate: &mut GateFile, settled: &SettledVerdict) {
    let PlanVerdict { status, reason, time } = &settled.validation;
    let reason = truncate_utf16(reason, LONGEST_REASON);
    gate.set(GateKey::Status, Some(status.word()));
    gate.set(GateKey::Reason, Some(&*reason).filter(|reason| !reason.is_empty()));
    gate.set(GateKey::Timestamp, time.as_deref());
    gate.set(GateKey::Seal, settled.seal.as_deref());
}

/// The damage of a gate file that names no plan.
pub(super) fn describe_missing_plan_file() -> Damage {
    damage("Gate file corrupt: missing plan_file".into(), RERUN)
}

fn damage(what: String, fix: &'static str) -> Damage {
    Damage { what, fix }
}

fn trim_line_feeds(text: &[u8]) -> &[u8] {
    &text[..text.iter().rposition(|byte| *byte != b'\n').map_or(0, |at| at + 1)]
}
