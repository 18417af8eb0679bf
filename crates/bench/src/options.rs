//! The command line of `bench`.

use std::num::NonZeroUsize;
use std::path::PathBuf;

/// Measure what one call of the hook costs, compared with an empty program
///
/// Measures whole processes in one interleaved run, and the analysis of command lines inside one process.
#[derive(Debug, clap::Parser)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of the command line")]
#[command(bin_name = "scripts/bench")]
#[command(after_help = "Examples:
  scripts/bench
  scripts/bench --check 300
  scripts/bench --instructions --check
  scripts/bench --only 'turn ended, 43 files' --also path/to/provost

Exit status: 0 if measured, 1 if `--check` failed, 64 for wrong usage, 70 if it could not be measured.")]
pub struct Options {
    /// How often each program is started
    #[arg(default_value = "1000")]
    pub rounds: NonZeroUsize,
    /// Measure what each step of a shell call adds to the empty program
    #[arg(long, group = "what")]
    pub steps: bool,
    /// Measure the plan gate with a plan of 10 MB, and with 10,000 plans (1 GB on disk)
    #[arg(long, group = "what")]
    pub plans: bool,
    /// Measure calls while plans, states, directories, records and command lines grow
    #[arg(long, group = "what")]
    pub growth: bool,
    /// Measure a replay of 600 MB of transcripts, beside `wc -l` and `jq`; needs 700 MB on the disk
    #[arg(long, group = "what")]
    pub replay: bool,
    /// The transcripts that are repeated to that size, in place of those of the tests
    #[arg(long, value_name = "DIR", requires = "replay")]
    pub transcripts: Option<PathBuf>,
    /// Count the instructions of each call with callgrind, and compare them with the stored counts
    #[arg(long, group = "what")]
    pub instructions: bool,
    /// Print one JSON object instead of tables
    #[arg(long)]
    pub json: bool,
    /// Exit with 1 if something costs more than its goal or its stored count
    #[arg(long)]
    pub check: bool,
    /// Store the counted instructions
    #[arg(long, requires = "instructions")]
    pub write: bool,
    /// Measure only this call, beside the empty program
    #[arg(long, value_name = "CASE", conflicts_with = "what")]
    pub only: Option<String>,
    /// Measure another build of the hook too, with a shell call or the case of `--only`; can be given several times
    #[arg(long = "also", value_name = "PATH", conflicts_with = "what")]
    pub others: Vec<PathBuf>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    fn parse(arguments: &[&str]) -> Result<Options, clap::Error> {
        Options::try_parse_from(std::iter::once(&"bench").chain(arguments))
    }

    #[test]
    fn rounds_and_options_are_read_in_any_order() {
        let options = parse(&["--check", "20", "--also", "/p", "--json", "--only", "prompt"]).unwrap();
        assert_eq!((options.only.as_deref(), options.rounds.get()), (Some("prompt"), 20));
        assert_eq!((options.others, options.json, options.check), (vec!["/p".into()], true, true));
        assert!(parse(&["--instructions", "--write"]).unwrap().write);
        assert_eq!(parse(&[]).unwrap().rounds.get(), 1000);
    }

    #[test]
    fn wrong_arguments_are_usage_errors() {
        let lacking = [&["--also"][..], &["--only"], &["--write"], &["--transcripts", "/t"]];
        let misplaced = [&["--plans", "--also", "/p"][..], &["--only", "prompt", "--growth"]];
        for bad in [&["0"][..], &["-3"], &["--fast"], &["1e3"]].iter().chain(&lacking).chain(&misplaced) {
            assert!(parse(bad).is_err(), "{bad:?}");
        }
    }
}
