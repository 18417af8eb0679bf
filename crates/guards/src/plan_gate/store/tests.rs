//! The stores side by side: moving a plan both ways and back, and what only the sidecar does.

use std::fs;

use super::move_plan::pack_record;
use super::*;
use crate::plan_gate::gate;
use crate::plan_gate::plan_files::SIDECAR;
use crate::plan_gate::plan_record::{Gaps, RecordedHash, VerdictPolicy};
use crate::plan_gate::verdict::{PlanVerdict, VerdictStatus};
use crate::seal::SealKey;

const TEXT: &str = "# Plan\n\n## Goals\n- Ship\n\nä – no newline at the end";
const GAPS: &str = "### GAP-1: Rollback: unclear\n- **Severity**: high\n- **Description**: none -> yet\n";
const REASON: &str = "All \"covered\": yes # really --> \\ ä\nsecond line";

struct World {
    root: tempfile::TempDir,
    workspace: Workspace,
    plan: PathBuf,
    session: Session,
}

impl World {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let real = root.path().canonicalize().unwrap();
        let workspace = Workspace::for_tests(&real);
        let plans = real.join("plans");
        fs::create_dir_all(&plans).unwrap();
        let session = Session::new("db05b49a-780f-4b0b-bd53-5359177b8aba").unwrap();
        Self { root, workspace, plan: plans.join("lucky-badger.md"), session }
    }

    fn beside(&self, name: &str) -> PathBuf {
        self.plan.with_file_name(SIDECAR).join(name)
    }

    fn gaps_file(&self) -> PathBuf {
        self.beside(&format!("{}.gaps.md", self.session.id()))
    }

    fn gate_file(&self) -> PathBuf {
        self.beside(&format!("{}.gate.yml", self.session.id()))
    }

    fn keep(&self, store: &dyn Store) {
        store.update(&WrittenFile::Plan(self.plan.clone()), &self.session, &self.workspace).unwrap();
    }

    fn gaps_hash(&self, store: &dyn Store) -> Digest {
        let text = fs::read(&self.plan).unwrap_or_default();
        store.read_record(&self.plan, &text, &self.workspace).unwrap().gaps_hash
    }

    /// Whether a gap is added to gaps that are known by this hash.
    fn adds(&self, store: &dyn Store, known: Digest) -> bool {
        store.add_gaps(&self.plan, known, "### GAP-2: More\n", &self.workspace).unwrap()
    }

    /// A plan that has passed, and was seen to.
    fn passed(&self, store: &dyn Store) {
        if store.name() == "embedded" {
            let block = format!("<!-- rodin:gaps:start -->\n{GAPS}<!-- rodin:gaps:end -->\n");
            fs::write(&self.plan, format!("{TEXT}\n{block}")).unwrap();
        } else {
            fs::write(&self.plan, TEXT).unwrap();
            fs::create_dir_all(self.beside("")).unwrap();
            fs::write(self.gaps_file(), GAPS).unwrap();
        }
        self.keep(store);
        let text = fs::read(&self.plan).unwrap();
        let record = store.read_record(&self.plan, &text, &self.workspace).unwrap();
        let (plan, gaps) = (record.plan_hash, record.gaps_hash);
        let seal = Some(SealKey::load_or_create(&self.workspace).unwrap().seal_texts(plan, gaps));
        let validation = PlanVerdict::new(VerdictStatus::Pass, REASON, "2026-01-21T20:00:00Z".into());
        let judged = JudgedPlan {
            session: &self.session,
            hashes: (plan, gaps),
            settled: SettledVerdict { validation, seal },
        };
        assert!(store.record_verdict(&self.plan, &judged, &self.workspace).unwrap());
        self.stands(store);
    }

    fn moved(&self, from: &dyn Store, to: &dyn Store) -> Result<MovedRecord, String> {
        move_plan(&self.plan, from, to, &self.workspace).unwrap()
    }

    /// The plan may leave by what this store knows, and all of it is what was recorded.
    #[track_caller]
    fn stands(&self, store: &dyn Store) {
        let text = fs::read(&self.plan).unwrap();
        let record = store.read_record(&self.plan, &text, &self.workspace).unwrap();
        let policy = VerdictPolicy::from_settings(&self.workspace).unwrap();
        assert!(policy.needs_witness);
        let denial = gate::find_denial(&record, self.session.id(), &policy, store, &self.workspace).unwrap();
        assert!(denial.is_none(), "{}: {denial:?}", store.name());
        assert_eq!(record.gaps, Gaps::Present(GAPS.into()));
        let content = record.document.content().to_text();
        assert_eq!(content.trim_end_matches('\n'), TEXT);
        let verdict = record.validation.unwrap();
        assert_eq!(
            (verdict.reason.as_str(), verdict.time.as_deref()),
            (REASON, Some("2026-01-21T20:00:00Z"))
        );
    }

    /// This store knows nothing of the plan.
    #[track_caller]
    fn is_unknown_to(&self, store: &dyn Store) {
        let text = fs::read(&self.plan).unwrap();
        assert_eq!(store.read_record(&self.plan, &text, &self.workspace).unwrap().session, None);
        match store.name() {
            "embedded" => assert!(!String::from_utf8_lossy(&text).contains("rodin:"), "marks are left"),
            _ => assert_eq!(fs::read_dir(self.beside("")).into_iter().flatten().count(), 0, "files are left"),
        }
    }
}

