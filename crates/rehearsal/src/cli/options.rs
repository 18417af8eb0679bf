//! What was asked for on the command line.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

pub(crate) const HELP: &str = "\
Plays the real client against a scripted model on loopback, and checks what its hooks did.
A scenario with `terminal` plays the interactive client, and checks what its screen shows.
No token is spent, and nothing outside the run's own directories is read or written.

Usage: rehearse [OPTION]… FILE…
       rehearse --versions DIRECTORY

Options:
  --client PATH      the client's program; otherwise $REHEARSAL_CLIENT, or the newest one
                     under target/client
  --set NAME=VALUE   a value for ${NAME} in scenarios; may be given several times
  --jobs N           play N scenarios at once (default 1, which shows them as they happen)
  --keep             leave the run's home and project on disk, and say where; for a terminal
                     also `screens.txt`, with the screen after each step
  --quiet            show only what failed, and the summary
  --again N          play what failed N times more, to see whether it always fails
  --results FILE     write what came of it as JSON: what held, the events and tools of the
                     client, the fields that hooks were given; what the file says of other
                     scenarios on the same version stays
  --versions DIR     play nothing; show results of several versions side by side, from
                     DIR/VERSION.json and DIR/groups.toml
  --help             show this text

Examples:
  rehearse rehearsals/examples/denial.toml
  rehearse --set gate=$PWD/target/debug/gate rehearsals/*.toml
  rehearse --jobs 4 --quiet rehearsals/*.toml

Exit status: 0 if all went as expected, 1 if not, 64 if the command line makes no sense or
there is no client, 130 if it was interrupted (which ends the client and cleans up).

`rehearse --record LOG -- COMMAND ARG…` and `rehearse --record LOG --shell COMMAND` run a hook
and record it. `rehearse --attach PROGRAM ARG…` gives a program a session of its own on the
terminal that is standard input. Both are used while scenarios are played; nobody types them.
";

pub(crate) enum Invocation {
    Help,
    Play(Options),
    Compare(PathBuf),
    Record { log: PathBuf, argv: Vec<OsString> },
    Attach { argv: Vec<OsString> },
}

#[derive(Debug, Default)]
pub(crate) struct Options {
    pub(crate) client: Option<PathBuf>,
    pub(crate) variables: BTreeMap<String, String>,
    pub(crate) keep: bool,
    pub(crate) quiet: bool,
    pub(crate) jobs: usize,
    pub(crate) again: usize,
    pub(crate) results: Option<PathBuf>,
    pub(crate) files: Vec<PathBuf>,
}

impl Invocation {
    pub(crate) fn parse(arguments: Vec<OsString>) -> Result<Self, String> {
        let mut arguments = arguments.into_iter();
        let mut options = Options { jobs: 1, ..Options::default() };
        while let Some(argument) = arguments.next() {
            let mut value = |what: &str| arguments.next().ok_or(format!("`{what}` needs a value"));
            match argument.to_str() {
                Some("--help" | "-h") => return Ok(Self::Help),
                Some("--record") => {
                    let log = PathBuf::from(value("--record")?);
                    return hook(arguments.collect()).map(|argv| Self::Record { log, argv });
                }
                Some("--attach") => return Ok(Self::Attach { argv: arguments.collect() }),
                Some("--client") => options.client = Some(PathBuf::from(value("--client")?)),
                Some("--set") => {
                    let pair = value("--set")?;
                    let (name, set) = pair
                        .to_str()
                        .and_then(|pair| pair.split_once('='))
                        .filter(|(name, _)| !name.is_empty())
                        .ok_or_else(|| format!("`--set {}` is not of the form NAME=VALUE", pair.display()))?;
                    options.variables.insert(name.to_owned(), set.to_owned());
                }
                Some("--jobs") => options.jobs = positive("--jobs", &value("--jobs")?)?,
                Some("--again") => options.again = positive("--again", &value("--again")?)?,
                Some("--results") => options.results = Some(PathBuf::from(value("--results")?)),
                Some("--versions") => return Ok(Self::Compare(PathBuf::from(value("--versions")?))),
                Some("--keep") => options.keep = true,
                Some("--quiet") => options.quiet = true,
                Some(unknown) if unknown.starts_with('-') => {
                    return Err(format!("there is no option `{unknown}`"));
                }
                _ => options.files.push(PathBuf::from(argument)),
            }
        }
        if options.files.is_empty() {
            return Err("no scenario is given".to_owned());
        }
        Ok(Self::Play(options))
    }
}

fn positive(name: &str, number: &OsStr) -> Result<usize, String> {
    let parsed = number.to_str().and_then(|number| number.parse().ok()).filter(|number| *number > 0);
    parsed.ok_or_else(|| format!("`{name} {}` is not a positive number", number.display()))
}

/// The program to run in place of the recorder.
fn hook(rest: Vec<OsString>) -> Result<Vec<OsString>, String> {
    let mut rest = rest.into_iter();
    match rest.next().as_ref().and_then(|form| form.to_str()) {
        Some("--") => Ok(rest.collect()),
        Some("--shell") => {
            Ok([OsString::from("/bin/sh"), OsString::from("-c")].into_iter().chain(rest).collect())
        }
        _ => Err("`--record LOG` is followed by `--` and a command, or by `--shell` and a text".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(arguments: &[&str]) -> Result<Invocation, String> {
        Invocation::parse(arguments.iter().map(OsString::from).collect())
    }

    #[test]
    fn a_hooks_own_options_are_not_ours() {
        let Ok(Invocation::Record { argv, .. }) = parse(&["--record", "log", "--", "gate", "--help"]) else {
            panic!("not a recording");
        };
        assert_eq!(argv, ["gate", "--help"]);
    }

    #[test]
    fn nonsense_is_told() {
        for (arguments, told) in [
            (&[][..], "no scenario"),
            (&["--colour", "x"], "`--colour`"),
            (&["--set", "x", "f"], "NAME=VALUE"),
            (&["--jobs", "0", "f"], "positive"),
            (&["--again", "often", "f"], "`--again often`"),
            (&["--client"], "needs a value"),
            (&["--versions"], "needs a value"),
            (&["--record", "log", "gate"], "followed by"),
        ] {
            let fault = parse(arguments).err().unwrap();
            assert!(fault.contains(told), "{fault}");
        }
    }
}
