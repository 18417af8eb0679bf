//! `test-watcher` reads the output of real test runners. Each text is real output.

use serde_json::json;

use super::WorkflowProject;
use super::gate_blocker::{run_guard, test_and_article_requirements, workflow_with_requirements};

const PHASE: &str = "06-implementation";

/// Test runner, its output, its exit code.
const FAILED: &[(&str, &str)] = &[
    (
        "npx jest",
        "FAIL src/a.test.js\n  ● adds\n\nTests:       3 failed, 97 passed, 100 total\nTime:        1.2 s",
    ),
    (
        "npx jest",
        "\u{1b}[0m\u{1b}[7m\u{1b}[1m\u{1b}[31m FAIL \u{1b}[39m\u{1b}[22m\u{1b}[27m\u{1b}[0m src/a.test.js\n",
    ),
    ("npm test", "3 failed, 97 passed\nFAIL"),
    ("npm test", "Test Suites: 1 failed, 1 total"),
    ("pytest", "FAILED tests/test_a.py::test_x - assert 1 == 2\n=== 3 failed, 97 passed in 0.12s ==="),
    (
        "pytest",
        "ERROR tests/test_a.py\n!!! Interrupted: 1 error during collection !!!\n=== 1 error in 0.05s ===",
    ),
    ("python -m unittest", "Ran 3 tests in 0.001s\n\nFAILED (failures=1)"),
    (
        "cargo test",
        "test a ... ok\ntest b ... FAILED\n\ntest result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured",
    ),
    (
        "cargo test",
        "error[E0425]: cannot find value\nerror: could not compile `x` (lib test) due to 1 previous error",
    ),
    ("cargo nextest run", "     Summary [   0.1s] 3 tests run: 2 passed, 1 failed, 0 skipped"),
    ("go test ./...", "ok  \tpkg/a\t0.1s\n--- FAIL: TestX (0.00s)\nFAIL\nFAIL\tpkg/b\t0.2s\nFAIL"),
    ("go test ./...", "# pkg/b\nb.go:3: undefined: x\nFAIL\tpkg/b [build failed]\nFAIL"),
    (
        "npx vitest run",
        " FAIL  src/a.test.ts > adds\n Test Files  1 failed | 2 passed (3)\n      Tests  3 failed | 97 passed (100)",
    ),
    ("npx mocha", "  2 passing (10ms)\n  1 failing\n\n  1) adds:"),
    (
        "bundle exec rspec",
        "Finished in 0.01 seconds\n3 examples, 1 failure\n\nFailed examples:\n\nrspec ./a_spec.rb:3",
    ),
    ("vendor/bin/phpunit", "FAILURES!\nTests: 3, Assertions: 3, Failures: 1."),
    ("vendor/bin/phpunit", "ERRORS!\nTests: 3, Assertions: 2, Errors: 1."),
    ("./gradlew test", "ATest > adds FAILED\n\n3 tests completed, 1 failed\n\nBUILD FAILED in 3s"),
    ("mvn test", "[ERROR] Tests run: 3, Failures: 1, Errors: 0, Skipped: 0\n[INFO] BUILD FAILURE"),
    ("mvn test", "[ERROR] Tests run: 3, Failures: 0, Errors: 1, Skipped: 0"),
    ("flutter test", "00:02 +5 -1: Some tests failed."),
    ("dotnet test", "Failed!  - Failed:     1, Passed:     2, Skipped:     0, Total:     3, Duration: 12 ms"),
    ("node --test", "not ok 1 - adds\n# tests 2\n# pass 1\n# fail 1"),
    ("node --test", "✖ adds (0.5ms)\nℹ tests 2\nℹ pass 1\nℹ fail 1"),
    ("bun test", " 3 pass\n 1 fail\nRan 4 tests across 1 files."),
    ("deno test", "FAILED | 2 passed | 1 failed (12ms)"),
    ("npx playwright test", "  1 failed\n    [chromium] › a.spec.ts:3 › adds\n  2 passed (3.1s)"),
    ("npx cypress run", "    ✖  1 of 2 failed (50%)      00:03        4        3        1"),
    ("swift test", "Executed 3 tests, with 1 failure (0 unexpected) in 0.1 (0.2) seconds"),
    ("npx jest", "  \u{2715} adds (3 ms)\n  \u{2713} subtracts (1 ms)"),
    ("npx jest", " \u{203a} 1 snapshot failed."),
    ("npm test", "3 tests failed"),
    ("npm test", "3 of 100 tests failed"),
    ("npm test", "3/100 tests failed"),
    ("npm test", "97 tests passed, 3 tests failed"),
    ("npm test", "3 test failures"),
    ("npm test", "Failed tests: 3"),
    ("npm test", "failed=3 passed=97"),
    ("npm test", "5 passed\nSome tests failed."),
    ("npm test", "TESTS FAILED"),
    ("npm test", "npm error Lifecycle script `test` failed with error:\nnpm error code 1"),
    ("npm test", "npm ERR! code ELIFECYCLE"),
    ("yarn test", "error Command failed with exit code 1."),
    ("pnpm test", "\u{2009}ELIFECYCLE\u{2009} Test failed. See above for more details."),
    ("npx vitest run", " Tests  3 passed (3)\nVitest caught 1 unhandled error during the test run."),
    ("pytest", "E       assert 1 == 2\n\ntests/test_a.py:3: AssertionError"),
    ("pytest", "INTERNALERROR> Traceback (most recent call last):"),
    ("cargo test", "error: test failed, to rerun pass `--lib`"),
    ("cargo test", "error[E0308]: mismatched types"),
    ("cargo test", "thread 'adds' panicked at src/lib.rs:3:5:"),
    ("cargo nextest run", "     Summary [   0.1s] 2 tests run: 1 passed, 1 timed out, 0 skipped"),
    ("go test -json ./...", "{\"Action\":\"pass\",\"Test\":\"A\"}\n{\"Action\":\"fail\",\"Test\":\"B\"}"),
    ("bundle exec rspec", "1 example, 0 failures, 1 error occurred outside of examples"),
    ("gradle test", "FAILURE: Build failed with an exception."),
    ("./gradlew check", "BUILD FAILED in 1s"),
    ("mvn verify", "[INFO] BUILD FAILURE"),
    ("make test", "prove t\nmake: *** [Makefile:3: test] Error 1"),
    ("mix test", "3 tests, 1 failure"),
    ("ctest", "67% tests passed, 1 tests failed out of 3"),
    ("bin/rails test", "3 runs, 3 assertions, 1 failures, 0 errors, 0 skips"),
    ("bundle exec rake test", "3 runs, 3 assertions, 0 failures, 1 errors, 0 skips"),
    ("php artisan test", "  Tests:    1 failed, 2 passed (3 assertions)"),
    ("vendor/bin/pest", "  Tests:    1 failed, 2 passed (3 assertions)"),
    ("prove -l", "Failed 1/3 subtests\nResult: FAIL"),
    ("prove -l", "Failed 1/3 subtests"),
    ("zig build test", "1/3 test.adds... FAIL (TestUnexpectedResult)"),
    ("npx tap", "not ok 1 - adds"),
    ("tox", "  py312: FAIL code 1 (0.1 seconds)"),
    ("sbt test", "[error] Failed: Total 3, Failed 1, Errors 0, Passed 2"),
    ("python manage.py test", "FAILED (failures=1)"),
    ("npx ava", "  1 test failed"),
    ("npx karma start --single-run", "Executed 3 of 3 (1 FAILED) (0.1 secs)"),
];

