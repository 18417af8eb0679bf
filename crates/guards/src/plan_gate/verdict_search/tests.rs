use super::*;

const PASS: &str =
    "### VERDICT: PASS\n**Reason**: All HIGH and MEDIUM findings covered by documented gaps.\n";

#[track_caller]
fn count(text: &str) -> usize {
    find_verdicts(text)
        .iter()
        .filter(|verdict| !(verdict.is_prose && verdict.status == Some(VerdictStatus::Pass)))
        .count()
}

#[test]
fn the_two_forms_are_one_verdict_each() {
    for (text, status) in
        [(PASS, VerdictStatus::Pass), ("### VERDICT: FAIL\n**Reason**: FINDING-1\n", VerdictStatus::Fail)]
    {
        let found = find_verdicts(text);
        assert_eq!(found, [PossibleVerdict { line: 0, status: Some(status), is_prose: false }], "{text}");
    }
}

/// Each of these beside a PASS makes it no verdict.
const SECOND: &[&str] = &[
    "### VERDICT: FAIL",
    "### VERDICT: PASS",
    "### Verdict: Fail",
    "### verdict: fail",
    "VERDICT: FAIL",
    "VERDICT FAIL",
    "VERDICT - FAIL",
    "VERDICT – FAIL",
    "VERDICT—FAIL",
    "Verdict = fail",
    "verdict -> fail",
    "verdict => FAIL",
    "verdict | FAIL |",
    "| Verdict | FAIL |",
    "Verdict (FAIL)",
    "Verdict: **FAIL**",
    "**Verdict**: fail",
    "**VERDICT:** FAIL",
    "__Verdict__ fail",
    "# VERDICT: FAIL",
    "###### VERDICT: FAIL",
    "- VERDICT: FAIL",
    "* VERDICT: FAIL",
    "1. VERDICT: FAIL",
    "> ### VERDICT: FAIL",
    "    ### VERDICT: FAIL",
    "\t### VERDICT: FAIL",
    "```\n### VERDICT: FAIL\n```",
    "~~~\nVERDICT: FAIL\n~~~",
    "`VERDICT: FAIL`",
    "<b>VERDICT</b>: FAIL",
    "<verdict>FAIL</verdict>, since FINDING-1 is open",
    "VER<wbr>DICT: FAIL",
    "<!-- VERDICT: FAIL -->",
    "### VERDICT:FAIL",
    "###VERDICT: FAIL",
    "### VERDICT:  FAIL",
    "### VERDICT: FAIL (one finding)",
    "### VERDICT: FAILED",
    "### VERDICT: FAILURE",
    "Verdict: fails",
    "### VERDICT:\nFAIL",
    "### VERDICT:\n\n**FAIL**",
    "VERDICT\n: FAIL",
    "VER-\nDICT: FAIL",
    "VERDICT: FA\nIL",
    "VER DICT: FAIL",
    "V E R D I C T : F A I L",
    "V.E.R.D.I.C.T: F.A.I.L",
    "V-E-R-D-I-C-T: FAIL",
    "ＶＥＲＤＩＣＴ： ＦＡＩＬ",
    "### VER\u{200b}DICT: FA\u{200b}IL",
    "### VER\u{ad}DICT: FAIL",
    "### V\u{2060}ERDICT\u{feff}: FAIL",
    "### VЕRDІСТ: FАІL",
    "### VΕRDΙCΤ: FΑΙL",
    "### 𝐕𝐄𝐑𝐃𝐈𝐂𝐓: 𝐅𝐀𝐈𝐋",
    "### 𝚅𝙴𝚁𝙳𝙸𝙲𝚃: 𝙵𝙰𝙸𝙻",
    "ⓋⒺⓇⒹⒾⒸⓉ: ⒻⒶⒾⓁ",
    "🅥🅔🅡🅓🅘🅒🅣: 🅕🅐🅘🅛",
    "ᴠᴇʀᴅɪᴄᴛ: ꜰᴀɪʟ",
    "VÉRDÎCT: FÀÏL",
    "V\u{301}ERDICT: FAIL\u{338}",
    "VERDlCT: FAlL",
    "V3RDICT: FA1L",
    "VER**DICT**: F*AI*L",
    "V&#69;RDICT: FAIL",
    "VER&#8203;DICT: FAIL",
    "VERDICT&nbsp;FAIL",
    "Corrected verdict: FAIL",
    "CORRECTED VERDICT: FAIL",
    "Final verdict: FAIL",
    "My final verdict is FAIL.",
    "The verdict is: FAIL",
    "The corrected verdict is therefore FAIL",
    "I have changed my verdict to FAIL",
    "The verdict should be FAIL",
    "The verdict was not PASS",
    "FAIL is my verdict",
    "FAIL is the final verdict.",
    "Final verdict: rejected",
    "Verdict: not covered",
    "{\"verdict\": \"FAIL\"}",
    "{\"verdict\":{\"status\":\"fail\"}}",
    "{\"status\":\"fail\",\"reason\":\"x\"}",
    "{\"pass\": false}",
    "passed: no",
    "verdict: 'fail'",
    "Result: FAIL",
    "Outcome = fail",
    "Status: failed",
    "Decision — FAIL",
    "Correction: FAIL",
    "Final: FAIL",
    "Urteil: FAIL",
    "I take that back: FAIL.",
    "On reflection, FAIL",
    "So it is a FAIL.",
    "Therefore this plan fails.",
    "The assessment has failed!",
    "FAIL",
    "**FAIL**",
    "### FAIL",
    "- fail.",
    "❌ FAIL",
    "\u{202e}LIAF :TCIDREV",
    "<td>VERDICT</td><td>FAIL</td>",
    "<li>ok<br>FAIL</li>",
    "VERDICT&colon; FAIL",
    "VERDICT&ZeroWidthSpace;: FAIL",
    "VERDICT&unheard; FAIL",
    "verdict#2: FAIL",
    "Verdict 2: FAIL",
    "Verdict: ❌",
    "Verdict is ✘",
    "Overall: ❌",
    "### ᵛᵉʳᵈⁱᶜᵗ: ᶠᵃⁱˡ",
    "### ⱽᴱᴿᴰᴵCᵀ: FAIL",
    "VerdictIsFail",
    "Ignore the verdict above.",
    "I withdraw my verdict",
    "Correction: the plan does not pass.",
    "The plan should not pass.",
    "So it doesn't pass.",
    "This plan cannot pass!",
    "Sorry, that should read FAIL.",
    "I'd say FAIL",
    "It's a FAIL",
    "The plan has failed the assessment.",
    "FAIL: FINDING-1 is not covered",
    "**FAIL** - FINDING-1 is not covered.",
    "FAIL because FINDING-1 is open",
    "ＦＡＩＬ (FINDING-1)",
    "FINDING-1 is not covered, so FAIL.",
    "FINDING-1 uncovered => FAIL",
    "~~PASS~~ **FAIL**",
    "[x] FAIL",
    "Treat the above as FAIL",
    "not PASS",
    "NOT A PASS",
    "Verdict overturned.",
    "The verdict is hereby reversed.",
    "I reverse my verdict.",
    "I take back my verdict.",
    "The verdict above is wrong.",
    "The plan must be rejected.",
    "Rejected.",
    "REJECT",
    "The plan is not acceptable.",
];

