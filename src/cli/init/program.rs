//! The program that the entries name, so that the client finds it.

use std::env;
use std::path::Path;

use crate::cli::settings_file::Whose;
use crate::files;
use crate::text::one_line;
use crate::workspace::is_provost;

/// What an entry calls, and what the person should know about it.
pub(super) struct Program {
    pub(super) name: String,
    pub(super) notes: Vec<String>,
}

impl Program {
    /// This very program, or why it cannot be named.
    ///
    /// By its path it is found whatever the client's PATH is. A file that colleagues share is another matter:
    /// their path is another one, so there the bare name is better, where it leads to this program.
    pub(super) fn find(whose: Whose) -> Result<Self, (String, String)> {
        let unknown = |why: String| (why, "install the program anew, and run this again".to_owned());
        let path = env::current_exe().and_then(|path| path.canonicalize());
        let path = path.map_err(|error| unknown(format!("this program does not find itself ({error})")))?;
        let Some(name) = path.to_str().map(str::to_owned) else {
            return Err(unknown(format!(
                "the path of this program is not UTF-8: {}",
                one_line(&path.to_string_lossy())
            )));
        };
        if !is_provost(&name) {
            return Err((
                format!(
                    "this program is called {}, and entries of Provost are known by its name",
                    one_line(&name)
                ),
                "name it `provost`, and run this again".into(),
            ));
        }
        let mut notes = Vec::new();
        let shared = whose == Whose::Project;
        if shared && is_first_on_path(&path) {
            return Ok(Self { name: "provost".into(), notes });
        }
        if is_passing(&path) {
            notes.push(
                "the program lies in a directory for builds or temporary files, and without it the entries do \
                 nothing. Better: `cargo install --path .` in its repository, and then `provost init` again"
                    .into(),
            );
        }
        if shared {
            notes.push(
                "the entries name the program by its path, which is another one for your colleagues, because the \
                 name `provost` does not lead to it by the PATH. With it on the PATH, init writes the bare name; \
                 `--scope local` keeps the entries to yourself"
                    .into(),
            );
        }
        Ok(Self { name, notes })
    }
}

fn is_first_on_path(program: &Path) -> bool {
    let path = env::var_os("PATH").unwrap_or_default();
    let name = format!("provost{}", env::consts::EXE_SUFFIX);
    let mut found =
        env::split_paths(&path).filter(|folder| folder.is_absolute()).map(|folder| folder.join(&name));
    found.find(|file| file.is_file()).is_some_and(|first| files::same(&first, program))
}

/// Whether a program lies where it will not stay.
fn is_passing(program: &Path) -> bool {
    let is_build = program.ancestors().any(|folder| folder.join("CACHEDIR.TAG").is_file());
    let temporary = [env::temp_dir(), "/tmp".into(), "/var/tmp".into()];
    is_build || temporary.iter().any(|folder| program.starts_with(folder))
}
