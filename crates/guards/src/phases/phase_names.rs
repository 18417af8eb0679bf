//! All names of the phases of a workflow and of its agents.
//!
//! Workflows, requirements and manifests number the phases differently. Two names mean the same phase if they
//! are names of one phase here. A name that is not in the table is an unknown phase, and never a reason to
//! deny anything.

use super::prelude::*;

/// A set of phases, one bit each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PhaseSet(u32);

/// The names of each phase, in the numbering of the requirements first. An older name can mean two phases.
const PHASES: &[&[&str]] = &[
    &["00-quick-scan", "00-mapping"],
    &["01-requirements"],
    &["02-impact-analysis", "00-mapping"],
    &["02-tracing"],
    &["03-architecture", "02-architecture"],
    &["04-design", "03-design"],
    &["05-test-strategy", "04-test-strategy"],
    &["06-implementation", "05-implementation"],
    &["07-testing", "06-testing"],
    &["08-code-review", "07-code-review"],
    &["09-validation", "08-validation"],
    &["10-cicd", "09-cicd"],
    &["11-local-testing", "10-local-testing"],
    &["12-remote-build"],
    &["12-test-deploy", "13-test-deploy", "11-test-deploy"],
    &["13-production", "14-production", "12-production"],
    &["14-operations", "15-operations", "13-operations"],
    &["16-upgrade-plan", "15-upgrade"],
    &["16-upgrade-execute", "15-upgrade"],
    &["r1-behavior-extraction"],
    &["r2-characterization-tests"],
    &["r3-artifact-integration"],
    &["r4-atdd-bridge"],
];

/// The number of phases, up to the test strategy, that precede the task plan.
const EARLY_PHASES: u32 = 7;

/// Agents that work in a phase, each with its other names in lower case and with hyphens.
const PHASE_AGENTS: &[(&str, &[&str])] = &[
    ("requirements-analyst", &["requirements", "01-requirements-analyst"]),
    ("solution-architect", &["architect", "02-solution-architect"]),
    ("system-designer", &["designer", "03-system-designer"]),
    ("test-design-engineer", &["test-design", "04-test-design-engineer"]),
    ("software-developer", &["developer", "05-software-developer"]),
    ("integration-tester", &["tester", "06-integration-tester"]),
    ("qa-engineer", &["qa", "07-qa-engineer"]),
    ("security-compliance-auditor", &["security", "08-security-compliance-auditor"]),
    ("cicd-engineer", &["cicd", "09-cicd-engineer"]),
    ("environment-builder", &["dev-env", "10-dev-environment-engineer"]),
    ("deployment-engineer-staging", &["staging", "11-deployment-engineer-staging"]),
    ("release-manager", &["release", "12-release-manager"]),
    ("site-reliability-engineer", &["sre", "13-site-reliability-engineer"]),
];

/// Agents that work before there are phases, or in all of them.
const OTHER_AGENTS: &[(&str, &[&str])] = &[
    (ORCHESTRATOR, &["orchestrator", "00-sdlc-orchestrator"]),
    (DISCOVERY, &["d0", "d0-discover-orchestrator", "discovery"]),
    ("architecture-analyzer", &["d1", "d1-architecture-analyzer", "arch-analyzer"]),
    ("test-evaluator", &["d2", "d2-test-evaluator"]),
    ("constitution-generator", &["d3", "d3-constitution-generator"]),
    ("skills-researcher", &["d4", "d4-skills-researcher"]),
    ("data-model-analyzer", &["d5", "d5-data-model-analyzer"]),
    ("feature-mapper", &["d6", "d6-feature-mapper"]),
    ("product-analyst", &["d7", "d7-product-analyst"]),
    ("architecture-designer", &["d8", "d8-architecture-designer", "arch-designer"]),
];

/// The agent that leads a workflow.
pub const ORCHESTRATOR: &str = "sdlc-orchestrator";

/// The agent that leads a discovery.
pub const DISCOVERY: &str = "discover-orchestrator";

impl PhaseSet {
    /// The phases that a name can mean; `None`: it is not the name of a phase.
    pub fn from_name(name: &str) -> Option<Self> {
        let name = name.trim();
        let has_name = |names: &[&str]| names.iter().any(|known| known.eq_ignore_ascii_case(name));
        let bits = PHASES.iter().zip(0..).filter(|(names, _)| has_name(names)).map(|(_, bit)| 1_u32 << bit);
        Some(bits.sum()).filter(|bits| *bits != 0).map(Self)
    }
}

