//! Whether a command line runs tests, and how they ended.
//!
//! The first is decided by the programs that it runs and their arguments, never by its text: `cat
//! jest.config.js` runs no tests, and `make check` does. The second is decided by how the command ended.
//! Only where that says nothing about the tests, as in `npm test | tail`, what was printed is read.

use crate::effect::Effect;
use crate::event::{Call, Event, Kind};

/// How a run of tests ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ending {
    Passed,
    Failed {
        /// The first line that looks like an error.
        error: String,
    },
}

impl Ending {
    /// How the tests of this event ended; `None`: it ran none, or nobody can tell.
    pub fn of(event: &Event) -> Option<Self> {
        let (call, went_well) = match &event.kind {
            Kind::AfterTool(call) => (call, true),
            Kind::ToolFailed(call) => (call, false),
            _ => return None,
        };
        let runs = event.effects().iter().filter_map(|effect| match effect {
            Effect::Run { program, arguments, .. } => Some((program.as_str(), arguments.as_slice())),
            _ => None,
        });
        let are_tests: Vec<bool> = runs.map(|(program, arguments)| runs_tests(program, arguments)).collect();
        if !are_tests.contains(&true) || call.outcome.is_unfinished {
            return None;
        }
        // Of several programs, the last one says how all of them ended. If others ran tests before it,
        // what they printed says how those ended.
        let is_last = are_tests.last() == Some(&true);
        let are_more = are_tests.iter().filter(|is_test| **is_test).count() > 1;
        Self::told(call, went_well, is_last, are_more)
    }

    fn told(call: &Call, went_well: bool, is_last: bool, are_more: bool) -> Option<Self> {
        let text = call.outcome.text.as_deref().unwrap_or_default();
        let code = match call.outcome.exit_code {
            Some(code) => code,
            // The client calls a command that ended otherwise a failure. But one that printed nothing
            // may still be at work in the background, and one that failed without a code was not run to
            // its end: neither is a result.
            None if went_well && !text.trim().is_empty() => 0,
            None => return None,
        };
        let shown = if is_last && !are_more { Shown::default() } else { Shown::in_text(text) };
        let passed = match (is_last, code) {
            _ if shown.failures => false,
            (true, code) => code == 0,
            (false, _) if shown.passes => true,
            // Whatever ended here, it may not have been the tests.
            (false, _) => return None,
        };
        Some(if passed { Self::Passed } else { Self::Failed { error: first_error(text, code) } })
    }
}

