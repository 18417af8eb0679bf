//! Turns the records of one transcript into events, in the order in which hooks got them.
//!
//! A call is reported only when its result is known, because some calls never reached a hook. Events behind it wait, so
//! that the order stays. Claude Code writes one line for each part of a message, and the end of a turn is nowhere: it is
//! the last message without a call.

use std::collections::VecDeque;
use std::sync::Arc;

use memchr::memmem;
use serde::de::IgnoredAny;

use super::fate::{find_fate, read_changed_file};
use super::modes::Modes;
use super::record::{Block, Message, Record, RecordKind, join_texts};
use crate::claude::tools::EXIT;
use crate::past::json_scan::{read_string, visit_fields};
use crate::past::{
    CallFate, Detail, FileContext, FileStart, PastAgent, PastCall, PastEvent, PastEventKind, PastResult,
};
use provost_core::clock::parse_utc_millis;

/// At most so many events wait for the result of a call.
const MOST_WAITING: usize = 512;
/// The inputs of calls that wait have at most so many bytes.
const MOST_WAITING_BYTES: usize = 32 << 20;
/// The input of a hook has at most so many bytes. No hook could judge a call with more, so it is only counted.
const LARGEST_INPUT: usize = 48 << 20;

/// What kept a record from becoming events.
pub(super) enum Skip {
    NotJson,
    UnknownType,
    Malformed,
}

pub(super) struct Conversation {
    context: FileContext,
    detail: Detail,
    pub(super) start: FileStart,
    session: Interned,
    cwd: Interned,
    branch: Interned,
    turn: Interned,
    main_agent: Interned,
    /// The time of the last event.
    last_time: u64,
    modes: Modes,
    waiting: VecDeque<Waiting>,
    waiting_bytes: usize,
    last_message: Option<LastMessage>,
    has_been_blocked: bool,
    /// The turn of the first prompt, and whether another prompt has the same: a fork gives all that it repeats its own.
    first_turn: Option<Arc<str>>,
    pub(super) is_fork: bool,
}

/// An event that waits for its turn.
struct Waiting {
    event: PastEvent,
    is_ready: bool,
}

/// The last message of the model that no prompt or result follows.
struct LastMessage {
    message: Vec<u8>,
    has_call: bool,
    text: Option<String>,
    /// As the event of a stop, should the turn end here.
    event: PastEvent,
}

/// The last value of a field that seldom changes.
#[derive(Default)]
struct Interned(Option<Arc<str>>);

impl Interned {
    /// Takes a new value, unless the field is missing.
    fn update(&mut self, raw: &[u8]) -> Option<Arc<str>> {
        if let Some(text) = read_string(raw)
            && self.0.as_deref() != Some(&text)
        {
            self.0 = Some(text.as_ref().into());
        }
        self.0.clone()
    }
}

impl Conversation {
    pub(super) fn new(context: FileContext, detail: Detail) -> Self {
        Self {
            session: Interned(context.session.clone()),
            detail,
            start: FileStart::default(),
            cwd: Interned::default(),
            branch: Interned::default(),
            turn: Interned::default(),
            main_agent: Interned::default(),
            last_time: 0,
            modes: Modes::new(context.modes.clone(), context.agent.is_some()),
            context,
            waiting: VecDeque::new(),
            waiting_bytes: 0,
            last_message: None,
            has_been_blocked: false,
            first_turn: None,
            is_fork: false,
        }
    }

    /// The next event that waits for nothing.
    pub(super) fn take_ready(&mut self) -> Option<PastEvent> {
        let is_full = self.waiting.len() > MOST_WAITING || self.waiting_bytes > MOST_WAITING_BYTES;
        let first = self.waiting.front()?;
        if !first.is_ready && !is_full {
            return None;
        }
        let event = self.waiting.pop_front()?.event;
        if let PastEventKind::Call(call, _) = &event.kind {
            self.waiting_bytes = self.waiting_bytes.saturating_sub(call.input.len());
        }
        Some(event)
    }

