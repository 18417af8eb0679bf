//! Plan files, with marks, gaps and verdicts at any place in them, and the sidecar's `gate.yml`.

use std::path::Path;
use std::time::Duration;

use fastrand::Rng;
use provost::plan_gate::document::{GapsBlock, PlanDocument, Record};
use provost::plan_gate::dossier::{Dossier, Gaps, Policy, Recorded};
use provost::plan_gate::seal::Key;
use provost::plan_gate::store::gate_file::{GateFile, Key as Field};
use provost::plan_gate::store::{Embedded, Store};
use provost::plan_gate::verdict::{Status, Verdict};
use provost::plan_gate::{entries, floor, gate};
use provost::workspace::Workspace;

use super::stage::Stage;
use super::{Target, holds, same, texts};
use crate::trial::Seen;

pub const TARGET: Target = Target {
    name: "plan",
    promise: "text without marks stays byte by byte; a record that is written is read back; the keeper changes \
              nothing twice; a sealed verdict passes its own text and no other that reads otherwise; gaps come in \
              and nothing else changes",
    findings: &[
        "a gap that was put into a block on one line could make that line the start of a fence, which hid the block",
        "a value put into a gate file before a comment behind a form feed was not read back",
    ],
    patience: Duration::from_millis(250),
    seeds,
    tokens: &[
        "<!-- rodin:",
        " -->",
        "-->",
        "<!--",
        "<!-- rodin:session=s -->",
        "<!-- rodin:plan:hash=",
        "<!-- rodin:gaps:hash=x -->",
        "<!-- rodin:gaps:start -->",
        "<!-- rodin:gaps:end -->",
        "<!-- rodin:seal=",
        "<!-- rodin:validation={\"status\":\"pass\"} -->",
        "<!-- rodin:verdict:signal={\"status\":\"fail\",\"reason\":\"a --> b\"} -->",
        "```",
        "~~~",
        "````\n",
        "`",
        "\n",
        "\r\n",
        "> ",
        "\t",
        " ",
        "\u{c}",
        "\u{b}",
        "\0",
        "### GAP-1: x\n",
        "- **Severity**: high\n",
        "## Goals\n",
        "status: pass  # c\n",
        "reason: \"a\\nb\"\n",
        "seal: 'x'\n",
        "gaps_hash:\n",
        "plan_hash: ~\n",
        "TODO",
        "---\n",
        "\u{fffd}",
    ],
    brackets: &[
        ("<!-- rodin:gaps:start -->\n", "\n<!-- rodin:gaps:end -->\n"),
        ("```\n", "\n```\n"),
        ("`", "`"),
        ("<!-- ", " -->"),
        ("<!-- rodin:validation={\"status\":\"pass\",\"reason\":\"", "\"} -->"),
        ("<!-- rodin:session=", " -->\n"),
    ],
    is_json: false,
    check,
};

const SESSION: &str = "db05b49a-780f-4b0b-bd53-5359177b8aba";
const NOW: &str = "2026-01-21T20:00:00Z";
const OPENING: &[u8] = b"<!-- rodin:";
/// The reason for which a plan is refused that nobody wrote.
const OVERGROWN: &str = "the plan has more marks than anybody writes; take them out";
/// The keeper looks again as often as this.
const ROUNDS: usize = 4;

fn seeds() -> Vec<Vec<u8>> {
    texts(&[
        "# Plan\n\n## Goals\n- Ship\n\n<!-- rodin:gaps:start -->\n### GAP-1: Rollback: unclear\n- **Severity**: high\n- **Description**: none -> yet\n<!-- rodin:gaps:end -->\n<!-- rodin:session=s -->\n<!-- rodin:plan:hash=00 -->\n<!-- rodin:gaps:hash=00 -->\n<!-- rodin:validation={\"status\":\"pending\",\"reason\":\"x\",\"ts\":\"2026-01-21T20:00:00Z\"} -->\n",
        "# Plan\r\n\r\ntext <!-- rodin:session=s --> text\r\n```\r\n<!-- rodin:seal=x -->\r\n```\r\n`<!-- rodin:gaps:start -->`\r\n",
        "no newline at the end",
        "<!-- rodin:gaps:start --><!-- rodin:gaps:end -->",
        "a\n<!-- rodin:gaps:start -->b<!-- rodin:verdict:signal={\"status\":\"pass\",\"reason\":\"--> }\"} -->\n<!-- rodin:gaps:end --> c\n",
        "# P\n<!-- rodin:gaps:start -->\nx <!-- y -->\n<!-- rodin:gaps:end -->\n",
        "plan_file: /p/a.md\nplan_hash: a1\ngaps_file:\ngaps_hash:\nstatus: pass  # or fail\nreason: null  # or why\ntimestamp: x\nseal: '5e'\n",
    ])
}

