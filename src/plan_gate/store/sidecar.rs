//! The record in files beside the plans: `rodin-plan-gate/` with `<slug>.session`,
//! `<session>.gaps.md` and `<session>.gate.yml`.
//!
//! The hashes in `gate.yml` are those of whole files, as anybody's `shasum` gives them. A seal is over
//! the same digests as in the other store, so it goes along when a plan is moved. The gaps are what
//! stands in `gaps.md` and then in a gaps block of the plan, because in plan mode an agent can write
//! its plan unasked, but no other file.
//!
//! Nothing here follows a link: what a link leads to is not ours to read, and not ours to write. All
//! files of a folder change under one lock.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::gate_file::{GateFile, Key};
use super::{Judged, Moved, RERUN, Store, Words, change, change_under};
use crate::decision::Fault;
use crate::files::Lock;
use crate::plan_gate::LARGEST_PLAN;
use crate::plan_gate::digest::Digest;
use crate::plan_gate::document::{GapsBlock, PlanDocument, Signal};
use crate::plan_gate::dossier::{Damage, Dossier, Gaps, Policy, Recorded, Settled};
use crate::plan_gate::place::{self, SIDECAR, Session, Written};
use crate::plan_gate::verdict::{LONGEST_REASON, Status, Verdict};
use crate::text::bounded;
use crate::workspace::Workspace;

pub struct Sidecar;

const MAPPING: &str = ".session";
const GATE: &str = ".gate.yml";
/// What anybody writes into such a file has a few hundred bytes.
const LARGEST_GATE: u64 = 256 << 10;
const LARGEST_MAPPING: u64 = 1 << 10;
/// So many gate files are looked at for a plan that has no mapping.
const MOST_SESSIONS: usize = 64;

const CHECK: &str = "Check file permissions";

const WORDS: Words = Words {
    nothing: "No assessment found",
    plan_changed: "Plan hash mismatch",
    gaps_changed: "Gaps hash mismatch",
    no_gaps: "Plan must have gaps",
    add_gaps: |session| {
        format!(
            "Write gaps.md ({SIDECAR}/{session}{} beside the plan), or a gaps block in the plan between \
             <!-- rodin:gaps:start --> and <!-- rodin:gaps:end -->, with what is not known, and re-run \
             /rodin:plan-gate",
            place::GAPS
        )
    },
    floor_gaps: "Plan must have gaps. Write gaps.md and re-run",
    cover: "Update gaps.md to cover findings",
};

