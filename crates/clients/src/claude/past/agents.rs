//! Of which kind the agents of a session were.
//!
//! Newer versions of Claude Code write it into a file beside the agent's transcript. Older ones have it only in the call
//! that started the agent, and the agent's id only in the result of that call or in a report about its progress. So the
//! session's transcript is searched where such a file is missing.

use std::collections::HashMap;
use std::path::Path;

use memchr::memmem;

use super::record::{Block, Record};
use crate::claude::read_json;
use crate::past::json_scan::{read_string, visit_fields};
use crate::past::line_reader::{Found, Line, LineReader};

const LARGEST: u64 = 1 << 20;

/// The kinds of the agents whose transcripts are these files.
pub(super) fn find_kinds(session: Option<&Path>, agents: &[&Path]) -> Vec<Option<String>> {
    let mut kinds: Vec<Option<String>> = agents.iter().map(|agent| read_meta(agent)).collect();
    if let Some(session) = session.filter(|_| kinds.contains(&None)) {
        let started = StartedAgents::read(session);
        for (kind, agent) in kinds.iter_mut().zip(agents) {
            let id = agent.file_stem().and_then(|name| name.to_str()?.strip_prefix("agent-"));
            *kind = kind.take().or_else(|| started.find_kind(id?));
        }
    }
    kinds
}

/// The kind in the file beside an agent's transcript. An empty one is of the client's own work.
fn read_meta(agent: &Path) -> Option<String> {
    let about = read_json(&agent.with_extension("meta.json"), LARGEST)?;
    Some(about["agentType"].as_str()?.to_owned())
}

/// The agents that the calls of a transcript have started.
#[derive(Default)]
struct StartedAgents {
    kinds_by_call: HashMap<Vec<u8>, String>,
    calls_by_agent: HashMap<Vec<u8>, Vec<u8>>,
}

impl StartedAgents {
    fn read(session: &Path) -> Self {
        let mut agents = Self::default();
        let Ok(mut lines) = LineReader::open(session) else { return agents };
        loop {
            match lines.next_line() {
                Found::Line(Line::Whole(line) | Line::Unfinished(line)) => agents.read_line(line),
                Found::Line(Line::TooLong) => {}
                // After an error, the lines that are read count.
                Found::NeedsMore => _ = lines.read_more(),
                Found::End => return agents,
            }
        }
    }

    fn read_line(&mut self, line: &[u8]) {
        let has = |part: &[u8]| memmem::find(line, part).is_some();
        if !has(b"\"subagent_type\"") && !has(b"\"agentId\"") {
            return;
        }
        let Ok(record) = Record::scan(line) else { return };
        let find_field = |object: &'_ [u8], wanted: &[u8]| {
            let mut found = None;
            let _ = visit_fields(object, |name, value| {
                if name == wanted {
                    found = Some(value.to_owned());
                }
            });
            found
        };
        if let Some(agent) = find_field(record.progress, b"agentId") {
            self.calls_by_agent.insert(agent, record.parent_call.to_owned());
        }
        let result_agent = find_field(record.tool_result, b"agentId");
        for block in record.message().iter().flat_map(super::record::Message::blocks) {
            match block {
                Block::Call { id, input, .. } => {
                    let kind = find_field(input, b"subagent_type");
                    if let Some(kind) = kind.as_deref().and_then(read_string) {
                        self.kinds_by_call.insert(id.to_owned(), kind.into_owned());
                    }
                }
                Block::Result { call, .. } => {
                    if let Some(agent) = &result_agent {
                        self.calls_by_agent.insert(agent.clone(), call.to_owned());
                    }
                }
                _ => {}
            }
        }
    }

    fn find_kind(&self, agent: &str) -> Option<String> {
        let call = self.calls_by_agent.get(format!("\"{agent}\"").as_bytes())?;
        self.kinds_by_call.get(call).cloned()
    }
}
