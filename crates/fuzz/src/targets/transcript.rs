//! Transcripts: one JSON object per line, written by the client while they are read.

use std::io::Write as _;
use std::time::Duration;

use provost::clients::DEFAULT_CLIENT;
use provost::files::find_line_backwards;

use super::sandbox::Sandbox;
use super::{Target, ensure_equal, text_seeds};
use crate::double_check::AnswerDigest;

pub const TARGET: Target = Target {
    name: "transcript",
    promise: "reading from the end and from the start gives the same result; a limit only omits the oldest lines; \
              broken and half-written lines do not affect the lines around them",
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
/// Partial lines, as a client leaves them while it writes or when it is killed.
const BROKEN: &[&str] = &["{\"type\":\"user\"", "no JSON \"assistant\" \"tool_use\"", "[]", "null", "\u{0}"];
const LONGEST: u64 = 1 << 24;

fn seeds() -> Vec<Vec<u8>> {
    let whole = [PROMPT, ANSWER, COMMAND, RESULT, ANSWER].join("\n");
    let mut seeds = text_seeds(&[PROMPT, ANSWER, COMMAND, RESULT, &whole, &format!("{whole}\n")]);
    seeds.push(format!("{ANSWER}\n{}\n{PROMPT}", RESULT.replace('x', &"x".repeat(20_000))).into_bytes());
    seeds
}

fn check(input: &[u8], digest: &mut AnswerDigest) -> Result<(), String> {
    let file = Sandbox::with(|sandbox| {
        let file = sandbox.root.join("transcript.jsonl");
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
    ensure_equal(&backwards.iter().map(Vec::as_slice).collect::<Vec<_>>(), &forwards, "lines from the end")?;
    check_limited(input, &forwards, visited)?;

    let said = "first\nok";
    let ends: Vec<bool> = forwards
        .iter()
        .filter_map(|line| (DEFAULT_CLIENT.facts.transcripts().ends_message)(line, said))
        .collect();
    let found = find_line_backwards(&file, LONGEST, |line| {
        (DEFAULT_CLIENT.facts.transcripts().ends_message)(line, said)
    })
    .map_err(|e| e.to_string())?;
    ensure_equal(&found, &ends.last().copied(), "the end of what was said")?;
    let done: Vec<String> = forwards
        .iter()
        .flat_map(|line| (DEFAULT_CLIENT.facts.transcripts().parse_transcript_line)(line))
        .map(|event| format!("{:?}", event.kind))
        .collect();
    digest.add((&ends, &done));
    let text = String::from_utf8_lossy(input);
    digest.add_debug(&(DEFAULT_CLIENT.facts.transcripts().parse_subagent_transcript)(&text));
    check_broken_lines(&text, &done)
}

/// With a limit, the last lines are the same, and only the oldest may be cut.
fn check_limited(
    input: &[u8],
    forwards: &[&[u8]],
    visited: impl Fn(u64) -> Result<Vec<Vec<u8>>, String>,
) -> Result<(), String> {
    let limit = input.len() as u64 / 2;
    let digest = visited(limit)?;
    let Some((oldest, newer)) = digest.split_last() else { return Ok(()) };
    let expected: Vec<&[u8]> = forwards.iter().rev().take(newer.len()).copied().collect();
    ensure_equal(&newer.iter().map(Vec::as_slice).collect::<Vec<_>>(), &expected, "the newest lines")?;
    let whole = forwards[forwards.len() - digest.len()];
    super::ensure(whole.ends_with(oldest), "the oldest line within the limit is none of the file's")
}

fn check_broken_lines(text: &str, done: &[String]) -> Result<(), String> {
    // In the middle of a line it would be another text; a line feed ends one.
    let mut mixed = String::new();
    for (number, line) in text.split('\n').enumerate() {
        mixed += line;
        mixed.push('\n');
        mixed += BROKEN[number % BROKEN.len()];
        mixed.push('\n');
    }
    let again = mixed
        .split('\n')
        .flat_map(|line| (DEFAULT_CLIENT.facts.transcripts().parse_transcript_line)(line.as_bytes()));
    let again: Vec<String> = again.map(|event| format!("{:?}", event.kind)).collect();
    if text.is_ascii() {
        ensure_equal(&again.as_slice(), &done, "what was done, between broken lines")?;
    }
    ensure_equal(
        &(DEFAULT_CLIENT.facts.transcripts().parse_subagent_transcript)(&mixed),
        &(DEFAULT_CLIENT.facts.transcripts().parse_subagent_transcript)(text),
        "the briefing, between broken lines",
    )
}
