//! The files after a write: mapping, hashes, status.

use super::*;

#[test]
fn a_plan_edit_makes_the_mapping_and_the_gate_file() {
    let gate = Gate::believing();
    gate.write(&gate.plan(), PLAN);
    assert_eq!(fs::read_to_string(gate.beside(&format!("{SLUG}.session"))).unwrap(), format!("{SESSION}\n"));
    let text = gate.project.shorten_paths(&fs::read_to_string(gate.gate_file()).unwrap());
    let (text, time) = text.trim_end().rsplit_once("timestamp: ").unwrap();
    assert_eq!(
        text,
        format!(
            "plan_file: <home>/.claude/plans/{SLUG}.md\nplan_hash: {}\ngaps_file:\ngaps_hash:\nstatus: \
             pending\nreason: Assessment not yet run\n",
            shasum(&gate.plan())
        )
    );
    assert!(time.len() == 20 && time.ends_with('Z'), "{time}");
}

#[test]
fn plan_edited_updates_plan_hash_and_resets_status() {
    let gate = Gate::passed("witness = \"off\"\n");
    let gaps_hash = gate.says("gaps_hash");
    gate.write(&gate.plan(), "# Plan\n\n## Goals\n- More\n");
    assert_eq!(gate.says("plan_hash"), shasum(&gate.plan()));
    assert_eq!(gate.says("gaps_hash"), gaps_hash);
    assert_eq!(
        (gate.says("status"), gate.says("reason")),
        ("pending".into(), "Plan edited, re-run assessment".into())
    );
}

#[test]
fn gaps_edited_updates_gaps_hash_and_resets_status() {
    let gate = Gate::passed("witness = \"off\"\n");
    let plan_hash = gate.says("plan_hash");
    gate.write(&gate.gaps_file(), "### GAP-1: Other\n");
    assert_eq!(gate.says("gaps_file"), gate.gaps_file().to_str().unwrap());
    assert_eq!(gate.says("gaps_hash"), shasum(&gate.gaps_file()));
    assert_eq!(gate.says("plan_hash"), plan_hash);
    assert_eq!(
        (gate.says("status"), gate.says("reason")),
        ("pending".into(), "Gaps edited, re-run assessment".into())
    );
}

#[test]
fn the_session_of_gaps_is_taken_from_their_file_name() {
    let gate = Gate::passed("witness = \"off\"\n");
    gate.write_by(OTHER, &gate.gaps_file(), "### GAP-1: Other\n");
    assert_eq!(gate.says("gaps_hash"), shasum(&gate.gaps_file()));
    assert_eq!(gate.says("status"), "pending");
    assert!(!gate.beside(&format!("{OTHER}.gate.yml")).exists());
    assert_eq!(fs::read_to_string(gate.beside(&format!("{SLUG}.session"))).unwrap().trim(), SESSION);
}

#[test]
fn gaps_of_a_session_without_a_gate_file_change_nothing() {
    let gate = Gate::believing();
    gate.write(&gate.gaps_file(), GAPS);
    assert!(!gate.gate_file().exists());
}

#[test]
fn outside_plan_mode_nothing_is_recorded() {
    let gate = Gate::believing();
    fs::write(gate.plan(), PLAN).unwrap();
    for mode in ["default", "acceptEdits", "bypassPermissions"] {
        let mut event = gate.written(&gate.plan(), SESSION);
        event["permission_mode"] = mode.into();
        assert!(gate.project.hook_with(PACK, &event).is_silent());
        assert!(gate.project.run_compat(&["post_tool_use"], event.to_string().as_bytes()).is_silent());
    }
    assert!(!gate.beside("").exists());
}

#[test]
fn a_file_that_is_not_a_plan_gets_no_record() {
    let gate = Gate::believing();
    for file in ["notes.md", "project/a.md"] {
        gate.write(&gate.project.home.join(file), PLAN);
    }
    gate.write(&gate.plans.join("picture.png"), PLAN);
    assert!(!gate.beside("").exists());
}

