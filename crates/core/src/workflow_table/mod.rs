//! A workflow as data: how a project is recognised, where its instances are, and what each needs before work begins.
//!
//! Five tables are built in, and `[workflow.NAME]` in `provost.toml` adds others or changes these. [`crate::workflow`]
//! applies a table to the files of a project.

mod built_in;
pub mod keys;
mod reader;

pub(crate) use built_in::openspec_artefacts;
pub use built_in::{BUILT_IN, find_built_in};
pub(crate) use reader::{WorkflowLayer, is_workflow_entry, read_workflow_tables};

/// The tool that a workflow belongs to. Some of its formats need a reader of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorkflowSystem {
    OpenSpec,
    SpecKit,
    /// Kiro, and cc-sdd, which writes the same files.
    Kiro,
    Bmad,
    TaskMaster,
    /// A table of `provost.toml`.
    Own,
}

/// One workflow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkflowTable {
    pub name: String,
    pub system: WorkflowSystem,
    /// What one instance is called: `change`, `feature`.
    pub noun: String,
    /// A directory that has one of these paths is a project of the workflow.
    pub markers: Vec<String>,
    /// The directories in which every change is planning.
    pub planning: Vec<String>,
    /// The instances: paths with `*` in their last part. They are files if the `*` has an extension, else directories.
    pub instances: Vec<String>,
    /// Names that stand in place of the `*` and are no instances.
    pub except: Vec<String>,
    pub artefacts: Vec<ArtefactRule>,
    /// The file of the tasks, in the directory of the instance.
    pub tasks: Option<String>,
    pub pointer: Option<InstancePointer>,
    /// Prompts of the user that start the work on an instance, without its name: `/opsx:apply`.
    pub commands: Vec<String>,
    /// Sections that the agent may change after the approval.
    pub notes: Vec<String>,
}

/// A text that an instance has before work begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArtefactRule {
    pub id: String,
    /// The file in the directory of the instance, or a pattern with `*` and `**`.
    pub files: String,
    /// Without it, no work begins. Otherwise it is approved with the others if it exists.
    pub is_required: bool,
    /// Texts of a template that nobody has filled in yet.
    pub unfilled: Vec<String>,
}

/// The file in which the tool keeps the name of the current instance.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstancePointer {
    pub file: String,
    /// The key of its JSON object; `None`: the file holds nothing but the name.
    pub key: Option<String>,
}

/// What has to be proved before an instance is finished.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FinishNeed {
    /// A command pattern: its last run succeeded, and nothing has changed since.
    pub passed: Option<String>,
    /// How many reviews in a row have to be clean.
    pub review: Option<u64>,
}

impl WorkflowTable {
    /// The words with which messages name an instance: ``the change `add-login` ``.
    pub fn describe_instance(&self, name: &str) -> String {
        format!("the {} {}", self.noun, crate::text::quote_for_model(name))
    }
}