    /// The file has ended: no result comes any more.
    pub(super) fn end(&mut self) {
        self.end_turn();
        self.waiting.iter_mut().for_each(|waiting| waiting.is_ready = true);
    }

    /// Reads a line. An unfinished one may be cut anywhere.
    pub(super) fn read(&mut self, line: &[u8], is_unfinished: bool) -> Result<(), Skip> {
        let is_needed = is_unfinished || !self.start.is_known();
        let record = if is_needed { Record::scan(line) } else { Record::scan_if_needed(line) };
        let record = record.map_err(|_| Skip::NotJson)?;
        // The scanner does not look into values. The lines that decide are few and worth a second look.
        let decides = match record.kind {
            RecordKind::Assistant => memmem::find(record.message, b"\"tool_use\"").is_some(),
            RecordKind::User => record.tool_result.is_empty(),
            _ => false,
        };
        if decides && serde_json::from_slice::<IgnoredAny>(line).is_err() {
            return Err(Skip::NotJson);
        }
        self.note_start(&record);
        match record.kind {
            RecordKind::Assistant => self.read_assistant(&record),
            RecordKind::User => self.read_user(&record),
            RecordKind::Attachment => {
                self.read_attachment(&record);
                Ok(())
            }
            RecordKind::PermissionMode => {
                self.set_mode(&record);
                Ok(())
            }
            RecordKind::AgentSetting => {
                self.main_agent.update(record.agent_setting);
                Ok(())
            }
            RecordKind::Other => Ok(()),
            RecordKind::Unknown => Err(Skip::UnknownType),
        }
    }

    /// The first record with a time and a directory says where and when the session began.
    fn note_start(&mut self, record: &Record<'_>) {
        let start = &mut self.start;
        if start.time.is_none() {
            start.time = read_time(record);
        }
        if start.cwd.is_none() {
            start.cwd = read_string(record.cwd).map(|cwd| cwd.into_owned().into());
        }
        if start.session.is_none() {
            start.session = read_string(record.session).map(std::borrow::Cow::into_owned);
        }
    }

    /// The time of a record, or of the last event before it.
    fn time_of(&self, record: &Record<'_>) -> u64 {
        read_time(record).unwrap_or(self.last_time)
    }

    fn set_mode(&mut self, record: &Record<'_>) {
        if let Some(mode) = read_string(record.mode) {
            self.modes.set(&mode, self.time_of(record));
        }
    }

    fn make_event(&mut self, kind: PastEventKind, id: &[u8], record: &Record<'_>) -> PastEvent {
        let agent = read_string(record.agent).filter(|id| !id.is_empty());
        let agent = match (agent, &self.context.agent) {
            (Some(id), Some(known)) if *known.id == *id => Some(known.clone()),
            (Some(id), _) => Some(PastAgent { id: id.as_ref().into(), kind: None }),
            // The first versions kept agents in the file of the session, without an id.
            (None, None) if record.is_sidechain => Some(PastAgent { id: "sidechain".into(), kind: None }),
            (None, known) => known.clone(),
        };
        let time = read_time(record);
        self.last_time = time.unwrap_or(self.last_time);
        PastEvent {
            kind,
            id: read_string(id).filter(|id| !id.is_empty()).map(|id| id.as_ref().into()),
            time,
            session: self.session.update(record.session),
            main_agent: self.main_agent.0.clone().filter(|_| agent.is_none()),
            agent,
            cwd: self.cwd.update(record.cwd),
            branch: self.branch.update(record.branch),
            mode: self.modes.find(self.last_time),
            turn: self.turn.update(record.turn),
        }
    }

    fn push(&mut self, event: PastEvent) {
        self.waiting.push_back(Waiting { event, is_ready: true });
    }

