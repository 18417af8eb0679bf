//! The record of decisions: one JSON line each, per project, appended with one write.
//!
//! The journal answers "which guard said what, and on which evidence?" long after the call. It is
//! never in the way: nothing that goes wrong here changes an answer. It holds no file contents, and
//! what looks like a credential is masked before it is written.

pub mod mask;
mod reading;

use std::borrow::Cow;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::clock;
use crate::decision::{Decision, Finding, Verdict};
use crate::event::{Event, Mode};
use crate::files;
use crate::text::bounded;
pub use reading::{Record, Said, followed, read_all, visit_last};

const FILE: &str = "journal.jsonl";
/// Old files that are kept beside the current one.
const KEPT: u32 = 2;
/// One line never grows beyond a page or two, whatever the evidence.
const MOST_EVIDENCE: usize = 16;
const MOST_TEXT: usize = 2_000;
/// As much of a command or a path is kept.
const LONGEST_SUBJECT: usize = 300;
/// The word for a denial that the user lifted.
const OVERRIDDEN: &str = "overridden";

/// Everything one line tells.
pub struct Entry<'a> {
    pub client: &'a str,
    pub project: &'a Path,
    /// `None` if the input could not be read as an event.
    pub event: Option<&'a Event>,
    pub findings: &'a [Finding],
    pub decision: &'a Decision,
    pub micros: u64,
    /// What was wrong with the input or the command line.
    pub remark: Option<&'a str>,
}

/// The journal of one project.
pub fn path(project_state: &Path) -> PathBuf {
    project_state.join(FILE)
}

/// Appends one line; starts a new file when this one has grown to `limit` bytes.
pub fn append(project_state: &Path, entry: &Entry<'_>, limit: u64) -> io::Result<()> {
    let mut line = line(entry);
    line.push(b'\n');
    let path = path(project_state);
    let (mut file, size) = match files::append(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            files::private_directory(project_state)?;
            files::append(&path)?
        }
        opened => opened?,
    };
    if size + line.len() as u64 > limit {
        file = rotate(project_state, file, limit)?;
    }
    files::append_to(&mut file, &path, &line)
}

/// Moves the files up by one under a lock, so that two processes do not both do it.
fn rotate(directory: &Path, full: fs::File, limit: u64) -> io::Result<fs::File> {
    let Some(_lock) = files::try_lock(&directory.join("journal.lock"))? else { return Ok(full) };
    let path = path(directory);
    // Another process may have done it in the meantime.
    if fs::metadata(&path).is_ok_and(|metadata| metadata.len() * 2 > limit) {
        for old in (1..KEPT).rev() {
            let _ = files::rename(&old_file(directory, old), &old_file(directory, old + 1));
        }
        files::rename(&path, &old_file(directory, 1))?;
    }
    Ok(files::append(&path)?.0)
}

fn old_file(directory: &Path, number: u32) -> PathBuf {
    directory.join(format!("journal.{number}.jsonl"))
}

fn line(entry: &Entry<'_>) -> Vec<u8> {
    let now = clock::since_1970();
    let mut line = Object::opened(Vec::with_capacity(1_000));
    line.text("id", &id(u64::try_from(now.as_micros()).unwrap_or(0)));
    line.text("time", &clock::utc(now));
    line.text("version", env!("CARGO_PKG_VERSION"));
    line.text("client", entry.client);
    line.text("project", &shown(&entry.project.to_string_lossy()));
    if let Some(event) = entry.event {
        line.text("event", &shown(&event.native_name));
        let mut optional = |name: &str, value: Option<&str>| {
            if let Some(value) = value {
                line.text(name, &shown(value));
            }
        };
        optional("session", event.session.as_deref());
        optional("turn", event.turn.as_deref());
        let agent = event.agent.as_ref();
        optional("agent", agent.and_then(|agent| agent.kind.as_deref().or(agent.id.as_deref())));
        optional("tool", event.call().map(|call| call.native_tool.as_str()));
        optional("call", event.call().and_then(|call| call.id.as_deref()));
        match &event.mode {
            Mode::Unknown => {}
            Mode::Plan => optional("mode", Some("plan")),
            Mode::Other(mode) => optional("mode", Some(mode)),
        }
    }
    let is_overridden = entry.findings.iter().any(Finding::is_overridden);
    // Of calls that nobody minded, the journal tells no more than their tool.
    if is_overridden || entry.decision.reason().is_some() {
        let subject = entry.event.and_then(Event::whole_subject).filter(|subject| !subject.is_empty());
        if let Some(subject) = subject {
            line.text("subject", &shown(&bounded(&subject, LONGEST_SUBJECT)));
        }
    }
    if let Some(remark) = entry.remark {
        line.text("remark", &shown(remark));
    }
    let is_concerned =
        |finding: &&Finding| !finding.outcome.as_ref().is_ok_and(|opinion| opinion.is_unconcerned);
    line.list("guards", entry.findings.iter().filter(is_concerned), said);
    let decision = match entry.decision.reason() {
        None if is_overridden => OVERRIDDEN,
        _ => entry.decision.ruling.word(),
    };
    line.text("decision", decision);
    line.number("micros", entry.micros);
    line.closed()
}