#[test]
fn a_sealed_pass_moves_both_ways_and_back() {
    let stores: [&dyn Store; 2] = [&Embedded, &Sidecar];
    for [from, to] in [stores, [stores[1], stores[0]]] {
        let world = World::new();
        world.passed(from);
        for (from, to) in [(from, to), (to, from), (from, to)] {
            let moved = world.moved(from, to).unwrap();
            assert_eq!(moved.session, world.session);
            world.stands(to);
            world.is_unknown_to(from);
            // What is there is what the keeper would have made.
            world.keep(to);
            world.stands(to);
        }
    }
}

#[test]
fn a_move_that_is_killed_between_its_steps_leaves_a_record_and_can_be_repeated() {
    let stores: [&dyn Store; 2] = [&Embedded, &Sidecar];
    for [from, to] in [stores, [stores[1], stores[0]]] {
        let world = World::new();
        world.passed(from);
        let text = fs::read(&world.plan).unwrap();
        let record = from.read_record(&world.plan, &text, &world.workspace).unwrap();
        let half = pack_record(&record, from, &world.workspace).unwrap();
        assert!(to.import(&world.plan, &half, &world.workspace).is_ok());
        // The record of the embedded store is whole until it goes, and from when it comes.
        world.stands(&Embedded);
        world.moved(from, to).unwrap();
        world.stands(to);
        world.is_unknown_to(from);
    }
    // Ended while the old files were being taken away.
    let world = World::new();
    world.passed(&Sidecar);
    let gaps = fs::read(world.gaps_file()).unwrap();
    world.moved(&Sidecar, &Embedded).unwrap();
    fs::write(world.gaps_file(), gaps).unwrap();
    fs::write(world.beside("lucky-badger.session"), world.session.id()).unwrap();
    world.moved(&Sidecar, &Embedded).unwrap();
    world.stands(&Embedded);
    world.is_unknown_to(&Sidecar);
}

#[test]
fn gaps_of_the_file_and_of_the_block_become_one_block() {
    let world = World::new();
    let (first, second) = GAPS.split_at(GAPS.find("- **Desc").unwrap());
    for (file, block) in [(first, second), (first.trim_end(), second), ("", GAPS), (GAPS, "")] {
        let text = format!("# P\n<!-- rodin:gaps:start -->\n{block}<!-- rodin:gaps:end -->\nrest\n");
        fs::write(&world.plan, text).unwrap();
        fs::create_dir_all(world.beside("")).unwrap();
        fs::write(world.gaps_file(), file).unwrap();
        world.keep(&Sidecar);
        let moved = world.moved(&Sidecar, &Embedded).unwrap();
        assert_eq!(moved.gaps.as_deref(), Some(GAPS));
        let text = fs::read_to_string(&world.plan).unwrap();
        let expected = format!(
            "# P\n<!-- rodin:gaps:start -->\n{GAPS}<!-- rodin:gaps:end -->\nrest\n<!-- rodin:session="
        );
        assert!(text.starts_with(&expected), "{text}");
        assert!(!world.gaps_file().exists());
    }
}

#[test]
fn a_stale_verdict_becomes_pending_when_it_is_moved() {
    for store in [&Embedded as &dyn Store, &Sidecar] {
        let mut world = World::new();
        world.passed(store);
        world.workspace.config.force_word(settings::PLAN_GATE_WITNESS, "off");
        let text = fs::read_to_string(&world.plan).unwrap();
        fs::write(&world.plan, text.replace("- Ship", "- Ship all")).unwrap();
        let to: &dyn Store = if store.name() == "embedded" { &Sidecar } else { &Embedded };
        let moved = world.moved(store, to).unwrap();
        assert_eq!(moved.settled.validation.status, VerdictStatus::Pending);
        let text = fs::read(&world.plan).unwrap();
        let record = to.read_record(&world.plan, &text, &world.workspace).unwrap();
        let policy = VerdictPolicy::from_settings(&world.workspace).unwrap();
        let denial =
            gate::find_denial(&record, world.session.id(), &policy, to, &world.workspace).unwrap().unwrap();
        assert!(denial.what.contains("Assessment pending"), "{denial:?}");
    }
}

