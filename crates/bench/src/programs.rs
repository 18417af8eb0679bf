//! The programs that are measured: those of this workspace, and others to compare with.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// A released program of this workspace, however this one was built.
pub fn built(name: &str) -> io::Result<PathBuf> {
    let own = std::env::current_exe()?;
    let builds = own.parent().and_then(Path::parent).unwrap_or(Path::new("."));
    Ok(builds.join("release").join(name))
}

/// A program of the system, if there is one. It is not looked for in the `PATH`: what stands there first
/// may be a script that starts the program, and would be measured with it.
pub fn of_the_system(name: &str) -> Option<PathBuf> {
    let places = ["/usr/bin", "/bin", "/usr/local/bin", "/opt/homebrew/bin"];
    places.iter().map(|place| Path::new(place).join(name)).find(|path| path.exists())
}

/// Copies a program, so that each case has a file of its own and none is kept warm by another.
///
/// A copy is also what an installed program is: a file that a linker has just written lies in the
/// page cache in smaller pieces, and that alone slows its start by some per cent.
pub fn copied(program: &Path, directory: &Path) -> io::Result<PathBuf> {
    fs::create_dir(directory)?;
    let copy = directory.join(program.file_name().unwrap_or_default());
    fs::copy(program, &copy)
        .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", program.display())))?;
    Ok(copy)
}