/// Whether a program runs tests with these arguments.
fn runs_tests(program: &str, arguments: &[String]) -> bool {
    /// With these, runners only tell something.
    const TELLS: &[&str] = &[
        "--help",
        "-h",
        "--version",
        "--no-run",
        "--collect-only",
        "--co",
        "--listTests",
        "--list-tests",
        "--list",
    ];
    if arguments.iter().any(|argument| TELLS.contains(&argument.as_str())) {
        return false;
    }
    let program = program.rsplit(['/', '\\']).next().unwrap_or(program);
    let program = program.strip_suffix(".exe").or_else(|| program.strip_suffix(".cmd")).unwrap_or(program);
    // As in `npx vitest@latest`.
    let program = program.split_once('@').map_or(program, |(name, _)| name);
    let operands: Vec<&str> = operands(arguments).collect();
    let first = operands.first().copied().unwrap_or_default();
    let second = operands.get(1).copied().unwrap_or_default();
    let is_script = |name: &str| name.starts_with("test") || name.starts_with("e2e");
    match program {
        "pytest" | "py.test" | "jest" | "mocha" | "vitest" | "phpunit" | "rspec" => true,
        "npm" | "yarn" | "pnpm" | "bun" => match first {
            "test" | "t" | "tst" => true,
            "run" | "run-script" => is_script(second),
            "exec" | "x" | "dlx" => behind(arguments, first).is_some_and(runs_line),
            "workspace" => operands.get(2).is_some_and(|script| is_script(script)),
            // These take a script or a program by its name alone.
            _ if program != "npm" => is_script(first) || behind(arguments, "").is_some_and(runs_line),
            _ => false,
        },
        "npx" | "bunx" | "pnpx" => behind(arguments, "").is_some_and(runs_line),
        "uv" | "poetry" | "pipenv" | "pdm" | "rye" | "hatch" => {
            first == "run" && behind(arguments, first).is_some_and(runs_line)
        }
        "bundle" => first == "exec" && behind(arguments, first).is_some_and(runs_line),
        "go" | "deno" => first == "test",
        "cargo" => {
            matches!(operands.iter().find(|word| !word.starts_with('+')), Some(&("test" | "t" | "nextest")))
        }
        "mvn" | "mvnw" | "gradle" | "gradlew" | "dotnet" => {
            operands.iter().any(|word| *word == "test" || word.ends_with(":test"))
        }
        "cypress" => first == "run",
        "playwright" => first == "test",
        "node" => tests_by_option(arguments),
        "make" | "gmake" => {
            let only_tells = |word: &String| matches!(word.as_str(), "-n" | "--dry-run" | "--just-print");
            !arguments.iter().any(only_tells) && operands.iter().any(|word| matches!(*word, "test" | "check"))
        }
        _ if program.starts_with("python") || program == "py" => {
            let module = arguments.windows(2).find(|pair| pair[0] == "-m").map(|pair| pair[1].as_str());
            matches!(module, Some("pytest" | "unittest"))
        }
        _ => false,
    }
}

/// Whether `--test` stands before the script that is run.
fn tests_by_option(arguments: &[String]) -> bool {
    let mut words = arguments.iter().map(String::as_str);
    while let Some(word) = words.next().filter(|word| word.starts_with('-')) {
        match word {
            "--test" => return true,
            "--import" | "--require" | "-r" | "--loader" | "-C" | "--conditions" => drop(words.next()),
            _ => {}
        }
    }
    false
}

/// Whether this is a program that runs tests, and its arguments.
fn runs_line(line: &[String]) -> bool {
    line.split_first().is_some_and(|(program, arguments)| runs_tests(program, arguments))
}

/// Options of package managers and builders with a value of their own.
const WITH_VALUE: &[&str] = &[
    "--prefix",
    "-C",
    "-w",
    "--workspace",
    "--filter",
    "-F",
    "--dir",
    "--cwd",
    "-p",
    "--package",
    "-f",
    "--file",
    "--directory",
    "--manifest-path",
];

/// The words that are no options and no values of options, up to `--`.
fn operands(arguments: &[String]) -> impl Iterator<Item = &str> {
    let mut is_value = false;
    let words = arguments.iter().map(String::as_str).take_while(|word| *word != "--");
    words.filter(move |word| {
        let skip = is_value || word.starts_with('-');
        is_value = !is_value && WITH_VALUE.contains(word);
        !skip
    })
}

/// The line that stands behind a word, or behind all options.
fn behind<'a>(arguments: &'a [String], word: &str) -> Option<&'a [String]> {
    let at = if word.is_empty() {
        Some(0)
    } else {
        arguments.iter().position(|found| found == word).map(|at| at + 1)
    };
    let mut rest = &arguments[at?..];
    while let Some((option, then)) = rest.split_first()
        && option.starts_with('-')
    {
        let has_value = option != "--" && WITH_VALUE.contains(&option.as_str());
        rest = then.get(usize::from(has_value)..)?;
    }
    Some(rest)
}

/// What runners print about the ends of tests.
#[derive(Debug, Default, PartialEq, Eq)]
struct Shown {
    failures: bool,
    passes: bool,
}

