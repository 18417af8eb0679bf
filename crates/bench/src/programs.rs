//! Finds the measured programs: those of this workspace, and others to compare with.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The release build of a program of this workspace. `PROVOST_UNDER_TEST` names another `provost`.
pub fn find_built(name: &str) -> io::Result<PathBuf> {
    if let Some(program) = std::env::var_os("PROVOST_UNDER_TEST").filter(|_| name == "provost") {
        return Ok(program.into());
    }
    let own = std::env::current_exe()?;
    let builds = own.parent().and_then(Path::parent).unwrap_or(Path::new("."));
    Ok(builds.join("release").join(name))
}

/// Finds a program of the system. `PATH` is not used, because its first match may be a wrapper script.
pub fn find_on_system(name: &str) -> Option<PathBuf> {
    let places = ["/usr/bin", "/bin", "/usr/local/bin", "/opt/homebrew/bin"];
    places.iter().map(|place| Path::new(place).join(name)).find(|path| path.exists())
}

/// Copies a program, so that each case has a file of its own and none warms another's cache.
///
/// An installed program is a copy too. A file that a linker has just written is in the page cache in smaller pieces, which
/// slows its start by some per cent.
pub fn copy_program(program: &Path, directory: &Path) -> io::Result<PathBuf> {
    fs::create_dir(directory)?;
    let copy = directory.join(program.file_name().unwrap_or_default());
    fs::copy(program, &copy)
        .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", program.display())))?;
    Ok(copy)
}
