//! The user chooses the reviewer: no program, address or model counts that an agent could have written.

use super::*;

/// A program called `claude` that leaves a mark when it is run, in a directory of its own.
fn fake(directory: &Path) {
    fs::create_dir_all(directory).unwrap();
    let file = directory.join("claude");
    fs::write(&file, "#!/bin/sh\ntouch \"$HOME/fake-was-run\"\n").unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(&file, mode).unwrap();
}

fn was_run(planned: &ReviewProject) -> bool {
    planned.project.home.join("fake-was-run").exists()
}

fn path(planned: &ReviewProject) -> String {
    planned.variables.iter().find(|(name, _)| name == "PATH").unwrap().1.clone()
}

/// Starts a session, so that Provost remembers the program.
fn session_starts(planned: &ReviewProject) {
    let mut event = planned.project.recorded_event("SessionStart.startup");
    event["session_id"] = SESSION.into();
    let answer = planned.hook(&event);
    assert_eq!(answer.code, Some(0), "{answer:?}");
}

#[test]
fn a_program_of_the_project_does_not_review() {
    for place in ["bin", ".venv/bin", "node_modules/.bin", "", ".taskie"] {
        let mut planned = started_review(json!({}));
        let directory = planned.project.path.join(place);
        fake(&directory);
        planned.set("PATH", &format!("{}:{}", directory.display(), path(&planned)));
        planned.expect_block(&planned.stop());
        assert!(!was_run(&planned) && planned.reviewer_calls().len() == 1, "{place}");
    }
    // A link to it does not review either.
    let mut planned = started_review(json!({}));
    fake(&planned.project.path.join("bin"));
    let outside = planned.project.home.join("links");
    fs::create_dir(&outside).unwrap();
    std::os::unix::fs::symlink(planned.project.path.join("bin/claude"), outside.join("claude")).unwrap();
    planned.set("PATH", &format!("{}:{}", outside.display(), path(&planned)));
    planned.expect_block(&planned.stop());
    assert!(!was_run(&planned));
}

#[test]
fn a_configured_name_is_not_looked_for_in_the_project_either() {
    let mut planned =
        started_review(json!({})).with_config("[reviewer]\ncommand = [\"claude\", \"{prompt}\"]\n");
    let directory = planned.project.path.join("bin");
    fake(&directory);
    planned.set("PATH", &format!("{}:{}", directory.display(), path(&planned)));
    planned.expect_block(&planned.stop());
    assert!(!was_run(&planned));
}

/// The remembered program reviews, even if another directory comes first on `PATH`.
#[test]
fn the_remembered_program_reviews() {
    let mut planned = started_review(json!({}));
    session_starts(&planned);
    let directory = planned.project.home.join("elsewhere");
    fake(&directory);
    planned.set("PATH", &format!("{}:{}", directory.display(), path(&planned)));
    session_starts(&planned);
    planned.expect_block(&planned.stop());
    assert!(!was_run(&planned) && planned.reviewer_calls().len() == 1);
}

#[test]
fn a_program_that_was_replaced_is_refused_until_the_user_remembers_it() {
    for how in ["content", "link"] {
        let planned = started_review(json!({}));
        session_starts(&planned);
        let program = planned.project.home.join("bin/claude");
        let kept = planned.project.home.join("kept-claude");
        fs::rename(&program, &kept).unwrap();
        let elsewhere = planned.project.home.join("elsewhere");
        if how == "content" {
            fake(program.parent().unwrap());
        } else {
            fake(&elsewhere);
            std::os::unix::fs::symlink(elsewhere.join("claude"), &program).unwrap();
        }
        assert_shown!("review-loop-replaced-program", planned.project.whole(&planned.stop()));
        assert!(!was_run(&planned));
        // The user has installed another one there.
        fs::remove_file(&program).unwrap();
        fs::copy(&kept, &program).unwrap();
        let run = planned.run(&["review", "run"], b"");
        assert_eq!(run.code, Some(0), "{run:?}");
        assert_eq!(planned.reviewer_calls().len(), 1);
    }
}

