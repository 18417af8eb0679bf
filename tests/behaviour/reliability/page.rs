//! The part of `docs/reliability.md` that shows the matrix.

use std::fs;
use std::path::PathBuf;

use provost::registry::{FailureMode, GUARDS, Guard, PACKS};

use super::answers::Outcome;
use super::declared::{EXCEPTIONS, Exception, declared, rule};
use super::faults::Fault;

const BEGIN: &str = "<!-- made by PROVOST_BLESS=1 cargo test --test behaviour reliability:: -->\n";
const END: &str = "<!-- end -->\n";

#[test]
fn the_page_shows_the_declared_outcomes() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("docs/reliability.md");
    let page = fs::read_to_string(&path).unwrap();
    let (before, rest) = page.split_once(BEGIN).expect("the page has a place for the matrix");
    let (shown, after) = rest.split_once(END).expect("the matrix on the page has an end");
    let made = matrix();
    if std::env::var_os("PROVOST_BLESS").is_some() {
        fs::write(&path, format!("{before}{BEGIN}{made}{END}{after}")).unwrap();
    } else {
        assert!(
            shown == made,
            "stale: write it with PROVOST_BLESS=1 cargo test --test behaviour reliability::"
        );
    }
}

#[test]
fn every_guard_has_a_column() {
    let page = matrix();
    for guard in GUARDS {
        assert!(page.contains(&format!("`{}`", guard.name)), "{}", guard.name);
    }
}

fn matrix() -> String {
    let mut text = String::from("\n");
    for word in Outcome::DECLARED {
        text += &format!("- **{word}**: {}.\n", word.meaning());
    }
    text += "\nThe outcome of each fault by the guard's failure mode:\n\n";
    text += &table(
        &["fault", "what fails", "a closed guard", "an open guard"].map(str::to_owned),
        Fault::ALL.iter().map(|&fault| {
            let (name, how) = fault.words();
            let of = |failure| rule(failure, fault).to_string();
            vec![name.into(), how.into(), of(FailureMode::Closed), of(FailureMode::Open)]
        }),
    );
    text += "\nThe outcome for each guard. Guards of a pack with the same outcomes share a column.\n";
    for pack in PACKS {
        text += &format!("\n### The pack `{}`\n\n{}", pack.name, of_pack(pack.name));
    }
    text + "\n### Exceptions from the rule\n\n" + &exceptions() + "\n"
}

/// The columns of a pack: guards with the same answers share one.
fn of_pack(pack: &str) -> String {
    let mut columns: Vec<(Vec<&Guard>, Vec<Outcome>)> = Vec::new();
    for guard in GUARDS.iter().filter(|guard| guard.pack == pack) {
        let answers: Vec<Outcome> = Fault::ALL.iter().map(|&fault| declared(guard, fault)).collect();
        // A closed guard and an open one are not alike, even if they should answer so.
        let is_alike = |(guards, known): &&mut (Vec<&Guard>, Vec<Outcome>)| {
            *known == answers && guards[0].failure_mode == guard.failure_mode
        };
        match columns.iter_mut().find(is_alike) {
            Some((guards, _)) => guards.push(guard),
            None => columns.push((vec![guard], answers)),
        }
    }
    let mut legend = String::new();
    let mut head = vec!["fault".to_owned()];
    for (number, (guards, _)) in columns.iter().enumerate() {
        let names = list(&guards.iter().map(|guard| guard.name).collect::<Vec<_>>());
        let letter = char::from(b'A' + u8::try_from(number).unwrap());
        if guards.len() == 1 {
            head.push(names);
        } else {
            head.push(letter.to_string());
            legend += &format!("{letter}: {names}.\n\n");
        }
    }
    let is_dull = |row: usize| columns.iter().all(|(_, answers)| answers[row] == Outcome::Acts);
    let (dull, telling): (Vec<usize>, Vec<usize>) = (0..Fault::ALL.len()).partition(|row| is_dull(*row));
    let rows = telling.into_iter().map(|row| {
        let answers = columns.iter().map(|(_, answers)| answers[row].to_string());
        [Fault::ALL[row].words().0.to_owned()].into_iter().chain(answers).collect()
    });
    let faults = dull.into_iter().map(|row| Fault::ALL[row]).filter(|fault| *fault != Fault::Nothing);
    let dull: Vec<&str> = faults.map(|fault| fault.words().0).collect();
    let rest = format!("\nWith every other fault, each of them **acts**: {}.\n", dull.join(", "));
    legend + &table(&head, rows) + &rest
}

fn exceptions() -> String {
    let line = |it: &Exception| {
        let faults: Vec<&str> = it.faults.iter().map(|fault| fault.words().0).collect();
        format!("- **{}**: {} with {}: {}.\n", it.word, list(it.guards), faults.join(", "), it.reason)
    };
    EXCEPTIONS.iter().map(line).collect()
}

fn list(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// A table whose columns stand below each other in a terminal as well.
fn table(head: &[String], rows: impl Iterator<Item = Vec<String>>) -> String {
    let rows: Vec<Vec<String>> = rows.collect();
    let width = |column: usize| {
        let cells = rows.iter().map(|row| &row[column]).chain([&head[column]]);
        cells.map(|cell| cell.chars().count()).max().unwrap_or_default()
    };
    let widths: Vec<usize> = (0..head.len()).map(width).collect();
    // The last column may be as long as it likes.
    let line = |cells: &[String]| {
        let last = cells.len() - 1;
        let cell = |(at, cell): (usize, &String)| {
            if at == last { format!(" {cell} |") } else { format!(" {cell:<0$} |", widths[at]) }
        };
        format!("|{}\n", cells.iter().enumerate().map(cell).collect::<String>())
    };
    let rule: String = widths.iter().map(|_| "---|").collect();
    let body: String = rows.iter().map(|row| line(row)).collect();
    format!("{}|{rule}\n{body}", line(head))
}
