//! Plan files with marks, gaps and verdicts anywhere, and the sidecar's `gate.yml`.

use std::path::Path;
use std::time::Duration;

use fastrand::Rng;
use provost::plan_gate::document::{GapsBlock, MarkRecord, PlanDocument};
use provost::plan_gate::plan_record::{Gaps, PlanRecord, RecordedHash, VerdictPolicy};
use provost::plan_gate::store::gate_file::{GateFile, GateKey as Field};
use provost::plan_gate::store::{Embedded, Store};
use provost::plan_gate::verdict::{PlanVerdict, VerdictStatus};
use provost::plan_gate::{entries, gate, prerequisites};
use provost::seal::SealKey;
use provost::workspace::Workspace;

use super::sandbox::Sandbox;
use super::{Target, ensure, ensure_equal, text_seeds};
use crate::double_check::AnswerDigest;

pub const TARGET: Target = Target {
    name: "plan",
    promise: "text without marks keeps every byte; a written record is read back; the keeper changes nothing twice; \
              a sealed verdict passes its own text and no text with another meaning; adding gaps changes nothing \
              else",
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
/// The reason for denying a plan without an author.
const OVERGROWN: &str = "the plan has more marks than anybody writes; take them out";
/// How often the keeper checks again.
const ROUNDS: usize = 4;

fn seeds() -> Vec<Vec<u8>> {
    text_seeds(&[
        "# Plan\n\n## Goals\n- Ship\n\n<!-- rodin:gaps:start -->\n### GAP-1: Rollback: unclear\n- **Severity**: high\n- **Description**: none -> yet\n<!-- rodin:gaps:end -->\n<!-- rodin:session=s -->\n<!-- rodin:plan:hash=00 -->\n<!-- rodin:gaps:hash=00 -->\n<!-- rodin:validation={\"status\":\"pending\",\"reason\":\"x\",\"ts\":\"2026-01-21T20:00:00Z\"} -->\n",
        "# Plan\r\n\r\ntext <!-- rodin:session=s --> text\r\n```\r\n<!-- rodin:seal=x -->\r\n```\r\n`<!-- rodin:gaps:start -->`\r\n",
        "no newline at the end",
        "<!-- rodin:gaps:start --><!-- rodin:gaps:end -->",
        "a\n<!-- rodin:gaps:start -->b<!-- rodin:verdict:signal={\"status\":\"pass\",\"reason\":\"--> }\"} -->\n<!-- rodin:gaps:end --> c\n",
        "# P\n<!-- rodin:gaps:start -->\nx <!-- y -->\n<!-- rodin:gaps:end -->\n",
        "plan_file: /p/a.md\nplan_hash: a1\ngaps_file:\ngaps_hash:\nstatus: pass  # or fail\nreason: null  # or why\ntimestamp: x\nseal: '5e'\n",
    ])
}

fn check(input: &[u8], digest: &mut AnswerDigest) -> Result<(), String> {
    check_gate_file(input)?;
    let Ok(document) = PlanDocument::parse(input) else { return Ok(()) };
    check_text_without_marks(input, &document)?;
    check_gaps(&document)?;
    check_record(input, &document)?;
    digest.add_debug(&(document.record(), document.signal(), document.content().hash().short_hex()));
    let judged = Sandbox::with(|sandbox| {
        let workspace = sandbox.workspace("project");
        let key = SealKey::load_or_create(&workspace).map_err(|fault| fault.to_string())?;
        let policy = VerdictPolicy { needs_witness: true, key: Some(key) };
        check_verdict(input, &Keeper { policy: &policy, workspace: &workspace }, digest)
    });
    match judged {
        // With its record, a plan that has nearly as many marks as are read has more. It is refused like any other
        // such plan.
        Err(why) if why == OVERGROWN && count_openings(input) > 200 => Ok(()),
        judged => judged,
    }
}

fn count_openings(text: &[u8]) -> usize {
    text.windows(OPENING.len()).filter(|part| part == &OPENING).count()
}

/// Nothing is removed from a text without marks.
fn check_text_without_marks(input: &[u8], document: &PlanDocument<'_>) -> Result<(), String> {
    let has_marks = count_openings(input) > 0;
    let (content, own) = (document.content().to_vec(), document.without_record());
    if !has_marks {
        ensure_equal(&content.as_slice(), &input, "the text of a plan without marks")?;
        ensure_equal(&own.as_slice(), &input, "a plan without marks, without its record")?;
    }
    ensure(is_within(&content, input) && is_within(&own, input), "text comes from nowhere")?;
    ensure(is_within(&document.gaps_content().to_vec(), input), "gaps come from nowhere")
}

/// Whether a text remains when parts of another are removed.
fn is_within(part: &[u8], whole: &[u8]) -> bool {
    let mut rest = whole.iter();
    part.iter().all(|byte| rest.any(|found| found == byte))
}

fn check_gaps(document: &PlanDocument<'_>) -> Result<(), String> {
    let (added, hash) = ("### GAP-9: More\n", document.content().hash());
    let ways = [document.with_gaps(added), document.with_gaps_in_front(added.as_bytes())];
    let is_broken = matches!(document.gaps_block(), GapsBlock::Broken(_));
    for (text, in_front) in ways.iter().zip([false, true]) {
        let Some(text) = text else { continue };
        ensure(!is_broken, "gaps are put into a broken block")?;
        let Ok(after) = PlanDocument::parse(text) else { continue };
        // Where there was no block, one more line at the end may be in an open fence or comment.
        if matches!(document.gaps_block(), GapsBlock::Present(_)) {
            let held = document.gaps_content().to_text();
            let content = after.gaps_content().to_text().replace("\r\n", "\n");
            ensure(content.contains(added), "added gaps are none")?;
            let rest = content.replacen(added, "", 1);
            let is_kept = rest.split_whitespace().eq(held.split_whitespace());
            ensure(is_kept || held.contains(added.trim()), "other gaps are changed")?;
            ensure(
                after.content().hash() == hash,
                if in_front { "gaps in front change the plan" } else { "gaps change the plan" },
            )?;
        }
    }
    let found = entries::read_gaps(&document.gaps_content().to_text());
    ensure(found.len() <= 1 + document.gaps_content().to_vec().len(), "more gaps than letters")
}

/// A verdict in a mark is read as it was written, and stays in its mark.
fn check_record(input: &[u8], document: &PlanDocument<'_>) -> Result<(), String> {
    let reason: String = String::from_utf8_lossy(&input[..input.len().min(300)]).into_owned();
    let written = MarkRecord {
        session: Some(SESSION.into()),
        plan_hash: Some(document.content().hash().to_string()),
        gaps_hash: Some(document.gaps_content().hash().to_string()),
        validation: Some(PlanVerdict::new(VerdictStatus::Fail, &reason, NOW.into())),
        seal: Some("5ea1".into()),
        doubled: None,
    };
    // In a plan of its own, because in this one a fence may be open, or a mark may be left.
    let text = PlanDocument::parse(b"# Plan\n").map_err(|_| "overgrown")?.with_record(&written);
    let again = PlanDocument::parse(&text).map_err(|_| "overgrown")?;
    ensure_equal(&again.record(), &written, "a record that was written")?;
    ensure(!again.has_text_in_mark(), "a reason ends its mark")?;
    ensure_equal(
        &again.content().to_vec().as_slice(),
        &b"# Plan\n".as_slice(),
        "a reason becomes text of the plan",
    )
}

struct Keeper<'a> {
    policy: &'a VerdictPolicy,
    workspace: &'a Workspace,
}

