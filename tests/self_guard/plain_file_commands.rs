//! Ways of plain file commands that do not name their target as a last operand.
//!
//! These are the edge between this version's reading of a command line and the full analysis.

use crate::full;
use crate::support::TestProject;

#[test]
fn a_target_directory_may_stand_first() {
    let project = full();
    project.denies_lines(&[
        "cp -t .claude elsewhere/settings.json",
        "cp --target-directory=.claude elsewhere/settings.json",
        "mv -t . elsewhere/provost.toml",
    ]);
}

#[test]
fn a_wrapper_may_have_options() {
    let project = full();
    project.denies_lines(&[
        "sudo -u root rm provost.toml",
        "env -i rm provost.toml",
        "env -u X A=1 rm provost.toml",
        "nice -n 5 rm provost.toml",
        "command -p rm provost.toml",
    ]);
}

#[test]
fn a_directory_that_was_left_again_or_never_entered_does_not_hide_a_target() {
    let project = full();
    project.denies_lines(&[
        "(cd /tmp); rm -rf .claude",
        "cd /nowhere; rm -rf .claude",
        "cd /nowhere || rm -rf .claude",
        "cd /tmp & rm -rf .claude",
        "cd /tmp | rm -rf .claude",
    ]);
}

#[test]
fn what_takes_the_place_of_a_directory_decides_on_its_files() {
    let bare = TestProject::unregistered();
    bare.denies_lines(&[
        "mv other ~/.config/provost",
        "mv other ~/.config",
        "ln -s /tmp/other ~/.config/provost",
        "cp -r other ~/.config/provost",
        "mv other .claude",
        "mv other ~/.claude",
    ]);
    let project = full();
    project.denies_lines(&["cp -r other/.claude .", "mv other/.claude .", "rsync -a other/.claude ."]);
    project.passes_lines(&[
        "cp -r src .",
        "cp a .",
        "mv a b .",
        "cp -r other sub/copy",
        "ln -s ../x sub/x",
        "mv a ~",
        "mv other .claude",
    ]);
}

#[test]
fn options_may_stand_among_others() {
    let project = full();
    project.denies_lines(&[
        "bash -lc 'rm provost.toml'",
        "sh -ec 'echo > provost.toml'",
        "sed -Ei s/a/b/ provost.toml",
        "perl -pi -e s/a/b/ provost.toml",
        "doas rm provost.toml",
    ]);
}
