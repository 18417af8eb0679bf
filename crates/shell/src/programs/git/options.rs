//! The harmless long options of git's reading commands.
//!
//! The lists are generous, because an option that is not listed is reported. They are sorted for a binary search, and
//! a `=` marks the options that take a value. Each list is one text, because an array would cost a relocation for each
//! name when the program starts.

/// `branch` in its listing forms.
pub(super) const BRANCH: &str = "\
    --abbrev --all --color --column --contains= --format= --ignore-case --list --merged= \
    --no-abbrev --no-color --no-column --no-contains= --no-merged= --omit-empty --points-at= \
    --quiet --remotes --show-current --sort= --verbose --with= --without=";

/// `tag` in its listing forms.
pub(super) const TAG: &str = "\
    --color --column --contains= --format= --ignore-case --list --merged= --no-color \
    --no-column --no-contains= --no-merged= --omit-empty --points-at= --sort= --with= \
    --without=";

/// `for-each-ref`.
pub(super) const FOR_EACH_REF: &str = "\
    --color --contains= --count= --exclude= --format= --ignore-case --include-root-refs \
    --merged= --no-contains= --no-merged= --omit-empty --perl --points-at= --python --shell \
    --sort= --stdin --tcl";

/// `config` in its reading forms.
pub(super) const CONFIG: &str = "\
    --all --blob= --bool --bool-or-int --bool-or-str --default= --expiry-date --file= \
    --fixed-value --get --get-all --get-color --get-colorbool --get-regexp --get-urlmatch \
    --global --includes --int --list --local --name-only --no-includes --no-type --null --path \
    --regexp --show-names --show-origin --show-scope --system --type= --url= --value= \
    --worktree";

/// `ls-remote`.
pub(super) const LS_REMOTE: &str = "\
    --branches --exit-code --get-url --heads --quiet --refs --server-option= --sort= --symref \
    --tags";

/// `commit`: the options that take values, so that a message is not taken for an option.
pub(super) const COMMIT: &str = "\
    --ahead-behind --all --allow-empty --allow-empty-message --amend --author= --branch \
    --cleanup= --date= --dry-run --edit --file= --fixup= --gpg-sign --include --interactive \
    --long --message= --no-post-rewrite --no-verify --null --only --patch --pathspec-file-nul \
    --pathspec-from-file= --porcelain --quiet --reedit-message= --reset-author \
    --reuse-message= --short --signoff --squash= --status --template= --trailer= \
    --untracked-files --verbose";

/// `switch` and `checkout`: the options that take values.
pub(super) const SWITCH: &str = "\
    --conflict= --create= --detach --discard-changes --force --force-create= --guess \
    --ignore-other-worktrees --ignore-skip-worktree-bits --merge --orphan= --ours --overlay \
    --overwrite-ignore --patch --pathspec-file-nul --pathspec-from-file= --progress --quiet \
    --recurse-submodules --theirs --track";

/// `help`.
pub(super) const HELP: &str = "\
    --aliases --all --config --developer-interfaces --exclude-guides --external-commands \
    --guides --info --man --user-interfaces --verbose";

