//! Where Claude Code keeps transcripts, and what their names say.
//!
//! `projects/DIRECTORY/SESSION.jsonl`, and the agents of a session in `SESSION/subagents/agent-ID.jsonl`. Version 2.0
//! keeps agents beside the sessions. DIRECTORY is the path of the project with `-` in the place of other characters, so
//! the path cannot be told from it.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

use super::record::Record;
use crate::claude::config_directory;
use crate::past::json_scan::read_string;
use crate::past::line_reader::{Found, Line, LineReader};
use crate::past::{FileOwner, FileStart};
use provost_core::clock::parse_utc_millis;
use provost_core::places::Places;

/// A longer name of a directory is cut, and gets a digest.
const LONGEST_NAME: usize = 200;
/// How much of a file is read for its start.
const MOST: usize = 4 << 20;

pub(super) fn find_directory(places: &Places) -> Option<PathBuf> {
    config_directory(places).map(|own| own.join("projects"))
}

/// Whether a directory may hold sessions of a project: of its root, or of a directory in it.
pub(super) fn may_hold(directory: &str, project: &Path) -> bool {
    let name = encode_path(&project.to_string_lossy());
    let start = &name[..name.len().min(LONGEST_NAME)];
    let rest = directory.strip_prefix(start);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('-') || name.len() > LONGEST_NAME)
}

/// JavaScript counts in UTF-16 units, and replaces each.
fn encode_path(path: &str) -> String {
    path.encode_utf16()
        .map(|unit| match u8::try_from(unit) {
            Ok(byte) if byte.is_ascii_alphanumeric() => char::from(byte),
            _ => '-',
        })
        .collect()
}

pub(super) fn identify_file(path: &Path) -> Option<FileOwner> {
    if path.extension().is_none_or(|extension| extension != "jsonl") {
        return None;
    }
    let name = path.file_stem()?.to_string_lossy().into_owned();
    let Some(id) = name.strip_prefix("agent-") else { return Some(FileOwner::Session(name)) };
    // Some agents have a directory of their own below that of all agents.
    let above = path.ancestors().skip(1);
    let agents = above.into_iter().find(|directory| directory.file_name() == Some(OsStr::new("subagents")));
    let session = agents.and_then(|agents| agents.parent()?.file_name());
    let session = session.map(|session| session.to_string_lossy().into_owned());
    Some(FileOwner::Agent { id: id.to_owned(), session })
}

/// Reads until the first record that says where and when it was.
pub(super) fn read_start(path: &Path) -> io::Result<FileStart> {
    let mut lines = LineReader::open(path)?;
    let (mut start, mut read) = (FileStart::default(), 0);
    loop {
        match lines.next_line() {
            Found::Line(Line::Whole(line) | Line::Unfinished(line)) => {
                let Ok(record) = Record::scan(line) else { continue };
                let text = |raw| read_string(raw).map(std::borrow::Cow::into_owned);
                start.session = start.session.or_else(|| text(record.session));
                start.time = start.time.or_else(|| parse_utc_millis(&text(record.time)?));
                start.cwd = start.cwd.or_else(|| text(record.cwd).map(PathBuf::from));
                if start.is_known() {
                    return Ok(start);
                }
            }
            Found::Line(Line::TooLong) => {}
            Found::NeedsMore if read < MOST => read += lines.read_more()?,
            Found::NeedsMore | Found::End => return Ok(start),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_holds_a_project_and_what_is_in_it() {
        let holds = |directory: &str, project: &str| may_hold(directory, Path::new(project));
        assert!(
            holds("-home-me-my-app", "/home/me/my.app") && holds("-home-me-my-app-src", "/home/me/my.app")
        );
        assert!(!holds("-home-me-my-apps", "/home/me/my.app") && !holds("-home-me", "/home/me/my.app"));
        let long = format!("/{}", "x".repeat(300));
        assert!(holds(&format!("-{}-abc123", "x".repeat(199)), &long));
        assert!(holds("-caf--ab", "/café/ab") && holds("----", "/😀/"));
    }

    #[test]
    fn a_file_is_a_session_or_one_of_its_agents() {
        let session = |id: &str| Some(FileOwner::Session(id.into()));
        let agent = |id: &str, session: Option<&str>| {
            Some(FileOwner::Agent { id: id.into(), session: session.map(Into::into) })
        };
        for (path, owner) in [
            ("/p/-a/0f.jsonl", session("0f")),
            ("/p/-a/0f/subagents/agent-1.jsonl", agent("1", Some("0f"))),
            ("/p/-a/0f/subagents/workflows/w/agent-1.jsonl", agent("1", Some("0f"))),
            ("/p/-a/agent-1.jsonl", agent("1", None)),
            ("/p/-a/0f/subagents/agent-1.meta.json", None),
            ("/p/-a/0f/tool-results/x.txt", None),
        ] {
            assert_eq!(identify_file(Path::new(path)), owner, "{path}");
        }
    }
}
