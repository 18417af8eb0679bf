//! Two configurations: what a new file would change.

use serde_json::json;

use super::{Transcript, list_decisions, replay, replay_json, transcripts_of};
use crate::support::TestProject;

fn project() -> TestProject {
    let project = TestProject::new();
    project.write_file(
        "provost.toml",
        "[[rule]]\nname = \"push\"\nruns = \"git push\"\ndeny = \"no\"\n\
         [[rule]]\nname = \"rm\"\nruns = \"rm\"\nask = \"sure?\"\n\
         [[rule]]\nname = \"ls\"\nruns = \"ls\"\ndeny = \"no\"\n",
    );
    project.write_file(
        "new.toml",
        "[[rule]]\nname = \"push-renamed\"\nruns = \"git push\"\ndeny = \"no\"\n\
         [[rule]]\nname = \"rm\"\nruns = \"rm\"\ndeny = \"no\"\n\
         [[rule]]\nname = \"curl\"\nruns = \"curl\"\ndeny = \"no\"\n",
    );
    Transcript::new(&project, "s1")
        .bash("t1", "git push")
        .bash("t2", "rm x")
        .bash("t3", "ls")
        .bash("t4", "curl x")
        .write(&transcripts_of(&project, &project.path));
    project
}

#[test]
fn another_file_takes_the_place_of_the_projects() {
    let result = replay_json(&project(), &["--config", "new.toml"]);
    assert_eq!(
        list_decisions(&result),
        ["t1 rule:push-renamed deny", "t2 rule:rm deny", "t4 rule:curl deny"]
    );
}

#[test]
fn only_what_differs_is_shown() {
    let result = replay_json(&project(), &["--config", "new.toml", "--against", "current"]);
    let changes: Vec<_> = result["decisions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| {
            (one["call"].clone(), one["change"].clone(), one["before"].clone(), one["decision"].clone())
        })
        .collect();
    assert_eq!(
        changes,
        [
            (json!("t4"), json!("new"), json!(null), json!("deny")),
            (json!("t3"), json!("gone"), json!("deny"), json!(null)),
            (json!("t2"), json!("changed"), json!("ask"), json!("deny")),
        ]
    );
    let shown = replay(&project(), &["--config", "new.toml", "--against", "current"]).stdout;
    for words in
        ["rule:curl  1 denied  newly", "rule:ls  1 denied  no longer", "rule:rm  1 denied  before: asked"]
    {
        assert!(shown.contains(words), "{words}: {shown}");
    }
    assert!(!shown.contains("push"), "{shown}");
}

#[test]
fn the_same_configuration_differs_in_nothing() {
    let result = replay_json(&project(), &["--config", "provost.toml", "--against", "current"]);
    assert_eq!(result["decisions"], json!([]));
}

#[test]
fn a_file_with_a_mistake_or_without_content_is_not_judged_by() {
    let project = project();
    project.write_file("broken.toml", "[[rule]]\nname = \"x\"\nrans = \"ls\"\n");
    let answer = replay(&project, &["--config", "broken.toml"]);
    assert_eq!((answer.code, answer.stdout.as_str()), (Some(1), ""));
    assert!(answer.stderr.contains("broken.toml:3:1") && answer.stderr.contains("rans"), "{answer:?}");
    let answer = replay(&project, &["--config", "missing.toml"]);
    assert_eq!((answer.code, answer.stdout.as_str()), (Some(74), ""));
    assert!(answer.stderr.contains("missing.toml cannot be read"), "{answer:?}");
}
