//! `scripts/soak`: the command line of the soak.

use std::path::PathBuf;
use std::process::ExitCode;

use soak::{kills, together};

const HELP: &str = "\
Kills the real program again and again, or lets many of it run at once, and looks at what is on the disk.

Usage: scripts/soak kills [N] [--seed SEED]
       scripts/soak together [--processes N] [--seconds N]

  kills      kill N processes (10000), each at a random moment of its time
  together   let N processes (64) run at once for so many seconds (60), on one plan, one state, one journal

Options:
  --program PATH   another build of provost; without, the released one is built and taken
  --seed SEED      the same kills again, as far as the machine lets them (8)

Exit status: 0 if nothing was lost, torn or left behind; 1 if something was; 64 for a wrong command line.
";

struct Wish {
    program: PathBuf,
    what: String,
    number: Option<u64>,
    seed: u64,
    processes: usize,
    seconds: u64,
}

fn wish(mut words: impl Iterator<Item = String>) -> Option<Wish> {
    let mut wish = Wish {
        program: PathBuf::new(),
        what: String::new(),
        number: None,
        seed: 8,
        processes: 64,
        seconds: 60,
    };
    while let Some(word) = words.next() {
        match word.as_str() {
            "--program" => wish.program = words.next()?.into(),
            "--seed" => wish.seed = words.next()?.parse().ok()?,
            "--processes" => wish.processes = words.next()?.parse().ok()?,
            "--seconds" => wish.seconds = words.next()?.parse().ok()?,
            "kills" | "together" if wish.what.is_empty() => wish.what = word,
            number if wish.what == "kills" => wish.number = Some(number.parse().ok()?),
            _ => return None,
        }
    }
    (!wish.what.is_empty() && wish.program.is_file()).then_some(wish)
}

fn main() -> ExitCode {
    let Some(wish) = wish(std::env::args().skip(1)) else {
        print!("{HELP}");
        return ExitCode::from(64);
    };
    let done = if wish.what == "kills" {
        kills::run(&wish.program, wish.number.unwrap_or(10_000), wish.seed)
            .map(|report| (report.to_string(), report.is_fine()))
    } else {
        together::run(&wish.program, wish.processes, wish.seconds)
            .map(|report| (report.to_string(), report.is_fine() && report.is_bounded()))
    };
    match done {
        Ok((text, is_fine)) => {
            println!("{text}");
            ExitCode::from(u8::from(!is_fine))
        }
        Err(error) => {
            eprintln!("soak: {error}");
            ExitCode::FAILURE
        }
    }
}
