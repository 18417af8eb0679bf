//! Whether a command line runs tests, and how they ended.
//!
//! The first is decided by the programs that it runs and their arguments, never by its text: `cat
//! jest.config.js` runs no tests, and `make check` does. The second is decided by how the command ended and by
//! what was printed: a text that shows failed tests is no pass, whatever the exit code says, because some
//! clients and pipes do not give the code of the runner.

use super::test_output::{Ran, Shown, bare, plain};
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
        // Of several programs, the last one says how all of them ended.
        Self::told(call, went_well, are_tests.last() == Some(&true))
    }

    fn told(call: &Call, went_well: bool, is_last: bool) -> Option<Self> {
        let text = call.outcome.text.as_deref().unwrap_or_default();
        let code = match call.outcome.exit_code {
            Some(code) => code,
            // The client calls a command that ended otherwise a failure. But one that printed nothing
            // may still be at work in the background, and one that failed without a code was not run to
            // its end: neither is a result.
            None if went_well && !text.trim().is_empty() => 0,
            None => return None,
        };
        let shown = Shown::in_text(text);
        let passed = match (is_last, code) {
            _ if shown.failures => false,
            // Nothing was run, so nothing passed.
            (_, 0) if shown.ran == Ran::Nothing => return None,
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
        "pytest" | "py.test" | "jest" | "mocha" | "vitest" | "phpunit" | "rspec" | "pest" | "ava" | "tap"
        | "jasmine" | "tox" | "nox" | "prove" | "ctest" | "gotestsum" => true,
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
        "go" | "deno" | "flutter" | "dart" | "swift" | "mix" | "sbt" | "stack" | "cabal" | "lein" | "ng"
        | "bazel" | "just" | "composer" => first == "test",
        "rails" | "rake" => is_script(first) || first == "spec",
        "php" => first == "artisan" && second == "test",
        "karma" => first == "start",
        "zig" => first == "test" || first == "build" && second == "test",
        "cargo" => {
            matches!(operands.iter().find(|word| !word.starts_with('+')), Some(&("test" | "t" | "nextest")))
        }
        "mvn" | "mvnw" | "gradle" | "gradlew" | "dotnet" => {
            let tests = ["test", "check", "verify"];
            operands.iter().any(|word| tests.contains(word) || word.ends_with(":test"))
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
            matches!(module, Some("pytest" | "unittest")) || first.ends_with("manage.py") && second == "test"
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

fn is_unit(word: &str) -> bool {
    matches!(word, "s" | "ms" | "sec" | "seconds")
}

/// `12ms`, or `5.21` with its unit behind it.
fn is_duration(word: &str, unit: &str) -> bool {
    let number = word.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let own = &word[number.len()..];
    number.parse::<f64>().is_ok() && is_unit(if own.is_empty() { unit } else { own })
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
            "bin/rails test",
            "bundle exec rake spec",
            "php artisan test",
            "mix test",
            "python manage.py test",
            "./gradlew check",
            "mvn -B verify",
            "zig build test",
            "npx ava",
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
            "mix deps.get",
            "rails server",
            "php artisan migrate",
            "python manage.py migrate",
            "karma init",
            "zig build",
        ] {
            assert!(!is_test(line), "{line}");
        }
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
