use super::settings::SettingType;
use super::*;
use crate::event::{Event, EventKind, TurnEnd};
use cpu_time::cpu_time;

/// The switches of two guards.
fn guards() -> Vec<Setting> {
    let takes = SettingType::Word { default: "on", choices: &["on", "off"] };
    ["self-guard", "config-check"]
        .map(|name| Setting { table: "guards", name, value_type: takes, meaning: "" })
        .to_vec()
}

fn load(files: &[(ConfigLayer, &str)]) -> Config {
    let dir = tempfile::tempdir().unwrap();
    let layers: Vec<_> = files
        .iter()
        .enumerate()
        .map(|(i, (layer, text))| {
            let path = dir.path().join(format!("{i}.toml"));
            std::fs::write(&path, text).unwrap();
            (*layer, path)
        })
        .collect();
    Config::load(&layers, guards, None, None)
}

fn problems(config: &Config) -> Vec<String> {
    config.problems.iter().map(|p| format!("{}: {}", p.place.unwrap_or_default().0, p.text)).collect()
}

#[test]
fn no_file_is_the_defaults() {
    let config = Config::load(&[(ConfigLayer::User, "/nonexistent/provost.toml".into())], guards, None, None);
    assert!(config.problems.is_empty() && config.files.is_empty());
    assert_eq!(config.deadline(), Duration::from_secs(5));
    assert!(config.is_journal_on() && config.is_guard_on("self-guard"));
}

#[test]
fn managed_wins_over_project_and_project_over_user() {
    let config = load(&[
        (ConfigLayer::Managed, "[guards]\nself-guard = \"on\""),
        (ConfigLayer::Project, "[guards]\nself-guard = \"off\"\n[engine]\ndeadline_seconds = 7"),
        (ConfigLayer::User, "[engine]\ndeadline_seconds = 9\n[journal]\nenabled = false"),
    ]);
    assert!(config.is_guard_on("self-guard"));
    assert_eq!(config.deadline(), Duration::from_secs(7));
    assert!(!config.is_journal_on());
}

#[test]
fn a_project_cannot_switch_off_what_protects_provost() {
    const OFF: &str = "[guards]\nself-guard = \"off\"";
    let (project, user) = ((ConfigLayer::Project, OFF), (ConfigLayer::User, OFF));
    let config = load(&[project]);
    assert!(config.is_guard_on("self-guard"));
    let [problem] = &*config.problems else { panic!("{:?}", config.problems) };
    assert!(problem.text.contains("cannot switch `self-guard` off"), "{}", problem.text);
    let config = load(&[user]);
    assert!(config.problems.is_empty() && !config.is_guard_on("self-guard"));
    assert!(!load(&[project, user]).is_guard_on("self-guard"));
    let on = (ConfigLayer::Project, "[guards]\nself-guard = \"on\"");
    assert!(load(&[on, user]).is_guard_on("self-guard"));
}

#[test]
fn a_managed_file_in_doubt_lets_nobody_else_switch_off() {
    let project = (ConfigLayer::User, "[guards]\nself-guard = \"off\"");
    assert!(!load(&[project]).is_guard_on("self-guard"));
    let managed = (ConfigLayer::Managed, "[guards]\nself-guard = \"onn\"\nconfig-check = \"off\"");
    let config = load(&[managed, project]);
    assert!(config.is_guard_on("self-guard") && !config.is_guard_on("config-check"));
}

#[test]
fn an_unknown_key_is_told_with_line_and_nearest_name_and_the_rest_works() {
    let config = load(&[(
        ConfigLayer::Project,
        "# mine\n[engine]\ndeadline_second = 3\n\n[guard]\nx = 1\n[journal]\nenabled = false\nfoo = 1\n",
    )]);
    assert_eq!(
        problems(&config),
        [
            "3: unknown key `deadline_second`; did you mean `deadline_seconds`?",
            "5: unknown table `guard`; did you mean `guards`?",
            "9: unknown key `foo`",
        ]
    );
    assert!(!config.is_journal_on());
    let long = "x".repeat(60_000);
    for text in [format!("[{long}]\n"), format!("[engine]\n{long} = 1\n")] {
        let told = problems(&load(&[(ConfigLayer::Project, &text)]));
        assert!(told.len() == 1 && told[0].len() < 500, "{told:?}");
    }
    // A word that is like no other suggests none, however long it is.
    assert!(!suggest_word(&"z".repeat(1000), ["engine".to_owned()].into_iter()).contains("engine"));
}

