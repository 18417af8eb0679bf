//! The command line of the soak test.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use soak::{kills, together};

/// Kill the real program again and again, or run many of it at once, and check the files on disk
#[derive(Parser)]
#[command(bin_name = "scripts/soak")]
#[command(
    after_help = "Exit status: 0 if no file is lost, torn or left behind; 1 otherwise; 64 for wrong usage."
)]
struct Options {
    /// The build of provost to test; `scripts/soak` builds the release
    #[arg(long, value_name = "PATH")]
    program: PathBuf,
    #[command(subcommand)]
    test: Test,
}

#[derive(Subcommand)]
enum Test {
    /// Kill processes, each at a random moment
    Kills {
        /// How many processes to kill
        #[arg(default_value_t = 10_000)]
        number: u64,
        /// Kill at the same moments again, as far as the machine allows it
        #[arg(long, default_value_t = 8)]
        seed: u64,
    },
    /// Run many processes at once, on one plan, one state and one journal
    Together {
        #[arg(long, default_value_t = 64)]
        processes: usize,
        #[arg(long, default_value_t = 60)]
        seconds: u64,
    },
}

fn main() -> ExitCode {
    let options = match Options::try_parse() {
        Ok(options) => options,
        Err(error) => {
            let _ = error.print();
            return ExitCode::from(if error.use_stderr() { 64 } else { 0 });
        }
    };
    let result = match options.test {
        Test::Kills { number, seed } => {
            kills::run(&options.program, number, seed).map(|report| (report.to_string(), report.is_fine()))
        }
        Test::Together { processes, seconds } => together::run(&options.program, processes, seconds)
            .map(|report| (report.to_string(), report.is_fine() && report.is_bounded())),
    };
    match result {
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