/// Each project has its own reviewer, and all of them start their first session at once.
#[test]
fn first_sessions_that_start_at_once_remember_every_reviewer() {
    const SESSIONS: usize = 12;
    for round in 0..3 {
        let planned = started_review(json!({}));
        let home = &planned.project.home;
        let children: Vec<std::process::Child> = (0..SESSIONS)
            .map(|number| {
                let (name, project) = (format!("reviewer-{number}"), home.join(format!("project-{number}")));
                fs::create_dir_all(project.join(".git")).unwrap();
                let config = format!("[reviewer]\ncommand = [\"{name}\", \"{{prompt}}\"]\n");
                fs::write(project.join("provost.toml"), config).unwrap();
                fs::copy(home.join("bin/claude"), home.join("bin").join(&name)).unwrap();
                let mut event = planned.project.recorded_event("SessionStart.startup");
                event["cwd"] = json!(project);
                event["session_id"] = json!(name);
                let mut command = planned.project.command(&[]);
                command.env("PATH", path(&planned)).env("CLAUDE_PROJECT_DIR", &project).current_dir(&project);
                let child = command.spawn().unwrap();
                std::io::Write::write_all(&mut child.stdin.as_ref().unwrap(), event.to_string().as_bytes())
                    .unwrap();
                child
            })
            .collect();
        // A hook reads its event to the end: all of them go on from here together.
        let children: Vec<_> = children
            .into_iter()
            .map(|mut child| {
                drop(child.stdin.take());
                child
            })
            .collect();
        for child in children {
            assert_eq!(crate::support::collect_answer(child, None).code, Some(0));
        }
        let known = fs::read_to_string(planned.project.state_directory().join("reviewer.json")).unwrap();
        let known: Value = serde_json::from_str(&known).unwrap();
        for number in 0..SESSIONS {
            assert!(known.get(format!("reviewer-{number}")).is_some(), "{round}: {number} of {known:#}");
        }
    }
}

/// The client installs each version as its own file, and links its name to the newest.
#[test]
fn an_update_of_the_client_is_accepted() {
    let planned = started_review(json!({}));
    let home = &planned.project.home;
    let versions = home.join("share/versions");
    fs::create_dir_all(&versions).unwrap();
    let program = home.join("bin/claude");
    fs::rename(&program, versions.join("2.1.1")).unwrap();
    std::os::unix::fs::symlink(versions.join("2.1.1"), &program).unwrap();
    session_starts(&planned);
    fs::copy(versions.join("2.1.1"), versions.join("2.1.2")).unwrap();
    fs::remove_file(&program).unwrap();
    std::os::unix::fs::symlink(versions.join("2.1.2"), &program).unwrap();
    planned.expect_block(&planned.stop());
    // From now on, the new version is the program that no tool may replace.
    let line = format!("cp evil {}", versions.join("2.1.2").display());
    planned.project.hook(&planned.project.bash(&line)).expect_denial();
}

#[test]
fn variables_of_the_projects_settings_do_not_reach_the_reviewer() {
    for file in [".claude/settings.json", ".claude/settings.local.json"] {
        let mut planned = started_review(json!({}));
        let steering = [
            "ANTHROPIC_BASE_URL",
            "ANTHROPIC_MODEL",
            "ANTHROPIC_DEFAULT_OPUS_MODEL",
            "ANTHROPIC_AUTH_TOKEN",
            "CLAUDE_CONFIG_DIR",
            "CLAUDE_CODE_USE_BEDROCK",
            "HTTPS_PROXY",
            "https_proxy",
            "NODE_OPTIONS",
            "LD_PRELOAD",
        ];
        let mut variables = serde_json::Map::new();
        for name in steering.iter().chain(&["MY_DATABASE"]) {
            variables.insert((*name).to_owned(), "by-the-agent".into());
            if *name != "LD_PRELOAD" {
                planned.set(name, "by-the-agent");
            }
        }
        planned.project.write_file(file, &json!({"env": variables}).to_string());
        planned.set("ANTHROPIC_API_KEY", "the-users");
        planned.expect_block(&planned.stop());
        let call = &planned.reviewer_calls()[0];
        for name in steering {
            assert!(!call.has_variable(name), "{file}: {name}");
        }
        assert!(call.has_variable("MY_DATABASE"), "what steers nothing stays");
        assert!(call.has_variable("ANTHROPIC_API_KEY"), "what no file of the project sets is the user's");
    }
}