/// What one guard said.
fn said(line: Vec<u8>, finding: &Finding) -> Vec<u8> {
    let (opinion, denial, evidence) = match &finding.outcome {
        Ok(opinion) => {
            let (word, denial) = match &opinion.verdict {
                Verdict::Silence if opinion.overridden.is_some() => {
                    (OVERRIDDEN, opinion.overridden.as_ref().map(Cow::Borrowed))
                }
                Verdict::Silence if opinion.to_model.is_some() || opinion.to_person.is_some() => {
                    ("note", None)
                }
                Verdict::Silence => ("silence", None),
                Verdict::Ask(denial) => ("ask", Some(Cow::Borrowed(denial))),
                Verdict::Deny(denial) => ("deny", Some(Cow::Borrowed(denial))),
            };
            (word, denial, opinion.evidence.as_slice())
        }
        Err(fault) => ("fault", Some(Cow::Owned(fault.denial(finding.guard))), &[] as &[String]),
    };
    let mut said = Object::opened(line);
    said.text("guard", finding.guard.name);
    said.text("opinion", opinion);
    if let Some(denial) = denial {
        said.text("what", &shown(&denial.what));
        said.text("why", &shown(&denial.why));
        said.text("fix", &shown(&denial.fix));
        if finding.guard.overridable && !finding.is_overridable() {
            said.text("final", "no prompt lifts it");
        }
    }
    if !evidence.is_empty() {
        said.list("evidence", evidence.iter().take(MOST_EVIDENCE), |mut line, text| {
            put_text(&mut line, &shown(text));
            line
        });
    }
    said.number("micros", finding.micros);
    said.closed()
}

/// An object that is written while it is told: a line is written at every call, and a tree of values in
/// between would cost more than the line.
struct Object(Vec<u8>);

impl Object {
    /// Opens an object behind what is already written.
    fn opened(mut written: Vec<u8>) -> Self {
        written.push(b'{');
        Self(written)
    }

    fn name(&mut self, name: &str) {
        if self.0.last() != Some(&b'{') {
            self.0.push(b',');
        }
        put_text(&mut self.0, name);
        self.0.push(b':');
    }

    fn text(&mut self, name: &str, text: &str) {
        self.name(name);
        put_text(&mut self.0, text);
    }

    fn number(&mut self, name: &str, number: u64) {
        self.name(name);
        self.0.extend(number.to_string().bytes());
    }

    fn list<T>(&mut self, name: &str, items: impl Iterator<Item = T>, put: impl Fn(Vec<u8>, T) -> Vec<u8>) {
        self.name(name);
        self.0.push(b'[');
        for (index, item) in items.enumerate() {
            if index > 0 {
                self.0.push(b',');
            }
            self.0 = put(std::mem::take(&mut self.0), item);
        }
        self.0.push(b']');
    }

    fn closed(mut self) -> Vec<u8> {
        self.0.push(b'}');
        self.0
    }
}

fn put_text(line: &mut Vec<u8>, text: &str) {
    serde_json::to_writer(line, text).expect("a text can be written to memory");
}

fn shown(text: &str) -> Cow<'_, str> {
    match bounded(text, MOST_TEXT) {
        Cow::Borrowed(text) => mask::masked(text),
        Cow::Owned(text) => Cow::Owned(mask::masked(&text).into_owned()),
    }
}

/// A short name for a line, growing with time.
fn id(micros: u64) -> String {
    const LETTERS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
    let number = (micros << 10) | u64::from(std::process::id() & 0x3ff);
    (0..13).rev().map(|place| char::from(LETTERS[(number >> (place * 5) & 31) as usize])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(decision: &Decision) -> Entry<'_> {
        Entry {
            client: "claude",
            project: Path::new("/p"),
            event: None,
            findings: &[],
            decision,
            micros: 1,
            remark: Some("token=abcdefgh12345678"),
        }
    }

    #[test]
    fn the_journal_rotates_by_size_and_keeps_two_old_files() {
        let dir = tempfile::tempdir().unwrap();
        let decision = Decision::default();
        for _ in 0..60 {
            append(dir.path(), &entry(&decision), 1000).unwrap();
        }
        let mut names: Vec<_> = fs::read_dir(dir.path())
            .unwrap()
            .map(|e| e.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        assert_eq!(names, ["journal.1.jsonl", "journal.2.jsonl", "journal.jsonl", "journal.lock"]);
        assert!(fs::metadata(path(dir.path())).unwrap().len() <= 1000);
    }

    #[test]
    fn credentials_do_not_reach_the_file() {
        let dir = tempfile::tempdir().unwrap();
        append(dir.path(), &entry(&Decision::default()), 1 << 20).unwrap();
        let text = fs::read_to_string(path(dir.path())).unwrap();
        assert!(!text.contains("abcdefgh12345678") && text.contains("token="), "{text}");
    }

    #[cfg(unix)]
    #[test]
    fn neither_a_link_nor_a_pipe_is_written_to() {
        let dir = tempfile::tempdir().unwrap();
        let other = dir.path().join("other");
        fs::write(&other, "").unwrap();
        let write = || append(dir.path(), &entry(&Decision::default()), 1 << 20);
        std::os::unix::fs::symlink(&other, path(dir.path())).unwrap();
        assert!(write().is_err() && fs::read(&other).unwrap().is_empty());
        fs::remove_file(path(dir.path())).unwrap();
        let made = std::process::Command::new("mkfifo").arg(path(dir.path())).status().unwrap();
        assert!(made.success() && write().is_err());
    }

    #[cfg(unix)]
    #[test]
    fn only_the_owner_can_read_it() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let state = dir.path().join("s");
        append(&state, &entry(&Decision::default()), 1 << 20).unwrap();
        assert_eq!(fs::metadata(path(&state)).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::metadata(&state).unwrap().permissions().mode() & 0o777, 0o700);
    }
}