#[test]
fn a_plan_that_cannot_be_moved_stays_as_it_is() {
    let world = World::new();
    assert!(world.moved(&Embedded, &Embedded).unwrap_err().contains("already"));
    assert!(world.moved(&Embedded, &Sidecar).unwrap_err().contains("no such plan"));
    fs::write(&world.plan, TEXT).unwrap();
    assert!(world.moved(&Embedded, &Sidecar).unwrap_err().contains("No assessment found"));
    assert!(world.moved(&Sidecar, &Embedded).unwrap_err().contains("No assessment found"));
    assert_eq!(fs::read_to_string(&world.plan).unwrap(), TEXT);

    // Other gaps are in the way.
    world.passed(&Embedded);
    let before = fs::read(&world.plan).unwrap();
    fs::create_dir_all(world.beside("")).unwrap();
    fs::write(world.gaps_file(), "other\n").unwrap();
    assert!(world.moved(&Embedded, &Sidecar).unwrap_err().contains("other gaps"));
    fs::remove_file(world.gaps_file()).unwrap();
    // The session's other plan is in the way.
    let gate = world.gate_file();
    fs::write(&gate, "plan_file: /somewhere/else.md\n").unwrap();
    assert!(world.moved(&Embedded, &Sidecar).unwrap_err().contains("another plan"));
    assert_eq!(fs::read(&world.plan).unwrap(), before);
    assert_eq!(fs::read_to_string(&gate).unwrap(), "plan_file: /somewhere/else.md\n");
    fs::remove_file(&gate).unwrap();
    world.stands(&Embedded);

    // A fence in the plan would pair with one in the gaps, and hide the block.
    world.moved(&Embedded, &Sidecar).unwrap();
    fs::write(&world.plan, "# P\n```\n").unwrap();
    fs::write(world.gaps_file(), "```\n").unwrap();
    world.keep(&Sidecar);
    assert!(world.moved(&Sidecar, &Embedded).unwrap_err().contains("not be the same"));
    assert_eq!(fs::read_to_string(&world.plan).unwrap(), "# P\n```\n");
    assert!(world.gaps_file().exists() && gate.exists());
    // Bytes that are no text cannot go through one.
    fs::write(&world.plan, "# P\n").unwrap();
    fs::write(world.gaps_file(), b"\xff\n").unwrap();
    world.keep(&Sidecar);
    assert!(world.moved(&Sidecar, &Embedded).unwrap_err().contains("UTF-8"));
    drop(world.root);
}

#[test]
fn gaps_are_added_to_the_file_or_block_that_holds_them() {
    let world = World::new();
    let add = || world.adds(&Sidecar, world.gaps_hash(&Sidecar));
    assert!(!add(), "no plan");
    fs::write(&world.plan, TEXT).unwrap();
    assert!(!add(), "no gaps");
    world.keep(&Sidecar);
    assert!(!add(), "still none");
    fs::write(world.gaps_file(), GAPS.trim_end()).unwrap();
    assert!(add());
    assert_eq!(fs::read_to_string(world.gaps_file()).unwrap(), format!("{GAPS}### GAP-2: More\n"));
    assert_eq!(fs::read_to_string(&world.plan).unwrap(), TEXT);
    // Without the file, the block in the plan is the place.
    fs::remove_file(world.gaps_file()).unwrap();
    fs::write(&world.plan, "<!-- rodin:gaps:start -->\n<!-- rodin:gaps:end -->\n").unwrap();
    assert!(add());
    assert_eq!(
        fs::read_to_string(&world.plan).unwrap(),
        "<!-- rodin:gaps:start -->\n### GAP-2: More\n<!-- rodin:gaps:end -->\n"
    );
}

/// Two processes that have found the same doubts add them once.
#[test]
fn nothing_is_added_to_gaps_that_have_changed_meanwhile() {
    for store in [&Embedded as &dyn Store, &Sidecar] {
        let world = World::new();
        world.passed(store);
        let known = world.gaps_hash(store);
        assert!(world.adds(store, known), "{}", store.name());
        assert!(!world.adds(store, known), "{}", store.name());
        let (plan, gaps) = (fs::read_to_string(&world.plan).unwrap(), fs::read_to_string(world.gaps_file()));
        assert_eq!((plan + &gaps.unwrap_or_default()).matches("### GAP-2").count(), 1, "{}", store.name());
    }
}

