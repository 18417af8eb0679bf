//! The options of git's commands.
//!
//! They are complete for commands that change a repository, so that an abbreviation can be told from an ambiguous one.
//! Commands that are not listed here only read, or have no option that anybody abbreviates.

use super::{OptionLists, ProgramRow, lists, row};

pub(super) const GIT: ProgramRow =
    row("git", "C:c:", "--git-dir= --work-tree= --namespace= --config-env= --super-prefix= --attr-source=")
        .before_command()
        .abbreviates()
        .commands(COMMANDS);

const COMMANDS: &[(&str, OptionLists)] = &[
    (
        "add stage",
        lists(
            "",
            "--all --chmod= --dry-run --edit --force --ignore-errors --ignore-missing \
             --ignore-removal --intent-to-add --interactive --patch --pathspec-file-nul \
             --pathspec-from-file= --refresh --renormalize --sparse --update --verbose",
        ),
    ),
    (
        "am",
        lists(
            "p:C:S::",
            "--3way --abort --allow-empty --committer-date-is-author-date --continue --directory= \
             --empty= --exclude= --gpg-sign --ignore-date --ignore-space-change --ignore-whitespace \
             --include= --interactive --keep --keep-cr --keep-non-patch --message-id --no-verify \
             --patch-format= --quiet --quit --quoted-cr= --reject --rerere-autoupdate --resolved \
             --resolvemsg= --retry --scissors --show-current-patch --signoff --skip --utf8 \
             --whitespace=",
        ),
    ),
    (
        "branch",
        lists(
            "u:t::",
            "--abbrev --all --color --column --contains --copy --create-reflog --delete \
             --edit-description --force --format= --ignore-case --list --merged --move --no-contains \
             --no-merged --omit-empty --points-at= --quiet --recurse-submodules --remotes \
             --set-upstream-to= --show-current --sort= --track --unset-upstream --verbose",
        ),
    ),
    (
        "checkout switch",
        lists(
            "b:B:c:C:t::",
            "--conflict= --create= --detach --discard-changes --force --force-create= --guess \
             --ignore-other-worktrees --ignore-skip-worktree-bits --merge --orphan= --ours --overlay \
             --overwrite-ignore --patch --pathspec-file-nul --pathspec-from-file= --progress --quiet \
             --recurse-submodules --theirs --track",
        ),
    ),
    (
        "cherry-pick revert",
        lists(
            "m:X:S::",
            "--abort --allow-empty --allow-empty-message --cleanup= --commit --continue --edit \
             --empty= --ff --gpg-sign --keep-redundant-commits --mainline= --no-commit --quit \
             --reference --rerere-autoupdate --signoff --skip --strategy= --strategy-option=",
        ),
    ),
    ("clean", lists("e:", "--dry-run --exclude= --force --interactive --quiet")),
    (
        "clone",
        lists(
            "b:c:j:o:u:",
            "--bare --branch= --config= --depth= --filter= --jobs= --local --mirror --no-checkout \
             --origin= --quiet --recurse-submodules --reference= --separate-git-dir= --shallow-since= \
             --single-branch --template= --upload-pack= --verbose",
        ),
    ),
    (
        "commit",
        lists(
            "m:F:c:C:t:u::S::",
            "--ahead-behind --all --allow-empty --allow-empty-message --amend --author= --branch \
             --cleanup= --date= --dry-run --edit --file= --fixup= --gpg-sign --include --interactive \
             --long --message= --no-post-rewrite --no-verify --null --only --patch \
             --pathspec-file-nul --pathspec-from-file= --porcelain --quiet --reedit-message= \
             --reset-author --reuse-message= --short --signoff --squash= --status --template= \
             --trailer= --untracked-files --verbose",
        ),
    ),
    (
        "config",
        lists(
            "f:",
            "--add --all --append --blob= --bool --bool-or-int --comment= --default= --edit \
             --expiry-date --file= --fixed-value --get --get-all --get-color --get-regexp \
             --get-urlmatch --global --includes --int --list --local --name-only --null --path \
             --remove-section --rename-section --replace-all --show-origin --show-scope --system \
             --type= --unset --unset-all --value= --worktree",
        ),
    ),
    (
        "fetch pull",
        lists(
            "j:o:s:X:S::",
            "--all --append --atomic --autostash --commit --deepen= --depth= --dry-run --edit --ff \
             --ff-only --filter= --force --gpg-sign --ipv4 --ipv6 --jobs= --keep --log --multiple \
             --negotiate-only --no-verify --porcelain --prefetch --progress --prune --prune-tags \
             --quiet --rebase --recurse-submodules --refetch --refmap= --server-option= \
             --set-upstream --shallow-exclude= --shallow-since= --signoff --squash --stat --strategy= \
             --strategy-option= --tags --unshallow --update-head-ok --update-shallow --upload-pack= \
             --verbose --verify-signatures --write-fetch-head",
        ),
    ),
    (
        "merge",
        lists(
            "m:F:s:X:S::",
            "--abort --allow-unrelated-histories --autostash --cleanup= --commit --continue --edit \
             --ff --ff-only --file= --gpg-sign --into-name= --log --message= --no-verify \
             --overwrite-ignore --progress --quiet --quit --rerere-autoupdate --signoff --squash \
             --stat --strategy= --strategy-option= --summary --verbose --verify-signatures",
        ),
    ),
    (
        "push",
        lists(
            "o:",
            "--all --atomic --branches --delete --dry-run --exec= --follow-tags --force \
             --force-if-includes --force-with-lease --ipv4 --ipv6 --mirror --no-verify --porcelain \
             --progress --prune --push-option= --quiet --receive-pack= --recurse-submodules= --repo= \
             --set-upstream --signed --tags --thin --verbose",
        ),
    ),
    (
        "rebase",
        lists(
            "x:s:X:C:S::",
            "--abort --apply --autosquash --autostash --committer-date-is-author-date --continue \
             --edit-todo --empty= --exec= --ff --force-rebase --fork-point --gpg-sign --ignore-date \
             --ignore-whitespace --interactive --keep-base --keep-empty --merge --no-verify --onto= \
             --quiet --quit --rebase-merges --reapply-cherry-picks --rerere-autoupdate \
             --reschedule-failed-exec --reset-author-date --root --show-current-patch --signoff \
             --skip --stat --strategy= --strategy-option= --trailer= --update-refs --verbose \
             --whitespace=",
        ),
    ),
    (
        "reset",
        lists(
            "",
            "--hard --intent-to-add --keep --merge --mixed --patch --pathspec-file-nul \
             --pathspec-from-file= --quiet --recurse-submodules --refresh --soft",
        ),
    ),
    (
        "restore",
        lists(
            "s:",
            "--conflict= --ignore-skip-worktree-bits --ignore-unmerged --merge --ours --overlay \
             --patch --pathspec-file-nul --pathspec-from-file= --progress --quiet \
             --recurse-submodules --source= --staged --theirs --worktree",
        ),
    ),
    (
        "rm",
        lists(
            "",
            "--cached --dry-run --force --ignore-unmatch --pathspec-file-nul --pathspec-from-file= \
             --quiet --sparse",
        ),
    ),
    (
        "stash",
        lists(
            "m:",
            "--all --include-untracked --index --keep-index --message= --only-untracked --patch \
             --pathspec-file-nul --pathspec-from-file= --quiet --staged",
        ),
    ),
    (
        "log show diff grep blame shortlog",
        lists("n:S:G:L:e:", "--author= --grep= --since= --until= --format="),
    ),
    (
        "tag",
        lists(
            "m:F:u:n::",
            "--annotate --cleanup= --color --column --contains --create-reflog --delete --edit \
             --file= --force --format= --ignore-case --list --local-user= --merged --message= \
             --no-contains --no-merged --omit-empty --points-at= --sign --sort= --trailer= --verify",
        ),
    ),
    (
        "worktree",
        lists(
            "b:B:",
            "--checkout --detach --dry-run --expire= --force --guess-remote --lock --orphan \
             --porcelain --quiet --reason= --relative-paths --track --verbose",
        ),
    ),
];
