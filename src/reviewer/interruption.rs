//! What happens when somebody wants this process to end.
//!
//! Ctrl-C reaches the group of the terminal, and a reviewer leads a group of its own. So while one works, a
//! signal is noted instead, and whoever waits for the reviewer looks: the reviewer ends, and whoever has
//! asked is told. A second signal ends this process at once. And a hook whose closed guard takes long denies
//! when it is told to end: a process that a signal has ended means "go on" to the client.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

static WANTED: OnceLock<Arc<AtomicBool>> = OnceLock::new();
static UNJUDGED: OnceLock<Unjudged> = OnceLock::new();

/// How a signal ends a process without a reviewer: as a denial, or in any other way.
#[derive(Default)]
struct Unjudged {
    denies: Arc<AtomicBool>,
    ends: Arc<AtomicBool>,
}

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
    settle(false, false);
}

/// From now on, a process that is told to end ends with this exit code, which denies; until there is an
/// answer, or a reviewer that has to end first.
pub fn deny_if_ended(code: u8) {
    UNJUDGED.get_or_init(|| {
        let unjudged = Unjudged::default();
        #[cfg(unix)]
        {
            use signal_hook::consts::SIGTERM;
            use signal_hook::flag::register_conditional_shutdown as register;
            let _ = register(SIGTERM, code.into(), Arc::clone(&unjudged.denies))
                .and_then(|_| register(SIGTERM, 128 + SIGTERM, Arc::clone(&unjudged.ends)));
        }
        unjudged
    });
    settle(true, false);
    // Looked at afterwards: a reviewer may have begun in the meantime, in the other thread.
    if WANTED.get().is_some() {
        settle(false, false);
    }
}

/// There is an answer: whoever ends this process now ends it as ever.
pub fn end_as_ever() {
    settle(false, true);
}

fn settle(denies: bool, ends: bool) {
    if let Some(unjudged) = UNJUDGED.get() {
        unjudged.denies.store(denies, Ordering::SeqCst);
        unjudged.ends.store(ends, Ordering::SeqCst);
    }
}

/// Whether somebody wants this process to end.
pub(super) fn is_wanted() -> bool {
    WANTED.get().is_some_and(|wanted| wanted.load(Ordering::Relaxed))
}
