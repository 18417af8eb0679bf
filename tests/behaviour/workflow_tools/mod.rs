//! The workflows of `OpenSpec`, Spec Kit, Kiro with cc-sdd, BMAD and Task Master.
//!
//! The files that these tests start from are what the tools themselves write (`tests/workflow-fixtures`). What holds for all
//! of them is tested on each of them; a module per tool has the rest.

mod approval;
mod bad_input;
mod bmad;
mod escapes;
mod finish;
mod fixtures;
mod instances;
mod kiro;
mod openspec;
mod spec_kit;
mod stage;
mod task_master;
mod ticks;
mod tools;
mod work;

/// Runs tests on each tool. Every test is a function of the tool.
macro_rules! test_every_tool {
    ($($test:ident),* $(,)?) => {
        test_every_tool!(@tool openspec OPENSPEC: $($test),*);
        test_every_tool!(@tool spec_kit SPEC_KIT: $($test),*);
        test_every_tool!(@tool kiro KIRO: $($test),*);
        test_every_tool!(@tool bmad BMAD: $($test),*);
        test_every_tool!(@tool task_master TASK_MASTER: $($test),*);
    };
    (@tool $module:ident $tool:ident: $($test:ident),*) => {
        mod $module {
            $(#[test] fn $test() { super::$test(&super::super::tools::$tool); })*
        }
    };
}
use test_every_tool;