#[test]
fn the_compat_script_and_the_hook_write_the_same_record() {
    for event in [
        |gate: &Gate| gate.written(&gate.plan(), SESSION),
        |gate: &Gate| {
            let mut event = gate.written(&gate.plan(), SESSION);
            event["tool_input"] = json!({});
            event
        },
    ] {
        let gate = Gate::believing();
        fs::write(gate.plan(), PLAN).unwrap();
        let answer = gate.project.run_compat(&["post_tool_use"], event(&gate).to_string().as_bytes());
        assert!(answer.is_silent(), "{answer:?}");
        assert_eq!(gate.says("plan_hash"), shasum(&gate.plan()));
    }
    let gate = Gate::believing();
    fs::write(gate.plan(), PLAN).unwrap();
    let mut event = gate.written(&gate.plan(), SESSION);
    event["tool_name"] = "Bash".into();
    event["tool_input"] = json!({"command": format!("echo x >> {}", gate.plan().display())});
    event["tool_response"] = json!({"stdout": "", "stderr": ""});
    assert!(gate.project.hook_with(PACK, &event).is_silent());
    assert_eq!(gate.says("plan_hash"), shasum(&gate.plan()));
}

#[test]
fn a_second_update_changes_no_byte() {
    let gate = Gate::passed("witness = \"off\"\n");
    fs::write(
        gate.gate_file(),
        fs::read_to_string(gate.gate_file())
            .unwrap()
            .replace("status: pass", "# mine\nstatus: pass  # or fail")
            + "unknown: [1]\n",
    )
    .unwrap();
    let before = fs::read(gate.gate_file()).unwrap();
    for file in [gate.plan(), gate.gaps_file()] {
        let text = fs::read_to_string(&file).unwrap();
        gate.write(&file, &text);
        assert_eq!(fs::read(gate.gate_file()).unwrap(), before);
    }
    gate.write(&gate.plan(), "# New\n");
    let after = fs::read_to_string(gate.gate_file()).unwrap();
    assert!(
        after.contains("# mine\nstatus: pending  # or fail\n") && after.ends_with("unknown: [1]\n"),
        "{after}"
    );
}

#[test]
fn a_mapping_without_a_valid_session_is_ignored() {
    let gate = Gate::passed("witness = \"off\"\nfloor = \"off\"\n");
    let mapping = gate.beside(&format!("{SLUG}.session"));
    for content in ["", "../../etc/passwd", "a b", ".hidden", "\u{0}"] {
        fs::write(&mapping, content).unwrap();
        // The gate file names the plan, as with the document's hook.
        assert_eq!(gate.leaves(), Ok(()), "{content:?}");
    }
    fs::write(&mapping, [0xff, 0xfe]).unwrap();
    assert_eq!(gate.leaves(), Ok(()));
    fs::remove_file(gate.gate_file()).unwrap();
    assert!(gate.leaves().unwrap_err().contains("No assessment found"));
    gate.write(&gate.plan(), "# New\n");
    assert_eq!(fs::read_to_string(&mapping).unwrap().trim(), SESSION);
}

#[test]
fn another_session_takes_over_the_plan_with_its_own_gaps() {
    let gate = Gate::passed("witness = \"off\"\nfloor = \"off\"\n");
    gate.write_by(OTHER, &gate.plan(), PLAN);
    assert_eq!(fs::read_to_string(gate.beside(&format!("{SLUG}.session"))).unwrap().trim(), OTHER);
    let other = fs::read_to_string(gate.beside(&format!("{OTHER}.gate.yml"))).unwrap();
    assert!(other.contains("status: pending\nreason: Assessment not yet run\n"), "{other}");
    assert!(gate.leaves().unwrap_err().contains("No assessment found"), "it belongs to the other one now");
}