impl Keeper<'_> {
    /// The file after a write, as the store keeps it.
    fn kept(&self, text: &[u8]) -> Result<Vec<u8>, String> {
        let dossier = self.dossier(text)?;
        let settled = dossier.settle_verdict(SESSION, dossier.document.signal(), "changed", self.policy, NOW);
        Ok(write_record(&dossier, settled.validation, settled.seal))
    }

    fn dossier<'t>(&self, text: &'t [u8]) -> Result<PlanRecord<'t>, String> {
        Embedded.read_record(Path::new(""), text, self.workspace).map_err(|fault| fault.to_string())
    }

    fn passes(&self, text: &[u8]) -> bool {
        self.dossier(text).is_ok_and(|dossier| {
            gate::find_recorded_denial(&dossier, SESSION, self.policy, &Embedded).is_none()
        })
    }
}

/// The file with this verdict on its texts.
fn write_record(dossier: &PlanRecord<'_>, validation: PlanVerdict, seal: Option<String>) -> Vec<u8> {
    dossier.document.with_record(&MarkRecord {
        session: Some(SESSION.into()),
        plan_hash: Some(dossier.plan_hash.to_string()),
        gaps_hash: Some(dossier.gaps_hash.to_string()),
        validation: Some(validation),
        seal,
        doubled: None,
    })
}

