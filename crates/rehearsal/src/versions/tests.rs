use super::*;
use crate::results::WordSet;

const GROUPS: &str = "[[group]]\nname = 'gates'\nbegins = ['gate-', 'door']\n\
    [[group]]\nname = 'the narrow gate'\nbegins = ['gate-narrow']\n\
    [[reason]]\nscenarios = ['door']\nversions = ['1.9.0']\ntext = 'Doors came with 1.10.0.'\n";

fn outcome(title: &str, held: usize, played: usize) -> ScenarioResult {
    let wrong = if held == played { vec![] } else { vec!["the client ended".to_owned()] };
    ScenarioResult { title: title.into(), held, played, wrong }
}

fn results(client: &str, scenarios: &[(&str, usize, usize)], fields: &str) -> Results {
    let played = scenarios.iter().map(|(name, held, played)| {
        ((*name).to_owned(), outcome(&format!("{name} is | shut"), *held, *played))
    });
    let given = BTreeMap::from([("Stop".to_owned(), WordSet::from(fields.to_owned()))]);
    Results { client: client.into(), scenarios: played.collect(), given, ..Results::default() }
}

fn versions(all: &[Results], groups: &str) -> Versions {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("groups.toml"), groups).unwrap();
    for one in all {
        one.save(&dir.path().join(format!("{}.json", one.client))).unwrap();
    }
    Versions::load(dir.path()).unwrap()
}

fn two() -> Versions {
    let old = results("1.9.0", &[("door", 0, 3), ("gate-a", 1, 1)], "cwd:text ok:bool");
    let mut new =
        results("1.10.0", &[("door", 1, 1), ("gate-a", 1, 1), ("gate-narrow", 1, 1)], "cwd:text id:text");
    new.given.insert("Setup".into(), WordSet::default());
    versions(&[new, old], GROUPS)
}

fn names(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

#[test]
fn versions_stand_side_by_side() {
    assert_eq!(
        two().to_markdown(),
        "| about | 1.9.0 | 1.10.0 |\n|---|---|---|\n\
         | gates | **1 of 2 hold** | all 2 hold |\n\
         | the narrow gate | not played | all 1 hold |\n\n\
         What does not hold:\n\n\
         - 1.9.0: Doors came with 1.10.0. (`door`)\n\n\
         What changed in the client since the version before:\n\n\
         | since | what | new | gone |\n|---|---|---|---|\n\
         | 1.10.0 | calls of hooks | `Setup` | nothing |\n\
         | 1.10.0 | fields of `Stop` | `id:text` | `ok:bool` |\n\n\
         | rehearsal | 1.9.0 | 1.10.0 |\n|---|---|---|\n\
         | **gates** | | |\n\
         | door is \\| shut | **does not hold** | holds |\n\
         | gate-a is \\| shut | holds | holds |\n\
         | **the narrow gate** | | |\n\
         | gate-narrow is \\| shut | not played | holds |\n"
    );
}

#[test]
fn what_always_held_needs_few_words() {
    let all =
        [results("1.0.0", &[("door", 1, 1)], "cwd:text"), results("1.0.1", &[("door", 1, 1)], "cwd:text")];
    let told = versions(&all, GROUPS).to_markdown();
    assert!(told.contains("\nAll rehearsals that were run hold.\n"), "{told}");
    assert!(told.contains("are the same on all of them"), "{told}");
}

#[test]
fn a_failure_without_a_reason_is_told_with_what_was_seen() {
    let told = versions(&[results("1.0.0", &[("door", 2, 3)], "")], GROUPS).to_markdown();
    assert!(told.contains("- 1.0.0: `door` held 2 of 3 times: the client ended. Nobody"), "{told}");
    assert!(told.contains("**held 2 of 3 times**"), "{told}");
}

#[test]
fn what_fits_together_has_no_fault_and_a_new_scenario_may_wait() {
    let there = names(&["door", "gate-a", "gate-narrow", "gate-new"]);
    assert_eq!(two().find_faults(&there), [""; 0]);
}

#[test]
fn what_does_not_fit_together_is_told() {
    let faults = two().find_faults(&names(&["door", "gate-a", "window"]));
    assert_eq!(
        faults,
        [
            "`window` belongs to no group of groups.toml",
            "`gate-narrow` has results and is no scenario any more"
        ]
    );
    let all = [results("1.9.0", &[("door", 1, 1), ("gate-a", 0, 1)], "")];
    assert_eq!(
        versions(&all, GROUPS).find_faults(&names(&["door", "gate-a"])),
        [
            "nothing about `the narrow gate` was played",
            "`gate-a` does not hold on 1.9.0 for no reason",
            "`door` has a reason for 1.9.0, where nothing failed"
        ]
    );
}

#[test]
fn a_file_that_tells_of_another_version_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("groups.toml"), GROUPS).unwrap();
    results("1.0.0", &[], "").save(&dir.path().join("1.0.1.json")).unwrap();
    let error = Versions::load(dir.path()).unwrap_err().to_string();
    assert!(error.contains("holds the results of 1.0.0"), "{error}");
}