    fn read_assistant(&mut self, record: &Record<'_>) -> Result<(), Skip> {
        let message = record.message().ok_or(Skip::Malformed)?;
        if message.is_synthetic || record.is_api_error {
            return Ok(());
        }
        let blocks = message.blocks();
        let mut result = Ok(());
        let mut has_call = false;
        for block in &blocks {
            if let Block::Call { id, name, input } = block {
                has_call = true;
                result = result.and(self.read_call(id, name, input, record));
            }
        }
        self.note_message(&message, &blocks, has_call, record);
        result
    }

    fn read_call(&mut self, id: &[u8], name: &[u8], input: &[u8], record: &Record<'_>) -> Result<(), Skip> {
        let name = read_string(name).filter(|name| !name.is_empty()).ok_or(Skip::Malformed)?;
        let known_id = read_string(id).filter(|id| !id.is_empty()).ok_or(Skip::Malformed)?;
        // A repeated line would wait for a second result, which never comes.
        if self.find_waiting(&known_id).is_some() {
            return Ok(());
        }
        let input = if input.len() > LARGEST_INPUT { Vec::new() } else { input.to_owned() };
        let call = PastCall { tool: name.into_owned(), input, file: None, file_before: None };
        self.waiting_bytes += call.input.len();
        let kind = PastEventKind::Call(Arc::new(call), CallFate::Unknown);
        let event = self.make_event(kind, id, record);
        self.waiting.push_back(Waiting { event, is_ready: false });
        Ok(())
    }

