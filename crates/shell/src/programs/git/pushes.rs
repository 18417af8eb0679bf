//! `git push`: the branches of the other repository that it changes, as far as its words tell.
//!
//! Which branch `git push` alone changes depends on the configuration of the branch that is checked out, so the effect
//! carries the site and the caller looks it up.

use super::super::options::ParsedArguments;
use super::switches::site_cost;
use crate::effect::Effect;
use crate::effect::git::{Push, PushForce, PushTarget, PushedBranch};
use crate::flow::{FlowStep, SiteOwner};
use crate::word::Word;
use crate::{LONGEST_PATH, LineWalker};

const LETTERS: &str = "46dfnqvuo:";
const LONGS: &str = "\
    --all --atomic --branches --delete --dry-run --exec= --follow-tags --force --force-if-includes \
    --force-with-lease --ipv4 --ipv6 --mirror --porcelain --progress --prune --push-option= --quiet --receive-pack= \
    --recurse-submodules= --repo= --set-upstream --signed --tags --thin --verbose --verify";

impl LineWalker<'_> {
    pub(super) fn report_push(&mut self, words: &[Word]) {
        let arguments = ParsedArguments::parse(words, LETTERS, LONGS);
        let mut operands = arguments.operands.iter();
        let remote = operands.next().copied().or_else(|| arguments.value('\0', "--repo"));
        let force = parse_force(&arguments);
        let mut branches = Vec::new();
        let mut add = |target: PushTarget, force: PushForce, is_deletion: bool| {
            branches.push(PushedBranch { target, force, is_deletion });
        };
        let mirrors = arguments.has('\0', "--mirror");
        let pushes_all = mirrors || arguments.has_any(&["--all", "--branches"]);
        if pushes_all {
            add(PushTarget::All, if mirrors { PushForce::Always } else { force }, false);
        }
        let deletes = arguments.has('d', "--delete");
        let has_references = operands.len() > 0;
        while let Some(word) = operands.next() {
            let Some(text) = word.text() else {
                let is_forced = word.prefix().starts_with('+');
                let force = if is_forced { PushForce::Always } else { force };
                add(PushTarget::Unknown, force, deletes || word.prefix().starts_with(':'));
                continue;
            };
            if text == "tag" && !deletes {
                operands.next();
                continue;
            }
            if !self.work.pay(text.len() + size_of::<PushedBranch>()) {
                return;
            }
            let (text, force) = match text.strip_prefix('+') {
                Some(text) => (text, PushForce::Always),
                None => (text, force),
            };
            let (source, target) = text.split_once(':').unwrap_or((text, text));
            let is_deletion = deletes || source.is_empty() && !target.is_empty();
            if let Some(target) = parse_target(source, target) {
                add(target, force, is_deletion);
            }
        }
        // More words may follow.
        if self.git.is_fed || remote.is_some_and(Word::may_split) {
            add(PushTarget::Unknown, force, deletes);
        } else if !has_references && !arguments.has('\0', "--tags") && !pushes_all {
            add(PushTarget::Upstream, force, false);
        }
        let site = self.git_site();
        let remote = remote.and_then(|word| word.text()).filter(|text| text.len() <= LONGEST_PATH);
        let is_dry_run = arguments.has('n', "--dry-run") && !words.iter().any(Word::may_be_option);
        let cost = site_cost(&site) + remote.map_or(0, str::len);
        let at = self.effects.len();
        let push = Push { site, remote: remote.map(str::to_owned), branches, is_dry_run };
        self.report_effect(Effect::Push(Box::new(push)), cost);
        self.record_step(FlowStep::Site(SiteOwner::Effect(at)));
    }
}

fn parse_force(arguments: &ParsedArguments) -> PushForce {
    if arguments.has('f', "--force") {
        PushForce::Always
    } else if arguments.has_any(&["--force-with-lease", "--force-if-includes"]) {
        PushForce::WithLease
    } else {
        PushForce::Never
    }
}

/// The branch that a refspec changes; `None` if it changes something else, such as a tag.
fn parse_target(source: &str, target: &str) -> Option<PushTarget> {
    let is_short = target == source;
    let branch = match target {
        "" if source.is_empty() => return Some(PushTarget::All),
        // `HEAD:` and the like are errors.
        "" => return None,
        "HEAD" | "@" if is_short => return Some(PushTarget::CheckedOut),
        _ => match target.strip_prefix("refs/") {
            Some(rest) => rest.strip_prefix("heads/").or_else(|| (rest == "*").then_some(rest))?,
            None if target.starts_with("tags/") || source.starts_with("refs/tags/") => return None,
            None => target.strip_prefix("heads/").unwrap_or(target),
        },
    };
    Some(if branch.contains('*') { PushTarget::All } else { PushTarget::Named(branch.to_owned()) })
}
