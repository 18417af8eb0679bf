//! The program that the entries name: one that is still there after the next build or update.
//!
//! In the user's own files that is a path, because the PATH of a client that was started elsewhere may be another
//! one. In a file that a team shares it is the bare name, because a path of one machine is wrong on all others.

use std::env;
use std::path::{Path, PathBuf};

use super::found::version;
use crate::cli::change::shown;
use crate::cli::settings_file::Whose;
use crate::clients::ProgramName;
use crate::files;
use crate::reviewer::is_program;
use crate::text::one_line;
use crate::workspace::{is_provost, is_within, resolve};

const INSTALL: &str =
    "run `cargo install --locked --path .` in Provost's repository, and then `provost init` again";

/// What an entry calls, and what the user should know about it.
pub(super) struct Program {
    /// `None`: the bare name.
    path: Option<String>,
    pub(super) notes: Vec<String>,
}

/// Why a program may soon be gone.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Instability {
    /// It lies in a directory for builds or temporary files.
    Temporary,
    /// It lies in the directory of one version, which an update removes.
    Versioned,
}

impl Program {
    pub(super) fn name(&self) -> ProgramName<'_> {
        self.path.as_deref().map_or(ProgramName::Shared, ProgramName::Path)
    }

    /// The program for entries of a scope, or why none can be named.
    pub(super) fn find(whose: Whose, home: Option<&Path>, root: &Path) -> Result<Self, (String, String)> {
        let this = this_program()?;
        let installed = find_installed(home, root);
        let mut notes = Vec::new();
        if whose == Whose::Project {
            match installed.first() {
                None => notes.push(format!(
                    "there is no `provost` on your PATH, so these entries do nothing yet. To fix: {INSTALL}"
                )),
                Some(first) if !files::same(first, &this) => notes.push(format!(
                    "the entries call the first `provost` on the PATH, which is {} here, and not this program",
                    shown(first)
                )),
                Some(_) => {}
            }
            return Ok(Self { path: None, notes });
        }
        let is_stable = |path: &&PathBuf| find_instability(path, home).is_none();
        let is_this = |path: &&PathBuf| files::same(path, &this);
        let this_or_link = installed.iter().filter(is_this).chain([&this]).find(is_stable);
        // Another one is run only to hear whether it is Provost.
        let is_other = |path: &&PathBuf| version(path).is_some_and(|said| said.starts_with("provost "));
        let other = || installed.iter().filter(is_stable).find(is_other);
        let named = match (this_or_link, find_instability(&this, home)) {
            (Some(stable), _) => stable,
            (None, why) => match (other().filter(|_| why == Some(Instability::Temporary)), why) {
                (Some(other), _) => {
                    notes.push(format!(
                        "the entries call the installed program, {}, and not this build",
                        shown(other)
                    ));
                    other
                }
                (None, Some(Instability::Versioned)) => {
                    notes.push(format!(
                        "the entries call {}, in a directory that the next version removes. To fix: put a link to it \
                         into a directory of your PATH, such as ~/.local/bin, and run `provost init` again",
                        shown(&this)
                    ));
                    &this
                }
                (None, _) => {
                    notes.push(format!(
                        "the entries call {}, in a directory for builds or temporary files. Once it is gone, tool \
                         calls continue unchecked. To fix: {INSTALL}",
                        shown(&this)
                    ));
                    &this
                }
            },
        };
        Ok(Self { path: named.to_str().map(str::to_owned), notes })
    }
}

/// This very program, without links.
fn this_program() -> Result<PathBuf, (String, String)> {
    let unknown = |why: String| (why, "install the program again, and run this again".to_owned());
    let path = env::current_exe().and_then(|path| path.canonicalize());
    let path = path.map_err(|error| unknown(format!("this program does not find itself ({error})")))?;
    let Some(name) = path.to_str() else {
        return Err(unknown(format!(
            "the path of this program is not UTF-8: {}",
            one_line(&path.to_string_lossy())
        )));
    };
    if !is_provost(name) {
        return Err((
            format!(
                "this program is called {}, and entries of Provost are known by its name",
                one_line(name)
            ),
            "name it `provost`, and run this again".into(),
        ));
    }
    Ok(path)
}

/// Every `provost` on the PATH, and where cargo and people put programs. What lies in the project is not counted:
/// agents write there.
fn find_installed(home: Option<&Path>, root: &Path) -> Vec<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let name = format!("provost{}", env::consts::EXE_SUFFIX);
    let usual = [".cargo/bin", ".local/bin"].into_iter().filter_map(|below| Some(home?.join(below)));
    let folders = env::split_paths(&path).filter(|folder| folder.is_absolute()).chain(usual);
    let mut found: Vec<PathBuf> = folders.map(|folder| folder.join(&name)).collect();
    let is_of_project = |path: &Path| home != Some(root) && is_within(&resolve(path), &resolve(root));
    found.retain(|path| is_program(path) && path.to_str().is_some() && !is_of_project(path));
    found
}

/// Why a program may not stay where it is; `None`: it stays. Of a link, a version that it leads to does not count:
/// whoever updates the program leads the link to the next one.
fn find_instability(program: &Path, home: Option<&Path>) -> Option<Instability> {
    let real = resolve(program);
    if is_temporary(program, home) || is_temporary(&real, home) {
        return Some(Instability::Temporary);
    }
    let mut folders = program.iter().rev().skip(1).map(|part| part.to_string_lossy());
    folders.any(|folder| is_version_name(&folder)).then_some(Instability::Versioned)
}

fn is_temporary(program: &Path, home: Option<&Path>) -> bool {
    const CACHES: &[&str] = &[".cache", "Caches", "_npx"];
    let is_build = program.ancestors().any(|folder| folder.join("CACHEDIR.TAG").is_file());
    let is_cache = program.iter().any(|part| CACHES.iter().any(|cache| part == *cache));
    let temporary =
        [env::temp_dir(), "/tmp".into(), "/var/tmp".into(), "/dev/shm".into(), "/private/tmp".into()];
    // A home may itself lie there, in a container for example.
    let is_home = |folder: &Path| {
        home.is_some_and(|home| resolve(home).starts_with(folder) && program.starts_with(resolve(home)))
    };
    let is_below = |folder: &PathBuf| program.starts_with(folder) && !is_home(folder);
    is_build || is_cache || temporary.iter().any(is_below)
}

/// Whether the name of a directory is that of one version: `v20`, `1.2.3`, `provost-0.1.0-x86_64`, or one of the
/// stores that have a directory for each.
fn is_version_name(folder: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_digit());
    if folder == "Cellar" || folder.strip_prefix('v').is_some_and(is_number) {
        return true;
    }
    folder.split(['-', '_', '@']).any(|part| {
        let part = part.strip_prefix('v').unwrap_or(part);
        let mut numbers = part.split('.');
        let major = numbers.next().is_some_and(is_number);
        major && numbers.next().is_some_and(|minor| minor.starts_with(|c: char| c.is_ascii_digit()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_of_one_version_are_known_by_their_names() {
        for folder in [
            "v20",
            "v20.11.1",
            "0.1.0",
            "1.2",
            "provost-0.1.0-x86_64",
            "provost-v0.2.0",
            "Cellar",
            "p@1.2.3-rc1",
        ] {
            assert!(is_version_name(folder), "{folder}");
        }
        for folder in ["bin", "x86_64", "node@20", "python3.11", "2024", "v", "opt", "a.b", ".local", "ada.l"]
        {
            assert!(!is_version_name(folder), "{folder}");
        }
    }
}
