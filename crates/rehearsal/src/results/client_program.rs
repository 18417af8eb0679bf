//! Reads the client's version, and the events that it has hooks for.
//!
//! No command of the client lists its events, so they are read from its program file, which has the list as text.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use crate::error::{Error, Result};

/// The start of the list.
const LIST_START: &str = r#"["PreToolUse","#;
/// The maximum length of the list.
const MAX_LENGTH: usize = 4096;

/// Runs the client with `--version`, and returns the first word of its output.
pub(super) fn read_version(client: &Path) -> Result<String> {
    let output = Command::new(client).arg("--version").stdin(Stdio::null()).output();
    let output = output.map_err(Error::machine(format!("ask `{}` for its version", client.display())))?;
    let stdout = String::from_utf8_lossy(&output.stdout);
    let version = stdout.split_whitespace().next().unwrap_or_default();
    // The version becomes a table heading and a file name.
    let is_plain = version.chars().all(|c| c.is_ascii_alphanumeric() || ".-+".contains(c));
    if !is_plain || !version.starts_with(|c: char| c.is_ascii_digit()) {
        return Err(Error::stage(format!("`{}` does not print its version", client.display())));
    }
    Ok(version.to_owned())
}

/// Finds the longest list of events in a program file.
pub(super) fn read_events(program: &Path) -> Result<BTreeSet<String>> {
    let action = || format!("read the client `{}`", program.display());
    let mut file = BufReader::with_capacity(1 << 20, File::open(program).map_err(Error::machine(action()))?);
    let (mut longest, mut piece) = (BTreeSet::new(), Vec::new());
    while file.read_until(b']', &mut piece).map_err(Error::machine(action()))? > 0 {
        if piece.ends_with(b"\"]") {
            let tail = String::from_utf8_lossy(&piece[piece.len().saturating_sub(MAX_LENGTH)..]);
            let list = tail.rfind(LIST_START).and_then(|at| serde_json::from_str(&tail[at..]).ok());
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
        assert_eq!(read_events(&path).unwrap(), ["PreToolUse", "Setup", "Stop"].map(str::to_owned).into());
        std::fs::write(&path, b"nothing").unwrap();
        assert!(read_events(&path).unwrap().is_empty());
    }

    #[test]
    fn a_program_without_a_version_is_no_client() {
        assert!(read_version(Path::new("/bin/true")).is_err());
        assert!(read_version(Path::new("/nonexistent")).is_err());
    }
}