impl Shown {
    fn in_text(text: &str) -> Self {
        const FAILURES: &[&str] = &["failed", "failing", "failure", "failures", "fail"];
        const PASSES: &[&str] = &["passed", "passing", "pass"];
        let mut shown = Self::default();
        for line in text.lines() {
            let line = plain(line);
            let line = line.trim();
            let fails = [
                "FAIL ",
                "FAIL\t",
                "--- FAIL:",
                "FAILED ",
                "not ok ",
                "npm ERR! Test failed",
                "BUILD FAILED",
            ];
            let passes = ["ok  \t", "test result: ok", "OK (", "BUILD SUCCESS"];
            let starts = |with: &[&str]| with.iter().any(|start| line.starts_with(start));
            shown.failures |= line == "FAIL" || starts(&fails) || line.starts_with("test result: FAILED");
            shown.passes |= line == "OK" || starts(&passes);
            let is_summary = line.starts_with("# ") || line.starts_with("ℹ ");
            let words: Vec<&str> = line.split_whitespace().collect();
            for (at, word) in words.iter().enumerate() {
                let kind = bare(word).to_ascii_lowercase();
                let (fails, passes) = (FAILURES.contains(&kind.as_str()), PASSES.contains(&kind.as_str()));
                if !fails && !passes {
                    continue;
                }
                let number = |at: usize| words.get(at).and_then(|word| bare(word).parse::<u64>().ok());
                // "3 failed", and in a summary the other way round: "Failures: 3".
                let before = at.checked_sub(1).and_then(number);
                let count =
                    if word.ends_with(':') || is_summary { number(at + 1).or(before) } else { before };
                shown.failures |= fails && count.is_some_and(|count| count > 0);
                shown.passes |= count.is_some_and(|count| if fails { count == 0 } else { count > 0 });
            }
        }
        shown
    }
}

/// The first line that looks like an error, without what differs from run to run.
fn first_error(text: &str, code: i64) -> String {
    const MOST: usize = 200;
    const SIGNS: &[&str] =
        &["error", "fail", "expected", "assert", "panicked", "not ok", "exception", "✗", "✕", "×"];
    let lines = text.lines().map(plain).filter(|line| !line.starts_with("Exit code "));
    let looks = |line: &String| {
        let line = line.to_lowercase();
        SIGNS.iter().any(|sign| line.contains(sign)) && !Shown::in_text(&line).passes
    };
    let found = lines.filter(looks).map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let is_time = |at: usize| {
            let own = bare(words[at]);
            let unit = words.get(at + 1).copied().map(bare).unwrap_or_default();
            is_duration(own, "")
                || is_duration(own, unit)
                || at > 0 && is_unit(own) && is_duration(bare(words[at - 1]), own)
        };
        let kept = (0..words.len()).filter(|at| !is_time(*at)).map(|at| words[at]);
        kept.collect::<Vec<_>>().join(" ")
    });
    let found = found.into_iter().find(|line| !line.is_empty());
    found.map_or_else(|| format!("exit code {code}"), |line| line.chars().take(MOST).collect())
}

fn bare(word: &str) -> &str {
    word.trim_matches(|c: char| !c.is_alphanumeric())
}

fn is_unit(word: &str) -> bool {
    matches!(word, "s" | "ms" | "sec" | "seconds")
}

/// `12ms`, or `5.21` with its unit behind it.
fn is_duration(word: &str, unit: &str) -> bool {
    let number = word.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let own = &word[number.len()..];
    number.parse::<f64>().is_ok() && is_unit(if own.is_empty() { unit } else { own })
}

