//! Ticks of task files need work.

pub(crate) mod new_ticks;
pub(crate) mod runs;
pub(crate) mod work_log;
