//! `provost report --html FILE`: writes the page as a whole or not at all.

use std::io::Write;
use std::path::Path;

use crate::cli::{CommandError, CommandResult, Exit, open_current_workspace};
use crate::files;
use crate::report::model::Report;
use crate::report::page;
use crate::report::summary::format_count;
use crate::text::make_one_line;

/// Writes the page to a file, or to standard output if that is `-`.
pub(super) fn write_page(file: &Path, report: &Report) -> CommandResult {
    let page = page::render(report);
    let mut out = std::io::stdout().lock();
    if file == Path::new("-") {
        out.write_all(page.as_bytes())?;
        return Ok(Exit::Done);
    }
    let shown = make_one_line(&file.to_string_lossy());
    // Replacing a link or a device would remove it.
    if file.symlink_metadata().is_ok_and(|found| !found.is_file()) {
        return Err(CommandError::Io(format!(
            "`{shown}` is a directory, a link or a device. To fix: name a file, or write to standard output with `--html -`"
        )));
    }
    // The lock removes what a killed run has left beside the file. Without a state directory, there is none.
    let _lock = open_current_workspace().map(|(_, workspace)| workspace.lock(file));
    files::replace_shared(file, page.as_bytes())
        .map_err(|error| CommandError::Io(format!("`{shown}` cannot be written: {error}")))?;
    let size = format_count(page.len() as u64 / 1_000);
    writeln!(out, "wrote {shown} ({size} KB); open it in a browser")?;
    Ok(Exit::Done)
}