/// A line without the colours of a terminal.
fn plain(line: &str) -> String {
    let mut parts = line.split("\u{1b}[");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = part.find(|c: char| c.is_ascii_alphabetic()).map_or(part.len(), |at| at + 1);
        text += &part[end..];
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_test(line: &str) -> bool {
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        runs_line(&words)
    }

    #[test]
    fn runners_are_known_by_their_arguments() {
        for line in [
            "npm test",
            "npm t",
            "npm run test",
            "npm run test:unit",
            "npm run e2e:ci",
            "npm --prefix web test",
            "npm test -- --watch=false",
            "yarn test",
            "yarn test:unit",
            "yarn jest",
            "yarn workspace web test",
            "pnpm test",
            "pnpm --filter web test",
            "pnpm exec vitest run",
            "npm exec -- jest",
            "bun test",
            "pytest -q",
            "python -m pytest",
            "python3.12 -m pytest tests",
            "uv run pytest",
            "poetry run pytest -x",
            "go test ./...",
            "cargo test",
            "cargo +nightly test",
            "cargo nextest run",
            "cargo t",
            "mvn -q test",
            "./mvnw test",
            "./gradlew :app:test",
            "gradle test",
            "dotnet test",
            "jest",
            "node_modules/.bin/jest --ci",
            "mocha",
            "vitest run",
            "vendor/bin/phpunit",
            "rspec",
            "bundle exec rspec",
            "cypress run",
            "npx cypress run",
            "npx playwright test",
            "npx --yes vitest@2 run",
            "npx -p jest jest",
            "bunx vitest",
            "node --test",
            "node --import tsx --test",
            "make test",
            "make -C web check",
            "make -j4 test",
        ] {
            assert!(is_test(line), "{line}");
        }
        for line in [
            "cat jest.config.js",
            "echo npm test",
            "npm test --help",
            "npm run build",
            "npm install jest",
            "npm run lint",
            "cargo build",
            "cargo test --no-run",
            "go vet",
            "pytest --collect-only",
            "npx eslint test",
            "cypress open",
            "playwright install",
            "node test.js",
            "node app.js --test",
            "make",
            "make -n test",
            "make install",
            "python -m venv test",
            "dotnet build",
            "git commit -m test",
            "grep -r test",
            "jest --version",
            "cargo test -- --list",
            "yarn add jest",
            "yarn",
            "uv run python",
            "npx",
        ] {
            assert!(!is_test(line), "{line}");
        }
    }

    #[test]
    fn what_runners_print_is_understood() {
        for text in [
            "3 failed",
            "Tests: 1 failed, 5 passed",
            "FAIL src/a.test.js",
            "FAIL\tpkg 0.1s",
            "--- FAIL: TestX",
            "FAILED tests/x.py::test",
            "not ok 3 - x",
            "test result: FAILED. 1 passed; 1 failed",
            "2 failing",
            "Tests run: 3, Failures: 1, Errors: 0",
            "# fail 2",
            "npm ERR! Test failed.  See above",
            "\u{1b}[31m1 failed\u{1b}[0m",
        ] {
            assert!(Shown::in_text(text).failures, "{text}");
        }
        for text in [
            "0 failed",
            "Tests: 5 passed",
            "5 passed, 0 failed",
            "Failures: 0",
            "# fail 0",
            "login failed as it should",
            "the FAIL-safe",
            "",
            "test result: ok. 3 passed; 0 failed",
        ] {
            assert!(!Shown::in_text(text).failures, "{text}");
        }
        for text in ["5 passed, 0 failed", "3 examples, 0 failures", "OK (3 tests, 5 assertions)", "# pass 3"]
        {
            assert!(Shown::in_text(text).passes, "{text}");
        }
        assert!(!Shown::in_text("0 passed").passes && !Shown::in_text("done").passes);
    }

    #[test]
    fn the_same_error_is_the_same_in_another_time() {
        let a = first_error("Exit code 1\n ok\nFAIL src/a.test.js (5.21 s)\n", 1);
        let b = first_error("Exit code 1\n ok\nFAIL src/a.test.js (6 s)\n", 1);
        assert_eq!((a.as_str(), b.as_str()), ("FAIL src/a.test.js", "FAIL src/a.test.js"));
        assert_eq!(first_error("Exit code 7\nhm", 7), "exit code 7");
        assert_eq!(first_error("FAIL a 12ms", 1), "FAIL a");
        assert_eq!(first_error(&"error ".repeat(100), 1).len(), 200);
    }
}