#[test]
fn a_verdict_on_other_texts_is_not_recorded() {
    let world = World::new();
    world.passed(&Sidecar);
    let gate = fs::read(world.gate_file()).unwrap();
    let text = fs::read(&world.plan).unwrap();
    let record = Sidecar.read_record(&world.plan, &text, &world.workspace).unwrap();
    let validation = PlanVerdict::new(VerdictStatus::Fail, "x", world.workspace.format_now());
    let other = Digest::hash_text(&[b"other"]);
    for (plan, gaps) in [(other, record.gaps_hash), (record.plan_hash, other)] {
        let settled = SettledVerdict { validation: validation.clone(), seal: None };
        let judged = JudgedPlan { session: &world.session, hashes: (plan, gaps), settled };
        assert!(!Sidecar.record_verdict(&world.plan, &judged, &world.workspace).unwrap());
    }
    assert_eq!(fs::read(world.gate_file()).unwrap(), gate);
}

#[test]
fn gaps_that_the_record_does_not_name_are_not_the_recorded_ones() {
    let world = World::new();
    world.passed(&Sidecar);
    let text = fs::read(&world.plan).unwrap();
    let recorded = || Sidecar.read_record(&world.plan, &text, &world.workspace).unwrap().gaps_recorded;
    let gate = fs::read_to_string(world.gate_file()).unwrap();
    let line = gate.lines().find(|line| line.starts_with("gaps_file:")).unwrap();
    fs::write(world.gate_file(), gate.replace(line, "gaps_file:")).unwrap();
    assert_eq!(recorded(), RecordedHash::Missing);
    fs::write(world.gate_file(), gate.replace(line, &format!("gaps_file: {}", world.plan.display())))
        .unwrap();
    assert_eq!(recorded(), RecordedHash::Other);
    fs::write(world.gate_file(), gate).unwrap();
    assert_eq!(recorded(), RecordedHash::Same);
}

#[test]
fn a_long_reason_is_cut_and_stays_on_one_line() {
    let world = World::new();
    world.passed(&Sidecar);
    let text = fs::read(&world.plan).unwrap();
    let record = Sidecar.read_record(&world.plan, &text, &world.workspace).unwrap();
    let reason = "a\nb: ".repeat(10_000);
    let validation = PlanVerdict { status: VerdictStatus::Fail, reason, time: None };
    let settled = SettledVerdict { validation, seal: None };
    let judged = JudgedPlan { session: &world.session, hashes: record.hashes(), settled };
    assert!(Sidecar.record_verdict(&world.plan, &judged, &world.workspace).unwrap());
    let gate = fs::read_to_string(world.gate_file()).unwrap();
    assert_eq!(gate.lines().count(), 7, "{gate}");
    assert!(gate.len() < 4_000 && gate.contains("(cut)"), "{}", gate.len());
}

#[test]
fn gaps_that_have_changed_are_not_removed_after_a_move() {
    for store in [&Embedded as &dyn Store, &Sidecar] {
        let world = World::new();
        world.passed(store);
        let text = fs::read(&world.plan).unwrap();
        let moved = pack_record(
            &store.read_record(&world.plan, &text, &world.workspace).unwrap(),
            store,
            &world.workspace,
        );
        let file = if store.name() == "embedded" { world.plan.clone() } else { world.gaps_file() };
        let edited = fs::read_to_string(&file).unwrap().replace("GAP-1", "GAP-7");
        fs::write(&file, &edited).unwrap();
        assert!(!store.remove_moved(&world.plan, &moved.unwrap(), &world.workspace).unwrap());
        assert_eq!(fs::read_to_string(&file).unwrap(), edited);
    }
}

#[test]
fn a_text_that_would_become_a_mark_keeps_the_plan_where_it_is() {
    let world = World::new();
    let text = "a <!-- rodin:<!-- rodin:gaps:start -->x<!-- rodin:gaps:end -->session=other --> b\n";
    fs::write(&world.plan, text).unwrap();
    world.keep(&Embedded);
    let before = fs::read(&world.plan).unwrap();
    assert!(world.moved(&Embedded, &Sidecar).unwrap_err().contains("without its marks"));
    assert_eq!(fs::read(&world.plan).unwrap(), before);
    assert!(!world.gate_file().exists());
}
