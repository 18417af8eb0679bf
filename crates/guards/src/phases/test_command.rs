//! Whether a program runs tests, by its name and its arguments.
//!
//! A command line is never searched for words: `cat jest.config.js` runs no tests, and `make check` and
//! `docker run app npm test` do.

use super::prelude::*;
use std::ffi::OsStr;
use std::path::Path;

/// Programs that run tests with any arguments.
const RUNNERS: &[&str] = &[
    "pytest",
    "py.test",
    "jest",
    "mocha",
    "vitest",
    "phpunit",
    "rspec",
    "pest",
    "ava",
    "tap",
    "jasmine",
    "tox",
    "nox",
    "prove",
    "ctest",
    "gotestsum",
];

/// With one of these, test runners only print something.
const DRY_RUN: &[&str] = &[
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

/// How many programs that run each other are followed.
const DEEPEST: usize = 8;

/// Whether a program runs tests with these arguments.
pub fn runs_tests(program: &str, arguments: &[String]) -> bool {
    runs_tests_within(program, arguments, DEEPEST)
}

fn runs_tests_within(program: &str, arguments: &[String], depth: usize) -> bool {
    if arguments.iter().any(|argument| DRY_RUN.contains(&argument.as_str())) {
        return false;
    }
    let program = program.rsplit(['/', '\\']).next().unwrap_or(program);
    let program = program.strip_suffix(".exe").or_else(|| program.strip_suffix(".cmd")).unwrap_or(program);
    // `npx vitest@latest`
    let program = program.split_once('@').map_or(program, |(name, _)| name);
    let operands: Vec<&str> = find_operands(arguments).collect();
    let first = operands.first().copied().unwrap_or_default();
    let second = operands.get(1).copied().unwrap_or_default();
    let runs_line = |line: &[String]| match line.split_first() {
        Some((program, arguments)) if depth > 0 => runs_tests_within(program, arguments, depth - 1),
        _ => false,
    };
    let is_script = |name: &str| name.starts_with("test") || name.starts_with("e2e");
    match program {
        _ if RUNNERS.contains(&program) => true,
        "npm" | "yarn" | "pnpm" | "bun" => match first {
            "test" | "t" | "tst" => true,
            "run" | "run-script" => is_script(second),
            "exec" | "x" | "dlx" => find_line_behind(arguments, first).is_some_and(runs_line),
            "workspace" => operands.get(2).is_some_and(|script| is_script(script)),
            // The others run a script or a program by its name alone.
            _ if program != "npm" => {
                is_script(first) || find_line_behind(arguments, "").is_some_and(runs_line)
            }
            _ => false,
        },
        "npx" | "bunx" | "pnpx" => find_line_behind(arguments, "").is_some_and(runs_line),
        "hatch" | "pdm" if first == "test" => true,
        "uv" | "poetry" | "pipenv" | "pdm" | "rye" | "hatch" => {
            first == "run" && find_line_behind(arguments, first).is_some_and(runs_line)
        }
        "xvfb-run" | "c8" | "nyc" | "cross-env" | "coverage" => {
            find_wrapped_line(arguments).is_some_and(runs_line)
        }
        "docker" | "docker-compose" | "podman" => {
            operands.iter().any(|word| matches!(*word, "run" | "exec"))
                && find_wrapped_line(arguments).is_some_and(runs_line)
        }
        "nx" | "turbo" | "lerna" | "task" => first == "test" || first == "run" && is_script(second),
        "deno" if first == "task" => is_script(second),
        "bundle" => first == "exec" && find_line_behind(arguments, first).is_some_and(runs_line),
        "go" | "deno" | "flutter" | "dart" | "swift" | "mix" | "sbt" | "stack" | "cabal" | "lein" | "ng"
        | "bazel" | "just" | "composer" | "playwright" => first == "test",
        "rails" | "rake" => is_script(first) || first == "spec",
        "php" => first == "artisan" && second == "test",
        "karma" => first == "start",
        "zig" => first == "test" || first == "build" && second == "test",
        "cargo" => {
            matches!(operands.iter().find(|word| !word.starts_with('+')), Some(&("test" | "t" | "nextest")))
        }
        "mvn" | "mvnw" | "gradle" | "gradlew" | "dotnet" => {
            let tests = ["test", "check", "verify"];
            let is_test =
                |task: &str| task == "test" || task.starts_with("test") && program.starts_with("gradle");
            operands.iter().any(|word| tests.contains(word) || word.rsplit(':').next().is_some_and(is_test))
        }
        "cypress" => first == "run",
        "node" | "tsx" => {
            let script = Path::new(first).file_stem().and_then(OsStr::to_str);
            has_test_option(arguments)
                || first.contains("node_modules/") && script.is_some_and(|script| RUNNERS.contains(&script))
        }
        "make" | "gmake" => {
            let is_dry_run = |word: &String| matches!(word.as_str(), "-n" | "--dry-run" | "--just-print");
            !arguments.iter().any(is_dry_run) && operands.iter().any(|word| matches!(*word, "test" | "check"))
        }
        _ if program.starts_with("python") || program == "py" => {
            let module = arguments.windows(2).find(|pair| pair[0] == "-m").map(|pair| pair[1].as_str());
            matches!(module, Some("pytest" | "unittest")) || first.ends_with("manage.py") && second == "test"
        }
        _ => false,
    }
}

/// The line that another program runs: `npm test` of `docker run app npm test`. It begins with the first
/// program that can run tests.
fn find_wrapped_line(arguments: &[String]) -> Option<&[String]> {
    const PROGRAMS: &[&str] = &[
        "npm", "yarn", "pnpm", "bun", "npx", "node", "python", "python3", "go", "cargo", "mvn", "bundle",
        "make",
    ];
    let can_run_tests = |word: &String| {
        let name = word.rsplit('/').next().unwrap_or_default();
        RUNNERS.contains(&name) || PROGRAMS.contains(&name)
    };
    arguments.iter().position(can_run_tests).map(|at| &arguments[at..])
}

/// Whether `--test` comes before the script.
fn has_test_option(arguments: &[String]) -> bool {
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

/// Options of package managers and build tools that have a value.
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
    "--with",
];

/// The words before `--` that are neither options nor their values.
fn find_operands(arguments: &[String]) -> impl Iterator<Item = &str> {
    let mut is_value = false;
    let words = arguments.iter().map(String::as_str).take_while(|word| *word != "--");
    words.filter(move |word| {
        let skip = is_value || word.starts_with('-');
        is_value = !is_value && WITH_VALUE.contains(word);
        !skip
    })
}

/// The line after a word, or the whole line if the word is empty, without the options at its start.
fn find_line_behind<'a>(arguments: &'a [String], word: &str) -> Option<&'a [String]> {
    let mut rest = arguments;
    if !word.is_empty() {
        rest = &arguments[arguments.iter().position(|found| found == word)? + 1..];
    }
    while let Some((option, then)) = rest.split_first()
        && option.starts_with('-')
    {
        rest = then.get(usize::from(WITH_VALUE.contains(&option.as_str()))..)?;
    }
    Some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_test(line: &str) -> bool {
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        runs_tests(&words[0], &words[1..])
    }

    #[test]
    fn test_runs_are_recognized_by_program_and_arguments() {
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
            "docker compose run --rm app npm test",
            "docker exec app pytest -q",
            "xvfb-run -a npm test",
            "npx c8 npm test",
            "npx nyc mocha",
            "coverage run -m pytest",
            "npx cross-env CI=1 jest",
            "uv run --with x pytest",
            "node node_modules/.bin/jest",
            "node ./node_modules/vitest/vitest.mjs run",
            "npx tsx --test",
            "npx nx test web",
            "turbo run test",
            "deno task test",
            "hatch test",
            "gradle :app:testDebugUnitTest",
        ] {
            assert!(is_test(line), "{line}");
        }
    }

    #[test]
    fn other_programs_run_no_tests() {
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
            "docker build -t jest .",
            "docker compose up",
            "xvfb-run npm start",
            "coverage report",
            "node src/jest.js",
            "nx build test",
            "turbo run build",
        ] {
            assert!(!is_test(line), "{line}");
        }
    }

    /// A long chain of programs that start each other is not followed to its end.
    #[test]
    fn a_long_line_of_wrappers_costs_little() {
        for wrapper in ["npx ", "c8 npx ", "poetry run ", "docker run npx "] {
            assert!(!is_test(&(wrapper.repeat(50_000) + "jest")), "{wrapper}");
        }
    }
}