const PASSED: &[(&str, &str)] = &[
    ("npx jest", "PASS src/a.test.js\n\nTests:       100 passed, 100 total"),
    ("npx jest", "Tests:       2 skipped, 98 passed, 100 total"),
    ("pytest", "=== 97 passed, 2 skipped in 0.12s ==="),
    ("pytest", "tests/test_failed.py::test_fail_is_error PASSED\n=== 1 passed in 0.01s ==="),
    ("python -m unittest", "Ran 3 tests in 0.001s\n\nOK"),
    (
        "cargo test",
        "running 3 tests\ntest result: ok. 3 passed; 0 failed; 0 ignored\n\nrunning 0 tests\n\ntest result: ok. 0 passed; 0 failed",
    ),
    ("cargo nextest run", "     Summary [   0.1s] 3 tests run: 3 passed, 0 skipped"),
    ("go test ./...", "ok  \tpkg/a\t0.1s\n?   \tpkg/b\t[no test files]"),
    ("npx vitest run", " Test Files  3 passed (3)\n      Tests  100 passed (100)"),
    ("npx mocha", "  2 passing (10ms)"),
    ("bundle exec rspec", "3 examples, 0 failures"),
    ("bundle exec rspec", "10 examples, 0 failures"),
    ("bundle exec rspec", "0 examples, 0 failures\n120 examples, 0 failures, 3 pending"),
    ("vendor/bin/phpunit", "Tests: 10, Assertions: 20, Skipped: 1."),
    ("mvn test", "[INFO] Tests run: 0, Failures: 0, Errors: 0\n[INFO] Tests run: 3, Failures: 0, Errors: 0"),
    ("vendor/bin/phpunit", "OK (3 tests, 3 assertions)"),
    ("./gradlew test", "BUILD SUCCESSFUL in 3s\n3 actionable tasks: 3 executed"),
    ("mvn test", "[INFO] Tests run: 3, Failures: 0, Errors: 0, Skipped: 0\n[INFO] BUILD SUCCESS"),
    ("flutter test", "00:02 +5: All tests passed!"),
    ("dotnet test", "Passed!  - Failed:     0, Passed:     3, Skipped:     0, Total:     3, Duration: 12 ms"),
    ("node --test", "ℹ tests 2\nℹ pass 2\nℹ fail 0"),
    ("bun test", " 3 pass\n 0 fail\nRan 3 tests across 1 files."),
    ("deno test", "ok | 3 passed | 0 failed (12ms)"),
    ("npm test", "3 failed logins are refused\nthe error handler throws an error\n5 passed"),
    ("npm test", "retries: 2 failed attempts, then it works\n5 passed"),
    ("npm test", "all is well"),
    ("npm test", "0 of 100 tests failed"),
    ("npm test", "100 tests passed, 0 tests failed"),
    (
        "npm test",
        "console.error: the request failed\n  \u{2715} is drawn on the button\nTests:       5 passed, 5 total",
    ),
    ("npm test", "level=info errors=1 the retry works\n5 passed"),
    (
        "cargo test",
        "thread 'x' panicked at a.rs:1:2:\ntest x - should panic ... ok\ntest result: ok. 1 passed; 0 failed",
    ),
    ("go test -json ./...", "{\"Action\":\"pass\",\"Package\":\"p\"}"),
    ("mix test", "3 tests, 0 failures"),
    ("ctest", "100% tests passed, 0 tests failed out of 3"),
    ("bin/rails test", "3 runs, 3 assertions, 0 failures, 0 errors, 0 skips"),
    ("prove -l", "All tests successful.\nResult: PASS"),
    ("sbt test", "[info] Passed: Total 3, Failed 0, Errors 0, Passed 3"),
];

