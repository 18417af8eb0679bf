//! The phases of a workflow and the agents of its phases, by all their names.
//!
//! Three numberings are in use: that of workflows, that of requirements and that of manifests. Two names
//! mean the same phase if they have a phase in common here. A name that is not in the table is no phase
//! that this program knows, and never a reason to hold anything back.

/// Some phases, each a bit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Phases(u32);

/// Every name of a phase, with the phases it can mean. Where there are several numbers, the first is
/// that of the requirements.
const NAMES: &[(&str, Phases)] = &[
    ("00-quick-scan", Phases(1)),
    ("00-mapping", Phases(1 | 1 << 2)),
    ("01-requirements", Phases(1 << 1)),
    ("02-impact-analysis", Phases(1 << 2)),
    ("02-tracing", Phases(1 << 3)),
    ("03-architecture", Phases(1 << 4)),
    ("02-architecture", Phases(1 << 4)),
    ("04-design", Phases(1 << 5)),
    ("03-design", Phases(1 << 5)),
    ("05-test-strategy", Phases(1 << 6)),
    ("04-test-strategy", Phases(1 << 6)),
    ("06-implementation", Phases(1 << 7)),
    ("05-implementation", Phases(1 << 7)),
    ("07-testing", Phases(1 << 8)),
    ("06-testing", Phases(1 << 8)),
    ("08-code-review", Phases(1 << 9)),
    ("07-code-review", Phases(1 << 9)),
    ("09-validation", Phases(1 << 10)),
    ("08-validation", Phases(1 << 10)),
    ("10-cicd", Phases(1 << 11)),
    ("09-cicd", Phases(1 << 11)),
    ("11-local-testing", Phases(1 << 12)),
    ("10-local-testing", Phases(1 << 12)),
    ("12-remote-build", Phases(1 << 13)),
    ("12-test-deploy", Phases(1 << 14)),
    ("13-test-deploy", Phases(1 << 14)),
    ("11-test-deploy", Phases(1 << 14)),
    ("13-production", Phases(1 << 15)),
    ("14-production", Phases(1 << 15)),
    ("12-production", Phases(1 << 15)),
    ("14-operations", Phases(1 << 16)),
    ("15-operations", Phases(1 << 16)),
    ("13-operations", Phases(1 << 16)),
    ("15-upgrade", Phases(1 << 17 | 1 << 18)),
    ("16-upgrade-plan", Phases(1 << 17)),
    ("16-upgrade-execute", Phases(1 << 18)),
    ("r1-behavior-extraction", Phases(1 << 19)),
    ("r2-characterization-tests", Phases(1 << 20)),
    ("r3-artifact-integration", Phases(1 << 21)),
    ("r4-atdd-bridge", Phases(1 << 22)),
];

/// Phases that come before there is a plan of tasks.
const EARLY: &[&str] = &[
    "00-quick-scan",
    "01-requirements",
    "02-impact-analysis",
    "02-tracing",
    "03-architecture",
    "04-design",
    "05-test-strategy",
];

/// Other names of agents, after case and underscores are taken away: first of those that work in a
/// phase.
const WORKERS: &[(&str, &str)] = &[
    ("requirements", "requirements-analyst"),
    ("01-requirements-analyst", "requirements-analyst"),
    ("architect", "solution-architect"),
    ("02-solution-architect", "solution-architect"),
    ("designer", "system-designer"),
    ("03-system-designer", "system-designer"),
    ("test-design", "test-design-engineer"),
    ("04-test-design-engineer", "test-design-engineer"),
    ("developer", "software-developer"),
    ("05-software-developer", "software-developer"),
    ("tester", "integration-tester"),
    ("06-integration-tester", "integration-tester"),
    ("qa", "qa-engineer"),
    ("07-qa-engineer", "qa-engineer"),
    ("security", "security-compliance-auditor"),
    ("08-security-compliance-auditor", "security-compliance-auditor"),
    ("cicd", "cicd-engineer"),
    ("09-cicd-engineer", "cicd-engineer"),
    ("dev-env", "environment-builder"),
    ("10-dev-environment-engineer", "environment-builder"),
    ("staging", "deployment-engineer-staging"),
    ("11-deployment-engineer-staging", "deployment-engineer-staging"),
    ("release", "release-manager"),
    ("12-release-manager", "release-manager"),
    ("sre", "site-reliability-engineer"),
    ("13-site-reliability-engineer", "site-reliability-engineer"),
];

