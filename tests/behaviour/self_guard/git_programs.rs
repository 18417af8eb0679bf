//! Git runs programs that options, settings and variables name. They are judged like any command.

use super::git_files::committed;

#[test]
fn a_program_that_an_option_of_git_names_is_judged() {
    committed().assert_lines_denied(&[
        "git rebase --exec 'rm provost.toml' HEAD~1",
        "git rebase --exec='rm provost.toml' HEAD~1",
        "git rebase -x 'rm provost.toml' HEAD~1",
        "git rebase -ix 'make; rm provost.toml' HEAD~1",
        "git rebase -x'rm provost.toml' HEAD~1",
        "git bisect run rm provost.toml",
        "git bisect start HEAD HEAD~1; git bisect run sh -c 'rm provost.toml'",
        "git submodule foreach 'rm ../provost.toml provost.toml'",
        "git submodule foreach --recursive 'rm provost.toml'",
        "git submodule --quiet foreach rm provost.toml",
        "git filter-branch --tree-filter 'rm provost.toml' HEAD",
        "git filter-branch -f --index-filter 'rm provost.toml' HEAD",
        "git filter-branch --msg-filter='rm provost.toml; cat' HEAD",
        "git difftool -y -x 'rm provost.toml'",
        "git difftool -y --extcmd='rm provost.toml; true'",
        "git difftool --ext 'rm provost.toml; true'",
        "git grep -O'rm provost.toml;true' fn",
        "git grep --open-files-in-pager='rm provost.toml;true' fn",
        "git clone --upload-pack='rm provost.toml;' . c2",
        "git clone -u 'rm provost.toml;' . c2",
        "git fetch --upload-pack='rm provost.toml;' .",
        "git fetch --upload-pack 'rm provost.toml;' .",
        "git pull --upload-pack='rm provost.toml;' .",
        "git push --receive-pack='rm provost.toml;' . HEAD",
        "git push --exec='rm provost.toml;' . HEAD",
        "git ls-remote 'ext::rm provost.toml'",
        "git clone 'ext::sh -c rm% provost.toml' z",
        "git fetch ext::'rm provost.toml'",
        "git remote add x 'ext::rm provost.toml'",
        "git fast-export --export-marks=provost.toml HEAD",
        "git fast-import --export-marks=provost.toml < /dev/null",
        "git send-email --sendmail-cmd='rm provost.toml' x.patch",
    ]);
}

#[test]
fn a_program_that_a_setting_of_git_names_is_judged() {
    committed().assert_lines_denied(&[
        "git -c core.editor='rm provost.toml;true' commit",
        "git -c core.pager='rm provost.toml' -p log",
        "git -c pager.log='rm provost.toml' log",
        "git -c core.fsmonitor='rm provost.toml; true' status",
        "git -c core.sshCommand='rm provost.toml;' ls-remote ssh://x/y",
        "git -c CORE.SSHCOMMAND='rm provost.toml;' fetch",
        "git -c sequence.editor='rm provost.toml; true' rebase -i HEAD~1",
        "git -c diff.external='rm provost.toml; true' diff",
        "git -c diff.z.textconv='rm provost.toml;cat' diff",
        "git -c difftool.z.cmd='rm provost.toml' difftool -y -t z",
        "git -c mergetool.z.cmd='rm provost.toml' mergetool -t z",
        "git -c merge.z.driver='rm provost.toml' merge x",
        "git -c filter.z.clean='rm provost.toml; cat' add .",
        "git -c credential.helper='!rm provost.toml;' fetch",
        "git -c gpg.program='rm provost.toml;' commit -S",
        "git -c interactive.diffFilter='rm provost.toml' add -p",
        "git --config-env=alias.x=A x; A='!rm provost.toml' git --config-env=alias.x=A x",
        "git config core.fsmonitor 'rm provost.toml;true'",
        "git config --global core.pager 'rm provost.toml'",
        "git config set core.editor 'rm provost.toml'",
        "git config --add diff.external 'rm provost.toml'",
        "git config --file .git/config core.pager 'rm provost.toml'",
        "git config alias.x '!rm provost.toml'",
        "git config remote.x.url 'ext::rm provost.toml'",
        "GIT_EDITOR='rm provost.toml; true' git commit",
        "EDITOR='rm provost.toml;true' git commit",
        "VISUAL='rm provost.toml;true' git commit",
        "GIT_SEQUENCE_EDITOR='rm provost.toml; true' git rebase -i HEAD~1",
        "GIT_PAGER='rm provost.toml' git -p log",
        "PAGER='rm provost.toml' git -p log",
        "export PAGER='rm provost.toml'",
        "GIT_SSH_COMMAND='rm provost.toml;' git fetch ssh://x/y",
        "GIT_EXTERNAL_DIFF='rm provost.toml; true' git diff",
        "GIT_PROXY_COMMAND='rm provost.toml' git fetch git://x/y",
        "GIT_ASKPASS='rm provost.toml' git fetch",
        "env GIT_PAGER='rm provost.toml' git -p log",
        "GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=alias.x GIT_CONFIG_VALUE_0='!rm provost.toml' git x",
        "GIT_CONFIG_PARAMETERS=\"'alias.x'='!rm provost.toml'\" git x",
        "GIT_CONFIG=provost.toml git config a.b c",
        "PROMPT_COMMAND='rm provost.toml' bash -i",
    ]);
}

