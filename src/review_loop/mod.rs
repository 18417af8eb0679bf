//! The review loop: a plan's documents and code are reviewed, corrected and reviewed again until
//! they are clean, and the plan's directory keeps the form in which all of this can be found.

pub mod ground_rules;
pub mod names;
pub mod tasks;
