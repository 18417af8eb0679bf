use super::*;
use crate::plan_gate::marks::MOST_MARKS;

const PLAN: &str = "# My Plan

## Goals
- Ship the feature

<!-- rodin:gaps:start -->
### GAP-1: Database rollback unclear
- **Severity**: high
<!-- rodin:gaps:end -->

<!-- rodin:session=db05b49a-780f-4b0b-bd53-5359177b8aba -->
<!-- rodin:plan:hash=a1b2 -->
<!-- rodin:gaps:hash=d4e5 -->
<!-- rodin:validation={\"status\":\"pass\",\"reason\":\"All findings covered\",\"ts\":\"2026-01-23T20:00:00Z\"} -->
";

fn read(text: &str) -> PlanDocument<'_> {
    PlanDocument::parse(text.as_bytes()).unwrap()
}

fn content(text: &str) -> String {
    read(text).content().to_text()
}

fn gaps(text: &str) -> String {
    read(text).gaps_content().to_text()
}

fn record() -> MarkRecord {
    MarkRecord {
        session: Some("s-1".into()),
        plan_hash: Some("aa".into()),
        gaps_hash: Some("bb".into()),
        validation: Some(PlanVerdict::new(VerdictStatus::Pending, "not yet", "2026-01-01T00:00:00Z".into())),
        seal: None,
        doubled: None,
    }
}

fn kept(text: &str) -> String {
    String::from_utf8(read(text).with_record(&record())).unwrap()
}

#[test]
fn the_documents_example_is_read_in_all_its_parts() {
    let document = read(PLAN);
    assert_eq!(content(PLAN), "# My Plan\n\n## Goals\n- Ship the feature\n\n\n");
    assert_eq!(gaps(PLAN), "### GAP-1: Database rollback unclear\n- **Severity**: high\n");
    let record = document.record();
    assert_eq!(record.session.as_deref(), Some("db05b49a-780f-4b0b-bd53-5359177b8aba"));
    assert_eq!((record.plan_hash.as_deref(), record.gaps_hash.as_deref()), (Some("a1b2"), Some("d4e5")));
    let validation = record.validation.unwrap();
    assert_eq!(
        (validation.status, validation.reason.as_str()),
        (VerdictStatus::Pass, "All findings covered")
    );
    assert_eq!(validation.time.as_deref(), Some("2026-01-23T20:00:00Z"));
    assert_eq!((record.seal, record.doubled), (None, None));
    assert_eq!(document.signal(), Signal::None);
}

#[test]
fn a_reason_may_hold_anything() {
    for reason in
        ["a > b", "a -- b", "a --> b", "{retries, timeouts}", "}\\", "\"quoted\"", "<!-- rodin:session=x -->"]
    {
        let mark = PlanVerdict::new(VerdictStatus::Fail, reason, "t".into()).to_mark_value();
        for mark in [mark.clone(), mark.replace("\\u003e", ">")] {
            let text = format!("plan\n<!-- rodin:verdict:signal={mark} -->\n");
            assert_eq!(content(&text), "plan\n", "{text}");
            let Signal::One(verdict) = read(&text).signal() else { panic!("{text}") };
            assert_eq!(verdict.reason, reason);
        }
    }
}

#[test]
fn what_is_no_mark_is_text() {
    for text in [
        "<!-- rodin:session=x\n-->\n",
        "<!-- rodin:session=x --\n",
        "<!-- rodin:session=x",
        "<!--rodin:session=x-->\n",
        "<!-- rodin:unknown=x -->\n",
        "<!-- rodin:gaps:start x -->\n",
        "<!-- rodin: -->\n",
        "`<!-- rodin:session=x -->`\n",
        "```\n<!-- rodin:session=x -->\n```\n",
        "~~~\n<!-- rodin:gaps:start -->\n~~~\n",
    ] {
        assert_eq!(content(text), text);
        assert_eq!(read(text).record(), MarkRecord::default(), "{text}");
        assert_eq!(*read(text).gaps_block(), GapsBlock::Missing);
    }
}

#[test]
fn a_fence_that_never_ends_hides_no_mark() {
    let text = "```\ncode\n<!-- rodin:session=x -->\n";
    assert_eq!(content(text), "```\ncode\n");
    assert_eq!(read(text).record().session.as_deref(), Some("x"));
}

#[test]
fn text_beside_a_mark_is_text() {
    assert_eq!(content("drop it <!-- rodin:session=x --> all\nend\n"), "drop it  all\nend\n");
    assert_eq!(content("  <!-- rodin:session=x --> \t<!-- rodin:seal=y -->\r\nend\n"), "end\n");
    assert_eq!(content("a <!-- rodin:gaps:start -->\nG\n<!-- rodin:gaps:end --> b\n"), "a  b\n");
}

