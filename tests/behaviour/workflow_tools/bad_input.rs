//! Files that are damaged, huge or strange: a defined answer each, and nothing is rewritten. On each tool.
//!
//! What would need an approval that cannot be read stays denied, and the denial says which file cannot be read.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use super::stage::ToolProject;
use super::test_every_tool;
use super::tools::Tool;

test_every_tool![
    damaged_artefacts_never_free_work,
    damaged_artefacts_cannot_be_approved_away,
    links_are_followed_or_refused_but_never_for_ever,
    a_directory_that_cannot_be_read_holds_work,
    a_directory_in_place_of_a_file_holds_work,
    strange_names_are_data,
    a_damaged_record_is_no_approval,
    broken_events_get_an_answer,
    the_settings_have_to_name_a_known_tool,
];

/// Texts that are no plan. The last ones are what a killed process leaves.
fn damaged() -> Vec<(&'static str, Vec<u8>)> {
    let binary: Vec<u8> = (0..=255).cycle().take(8192).collect();
    vec![
        ("binary", binary),
        ("broken UTF-8", b"# Plan\n\n- [ ] 1 a \xff\xfe\n".to_vec()),
        ("zeros", vec![0; 4096]),
        ("only a mark", "\u{feff}".into()),
        ("only line endings", b"\r\n\r\n\r\r".to_vec()),
        ("half JSON", b"{\"master\":{\"tasks\":[{\"id\":1,\"ti".to_vec()),
        ("half front matter", b"---\ntitle: 'x\nstatus: [".to_vec()),
        ("deep JSON", "[".repeat(200_000).into_bytes()),
        ("a long line", "x".repeat(3 << 20).into_bytes()),
    ]
}

fn damaged_artefacts_never_free_work(tool: &'static Tool) {
    for (name, bytes) in damaged() {
        for file in tool.required {
            let flow = ToolProject::approved(tool);
            fs::write(flow.path(file), &bytes).unwrap();
            let answer = flow.work();
            answer.check_form().unwrap();
            assert!(!answer.is_silent(), "{file}, {name}: work is free");
            assert!(answer.cpu_seconds < 5.0, "{file}, {name}: {} s", answer.cpu_seconds);
            assert_eq!(fs::read(flow.path(file)).unwrap(), bytes, "{file}, {name}: rewritten");
            // Planning is how it gets repaired.
            let repair = flow.call(flow.project.write(flow.path(file), "# Plan\n\n- [ ] 1 a\n"));
            repair.check_form().unwrap();
        }
    }
}

fn damaged_artefacts_cannot_be_approved_away(tool: &'static Tool) {
    for (name, bytes) in damaged().into_iter().take(4) {
        let flow = ToolProject::planned(tool);
        for file in tool.required {
            fs::write(flow.path(file), &bytes).unwrap();
        }
        flow.prompt(&format!("provost approve {}", tool.instance)).check_form().unwrap();
        assert!(!flow.work().is_silent(), "{name}: approved");
    }
}

fn links_are_followed_or_refused_but_never_for_ever(tool: &'static Tool) {
    let file = tool.required[0];
    // A link to itself.
    let flow = ToolProject::planned(tool);
    flow.remove(file);
    symlink(flow.path(file), flow.path(file)).unwrap();
    assert!(!flow.work().is_silent(), "free by a link to itself");
    // A directory that contains itself.
    let flow = ToolProject::planned(tool);
    let directory = flow.path(file).parent().unwrap().to_owned();
    symlink(&directory, directory.join("again")).unwrap();
    symlink(&flow.project.path, directory.join("everything")).unwrap();
    flow.assert_held();
    flow.approve(tool.instance).assert_free();
    // A device that never ends, and one that never answers.
    for device in ["/dev/zero", "/dev/full", "/dev/random"] {
        let flow = ToolProject::planned(tool);
        flow.remove(file);
        symlink(device, flow.path(file)).unwrap();
        let answer = flow.work();
        assert!(!answer.is_silent() && answer.cpu_seconds < 5.0, "{device}: {answer:?}");
    }
    let flow = ToolProject::planned(tool);
    flow.remove(file);
    let made = std::process::Command::new("mkfifo").arg(flow.path(file)).status();
    if made.is_ok_and(|status| status.success()) {
        assert!(!flow.work().is_silent(), "free by a pipe");
    }
    // A file that is linked from elsewhere is that file.
    let flow = ToolProject::planned(tool);
    let text = flow.read(file);
    let elsewhere = flow.project.write_home_file("elsewhere.md", &text);
    flow.remove(file);
    symlink(&elsewhere, flow.path(file)).unwrap();
    flow.work().check_form().unwrap();
}