/// The test runner found no tests, so there is no result.
const NONE: &[(&str, &str)] = &[
    (
        "cargo test zzz",
        "running 0 tests\n\ntest result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 12 filtered out",
    ),
    ("go test -run zzz ./...", "ok  \tpkg/a\t0.1s [no tests to run]\n?   \tpkg/b\t[no test files]"),
    ("npx jest --passWithNoTests", "No tests found, exiting with code 0"),
    ("npx jest -t zzz", "Test Suites: 1 skipped, 0 of 1 total\nTests:       5 skipped, 5 total"),
    ("npx vitest run --passWithNoTests", "No test files found, exiting with code 0"),
    ("npx mocha", "  0 passing (1ms)"),
    ("bundle exec rspec -e zzz", "All examples were filtered out\n\n0 examples, 0 failures"),
    ("vendor/bin/phpunit --filter zzz", "No tests executed!"),
    ("python -m unittest", "Ran 0 tests in 0.000s\n\nOK"),
    ("node --test", "ℹ tests 0\nℹ pass 0\nℹ fail 0"),
    ("mix test", "0 tests, 0 failures"),
    ("bin/rails test", "0 runs, 0 assertions, 0 failures, 0 errors, 0 skips"),
    ("mvn test", "[INFO] Tests run: 0, Failures: 0, Errors: 0, Skipped: 0\n[INFO] BUILD SUCCESS"),
    ("swift test", "Executed 0 tests, with 0 failures (0 unexpected) in 0.1 (0.2) seconds"),
    ("prove", "Files=0, Tests=0\nResult: NOTESTS"),
    ("ctest", "No tests were found!!!"),
    ("npx jest", "Tests:       0 total"),
    ("npx jasmine", "No specs found"),
    ("npx jasmine", "0 specs, 0 failures"),
    ("dotnet test", "No test is available in x.dll."),
    ("go test ./...", "?   \tpkg/a\t[no test files]"),
    ("./gradlew test", "> Task :test NO-SOURCE\n\nBUILD SUCCESSFUL in 1s"),
    ("npm test", "Error: no test specified"),
];