impl Store for Sidecar {
    fn name(&self) -> &'static str {
        "sidecar"
    }

    fn words(&self) -> &'static Words {
        &WORDS
    }

    fn plan_of(&self, session: &Session, workspace: &Workspace) -> Option<PathBuf> {
        let plans = workspace.resolve(&workspace.plans_directory()?);
        let folder = Folder::in_directory(&plans, workspace);
        let gate = folder.gate(session).ok()??;
        let plan = workspace.resolve(Path::new(&gate.get(Key::PlanFile)?));
        (plan.parent() == Some(&*plans) && place::is_markdown(&plan)).then_some(plan)
    }

    fn dossier<'t>(&self, plan: &Path, text: &'t [u8], workspace: &Workspace) -> Result<Dossier<'t>, Fault> {
        let plan = workspace.resolve(plan);
        let document = super::document(text)?;
        let Some(folder) = Folder::beside(&plan, workspace) else { return Ok(unrecorded(document)) };
        match folder.owner(&plan) {
            Some(session) => folder.dossier(&plan, text, document, &session),
            None => Ok(unrecorded(document)),
        }
    }

    fn keep(
        &self,
        written: &Written,
        session: &Session,
        policy: &Policy,
        workspace: &Workspace,
    ) -> Result<(), Fault> {
        match written {
            Written::Plan(plan) => keep_plan(plan, session, policy, workspace),
            // Whoever wrote them: they are the gaps of the session in their name.
            Written::Gaps(file, owner) => keep_gaps(file, owner, policy, workspace),
        }
    }

    fn record(&self, plan: &Path, judged: &Judged<'_>, workspace: &Workspace) -> Result<bool, Fault> {
        let plan = workspace.resolve(plan);
        let Some(folder) = Folder::beside(&plan, workspace) else { return Ok(false) };
        let lock = folder.lock()?;
        let Some(text) = super::read(&plan, workspace)? else { return Ok(false) };
        let dossier = folder.dossier(&plan, &text, super::document(&text)?, judged.session)?;
        if (dossier.plan_hash, dossier.gaps_hash) != (judged.plan, judged.gaps) {
            return Ok(false);
        }
        if !dossier.already_says(judged) {
            folder.write(&lock, &plan, &text, judged.session, &judged.settled)?;
        }
        Ok(true)
    }

    fn add_gaps(&self, plan: &Path, added: &str, workspace: &Workspace) -> Result<bool, Fault> {
        let plan = workspace.resolve(plan);
        let mut has_place = false;
        if let Some(folder) = Folder::beside(&plan, workspace)
            && let Some(session) = folder.owner(&plan)
            && folder.gaps(&session)?.is_some()
        {
            folder.change(&folder.lock()?, &folder.gaps_file(&session), |text| {
                has_place = text.is_some();
                let text = text?;
                let newline: &[u8] = if text.is_empty() || text.ends_with(b"\n") { b"" } else { b"\n" };
                Some([text, newline, added.as_bytes()].concat())
            })?;
        }
        if !has_place {
            change(&plan, workspace, |text| {
                let Some(text) = text else { return Ok(None) };
                let after = super::document(text)?.with_gaps(added);
                has_place = after.is_some();
                Ok(after)
            })?;
        }
        Ok(has_place)
    }

    fn take_out(&self, plan: &Path, workspace: &Workspace) -> Result<(), Fault> {
        let plan = workspace.resolve(plan);
        let Some(folder) = Folder::beside(&plan, workspace) else { return Ok(()) };
        let Some(session) = folder.owner(&plan) else { return Ok(()) };
        let gaps = folder.gaps(&session)?;
        if let Some(gaps) = &gaps {
            let mut has_place = false;
            change(&plan, workspace, |text| {
                let Some(text) = text else { return Ok(None) };
                let document = super::document(text)?;
                // Somebody may have been ended between this and the next step.
                let is_there = document.gaps_content().to_vec().starts_with(gaps)
                    && *document.gaps() != GapsBlock::Missing;
                let after = if is_there { None } else { document.with_gaps_in_front(gaps) };
                has_place = is_there || after.is_some();
                Ok(after)
            })?;
            if !has_place {
                return Err(Fault::Error(
                    "the plan has no place for the gaps: its gaps block is broken".into(),
                ));
            }
        }
        let lock = folder.lock()?;
        if folder.gaps(&session)? == gaps {
            folder.remove(&lock, &plan, &session)?;
        }
        Ok(())
    }

    fn put_in(&self, plan: &Path, moved: &Moved, workspace: &Workspace) -> Result<Result<(), String>, Fault> {
        let plan = workspace.resolve(plan);
        let Some(folder) = Folder::beside(&plan, workspace) else {
            return Ok(Err("it lies in no directory".into()));
        };
        let Some(text) = super::read(&plan, workspace)? else {
            return Ok(Err("there is no such plan".into()));
        };
        // What will be left of the plan when its marks and its block are taken out.
        let text = super::document(&text)?.content().to_vec();
        let left = super::document(&text)?;
        if left.content().hash() != moved.plan_hash() || *left.gaps() != GapsBlock::Missing {
            return Ok(Err("its text would not be the same without its marks".into()));
        }
        let lock = folder.lock()?;
        if folder.gate(&moved.session)?.is_some_and(|gate| !folder.names(&gate, &plan)) {
            return Ok(Err("the session has another plan in the store `sidecar`".into()));
        }
        let known = folder.gaps(&moved.session)?;
        if known.is_some() && known.as_deref() != moved.gaps.as_deref().map(str::as_bytes) {
            let file = folder.gaps_file(&moved.session);
            return Ok(Err(format!("there are other gaps already in {}", file.display())));
        }
        if let Some(gaps) = &moved.gaps {
            folder.change(&lock, &folder.gaps_file(&moved.session), |_| Some(gaps.clone().into_bytes()))?;
        }
        folder.write(&lock, &plan, &text, &moved.session, &moved.settled)?;
        Ok(Ok(()))
    }

    fn forget(&self, plan: &Path, moved: &Moved, workspace: &Workspace) -> Result<bool, Fault> {
        let plan = workspace.resolve(plan);
        let Some(folder) = Folder::beside(&plan, workspace) else { return Ok(true) };
        let lock = folder.lock()?;
        let gaps = folder.gaps(&moved.session)?.unwrap_or_default();
        if !moved.gaps.as_deref().unwrap_or_default().as_bytes().starts_with(&gaps) {
            return Ok(false);
        }
        folder.remove(&lock, &plan, &moved.session)?;
        Ok(true)
    }
}