fn check(input: &[u8], seen: &mut Seen) -> Result<(), String> {
    gate_file(input)?;
    let Ok(document) = PlanDocument::read(input) else { return Ok(()) };
    plain(input, &document)?;
    gaps(&document)?;
    record(input, &document)?;
    seen.add_shown(&(document.record(), document.signal(), document.content().hash().short()));
    let judged = Stage::with(|stage| {
        let workspace = stage.workspace("project");
        let key = Key::obtain(&workspace).map_err(|fault| fault.to_string())?;
        let policy = Policy { witnessed: true, key: Some(key) };
        verdict(input, &Keeper { policy: &policy, workspace: &workspace }, seen)
    });
    match judged {
        // With its record, a plan that has nearly as many marks as are read has more. It is refused like any other
        // such plan.
        Err(why) if why == OVERGROWN && openings(input) > 200 => Ok(()),
        judged => judged,
    }
}

fn openings(text: &[u8]) -> usize {
    text.windows(OPENING.len()).filter(|part| part == &OPENING).count()
}

/// Where there are no marks, nothing is taken out.
fn plain(input: &[u8], document: &PlanDocument<'_>) -> Result<(), String> {
    let has_marks = openings(input) > 0;
    let (content, own) = (document.content().to_vec(), document.without_record());
    if !has_marks {
        same(&content.as_slice(), &input, "the text of a plan without marks")?;
        same(&own.as_slice(), &input, "a plan without marks, without its record")?;
    }
    holds(is_within(&content, input) && is_within(&own, input), "text comes from nowhere")?;
    holds(is_within(&document.gaps_content().to_vec(), input), "gaps come from nowhere")
}

/// Whether a text is left when parts of another are taken out.
fn is_within(part: &[u8], whole: &[u8]) -> bool {
    let mut rest = whole.iter();
    part.iter().all(|byte| rest.any(|found| found == byte))
}

fn gaps(document: &PlanDocument<'_>) -> Result<(), String> {
    let (added, hash) = ("### GAP-9: More\n", document.content().hash());
    let ways = [document.with_gaps(added), document.with_gaps_in_front(added.as_bytes())];
    let is_broken = matches!(document.gaps(), GapsBlock::Broken(_));
    for (text, in_front) in ways.iter().zip([false, true]) {
        let Some(text) = text else { continue };
        holds(!is_broken, "gaps are put into a broken block")?;
        let Ok(after) = PlanDocument::read(text) else { continue };
        // Where there was no block, one more line at the end may be in an open fence or comment.
        if matches!(document.gaps(), GapsBlock::Present(_)) {
            let held = document.gaps_content().to_text();
            let content = after.gaps_content().to_text().replace("\r\n", "\n");
            holds(content.contains(added), "added gaps are none")?;
            let rest = content.replacen(added, "", 1);
            let is_kept = rest.split_whitespace().eq(held.split_whitespace());
            holds(is_kept || held.contains(added.trim()), "other gaps are changed")?;
            holds(
                after.content().hash() == hash,
                if in_front { "gaps in front change the plan" } else { "gaps change the plan" },
            )?;
        }
    }
    let found = entries::gaps(&document.gaps_content().to_text());
    holds(found.len() <= 1 + document.gaps_content().to_vec().len(), "more gaps than letters")
}

/// Any verdict in a mark is read as it was written, and stays in its mark.
fn record(input: &[u8], document: &PlanDocument<'_>) -> Result<(), String> {
    let reason: String = String::from_utf8_lossy(&input[..input.len().min(300)]).into_owned();
    let written = Record {
        session: Some(SESSION.into()),
        plan_hash: Some(document.content().hash().to_string()),
        gaps_hash: Some(document.gaps_content().hash().to_string()),
        validation: Some(Verdict::new(Status::Fail, &reason, NOW.into())),
        seal: Some("5ea1".into()),
        doubled: None,
    };
    // In a plan of its own, because in this one a fence may be open, or a mark may be left.
    let text = PlanDocument::read(b"# Plan\n").map_err(|_| "overgrown")?.with(&written);
    let again = PlanDocument::read(&text).map_err(|_| "overgrown")?;
    same(&again.record(), &written, "a record that was written")?;
    holds(!again.has_text_in_a_mark(), "a reason ends its mark")?;
    same(&again.content().to_vec().as_slice(), &b"# Plan\n".as_slice(), "a reason becomes text of the plan")
}

struct Keeper<'a> {
    policy: &'a Policy,
    workspace: &'a Workspace,
}

impl Keeper<'_> {
    /// The file after a write, as the store keeps it.
    fn kept(&self, text: &[u8]) -> Result<Vec<u8>, String> {
        let dossier = self.dossier(text)?;
        let settled = dossier.settle(SESSION, dossier.document.signal(), "changed", self.policy, NOW);
        Ok(recorded(&dossier, settled.validation, settled.seal))
    }

    fn dossier<'t>(&self, text: &'t [u8]) -> Result<Dossier<'t>, String> {
        Embedded.dossier(Path::new(""), text, self.workspace).map_err(|fault| fault.to_string())
    }

    fn passes(&self, text: &[u8]) -> bool {
        self.dossier(text)
            .is_ok_and(|dossier| gate::recorded_standing(&dossier, SESSION, self.policy, &Embedded).is_none())
    }
}

