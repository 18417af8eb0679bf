pub(crate) mod evidence;
pub(crate) mod open_tasks;
pub(crate) use open_tasks::is_story_finished;
