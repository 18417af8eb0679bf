//! `state-write-validator`

use crate::decision::{Fault, Opinion};
use crate::event::Event;
use crate::workspace::Workspace;

pub fn judge(_: &Event, _: &Workspace) -> Result<Opinion, Fault> {
    Ok(Opinion::unconcerned())
}