/// The file with this verdict on the texts that it has.
fn recorded(dossier: &Dossier<'_>, validation: Verdict, seal: Option<String>) -> Vec<u8> {
    dossier.document.with(&Record {
        session: Some(SESSION.into()),
        plan_hash: Some(dossier.plan_hash.to_string()),
        gaps_hash: Some(dossier.gaps_hash.to_string()),
        validation: Some(validation),
        seal,
        doubled: None,
    })
}

fn verdict(input: &[u8], keeper: &Keeper<'_>, seen: &mut Seen) -> Result<(), String> {
    holds(!keeper.passes(input), "a verdict that nobody gave passes")?;
    let mut kept = keeper.kept(input)?;
    for _ in 1..ROUNDS {
        kept = keeper.kept(&kept)?;
    }
    holds(!keeper.passes(&kept), "what was only kept passes")?;
    let settled = keeper.kept(&kept)? == kept;
    let dossier = keeper.dossier(&kept)?;
    seen.add_shown(&(settled, &dossier.gaps, floor::missing(&dossier, Embedded.words())));
    holds(settled, "the keeper changes a plan again and again")?;
    same(&dossier.session.as_deref(), &Some(SESSION), "the session of a kept plan")?;
    let hashes = (dossier.plan_recorded, dossier.gaps_recorded);
    same(&hashes, &(Recorded::Same, Recorded::Same), "the hashes of a kept plan")?;
    if !matches!(dossier.gaps, Gaps::Present(_)) || dossier.damage.is_some() {
        return Ok(());
    }
    let seal = keeper.policy.key.as_ref().map(|key| key.seal(dossier.plan_hash, dossier.gaps_hash));
    let passed = recorded(&dossier, Verdict::new(Status::Pass, "covered", NOW.into()), seal);
    // Whether it can be read at all.
    keeper.dossier(&passed)?;
    holds(keeper.passes(&passed), "a sealed verdict does not pass its own text")?;
    holds(keeper.passes(&keeper.kept(&passed)?), "a sealed verdict is lost when nothing changes")?;
    edits(input, &passed, keeper)
}

/// Whatever an edit does, a text that passes reads as the one that was judged.
fn edits(input: &[u8], passed: &[u8], keeper: &Keeper<'_>) -> Result<(), String> {
    const EDITS: usize = 4;
    let mut random =
        Rng::with_seed(input.iter().fold(7, |sum: u64, byte| sum.wrapping_mul(31) + u64::from(*byte)));
    let expected = visible(passed);
    for _ in 0..EDITS {
        let (from, to) = (random.usize(..=passed.len()), random.usize(..=passed.len()));
        let (from, to) = (from.min(to), from.max(to));
        let token = TARGET.tokens[random.usize(..TARGET.tokens.len())].as_bytes();
        let edited = match random.u8(..4) {
            0 => [&passed[..from], &passed[to..]].concat(),
            1 => [&passed[..from], token, &passed[from..]].concat(),
            2 => [&passed[..from], token, &passed[to..]].concat(),
            _ => [&passed[..to], &passed[from..]].concat(),
        };
        for text in [keeper.kept(&edited).unwrap_or_default(), edited] {
            if keeper.passes(&text) && visible(&text) != expected {
                let text = String::from_utf8_lossy(&text).into_owned();
                return Err(format!("another text passes: {text:?}"));
            }
        }
    }
    Ok(())
}

/// What a reader sees, in any order: all letters outside of the marks, which end where a browser ends a comment.
fn visible(text: &[u8]) -> Vec<u8> {
    let mut left: Vec<u8> = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.windows(11).position(|part| part == b"<!-- rodin:") {
        left.extend(&rest[..at]);
        rest = &rest[at..];
        let end = rest.windows(3).position(|part| part == b"-->").map_or(rest.len(), |end| end + 3);
        rest = &rest[end..];
    }
    left.extend(rest);
    left.retain(|byte| !byte.is_ascii_whitespace());
    left.sort_unstable();
    left
}

/// The sidecar's file: what is set is read back, and every other line stays.
fn gate_file(input: &[u8]) -> Result<(), String> {
    let before = GateFile::read(input);
    same(&before.to_bytes().as_slice(), &input, "a gate file that is not changed")?;
    let value = String::from_utf8_lossy(&input[..input.len().min(60)]).into_owned();
    let value = value.trim();
    let fields = [Field::Status, Field::Reason, Field::Seal, Field::PlanHash];
    for field in fields {
        let mut file = before.clone();
        file.set(field, Some(value));
        same(
            &file.get(field),
            &Some(value.to_owned()).filter(|value| !value.is_empty()),
            "a value of a gate file",
        )?;
        let again = GateFile::read(&file.to_bytes());
        same(&again.get(field), &file.get(field), "a value of a gate file, read again")?;
        for other in fields.into_iter().filter(|other| *other != field) {
            same(&again.get(other), &before.get(other), "another value of a gate file")?;
        }
        let mut twice = again.clone();
        twice.set(field, Some(value));
        same(&twice.to_bytes(), &again.to_bytes(), "a value that is set twice")?;
    }
    Ok(())
}
