//! The words and signs by which [`super::find_verdicts`] recognises a verdict.

/// A list of words, written without quotes.
macro_rules! words {
    ($($word:ident)*) => { &[$(stringify!($word)),*] };
}
pub(super) use words;

/// Words that may be between "verdict" and its value, or before "verdict" at the start of a line.
pub(super) const FILLERS: &[&str] = words![
    a actual actually after all amended an and as be becomes been cannot changed changes conclusion correct
    corrected correction coverage d did does doesn edit final finally for from has hence here i in instead is
    it its must my new no not note now of official on or our overall plan read reads real really remains
    result revised s say second should shouldn so stands status still t that the therefore third this thus to
    true update updated validator value was would
];
/// Labels that mean the same as "verdict" where a value is assigned to them.
pub(super) const LABELS: &[&str] = words![
    answer assessment conclusion corrected correction coverage decision final judgement judgment outcome
    overall result revised ruling status update updated
];
/// Subjects of a sentence that judges the plan.
pub(super) const SUBJECTS: &[&str] = words![answer assessment i it plan that this which];
/// Words that turn a value into its opposite. The search splits "doesn't" into two words.
pub(super) const NEGATIONS: &[&str] = words![cannot never no not t];
/// Objects of "passes" and "fails" in a sentence that judges the plan.
pub(super) const OBJECTS: &[&str] = words![assessment check coverage gate my review the this validation];
/// Words in front of a sentence's subject that make it a condition: "if it fails".
pub(super) const CONDITIONS: &[&str] = words![if unless when whenever whether];
/// Words that take a verdict back.
pub(super) const RETRACTIONS: &[&str] = words![
    back discard disregard ignore overrule overturn retract reverse revoke withdraw
];
/// Adjectives for a verdict that was taken back.
pub(super) const RETRACTED: &[&str] = words![
    incorrect invalid mistaken overturned retracted reversed revoked void withdrawn wrong
];
/// Words that follow a value in a rule: "FAIL if any finding has no gap".
pub(super) const RULE_WORDS: &[&str] = words![if means needs only otherwise requires unless when would];
/// Labels that also appear beside each single finding.
pub(super) const FINDING_LABELS: &[&str] = words![coverage status];
/// Signs that mean a value.
pub(super) const PASS_SIGNS: &[char] = &['✅', '✓', '✔', '☑', '🟢', '👍'];
pub(super) const FAIL_SIGNS: &[char] = &['❌', '❎', '✗', '✘', '✖', '⛔', '🔴', '👎', '🚫'];
