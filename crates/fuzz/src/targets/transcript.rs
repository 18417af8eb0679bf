//! Transcripts: what was said and done, one JSON object a line, written by the client while it is read.

use std::io::Write as _;
use std::time::Duration;

use provost::clients::DEFAULT;
use provost::files::find_line_backwards;

use super::stage::Stage;
use super::{Target, same, texts};
use crate::trial::Seen;

pub const TARGET: Target = Target {
    name: "transcript",
    promise: "read from its end it shows what it shows from its start; a limit only leaves out the oldest lines; \
              lines that are broken or half-written change nothing around them",
    findings: &[],
    patience: Duration::from_millis(120),
    seeds,
    tokens: &[
        "\n",
        "\r\n",
        "\n\n",
        "\0",
        "\"user\"",
        "\"assistant\"",
        "\"type\":\"user\"",
        "\"type\":\"assistant\"",
        "\"tool_use\"",
        "<command-name>",
        "</command-name>",
        "<command-message>",
        "/taskie:go",
        "\"text\"",
        "\"message\":",
        "\"content\":",
        "\"isSidechain\":true",
        "\"thinking\"",
        "\u{feff}",
        "\u{2028}",
        "\\ud83d",
        "{\"type\":\"user\"",
        "\"name\":\"Write\"",
        "\"input\":",
        "\"cwd\":\"/p\"",
    ],
    brackets: &[("[", "]"), ("{\"a\":", "}"), ("[{\"type\":\"text\",\"text\":", "}]")],
    is_json: true,
    check,
};

const PROMPT: &str = r#"{"parentUuid":null,"isSidechain":true,"agentId":"a1","type":"user","message":{"role":"user","content":"The plan:\r\n\n  one “q”\n"}}"#;
const ANSWER: &str = r#"{"type":"assistant","cwd":"/p","message":{"role":"assistant","content":[{"type":"text","text":"ok"},{"type":"tool_use","id":"t1","name":"Write","input":{"file_path":"/p/a.md","content":"x"}}]}}"#;
const COMMAND: &str = r#"{"type":"user","cwd":"/p","message":{"role":"user","content":"<command-message>taskie:x</command-message>\n<command-name>/taskie:x</command-name>"}}"#;
const RESULT: &str = r#"{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"x"}]}}"#;
/// What a reader meets while the client writes, or after it was stopped.
const BROKEN: &[&str] = &["{\"type\":\"user\"", "no JSON \"assistant\" \"tool_use\"", "[]", "null", "\u{0}"];
const LONGEST: u64 = 1 << 24;

fn seeds() -> Vec<Vec<u8>> {
    let whole = [PROMPT, ANSWER, COMMAND, RESULT, ANSWER].join("\n");
    let mut seeds = texts(&[PROMPT, ANSWER, COMMAND, RESULT, &whole, &format!("{whole}\n")]);
    seeds.push(format!("{ANSWER}\n{}\n{PROMPT}", RESULT.replace('x', &"x".repeat(20_000))).into_bytes());
    seeds
}

fn check(input: &[u8], seen: &mut Seen) -> Result<(), String> {
    let file = Stage::with(|stage| {
        let file = stage.root.join("transcript.jsonl");
        std::fs::File::create(&file).and_then(|mut open| open.write_all(input)).map(|()| file)
    });
    let file = file.map_err(|error| error.to_string())?;
    let forwards: Vec<&[u8]> = input.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).collect();
    let visited = |limit: u64| {
        let mut lines: Vec<Vec<u8>> = Vec::new();
        find_line_backwards(&file, limit, |line| {
            lines.push(line.to_vec());
            None::<()>
        })
        .map(|_| lines)
        .map_err(|error| error.to_string())
    };
    let mut backwards = visited(LONGEST)?;
    backwards.reverse();
    same(&backwards.iter().map(Vec::as_slice).collect::<Vec<_>>(), &forwards, "lines from the end")?;
    limited(input, &forwards, visited)?;

    let said = "first\nok";
    let ends: Vec<bool> = forwards.iter().filter_map(|line| (DEFAULT.ends)(line, said)).collect();
    let found =
        find_line_backwards(&file, LONGEST, |line| (DEFAULT.ends)(line, said)).map_err(|e| e.to_string())?;
    same(&found, &ends.last().copied(), "the end of what was said")?;
    let done: Vec<String> = forwards
        .iter()
        .flat_map(|line| (DEFAULT.done)(line))
        .map(|event| format!("{:?}", event.kind))
        .collect();
    seen.add((&ends, &done));
    let text = String::from_utf8_lossy(input);
    seen.add_shown(&(DEFAULT.briefing)(&text));
    broken_lines(&text, &done)
}

/// With a limit, the last lines are the same, and only the oldest of them may be cut.
fn limited(
    input: &[u8],
    forwards: &[&[u8]],
    visited: impl Fn(u64) -> Result<Vec<Vec<u8>>, String>,
) -> Result<(), String> {
    let limit = input.len() as u64 / 2;
    let seen = visited(limit)?;
    let Some((oldest, newer)) = seen.split_last() else { return Ok(()) };
    let expected: Vec<&[u8]> = forwards.iter().rev().take(newer.len()).copied().collect();
    same(&newer.iter().map(Vec::as_slice).collect::<Vec<_>>(), &expected, "the newest lines")?;
    let whole = forwards[forwards.len() - seen.len()];
    super::holds(whole.ends_with(oldest), "the oldest line within the limit is none of the file's")
}

fn broken_lines(text: &str, done: &[String]) -> Result<(), String> {
    // In the middle of a line it would be another text; a line feed ends one.
    let mut mixed = String::new();
    for (number, line) in text.split('\n').enumerate() {
        mixed += line;
        mixed.push('\n');
        mixed += BROKEN[number % BROKEN.len()];
        mixed.push('\n');
    }
    let again = mixed.split('\n').flat_map(|line| (DEFAULT.done)(line.as_bytes()));
    let again: Vec<String> = again.map(|event| format!("{:?}", event.kind)).collect();
    if text.is_ascii() {
        same(&again.as_slice(), &done, "what was done, between broken lines")?;
    }
    same(&(DEFAULT.briefing)(&mixed), &(DEFAULT.briefing)(text), "the briefing, between broken lines")
}