/// How a run with exit code 0 is recorded, from the client's own form and from plain text.
fn read_results(flow: &WorkflowProject, command: &str, printed: &str) -> [Option<String>; 2] {
    [json!({"stdout": printed, "stderr": "", "interrupted": false}), json!(printed)].map(|response| {
        flow.write_state(&super::started_workflow(PHASE));
        let mut event = flow.call("PostToolUse.Bash", &json!({"command": command}));
        event["tool_response"] = response;
        run_guard(flow, "test-watcher", &event);
        let state = flow.read_state();
        let record = &state["phases"][PHASE]["iteration_requirements"]["test_iteration"];
        record["last_test_result"].as_str().map(str::to_owned)
    })
}

#[test]
fn output_with_failures_is_never_a_pass() {
    let flow = workflow_with_requirements(PHASE, &test_and_article_requirements());
    for (command, printed) in FAILED {
        for result in read_results(&flow, command, printed) {
            assert_eq!(result.as_deref(), Some("failed"), "{command}: {printed}");
        }
        let piped = format!("{command} 2>&1 | tail -20");
        for result in read_results(&flow, &piped, printed) {
            assert_ne!(result.as_deref(), Some("passed"), "{piped}: {printed}");
        }
    }
}

#[test]
fn output_with_passes_is_a_pass() {
    let flow = workflow_with_requirements(PHASE, &test_and_article_requirements());
    for (command, printed) in PASSED {
        for result in read_results(&flow, command, printed) {
            assert_eq!(result.as_deref(), Some("passed"), "{command}: {printed}");
        }
    }
}

#[test]
fn a_run_without_tests_has_no_result() {
    let flow = workflow_with_requirements(PHASE, &test_and_article_requirements());
    for (command, printed) in NONE {
        for result in read_results(&flow, command, printed) {
            assert_eq!(result, None, "{command}: {printed}");
        }
    }
}

#[test]
fn the_output_may_contain_the_exit_code() {
    let flow = workflow_with_requirements(PHASE, &test_and_article_requirements());
    for (text, wanted) in [
        ("done\nProcess exited with code 1", "failed"),
        ("5 passed\nexit code: 2", "failed"),
        ("done, exit 3", "failed"),
        ("done\nexited with code 0", "passed"),
        ("5 passed\nno exit in sight", "passed"),
    ] {
        let [_, plain] = read_results(&flow, "npm test", text);
        assert_eq!(plain.as_deref(), Some(wanted), "{text}");
    }
}

/// A result may be in blocks of text, or in a field of another name.
#[test]
fn a_result_is_read_in_each_form() {
    let flow = workflow_with_requirements(PHASE, &test_and_article_requirements());
    for (response, wanted) in [
        (json!({"output": "1 failed", "exit_code": 0}), "failed"),
        (json!({"output": "5 passed", "code": 0}), "passed"),
        (json!({"content": "1 failed"}), "failed"),
        (json!([{"type": "text", "text": "5 passed\n1 failed"}]), "failed"),
        (json!([{"type": "text", "text": "5 passed"}, {"type": "image"}]), "passed"),
        (json!({"content": [{"type": "text", "text": "FAIL a.test.js"}]}), "failed"),
    ] {
        flow.write_state(&super::started_workflow(PHASE));
        let mut event = flow.call("PostToolUse.Bash", &json!({"command": "npm test"}));
        event["tool_response"] = response.clone();
        run_guard(&flow, "test-watcher", &event);
        let state = flow.read_state();
        let record = &state["phases"][PHASE]["iteration_requirements"]["test_iteration"];
        assert_eq!(record["last_test_result"], wanted, "{response}");
    }
}
