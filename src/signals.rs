//! What happens when a signal asks this process to end.
//!
//! Ctrl-C reaches the process group of the terminal, and a reviewer leads its own group. So while a reviewer runs, the
//! first signal is only noted: the code that waits for the reviewer checks for it, ends the reviewer and reports that. A
//! second signal ends this process at once. A hook whose closed guard takes long denies when it gets SIGTERM, because a
//! client allows the event if a signal has ended the hook.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

/// Whether a signal has arrived. Set once signals are watched.
static END_REQUESTED: OnceLock<Arc<AtomicBool>> = OnceLock::new();
static SIGTERM_ACTION: OnceLock<SigtermAction> = OnceLock::new();

/// How SIGTERM ends a process without a reviewer. At most one flag is set.
#[derive(Default)]
struct SigtermAction {
    denies: Arc<AtomicBool>,
    ends: Arc<AtomicBool>,
}

/// Notes signals from now on. If that is impossible, signals still end this process.
pub fn watch_signals() {
    END_REQUESTED.get_or_init(|| {
        let requested = Arc::<AtomicBool>::default();
        #[cfg(unix)]
        {
            use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
            use signal_hook::flag;
            for signal in [SIGHUP, SIGINT, SIGTERM] {
                let _ = flag::register_conditional_shutdown(signal, 128 + signal, Arc::clone(&requested))
                    .and_then(|_| flag::register(signal, Arc::clone(&requested)));
            }
        }
        requested
    });
    set_sigterm_action(false, false);
}

/// From now on, SIGTERM ends this process with this exit code, which denies, until there is an answer or a reviewer.
pub fn deny_if_ended(code: u8) {
    SIGTERM_ACTION.get_or_init(|| {
        let action = SigtermAction::default();
        #[cfg(unix)]
        {
            use signal_hook::consts::SIGTERM;
            use signal_hook::flag::register_conditional_shutdown as register;
            let _ = register(SIGTERM, code.into(), Arc::clone(&action.denies))
                .and_then(|_| register(SIGTERM, 128 + SIGTERM, Arc::clone(&action.ends)));
        }
        action
    });
    set_sigterm_action(true, false);
    // Checked afterwards, because the other thread may have started a reviewer in the meantime.
    if END_REQUESTED.get().is_some() {
        set_sigterm_action(false, false);
    }
}

/// The answer is given: SIGTERM ends this process as usual.
pub fn restore_default_sigterm() {
    set_sigterm_action(false, true);
}

fn set_sigterm_action(denies: bool, ends: bool) {
    if let Some(action) = SIGTERM_ACTION.get() {
        action.denies.store(denies, Ordering::SeqCst);
        action.ends.store(ends, Ordering::SeqCst);
    }
}

/// Whether this process was asked to end.
pub fn is_end_requested() -> bool {
    END_REQUESTED.get().is_some_and(|requested| requested.load(Ordering::Relaxed))
}
