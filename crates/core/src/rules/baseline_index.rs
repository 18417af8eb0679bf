//! Which built-in rules an event may concern, looked up in a table that the compiler makes.
//!
//! Reading all built-in rules would cost more than the rest of a call. The table has the place of each rule in the file,
//! its keys, and a hash for each program and first operand that it names, so only the few rules that may match are read.
//! It relies on how the file is written: a key starts its line, a text of `runs` is on one line, and examples come last. A
//! test compares the rules that are found this way with those of the TOML parser.

use provost_shell::pattern::find_script;

use super::{BASELINE, FETCHED_CODE, SHOWING_PROGRAMS};
use crate::effect::Effect;
use crate::event::Event;

/// Where a rule is in the file, and what it looks at.
#[derive(Clone, Copy)]
pub(super) struct BaselineSection {
    pub(super) start: usize,
    /// Where its examples begin.
    pub(super) end: usize,
    pub(super) line: usize,
    /// The keys about effects that it has.
    keys: u8,
}

const RUNS: u8 = 1;
const SHOWS: u8 = 2;
const SENDS: u8 = 4;
const WRITES: u8 = 8;
const DELETES: u8 = 16;
const PUSHES: u8 = 32;

/// A program, or a program with an operand, and the rule that names it.
type NamedProgram = (u32, usize);

const NO_SECTION: BaselineSection = BaselineSection { start: 0, end: 0, line: 0, keys: 0 };
const COUNTS: (usize, usize) = scan(BASELINE.as_bytes(), &mut [], &mut []);
static TABLE: ([BaselineSection; COUNTS.0], [NamedProgram; COUNTS.1]) = make_table();

// It runs at compile time only.
#[allow(clippy::large_stack_arrays)]
const fn make_table() -> ([BaselineSection; COUNTS.0], [NamedProgram; COUNTS.1]) {
    let mut sections = [NO_SECTION; COUNTS.0];
    let mut programs = [(0, 0); COUNTS.1];
    scan(BASELINE.as_bytes(), &mut sections, &mut programs);
    (sections, programs)
}

/// Finds the rules and their programs. Returns how many there are; those that do not fit are counted only.
const fn scan(
    text: &[u8],
    sections: &mut [BaselineSection],
    programs: &mut [NamedProgram],
) -> (usize, usize) {
    let (mut found, mut named, mut line, mut at) = (0, 0, 1, 0);
    let mut is_in_runs = false;
    while at < text.len() {
        if starts_with(text, at, b"[[rule]]") {
            if found < sections.len() {
                sections[found] = BaselineSection { start: at, end: text.len(), line, keys: 0 };
            }
            found += 1;
        } else if text[at].is_ascii_lowercase() {
            is_in_runs = starts_with(text, at, b"runs ");
            if found > 0 && found <= sections.len() {
                let section = &mut sections[found - 1];
                section.keys |= key_bit(text, at);
                if starts_with(text, at, b"match ") {
                    section.end = at;
                }
            }
        }
        while at < text.len() && text[at] != b'\n' {
            if is_in_runs && text[at] == b'"' {
                let end = find(text, at + 1, b'"');
                named = add_programs(text, at + 1, end, found, named, programs);
                at = end;
            }
            at += 1;
        }
        at += 1;
        line += 1;
    }
    (found, named)
}

const fn key_bit(text: &[u8], at: usize) -> u8 {
    if starts_with(text, at, b"runs ") {
        RUNS
    } else if starts_with(text, at, b"shows ") {
        SHOWS
    } else if starts_with(text, at, b"sends ") {
        SENDS
    } else if starts_with(text, at, b"writes ") {
        WRITES
    } else if starts_with(text, at, b"deletes ") {
        DELETES
    } else if starts_with(text, at, b"pushes ") {
        PUSHES
    } else {
        0
    }
}

/// Adds each program of a pattern, with its first operand if it has one.
const fn add_programs(
    text: &[u8],
    start: usize,
    end: usize,
    found: usize,
    mut named: usize,
    programs: &mut [NamedProgram],
) -> usize {
    let program_end = min(find(text, start, b' '), end);
    let operand_end = if program_end < end { min(find(text, program_end + 1, b' '), end) } else { end };
    let has_operand = program_end < end && !has_option(text, program_end + 1, operand_end);
    let mut program = start;
    while program < program_end {
        let next_program = min(find(text, program, b'|'), program_end);
        let mut operand = if has_operand { program_end + 1 } else { operand_end };
        loop {
            let next_operand = min(find(text, operand, b'|'), operand_end);
            if named < programs.len() {
                let hash = hash_part(text, program, next_program, HASH_START);
                let hash = hash_part(text, operand, next_operand, hash_byte(hash, 0));
                programs[named] = (hash, found - 1);
            }
            named += 1;
            operand = next_operand + 1;
            if operand >= operand_end {
                break;
            }
        }
        program = next_program + 1;
    }
    named
}

/// Whether one alternative of a word is an option or any word.
const fn has_option(text: &[u8], start: usize, end: usize) -> bool {
    let mut at = start;
    while at < end {
        let is_first = at == start || text[at - 1] == b'|';
        if is_first && matches!(text[at], b'-' | b'*') {
            return true;
        }
        at += 1;
    }
    false
}

