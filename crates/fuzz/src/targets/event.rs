//! Hook events: from the input bytes, through the guards, to the printed answer.

use std::fs;
use std::path::Path;
use std::time::Duration;

use provost::clients::{BLOCK_EXIT_CODE, DEFAULT_CLIENT, HookAnswer, HookInput};
use provost::decision::{Decision, Finding};
use provost::engine;
use provost::event::{Event, EventKind};
use provost::opinion::Fault;
use provost::registry::{GuardSelection, PACKS};
use provost::seal::SealKey;
use serde_json::Value;

use super::sandbox::Sandbox;
use super::{Target, ensure, ensure_equal, file_seeds, text_seeds};
use crate::double_check::AnswerDigest;

pub const TARGET: Target = Target {
    name: "event",
    promise: "every event that a JSON reader accepts is parsed; no guard panics; the answer is empty or one JSON \
              object of the client's form, bounded and printable; unreadable input blocks; leaving plan mode without \
              a verdict, reading the seal key and a planner's `rm` are denied in any surroundings",
    patience: Duration::from_millis(150),
    seeds,
    tokens: &[
        "\"hook_event_name\":\"PreToolUse\"",
        "\"tool_name\":\"ExitPlanMode\"",
        "\"tool_name\":\"Bash\"",
        "\"tool_name\":\"Task\"",
        "\"tool_input\":{}",
        "\"tool_input\":null",
        "\"plan\":",
        "\"agent_type\":\"tdd-planner\"",
        "\"command\":",
        "\"file_path\":",
        "\"session_id\":",
        "\"cwd\":\"/home/dev/project\"",
        "\"permission_mode\":\"plan\"",
        "\"/home/dev/state/seal.key\"",
        ",",
        ":",
        "{",
        "}",
        "[",
        "]",
        "\"",
        "\\",
        "\\u",
        "\\ud83d",
        "\u{feff}",
        "\n",
        "\"/home/dev/.claude/plans/a.md\"",
        "\"subagent_type\":",
        "\"/home/dev/project/.isdlc/state.json\"",
        "provost-override plan-gate because",
        "git commit -m x",
        "\"hook_event_name\":\"Stop\"",
    ],
    brackets: &[("[", "]"), ("{\"a\":", "}"), ("{\"tool_input\":", "}"), ("\"", "\"")],
    is_json: true,
    check,
};

/// The home directory in recorded events, which is replaced with the sandbox.
const HOME: &[u8] = b"/home/dev";
/// A larger input is parsed in another way.
const LONG_TEXT: usize = 256 << 10;
const STATE: &str = r#"{"active_workflow":{"type":"feature","current_phase":"06-implementation","phases":["05-test-strategy","06-implementation"],"git_branch":{"name":"feature/x","status":"active"}},"phases":{"06-implementation":{"status":"in_progress"}}}"#;
const PLAN: &str =
    "# Plan\n\n## Goals\n- Ship\n\n<!-- rodin:gaps:start -->\n- none\n<!-- rodin:gaps:end -->\n";
/// The longest answer: a reason twice, a context and a message, with each letter escaped.
const LONGEST_ANSWER: usize = 500_000;

fn seeds() -> Vec<Vec<u8>> {
    let mut seeds = file_seeds("tests/events", "json");
    seeds.extend(text_seeds(&[
        r#"{"hook_event_name":"PreToolUse","session_id":"s","cwd":"/home/dev/project","tool_name":"ExitPlanMode","tool_input":{"plan":"PLAN","planFilePath":"/home/dev/.claude/plans/a.md"}}"#,
        r#"{"hook_event_name":"PreToolUse","session_id":"s","cwd":"/home/dev/project","agent_id":"a","agent_type":"tdd-planner","tool_name":"Bash","tool_input":{"command":"rm -rf src"}}"#,
        r#"{"hook_event_name":"PreToolUse","session_id":"s","cwd":"/home/dev/project","tool_name":"Read","tool_input":{"file_path":"/home/dev/state/seal.key"}}"#,
        r#"{"hook_event_name":"PreToolUse","session_id":"s","cwd":"/home/dev/project","tool_name":"Task","tool_input":{"subagent_type":"software-developer","prompt":"Implement T3","description":"d"}}"#,
        r#"{"hook_event_name":"PostToolUse","session_id":"s","cwd":"/home/dev/project","tool_name":"Write","tool_input":{"file_path":"/home/dev/.claude/plans/a.md","content":"x"},"tool_response":{"filePath":"/home/dev/.claude/plans/a.md"}}"#,
        r#"{"hook_event_name":"PreToolUse","session_id":"s","cwd":"/home/dev/project","tool_name":"Bash","tool_input":{"command":"git commit -m x && echo {} > .isdlc/state.json"}}"#,
        r#"{"hook_event_name":"UserPromptSubmit","session_id":"s","cwd":"/home/dev/project","prompt":"provost override plan-gate because I say so"}"#,
    ]));
    seeds
}

