//! The workflows of all files: which are used, and what they say.

use super::{Config, ConfigProblem, find_place, settings};
use crate::text::{shorten_name, suggest_word};
use crate::workflow_table::{BUILT_IN, FinishNeed, WorkflowLayer, WorkflowTable, find_built_in};

impl Config {
    /// Whether a workflow is used. Otherwise its guards are not asked.
    pub fn uses_workflows(&self) -> bool {
        !self.words(settings::WORKFLOW_USE).is_empty()
    }

    /// The tables of the workflows that are used. The first layer with a table of a name wins.
    pub fn list_workflows(&self) -> Vec<WorkflowTable> {
        let names = self.words(settings::WORKFLOW_USE);
        names.iter().filter_map(|name| self.find_workflow(name)).collect()
    }

    pub fn find_workflow(&self, name: &str) -> Option<WorkflowTable> {
        let mut own = self.workflow_layers.iter().flat_map(|layer| &layer.tables);
        own.find(|table| table.name == name).cloned().or_else(|| find_built_in(name))
    }

    /// What has to be proved before an instance is finished.
    pub fn workflow_finish(&self) -> Option<&FinishNeed> {
        self.workflow_layers.iter().find_map(|layer| layer.finish.as_ref())
    }

    /// Adds the workflows of one file.
    pub(super) fn add_workflows(&mut self, layer: WorkflowLayer, file: &std::path::Path, text: &str) {
        for (name, offset) in &layer.used {
            self.used_workflows.push((name.clone(), file.to_owned(), find_place(text, *offset)));
        }
        self.workflow_layers.push(layer);
    }

    /// Reports workflows that nothing describes.
    pub(super) fn report_unknown_workflows(&mut self) {
        for (name, file, place) in std::mem::take(&mut self.used_workflows) {
            if self.find_workflow(&name).is_some() {
                continue;
            }
            let own =
                self.workflow_layers.iter().flat_map(|layer| &layer.tables).map(|table| table.name.clone());
            let known = BUILT_IN.iter().map(|&name| name.to_owned()).chain(own);
            let text =
                format!("there is no workflow `{}`{}", shorten_name(&name), suggest_word(&name, known));
            self.problems.push(ConfigProblem { file, place: Some(place), text });
        }
    }
}