/// And of those that work before there are phases, or in all of them.
const OTHERS: &[(&str, &str)] = &[
    ("orchestrator", ORCHESTRATOR),
    ("00-sdlc-orchestrator", ORCHESTRATOR),
    ("d0", "discover-orchestrator"),
    ("d0-discover-orchestrator", "discover-orchestrator"),
    ("discovery", "discover-orchestrator"),
    ("d1", "architecture-analyzer"),
    ("d1-architecture-analyzer", "architecture-analyzer"),
    ("arch-analyzer", "architecture-analyzer"),
    ("d2", "test-evaluator"),
    ("d2-test-evaluator", "test-evaluator"),
    ("d3", "constitution-generator"),
    ("d3-constitution-generator", "constitution-generator"),
    ("d4", "skills-researcher"),
    ("d4-skills-researcher", "skills-researcher"),
    ("d5", "data-model-analyzer"),
    ("d5-data-model-analyzer", "data-model-analyzer"),
    ("d6", "feature-mapper"),
    ("d6-feature-mapper", "feature-mapper"),
    ("d7", "product-analyst"),
    ("d7-product-analyst", "product-analyst"),
    ("d8", "architecture-designer"),
    ("d8-architecture-designer", "architecture-designer"),
    ("arch-designer", "architecture-designer"),
];

/// The agent that leads a workflow.
pub const ORCHESTRATOR: &str = "sdlc-orchestrator";

/// The agent that leads a discovery.
pub const DISCOVERY: &str = "discover-orchestrator";

impl Phases {
    /// The phases that a name can mean; `None`: it is no name of a phase.
    pub fn named(name: &str) -> Option<Self> {
        let name = name.trim();
        NAMES.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, phases)| *phases)
    }

    pub fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}

/// Whether two names mean the same phase. Names that are not known are the same only if they are equal.
pub fn is_same(a: &str, b: &str) -> bool {
    a == b || matches!((Phases::named(a), Phases::named(b)), (Some(a), Some(b)) if a.meets(b))
}

/// Whether a phase comes before there is a plan of tasks.
pub fn is_early(phase: &str) -> bool {
    EARLY.iter().any(|early| is_same(early, phase))
}

/// The name of the gate behind a phase.
pub fn gate(phase: &str) -> String {
    let digits: String = phase.trim().chars().take_while(char::is_ascii_digit).collect();
    format!("GATE-{}", if digits.is_empty() { "??" } else { &digits })
}

/// An agent's own name, however it is written: as the client compares names, in a plugin (`plugin:name`), or
/// by another name.
pub fn agent(name: &str) -> String {
    let name = name.rsplit([':', '\u{ff1a}']).next().unwrap_or(name).trim();
    let wanted: Vec<char> = fold(name).collect();
    let mut known = WORKERS.iter().chain(OTHERS);
    match known.find(|(other, own)| is_same_folded(&wanted, other) || is_same_folded(&wanted, own)) {
        Some((_, own)) => (*own).to_owned(),
        None => spelled_out(name),
    }
}

/// Whether two names mean one agent to the client.
pub fn is_same_agent(a: &str, b: &str) -> bool {
    is_same_folded(&fold(a).collect::<Vec<_>>(), b)
}

/// A name in lower case, its words joined by hyphens.
pub fn spelled_out(name: &str) -> String {
    let words = name.split(|c: char| c.is_whitespace() || is_dash(c) || c == '_');
    words.filter(|word| !word.is_empty()).map(str::to_lowercase).collect::<Vec<_>>().join("-")
}

/// Whether an agent, by its own name, works in a phase, as far as that is known without a manifest.
pub fn is_worker(agent: &str) -> bool {
    WORKERS.iter().any(|(_, own)| *own == agent)
}

/// Whether an agent, by its own name, leads the workflow or sets it up, as far as that is known without a
/// manifest.
pub fn is_beside_phases(agent: &str) -> bool {
    is_discovery(agent) || OTHERS.iter().any(|(_, own)| *own == agent)
}

/// Whether an agent, by its own name, is a discovery.
pub fn is_discovery(agent: &str) -> bool {
    agent.contains("discover")
}

/// Stands for a character that may become other letters when the client normalises it.
const ANY: char = '\u{fffd}';

/// A name as Claude Code compares it: compatibility forms replaced (NFKC), in lower case, without white space,
/// dashes and underscores. Of the compatibility forms only whole alphabets are known here; what else is not
/// ASCII becomes [`ANY`].
fn fold(name: &str) -> impl Iterator<Item = char> {
    let kept = name.chars().filter(|c| !c.is_whitespace() && !is_dash(*c) && *c != '_');
    kept.map(ascii).filter(|c| *c != '-' && *c != '_').map(|c| c.to_ascii_lowercase())
}

