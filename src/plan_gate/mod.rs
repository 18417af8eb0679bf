//! An agent leaves plan mode only with a plan whose serious weaknesses are known and written down.
//!
//! A plan is a Markdown file with marks at its end ([`document`]); who keeps them is a [`store`]. The
//! [`keeper`] brings them up to date after every write. A critic reads the plan without its gaps, a
//! validator compares its findings with the gaps ([`entries`]); the [`brief`] says what both are
//! given, the [`witness`] sees what they answer and seals a pass ([`seal`]) on exactly these texts.
//! The [`gate`] lets only a sealed text through. The [`assessment`] is the same flow without an agent in
//! between, by command or at the way out ([`at_exit`]); an [`overview`] tells people where a plan stands.

pub mod assessment;
mod at_exit;
pub mod brief;
pub mod digest;
pub mod document;
pub mod dossier;
pub mod entries;
pub mod evidence;
mod fences;
pub mod floor;
pub mod gate;
mod judges;
pub mod keeper;
pub mod leaks;
pub mod overview;
pub mod place;
pub mod prompts;
pub mod seal;
pub mod store;
pub mod verdict;
pub mod verdict_search;
pub mod witness;

/// The largest plan that is read.
pub const LARGEST_PLAN: u64 = 64 << 20;