fn check(input: &[u8], digest: &mut AnswerDigest) -> Result<(), String> {
    Sandbox::with(|sandbox| {
        let home = sandbox.root.as_os_str().as_encoded_bytes();
        let input = replace_bytes(input, HOME, home);
        let hook_answer = answer_event(&input, sandbox)?;
        digest.add((&hook_answer.answer.stdout, &hook_answer.answer.stderr, hook_answer.answer.code));
        let value: Option<Value> =
            serde_json::from_slice(input.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&input)).ok();
        let value = value.filter(Value::is_object);
        if let Some(value) = &value {
            let is_event = value["hook_event_name"].is_string();
            ensure(hook_answer.event.is_some() || !is_event, "an event is not read")?;
            ensure(hook_answer.is_denied || !is_forbidden(value, &sandbox.root), "a closed guard is silent")?;
        }
        check_form(&hook_answer, input.len())?;
        if let Some(large) = enlarge_plan(&input) {
            ensure_equal(
                &answer_event(&large, sandbox)?.is_denied,
                &hook_answer.is_denied,
                "the same with a long plan",
            )?;
        }
        Ok(())
    })
}

struct AnsweredEvent {
    event: Option<Event>,
    answer: HookAnswer,
    is_denied: bool,
}

/// What `provost hook` with all packs would print, always from the same files.
fn answer_event(input: &[u8], sandbox: &Sandbox) -> Result<AnsweredEvent, String> {
    let workspace = sandbox.workspace("project");
    reset_sandbox(&sandbox.root).map_err(|error| error.to_string())?;
    SealKey::load_or_create(&workspace).map_err(|fault| fault.to_string())?;
    let input = HookInput::read(input, 48 << 20).map_err(|error| error.to_string())?.ok_or("too large")?;
    let selection =
        GuardSelection { packs: PACKS.iter().map(|pack| pack.name.to_owned()).collect(), script: None };
    let mut findings: Vec<Finding> = Vec::new();
    let event = (DEFAULT_CLIENT.dialect.parse)(input);
    match &event {
        Ok(event) => {
            let guards = selection.select_guards(selection.select_concerned(event), event, &workspace.config);
            findings = engine::ask_guards(&guards, event, &workspace);
        }
        Err(why) => {
            let fault = Fault::Error(why.to_string());
            let all = selection.select_switched_on(selection.list_candidates(), &workspace.config);
            let failed = |guard| Finding::for_guard(guard, Err(fault.clone()), 0);
            findings.extend(all.into_iter().map(failed));
        }
    }
    for finding in &findings {
        if let Err(fault @ Fault::Panic(_)) = &finding.outcome {
            return Err(format!("{}: {fault}", finding.name()));
        }
    }
    let decision = Decision::fold(&findings);
    let is_denied = decision.stop_reason().is_some();
    let nothing = Event::new(String::new(), EventKind::Other, workspace.start.clone());
    let answer = (DEFAULT_CLIENT.dialect.render)(&decision, event.as_ref().unwrap_or(&nothing));
    Ok(AnsweredEvent { event: event.ok(), answer, is_denied })
}

/// Restores the files of the sandbox: a running workflow, a plan without a verdict, a key.
fn reset_sandbox(root: &Path) -> std::io::Result<()> {
    for entry in fs::read_dir(root.join("state")).into_iter().flatten() {
        let path = entry?.path();
        if path.is_dir() {
            fs::remove_dir_all(path)?;
        } else if !path.ends_with("seal.key") {
            fs::remove_file(path)?;
        }
    }
    for (file, text) in [("project/.isdlc/state.json", STATE), (".claude/plans/a.md", PLAN)] {
        let file = root.join(file);
        if fs::read(&file).is_ok_and(|now| now == text.as_bytes()) {
            continue;
        }
        fs::write(file, text)?;
    }
    Ok(())
}