fn keep_plan(plan: &Path, session: &Session, policy: &Policy, workspace: &Workspace) -> Result<(), Fault> {
    let Some(folder) = Folder::beside(plan, workspace) else { return Ok(()) };
    let lock = folder.lock()?;
    // Read under the lock: whoever comes last has seen the last text.
    let Some(text) = super::read(plan, workspace)? else { return Ok(()) };
    let mut dossier = folder.dossier(plan, &text, super::document(&text)?, session)?;
    if let Some(before) = folder.owner(plan).filter(|before| before != session) {
        // Another session goes on with the plan: a verdict on these very texts goes on, too.
        dossier.seals.extend(folder.gate(&before)?.and_then(|gate| gate.get(Key::Seal)));
    }
    let changed = match dossier.session {
        Some(_) => "Plan edited, re-run assessment",
        None => "Assessment not yet run",
    };
    let settled = dossier.settle(session.id(), Signal::None, changed, policy, &workspace.now());
    folder.write(&lock, plan, &text, session, &settled)
}

fn keep_gaps(file: &Path, owner: &Session, policy: &Policy, workspace: &Workspace) -> Result<(), Fault> {
    let Some(plans) = file.parent().and_then(Path::parent) else { return Ok(()) };
    let folder = Folder::in_directory(plans, workspace);
    let lock = folder.lock()?;
    // Gaps that are written before the plan are looked at when the plan is.
    let Some(plan) = folder.gate(owner)?.and_then(|gate| gate.get(Key::PlanFile)) else { return Ok(()) };
    let plan = workspace.resolve(Path::new(&plan));
    if plan.parent() != Some(plans) {
        return Ok(());
    }
    let text = super::read(&plan, workspace)?.unwrap_or_default();
    let dossier = folder.dossier(&plan, &text, super::document(&text)?, owner)?;
    let changed = "Gaps edited, re-run assessment";
    let settled = dossier.settle(owner.id(), Signal::None, changed, policy, &workspace.now());
    let gaps = folder.gaps(owner)?;
    folder.change(&lock, &folder.gate_file(owner), |bytes| {
        let mut gate = GateFile::read(bytes?);
        folder.set_gaps(&mut gate, owner, gaps.as_deref());
        set_verdict(&mut gate, &settled);
        Some(gate.to_bytes())
    })
}

/// The folder with the files of all plans of a directory.
struct Folder<'w> {
    path: PathBuf,
    workspace: &'w Workspace,
}

impl<'w> Folder<'w> {
    fn in_directory(plans: &Path, workspace: &'w Workspace) -> Self {
        Self { path: plans.join(SIDECAR), workspace }
    }

    fn beside(plan: &Path, workspace: &'w Workspace) -> Option<Self> {
        Some(Self::in_directory(plan.parent()?, workspace))
    }

    fn mapping_file(&self, plan: &Path) -> PathBuf {
        let mut name = plan.file_stem().map(OsString::from).unwrap_or_default();
        name.push(MAPPING);
        self.path.join(name)
    }

    fn gate_file(&self, session: &Session) -> PathBuf {
        self.path.join(format!("{}{GATE}", session.id()))
    }

    fn gaps_file(&self, session: &Session) -> PathBuf {
        self.path.join(format!("{}{}", session.id(), place::GAPS))
    }

    fn read(&self, file: &Path, limit: u64) -> Result<Option<Vec<u8>>, Fault> {
        self.refuse_link(file)?;
        Ok(self.workspace.read_with_stamp(file, limit)?.0)
    }

