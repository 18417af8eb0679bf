//! Large files, and how often files are read.

use super::*;

/// A call that all guards before a delegation judge.
fn delegate_everything(flow: &WorkflowProject) -> Value {
    flow.write_tasks();
    flow.project.write_file(
        ".isdlc/config/iteration-requirements.json",
        &json!({"phase_requirements": {"06-implementation": {
            "test_iteration": {"enabled": true}, "constitutional_validation": {"enabled": true, "articles": ["I"]}}}})
        .to_string(),
    );
    let workflows = json!({"workflows": {"feature": {"phases": ["01-requirements", "06-implementation"]}}});
    flow.project.write_file(".isdlc/config/workflows.json", &workflows.to_string());
    flow.delegation("sdlc-orchestrator", "advance to the next phase: phase complete")
}

#[test]
fn each_file_is_read_once_for_all_guards() {
    let list = tempfile::NamedTempFile::new().unwrap();
    let mut flow = WorkflowProject::in_phase("06-implementation");
    flow.project = flow.project.with_variable("PROVOST_READS", list.path());
    let event = delegate_everything(&flow);
    assert!(read_denial(&flow.project.hook(&event)).unwrap().contains("GATE BLOCKED"));
    let read = || {
        let text = fs::read_to_string(list.path()).unwrap();
        let mut paths: Vec<String> = text.lines().map(str::to_owned).collect();
        paths.sort_unstable();
        paths
    };
    // A denial is recorded in the state: the file is read again under its lock, and once more just
    // before it is replaced.
    let state = flow.state_file().display().to_string();
    let (of_state, others): (Vec<String>, Vec<String>) = read().into_iter().partition(|path| *path == state);
    assert_eq!(of_state.len(), 3);
    assert!(others.iter().any(|path| path.ends_with("skills-manifest.json")));
    assert!(others.iter().any(|path| path.ends_with("iteration-requirements.json")));
    assert!(others.windows(2).all(|pair| pair[0] != pair[1]), "{others:#?}");

    fs::write(list.path(), "").unwrap();
    let event = flow.delegation("software-developer", "write the code");
    assert_eq!(read_denial(&flow.project.hook(&event)), None);
    let paths = read();
    assert!(paths.contains(&state) && paths.windows(2).all(|pair| pair[0] != pair[1]), "{paths:#?}");
}

/// 5 MB of state and a thousand agents.
#[test]
fn a_large_workflow_is_judged_in_time() {
    // Seconds of CPU time; a build for debugging is slow.
    let limit = if std::env::var_os("PROVOST_UNDER_TEST").is_some() { 0.03 } else { 2.0 };
    let flow = WorkflowProject::new();
    let names: Vec<String> = (0..1000).map(|number| format!("agent-{number}")).collect();
    let mut owners: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "03-architecture")).collect();
    owners.extend(super::default_owners());
    flow.write_manifest(&owners).write_tasks();
    let mut state = started_workflow("06-implementation");
    let entry = json!({"timestamp": "2026-02-08T20:00:00Z", "agent": "software-developer",
        "agent_phase": "06-implementation", "description": "word ".repeat(40), "status": "executed"});
    state["skill_usage_log"] = vec![entry; 13_000].into();
    flow.write_state(&state);
    assert!(fs::metadata(flow.state_file()).unwrap().len() > 5_000_000);
    for (event, is_denied) in [
        (flow.delegation("software-developer", "write the code"), false),
        (flow.delegation("qa-engineer", "review the code"), true),
        (flow.prompt_without_agent("let the qa-engineer look"), true),
    ] {
        let answers: Vec<Answer> = (0..7).map(|_| flow.project.hook(&event)).collect();
        assert!(answers.iter().all(|answer| read_denial(answer).is_some() == is_denied), "{event}");
        let best = answers.iter().map(|answer| answer.cpu_seconds).fold(f64::MAX, f64::min);
        eprintln!("{:.1} ms", best * 1000.0);
        assert!(best < limit, "{best} s");
    }
}
