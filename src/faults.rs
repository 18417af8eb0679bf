//! Faults made on purpose, to rehearse what a guard's failure does to a real client.
//!
//! The switches exist in builds with debug assertions only: in a release build they are not there
//! at all, so that nobody can make a guard fail, or move the managed configuration, from outside.

use std::ffi::OsString;
use std::fs::File;
use std::io::Write;
use std::path::Path;

use crate::decision::Fault;

/// Makes the named guard fail if `PROVOST_FAULT` says `GUARD=panic|error|hang|kill`.
pub fn inject(guard: &str) -> Result<(), Fault> {
    let Some(wish) = switch("PROVOST_FAULT") else { return Ok(()) };
    let wish = wish.to_string_lossy().into_owned();
    match wish.split_once('=') {
        Some((name, how)) if name == guard => match how {
            "panic" => panic!("panic on request"),
            "error" => Err(Fault::Error("error on request".into())),
            "kill" => {
                let _ =
                    std::process::Command::new("kill").args(["-9", &std::process::id().to_string()]).status();
                Ok(())
            }
            "hang" => loop {
                std::thread::sleep(std::time::Duration::from_hours(1));
            },
            _ => Ok(()),
        },
        _ => Ok(()),
    }
}

/// Notes that a file is about to be read, in the file that `PROVOST_READS` names. If it is the file that
/// `PROVOST_VANISH` names, somebody deletes it now.
pub fn before_reading(path: &Path) {
    if switch("PROVOST_VANISH").is_some_and(|vanishing| path == vanishing) {
        let _ = std::fs::remove_file(path);
    }
    let Some(list) = switch("PROVOST_READS") else { return };
    if let Ok(mut list) = File::options().append(true).create(true).open(list) {
        let _ = writeln!(list, "{}", path.display());
    }
}

/// The value of a test-only variable; always `None` in a release build.
pub fn switch(name: &str) -> Option<OsString> {
    if cfg!(debug_assertions) { std::env::var_os(name) } else { None }
}
