//! The client that a command is about.
//!
//! `--client` names it. Without the option it is the client whose agent runs the command, or else the default.

use std::sync::OnceLock;

use super::CommandError;
use crate::clients::{self, Client};

static CHOSEN: OnceLock<&'static Client> = OnceLock::new();

/// Sets the client for the rest of this process.
pub(super) fn choose(name: Option<&str>) {
    if let Some(client) = name.and_then(clients::find_client) {
        CHOSEN.get_or_init(|| client);
    }
}

/// The client that this command is about.
pub(crate) fn current_client() -> &'static Client {
    CHOSEN.get().copied().unwrap_or_else(clients::detect_client)
}

/// Ends a command that cannot work without a part of the client.
pub(super) fn require<T>(part: Option<&T>, command: &str) -> Result<(), CommandError> {
    if part.is_some() {
        return Ok(());
    }
    let names: Vec<&str> = clients::CLIENTS.iter().map(|client| client.name).collect();
    Err(CommandError::Io(format!(
        "`provost {command}` does not support the client `{}`. To fix: choose another one with `--client` ({}).",
        current_client().name,
        names.join(", ")
    )))
}