#[test]
fn the_gaps_are_what_stands_between_their_marks() {
    for (text, expected) in [
        ("<!-- rodin:gaps:start -->\nG1\n\nG2\n<!-- rodin:gaps:end -->\n", "G1\n\nG2\n"),
        ("<!-- rodin:gaps:start -->\r\nG\r\n  <!-- rodin:gaps:end -->\r\n", "G\r\n"),
        ("<!-- rodin:gaps:start --> G <!-- rodin:gaps:end -->\nrest\n", " G "),
        ("<!-- rodin:gaps:start --><!-- rodin:gaps:end -->\nrest\n", ""),
        ("<!-- rodin:gaps:start -->\n<!-- rodin:gaps:end -->\n", ""),
        ("<!-- rodin:gaps:start -->\nA\n<!-- rodin:session=x -->\nB\n<!-- rodin:gaps:end -->", "A\nB\n"),
    ] {
        assert_eq!(gaps(text), expected, "{text}");
        assert!(!content(text).contains(['A', 'B', 'G']), "{text}");
    }
    // The rest of the file does not become gaps.
    assert_eq!(content("<!-- rodin:gaps:start --><!-- rodin:gaps:end -->\nrest\n"), "rest\n");
}

#[test]
fn marks_of_the_gaps_block_must_pair() {
    for (text, how) in [
        ("a\n<!-- rodin:gaps:start -->\nb\n", "it is never closed"),
        ("a\n<!-- rodin:gaps:end -->\nb\n", "it ends before it begins"),
        (
            "<!-- rodin:gaps:start -->\nA\n<!-- rodin:gaps:end -->\nx\n<!-- rodin:gaps:start -->\nB\n<!-- rodin:gaps:end -->",
            "there is more than one",
        ),
        (
            "<!-- rodin:gaps:start -->\n<!--\n<!-- rodin:gaps:end -->\n1. a step\n-->\n",
            "a comment begins in it",
        ),
        (
            "<!-- rodin:gaps:start -->\n<!-- rodin:x\n<!-- rodin:gaps:end -->\n1. a step\n-->\n",
            "a comment begins in it",
        ),
        (
            "<!-- rodin:gaps:start -->\n<!-- rodin:gaps:start -->\n<!-- rodin:gaps:end -->\n",
            "it begins twice",
        ),
        (
            "<!-- rodin:gaps:start -->\n<!-- rodin:gaps:end -->\n<!-- rodin:gaps:end -->\n",
            "there is more than one",
        ),
    ] {
        assert_eq!(*read(text).gaps_block(), GapsBlock::Broken(how), "{text}");
        assert_eq!(content(text), text, "a broken block hides nothing");
    }
}

#[test]
fn marks_that_are_there_twice_are_told() {
    let text = "<!-- rodin:session=a -->\n<!-- rodin:session=b -->\n";
    assert_eq!(read(text).record().doubled, Some("session"));
}

#[test]
fn several_signals_count_if_they_agree() {
    let signal = |status: &str, reason: &str| {
        format!("<!-- rodin:verdict:signal={{\"status\":\"{status}\",\"reason\":\"{reason}\"}} -->\n")
    };
    let two = signal("pass", "a") + &signal("pass", "b");
    assert!(matches!(read(&two).signal(), Signal::One(verdict) if verdict.reason == "b"));
    for unclear in [
        signal("pass", "a") + &signal("fail", "b"),
        signal("maybe", "a"),
        signal("pending", "a"),
        "<!-- rodin:verdict:signal={\"status\":\"pass\" -->\n".into(),
        "<!-- rodin:verdict:signal=pass -->\n".into(),
        "<!-- rodin:verdict:signal= -->\n".into(),
    ] {
        assert_eq!(read(&unclear).signal(), Signal::Unclear, "{unclear}");
    }
}

#[test]
fn writing_moves_the_record_to_the_end_and_changes_nothing_else() {
    let marks = "<!-- rodin:session=s-1 -->\n<!-- rodin:plan:hash=aa -->\n<!-- rodin:gaps:hash=bb -->\n\
                 <!-- rodin:validation={\"status\":\"pending\",\"reason\":\"not yet\",\"ts\":\"2026-01-01T00:00:00Z\"} -->\n";
    assert_eq!(kept("plan  \n\n"), format!("plan  \n\n{marks}"));
    assert_eq!(kept("plan"), format!("plan\n{marks}"));
    assert_eq!(kept(""), marks);
    assert_eq!(kept("a\r\nb\r\n"), format!("a\r\nb\r\n{}", marks.replace('\n', "\r\n")));
    assert_eq!(kept("\u{feff}a\0\n"), format!("\u{feff}a\0\n{marks}"));
    let scattered =
        "<!-- rodin:session=old -->\na <!-- rodin:seal=x --> b\n\n<!-- rodin:verdict:signal={} -->\nc \n";
    assert_eq!(kept(scattered), format!("a  b\n\nc \n{marks}"));
    let block = "<!-- rodin:gaps:start -->\nG \n<!-- rodin:gaps:end -->\n";
    assert_eq!(kept(block), format!("{block}{marks}"));
    assert_eq!(kept(&kept(scattered)), kept(scattered));
}