fn check_verdict(input: &[u8], keeper: &Keeper<'_>, digest: &mut AnswerDigest) -> Result<(), String> {
    ensure(!keeper.passes(input), "a verdict that nobody gave passes")?;
    let mut kept = keeper.kept(input)?;
    for _ in 1..ROUNDS {
        kept = keeper.kept(&kept)?;
    }
    ensure(!keeper.passes(&kept), "what was only kept passes")?;
    let settled = keeper.kept(&kept)? == kept;
    let dossier = keeper.dossier(&kept)?;
    digest.add_debug(&(settled, &dossier.gaps, prerequisites::list_missing(&dossier, Embedded.messages())));
    ensure(settled, "the keeper changes a plan again and again")?;
    ensure_equal(&dossier.session.as_deref(), &Some(SESSION), "the session of a kept plan")?;
    let hashes = (dossier.plan_recorded, dossier.gaps_recorded);
    ensure_equal(&hashes, &(RecordedHash::Same, RecordedHash::Same), "the hashes of a kept plan")?;
    if !matches!(dossier.gaps, Gaps::Present(_)) || dossier.damage.is_some() {
        return Ok(());
    }
    let seal = keeper.policy.key.as_ref().map(|key| key.seal_texts(dossier.plan_hash, dossier.gaps_hash));
    let passed = write_record(&dossier, PlanVerdict::new(VerdictStatus::Pass, "covered", NOW.into()), seal);
    // Whether it can be read at all.
    keeper.dossier(&passed)?;
    ensure(keeper.passes(&passed), "a sealed verdict does not pass its own text")?;
    ensure(keeper.passes(&keeper.kept(&passed)?), "a sealed verdict is lost when nothing changes")?;
    check_edits(input, &passed, keeper)
}

/// After any edit, a text that still passes has the same visible letters as the judged one.
fn check_edits(input: &[u8], passed: &[u8], keeper: &Keeper<'_>) -> Result<(), String> {
    const EDITS: usize = 4;
    let mut random =
        Rng::with_seed(input.iter().fold(7, |sum: u64, byte| sum.wrapping_mul(31) + u64::from(*byte)));
    let expected = visible_letters(passed);
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
            if keeper.passes(&text) && visible_letters(&text) != expected {
                let text = String::from_utf8_lossy(&text).into_owned();
                return Err(format!("another text passes: {text:?}"));
            }
        }
    }
    Ok(())
}

/// The sorted letters outside of the marks, which end where a browser ends a comment.
fn visible_letters(text: &[u8]) -> Vec<u8> {
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

/// In the sidecar's file, a value that is set is read back, and all other lines stay.
fn check_gate_file(input: &[u8]) -> Result<(), String> {
    let before = GateFile::parse(input);
    ensure_equal(&before.to_bytes().as_slice(), &input, "a gate file that is not changed")?;
    let value = String::from_utf8_lossy(&input[..input.len().min(60)]).into_owned();
    let value = value.trim();
    let fields = [Field::Status, Field::Reason, Field::Seal, Field::PlanHash];
    for field in fields {
        let mut file = before.clone();
        file.set(field, Some(value));
        ensure_equal(
            &file.get(field),
            &Some(value.to_owned()).filter(|value| !value.is_empty()),
            "a value of a gate file",
        )?;
        let again = GateFile::parse(&file.to_bytes());
        ensure_equal(&again.get(field), &file.get(field), "a value of a gate file, read again")?;
        for other in fields.into_iter().filter(|other| *other != field) {
            ensure_equal(&again.get(other), &before.get(other), "another value of a gate file")?;
        }
        let mut twice = again.clone();
        twice.set(field, Some(value));
        ensure_equal(&twice.to_bytes(), &again.to_bytes(), "a value that is set twice")?;
    }
    Ok(())
}
