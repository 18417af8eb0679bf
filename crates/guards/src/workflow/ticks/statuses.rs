//! The statuses of BMAD as tasks: that of a spec in its head, and those of the stories in `sprint-status.yaml`.
//!
//! A spec that is done groups its boxes, and an epic its stories. So each is a header of what it groups.

use crate::prelude::*;

use provost_core::workflow::front_matter::find_head_value;
use provost_core::workflow::instance::is_finished_status;
use provost_core::workflow::tasks::TaskItem;
use provost_core::yaml;

/// The id of the task that a spec's own status is.
pub(crate) const SPEC_STATUS: &str = "status";

/// Adds the status of a spec as a task that groups all others.
pub(crate) fn add_spec_status(tasks: &mut Vec<TaskItem>, text: &str) {
    let Some(status) = find_head_value(text, "status") else { return };
    let header = tasks.len();
    tasks.iter_mut().filter(|task| task.parent.is_none()).for_each(|task| task.parent = Some(header));
    tasks.push(make_task(SPEC_STATUS, &status, None));
}

/// The stories and epics of a sprint. Retrospectives are talks, and no work.
pub(crate) fn read_sprint(text: &str) -> Vec<TaskItem> {
    let sprint = yaml::parse(text).unwrap_or_default();
    let Some(statuses) = sprint["development_status"].as_object() else { return Vec::new() };
    let is_epic = |key: &str| key.starts_with("epic-");
    let named = statuses.iter().filter(|(key, _)| !key.ends_with("-retrospective"));
    let read = named.filter_map(|(key, status)| Some((key.as_str(), status.as_str()?)));
    let (epics, stories): (Vec<_>, Vec<_>) = read.partition(|(key, _)| is_epic(key));
    let mut tasks: Vec<TaskItem> = epics.iter().map(|(key, status)| make_task(key, status, None)).collect();
    for (key, status) in stories {
        let number = key.split('-').next().unwrap_or_default();
        let epic = epics.iter().position(|(epic, _)| epic.strip_prefix("epic-") == Some(number));
        tasks.push(make_task(key, status, epic));
    }
    tasks
}

fn make_task(id: &str, status: &str, parent: Option<usize>) -> TaskItem {
    let is_done = is_finished_status(status);
    TaskItem {
        id: Some(id.to_owned()),
        text: id.to_owned(),
        is_done,
        is_closed: is_done,
        parent,
        is_optional: false,
        line: 0,
    }
}

#[cfg(test)]
mod tests {
    use provost_core::workflow::tasks::{TaskFormat, read_tasks};

    use super::super::new_ticks::{find_ticks, is_finished_header};
    use super::*;

    const SPRINT: &str = "generated: x\ndevelopment_status:\n  epic-1: in-progress\n  1-1-sign-in: done\n  \
                          1-2-sign-out: review # soon\n  epic-1-retrospective: optional\n";

    fn ticked(new: &str) -> Vec<(String, bool)> {
        let new = read_sprint(new);
        let ticks = find_ticks(&read_sprint(SPRINT), &new).into_iter();
        ticks.map(|at| (new[at].id.clone().unwrap_or_default(), is_finished_header(&new, at))).collect()
    }

    #[test]
    fn a_story_that_becomes_done_is_a_tick() {
        assert_eq!(ticked(&SPRINT.replace("review #", "done #")), [("1-2-sign-out".into(), false)]);
        assert_eq!(ticked(&SPRINT.replace("review #", "'done' #")), [("1-2-sign-out".into(), false)]);
        assert_eq!(
            ticked(&SPRINT.replace("epic-1: in-progress", "epic-1: done")),
            [("epic-1".into(), false)]
        );
        let all = SPRINT.replace("review #", "done #").replace("epic-1: in-progress", "epic-1: done");
        assert_eq!(ticked(&all), [("epic-1".into(), true), ("1-2-sign-out".into(), false)]);
        for new in
            [SPRINT.replace("optional", "done"), SPRINT.replace("review #", "in-progress #"), String::new()]
        {
            assert_eq!(ticked(&new), [], "{new}");
        }
    }

    #[test]
    fn the_status_of_a_spec_groups_its_boxes() {
        let read = |text: &str| {
            let mut tasks = read_tasks(TaskFormat::Boxes, text);
            add_spec_status(&mut tasks, text);
            tasks
        };
        let old = read("---\nstatus: in-review\n---\n- [x] a\n");
        let done = read("---\nstatus: 'done'\n---\n- [x] a\n");
        assert_eq!(find_ticks(&old, &done), [1]);
        assert!(is_finished_header(&done, 1));
        let open = read("---\nstatus: done\n---\n- [ ] a\n");
        assert!(!is_finished_header(&open, 1));
    }
}