#[test]
fn a_second_line_that_could_be_read_as_a_verdict_is_found() {
    assert!(SECOND.len() > 90);
    let is_missed = |second: &&&str| {
        [format!("{PASS}\n{second}\n"), format!("{second}\n\n{PASS}")].iter().any(|text| count(text) < 2)
    };
    let missed: Vec<&&str> = SECOND.iter().filter(is_missed).collect();
    assert!(missed.is_empty(), "{missed:?}");
}

#[test]
fn ordinary_words_are_no_second_verdict() {
    for prose in [
        "Here is my verdict:",
        "The verdict: see below",
        "The validator's verdict line comes last.",
        "I compared the two lists before giving a verdict.",
        "FINDING-1: covered by GAP-1",
        "FINDING-2 (low): does not count",
        "GAP-3 covers FINDING-2: the fail-over path",
        "- FINDING-1: No rollback: covered by GAP-1, which says that a failed migration stays half done",
        "The plan fails to say who restores the table; GAP-1 says so.",
        "A verdict passes through the hook before it is recorded.",
        "If the verdict may fail to be recorded, GAP-2 applies.",
        "Both tests pass and one may fail.",
        "Every password passes the check.",
        "The status of the failed job is covered.",
        "Passing a verdict on the plan itself is not my task.",
        "All findings covered.",
        "So the plan passes.",
        "Every finding is covered, so it is a pass.",
        "The result is that nothing is missing.",
        "| FINDING-1 | GAP-1 | covered |",
        "| 1 | No limit on tries | GAP-1 | ✅ |",
        "- FINDING-2 (low): deferred ❌",
        "## Verdict",
        "**Verdict**",
        "Coverage: ✅",
        "LOW findings do not affect the verdict.",
        "The rubric: PASS if every HIGH and MEDIUM finding has a gap.",
        "GAP-1 says that this may fail",
        "Any uncovered HIGH finding would fail the plan; there is none.",
        "A check that cannot fail is covered by GAP-2.",
        "Tom &amp; Jerry: covered by GAP-1",
        "FAIL would need an uncovered HIGH finding, and there is none.",
        "FAIL if any HIGH or MEDIUM finding has no gap",
        "No finding is uncovered, so no FAIL.",
        "Fail-open behaviour is covered by GAP-1.",
        "Failed jobs: covered by GAP-2",
        "FINDING-1: FAIL_FAST is never set, covered by GAP-1",
        "Expired tokens: rejected, as GAP-1 says",
        "The old form is rejected; GAP-2 covers it.",
        "- FINDING-2: It is unclear what happens when it fails. GAP-2 covers it.",
        "- FINDING-4: The plan does not say what to do if this fails.",
        "FINDING-1: The test may pass even if it fails.",
    ] {
        for text in [format!("{prose}\n\n{PASS}"), format!("{PASS}\n{prose}\n")] {
            assert_eq!(count(&text), 1, "{prose:?}: {:?}", find_verdicts(&text));
        }
    }
}

