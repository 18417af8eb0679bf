//! A person's file that a command changes: shown before anything happens, asked about, kept, replaced.
//!
//! Nothing is written unless the person has seen it, or said beforehand that it is wanted. A new text
//! takes its place whole or not at all, and only if the file still holds what was shown.

use std::fs;
use std::io::{self, BufRead, IsTerminal, Write};
use std::path::{Path, PathBuf};

use super::screen::{BOLD, CYAN, GREEN, RED, painted, width, wrapped};
use super::{Exit, Trouble, diff};
use crate::files;
use crate::text::{one_line, printable};
use crate::workspace::Workspace;

/// No settings file that people write is as large.
const LARGEST: u64 = 8 << 20;
/// What the name of a kept file ends with.
const KEPT: &str = ".before-provost";

/// What becomes of one file.
pub(crate) struct Change {
    /// As the person knows it.
    pub(crate) named: PathBuf,
    /// Where it really lies.
    pub(crate) real: PathBuf,
    /// `None`: there is no file.
    pub(crate) before: Option<String>,
    /// `None`: the file goes.
    pub(crate) after: Option<String>,
}

/// The text of a file; `None`: there is none. The error is the reason alone.
pub(crate) fn read(real: &Path) -> Result<Option<String>, String> {
    let bytes = files::read(real, LARGEST).map_err(|error| error.to_string())?;
    bytes.map(|bytes| String::from_utf8(bytes).map_err(|_| "it is not UTF-8".to_owned())).transpose()
}

/// Whether a change that was shown is made.
#[derive(clap::Args)]
pub(crate) struct Asking {
    /// Only show what would change
    #[arg(long)]
    dry_run: bool,
    /// Do not ask
    #[arg(long, conflicts_with = "dry_run")]
    yes: bool,
}

impl Asking {
    /// Whether nothing may change, whatever is found.
    pub(crate) fn is_dry(&self) -> bool {
        self.dry_run
    }

    /// How the command ends here; `None`: the change is wanted. The person is asked where there is one.
    pub(crate) fn ends(&self, out: &mut impl Write) -> Result<Option<Exit>, Trouble> {
        if self.yes {
            return Ok(None);
        }
        if self.dry_run {
            say(out, "Nothing was changed.")?;
            return Ok(Some(Exit::Done));
        }
        if !io::stdin().is_terminal() || !io::stdout().is_terminal() {
            say(
                out,
                "Nothing was changed, because nobody can be asked here. To fix: run it in a terminal, or with `--yes`.",
            )?;
            return Ok(Some(Exit::Found));
        }
        write!(out, "Write this? [y/N] ")?;
        out.flush()?;
        let mut answer = String::new();
        io::stdin().lock().read_line(&mut answer)?;
        if matches!(answer.trim().to_lowercase().as_str(), "y" | "yes") {
            return Ok(None);
        }
        say(out, "Nothing was changed.")?;
        Ok(Some(Exit::Found))
    }
}

impl Change {
    /// The difference, as `diff -u` shows it.
    pub(crate) fn show(&self, out: &mut impl Write) -> io::Result<()> {
        let named = |text: &Option<String>| {
            if text.is_some() { shown(&self.named) } else { "/dev/null".to_owned() }
        };
        writeln!(out, "{}", painted(BOLD, &format!("--- {}", named(&self.before))))?;
        writeln!(out, "{}", painted(BOLD, &format!("+++ {}", named(&self.after))))?;
        let texts = (self.before.as_deref().unwrap_or_default(), self.after.as_deref().unwrap_or_default());
        for line in diff::unified(texts.0, texts.1) {
            let colour = match line.as_bytes().first() {
                Some(b'-') => Some(RED),
                Some(b'+') => Some(GREEN),
                Some(b'@') => Some(CYAN),
                _ => None,
            };
            let line = printable(&line);
            match colour {
                Some(colour) => writeln!(out, "{}", painted(colour, &line))?,
                None => writeln!(out, "{line}")?,
            }
        }
        writeln!(out)
    }

    /// Puts the new text in the place of the old. `keep`: whether the old one is kept beside it, and the answer
    /// is where. Of a file that is not there, an empty one is kept. `forget`: a kept file that is not needed
    /// any more. Both belong to the change: what is kept must fit the file for whoever comes next.
    pub(crate) fn carry_out(
        &self,
        workspace: &Workspace,
        keep: impl FnOnce() -> bool,
        forget: Option<&Path>,
    ) -> Result<Option<PathBuf>, Trouble> {
        let trouble =
            |why: String| Trouble::Io(format!("{} is not changed: {}", shown(&self.named), one_line(&why)));
        let _lock = workspace.lock(&self.real).map_err(|fault| trouble(fault.to_string()))?;
        // It looks at the directory, which is made only now.
        let is_kept = keep();
        let made = self.make_directory().map_err(|error| trouble(error.to_string()))?;
        let undo = |kept: Option<&PathBuf>| {
            kept.map(|kept| files::remove(kept));
            made.as_ref().map(|made| files::remove_directory(made));
        };
        // Somebody who was killed may have kept it already.
        let known =
            kept(&self.real).into_iter().next().filter(|(_, text)| Some(text) == self.before.as_ref());
        let new = if is_kept && known.is_none() { self.keep().map(Some) } else { Ok(None) };
        let new = new.map_err(|error| {
            undo(None);
            trouble(format!("it cannot be kept beside itself: {error}"))
        })?;
        match self.replace(workspace) {
            Ok(true) => {
                let forgotten = forget.map_or(Ok(()), |place| workspace.remove(place));
                let kept = new.or_else(|| known.filter(|_| is_kept).map(|(place, _)| place));
                forgotten.map(|()| kept).map_err(|fault| Trouble::Io(fault.to_string()))
            }
            Ok(false) => {
                undo(new.as_ref());
                Err(trouble("somebody else changed it in the meantime. To fix: run this again".into()))
            }
            Err(why) => {
                undo(new.as_ref());
                Err(trouble(why))
            }
        }
    }