/// The reading commands, all of them together: an option that a command does not have is an error there, and does
/// nothing.
pub(super) const READ: &str = "\
    --abbrev --abbrev-commit --after= --after-context= --ahead-behind --all --all-match \
    --allow-unknown-type --alternate-refs --always --ancestry-path --anchored= --and \
    --annotate-stdin --author= --author-date-order --base --basic-regexp --batch \
    --batch-all-objects --batch-check --batch-command --before= --before-context= --binary \
    --bisect --bisect-all --bisect-vars --boundary --branch --branches --break \
    --break-rewrites --broken --buffer --cached --candidates= --cc --check --cherry \
    --cherry-mark --cherry-pick --children --clear-decorations --color --color-by-age \
    --color-lines --color-moved --color-moved-ws= --color-words --column --combined-all-paths \
    --commit-header --committer= --compact-summary --connectivity-only --contains --contents= \
    --context= --count --creation-factor= --cumulative --current --dangling --date= \
    --date-order --dd --debug --decorate --decorate-refs= --decorate-refs-exclude= \
    --deduplicate --default-prefix --deleted --dense --dereference --diff-algorithm= \
    --diff-filter= --diff-merges= --directory --dirstat --dirstat-by-file --dirty --disk-usage \
    --do-walk --dst-prefix= --dual-color --email --empty-directory --encoding= \
    --end-of-options --eol --error-unmatch --exact-match --exclude= --exclude-existing \
    --exclude-first-parent-only --exclude-from= --exclude-hidden= --exclude-per-directory= \
    --exclude-promisor-objects --exclude-standard --exists --exit-code --expand-tabs \
    --ext-grep --extended-regexp --files --files-with-matches --files-without-match --filter= \
    --filter-print-omitted --filter-provided-objects --find-copies --find-copies-harder \
    --find-object= --find-renames --first-parent --fixed-strings --follow --follow-symlinks \
    --fork-point --format= --full --full-diff --full-history --full-index --full-name \
    --full-tree --function-context --glob= --graph --grep= --grep-reflog= --group= --hash \
    --head --header --heading --heads --help --histogram --human-readable --ignore-all-space \
    --ignore-blank-lines --ignore-case --ignore-cr-at-eol --ignore-matching-lines= \
    --ignore-missing --ignore-rev= --ignore-revs-file= --ignore-space-at-eol \
    --ignore-space-change --ignore-submodules --ignored --in-commit-order --include-untracked \
    --incremental --indent-heuristic --independent --index --indexed-objects \
    --inter-hunk-context= --invert-grep --invert-match --irreversible-delete --is-ancestor \
    --ita-invisible-in-index --ita-visible-in-index --killed --left-only --left-right \
    --line-number --line-porcelain --line-prefix= --list --log-size --long --mailmap --match= \
    --max-age= --max-count= --max-depth= --max-parents= --merge --merge-base --merges \
    --min-age= --min-parents= --minimal --missing= --mode= --modified --more --name-objects \
    --name-only --name-status --no-abbrev --no-abbrev-commit --no-ahead-behind --no-color \
    --no-color-moved --no-column --no-commit-header --no-commit-id --no-dangling --no-decorate \
    --no-diff-merges --no-dual-color --no-empty-directory --no-expand-tabs --no-ext-diff \
    --no-filter --no-full --no-graph --no-indent-heuristic --no-index --no-max-parents \
    --no-merges --no-min-parents --no-name --no-notes --no-object-names --no-patch --no-prefix \
    --no-reflogs --no-relative --no-renames --no-standard-notes --no-textconv --no-walk \
    --non-matching --not --notes --null --numbered --numstat --object-names --object-only \
    --objects --objects-edge --objects-edge-aggressive --octopus --oneline --only-matching \
    --only-untracked --or --others --ours --output-indicator-context= --output-indicator-new= \
    --output-indicator-old= --parents --patch --patch-with-raw --patch-with-stat --path= \
    --patience --peel-tag --perl-regexp --pickaxe-all --pickaxe-regex --porcelain --pretty \
    --progress --quiet --raw --recurse --recurse-submodules --recursive --references --reflog \
    --refs= --regexp-ignore-case --relative --relative-date --remerge-diff --remotes \
    --remove-empty --rename-empty --renames --resolve-undo --reverse --right-only --root \
    --rotate-to= --score-debug --sha1-name --short --shortstat --show-email --show-function \
    --show-linear-break --show-name --show-notes --show-number --show-pulls --show-scope \
    --show-stash --show-stats --simplify-by-decoration --simplify-merges --since= \
    --since-as-filter= --single-worktree --skip= --skip-to= --source --sparse --src-prefix= \
    --stage --staged --standard-notes --stat --stat-count= --stat-graph-width= \
    --stat-name-width= --stat-width= --stdin --strict --submodule --summary --tags --text \
    --theirs --threads= --timestamp --topics --topo-order --undefined --unified \
    --unmerged --unordered --unpacked --unreachable --until= --untracked --untracked-files \
    --use-bitmap-index --use-mailmap --verbose --verify --walk-reflogs --with-tree= \
    --word-diff --word-diff-regex= --word-regexp --ws-error-highlight=";

#[cfg(test)]
mod tests {
    #[test]
    fn lists_are_sorted_and_have_single_blanks() {
        for list in [
            super::BRANCH,
            super::TAG,
            super::FOR_EACH_REF,
            super::CONFIG,
            super::LS_REMOTE,
            super::COMMIT,
            super::SWITCH,
            super::HELP,
            super::READ,
        ] {
            assert!(list.split(' ').is_sorted_by_key(|name| name.trim_end_matches('=')), "{list}");
            assert!(list.split(' ').all(|name| name.starts_with("--")), "{list}");
        }
    }
}