#[test]
fn wrong_types_and_values_are_told_and_leave_the_default() {
    let config = load(&[(
        ConfigLayer::User,
        "guards = 5\n[engine]\ndeadline_seconds = 0\n[journal]\nenabled = \"yes\"\nmax_kilobytes = 1_000\n",
    )]);
    assert_eq!(
        problems(&config),
        [
            "1: `guards` must be a table",
            "3: `engine.deadline_seconds` takes a whole number from 1 to 60",
            "5: `journal.enabled` takes true or false",
        ]
    );
    assert_eq!(config.deadline(), Duration::from_secs(5));
    assert_eq!(config.journal_limit(), 1_024_000);
}

#[test]
fn a_list_of_a_nearer_layer_replaces_a_farther_one() {
    let config = load(&[
        (ConfigLayer::Project, "[planner]\nallow = [\"sort\", \"uniq\"]\nagents = []"),
        (ConfigLayer::User, "[planner]\nallow = [\"jq\"]\ntools = [\"t\"]"),
    ]);
    assert_eq!(config.words(settings::PLANNER_ALLOW), ["sort", "uniq"]);
    assert_eq!(config.words(settings::PLANNER_TOOLS), ["t"]);
    assert!(config.words(settings::PLANNER_AGENTS).is_empty());
    assert_eq!(config.words(settings::PLANNER_SLICE_HEADINGS), ["test specification", "slice N"]);
    assert_eq!(config.word(settings::PLANNER_DIRECTORY), "planning");
    assert_eq!(config.number(settings::PLANNER_PLAN_MINUTES), 30);
    assert!(config.is_switched_on(settings::PLANNER_STRICT));
}

#[test]
fn a_list_takes_words_and_a_directory_lies_below() {
    let config = load(&[(
        ConfigLayer::Project,
        "[planner]\nallow = \"sort\"\nagents = [\"a\", 5]\ntools = [\" \"]\ndirectory = \"../x\"\n",
    )]);
    assert_eq!(
        problems(&config),
        [
            "2: `planner.allow` takes a list of words",
            "3: `planner.agents` takes a list of words",
            "4: `planner.tools` takes a list of words",
            "5: `planner.directory` takes the name of a directory below the project",
        ]
    );
    assert_eq!(config.words(settings::PLANNER_AGENTS), ["tdd-planner"]);
    for wrong in ["", ".", "/etc", "a/../b", "./a"] {
        let config = load(&[(ConfigLayer::Project, &format!("[planner]\ndirectory = \"{wrong}\""))]);
        assert_eq!(config.problems.len(), 1, "{wrong}");
    }
    let config = load(&[(ConfigLayer::Project, "[planner]\ndirectory = \"docs/plans\"")]);
    assert_eq!(config.word(settings::PLANNER_DIRECTORY), "docs/plans");
}

#[test]
fn a_guard_that_is_set_twice_stays_on() {
    let config = load(&[(ConfigLayer::Project, "[guards]\nself-guard = \"off\"\nself-guard = \"on\"\n")]);
    assert!(config.is_guard_on("self-guard") && !config.problems.is_empty());
}

#[test]
fn a_hostile_file_is_read_in_bounded_time_and_told_in_few_lines() {
    let many = (0..5_000).map(|n| format!("k{n} = 1")).collect::<Vec<_>>().join("\n");
    for text in
        [format!("[journal]\n{many}"), "= ".repeat(30_000), "[a]\n".repeat(15_000), "[".repeat(60_000)]
    {
        let (config, took) = cpu_time(|| load(&[(ConfigLayer::Project, &text)]));
        assert!((1..=2 * MOST_PROBLEMS).contains(&config.problems.len()), "{}", config.problems.len());
        assert!(took < Duration::from_secs(3), "{took:?}");
    }
}

#[test]
fn a_syntax_error_keeps_what_can_be_read() {
    let config = load(&[(ConfigLayer::User, "[engine\n[journal]\nenabled = false\n= 3\n")]);
    assert!(!config.problems.is_empty());
    assert!(!config.is_journal_on(), "{:?}", config.problems);
}

