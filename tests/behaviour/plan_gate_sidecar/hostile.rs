//! Hostile files, places that cannot be written, and many processes at once.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::thread;

use super::*;

const BELIEVING: &str = "witness = \"off\"\nfloor = \"off\"\n";

/// Writing a plan or gaps causes no message, whatever is in the folder.
#[track_caller]
fn keeps_silent(gate: &Gate) {
    gate.write(&gate.plan(), "# Again\n");
    let answer = gate.project.hook_with(PACK, &gate.written(&gate.gaps_file(), SESSION));
    assert!(answer.is_silent(), "{answer:?}");
}

#[test]
fn a_binary_gate_file_has_no_verdict_and_is_extended() {
    let gate = Gate::passed(BELIEVING);
    let noise: Vec<u8> = (0..8192_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    for bytes in
        [noise, b"status: \"\\ud800\"\nplan_file: \xff\xfe\n".to_vec(), vec![0; 100], b"\n\n\r\n".to_vec()]
    {
        fs::write(gate.gate_file(), &bytes).unwrap();
        assert!(gate.leaves().is_err());
        keeps_silent(&gate);
        let reason = gate.leaves().unwrap_err();
        assert!(reason.starts_with("[RODIN] Assessment pending"), "{reason}");
    }
}

#[test]
fn a_gate_file_that_is_too_large_blocks_and_stays() {
    let gate = Gate::passed(BELIEVING);
    let mut text = fs::read(gate.gate_file()).unwrap();
    text.resize(10 << 20, b'x');
    fs::write(gate.gate_file(), &text).unwrap();
    keeps_silent(&gate);
    assert_shown!("plan-gate-sidecar-large-file", gate.leaves().unwrap_err());
    assert_eq!(fs::metadata(gate.gate_file()).unwrap().len(), 10 << 20);
    // The fix of the message works.
    fs::remove_file(gate.gate_file()).unwrap();
    gate.write(&gate.plan(), PLAN);
    gate.set("status", "pass");
    assert_eq!(gate.leaves(), Ok(()));
}

#[test]
fn links_are_not_followed() {
    for at in [Gate::gate_file as fn(&Gate) -> PathBuf, Gate::gaps_file, |gate| gate.beside("")] {
        let gate = Gate::passed(BELIEVING);
        let place = at(&gate);
        let away = gate.project.home.join("away");
        fs::rename(&place, &away).unwrap();
        let before = tree(&away);
        symlink(&away, gate.plans.join(&place).components().as_path()).unwrap();
        assert!(gate.leaves().is_err(), "{}", place.display());
        keeps_silent(&gate);
        assert!(gate.leaves().is_err(), "{}", place.display());
        assert_eq!(tree(&away), before, "what the link leads to is as it was");
    }
    let gate = Gate::believing();
    let mapping = gate.beside(&format!("{SLUG}.session"));
    let away = gate.project.write_home_file("away", "text\n");
    fs::create_dir(gate.beside("")).unwrap();
    symlink(&away, mapping).unwrap();
    keeps_silent(&gate);
    assert_eq!(fs::read_to_string(away).unwrap(), "text\n");
}

fn tree(path: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    if path.is_file() {
        return vec![(path.to_owned(), fs::read(path).unwrap())];
    }
    let mut files: Vec<_> = fs::read_dir(path)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| (path.clone(), fs::read(&path).unwrap()))
        .collect();
    files.sort();
    files
}

#[test]
fn a_directory_instead_of_a_file_blocks() {
    for at in [Gate::gate_file as fn(&Gate) -> PathBuf, Gate::gaps_file] {
        let gate = Gate::passed(BELIEVING);
        fs::remove_file(at(&gate)).unwrap();
        fs::create_dir(at(&gate)).unwrap();
        assert!(gate.leaves().unwrap_err().contains("not a regular file"));
        gate.write(&gate.plan(), "# Again\n");
        assert!(gate.leaves().is_err());
    }
    // The mapping is not needed.
    let gate = Gate::believing();
    fs::create_dir_all(gate.beside(&format!("{SLUG}.session"))).unwrap();
    fs::write(gate.gaps_file(), GAPS).unwrap();
    gate.write(&gate.plan(), PLAN);
    gate.set("status", "pass");
    assert_eq!(gate.leaves(), Ok(()));
}

#[test]
fn a_file_instead_of_the_folder_blocks() {
    let gate = Gate::believing();
    fs::write(gate.plans.join("rodin-plan-gate"), "mine").unwrap();
    gate.write(&gate.plan(), PLAN);
    assert!(gate.leaves().unwrap_err().contains("No assessment found"));
    assert_eq!(fs::read_to_string(gate.plans.join("rodin-plan-gate")).unwrap(), "mine");
    assert!(gate.project.read_journal_text().contains("rodin-plan-gate"), "the fault is in the journal");
}

#[test]
fn a_folder_that_cannot_be_written_blocks_a_changed_plan() {
    let gate = Gate::passed(BELIEVING);
    let folder = gate.beside("");
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o555)).unwrap();
    // Permissions do not stop root.
    let is_held = fs::write(folder.join("probe"), "").is_err();
    gate.write(&gate.plan(), "# Again\n");
    let reason = gate.leaves().unwrap_err();
    assert!(reason.contains(if is_held { "Plan hash mismatch" } else { "Assessment pending" }), "{reason}");
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn fifty_parallel_updates_leave_one_whole_record() {
    let gate = Gate::passed(BELIEVING);
    thread::scope(|scope| {
        for number in 0..50 {
            let gate = &gate;
            scope.spawn(move || {
                let (file, text) = if number % 2 == 0 {
                    (gate.plan(), format!("# Plan {number}\n"))
                } else {
                    (gate.gaps_file(), format!("### GAP-{number}: x\n"))
                };
                gate.write(&file, &text);
            });
        }
    });
    assert_eq!(gate.says("plan_hash"), shasum(&gate.plan()));
    assert_eq!(gate.says("gaps_hash"), shasum(&gate.gaps_file()));
    assert_eq!(gate.says("status"), "pending");
    assert!(!gate.project.read_journal_text().contains("\"fault\""), "{}", gate.project.read_journal_text());
    let keys = ["plan_file", "gaps_file", "reason", "timestamp"];
    for key in keys {
        assert!(!gate.says(key).is_empty(), "{key}");
    }
    let mut names: Vec<_> = tree(&gate.beside("")).into_iter().map(|(path, _)| path).collect();
    names.sort();
    let mut expected = vec![gate.gaps_file(), gate.gate_file(), gate.beside(&format!("{SLUG}.session"))];
    expected.sort();
    assert_eq!(names, expected, "nothing else is left");
}

#[test]
fn a_session_id_that_is_not_a_file_name_reaches_no_file() {
    let gate = Gate::believing();
    fs::write(gate.plan(), PLAN).unwrap();
    for session in ["../../x", "a/b", "", ".", "a\u{0}b"] {
        assert!(gate.project.hook_with(PACK, &gate.written(&gate.plan(), session)).is_silent());
        let mut event = gate.leaving();
        event["session_id"] = session.into();
        assert!(reason_of(&gate.project.hook_with(PACK, &event)).is_err(), "{session:?}");
    }
    assert!(!gate.beside("").exists());
    gate.write(&gate.beside("...gaps.md"), GAPS);
    assert_eq!(fs::read_dir(gate.beside("")).unwrap().count(), 1);
}
