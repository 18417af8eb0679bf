//! What was asked for on the command line.

use std::ffi::OsString;
use std::path::PathBuf;

pub const HELP: &str = "\
Measures what one call of the hook costs, as whole processes in one interleaved run, against an
empty program that is built the same way; and what the analysis of command lines costs inside one.

Usage: scripts/bench [OPTION]… [ROUNDS]

  ROUNDS          how often each program is started (default 1000)

What is measured instead of the usual calls:
  --steps         what each step of a shell call adds to the empty program
  --plans         the plan gate: a plan of 10 MB, and 10,000 plans (1 GB on the disk)
  --growth        what a call costs as plans, states, directories, records and command lines grow
  --instructions  instructions of each call, counted by callgrind, against those that were kept

Options:
  --json          print one JSON object instead of the tables
  --check         exit with 1 if something costs more than its goal, or than was kept
  --write         with --instructions: keep what was counted
  --only CASE     only this one of the usual calls, beside the empty program
  --also PATH     measure another build of the hook in the same run, with a shell call or the case of
                  `--only`; may be given several times
  --help          show this text

Examples:
  scripts/bench
  scripts/bench --check 300
  scripts/bench --instructions --check
  scripts/bench --only 'turn ended, 43 files' --also path/to/provost

Exit status: 0 if measured, 1 if `--check` failed, 64 if the command line makes no sense, 70 if
it could not be measured.
";

pub enum Invocation {
    Help,
    Measure(Options),
    /// Tell the linker which functions the hook runs, or with `--check` whether it knows.
    Order {
        map: PathBuf,
        check: bool,
    },
    /// Start one command and print its peak memory. The bench starts itself so.
    Peak(Vec<OsString>),
}

#[derive(Debug, PartialEq, Eq)]
pub struct Options {
    pub rounds: usize,
    pub json: bool,
    pub check: bool,
    pub only: Option<String>,
    pub others: Vec<PathBuf>,
    pub what: What,
    /// Keep what was counted.
    pub write: bool,
}

/// What is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What {
    Calls,
    Steps,
    Plans,
    Growth,
    Instructions,
}

impl Invocation {
    pub fn parse(mut arguments: impl Iterator<Item = OsString>) -> Result<Self, String> {
        let mut options = Options {
            rounds: 1000,
            json: false,
            check: false,
            only: None,
            others: Vec::new(),
            what: What::Calls,
            write: false,
        };
        while let Some(argument) = arguments.next() {
            match argument.to_str() {
                Some("--help" | "-h") => return Ok(Self::Help),
                Some("--peak") => return Ok(Self::Peak(arguments.collect())),
                // `scripts/order-functions` calls it so.
                Some("--order") => {
                    let map = arguments.next().ok_or("`--order` needs the linker's map")?.into();
                    return Ok(Self::Order { map, check: arguments.any(|it| it == "--check") });
                }
                Some("--json") => options.json = true,
                Some("--check") => options.check = true,
                Some("--write") => options.write = true,
                Some("--steps") => options.what = What::Steps,
                Some("--plans") => options.what = What::Plans,
                Some("--growth") => options.what = What::Growth,
                Some("--instructions") => options.what = What::Instructions,
                Some("--only") => {
                    let case = arguments.next().ok_or("`--only` needs a case")?;
                    options.only = Some(case.to_string_lossy().into_owned());
                }
                Some("--also") => {
                    let path = arguments.next().ok_or("`--also` needs a path")?;
                    options.others.push(PathBuf::from(path));
                }
                text => {
                    let rounds = text.and_then(|text| text.parse().ok()).filter(|rounds| *rounds > 0);
                    options.rounds =
                        rounds.ok_or_else(|| format!("unknown argument `{}`", argument.display()))?;
                }
            }
        }
        if options.write && options.what != What::Instructions {
            return Err("`--write` goes with `--instructions`".into());
        }
        if (options.only.is_some() || !options.others.is_empty()) && options.what != What::Calls {
            return Err("`--only` and `--also` go with the usual calls".into());
        }
        Ok(Self::Measure(options))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(arguments: &[&str]) -> Result<Options, String> {
        match Invocation::parse(arguments.iter().map(OsString::from))? {
            Invocation::Measure(options) => Ok(options),
            _ => Err("another command".into()),
        }
    }

    #[test]
    fn rounds_and_switches_are_read_in_any_order() {
        let options = parse(&["--check", "20", "--also", "/p", "--json", "--only", "prompt"]).unwrap();
        assert_eq!(options.only.as_deref(), Some("prompt"));
        assert_eq!((options.rounds, options.json, options.check), (20, true, true));
        assert_eq!((options.others, options.what), (vec!["/p".into()], What::Calls));
        assert_eq!(parse(&["--instructions", "--write"]).unwrap().what, What::Instructions);
        assert_eq!(parse(&[]).unwrap().rounds, 1000);
    }

    #[test]
    fn what_is_not_known_is_a_usage_error() {
        let lacking = [&["--also"][..], &["--only"], &["--write"]];
        let misplaced = [&["--plans", "--also", "/p"][..], &["--only", "prompt", "--growth"]];
        for bad in [&["0"][..], &["-3"], &["--fast"], &["1e3"]].iter().chain(&lacking).chain(&misplaced) {
            assert!(parse(bad).is_err(), "{bad:?}");
        }
    }
}
