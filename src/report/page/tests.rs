//! The page of reports that no journal gives every day: hostile texts in every field, huge numbers, many days, nothing.

use super::super::model::{
    AssessedPlan, Cost, Day, DecisionRecord, Distribution, EventCost, Figure, GuardCount, GuardTotals,
    LeftOut, OpinionRecord, Outcomes, Period, Project, Provenance, Report, ReviewCycle, ReviewRound, Summary,
    TranscriptGuard, TranscriptTotals,
};
use super::render;

/// `count` equal entries.
fn list<T: Clone>(count: usize, entry: T) -> Vec<T> {
    vec![entry; count]
}

/// A report with this text in every field, this number in every count, and lists of this length.
// It is long because the model has many fields.
#[allow(clippy::too_many_lines)]
fn filled(text: &str, number: u64, length: usize) -> Report {
    let text = || text.to_owned();
    let time = Distribution {
        events: number,
        p50_micros: number,
        p95_micros: number,
        max_micros: number,
        total_micros: number,
        counts: list(17, number),
    };
    let opinion = OpinionRecord {
        guard: text(),
        opinion: text(),
        what: text(),
        why: text(),
        fix: text(),
        evidence: list(length.min(16), text()),
        reason: Some(text()),
    };
    let left_out = LeftOut { what: text(), count: number, why: text() };
    let round = ReviewRound {
        id: text(),
        time: text(),
        number,
        verdict: text(),
        model: Some(text()),
        micros: Some(number),
    };
    let decision = DecisionRecord {
        id: text(),
        time: text(),
        project: text(),
        session: Some(text()),
        agent: Some(text()),
        call: Some(text()),
        event: text(),
        tool: Some(text()),
        subject: Some(text()),
        remark: Some(text()),
        decision: text(),
        opinions: list(length.min(64), opinion),
        outcome: Some(text()),
        micros: number,
        explain: text(),
    };
    let guard = GuardTotals {
        guard: text(),
        pack: text(),
        purpose: text(),
        mode: text(),
        judged: number,
        denied: number,
        asked: number,
        warned: number,
        would_deny: number,
        would_ask: number,
        would_warn: number,
        overridden: number,
        faults: number,
        last: Some(text()),
    };
    Report {
        schema: 1,
        made: Provenance {
            time: text(),
            version: text(),
            command: text(),
            configuration: text(),
            is_redacted: false,
        },
        period: Period {
            asked: text(),
            from: text(),
            to: text(),
            covered_from: Some(text()),
            first: Some(text()),
            last: Some(text()),
        },
        projects: list(
            length,
            Project { path: text(), name: text(), events: number, denied: number, sessions: number },
        ),
        summary: Summary {
            sentence: text(),
            figures: list(6, Figure { name: text(), label: text(), value: text(), detail: text() }),
            ..Summary::default()
        },
        days: list(
            length,
            Day {
                date: text(),
                events: number,
                denied_calls: number,
                denied: number,
                asked: number,
                warned: number,
                overridden: number,
                would_deny: number,
                faults: number,
                denied_by: list(length.min(50), GuardCount { guard: text(), count: number }),
            },
        ),
        guards: list(length, guard),
        outcomes: Outcomes {
            fixed: number,
            overridden: number,
            tried_again: number,
            given_up: number,
            unknown: number,
        },
        reviews: list(
            length,
            ReviewCycle {
                project: text(),
                plan: text(),
                review: text(),
                task: Some(text()),
                is_clean: true,
                rounds: list(length, round),
                micros: number,
                models: list(length, text()),
            },
        ),
        plans: list(
            length,
            AssessedPlan {
                project: text(),
                plan: text(),
                assessments: number,
                passed: number,
                is_passed: true,
                last: text(),
            },
        ),
        cost: Cost {
            per_call: time.clone(),
            by_event: list(length, EventCost { event: text(), time }),
            bounds: crate::report::totals::BOUNDS.to_vec(),
        },
        decisions: list(length, decision),
        left_out: list(length, left_out.clone()),
        without_provost: Some(TranscriptTotals {
            directory: text(),
            sessions: number,
            calls: number,
            denied: number,
            asked: number,
            warned: number,
            exact: number,
            approximate: number,
            guards: list(
                length,
                TranscriptGuard {
                    guard: text(),
                    denied: number,
                    asked: number,
                    warned: number,
                    subjects: list(length.min(40), text()),
                },
            ),
            left_out: list(length, left_out),
        }),
    }
}

#[test]
fn no_text_of_a_report_adds_a_tag_a_quote_or_an_invisible_character() {
    let count = |page: &str, c: char| page.matches(c).count();
    let harmless = render(&filled("xyz", 3, 2));
    for hostile in ["<b>", "</script>", "\"<\"", "' x=<", "a\u{202e}<\u{7}", "<!--", "<\u{2028}"] {
        let page = render(&filled(hostile, 3, 2));
        for c in ['<', '"', '\'', '>'] {
            assert_eq!(count(&page, c), count(&harmless, c), "{c} in a page of {hostile:?}");
        }
        assert!(page.chars().all(|c| c == '\n' || !c.is_control()), "{hostile:?}");
        assert!(!page.contains(['\u{202e}', '\u{2028}']));
    }
}

#[test]
fn the_largest_report_gives_a_small_page() {
    for text in
        ["x".repeat(600), "\"".repeat(600), "\u{202e}".repeat(600), "wide \u{1f600} words ".repeat(50)]
    {
        let page = render(&filled(&text, u64::MAX, 110));
        assert!(page.len() < 500_000, "{} bytes of {:?}", page.len(), text.chars().next());
        assert!(page.contains(
            "more not shown here, to keep the page small: <code>provost report --json</code> has all."
        ));
    }
}

#[test]
fn a_report_without_anything_gives_a_page() {
    let page = render(&Report::default());
    assert!(!page.contains("decisions per day"), "an empty table");
    for shown in ["The journal has nothing of this period.", "Nothing was reviewed.", "No event was judged."]
    {
        assert!(page.contains(shown), "{shown}");
    }
}

#[test]
fn the_days_of_a_year_share_bars_by_the_week() {
    let mut report = Report::default();
    for number in 0..365_u64 {
        let time = std::time::Duration::from_secs((20_000 + number) * 86_400);
        let date = crate::clock::format_utc_seconds(time)[..10].to_owned();
        let denied_by = vec![GuardCount { guard: "branch-guard".into(), count: 1 }];
        report.days.push(Day { date, denied: 1, denied_by, ..Day::default() });
    }
    let page = render(&report);
    assert!(page.contains("<b>Fri 4 Oct to Thu 10 Oct</b><i>branch-guard 7</i>"));
    assert_eq!(page.matches("<b>Fri ").count(), 53);
    assert!(page.contains("365 denials on 365 days, 0 of them of tool calls."));
}
