//! What the client's program tells of itself: its version, and the events that it has hooks for.
//!
//! No command of the client lists its events, and an event that nobody registers a hook for is never seen. The list stands in
//! the program as text, so it is read there; a program that holds none has an empty list, which is a difference to see.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use crate::error::{Error, Result};

/// How the list begins.
const BEGINNING: &str = r#"["PreToolUse","#;
/// More than the list is long.
const LONGEST: usize = 4096;

/// The first word that the client prints when it is asked for its version.
pub(super) fn version(client: &Path) -> Result<String> {
    let asked = Command::new(client).arg("--version").stdin(Stdio::null()).output();
    let output = asked.map_err(Error::machine(format!("ask `{}` for its version", client.display())))?;
    let said = String::from_utf8_lossy(&output.stdout);
    let version = said.split_whitespace().next().unwrap_or_default();
    // It becomes a heading of a table and a name of a file.
    let is_plain = version.chars().all(|c| c.is_ascii_alphanumeric() || ".-+".contains(c));
    if !is_plain || !version.starts_with(|c: char| c.is_ascii_digit()) {
        return Err(Error::stage(format!("`{}` does not tell its version", client.display())));
    }
    Ok(version.to_owned())
}

/// The longest list of events in a program.
pub(super) fn events(program: &Path) -> Result<BTreeSet<String>> {
    let told = || format!("read the client `{}`", program.display());
    let mut file = BufReader::with_capacity(1 << 20, File::open(program).map_err(Error::machine(told()))?);
    let (mut longest, mut piece) = (BTreeSet::new(), Vec::new());
    while file.read_until(b']', &mut piece).map_err(Error::machine(told()))? > 0 {
        if piece.ends_with(b"\"]") {
            let tail = String::from_utf8_lossy(&piece[piece.len().saturating_sub(LONGEST)..]);
            let list = tail.rfind(BEGINNING).and_then(|at| serde_json::from_str(&tail[at..]).ok());
            longest = list.filter(|list: &BTreeSet<String>| list.len() > longest.len()).unwrap_or(longest);
        }
        piece.clear();
    }
    Ok(longest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_list_of_events_is_found_among_bytes() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("program");
        let mut bytes = vec![0xff, 0, b'[', b'"'];
        bytes.extend_from_slice(
            br#"x"],b=["PreToolUse","Stop"],c=["PreToolUse","Stop","Setup"];d=["Other","a","b","c"]"#,
        );
        bytes.extend_from_slice(br#",["PreToolUse","Stop"]"#);
        std::fs::write(&path, bytes).unwrap();
        assert_eq!(events(&path).unwrap(), ["PreToolUse", "Setup", "Stop"].map(str::to_owned).into());
        std::fs::write(&path, b"nothing").unwrap();
        assert!(events(&path).unwrap().is_empty());
    }

    #[test]
    fn a_program_without_a_version_is_no_client() {
        assert!(version(Path::new("/bin/true")).is_err());
        assert!(version(Path::new("/nonexistent")).is_err());
    }
}