#[test]
fn broken_text_is_written_back_byte_for_byte() {
    let text = b"\xff\xfe plan \x80\n";
    let after = PlanDocument::parse(text).unwrap().with_record(&record());
    assert!(after.starts_with(text));
    assert_eq!(PlanDocument::parse(&after).unwrap().without_record(), text);
}

#[test]
fn gaps_are_added_before_the_closing_mark() {
    let added =
        |text: &str| read(text).with_gaps("### GAP-2: b\n").map(|text| String::from_utf8(text).unwrap());
    let text = "<!-- rodin:gaps:start -->\n### GAP-1: a\n<!-- rodin:gaps:end -->\nrest\n";
    assert_eq!(
        added(text).unwrap(),
        "<!-- rodin:gaps:start -->\n### GAP-1: a\n### GAP-2: b\n<!-- rodin:gaps:end -->\nrest\n"
    );
    assert_eq!(
        added("<!-- rodin:gaps:start --><!-- rodin:gaps:end -->").unwrap(),
        "<!-- rodin:gaps:start -->\n### GAP-2: b\n<!-- rodin:gaps:end -->"
    );
    assert_eq!(added("no block"), None);
}

/// Before, the rest of its line kept it from being a fence.
#[test]
fn gaps_that_would_begin_a_fence_or_a_comment_have_no_place() {
    let text = "```x <!-- rodin:gaps:start --><!-- rodin:gaps:end -->`\n```\n";
    assert!(matches!(read(text).gaps_block(), GapsBlock::Present(_)));
    assert_eq!(read(text).with_gaps("- a\n"), None);
    assert_eq!(read(text).with_gaps_in_front(b"- a\n"), None);
    let block = "<!-- rodin:gaps:start -->\n<!-- rodin:gaps:end -->\n";
    assert!(read(block).with_gaps("- a\n").is_some());
    assert_eq!(read(block).with_gaps("- a <!-- b\n"), None);
}

#[test]
fn a_file_full_of_marks_is_refused_and_not_worked_on() {
    let many = "<!-- rodin:session=x -->\n".repeat(MOST_MARKS + 1);
    assert_eq!(PlanDocument::parse(many.as_bytes()).unwrap_err(), Overgrown);
    let open = "<!-- rodin:validation={\"a\":\"".repeat(100_000);
    assert_eq!(PlanDocument::parse(open.as_bytes()).unwrap_err(), Overgrown);
}

/// Any bytes can be read, and what was written is read as it was meant.
#[test]
fn random_files_survive_reading_and_writing() {
    const PIECES: &[&str] = &[
        "text",
        "\n",
        "\r\n",
        " ",
        "`",
        "```",
        "~~~",
        "> ",
        "<!-- rodin:gaps:start -->",
        "<!-- rodin:gaps:end -->",
        "<!-- rodin:session=x -->",
        "<!-- rodin:seal=y",
        "<!-- rodin:validation={\"status\":\"pass\",\"reason\":\"-->\"} -->",
        "<!-- rodin:verdict:signal={",
        "} -->",
        "-->",
        "<!--",
        "\u{fffd}é",
    ];
    let mut seed = 7_u64;
    let mut next = |most: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(seed >> 33).unwrap() % most
    };
    for _ in 0..20_000 {
        let text: String = (0..next(24)).map(|_| PIECES[next(PIECES.len())]).collect();
        let mut written = text.clone().into_bytes();
        let mut rounds = 0;
        // Taking marks out can bring others to light, or hide them; soon nothing changes any more.
        loop {
            let after = PlanDocument::parse(&written).unwrap().with_record(&record());
            if after == written {
                break;
            }
            written = after;
            rounds += 1;
            assert!(rounds <= 3, "{text:?}");
        }
        let kept = PlanDocument::parse(&written).unwrap();
        assert_eq!(kept.record(), record(), "{text:?}");
        assert_eq!(kept.signal(), Signal::None);
        let own = kept.without_record();
        let own = PlanDocument::parse(&own).unwrap();
        assert_eq!(own.content().hash(), kept.content().hash(), "{text:?}");
        assert_eq!(own.gaps_content().hash(), kept.gaps_content().hash(), "{text:?}");
    }
}
