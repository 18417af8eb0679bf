//! The environment of a reviewer: the user's, without the variables of the project's settings files.
//!
//! The client adds the variables of its settings files to its own environment, and hooks inherit them. Agents and cloned
//! projects can write these files. So each variable that could choose the model, its address or the program gets the
//! value with which the client was started, or is removed if that is unknown. A variable stays in the client after its
//! line is deleted, so if the client's first environment is known, all variables of this kind are compared with it.

use std::ffi::OsString;
use std::path::Path;

use crate::client::ClientFacts;
use crate::places::Places;

/// The variables of the project's settings files that a reviewer must not use, each with the user's own value.
pub(super) fn list_corrections(
    client: &ClientFacts,
    places: &Places,
    project: &Path,
) -> Vec<(String, Option<OsString>)> {
    let names = (client.reviewer().list_project_variables)(project);
    let original = read_client_environment(client);
    let value = |name: &str| original.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone());
    let with_value = |name: String| {
        let value = value(&name);
        (name, value)
    };
    let mut corrections: Vec<_> = names.into_iter().map(with_value).collect();
    if !original.is_empty() {
        let own = (client.reviewer().list_user_variables)(places);
        let inherited = std::env::vars_os().filter_map(|(name, now)| Some((name.into_string().ok()?, now)));
        for (name, now) in inherited.filter(|(name, _)| (client.reviewer().is_model_variable)(name)) {
            let then = value(&name);
            let is_known = own.contains(&name) || corrections.iter().any(|(known, _)| *known == name);
            if then.as_ref() != Some(&now) && !is_known {
                corrections.push((name, then));
            }
        }
    }
    corrections
}

/// The environment with which the client was started, before it read any settings file, if the system shows it.
#[cfg(target_os = "linux")]
fn read_client_environment(client: &ClientFacts) -> Vec<(OsString, OsString)> {
    use std::os::unix::ffi::OsStringExt;
    let client = std::env::var(client.reviewer().process_variable).ok().and_then(|pid| pid.parse().ok());
    // Only an ancestor of this process can be the client: an agent could name a process of its own.
    let Some(pid) = client.filter(|pid| is_ancestor(*pid)) else { return Vec::new() };
    let bytes = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    let pairs = bytes.split(|byte| *byte == 0).filter_map(|pair| {
        let at = pair.iter().position(|byte| *byte == b'=')?;
        Some((OsString::from_vec(pair[..at].to_vec()), OsString::from_vec(pair[at + 1..].to_vec())))
    });
    pairs.collect()
}

#[cfg(not(target_os = "linux"))]
fn read_client_environment(_: &ClientFacts) -> Vec<(OsString, OsString)> {
    Vec::new()
}

/// Whether a process started this one, directly or through a few others.
#[cfg(target_os = "linux")]
fn is_ancestor(pid: u32) -> bool {
    const MOST: usize = 8;
    let parent = |pid: u32| -> Option<u32> {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
    };
    let ancestors = std::iter::successors(parent(std::process::id()), |pid| parent(*pid));
    ancestors.take(MOST).any(|ancestor| ancestor == pid)
}
