//! The real client, for the tests that need it.

use std::path::{Path, PathBuf};

/// The client's program, or `None` where it is missing and that is allowed: never in CI.
pub fn find() -> Option<PathBuf> {
    let client = rehearsal::Stage::find_client(Path::new(env!("CARGO_MANIFEST_DIR")));
    if client.is_none() {
        assert!(std::env::var_os("CI").is_none(), "the client is missing: run scripts/fetch-client");
        eprintln!("not rehearsed: the client is missing; run scripts/fetch-client");
    }
    client
}