#[test]
fn usual_programs_for_git_pass() {
    committed().assert_lines_allowed(&[
        "git rebase --exec 'cargo test' main",
        "git rebase -x 'npm test && npm run lint' HEAD~3",
        "git rebase --exec 'git commit --amend --no-edit -n' HEAD~3",
        "git bisect run cargo test",
        "git bisect run ./test.sh",
        "git submodule foreach 'git pull origin main'",
        "git submodule foreach --recursive git clean -n",
        "git filter-branch --tree-filter 'rm -f secrets.txt' HEAD",
        "git difftool -y -x diff",
        "git difftool -t vimdiff",
        "git grep -O fn",
        "git clone -u /usr/bin/git-upload-pack . c2",
        "git fetch origin",
        "git config core.editor vim",
        "git config --global core.pager 'less -R'",
        "git config core.hooksPath .githooks",
        "git config core.fsmonitor true",
        "git config alias.lg 'log --oneline'",
        "git config alias.undo '!git reset --soft HEAD~1'",
        "git config filter.lfs.clean 'git-lfs clean -- %f'",
        "git config merge.ours.driver true",
        "git config credential.helper store",
        "git config remote.origin.url https://example.com/x.git",
        "git config user.name 'rm provost.toml'",
        "git -c core.editor=true rebase --continue",
        "git -c core.sshCommand='ssh -i ~/.ssh/key' fetch",
        "GIT_EDITOR=true git rebase --continue",
        "GIT_EDITOR=: git commit --amend",
        "GIT_SEQUENCE_EDITOR=\"sed -i -e 's/^pick/reword/'\" git rebase -i HEAD~2",
        "GIT_SEQUENCE_EDITOR='sed -i 1s/pick/edit/' git rebase -i HEAD~2",
        "GIT_PAGER=cat git log -3",
        "PAGER=less git diff",
        "export EDITOR=vim",
        "GIT_SSH_COMMAND='ssh -i ~/.ssh/key -o IdentitiesOnly=yes' git fetch",
        "GIT_TRACE=1 git status",
        "git fast-export --all > /tmp/x.fe",
    ]);
}

#[test]
fn a_repository_that_the_line_makes_tracks_nothing() {
    committed().assert_lines_denied(&[
        "git --git-dir=o.git init -q --bare; git --git-dir=o.git --work-tree=. clean -fdx",
        "git init -q ../n && git --git-dir=../n/.git --work-tree=. clean -fdx",
        "GIT_DIR=/tmp/none.git GIT_WORK_TREE=. git clean -fd",
    ]);
}
