//! The folder of the sidecar store: what each of its files is called, holds and means.
//!
//! Nothing here follows a link: what a link leads to is not ours to read, and not ours to write. All
//! files of a folder change under one lock.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::gate_file::{GateFile, Key};
use super::{RERUN, change_under};
use crate::decision::Fault;
use crate::files::Lock;
use crate::plan_gate::LARGEST_PLAN;
use crate::plan_gate::digest::Digest;
use crate::plan_gate::document::PlanDocument;
use crate::plan_gate::dossier::{Damage, Dossier, Gaps, Recorded, Settled};
use crate::plan_gate::place::{self, SIDECAR, Session};
use crate::plan_gate::verdict::{LONGEST_REASON, Status, Verdict};
use crate::text::bounded;
use crate::workspace::Workspace;

const MAPPING: &str = ".session";
const GATE: &str = ".gate.yml";
/// What anybody writes into such a file has a few hundred bytes.
const LARGEST_GATE: u64 = 256 << 10;
const LARGEST_MAPPING: u64 = 1 << 10;
/// So many gate files are looked at for a plan that has no mapping.
const MOST_SESSIONS: usize = 64;

const CHECK: &str = "Check file permissions";
const TAKE_AWAY: &str = "Take the file away, edit the plan, and re-run /rodin:plan-gate";

/// The folder with the files of all plans of a directory.
pub struct Folder<'w> {
    path: PathBuf,
    workspace: &'w Workspace,
}

impl<'w> Folder<'w> {
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
        self.path.join(format!("{}{}", session.id(), place::GAPS))
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

    pub fn gate(&self, session: &Session) -> Result<Option<GateFile>, Fault> {
        Ok(self.read(&self.gate_file(session), LARGEST_GATE)?.map(|bytes| GateFile::read(&bytes)))
    }

    pub fn gaps(&self, session: &Session) -> Result<Option<Vec<u8>>, Fault> {
        self.read(&self.gaps_file(session), LARGEST_PLAN)
    }

    pub fn names(&self, gate: &GateFile, plan: &Path) -> bool {
        gate.get(Key::PlanFile).is_some_and(|file| self.workspace.resolve(Path::new(&file)) == plan)
    }

    /// The session that a plan belongs to: by its mapping, or else by a gate file that names it.
    pub fn owner(&self, plan: &Path) -> Option<Session> {
        let mapping = self.read(&self.mapping_file(plan), LARGEST_MAPPING).ok().flatten();
        if let Some(session) = mapping.and_then(|id| Session::new(std::str::from_utf8(&id).ok()?.trim())) {
            return Some(session);
        }
        let files = self.workspace.newest_first(&self.path, "yml").into_iter().take(MOST_SESSIONS);
        let session = |file: &PathBuf| Session::new(file.file_name()?.to_str()?.strip_suffix(GATE)?);
        let names_plan = |session: &Session| {
            self.gate(session).is_ok_and(|gate| gate.is_some_and(|gate| self.names(&gate, plan)))
        };
        files.filter_map(|file| session(&file)).find(names_plan)
    }