/// Whether two names mean the same phase. Unknown names are the same only if they are equal.
pub fn is_same_phase(a: &str, b: &str) -> bool {
    a == b || matches!((PhaseSet::from_name(a), PhaseSet::from_name(b)), (Some(a), Some(b)) if a.0 & b.0 != 0)
}

/// Whether a phase precedes the task plan.
pub fn is_early(phase: &str) -> bool {
    PhaseSet::from_name(phase).is_some_and(|phases| phases.0.trailing_zeros() < EARLY_PHASES)
}

/// The name of the gate at the end of a phase.
pub fn gate_name(phase: &str) -> String {
    let digits: String = phase.trim().chars().take_while(char::is_ascii_digit).collect();
    format!("GATE-{}", if digits.is_empty() { "??" } else { &digits })
}

/// An agent's canonical name, from any spelling that Claude Code accepts, with or without its plugin
/// (`plugin:name`), or from one of its other names.
pub fn canonical_agent_name(name: &str) -> String {
    let name = name.rsplit([':', '\u{ff1a}']).next().unwrap_or(name).trim();
    let folded: Vec<char> = fold_name(name).collect();
    let is_named = |(own, others): &&(&str, &[&str])| {
        others.iter().any(|other| is_same_folded(&folded, other)) || is_same_folded(&folded, own)
    };
    let known = PHASE_AGENTS.iter().chain(OTHER_AGENTS).find(is_named);
    known.map_or_else(|| hyphenate(name), |(own, _)| (*own).to_owned())
}

/// Whether two names mean one agent to Claude Code.
pub fn is_same_agent(a: &str, b: &str) -> bool {
    is_same_folded(&fold_name(a).collect::<Vec<_>>(), b)
}

/// A name in lower case, its words joined by hyphens.
pub fn hyphenate(name: &str) -> String {
    let words = name.split(|c: char| c.is_whitespace() || is_dash(c) || c == '_');
    words.filter(|word| !word.is_empty()).map(str::to_lowercase).collect::<Vec<_>>().join("-")
}

/// Whether an agent, by its canonical name, works in a phase, as far as that is known without a manifest.
pub fn is_phase_agent(agent: &str) -> bool {
    PHASE_AGENTS.iter().any(|(own, _)| *own == agent)
}

/// Whether an agent, by its canonical name, leads the workflow or sets it up, as far as that is known without
/// a manifest.
pub fn is_outside_phases(agent: &str) -> bool {
    is_discovery(agent) || OTHER_AGENTS.iter().any(|(own, _)| *own == agent)
}

/// Whether an agent, by its canonical name, is a discovery.
pub fn is_discovery(agent: &str) -> bool {
    agent.contains("discover")
}

/// Stands for a character that may become other letters when the client normalises it.
const ANY: char = '\u{fffd}';

/// A name as Claude Code compares it: compatibility forms replaced (NFKC), in lower case, without white
/// space, dashes and underscores. Only whole alphabets of compatibility forms are known here; every other
/// character that is not ASCII becomes [`ANY`].
fn fold_name(name: &str) -> impl Iterator<Item = char> {
    let letters = name.chars().filter(|c| !c.is_whitespace() && !is_dash(*c) && *c != '_');
    letters.map(to_ascii).filter(|c| *c != '-' && *c != '_').map(|c| c.to_ascii_lowercase())
}

fn is_dash(c: char) -> bool {
    const DASHES: &[char] = &[
        '\u{58a}', '\u{5be}', '\u{1400}', '\u{1806}', '\u{2e17}', '\u{2e1a}', '\u{2e3a}', '\u{2e3b}',
        '\u{2e40}', '\u{301c}', '\u{3030}', '\u{30a0}', '\u{fe31}', '\u{fe32}', '\u{fe58}', '\u{fe63}',
    ];
    c == '-' || !c.is_ascii() && (matches!(c, '\u{2010}'..='\u{2015}') || DASHES.contains(&c))
}

/// The ASCII character of a compatibility form: wide, mathematical, circled or squared.
fn to_ascii(c: char) -> char {
    let code = c as u32;
    let letter = |number: u32| char::from_u32(u32::from(b'a') + number % 26).unwrap_or(ANY);
    match code {
        0..=0x7f => c,
        0xff01..=0xff5e => char::from_u32(code - 0xfee0).unwrap_or(ANY),
        0x1d400..=0x1d6a3 => letter(code - 0x1d400),
        0x24b6..=0x24e9 => letter(code - 0x24b6),
        0x1f130..=0x1f149 => letter(code - 0x1f130),
        _ => ANY,
    }
}

