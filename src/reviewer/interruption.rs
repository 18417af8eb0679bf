//! Ctrl-C reaches the group of the terminal, and a reviewer leads a group of its own.
//!
//! So a signal that would end this process is noted instead, and whoever waits for a reviewer looks:
//! the reviewer ends, and whoever has asked is told. A second signal ends this process at once.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

static WANTED: OnceLock<Arc<AtomicBool>> = OnceLock::new();

/// Notes signals from now on. Where that cannot be had, they end this process as ever.
pub fn heed() {
    WANTED.get_or_init(|| {
        let wanted = Arc::<AtomicBool>::default();
        #[cfg(unix)]
        {
            use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
            use signal_hook::flag;
            for signal in [SIGHUP, SIGINT, SIGTERM] {
                let _ = flag::register_conditional_shutdown(signal, 128 + signal, Arc::clone(&wanted))
                    .and_then(|_| flag::register(signal, Arc::clone(&wanted)));
            }
        }
        wanted
    });
}

/// Whether somebody wants this process to end.
pub(super) fn is_wanted() -> bool {
    WANTED.get().is_some_and(|wanted| wanted.load(Ordering::Relaxed))
}
