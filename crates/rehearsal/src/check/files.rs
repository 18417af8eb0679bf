//! Checks files after the run.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::Verdict;
use crate::mismatch::Mismatch;
use crate::playback::Playback;
use crate::scenario::{FileExpectation, resolve_path};

pub(super) fn check(expected: &FileExpectation, playback: &Playback, verdict: &mut Verdict) {
    let name = playback.variables.fill(&expected.path);
    let subject = format!("file {name}");
    let found = match find_files(&name, playback) {
        Ok(found) => found,
        Err(mismatch) => return verdict.check(Some(mismatch)),
    };
    if let Some(exists) = expected.exists {
        let fault = if exists { "does not exist" } else { "exists" };
        verdict.check((exists == found.is_empty()).then(|| Mismatch::new(&subject, fault)));
    }
    if !expected.checks_content() {
        return;
    }
    let text = match found.as_slice() {
        [] => return verdict.check(Some(Mismatch::new(subject, "does not exist"))),
        [path] => std::fs::read(path),
        several => {
            let names = several.iter().map(|path| path.display().to_string()).collect::<Vec<_>>();
            return verdict
                .check(Some(Mismatch::new(subject, "matches several files").with("", names.join("\n"))));
        }
    };
    let text = match text {
        Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        Err(error) => return verdict.check(Some(Mismatch::new(subject, format!("cannot be read: {error}")))),
    };
    check_text(expected, &subject, &text, playback, verdict);
}

fn check_text(
    expected: &FileExpectation,
    subject: &str,
    text: &str,
    playback: &Playback,
    verdict: &mut Verdict,
) {
    let variables = &playback.variables;
    if let Some(equals) = &expected.equals {
        let equals = variables.fill(equals);
        verdict.check((equals != text).then(|| Mismatch::lines(subject, &equals, text)));
    }
    let texts = (&expected.contains[..], &expected.lacks[..], &expected.matches[..]);
    verdict.check_text(subject, text, texts, variables);
    if let Some(lines) = expected.lines {
        verdict.check_equal(subject, "has another number of lines", &lines, &text.lines().count());
    }
    if let Some(json) = &expected.json {
        verdict.check(match serde_json::from_str::<Value>(text) {
            Ok(actual) => Mismatch::partial(subject, &variables.fill_json(json), &actual),
            Err(error) => {
                Some(Mismatch::missing(subject, &format!("is not JSON ({error})"), &json.to_string(), text))
            }
        });
    }
}

/// Finds the files of a path. The last part may have one `*`, because the client invents some names.
fn find_files(name: &str, playback: &Playback) -> Result<Vec<PathBuf>, Mismatch> {
    let path = resolve_path(name, &playback.project, &playback.home).map_err(|error| {
        Mismatch::new(format!("file {name}"), "cannot be checked").with("", error.to_string())
    })?;
    let last = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let Some((start, end)) = last.split_once('*') else {
        return Ok(path.exists().then_some(path).into_iter().collect());
    };
    let directory = path.parent().unwrap_or(Path::new("/"));
    let mut found: Vec<PathBuf> = std::fs::read_dir(directory)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.len() >= start.len() + end.len() && name.starts_with(start) && name.ends_with(end)
        })
        .collect();
    found.sort();
    Ok(found)
}
