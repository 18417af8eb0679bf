//! Which scenario files are valid, and the errors for the others.

use super::*;

const ROUTE: &str = "[[route]]\n[[route.step]]\ntext = 'done'\n";

fn parse(rest: &str) -> Result<Scenario> {
    Scenario::parse(&format!("title = 't'\nprompt = 'p'\n{rest}"), "s.toml")
}

fn fault(rest: &str) -> String {
    parse(rest).unwrap_err().to_string()
}

#[test]
fn an_unknown_key_is_named_with_its_line() {
    let fault = fault(&format!("{ROUTE}[[expect.hook]]\nevent = 'Stop'\nstdout_contians = ['x']\n"));
    assert!(fault.contains("stdout_contians") && fault.contains("line 8"), "{fault}");
}

#[test]
fn mistakes_that_would_let_a_scenario_pass_are_errors() {
    for (rest, expected) in [
        ("", "no `[[route]]`"),
        ("[[route]]\n", "no `[[route.step]]`"),
        ("[[route]]\n[[route.step]]\n", "needs `text`"),
        ("[[route]]\n[[route.step]]\ntext='x'\nerror={status=529, type='x'}", "has no other answer"),
        ("[[route]]\n[[route.step]]\ncut=true\nerror={status=529, type='x'}", "has no other answer"),
        ("[[route]]\n[[route.step]]\nerror={status=200, type='x'}", "400 to 599"),
        ("[[route]]\n[[route.step]]\ntool='A'\ncalls=[{tool='B'}]", "either `tool` or `calls`"),
        ("[[route]]\n[[route.step]]\ninput={a=1}", "belongs to a `tool`"),
        ("[[route]]\n[[route.step]]\ntext='x'\nbefore=[{write='f'}]", "`write` needs"),
        (
            "[[route]]\n[[route.step]]\ntext='x'\nbefore=[{write='f', remove='g', text='x'}]",
            "belong to `write`",
        ),
        ("[[route]]\n[[route.step]]\ntext='x'\nbefore=[{wait=-1.0}]", "between 0 and 3600"),
        (
            "[[route]]\n[[route.step]]\ntext='x'\n[[route]]\n[[route.step]]\ntext='x'",
            "two routes are named `main`",
        ),
        ("[[route]]\n[[route.step]]\ntext='x'\n[expect.requests]\nsub=1", "unknown route `sub`"),
        ("[[route]]\n[[route.step]]\ntext='x'\n[[expect.request]]\nn=0", "counts from 1"),
        (
            "[[route]]\n[[route.step]]\ntext='x'\n[[expect.request]]\nmatches=['(']",
            "not a regular expression",
        ),
        ("[[route]]\n[[route.step]]\ntext='x'\n[[expect.hook]]\nevent='Stop'", "checks nothing"),
        ("prompts=['a','b']\n[[route]]\n[[route.step]]\ntext='x'", "exclude each other"),
        ("[[do]]\nprompt='x'\n[[route]]\n[[route.step]]\ntext='x'", "`[[do]]` needs a `terminal`"),
        ("[[route]]\n[[route.step]]\ntext='x'\n[[expect.screen]]\nlacks=['x']", "`[[expect.screen]]` needs"),
        ("terminal={columns=80}\n[[route]]\n[[route.step]]\ntext='x'", "missing field `rows`"),
        ("terminal={columns=0, rows=1}\n[[route]]\n[[route.step]]\ntext='x'", "nonzero"),
        ("terminal={columns=9, rows=9}\nhost='allow'\n[[route]]\n[[route.step]]\ntext='x'", "`host` cannot"),
        (
            "terminal={columns=9, rows=9}\n[[do]]\nwait_idle=true\n[[route]]\n[[route.step]]\ntext='x'",
            "exclude",
        ),
        (
            "terminal={columns=9, rows=9}\n[[route]]\n[[route.step]]\ntext='x'\n[[expect.screen]]\nafter=2\nlacks=['x']",
            "`after = 2`, but there are 1 steps",
        ),
        (
            "terminal={columns=9, rows=9}\n[[route]]\n[[route.step]]\ntext='x'\n[[expect.screen]]\nafter=1",
            "checks nothing",
        ),
        (
            "terminal={columns=9, rows=9}\n[[do]]\npress='Return'\n[[route]]\n[[route.step]]\ntext='x'",
            "no key `Return`",
        ),
        (
            "terminal={columns=9, rows=9}\n[[do]]\nprompt=\"a\\nb\"\n[[route]]\n[[route.step]]\ntext='x'",
            "one line",
        ),
        ("terminal={columns=9, rows=9}\n[[do]]\nprompt='a'\nwait_idle=true", "wanted exactly 1 element"),
        ("timeout=0\n[[route]]\n[[route.step]]\ntext='x'", "`timeout`"),
        ("host='maybe'\n[[route]]\n[[route.step]]\ntext='x'", "\"allow\" or \"deny\""),
        ("[files]\na=[1]\n[[route]]\n[[route.step]]\ntext='x'", "a content is a text or a table"),
        (
            "[[hook]]\nevent='Stop'\ncommand='x'\nonFailure='explode'\n[[route]]\n[[route.step]]\ntext='x'",
            "explode",
        ),
    ] {
        let fault = fault(rest);
        assert!(fault.contains(expected), "{rest}\n--- {fault}");
    }
}

#[test]
fn several_prompts_need_a_host() {
    let text = format!("title='t'\nprompts=['a','b']\n{ROUTE}");
    assert!(Scenario::parse(&text, "s.toml").unwrap_err().to_string().contains("need a `host`"));
    let text = format!("title='t'\nprompts=['a','b']\nhost='allow'\n{ROUTE}");
    assert_eq!(Scenario::parse(&text, "s.toml").unwrap().prompts(), ["a", "b"]);
}

#[test]
fn a_host_answers_per_tool() {
    let scenario =
        parse(&format!("{ROUTE}[host]\ndefault='allow'\nExitPlanMode='deny'\nmessage='not yet'\n")).unwrap();
    let host = scenario.host.unwrap();
    assert_eq!(*host.permission("Bash"), Permission::Allow);
    assert_eq!(*host.permission("ExitPlanMode"), Permission::Deny { message: "not yet".into() });
}

#[test]
fn paths_stay_in_the_run() {
    let (project, home) = (Path::new("/r/project"), Path::new("/r/home"));
    assert_eq!(resolve_path("a/b", project, home).unwrap(), Path::new("/r/project/a/b"));
    assert_eq!(resolve_path("~/a", project, home).unwrap(), Path::new("/r/home/a"));
    assert_eq!(resolve_path("/r/home/.claude/x", project, home).unwrap(), Path::new("/r/home/.claude/x"));
    for outside in ["../x", "~/../../etc/passwd", "/etc/passwd", "a/../../x"] {
        assert!(resolve_path(outside, project, home).is_err(), "{outside}");
    }
}
