//! Reads the records of one session and of its agents, file by file or in the order of time.
//!
//! In the order of time, a file is opened when its first record is due, so that only the agents that worked at the same
//! time are open at once.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::selection::{SelectedFile, SessionFiles};
use crate::clients::past::{
    Detail, FileContext, FileOwner, FileSummary, ModeTimeline, PastAgent, PastEvent, PastItem, PastItems,
    PastSessions,
};

/// So many files are open at once. The others wait.
const MOST_OPEN: usize = 64;

/// Something that was read.
pub enum SessionItem {
    /// An event, and the number of its file.
    Event(PastEvent, u32),
    /// So many more bytes are read.
    Progress(usize),
    /// A file has ended.
    End(FileSummary, u32),
    /// A file cannot be opened.
    Unreadable,
}

pub struct SessionReader<'a> {
    past: &'static PastSessions,
    files: Vec<OpenFile<'a>>,
    detail: Detail,
    is_by_time: bool,
}

struct OpenFile<'a> {
    file: &'a SelectedFile,
    context: FileContext,
    state: FileState,
    /// The time of its next event, as far as it is known.
    time: u64,
}

enum FileState {
    Waiting,
    Open { items: PastItems, next: Option<Box<PastEvent>> },
    Ended,
}

impl<'a> SessionReader<'a> {
    /// `is_by_time`: the events of all files come in the order of time.
    pub fn new(
        past: &'static PastSessions,
        session: &'a SessionFiles,
        detail: Detail,
        is_by_time: bool,
    ) -> Self {
        let agents: Vec<&Path> = session.agents.iter().map(|agent| agent.path.as_path()).collect();
        let starter = session.main.as_ref().map(|main| main.path.clone());
        let starter = starter.or_else(|| find_session_of(past, agents.first()?));
        let kinds = (past.find_agent_kinds)(starter.as_deref(), &agents);
        let modes = ModeTimeline::default();
        let id = session.id.as_deref().map(Arc::from);
        let context = |agent| FileContext { session: Option::clone(&id), agent, modes: modes.clone() };
        let open = |file, context| OpenFile { file, context, state: FileState::Waiting, time: 0 };
        let mut files: Vec<OpenFile<'a>> =
            session.main.iter().map(|file| open(file, context(None))).collect();
        for (file, kind) in session.agents.iter().zip(kinds) {
            let id = match (past.identify_file)(&file.path) {
                Some(FileOwner::Agent { id, .. }) => id,
                _ => String::new(),
            };
            let agent = PastAgent { id: id.into(), kind: kind.map(Arc::from) };
            files.push(open(file, context(Some(agent))));
        }
        let mut reader = Self { past, files, detail, is_by_time };
        if is_by_time {
            reader.find_times();
        }
        reader
    }

    /// Reads when each file begins.
    fn find_times(&mut self) {
        for file in &mut self.files {
            file.time =
                (self.past.read_start)(&file.file.path).ok().and_then(|start| start.time).unwrap_or(0);
        }
    }

    /// The file whose turn it is.
    fn choose(&self) -> Option<usize> {
        let has_room =
            self.files.iter().filter(|file| matches!(file.state, FileState::Open { .. })).count() < MOST_OPEN;
        let mut candidates = self.files.iter().enumerate().filter(|(_, file)| match file.state {
            FileState::Waiting => has_room,
            FileState::Open { .. } => true,
            FileState::Ended => false,
        });
        if !self.is_by_time {
            return candidates.next().map(|(at, _)| at);
        }
        candidates.min_by_key(|(at, file)| (file.time, *at)).map(|(at, _)| at)
    }
}

impl Iterator for SessionReader<'_> {
    type Item = SessionItem;

    fn next(&mut self) -> Option<SessionItem> {
        loop {
            let at = self.choose()?;
            let (past, detail) = (self.past, self.detail);
            let file = &mut self.files[at];
            let number = file.file.number;
            match &mut file.state {
                FileState::Waiting => {
                    if let Ok(items) = (past.open)(&file.file.path, file.context.clone(), detail) {
                        file.state = FileState::Open { items, next: None }
                    } else {
                        file.state = FileState::Ended;
                        return Some(SessionItem::Unreadable);
                    }
                }
                FileState::Open { next: next @ Some(_), .. } => {
                    return next.take().map(|event| SessionItem::Event(*event, number));
                }
                FileState::Open { items, next } => match items.next() {
                    Some(PastItem::Event(event)) => {
                        // Another file may be first.
                        file.time = event.time.unwrap_or(file.time);
                        *next = Some(Box::new(event));
                    }
                    Some(PastItem::Progress(bytes)) => return Some(SessionItem::Progress(bytes)),
                    Some(PastItem::End(summary)) => {
                        file.state = FileState::Ended;
                        return Some(SessionItem::End(summary, number));
                    }
                    None => file.state = FileState::Ended,
                },
                FileState::Ended => return None,
            }
        }
    }
}

/// The record of the session that started an agent whose file does not say which.
fn find_session_of(past: &PastSessions, agent: &Path) -> Option<PathBuf> {
    let session = (past.read_start)(agent).ok()?.session?;
    let is_name = session.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    let file = agent.with_file_name(session).with_extension("jsonl");
    (is_name && file.is_file()).then_some(file)
}
