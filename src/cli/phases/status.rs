use crate::cli::Outcome;
#[derive(clap::Args)]
pub(crate) struct Status {}
impl Status { pub(crate) fn run(self, _: &crate::event::Event, _: &crate::workspace::Workspace) -> Outcome { Ok(crate::cli::Exit::Done) } }
