//! Lines with words that cannot be known.

use super::check_lines;
use crate::pattern::PatternMatch::{No, Unknown, Yes};

#[test]
fn a_word_that_decides_and_cannot_be_known_is_unknown() {
    check_lines(
        Unknown,
        &[
            (
                "git push --force|-f",
                &[
                    "git push $FLAGS",
                    "git push \"$FLAG\"",
                    "git push -$F",
                    "git push --forc$E",
                    "git push --{force,quiet}",
                    "git $COMMAND --force",
                    "git \"$COMMAND\" --force",
                    "git \"$@\"",
                    "git $(command) -f",
                    "git push `cat flags`",
                    "$GIT push --force",
                    "\"$GIT\" push --force",
                    "/usr/bin/$G push --force",
                    "\"$BIN/git\" push -f",
                    "$X",
                    "eval \"$X\"",
                    "bash -c \"$X\"",
                    "sudo $X push -f",
                    "cat commands | xargs git",
                    "cat flags | xargs git push",
                    "git push -u$X",
                    "git push -o $X",
                    "git push -o$X",
                    "git push --repo=$X",
                ],
            ),
            ("git add -A|--all|.", &["git add $FILES", "git add \"$FILE\"", "git add *"]),
            ("git push origin main", &["git push $REMOTE main", "git push origin $BRANCH", "git push $X"]),
            ("rm src", &["rm s*", "rm -rf src/$X", "rm \"$D\""]),
            ("git add x", &["git add $X x", "git add \"$X\" x"]),
            ("docker run --network=host", &["docker run --network $N x", "docker run --network=$N x"]),
            ("git checkout --", &["git checkout $X"]),
            ("git add x", &["git \"$X\" y add x", "git -C $D y add x"]),
            ("git push", &["git -C $D status"]),
        ],
    );
}

#[test]
fn an_unknown_word_does_not_hide_what_the_others_decide() {
    check_lines(
        Yes,
        &[
            (
                "git push --force|-f",
                &[
                    "git push $REMOTE --force",
                    "git push --force $REMOTE",
                    "git push --force \"$REMOTE\" \"$BRANCH\"",
                    "git $OPTIONS push --force",
                    "git -C $DIR push --force",
                    "git -C \"$DIR\" push -f",
                    "git -c user.name=\"$N\" push -f",
                    "git push --force=$X",
                    "git push -f$X",
                    "$X git push -f",
                ],
            ),
            ("git push", &["git push $X"]),
            ("git push *", &["git push $X", "git push \"$X\""]),
            ("git commit -m", &["git commit -m \"$MESSAGE\"", "git commit -m\"$MESSAGE\""]),
            ("rm *", &["rm *.o"]),
        ],
    );
}

#[test]
fn what_is_known_of_a_word_can_rule_a_match_out() {
    check_lines(
        No,
        &[
            (
                "git push --force|-f",
                &[
                    "git pull $X",
                    "git push -- $X",
                    "git push --quiet=\"$X\"",
                    "git push src/*.rs",
                    "for b in a b; do git push origin $b; done",
                    "./build-$X push --force",
                    "\"$GIT\" pull",
                    "\"$DIR/deploy\" push -f",
                    "echo $X",
                    "git commit -m \"$X\"",
                    "git -C \"$D\" status",
                    "git push -o \"$X\"",
                ],
            ),
            ("git push -f", &["git push --\"$X\"", "git push --f\"$X\""]),
            ("git push", &["git pull $X", "git -C \"$D\" status", "git s\"$X\""]),
            ("git add -A|--all|.", &["git add src/*", "git add \"$D/x\"", "git add src/\"$X\""]),
            ("rm src", &["rm lib/*", "rm \"$D/x\"", "rm x$Y"]),
        ],
    );
}
