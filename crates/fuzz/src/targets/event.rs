//! Events as the client sends them: from bytes over the guards' judgement to what is printed.

use std::fs;
use std::path::Path;
use std::time::Duration;

use provost::clients::{Answer, BLOCK, DEFAULT, Input};
use provost::decision::{Decision, Fault, Finding};
use provost::engine;
use provost::event::{Event, Kind};
use provost::plan_gate::seal::Key;
use provost::registry::{self, GUARDS, PACKS};
use serde_json::Value;

use super::stage::Stage;
use super::{Target, files, holds, same, texts};
use crate::trial::Seen;

pub const TARGET: Target = Target {
    name: "event",
    promise: "what a JSON reader takes for an event is one; no guard panics; the answer is empty or one JSON object \
              of the client's form, bounded and printable; what cannot be read blocks; the way out of plan mode \
              without a verdict, the seal key and a planner's `rm` are denied in whatever else stands around them",
    findings: &[],
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

/// The home in recorded events, in whose place the stage stands.
const HOME: &[u8] = b"/home/dev";
/// An input larger than this is read in another way.
const ORDINARY: usize = 256 << 10;
const STATE: &str = r#"{"active_workflow":{"type":"feature","current_phase":"06-implementation","phases":["05-test-strategy","06-implementation"],"git_branch":{"name":"feature/x","status":"active"}},"phases":{"06-implementation":{"status":"in_progress"}}}"#;
const PLAN: &str =
    "# Plan\n\n## Goals\n- Ship\n\n<!-- rodin:gaps:start -->\n- none\n<!-- rodin:gaps:end -->\n";
/// The longest answer: a reason twice, a context, a message, each letter as an escape.
const LONGEST: usize = 500_000;

fn seeds() -> Vec<Vec<u8>> {
    let mut seeds = files("tests/events", "json");
    seeds.extend(texts(&[
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

fn check(input: &[u8], seen: &mut Seen) -> Result<(), String> {
    Stage::with(|stage| {
        let home = stage.root.as_os_str().as_encoded_bytes();
        let input = replaced(input, HOME, home);
        let answered = asked(&input, stage)?;
        seen.add((&answered.answer.stdout, &answered.answer.stderr, answered.answer.code));
        let value: Option<Value> =
            serde_json::from_slice(input.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&input)).ok();
        let value = value.filter(Value::is_object);
        if let Some(value) = &value {
            let is_event = value["hook_event_name"].is_string();
            holds(answered.event.is_some() || !is_event, "an event is not read")?;
            holds(answered.is_denied || !is_forbidden(value, &stage.root), "a closed guard is silent")?;
        }
        form(&answered, input.len())?;
        if let Some(large) = enlarged(&input) {
            same(&asked(&large, stage)?.is_denied, &answered.is_denied, "the same with a long plan")?;
        }
        Ok(())
    })
}

struct Answered {
    event: Option<Event>,
    answer: Answer,
    is_denied: bool,
}

/// What `provost hook` with all packs would print. Each time the stage is as it was at the beginning.
fn asked(input: &[u8], stage: &Stage) -> Result<Answered, String> {
    let workspace = stage.workspace("project");
    set(&stage.root).map_err(|error| error.to_string())?;
    Key::obtain(&workspace).map_err(|fault| fault.to_string())?;
    let input = Input::read(input, 48 << 20).map_err(|error| error.to_string())?.ok_or("too large")?;
    let packs: Vec<String> = PACKS.iter().map(|pack| pack.name.to_owned()).collect();
    let mut findings: Vec<Finding> = Vec::new();
    let event = (DEFAULT.parse)(input);
    match &event {
        Ok(event) => {
            let concerned = GUARDS.iter().filter(|guard| registry::concerns(guard, event)).collect();
            let guards = registry::asked_about(event, concerned, &packs, &workspace.config);
            engine::ask(&guards, event, &workspace, |_| {}, |finding| findings.push(finding));
        }
        Err(why) => {
            let fault = Fault::Error(why.to_string());
            let all = registry::switched_on(GUARDS.iter().collect(), &packs, &workspace.config);
            findings.extend(all.into_iter().map(|guard| Finding {
                guard,
                outcome: Err(fault.clone()),
                micros: 0,
            }));
        }
    }
    for finding in &findings {
        if let Err(fault @ Fault::Panic(_)) = &finding.outcome {
            return Err(format!("{}: {fault}", finding.guard.name));
        }
    }
    let decision = Decision::fold(&findings);
    let is_denied = decision.reason().is_some();
    let nothing = Event::new(String::new(), Kind::Other, workspace.start.clone());
    let answer = (DEFAULT.render)(&decision, event.as_ref().unwrap_or(&nothing));
    Ok(Answered { event: event.ok(), answer, is_denied })
}

/// Puts the stage back to where it begins: a workflow under way, a plan that nobody has judged, a key.
fn set(root: &Path) -> std::io::Result<()> {
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

/// What no guard that is closed may let pass, as a JSON reader sees it.
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

/// The answer is one that the client takes, and says what was decided.
fn form(answered: &Answered, length: usize) -> Result<(), String> {
    let Answer { stdout, stderr, code } = &answered.answer;
    holds(stdout.len() + stderr.len() <= LONGEST + 6 * length, "an answer without end")?;
    holds(matches!(*code, 0 | BLOCK), "an exit code that the client does not know")?;
    let is_stop = matches!(answered.event, Some(Event { kind: Kind::Stop(_), .. }));
    holds(*code == 0 || ((stdout.is_empty() || is_stop) && !stderr.is_empty()), "a block without a reason")?;
    let is_fine = |text: &str| !text.contains(|c: char| c.is_control() && c != '\n' && c != '\t');
    holds(is_fine(stderr), "a reason repaints a terminal")?;
    let Some(event) = &answered.event else {
        return same(code, &BLOCK, "the code for what cannot be read");
    };
    if stdout.is_empty() {
        return same(&(*code == BLOCK), &answered.is_denied, "nothing printed, and whether it is denied");
    }
    let answer: Value =
        serde_json::from_str(stdout).map_err(|error| format!("an answer that is no JSON: {error}"))?;
    let fields = answer.as_object().ok_or("an answer that is no object")?;
    let known = ["decision", "reason", "systemMessage", "hookSpecificOutput"];
    holds(fields.keys().all(|name| known.contains(&name.as_str())), "a field that the client does not know")?;
    for told in [&answer["reason"], &answer["systemMessage"]] {
        holds(is_fine(told.as_str().unwrap_or_default()), "an answer repaints a terminal")?;
    }
    let specific = &answer["hookSpecificOutput"];
    holds(
        specific.is_null() || specific["hookEventName"] == event.native_name.as_str(),
        "an answer to another event",
    )?;
    let is_told = match event.kind {
        Kind::BeforeTool(_) => matches!(specific["permissionDecision"].as_str(), Some("deny" | "ask")),
        Kind::Permission(_) => specific["decision"]["behavior"] == "deny",
        Kind::Stop(_) => *code == BLOCK,
        _ => answer["decision"] == "block",
    };
    same(&is_told, &answered.is_denied, "whether the answer is a denial")
}

/// The same event with a plan so long that it is read in another way; `None`: it has no plan.
fn enlarged(input: &[u8]) -> Option<Vec<u8>> {
    let mark = b"\"plan\":\"";
    let at = input.windows(mark.len()).position(|part| part == mark)? + mark.len();
    // One input in four, because each costs as much as many others.
    if !input.len().is_multiple_of(4) {
        return None;
    }
    Some([&input[..at], &b"long \\u00e9 \\ud83d\\ude00 text\\n".repeat(ORDINARY / 16), &input[at..]].concat())
}

fn replaced(text: &[u8], old: &[u8], new: &[u8]) -> Vec<u8> {
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