fn is_same_folded(a: &[char], name: &str) -> bool {
    /// A name with more characters like this, or mostly of them, is written in another alphabet.
    const MOST: usize = 3;
    if a.iter().copied().eq(fold_name(name)) {
        return true;
    }
    // Between ASCII names nothing is left to guess, and most names are ASCII.
    if name.is_ascii() && !a.contains(&ANY) {
        return false;
    }
    let b: Vec<char> = fold_name(name).collect();
    let may_be = |text: &[char]| {
        let count = text.iter().filter(|c| **c == ANY).count();
        (1..=MOST).contains(&count) && count * 2 < text.len()
    };
    may_be(a) && matches_pattern(a, &b) || may_be(&b) && matches_pattern(&b, a)
}

/// Whether a text fits a pattern in which [`ANY`] stands for up to three letters.
fn matches_pattern(pattern: &[char], text: &[char]) -> bool {
    match pattern {
        [] => text.is_empty(),
        [ANY, rest @ ..] => (0..=text.len().min(3)).any(|length| matches_pattern(rest, &text[length..])),
        [c, rest @ ..] => text.first() == Some(c) && matches_pattern(rest, &text[1..]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_numberings_mean_the_same_phases() {
        for (a, b) in [
            ("06-implementation", "05-implementation"),
            ("13-test-deploy", "12-test-deploy"),
            ("14-production", "12-production"),
            ("15-operations", "14-operations"),
            ("16-upgrade-plan", "15-upgrade"),
            ("16-upgrade-execute", "15-upgrade"),
            ("00-mapping", "02-impact-analysis"),
            ("00-mapping", "00-quick-scan"),
            ("R1-behavior-extraction", "r1-behavior-extraction"),
            ("99-tomorrow", "99-tomorrow"),
        ] {
            assert!(is_same_phase(a, b) && is_same_phase(b, a), "{a} {b}");
        }
        for (a, b) in [
            ("06-implementation", "07-testing"),
            ("06-testing", "06-implementation"),
            ("16-upgrade-plan", "16-upgrade-execute"),
            ("00-quick-scan", "02-impact-analysis"),
            ("99-tomorrow", "98-tomorrow"),
        ] {
            assert!(!is_same_phase(a, b), "{a} {b}");
        }
        assert!(PhaseSet::from_name("06").is_none() && PhaseSet::from_name("implementation").is_none());
    }

    #[test]
    fn plans_are_needed_from_the_implementation_on() {
        for phase in
            PHASES[..7].iter().copied().flatten().chain(&["04-test-strategy", "03-design", "00-mapping"])
        {
            assert!(is_early(phase), "{phase}");
        }
        for phase in ["06-implementation", "05-implementation", "06-testing", "11-local-testing", "x"] {
            assert!(!is_early(phase), "{phase}");
        }
    }

    #[test]
    fn a_gate_has_the_number_of_its_phase() {
        assert_eq!(gate_name("06-implementation"), "GATE-06");
        assert_eq!(gate_name("R1-behavior-extraction"), "GATE-??");
    }

    #[test]
    fn agents_are_recognized_by_all_their_names() {
        for name in ["developer", "05_Software_Developer", " software-developer ", "isdlc:software-developer"]
        {
            assert_eq!(canonical_agent_name(name), "software-developer", "{name}");
        }
        assert_eq!(canonical_agent_name("General-Purpose"), "general-purpose");
        assert_eq!(
            (canonical_agent_name("discover"), canonical_agent_name("")),
            ("discover".into(), String::new())
        );
        assert_eq!(
            (canonical_agent_name("My Own_Agent"), canonical_agent_name("\u{8a2d}\u{8a08}")),
            ("my-own-agent".into(), "\u{8a2d}\u{8a08}".into())
        );
        assert!(is_same_agent("Pr\u{fc}fer", "pr\u{fc}fer") && !is_same_agent("Pr\u{fc}fer", "tester"));
        let all = || PHASE_AGENTS.iter().chain(OTHER_AGENTS);
        let own: Vec<&str> = all().map(|(own, _)| *own).collect();
        assert!(
            all().flat_map(|(_, others)| *others).all(|other| !own.contains(other)),
            "an own name is never another's"
        );
        assert!(is_phase_agent("qa-engineer") && is_phase_agent("environment-builder"));
        assert!(
            !is_phase_agent("sdlc-orchestrator")
                && !is_phase_agent(DISCOVERY)
                && !is_phase_agent("general-purpose")
        );
    }
}