/// The client keeps a variable after its line is removed from the settings file.
#[cfg(target_os = "linux")]
#[test]
fn a_variable_that_only_the_client_still_has_does_not_reach_the_reviewer() {
    let mut planned = started_review(json!({}));
    planned.set("CLAUDE_PID", &std::process::id().to_string());
    planned.set("ANTHROPIC_BASE_URL", "http://by-the-agent");
    planned.set("ANTHROPIC_DEFAULT_OPUS_MODEL", "by-the-agent");
    planned.set("ANTHROPIC_CUSTOM_HEADERS", "by-the-user");
    let own = planned.project.home.join(".claude/settings.json");
    fs::create_dir_all(own.parent().unwrap()).unwrap();
    fs::write(own, json!({"env": {"ANTHROPIC_CUSTOM_HEADERS": "by-the-user"}}).to_string()).unwrap();
    planned.expect_block(&planned.stop());
    let call = &planned.reviewer_calls()[0];
    assert!(!call.has_variable("ANTHROPIC_BASE_URL") && !call.has_variable("ANTHROPIC_DEFAULT_OPUS_MODEL"));
    assert!(call.has_variable("ANTHROPIC_CUSTOM_HEADERS"), "the user's own settings count");
}

/// Equal size and time do not make it the same program.
#[test]
fn a_program_whose_time_was_set_back_is_refused() {
    let planned = started_review(json!({}));
    session_starts(&planned);
    let program = planned.project.home.join("bin/claude");
    let metadata = fs::metadata(&program).unwrap();
    let mut text = b"#!/bin/sh\ntouch \"$HOME/fake-was-run\"\n".to_vec();
    text.resize(usize::try_from(metadata.len()).unwrap(), b'\n');
    fs::write(&program, text).unwrap();
    let file = fs::File::options().write(true).open(&program).unwrap();
    file.set_modified(metadata.modified().unwrap()).unwrap();
    let told = user_message(&planned.stop());
    assert!(told.contains("has changed since Provost remembered it"), "{told}");
    assert!(!was_run(&planned));
}

#[test]
fn no_tool_replaces_the_program_that_reviews() {
    let planned = started_review(json!({}));
    session_starts(&planned);
    let home = &planned.project.home;
    let program = home.join("bin/claude");
    let denies = |event: Value| planned.hook(&event).stdout.contains("\"deny\"");
    // Letter by letter, because the temporary directory may have a random `H` or `P` in its name.
    let fill_in = |line: &str| -> String {
        let path = |letter| match letter {
            'P' => program.display().to_string(),
            'H' => home.display().to_string(),
            other => other.to_string(),
        };
        line.chars().map(path).collect()
    };
    assert!(denies(planned.project.write(&program, "x")));
    for line in
        ["cp x P", "mv x P", "ln -sf /x P", "ln -sf /x/claude H/bin", "rm P", "echo x > P", "sed -i s/a/b/ P"]
    {
        let line = fill_in(line);
        assert!(denies(planned.project.bash(&line)), "{line}");
    }
    for line in [
        "P --version",
        "cp P /tmp/copy",
        "cp x H/bin/other",
        "claude update",
        "npm install -g @anthropic-ai/claude-code",
    ] {
        let line = fill_in(line);
        assert!(!denies(planned.project.bash(&line)), "{line}");
    }
}

/// Other models than the two never review, however they are spelled.
#[test]
fn the_state_does_not_choose_the_model() {
    for model in ["haiku", "Opus", "claude-3-haiku", "opus --model haiku", "", " sonnet-x"] {
        let planned = started_review(json!({"review_model": model}));
        planned.expect_block(&planned.stop());
        assert_eq!(planned.reviewer_calls()[0].model(), "opus", "{model:?}");
    }
}
