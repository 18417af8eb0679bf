//! One scene for each guard: a situation in which it, in health, does what it is for.

mod own;
mod phases;
mod plans;
mod ticks;

use crate::reliability::stage::Stage;

/// How the scene of a guard is set.
pub type Scene = (&'static str, fn() -> Stage);

pub fn all() -> Vec<Scene> {
    [own::SCENES, plans::SCENES, phases::SCENES, ticks::SCENES].concat()
}

/// The scene of a guard.
pub fn of(guard: &str) -> fn() -> Stage {
    let Some((_, set)) = all().into_iter().find(|(name, _)| *name == guard) else {
        panic!(
            "the guard `{guard}` has no scene, so the effect of a failure around it is not known. To fix: add one to \
             tests/behaviour/reliability/scenes/ (an event about which it acts, and how that shows), then write the page with \
             PROVOST_BLESS=1 cargo test --test behaviour reliability::"
        );
    };
    set
}
