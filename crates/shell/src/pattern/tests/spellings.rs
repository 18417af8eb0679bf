//! Scripts and targets that a program accepts in several spellings.

use super::{check_lines, match_line};
use crate::pattern::PatternMatch::{No, Unknown, Yes};
use crate::pattern::{CommandPattern, RunView, is_excused};

#[test]
fn a_script_of_a_package_matches_in_each_spelling() {
    check_lines(
        Yes,
        &[
            (
                "npm run release",
                &[
                    "npm run release",
                    "npm run-script release",
                    "npm rum release",
                    "npm -w app --silent run-script release -- -n",
                ],
            ),
            ("npm test", &["npm test", "npm t", "npm tst", "npm run test", "npm run-script test -- -u"]),
            ("npm run test", &["npm test", "npm t", "npm --prefix app test"]),
            ("npm start", &["npm run start"]),
            (
                "yarn run deploy",
                &[
                    "yarn deploy",
                    "yarn --cwd app deploy --prod",
                    "yarn workspace app deploy",
                    "yarn workspace app run deploy",
                    "yarn workspaces run deploy",
                    "yarn workspaces foreach -A run deploy",
                ],
            ),
            ("yarn deploy", &["yarn run deploy", "yarn deploy", "yarn workspace app run deploy"]),
            ("yarn add", &["yarn workspace app add left-pad"]),
            ("yarn test", &["yarn run test", "yarn test --watch"]),
            (
                "pnpm run build",
                &[
                    "pnpm build",
                    "pnpm -r build",
                    "pnpm --filter app run-script build",
                    "pnpm recursive run build",
                ],
            ),
            ("pnpm test", &["pnpm run test", "pnpm t", "pnpm -r test"]),
            ("bun run dev", &["bun dev", "bun --watch run dev"]),
            ("bun build.ts", &["bun run build.ts"]),
            ("yarn run deploy <end>", &["yarn deploy"]),
        ],
    );
    check_lines(
        No,
        &[
            ("npm run release", &["npm release", "npm run build -- release", "npm run build"]),
            ("npm run install", &["npm install"]),
            ("npm install", &["npm run install"]),
            ("yarn run add", &["yarn add left-pad", "yarn workspace app add x"]),
            ("yarn add", &["yarn run add", "yarn deploy add"]),
            ("yarn run deploy", &["yarn build deploy", "yarn why deploy"]),
            ("pnpm run deploy", &["pnpm deploy out"]),
            // The test runner of bun itself is not the script.
            ("bun run test", &["bun test"]),
            ("yarn run deploy <end>", &["yarn deploy --prod", "yarn deploy x"]),
        ],
    );
    check_lines(Unknown, &[("yarn run deploy", &["yarn $X", "yarn run $X"])]);
}

#[test]
fn each_target_of_a_build_counts() {
    check_lines(
        Yes,
        &[
            (
                "make deploy",
                &[
                    "make deploy",
                    "make build deploy",
                    "make -j4 build V=1 deploy",
                    "make -k clean -- all deploy",
                ],
            ),
            ("mvn deploy", &["mvn clean deploy", "mvn -q clean deploy -DskipTests"]),
            ("gradle|gradlew publish", &["./gradlew clean publish", "gradle build publish --info"]),
            ("rake db:drop", &["rake db:drop db:create"]),
            ("just deploy", &["just build deploy"]),
            ("ninja clean", &["ninja -C out clean"]),
        ],
    );
    check_lines(
        No,
        &[
            ("make deploy", &["make build", "make -f deploy build", "make -C deploy", "make deploy=1 build"]),
            ("make deploy <end>", &["make build deploy"]),
            ("cargo deploy", &["cargo build deploy"]),
        ],
    );
}

#[test]
fn an_exception_for_one_target_does_not_excuse_the_others() {
    let is_excused = |line: &str| {
        let except = [CommandPattern::parse("make build|test").unwrap()];
        let effects = crate::effects(line, std::path::Path::new("/p"), None);
        let run = effects.iter().find_map(RunView::from_effect).unwrap();
        is_excused(&except, &run)
    };
    assert!(is_excused("make build") && is_excused("make test build"));
    assert!(!is_excused("make build deploy") && !is_excused("make"));
    assert_eq!(match_line("make *", "make build deploy"), Yes);
}