#[test]
fn broken_utf8_and_a_byte_order_mark_are_no_obstacle() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("c.toml");
    std::fs::write(&path, b"\xef\xbb\xbf# \xff\n[journal]\nenabled = false\n").unwrap();
    assert!(!Config::load(&[(ConfigLayer::User, path)], guards, None, None).is_journal_on());
}

/// The rules that hold, with all that was read of them.
fn describe_rules(path: &Path, interest: Option<&RuleInterest<'_>>) -> Vec<String> {
    let config = Config::load(&[(ConfigLayer::Project, path.to_owned())], guards, None, interest);
    let rules = config.rules.rules.iter().filter(|rule| !rule.origin.is_built_in);
    rules.map(|rule| format!("{rule:?}")).collect()
}

#[test]
fn the_hook_reads_the_same_rules_as_the_commands() {
    const FILE: &str = r#"
[rules]
off = ["c"]
[[rule]]
name = "a"
stops = true
need = { passed = "cargo test" }
changed = ["src/**", 'b']
match = [{ stop = true, changed = ["src/a\"b.rs"], ran = ["x"] }, "git push --\"force\"", 'x']
[[rule]]
name = "b"
stops = true
rounds = 2
need = { check = "make", seconds = 5 } # comment
not_match = [
  "a", # ]
  { stop = true },
]
[[rule]]
name = "a"
stops = true
need = { passed = "make test" }
[[rule]]
name = "c"
commits = "*"
need = { passed = "make \"x\"" }
[engine]
deadline_seconds = 3
"#;
    const PIECES: &[&str] = &[
        "[[rule]]\n",
        "[rule.need]\n",
        "\"",
        "'",
        "[",
        "]",
        "{",
        "}",
        "=",
        "#",
        "\n",
        "\r\n",
        ",",
        "\\",
        "\\u00e9",
        "\\q",
        "\"\"\"",
        "'''",
        "x",
        "true",
        "3",
        "0",
        "name = \"a\"\n",
        "stops = true\n",
        "match = [1]\n",
        "not_match = \"x\"\n",
        "match = [bad]\n",
        "deny = \"x\"\n",
        "nmae = 1\n",
        "rounds = 0\n",
        "need.check = \"x\"\n",
        "\u{feff}",
        "é",
        "\u{1}",
        "rule = 1\n",
        "[rule]\n",
        "[[rules]]\n",
        "[guards]\n",
        "match = [\"a\" \"b\"]\n",
        "match = [{a=1,a=2}]\n",
        "match = [\"a\",]\n",
        "name = \"b\"\n",
        "[ [rule]]\n",
        "[[rule]] x\n",
        "[[\"rule\"]]\n",
        "name = \"\"\n",
    ];
    let event = Event::new("Stop".into(), EventKind::Stop(TurnEnd::default()), "/p".into());
    let interest = RuleInterest::new(&event).unwrap();
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("provost.toml");
    let mut random = 0x2545_f491_4f6c_dd1d_u64;
    let mut next = |most: usize| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        usize::try_from(random % most as u64).unwrap()
    };
    let mut valid = 0;
    for round in 0..6_000 {
        let mut text = FILE.to_owned();
        for _ in 0..if round == 0 { 0 } else { 1 + next(3) } {
            let mut at = next(text.len());
            while !text.is_char_boundary(at) {
                at -= 1;
            }
            // Whole lines are moved too, because most mistakes of people are those of a line.
            let line = text[..at].rfind('\n').map_or(0, |end| end + 1);
            let end = text[at..].find('\n').map_or(text.len(), |end| at + end + 1);
            match next(5) {
                0 => text.insert_str(at, PIECES[next(PIECES.len())]),
                1 => text.insert_str(line, PIECES[next(PIECES.len())]),
                2 => drop(text.remove(at)),
                3 => text.replace_range(line..end, ""),
                _ => {
                    let line = text[line..end].to_owned();
                    let at = text[..next(text.len())].rfind('\n').map_or(0, |end| end + 1);
                    text.insert_str(at, &line);
                }
            }
        }
        std::fs::write(&path, &text).unwrap();
        let full = describe_rules(&path, None);
        valid += usize::from(full.len() > 1);
        assert_eq!(describe_rules(&path, Some(&interest)), full, "{text}");
    }
    assert!(valid > 1_000, "{valid} files had rules");
}
