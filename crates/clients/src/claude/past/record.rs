//! One line of a transcript: its type, where it belongs, and the parts of it that events are made of.
//!
//! Values stay as they are written until they are needed. A type that is not known is no mistake: the format is
//! internal to Claude Code, and changes with its versions.

use std::borrow::Cow;
use std::ops::ControlFlow;

use crate::past::json_scan::{ScanError, read_string, visit_fields, visit_fields_until, visit_items};

/// The types of records that were seen, without those that become events.
const OTHER_TYPES: &[&str] = &[
    "agent-color",
    "agent-name",
    "ai-title",
    "api-request",
    "api-request-blob",
    "api-request-shape",
    "atis-latch",
    "attribution-snapshot",
    "content-replacement",
    "cost-state",
    "custom-title",
    "file-history-delta",
    "file-history-snapshot",
    "last-prompt",
    "mode",
    "pr-link",
    "progress",
    "queue-operation",
    "summary",
    "system",
    "tag",
    "task-summary",
    "tools-used",
    "worktree-state",
];

/// What kind of record a line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RecordKind {
    User,
    Assistant,
    Attachment,
    PermissionMode,
    /// Names the kind of agent that the main conversation runs as.
    AgentSetting,
    /// A known type that no event is made of.
    Other,
    Unknown,
}

/// The fields of a record, as they are written. A missing field is empty.
#[derive(Debug)]
pub(super) struct Record<'l> {
    pub(super) kind: RecordKind,
    pub(super) uuid: &'l [u8],
    pub(super) session: &'l [u8],
    pub(super) agent: &'l [u8],
    pub(super) time: &'l [u8],
    pub(super) cwd: &'l [u8],
    pub(super) branch: &'l [u8],
    pub(super) mode: &'l [u8],
    pub(super) turn: &'l [u8],
    pub(super) agent_setting: &'l [u8],
    /// Claude Code wrote it in the user's name, or as the summary of a conversation.
    pub(super) is_meta: bool,
    pub(super) is_sidechain: bool,
    pub(super) is_api_error: bool,
    pub(super) message: &'l [u8],
    pub(super) attachment: &'l [u8],
    pub(super) tool_result: &'l [u8],
    pub(super) permission: &'l [u8],
    /// The announcement of a subagent's own record.
    pub(super) progress: &'l [u8],
    pub(super) parent_call: &'l [u8],
}

impl<'l> Record<'l> {
    pub(super) fn scan(line: &'l [u8]) -> Result<Self, ScanError> {
        Self::scan_until(line, |_| false)
    }

    /// Like [`Record::scan`], but leaves the rest of a record unread once its type says that no event is made of it.
    /// Half of the bytes of a transcript are in such records. `line` is a whole line.
    pub(super) fn scan_if_needed(line: &'l [u8]) -> Result<Self, ScanError> {
        let is_whole = line.trim_ascii_end().ends_with(b"}");
        Self::scan_until(line, |kind| is_whole && kind == RecordKind::Other)
    }

    fn scan_until(line: &'l [u8], is_enough: impl Fn(RecordKind) -> bool) -> Result<Self, ScanError> {
        let mut record = Self {
            kind: RecordKind::Unknown,
            uuid: b"",
            session: b"",
            agent: b"",
            time: b"",
            cwd: b"",
            branch: b"",
            mode: b"",
            turn: b"",
            agent_setting: b"",
            is_meta: false,
            is_sidechain: false,
            is_api_error: false,
            message: b"",
            attachment: b"",
            tool_result: b"",
            permission: b"",
            progress: b"",
            parent_call: b"",
        };
        visit_fields_until(line, |name, value| {
            match name {
                b"type" => {
                    record.kind = find_kind(value);
                    if is_enough(record.kind) {
                        return ControlFlow::Break(());
                    }
                }
                b"uuid" => record.uuid = value,
                b"sessionId" => record.session = value,
                b"agentId" => record.agent = value,
                b"timestamp" => record.time = value,
                b"cwd" => record.cwd = value,
                b"gitBranch" => record.branch = value,
                b"permissionMode" => record.mode = value,
                b"promptId" => record.turn = value,
                b"agentSetting" => record.agent_setting = value,
                b"isMeta" | b"isCompactSummary" => record.is_meta |= value == b"true",
                b"isSidechain" => record.is_sidechain = value == b"true",
                b"isApiErrorMessage" => record.is_api_error = value == b"true",
                b"message" => record.message = value,
                b"attachment" => record.attachment = value,
                b"toolUseResult" => record.tool_result = value,
                b"permissionDecision" => record.permission = value,
                b"data" => record.progress = value,
                b"parentToolUseID" => record.parent_call = value,
                _ => {}
            }
            ControlFlow::Continue(())
        })?;
        Ok(record)
    }

    pub(super) fn message(&self) -> Option<Message<'l>> {
        let mut message = Message { id: b"", is_synthetic: false, content: b"" };
        visit_fields(self.message, |name, value| match name {
            b"id" => message.id = value,
            b"model" => message.is_synthetic = value == b"\"<synthetic>\"",
            b"content" => message.content = value,
            _ => {}
        })
        .ok()?;
        Some(message)
    }
}

fn find_kind(value: &[u8]) -> RecordKind {
    match value {
        b"\"user\"" => RecordKind::User,
        b"\"assistant\"" => RecordKind::Assistant,
        b"\"attachment\"" => RecordKind::Attachment,
        b"\"permission-mode\"" => RecordKind::PermissionMode,
        b"\"agent-setting\"" => RecordKind::AgentSetting,
        _ => {
            let name =
                value.strip_prefix(b"\"").and_then(|name| name.strip_suffix(b"\"")).unwrap_or_default();
            let is_known = OTHER_TYPES.iter().any(|known| known.as_bytes() == name);
            if is_known { RecordKind::Other } else { RecordKind::Unknown }
        }
    }
}