fn a_directory_that_cannot_be_read_holds_work(tool: &'static Tool) {
    let flow = ToolProject::approved(tool);
    flow.assert_free();
    let file = flow.path(tool.required[0]);
    for path in
        [file.clone(), file.parent().unwrap().to_owned(), file.parent().unwrap().parent().unwrap().to_owned()]
    {
        let mode = fs::metadata(&path).unwrap().permissions();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o0)).unwrap();
        let answer =
            if fs::read(&path).is_err() && fs::read_dir(&path).is_err() { Some(flow.work()) } else { None };
        fs::set_permissions(&path, mode).unwrap();
        // Root reads everything.
        if let Some(answer) = answer {
            let reason = answer.find_denial().unwrap_or_else(|_| panic!("free without {}", path.display()));
            assert!(reason.contains("cannot be read") || reason.contains("cannot read"), "{reason}");
        }
    }
    flow.assert_free();
}

fn a_directory_in_place_of_a_file_holds_work(tool: &'static Tool) {
    // A story is a file, so a directory of its name is something else.
    for file in tool.required.iter().filter(|_| tool.name != "bmad") {
        let flow = ToolProject::approved(tool);
        flow.remove(file);
        fs::create_dir(flow.path(file)).unwrap();
        assert!(!flow.work().is_silent(), "{file}: free");
    }
}

fn strange_names_are_data(tool: &'static Tool) {
    let flow = ToolProject::planned(tool);
    let directory = flow.path(tool.required[0]).parent().unwrap().parent().unwrap().to_owned();
    for name in ["\u{1b}[31mred", "a b", "x\ny", "--help", "$(touch pwned)", "..."] {
        let path = directory.join(name);
        fs::create_dir_all(&path).unwrap();
        fs::write(path.join("tasks.md"), "- [ ] 1 a\n").unwrap();
        fs::write(path.join("plan.md"), "# Plan\n").unwrap();
    }
    let answer = flow.work();
    answer.check_form().unwrap();
    let text = format!("{}{}", answer.stdout, answer.stderr);
    assert!(!text.contains('\u{1b}') && !text.contains("\\u001b"), "{text}");
    flow.approve(tool.instance).assert_free();
}

fn a_damaged_record_is_no_approval(tool: &'static Tool) {
    let texts = ["", "{", "null", "[]", "{\"approvals\": 5}", "{\"approvals\": {\"x\": null}}"];
    for text in texts {
        let flow = ToolProject::approved(tool);
        let mut files = Vec::new();
        super::stage::collect_files(&flow.project.state_directory(), &mut files);
        let kept: Vec<_> = files
            .into_iter()
            .filter(|(path, bytes)| {
                path.file_name().unwrap() != "journal.jsonl"
                    && String::from_utf8_lossy(bytes).contains(tool.instance)
            })
            .collect();
        assert!(!kept.is_empty());
        for (path, _) in kept {
            fs::write(path, text).unwrap();
        }
        assert!(!flow.work().is_silent(), "approved by the record {text:?}");
        flow.approve(tool.instance).assert_free();
    }
}

fn broken_events_get_an_answer(tool: &'static Tool) {
    let flow = ToolProject::planned(tool);
    let project = &flow.project;
    for input in [
        serde_json::json!(null),
        serde_json::json!({}),
        serde_json::json!([]),
        serde_json::json!({"file_path": 5, "content": []}),
        serde_json::json!({"file_path": "", "content": "x"}),
        serde_json::json!({"file_path": "\u{0}", "content": "x"}),
        serde_json::json!({"file_path": "a/".repeat(5000), "content": "x"}),
    ] {
        for tool in ["Write", "Edit", "MultiEdit", "Bash", "mcp__x__y"] {
            project.hook(&flow.in_session(project.call(tool, input.clone()))).check_form().unwrap();
        }
    }
    let mut event = flow.prompt_event("provost approve");
    for prompt in [serde_json::json!(5), serde_json::json!(null), serde_json::json!(["provost approve x"])] {
        event["prompt"] = prompt;
        project.hook(&event).check_form().unwrap();
    }
    let long = format!("provost approve {}", "x".repeat(5 << 20));
    let answer = flow.prompt(&long);
    assert!(answer.stdout.len() < 4000 && answer.cpu_seconds < 3.0, "{}", answer.stdout.len());
    flow.assert_held();
}

fn the_settings_have_to_name_a_known_tool(tool: &'static Tool) {
    let flow = ToolProject::planned(tool);
    for text in [
        "[workflow]\nuse = [\"no-such-tool\"]\n",
        "[workflow]\nuse = 5\n",
        "[workflow]\nstrict = \"yes\"\n",
        "[workflow]\nfinish = 3\n",
    ] {
        flow.put("provost.toml", text);
        let output = flow.project.provost_command("config", &["check"]).output().unwrap();
        assert!(!output.status.success(), "{text}: {output:?}");
    }
    flow.set_up("").assert_held();
}
