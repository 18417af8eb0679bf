//! The environment of a reviewer: the user's, without what the project's settings files put into it.
//!
//! The client adds the variables of its settings files to its own environment, and hooks inherit them. Agents
//! and cloned projects can write such files. So each variable there that could choose the model, its address
//! or the program gets the value back that the client was started with, or is removed where that is unknown.
//! A variable stays in the client when its line is taken out of the file again: where the client's first
//! environment is known, every such variable is compared with it.

use std::ffi::OsString;
use std::path::Path;

use crate::clients::Client;

/// The variables of the project's settings files that a reviewer must not obey, each with the user's own
/// value.
pub(super) fn corrections(client: &Client, project: &Path) -> Vec<(String, Option<OsString>)> {
    let names = (client.reviewer.project_variables)(project);
    let users = users_environment(client);
    let value = |name: &str| users.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone());
    let mut corrections: Vec<_> = names.into_iter().map(|name| (value(&name), name)).collect();
    if !users.is_empty() {
        let own = (client.reviewer.users_variables)();
        let inherited = std::env::vars_os().filter_map(|(name, now)| Some((name.into_string().ok()?, now)));
        for (name, now) in inherited.filter(|(name, _)| (client.reviewer.steers)(name)) {
            let then = value(&name);
            let is_known = own.contains(&name) || corrections.iter().any(|(_, known)| *known == name);
            if then.as_ref() != Some(&now) && !is_known {
                corrections.push((then, name));
            }
        }
    }
    corrections.into_iter().map(|(value, name)| (name, value)).collect()
}

/// What the client was started with, where the system tells: before it read any settings file.
#[cfg(target_os = "linux")]
fn users_environment(client: &Client) -> Vec<(OsString, OsString)> {
    use std::os::unix::ffi::OsStringExt;
    let client = std::env::var(client.reviewer.process_variable).ok().and_then(|pid| pid.parse().ok());
    // Only a process above this one can be the client: an agent could name one of its own.
    let Some(pid) = client.filter(|pid| is_above(*pid)) else { return Vec::new() };
    let bytes = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    let pairs = bytes.split(|byte| *byte == 0).filter_map(|pair| {
        let at = pair.iter().position(|byte| *byte == b'=')?;
        Some((OsString::from_vec(pair[..at].to_vec()), OsString::from_vec(pair[at + 1..].to_vec())))
    });
    pairs.collect()
}

#[cfg(not(target_os = "linux"))]
fn users_environment(_: &Client) -> Vec<(OsString, OsString)> {
    Vec::new()
}

/// Whether a process has started this one, directly or through a few others.
#[cfg(target_os = "linux")]
fn is_above(pid: u32) -> bool {
    const MOST: usize = 8;
    let parent = |pid: u32| -> Option<u32> {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
    };
    let mut parents = std::iter::successors(parent(std::process::id()), |pid| parent(*pid));
    parents.by_ref().take(MOST).any(|above| above == pid)
}