/// Whether a closed guard must deny the event, as an independent JSON parser reads it.
fn is_forbidden(event: &Value, home: &Path) -> bool {
    let tool = event["tool_name"].as_str().unwrap_or_default();
    let input = &event["tool_input"];
    let key = home.join("state/seal.key");
    let names_key = |field: &str| input[field].as_str().is_some_and(|path| Path::new(path) == key);
    event["hook_event_name"] == "PreToolUse"
        && match tool {
            "ExitPlanMode" => true,
            "Read" | "Write" | "Edit" => names_key("file_path"),
            "Bash" => event["agent_type"] == "tdd-planner" && input["command"] == "rm -rf src",
            _ => false,
        }
}

/// Checks that the client accepts the answer, and that it says what was decided.
fn check_form(hook_answer: &AnsweredEvent, length: usize) -> Result<(), String> {
    let HookAnswer { stdout, stderr, code } = &hook_answer.answer;
    ensure(stdout.len() + stderr.len() <= LONGEST_ANSWER + 6 * length, "an answer without end")?;
    ensure(matches!(*code, 0 | BLOCK_EXIT_CODE), "an exit code that the client does not know")?;
    let is_stop = matches!(hook_answer.event, Some(Event { kind: EventKind::Stop(_), .. }));
    ensure(*code == 0 || ((stdout.is_empty() || is_stop) && !stderr.is_empty()), "a block without a reason")?;
    let is_fine = |text: &str| !text.contains(|c: char| c.is_control() && c != '\n' && c != '\t');
    ensure(is_fine(stderr), "a reason repaints a terminal")?;
    let Some(event) = &hook_answer.event else {
        return ensure_equal(code, &BLOCK_EXIT_CODE, "the code for what cannot be read");
    };
    if stdout.is_empty() {
        return ensure_equal(
            &(*code == BLOCK_EXIT_CODE),
            &hook_answer.is_denied,
            "nothing printed, and whether it is denied",
        );
    }
    let answer: Value =
        serde_json::from_str(stdout).map_err(|error| format!("an answer that is no JSON: {error}"))?;
    let fields = answer.as_object().ok_or("an answer that is no object")?;
    let known = ["decision", "reason", "systemMessage", "hookSpecificOutput"];
    ensure(
        fields.keys().all(|name| known.contains(&name.as_str())),
        "a field that the client does not know",
    )?;
    for text in [&answer["reason"], &answer["systemMessage"]] {
        ensure(is_fine(text.as_str().unwrap_or_default()), "an answer repaints a terminal")?;
    }
    let specific = &answer["hookSpecificOutput"];
    ensure(
        specific.is_null() || specific["hookEventName"] == event.native_name.as_str(),
        "an answer to another event",
    )?;
    let is_denial = match event.kind {
        EventKind::BeforeTool(_) => matches!(specific["permissionDecision"].as_str(), Some("deny" | "ask")),
        EventKind::Permission(_) => specific["decision"]["behavior"] == "deny",
        EventKind::Stop(_) => *code == BLOCK_EXIT_CODE,
        _ => answer["decision"] == "block",
    };
    ensure_equal(&is_denial, &hook_answer.is_denied, "whether the answer is a denial")
}

/// The event with a plan so long that it is parsed in another way; `None`: it has no plan.
fn enlarge_plan(input: &[u8]) -> Option<Vec<u8>> {
    let mark = b"\"plan\":\"";
    let at = input.windows(mark.len()).position(|part| part == mark)? + mark.len();
    // Only one input in four, because a long one costs as much as many others.
    if !input.len().is_multiple_of(4) {
        return None;
    }
    Some(
        [&input[..at], &b"long \\u00e9 \\ud83d\\ude00 text\\n".repeat(LONG_TEXT / 16), &input[at..]].concat(),
    )
}

fn replace_bytes(text: &[u8], old: &[u8], new: &[u8]) -> Vec<u8> {
    let mut left = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.windows(old.len()).position(|part| part == old) {
        left.extend(&rest[..at]);
        left.extend(new);
        rest = &rest[at + old.len()..];
    }
    left.extend(rest);
    left
}