fn is_dash(c: char) -> bool {
    matches!(
        c,
        '-' | '\u{58a}' | '\u{5be}' | '\u{1400}' | '\u{1806}' | '\u{2010}'
            ..='\u{2015}'
                | '\u{2e17}'
                | '\u{2e1a}'
                | '\u{2e3a}'
                | '\u{2e3b}'
                | '\u{2e40}'
                | '\u{301c}'
                | '\u{3030}'
                | '\u{30a0}'
                | '\u{fe31}'
                | '\u{fe32}'
                | '\u{fe58}'
                | '\u{fe63}'
    )
}

/// The ASCII character of a compatibility form: wide, mathematical, circled or squared.
fn ascii(c: char) -> char {
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
    /// A name with more of these, or mostly of these, is written in another alphabet.
    const MOST: usize = 3;
    if a.iter().copied().eq(fold(name)) {
        return true;
    }
    // Between ASCII names nothing is left to guess, and most names are.
    if name.is_ascii() && !a.contains(&ANY) {
        return false;
    }
    let b: Vec<char> = fold(name).collect();
    let may_be = |text: &[char]| {
        let count = text.iter().filter(|c| **c == ANY).count();
        (1..=MOST).contains(&count) && count * 2 < text.len()
    };
    may_be(a) && fits(a, &b) || may_be(&b) && fits(&b, a)
}

/// Whether a text fits a pattern in which [`ANY`] stands for up to three letters.
fn fits(pattern: &[char], text: &[char]) -> bool {
    match pattern {
        [] => text.is_empty(),
        [ANY, rest @ ..] => (0..=text.len().min(3)).any(|length| fits(rest, &text[length..])),
        [c, rest @ ..] => text.first() == Some(c) && fits(rest, &text[1..]),
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
            ("99-of-tomorrow", "99-of-tomorrow"),
        ] {
            assert!(is_same(a, b) && is_same(b, a), "{a} {b}");
        }
        for (a, b) in [
            ("06-implementation", "07-testing"),
            ("06-testing", "06-implementation"),
            ("16-upgrade-plan", "16-upgrade-execute"),
            ("00-quick-scan", "02-impact-analysis"),
            ("99-of-tomorrow", "98-of-tomorrow"),
        ] {
            assert!(!is_same(a, b), "{a} {b}");
        }
        assert!(Phases::named("06").is_none() && Phases::named("implementation").is_none());
    }

    #[test]
    fn plans_are_needed_from_the_implementation_on() {
        for phase in EARLY.iter().chain(&["04-test-strategy", "03-design", "00-mapping"]) {
            assert!(is_early(phase), "{phase}");
        }
        for phase in ["06-implementation", "05-implementation", "06-testing", "11-local-testing", "x"] {
            assert!(!is_early(phase), "{phase}");
        }
    }

    #[test]
    fn a_gate_has_the_number_of_its_phase() {
        assert_eq!(gate("06-implementation"), "GATE-06");
        assert_eq!(gate("R1-behavior-extraction"), "GATE-??");
    }

    #[test]
    fn agents_are_known_by_all_their_names() {
        for name in ["developer", "05_Software_Developer", " software-developer ", "isdlc:software-developer"]
        {
            assert_eq!(agent(name), "software-developer", "{name}");
        }
        assert_eq!(agent("General-Purpose"), "general-purpose");
        assert_eq!((agent("discover"), agent("")), ("discover".into(), String::new()));
        assert_eq!(
            (agent("My Own_Agent"), agent("\u{8a2d}\u{8a08}")),
            ("my-own-agent".into(), "\u{8a2d}\u{8a08}".into())
        );
        assert!(is_same_agent("Pr\u{fc}fer", "pr\u{fc}fer") && !is_same_agent("Pr\u{fc}fer", "tester"));
        let all = || WORKERS.iter().chain(OTHERS);
        let own: Vec<&str> = all().map(|(_, own)| *own).collect();
        assert!(all().all(|(other, _)| !own.contains(other)), "an own name is never another's");
        assert!(is_worker("qa-engineer") && is_worker("environment-builder"));
        assert!(!is_worker("sdlc-orchestrator") && !is_worker(DISCOVERY) && !is_worker("general-purpose"));
    }
}
