//! The rules of all layers, after `off` and `mode`.
//!
//! A layer may weaken its own rules only; an administrator's file may weaken all. So a cloned project cannot switch off
//! a rule of the user. A built-in set belongs to each layer that uses it: one of its rules is dropped or watched only
//! if every such layer says so.

use std::path::Path;
use std::sync::Arc;

use toml::de::DeTable;

use super::interest::RuleInterest;
use super::reader::{RuleSource, read_concerned_baseline, read_layer_rules};
use super::{BASELINE, BASELINE_NAME, RULE_PREFIX, Rule, RuleText};
use crate::layer::ConfigLayer;
use crate::text::{shorten_name, suggest_word};

/// The rules of one file.
#[derive(Debug, Default)]
pub struct LayerRules {
    pub(crate) layer: ConfigLayer,
    pub(crate) uses: Vec<RuleText>,
    /// `[rules] mode`.
    pub(crate) is_watching: Option<bool>,
    pub(crate) off: Vec<RuleText>,
    pub(crate) rules: Vec<Rule>,
    /// Its examples were looked at, and have no mistake.
    pub(crate) has_good_examples: bool,
}

/// The rules that hold, the most powerful layer first and built-in ones last.
#[derive(Debug, Default)]
pub struct RuleSet {
    pub rules: Vec<Rule>,
    /// The rules that `off` switches off.
    pub off: Vec<Rule>,
}

impl LayerRules {
    fn switches_off(&self, name: &str) -> bool {
        self.off.iter().any(|off| off.text == name || off.text.strip_prefix(RULE_PREFIX) == Some(name))
    }

    /// Whether this layer weakens the rules of another one.
    fn reaches(&self, other: ConfigLayer) -> bool {
        self.layer == other || self.layer == ConfigLayer::Managed
    }
}

impl RuleSet {
    /// Joins the layers, the most powerful first. Mistakes in `off` are reported for each layer.
    /// With an `interest`, only rules that the event may concern are read. Unknown names in `off` are then reported at the
    /// start of a session only.
    pub(crate) fn join(
        mut layers: Vec<LayerRules>,
        interest: Option<&RuleInterest<'_>>,
        mistakes: &mut Vec<(ConfigLayer, usize, String)>,
    ) -> Self {
        let users: Vec<usize> = (0..layers.len()).filter(|&index| !layers[index].uses.is_empty()).collect();
        let needs_mistakes = interest.is_none_or(RuleInterest::needs_mistakes);
        // A mistake in `off` is a name that no rule has, so it needs the names of all.
        let interest =
            interest.filter(|_| !needs_mistakes || layers.iter().all(|layer| layer.off.is_empty()));
        let built_in = match users.first() {
            Some(&first) => read_baseline(layers[first].layer, interest),
            None => Vec::new(),
        };
        if needs_mistakes {
            report_unknown_names(&layers, &built_in, mistakes);
        }
        let holds = |rule: &Rule| {
            users.iter().any(|&user| {
                let owner = layers[user].layer;
                !layers.iter().any(|layer| layer.reaches(owner) && layer.switches_off(&rule.name))
            })
        };
        let (mut built_in, mut off): (Vec<Rule>, Vec<Rule>) = built_in.into_iter().partition(holds);
        for rule in &mut built_in {
            let is_watched = |&user: &usize| is_watched(&layers, layers[user].layer, rule.own_mode);
            rule.is_watched = users.iter().all(is_watched);
        }
        let mut rules = Vec::new();
        for index in 0..layers.len() {
            for mut rule in std::mem::take(&mut layers[index].rules) {
                let owner = layers[index].layer;
                if layers.iter().any(|layer| layer.reaches(owner) && layer.switches_off(&rule.name)) {
                    off.push(rule);
                    continue;
                }
                rule.is_watched = is_watched(&layers, owner, rule.own_mode);
                rules.push(rule);
            }
        }
        rules.append(&mut built_in);
        Self { rules, off }
    }

    pub fn find(&self, name: &str) -> Option<&Rule> {
        let name = name.strip_prefix(RULE_PREFIX).unwrap_or(name);
        self.rules.iter().find(|rule| rule.name == name)
    }
}

/// Whether a rule of a layer is only watched: an administrator's `mode` decides, then the rule's own, then that of its
/// file.
fn is_watched(layers: &[LayerRules], owner: ConfigLayer, own: Option<bool>) -> bool {
    let mode_of = |wanted: ConfigLayer| {
        layers.iter().find(|layer| layer.layer == wanted).and_then(|layer| layer.is_watching)
    };
    let managed = mode_of(ConfigLayer::Managed).filter(|_| owner != ConfigLayer::Managed);
    managed.or(own).or_else(|| mode_of(owner)).unwrap_or(false)
}

fn report_unknown_names(
    layers: &[LayerRules],
    built_in: &[Rule],
    mistakes: &mut Vec<(ConfigLayer, usize, String)>,
) {
    for layer in layers {
        for off in &layer.off {
            let own = layer.rules.iter().chain(built_in);
            let all = layers.iter().flat_map(|layer| &layer.rules).chain(built_in);
            let name = off.text.strip_prefix(RULE_PREFIX).unwrap_or(&off.text);
            if own.clone().any(|rule| rule.name == name) {
                continue;
            }
            let shown = shorten_name(name);
            let text = if layer.layer != ConfigLayer::Managed && all.clone().any(|rule| rule.name == name) {
                format!("`off`: rule `{shown}` is not in this file, so it still holds")
            } else if all.clone().any(|rule| rule.name == name) {
                continue;
            } else {
                let names = all.map(|rule| rule.name.clone());
                format!("`off`: there is no rule `{shown}`{}", suggest_word(name, names))
            };
            mistakes.push((layer.layer, off.offset, text));
        }
    }
}

/// The built-in rules, as if this layer used them.
pub fn read_baseline(layer: ConfigLayer, interest: Option<&RuleInterest<'_>>) -> Vec<Rule> {
    let file: Arc<Path> = Path::new("baseline.toml").into();
    let source = RuleSource { layer, file, text: BASELINE, is_built_in: true };
    let mut rules = if let Some(interest) = interest {
        read_concerned_baseline(&source, interest)
    } else {
        let (document, _) = DeTable::parse_recoverable(BASELINE);
        read_layer_rules(document.get_ref(), &source, &mut Vec::new()).rules
    };
    for rule in &mut rules {
        rule.name.insert_str(0, &format!("{BASELINE_NAME}/"));
    }
    rules
}