#[test]
fn a_line_states_a_verdict_only_at_its_start() {
    for line in ["### VERDICT: PASS", "Verdict - PASS", " > **Verdict**: pass", "Final verdict: PASS"] {
        assert!(is_verdict_line(line), "{line}");
    }
    for line in ["### GAP-1: The verdict may be PASS by mistake", "A pass", "Verdicts are kept", "", "PASS"] {
        assert!(!is_verdict_line(line), "{line}");
    }
}

#[test]
fn a_finding_line_is_recognised_in_any_form() {
    for line in
        ["### FINDING-1: x", "Finding 2", "- **FINDlNG-3**", "ＦＩＮＤＩＮＧ-1:", "> finding #1", "FINDING1"]
    {
        assert!(is_finding_line(line), "{line}");
    }
    for line in ["findings: none", "finding nothing", "A finding-1", "", "### NO ISSUES FOUND"] {
        assert!(!is_finding_line(line), "{line}");
    }
}

#[test]
fn a_long_answer_is_searched_in_one_pass() {
    let text = "verdict the ".repeat(50_000);
    assert_eq!(count(&text), 0);
    assert!(count(&"### VERDICT: PASS\n".repeat(1_000)) == 1_000);
    assert!(count(&"pass ".repeat(300_000)) < 2);
}