    fn note_message(
        &mut self,
        message: &Message<'_>,
        blocks: &[Block<'_>],
        has_call: bool,
        record: &Record<'_>,
    ) {
        let text = if self.detail.texts { join_texts(blocks).into_owned() } else { String::new() };
        let text = Some(text).filter(|text| !text.is_empty());
        let stop = PastEventKind::Stop { last_message: None, has_been_blocked: self.has_been_blocked };
        let event = self.make_event(stop, record.uuid, record);
        match &mut self.last_message {
            Some(last) if !message.id.is_empty() && last.message == message.id => {
                last.has_call |= has_call;
                last.text = text.or(last.text.take());
                last.event = event;
            }
            last => *last = Some(LastMessage { message: message.id.to_owned(), has_call, text, event }),
        }
    }

    /// A turn has ended if the model has said something and called nothing.
    fn end_turn(&mut self) {
        let Some(last) = self.last_message.take().filter(|last| !last.has_call) else { return };
        let mut event = last.event;
        if let PastEventKind::Stop { last_message, .. } = &mut event.kind {
            *last_message = last.text;
        }
        self.push(event);
    }

    fn read_user(&mut self, record: &Record<'_>) -> Result<(), Skip> {
        let message = record.message().ok_or(Skip::Malformed)?;
        let blocks = message.blocks();
        let mut is_result = false;
        for block in &blocks {
            if let Block::Result { call, content, is_error } = block {
                is_result = true;
                self.read_result(call, (content, is_error), record);
            }
        }
        if is_result {
            self.last_message = None;
        } else if self.context.agent.is_some() || record.is_sidechain {
            self.read_agent_message(&join_texts(&blocks), record);
        } else {
            self.read_user_text(&join_texts(&blocks), record);
        }
        Ok(())
    }

    /// What an agent reads is no prompt of the user. A hook that does not let it end speaks to it.
    fn read_agent_message(&mut self, text: &str, record: &Record<'_>) {
        if record.is_meta && text.starts_with(FEEDBACK) {
            self.end_turn();
            self.has_been_blocked = true;
        }
    }

    fn read_user_text(&mut self, text: &str, record: &Record<'_>) {
        if text.starts_with("[Request interrupted") {
            self.last_message = None;
            let event = self.make_event(PastEventKind::Interruption, record.uuid, record);
            self.push(event);
            return;
        }
        if record.is_meta && text.starts_with(FEEDBACK) {
            self.end_turn();
            self.has_been_blocked = true;
            return;
        }
        let is_local =
            ["<local-command", "<command-name", "<bash-"].iter().any(|start| text.starts_with(start));
        if record.is_meta || is_local {
            return;
        }
        self.end_turn();
        self.has_been_blocked = false;
        self.set_mode(record);
        let is_notification = text.starts_with("<task-notification>");
        let kind = match is_notification {
            true => PastEventKind::TaskEnd { text: text.to_owned(), is_prompt: true },
            false if self.detail.texts => PastEventKind::Prompt(read_prompt(text)),
            false => PastEventKind::Prompt(String::new()),
        };
        let event = self.make_event(kind, record.uuid, record);
        if !is_notification {
            self.is_fork |= event.turn.is_some() && self.first_turn == event.turn;
            self.first_turn = self.first_turn.take().or(event.turn.clone());
        }
        self.push(event);
    }

    /// A notification that arrives while the agent works becomes an attachment.
    fn read_attachment(&mut self, record: &Record<'_>) {
        let (mut is_queued, mut prompt) = (false, &b""[..]);
        let _ = visit_fields(record.attachment, |name, value| match name {
            b"type" => is_queued = value == b"\"queued_command\"",
            b"prompt" => prompt = value,
            _ => {}
        });
        if !is_queued {
            return;
        }
        if let Some(text) = read_string(prompt).filter(|text| text.starts_with("<task-notification>")) {
            let kind = PastEventKind::TaskEnd { text: text.into_owned(), is_prompt: false };
            let event = self.make_event(kind, record.uuid, record);
            self.push(event);
        }
    }

    /// The place of a call that waits for its result.
    fn find_waiting(&self, id: &str) -> Option<usize> {
        self.waiting.iter().position(|waiting| !waiting.is_ready && waiting.event.id.as_deref() == Some(id))
    }

    fn read_result(&mut self, call: &[u8], (content, is_error): (&[u8], &[u8]), record: &Record<'_>) {
        let Some(id) = read_string(call) else { return };
        let Some(at) = self.find_waiting(&id) else { return };
        let fate = find_fate(content, is_error, record);
        let waiting = &mut self.waiting[at];
        waiting.is_ready = true;
        waiting.event.turn = self.turn.update(record.turn);
        let PastEventKind::Call(known, known_fate) = &mut waiting.event.kind else { return };
        *known_fate = fate;
        if let Some(known) = Arc::get_mut(known) {
            read_changed_file(known, record.tool_result, self.detail.files);
        }
        let known = known.clone();
        match (&*known.tool, fate) {
            (EXIT, CallFate::Succeeded) => self.modes.end_plan(self.time_of(record)),
            ("EnterPlanMode", CallFate::Succeeded) => self.modes.set("plan", self.time_of(record)),
            _ => {}
        }
        if self.detail.results && matches!(fate, CallFate::Succeeded | CallFate::Failed) {
            let result = PastResult {
                has_failed: fate == CallFate::Failed,
                // The records of agents have only the text.
                response: if record.tool_result.is_empty() { content } else { record.tool_result }.to_owned(),
            };
            let event = self.make_event(PastEventKind::Finished(known, result), call, record);
            self.push(event);
        }
    }
}

fn read_time(record: &Record<'_>) -> Option<u64> {
    parse_utc_millis(&read_string(record.time)?)
}

/// How a hook's reason begins that keeps a turn from ending.
const FEEDBACK: &str = "Stop hook feedback";

/// The words that the user typed. A command is recorded in tags.
fn read_prompt(text: &str) -> String {
    let part = |name: &str| {
        let (_, rest) = text.split_once(&format!("<{name}>"))?;
        rest.split_once(&format!("</{name}>")).map(|(inner, _)| inner.trim())
    };
    match part("command-name").filter(|_| text.starts_with("<command-message>")) {
        Some(command) => {
            let arguments = part("command-args").unwrap_or_default();
            format!("{command} {arguments}").trim_end().to_owned()
        }
        None => text.to_owned(),
    }
}
