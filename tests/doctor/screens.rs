//! What a person sees.

use serde_json::json;

use crate::Patient;

fn screen(patient: &Patient) -> String {
    let output = patient.command(&[]).output().unwrap();
    patient.project.shown(&String::from_utf8(output.stdout).unwrap())
}

#[test]
fn a_healthy_project_is_told_what_was_checked() {
    print!("{}", screen(&Patient::healthy()));
}

#[test]
fn a_finding_is_told_with_its_fix() {
    let mut patient = Patient::healthy();
    patient.change(|settings| settings["disableAllHooks"] = json!(true));
    print!("{}", screen(&patient));
}