    /// What is known about a plan, if it is the plan of this session.
    pub fn dossier<'t>(
        &self,
        plan: &Path,
        text: &'t [u8],
        document: PlanDocument<'t>,
        session: &Session,
    ) -> Result<Dossier<'t>, Fault> {
        let mut dossier = Dossier::unrecorded(document);
        let gaps = self.gaps(session);
        let unreadable =
            gaps.as_ref().err().map(|fault| damage(format!("Cannot read gaps file: {fault}"), CHECK));
        let gaps = gaps.unwrap_or_default();
        if let Some(gaps) = &gaps {
            add_in_front(gaps, &mut dossier);
        }
        let gate = match self.gate(session) {
            Ok(None) => return Ok(dossier),
            Ok(Some(gate)) => gate,
            Err(fault) => {
                dossier.session = Some(session.id().to_owned());
                dossier.damage = Some(damage(format!("Cannot read gate file: {fault}"), TAKE_AWAY));
                return Ok(dossier);
            }
        };
        let plan_file = gate.get(Key::PlanFile);
        // The session has another plan by now.
        if plan_file.is_some() && !self.names(&gate, plan) {
            return Ok(dossier);
        }
        let gaps_file = gate.get(Key::GapsFile);
        dossier.session = Some(session.id().to_owned());
        dossier.plan_recorded = self.plan_recorded(&gate, plan, text)?;
        dossier.gaps_recorded = self.gaps_recorded(&gate, session, gaps.as_deref());
        dossier.validation = verdict(&gate);
        dossier.seals = gate.get(Key::Seal).into_iter().collect();
        dossier.damage = match gaps_file {
            _ if plan_file.is_none() => Some(no_plan_file()),
            _ if unreadable.is_some() => unreadable,
            Some(file) if !self.workspace.exists(Path::new(&file)) => {
                Some(damage(format!("Gaps file referenced but missing: {file}"), RERUN))
            }
            _ => gate
                .doubled()
                .map(|key| damage(format!("Gate file corrupt: `{key}` is there more than once"), RERUN)),
        };
        Ok(dossier)
    }

    fn plan_recorded(&self, gate: &GateFile, plan: &Path, text: &[u8]) -> Result<Recorded, Fault> {
        let recorded = gate.get(Key::PlanHash);
        let known = Recorded::of(recorded.as_deref(), Digest::of_file(text));
        if known == Recorded::Other
            && let Some(file) = super::read(plan, self.workspace)?
            && without_last_lines(&file) == without_last_lines(text)
        {
            // A client may hand the text on without its last line feed.
            return Ok(Recorded::of(recorded.as_deref(), Digest::of_file(&file)));
        }
        Ok(known)
    }

    fn gaps_recorded(&self, gate: &GateFile, session: &Session, gaps: Option<&[u8]>) -> Recorded {
        match (gate.get(Key::GapsFile), gaps) {
            (None, None) => Recorded::Same,
            (None, Some(_)) => Recorded::Missing,
            (Some(file), _) if self.workspace.resolve(Path::new(&file)) != self.gaps_file(session) => {
                Recorded::Other
            }
            (Some(_), gaps) => {
                let now = Digest::of_file(gaps.unwrap_or_default());
                Recorded::of(gate.get(Key::GapsHash).as_deref(), now)
            }
        }
    }

    pub fn lock(&self) -> Result<Lock, Fault> {
        self.workspace.lock_all(&self.path)
    }

    /// Takes away what a killed process has left beside the files of a session.
    pub fn tidy(&self, plan: &Path, session: &Session) {
        for file in [self.gate_file(session), self.gaps_file(session), self.mapping_file(plan)] {
            if self.workspace.has_unfinished(&file) {
                let _ = self.lock();
            }
        }
    }

    /// Changes a file of the folder; `None`: it stays.
    pub fn change(
        &self,
        lock: &Lock,
        file: &Path,
        mut to: impl FnMut(Option<&[u8]>) -> Option<Vec<u8>>,
    ) -> Result<(), Fault> {
        self.refuse_link(file)?;
        self.workspace.make_directory(&self.path)?;
        change_under(lock, file, self.workspace, |bytes| Ok(to(bytes)))
    }

    /// Writes the whole record of a plan.
    pub fn write(
        &self,
        lock: &Lock,
        plan: &Path,
        text: &[u8],
        session: &Session,
        settled: &Settled,
    ) -> Result<(), Fault> {
        let gaps = self.gaps(session)?;
        // A file beyond measure is not ours to go on with.
        self.gate(session)?;
        self.change(lock, &self.gate_file(session), |bytes| {
            let mut gate = GateFile::read(bytes.unwrap_or_default());
            gate.set(Key::PlanFile, Some(&plan.to_string_lossy()));
            gate.set(Key::PlanHash, Some(&Digest::of_file(text).to_string()));
            self.set_gaps(&mut gate, session, gaps.as_deref());
            set_verdict(&mut gate, settled);
            Some(gate.to_bytes())
        })?;
        self.change(lock, &self.mapping_file(plan), |known| {
            let is_known = known.is_some_and(|known| known.trim_ascii() == session.id().as_bytes());
            (!is_known).then(|| format!("{}\n", session.id()).into_bytes())
        })
    }

    pub fn set_gaps(&self, gate: &mut GateFile, session: &Session, gaps: Option<&[u8]>) {
        let file = gaps.map(|_| self.gaps_file(session).to_string_lossy().into_owned());
        gate.set(Key::GapsFile, file.as_deref());
        gate.set(Key::GapsHash, gaps.map(|gaps| Digest::of_file(gaps).to_string()).as_deref());
    }

    /// Takes all files of a plan away, the record first.
    pub fn remove(&self, _: &Lock, plan: &Path, session: &Session) -> Result<(), Fault> {
        for file in [self.gate_file(session), self.gaps_file(session), self.mapping_file(plan)] {
            self.workspace.remove(&file)?;
        }
        Ok(())
    }
}

/// The gaps of a file come before those of the plan's own block.
fn add_in_front(gaps: &[u8], dossier: &mut Dossier<'_>) {
    let block = dossier.document.gaps_content().to_vec();
    let newline: &[u8] =
        if gaps.is_empty() || gaps.ends_with(b"\n") || block.is_empty() { b"" } else { b"\n" };
    let all = [gaps, newline, &block].concat();
    dossier.gaps_hash = Digest::of(&[&all]);
    if !matches!(dossier.gaps, Gaps::Broken(_)) {
        dossier.gaps = Gaps::Present(String::from_utf8_lossy(&all).into_owned());
    }
}

fn verdict(gate: &GateFile) -> Option<Verdict> {
    let reason = gate.get(Key::Reason).unwrap_or_default();
    Some(Verdict {
        status: Status::of(&gate.get(Key::Status)?),
        reason: bounded(&reason, LONGEST_REASON).into_owned(),
        time: gate.get(Key::Timestamp),
    })
}

pub fn set_verdict(gate: &mut GateFile, settled: &Settled) {
    let Verdict { status, reason, time } = &settled.validation;
    let reason = bounded(reason, LONGEST_REASON);
    gate.set(Key::Status, Some(status.word()));
    gate.set(Key::Reason, Some(&*reason).filter(|reason| !reason.is_empty()));
    gate.set(Key::Timestamp, time.as_deref());
    gate.set(Key::Seal, settled.seal.as_deref());
}

/// Why a gate file that names no plan is unusable.
pub(super) fn no_plan_file() -> Damage {
    damage("Gate file corrupt: missing plan_file".into(), RERUN)
}

fn damage(what: String, fix: &'static str) -> Damage {
    Damage { what, fix }
}

fn without_last_lines(text: &[u8]) -> &[u8] {
    &text[..text.iter().rposition(|byte| *byte != b'\n').map_or(0, |at| at + 1)]
}