const fn starts_with(text: &[u8], at: usize, wanted: &[u8]) -> bool {
    let mut length = 0;
    while length < wanted.len() && at + length < text.len() && text[at + length] == wanted[length] {
        length += 1;
    }
    length == wanted.len()
}

/// The place of a byte, or the end.
const fn find(text: &[u8], mut at: usize, wanted: u8) -> usize {
    while at < text.len() && text[at] != wanted {
        at += 1;
    }
    at
}

const fn min(one: usize, other: usize) -> usize {
    if one < other { one } else { other }
}

const HASH_START: u32 = 0x811c_9dc5;

const fn hash_byte(hash: u32, byte: u8) -> u32 {
    (hash ^ byte.to_ascii_lowercase() as u32).wrapping_mul(0x0100_0193)
}

const fn hash_part(text: &[u8], mut at: usize, end: usize, mut hash: u32) -> u32 {
    while at < end {
        hash = hash_byte(hash, text[at]);
        at += 1;
    }
    hash
}

fn hash_words(program: &str, operand: &str) -> u32 {
    let hash = hash_part(program.as_bytes(), 0, program.len(), HASH_START);
    hash_part(operand.as_bytes(), 0, operand.len(), hash_byte(hash, 0))
}

/// The rules that a tool call may concern.
pub(super) fn find_sections(event: &Event) -> impl Iterator<Item = &'static BaselineSection> {
    let (mut has, mut hashes) = (0, Vec::new());
    let (mut reads, mut runs, mut shows) = (false, false, false);
    for effect in event.effects() {
        match effect {
            Effect::Run { program, arguments, .. } => {
                let name = program.rsplit(['/', '\\']).next().unwrap_or(program);
                let name = name.strip_suffix(".exe").unwrap_or(name);
                (runs, shows) = (true, shows || SHOWING_PROGRAMS.contains(&name));
                add_run(name, arguments, &mut has, &mut hashes);
            }
            Effect::RunFetched => hashes.push(hash_words(FETCHED_CODE, "")),
            Effect::Read { .. } | Effect::UnknownRead { .. } => reads = true,
            Effect::Send { .. } => has |= SENDS,
            Effect::Write { .. } | Effect::Place { .. } => has |= WRITES,
            Effect::Delete { .. } | Effect::ChangeBelow { .. } => has |= DELETES,
            Effect::UnknownTarget { .. } => has |= WRITES | DELETES,
            Effect::Touch { .. } => has |= SHOWS | WRITES,
            Effect::Push(_) => has |= PUSHES,
            _ => {}
        }
    }
    // A tool that is not a command shows what it reads.
    if reads && (shows || !runs) {
        has |= SHOWS;
    }
    let (sections, programs) = &TABLE;
    let mut is_named = [false; COUNTS.0];
    for (hash, section) in programs {
        if hashes.contains(hash) {
            is_named[*section] = true;
        }
    }
    sections.iter().enumerate().filter_map(move |(at, section)| {
        let is_concerned = (section.keys & !RUNS & !has) == 0 && (section.keys & RUNS == 0 || is_named[at]);
        is_concerned.then_some(section)
    })
}

fn add_run(name: &str, arguments: &[String], has: &mut u8, hashes: &mut Vec<u32>) {
    /// A longer word is no operand of a rule.
    const LONGEST_OPERAND: usize = 64;
    // What `find` deletes is seen in its words only.
    if matches!(name, "find" | "gfind" | "fd" | "fdfind" | "xargs" | "parallel") {
        *has |= DELETES;
    }
    hashes.push(hash_words(name, ""));
    for word in arguments.iter().filter(|word| word.len() <= LONGEST_OPERAND && !word.starts_with('-')) {
        hashes.push(hash_words(name, word));
    }
    if let Some(at) = find_script(name, arguments.iter().map(|word| Some(word.as_str()))) {
        let script = arguments[at].rsplit('/').next().unwrap_or_default();
        hashes.push(hash_words(script, ""));
        for word in arguments[at + 1..].iter().filter(|word| word.len() <= LONGEST_OPERAND) {
            hashes.push(hash_words(script, word));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_has_every_rule_with_its_line() {
        let (sections, programs) = &TABLE;
        assert_eq!(sections.len(), BASELINE.matches("\n[[rule]]\n").count());
        for section in sections {
            assert!(BASELINE[section.start..section.end].starts_with("[[rule]]\nname "));
            assert_eq!(BASELINE[..section.start].matches('\n').count() + 1, section.line);
            assert!(BASELINE[section.end..].starts_with("match "));
            assert_ne!(section.keys, 0);
            let text = &BASELINE[section.start..section.end];
            for key in ["reads ", "changes ", "commits ", "need ", "run ", "unknown "] {
                assert!(!text.lines().any(|line| line.starts_with(key)), "the table does not know {key}");
            }
            // What a write adds is looked at where the rule names the files.
            assert!(!text.contains("\nadds ") || section.keys & WRITES != 0);
        }
        let has = |program: &str, operand: &str| {
            let wanted = hash_words(program, operand);
            programs.iter().any(|(hash, _)| *hash == wanted)
        };
        assert!(has("git", "reset") && has("RM", "") && has("<fetched>", "") && has("kubectl", "delete"));
        assert!(!has("ls", "") && !has("git", "status"));
    }
}
