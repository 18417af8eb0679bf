//! The settings that decide which branch of a remote repository `git push` alone changes.
//!
//! They are read from the repository's own file and, where it is silent, from that in the home directory.

use std::path::Path;

use super::git_repository::{Repository, SHORT};
use provost_files as files;

/// What `git push` without a branch changes in the remote repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlainPush {
    /// It fails.
    Nothing,
    Branches(Vec<String>),
    /// All branches that exist on both sides, or more.
    All,
}

/// The text of a file with settings.
struct Settings(String);

impl Settings {
    fn read(file: &Path) -> Self {
        let bytes = files::read_file(file, SHORT).ok().flatten().unwrap_or_default();
        Self(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// The values of `key` in the section with this header: `branch "main"`.
    fn values<'a>(&'a self, section: &'a str, key: &'a str) -> impl DoubleEndedIterator<Item = &'a str> {
        let mut is_here = false;
        let lines = self.0.lines().map(str::trim).filter_map(move |line| {
            if let Some(header) = line.strip_prefix('[') {
                is_here = header.split_once(']').is_some_and(|(name, _)| name == section);
                return None;
            }
            let (name, value) = line.split_once('=').filter(|_| is_here)?;
            name.trim().eq_ignore_ascii_case(key).then(|| value.trim().trim_matches('"'))
        });
        lines.collect::<Vec<_>>().into_iter()
    }

    fn last<'a>(&'a self, section: &'a str, key: &'a str) -> Option<&'a str> {
        self.values(section, key).next_back()
    }
}

impl Repository {
    /// The address that pushes to a remote go to.
    pub(super) fn find_push_address(&self, remote: &str) -> Option<String> {
        let own = Settings::read(&self.common.join("config"));
        let section = format!("remote \"{remote}\"");
        own.last(&section, "pushurl").or_else(|| own.last(&section, "url")).map(str::to_owned)
    }

    /// What `git push` without a branch changes while `branch` is checked out. `remote`: the one that the words name.
    pub fn find_plain_push(&self, branch: &str, remote: Option<&str>, home: Option<&Path>) -> PlainPush {
        let own = Settings::read(&self.common.join("config"));
        let section = format!("branch \"{branch}\"");
        let remote = remote
            .or_else(|| own.last(&section, "pushRemote"))
            .or_else(|| own.last("remote", "pushDefault"))
            .or_else(|| own.last(&section, "remote"))
            .unwrap_or("origin");
        let section_of_remote = format!("remote \"{remote}\"");
        if own.last(&section_of_remote, "mirror") == Some("true") {
            return PlainPush::All;
        }
        let mut refspecs = own.values(&section_of_remote, "push").peekable();
        if refspecs.peek().is_some() {
            let targets: Option<_> = refspecs.map(|refspec| find_target(refspec, branch)).collect();
            return targets.map_or(PlainPush::All, PlainPush::Branches);
        }
        let default = own.last("push", "default").map(str::to_owned).or_else(|| {
            let users = Settings::read(&home?.join(".gitconfig"));
            users.last("push", "default").map(str::to_owned)
        });
        match default.as_deref() {
            Some("nothing") => PlainPush::Nothing,
            Some("matching") => PlainPush::All,
            Some("current") => PlainPush::Branches(vec![branch.to_owned()]),
            _ => {
                let upstream = own.last(&section, "merge").map(strip_reference);
                PlainPush::Branches(vec![upstream.unwrap_or(branch).to_owned()])
            }
        }
    }
}

/// The branch that a refspec changes; `None` if there are several.
fn find_target(refspec: &str, branch: &str) -> Option<String> {
    let refspec = refspec.trim_start_matches('+');
    let target = refspec.split_once(':').map_or(refspec, |(_, target)| target);
    match strip_reference(target) {
        "HEAD" | "@" => Some(branch.to_owned()),
        "" => None,
        target if target.contains('*') => None,
        target => Some(target.to_owned()),
    }
}

fn strip_reference(name: &str) -> &str {
    name.strip_prefix("refs/heads/").unwrap_or(name)
}
