//! The command line of `rehearse`.

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::PathBuf;

/// Play the real client against a scripted model on loopback, and check what its hooks did
///
/// A scenario with `terminal` plays the interactive client, and checks what its screen shows. No token is spent, and
/// nothing outside the run's own directories is read or written.
#[derive(Debug, clap::Parser)]
#[command(name = "rehearse", override_usage = "rehearse [OPTIONS] FILE…\n       rehearse --versions DIR")]
#[command(after_help = "Examples:
  rehearse rehearsals/examples/denial.toml
  rehearse --set gate=$PWD/target/debug/gate rehearsals/*.toml
  rehearse --jobs 4 --quiet rehearsals/*.toml

Exit status: 0 if all scenarios passed, 1 if not, 64 for wrong usage or a missing client,
130 if interrupted (which ends the client and cleans up).

Scenarios use `rehearse --record LOG -- COMMAND ARG…` and `rehearse --record LOG --shell COMMAND`
to run and record a hook, and `rehearse --attach -- PROGRAM ARG…` to give a program a session of
its own on the terminal that is standard input.")]
pub(crate) struct Options {
    /// The client's program [default: `$REHEARSAL_CLIENT`, or the newest one under target/client]
    #[arg(long, value_name = "PATH")]
    pub(crate) client: Option<PathBuf>,
    /// A value for `${NAME}` in scenarios; can be given several times
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = parse_variable)]
    pub(crate) variables: Vec<(String, String)>,
    /// Play N scenarios at once; with 1, each is shown while it runs
    #[arg(long, value_name = "N", default_value = "1")]
    pub(crate) jobs: NonZeroUsize,
    /// Keep the run's home and project, and print where; with a terminal also `screens.txt`, the screen after each step
    #[arg(long)]
    pub(crate) keep: bool,
    /// Show only failures and the summary
    #[arg(long)]
    pub(crate) quiet: bool,
    /// Play a failed scenario N more times, to see whether it always fails
    #[arg(long, value_name = "N")]
    pub(crate) again: Option<NonZeroUsize>,
    /// Write results as JSON: which scenarios passed, the client's events and tools, the fields that hooks were given.
    /// Results of other scenarios on the same version stay in the file
    #[arg(long, value_name = "FILE")]
    pub(crate) results: Option<PathBuf>,
    /// Play nothing; compare the results of several versions, from DIR/VERSION.json and DIR/groups.toml
    #[arg(long, value_name = "DIR", conflicts_with = "files")]
    pub(crate) versions: Option<PathBuf>,
    #[arg(long, hide = true)]
    pub(crate) record: Option<PathBuf>,
    #[arg(long, hide = true, requires = "record", allow_hyphen_values = true, conflicts_with = "files")]
    pub(crate) shell: Option<OsString>,
    #[arg(long, hide = true)]
    pub(crate) attach: bool,
    /// The scenarios to play
    #[arg(value_name = "FILE", required_unless_present_any = ["versions", "shell"])]
    pub(crate) files: Vec<PathBuf>,
}

impl Options {
    /// The command of `--record` and `--attach`.
    pub(crate) fn argv(&self) -> Vec<OsString> {
        match &self.shell {
            Some(command) => vec!["/bin/sh".into(), "-c".into(), command.clone()],
            None => self.files.iter().map(OsString::from).collect(),
        }
    }
}

fn parse_variable(pair: &str) -> Result<(String, String), String> {
    let pair = pair.split_once('=').filter(|(name, _)| !name.is_empty());
    let (name, value) = pair.ok_or("it is not of the form NAME=VALUE")?;
    Ok((name.to_owned(), value.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    fn parse(arguments: &[&str]) -> Result<Options, String> {
        let arguments = std::iter::once(&"rehearse").chain(arguments);
        Options::try_parse_from(arguments).map_err(|error| error.to_string())
    }

    #[test]
    fn options_of_a_recorded_hook_belong_to_the_hook() {
        let options = parse(&["--record", "log", "--", "gate", "--help"]).unwrap();
        assert_eq!(
            (options.record, options.files),
            (Some("log".into()), vec!["gate".into(), "--help".into()])
        );
        assert_eq!(
            parse(&["--record", "log", "--shell", "-x 'y'"]).unwrap().argv(),
            ["/bin/sh", "-c", "-x 'y'"]
        );
    }

    #[test]
    fn a_usage_error_names_the_argument() {
        for (arguments, expected) in [
            (&[][..], "<FILE>"),
            (&["--colour", "x"], "'--colour'"),
            (&["--set", "x", "f"], "NAME=VALUE"),
            (&["--jobs", "0", "f"], "'--jobs <N>'"),
            (&["--again", "often", "f"], "'--again <N>'"),
            (&["--client"], "value is required"),
            (&["--versions"], "value is required"),
        ] {
            let error = parse(arguments).err().unwrap();
            assert!(error.contains(expected), "{error}");
        }
    }
}
