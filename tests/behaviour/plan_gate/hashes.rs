//! The hashes equal those of the real `shasum`, called as in the documents.

use super::*;

#[test]
fn recorded_hashes_are_those_of_shasum() {
    let planning = PlanSession::new();
    for (content, gaps) in [
        ("## Goals\n- Ship the feature\n\n## Implementation\n- Step 1\n", "### GAP-1: a\n"),
        ("one line without an end", ""),
        ("trailing blanks  \n\n\n", "\n\n"),
        ("\n\nleading lines\r\nwindows\r\n", "G \r\n"),
        ("é ü 漢字 \u{1f600}\ttab\n", "ü"),
        ("", ""),
    ] {
        let line = if content.is_empty() || content.ends_with('\n') { "" } else { "\n" };
        let end = if gaps.is_empty() || gaps.ends_with('\n') { "" } else { "\n" };
        planning
            .write(format!("{content}{line}<!-- rodin:gaps:start -->\n{gaps}{end}<!-- rodin:gaps:end -->\n"));
        assert_eq!(planning.read_mark("plan:hash").unwrap(), shasum(content.as_bytes()), "{content:?}");
        assert_eq!(planning.read_mark("gaps:hash").unwrap(), shasum(gaps.as_bytes()), "{gaps:?}");
    }
}

/// A record with the form and the hashes of the document's script.
#[test]
fn a_record_in_the_documents_form_is_read_as_it_is() {
    let planning = PlanSession::new();
    let plan = PLAN.trim_end().split("<!-- rodin:gaps:start -->\n").collect::<Vec<_>>();
    let gaps = plan[1].trim_end_matches("<!-- rodin:gaps:end -->");
    let written = format!(
        "{PLAN}\n<!-- rodin:session={SESSION} -->\n<!-- rodin:plan:hash={} -->\n<!-- rodin:gaps:hash={} -->\n\
         <!-- rodin:validation={{\"status\":\"pass\",\"reason\":\"All covered\",\"ts\":\"2026-01-23T20:00:00Z\"}} -->\n",
        shasum(plan[0].as_bytes()),
        shasum(gaps.as_bytes()),
    );
    fs::write(&planning.plan, &written).unwrap();
    assert_eq!(planning.script_before(&planning.leave_event()), Ok(()));
    // The text has not changed, so Provost writes nothing.
    assert!(planning.script_after(&planning.write_event()).is_silent());
    assert_eq!(planning.read_plan(), written);
    planning.assert_cannot_leave("The verdict does not count");
}

#[test]
fn the_reference_text_has_the_hash_of_the_document() {
    let text = "## Goals\n- Ship the feature\n\n## Implementation\n- Step 1\n";
    let hash = shasum(text.as_bytes());
    assert!(hash.starts_with("4b176fc2"), "{hash}");
    let planning = PlanSession::new();
    planning.write(text);
    assert_eq!(planning.read_mark("plan:hash").unwrap(), hash);
}