/// The message of a record.
pub(super) struct Message<'l> {
    /// Lines with the same id are parts of one message.
    pub(super) id: &'l [u8],
    /// Claude Code wrote it, not the model.
    pub(super) is_synthetic: bool,
    content: &'l [u8],
}

/// A part of a message.
#[derive(Debug)]
pub(super) enum Block<'l> {
    Text(&'l [u8]),
    Call { id: &'l [u8], name: &'l [u8], input: &'l [u8] },
    Result { call: &'l [u8], content: &'l [u8], is_error: &'l [u8] },
    Other,
}

impl<'l> Message<'l> {
    /// The parts of the content. A content that is a string is one text.
    pub(super) fn blocks(&self) -> Vec<Block<'l>> {
        if self.content.starts_with(b"\"") {
            return vec![Block::Text(self.content)];
        }
        let mut blocks = Vec::new();
        let _ = visit_items(self.content, |item| blocks.push(parse_block(item)));
        blocks
    }
}

fn parse_block(item: &[u8]) -> Block<'_> {
    let (mut kind, mut text, mut id, mut name) = (&b""[..], &b""[..], &b""[..], &b""[..]);
    let (mut input, mut call, mut content, mut is_error) = (&b""[..], &b""[..], &b""[..], &b""[..]);
    let scanned = visit_fields(item, |field, value| match field {
        b"type" => kind = value,
        b"text" => text = value,
        b"id" => id = value,
        b"name" => name = value,
        b"input" => input = value,
        b"tool_use_id" => call = value,
        b"content" => content = value,
        b"is_error" => is_error = value,
        _ => {}
    });
    match kind {
        _ if scanned.is_err() => Block::Other,
        b"\"text\"" => Block::Text(text),
        b"\"tool_use\"" => Block::Call { id, name, input },
        b"\"tool_result\"" => Block::Result { call, content, is_error },
        _ => Block::Other,
    }
}

/// The texts of a result, or of a prompt in parts.
pub(super) fn join_texts<'l>(blocks: &[Block<'l>]) -> Cow<'l, str> {
    let mut texts = blocks.iter().filter_map(|block| match block {
        Block::Text(text) => read_string(text),
        _ => None,
    });
    let first = texts.next().unwrap_or_default();
    texts.fold(first, |joined, text| Cow::Owned(format!("{joined}\n{text}")))
}

/// The text at the start of a result's content.
pub(super) fn start_of_content(content: &[u8]) -> &[u8] {
    if content.starts_with(b"\"") {
        return &content[1..];
    }
    let mut first: &[u8] = b"";
    let _ = visit_items(content, |item| {
        if first.is_empty()
            && let Block::Text(text) = parse_block(item)
        {
            first = text.strip_prefix(b"\"").unwrap_or_default();
        }
    });
    first
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_known_by_its_own_type_and_not_by_one_inside() {
        let line =
            br#"{"message":{"type":"message","content":[{"type":"user"}]},"type":"assistant","uuid":"u"}"#;
        let record = Record::scan(line).unwrap();
        assert_eq!((record.kind, record.uuid), (RecordKind::Assistant, &b"\"u\""[..]));
        for (json, kind) in [
            (r#"{"type":"progress"}"#, RecordKind::Other),
            (r#"{"type":"brand-new"}"#, RecordKind::Unknown),
            (r#"{"type":5}"#, RecordKind::Unknown),
            ("{}", RecordKind::Unknown),
        ] {
            assert_eq!(Record::scan(json.as_bytes()).unwrap().kind, kind, "{json}");
        }
        assert_eq!(Record::scan(br#"{"type":"us"#).unwrap_err(), ScanError::Cut);
        let kind = |line: &[u8]| Record::scan_if_needed(line).map(|record| record.kind);
        assert_eq!(kind(br#"{"type":"progress","data":{broken}"#), Ok(RecordKind::Other));
        assert_eq!(kind(br#"{"type":"progress","data":{"a":1"#), Err(ScanError::Cut));
        assert_eq!(kind(br#"{"type":"brand-new","data":{broken}"#), Err(ScanError::Cut));
        assert_eq!(kind(br#"{"type":"user","data":{broken}"#), Err(ScanError::Cut));
    }

    #[test]
    fn the_parts_of_a_message_are_read() {
        let line = br#"{"type":"user","message":{"content":[{"type":"text","text":"a"},{"type":"image"},
            {"type":"tool_result","tool_use_id":"t","content":[{"type":"text","text":"<x> y"}]},
            {"type":"tool_use","id":"t","name":"Bash","input":{}},"odd"]}}"#;
        let blocks = Record::scan(line).unwrap().message().unwrap().blocks();
        assert_eq!(join_texts(&blocks), "a");
        assert!(matches!(blocks[1], Block::Other) && matches!(blocks[4], Block::Other));
        let Block::Result { content, call, .. } = blocks[2] else { panic!() };
        assert_eq!((call, start_of_content(content)), (&b"\"t\""[..], &b"<x> y\""[..]));
        assert!(matches!(blocks[3], Block::Call { name: b"\"Bash\"", input: b"{}", .. }));
        assert!(Record::scan(br#"{"message":5}"#).unwrap().message().is_none());
    }
}