    // INVARIANT: the folder lies in a resolved directory, so only it and the file can be links.
    fn refuse_link(&self, file: &Path) -> Result<(), Fault> {
        if self.workspace.resolve(file) == file {
            return Ok(());
        }
        Err(Fault::Error(format!("{}: a link, and none is followed here", file.display())))
    }

    fn gate(&self, session: &Session) -> Result<Option<GateFile>, Fault> {
        Ok(self.read(&self.gate_file(session), LARGEST_GATE)?.map(|bytes| GateFile::read(&bytes)))
    }

    fn gaps(&self, session: &Session) -> Result<Option<Vec<u8>>, Fault> {
        self.read(&self.gaps_file(session), LARGEST_PLAN)
    }

    fn names(&self, gate: &GateFile, plan: &Path) -> bool {
        gate.get(Key::PlanFile).is_some_and(|file| self.workspace.resolve(Path::new(&file)) == plan)
    }

    /// The session that a plan belongs to: by its mapping, or else by a gate file that names it.
    fn owner(&self, plan: &Path) -> Option<Session> {
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
    fn dossier<'t>(
        &self,
        plan: &Path,
        text: &'t [u8],
        document: PlanDocument<'t>,
        session: &Session,
    ) -> Result<Dossier<'t>, Fault> {
        let mut dossier = unrecorded(document);
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
                dossier.damage = Some(damage(
                    format!("Cannot read gate file: {fault}"),
                    "Take the file away, \
                    edit the plan, and re-run /rodin:plan-gate",
                ));
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
            _ if plan_file.is_none() => Some(damage("Gate file corrupt: missing plan_file".into(), RERUN)),
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

    fn lock(&self) -> Result<Lock, Fault> {
        self.workspace.lock(&self.path)
    }

    /// Changes a file of the folder; `None`: it stays.
    fn change(
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
    fn write(
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

    fn set_gaps(&self, gate: &mut GateFile, session: &Session, gaps: Option<&[u8]>) {
        let file = gaps.map(|_| self.gaps_file(session).to_string_lossy().into_owned());
        gate.set(Key::GapsFile, file.as_deref());
        gate.set(Key::GapsHash, gaps.map(|gaps| Digest::of_file(gaps).to_string()).as_deref());
    }

    /// Takes all files of a plan away, the record first.
    fn remove(&self, _: &Lock, plan: &Path, session: &Session) -> Result<(), Fault> {
        for file in [self.gate_file(session), self.gaps_file(session), self.mapping_file(plan)] {
            self.workspace.remove(&file)?;
        }
        Ok(())
    }
}

/// A plan about which nothing is recorded: it has at most a block of gaps.
fn unrecorded(document: PlanDocument<'_>) -> Dossier<'_> {
    let gaps = match document.gaps() {
        GapsBlock::Missing => Gaps::Missing,
        GapsBlock::Broken(how) => Gaps::Broken(how),
        GapsBlock::Present(_) => Gaps::Present(document.gaps_content().to_text()),
    };
    Dossier {
        session: None,
        gaps,
        plan_hash: document.content().hash(),
        gaps_hash: document.gaps_content().hash(),
        plan_recorded: Recorded::Missing,
        gaps_recorded: Recorded::Missing,
        validation: None,
        seals: Vec::new(),
        damage: None,
        document,
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

fn set_verdict(gate: &mut GateFile, settled: &Settled) {
    let Verdict { status, reason, time } = &settled.validation;
    let reason = bounded(reason, LONGEST_REASON);
    gate.set(Key::Status, Some(status.word()));
    gate.set(Key::Reason, Some(&*reason).filter(|reason| !reason.is_empty()));
    gate.set(Key::Timestamp, time.as_deref());
    gate.set(Key::Seal, settled.seal.as_deref());
}

fn damage(what: String, fix: &'static str) -> Damage {
    Damage { what, fix }
}

fn without_last_lines(text: &[u8]) -> &[u8] {
    &text[..text.iter().rposition(|byte| *byte != b'\n').map_or(0, |at| at + 1)]
}
