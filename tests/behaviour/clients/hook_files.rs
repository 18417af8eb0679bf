//! No tool of any client changes a file that makes a client call Provost.

use serde_json::json;

use crate::support::TestProject;

const FILES: &[&str] = &[
    ".codex/hooks.json",
    ".gemini/settings.json",
    ".qwen/settings.json",
    ".factory/settings.json",
    ".grok/hooks/provost.json",
    ".github/hooks/provost.json",
    ".opencode/plugins/provost.js",
    ".clinerules/hooks/PreToolUse",
];

fn deny(project: &TestProject, event: &serde_json::Value) -> String {
    project.hook(event).expect_denial()
}

#[test]
fn a_file_that_makes_another_client_call_provost_is_protected() {
    let project = TestProject::new();
    for file in FILES {
        project.write_file(file, r#"{"hooks": {"PreToolUse": [{"hooks": [{"command": "provost hook"}]}]}}"#);
        let mut write = project.recorded_event("PreToolUse.Write");
        write["tool_input"]["file_path"] = json!(project.path.join(file));
        assert!(deny(&project, &write).contains("a file that makes a client call Provost"), "{file}");
        let directory = file.split('/').next().unwrap();
        for line in [
            format!("echo > {file}"),
            format!("rm {file}"),
            format!("rm -rf {directory}"),
            format!("mv {directory} x"),
        ] {
            let mut shell = project.recorded_event("PreToolUse.Bash");
            shell["tool_input"]["command"] = json!(line);
            assert!(deny(&project, &shell).contains("a file that makes a client call Provost"), "{line}");
        }
        let mut read = project.recorded_event("PreToolUse.Read");
        read["tool_input"]["file_path"] = json!(project.path.join(file));
        assert!(project.hook(&read).is_silent(), "{file} may be read");
        std::fs::remove_file(project.path.join(file)).unwrap();
    }
}

#[test]
fn a_hook_file_of_another_client_without_provost_is_free() {
    let project = TestProject::new();
    for file in FILES {
        project.write_file(file, "{}");
        let mut shell = project.recorded_event("PreToolUse.Bash");
        shell["tool_input"]["command"] = json!(format!("echo '{{}}' > {file}; rm {file}"));
        assert!(project.hook(&shell).is_silent(), "{file}");
    }
}