    /// The directory of a new file, where it had to be made.
    fn make_directory(&self) -> io::Result<Option<PathBuf>> {
        let Some(directory) = self.real.parent().filter(|directory| !directory.is_dir()) else {
            return Ok(None);
        };
        files::make_directory(directory)?;
        Ok(Some(directory.to_owned()))
    }

    fn replace(&self, workspace: &Workspace) -> Result<bool, String> {
        let before = self.before.as_ref().map(String::as_bytes);
        let Some(after) = &self.after else {
            let now = files::read(&self.real, LARGEST).map_err(|error| error.to_string())?;
            let is_as_before = now.as_deref() == before;
            if is_as_before {
                workspace.remove(&self.real).map_err(|fault| fault.to_string())?;
            }
            return Ok(is_as_before);
        };
        let replaced = match before {
            None => workspace.create(&self.real, after.as_bytes(), self.shared().as_ref()),
            before => workspace.replace_unless_changed(&self.real, before, after.as_bytes()),
        };
        replaced.map_err(|fault| fault.to_string())
    }

    /// Whoever may look into the directory of a new file may read it. What hooks run is not for everybody to
    /// write.
    fn shared(&self) -> Option<fs::Permissions> {
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = fs::metadata(self.real.parent()?).ok()?.permissions().mode() & 0o664;
            Some(fs::Permissions::from_mode(mode))
        }
        #[cfg(not(unix))]
        None
    }

    /// A copy beside the file, under a name that nothing has; whole, or not there.
    // INVARIANT: the file's lock is held, so that nobody else takes the name.
    fn keep(&self) -> io::Result<PathBuf> {
        let backup = kept_name(&self.real, numbers(&self.real).last().unwrap_or(0) + 1);
        let mode = fs::metadata(&self.real).ok().map(|real| real.permissions());
        let text = self.before.as_deref().unwrap_or_default();
        let is_made = files::create(&backup, text.as_bytes(), mode.or_else(|| self.shared()).as_ref())?;
        is_made.then_some(backup).ok_or_else(|| io::ErrorKind::AlreadyExists.into())
    }
}

fn kept_name(real: &Path, number: usize) -> PathBuf {
    let name = real.file_name().unwrap_or_default().to_string_lossy();
    let suffix = if number == 1 { String::new() } else { format!("-{number}") };
    real.with_file_name(format!("{name}{KEPT}{suffix}"))
}

/// What is kept of a file, the newest first. What cannot be read is left out.
pub(crate) fn kept(real: &Path) -> Vec<(PathBuf, String)> {
    let places = numbers(real).rev().map(|number| kept_name(real, number));
    places.filter_map(|place| Some((place.clone(), read(&place).ok()??))).collect()
}

/// Finishes what an earlier run was killed in, for a file that stays: what lies beside it unfinished goes, and
/// so does a copy that is the file itself, byte by byte.
pub(crate) fn finish(real: &Path, text: &str, workspace: &Workspace) {
    workspace.tidy(real);
    let newest = || kept(real).into_iter().next().filter(|(_, kept)| kept == text);
    if newest().is_some()
        && let Ok(_lock) = workspace.lock(real)
        // Looked at again under the lock: whoever changes the file now needs his copy.
        && let Some((place, kept)) = newest()
        && read(real).is_ok_and(|now| now == Some(kept))
    {
        let _ = workspace.remove(&place);
    }
}

/// The numbers under which a file is kept, the oldest first. Names that became free are not taken again, so that
/// the highest number is the newest.
fn numbers(real: &Path) -> impl DoubleEndedIterator<Item = usize> {
    const MOST: usize = 100;
    (1..=MOST).filter(|number| kept_name(real, *number).exists())
}

/// Standard output. Whether somebody reads to the end has no say in whether a change is made.
pub(crate) struct Screen<W>(pub(crate) W);

impl<W: Write> Write for Screen<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.0.write(bytes) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(bytes.len()),
            written => written,
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self.0.flush() {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            flushed => flushed,
        }
    }
}

pub(crate) fn shown(path: &Path) -> String {
    one_line(&path.to_string_lossy())
}

/// A sentence on lines that are comfortable to read.
pub(crate) fn say(out: &mut impl Write, text: &str) -> io::Result<()> {
    writeln!(out, "{}", wrapped(&one_line(text), 0, width()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_goes_only_if_the_file_is_still_the_same() {
        let root = tempfile::tempdir().unwrap();
        let workspace = Workspace::below(root.path());
        let (real, copy) = (root.path().join("s.json"), kept_name(&root.path().join("s.json"), 1));
        fs::write(&copy, "{}").unwrap();
        // Somebody has changed the file since it was read, and the copy is his.
        fs::write(&real, "{\"hooks\": 1}").unwrap();
        finish(&real, "{}", &workspace);
        assert!(copy.exists());
        fs::write(&real, "{}").unwrap();
        finish(&real, "{}", &workspace);
        assert!(!copy.exists());
    }
}
