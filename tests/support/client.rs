//! The real client, for the tests that need it.

use std::path::{Path, PathBuf};

/// The client's program. `None`: it is missing, which is an error in CI.
pub fn find_client() -> Option<PathBuf> {
    let client = rehearsal::ScenarioPlayer::find_client(Path::new(env!("CARGO_MANIFEST_DIR")));
    if client.is_none() {
        assert!(std::env::var_os("CI").is_none(), "the client is missing: run scripts/fetch-client");
        eprintln!("skipped: the client is missing; run scripts/fetch-client");
    }
    client
}
