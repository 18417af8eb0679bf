//! The command line of the program.

use std::path::PathBuf;

use regex_lite::Regex;

pub const HELP: &str = "\
Runs command lines in a terminal of fixed width and draws what it shows as SVG.

Usage: picture --out FILE [OPTION]… -- 'COMMAND LINE'…

Options:
  --out FILE             the picture
  --title TEXT           what stands at its top, and its text for those who cannot see it
  --columns N            the width of the terminal (default 96)
  --rows N               show only the first N lines, and `…`
  --in DIRECTORY         where the command lines run
  --code N               an exit code that is fine, besides 0; may be given several times
  --replace PATTERN TEXT replace what the regular expression matches; may be given several times
  --help                 show this text

Each command line is shown behind a `$` and run by `sh`. A code that is not fine makes no picture.

Example:
  picture --out explain.svg --replace '[0-9.]+ ms' '1 ms' -- 'provost explain'
";

pub enum Wish {
    Help,
    Draw(Options),
}

pub struct Options {
    pub out: PathBuf,
    pub title: String,
    pub columns: u16,
    pub rows: Option<usize>,
    pub directory: Option<PathBuf>,
    pub codes: Vec<i32>,
    pub replacements: Vec<(Regex, String)>,
    pub command_lines: Vec<String>,
}

pub fn read(mut words: impl Iterator<Item = String>) -> Result<Wish, String> {
    let mut options = Options {
        out: PathBuf::new(),
        title: String::new(),
        columns: 96,
        rows: None,
        directory: None,
        codes: vec![0],
        replacements: Vec::new(),
        command_lines: Vec::new(),
    };
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or_else(|| format!("`{word}` needs a value"));
        match word.as_str() {
            "--help" | "-h" => return Ok(Wish::Help),
            "--out" => options.out = value()?.into(),
            "--title" => options.title = value()?,
            "--columns" => options.columns = number(&value()?)?,
            "--rows" => options.rows = Some(number(&value()?)?),
            "--in" => options.directory = Some(value()?.into()),
            "--code" => options.codes.push(number(&value()?)?),
            "--replace" => {
                let pattern = value()?;
                let pattern = Regex::new(&pattern).map_err(|error| format!("`{pattern}`: {error}"))?;
                options.replacements.push((pattern, value()?));
            }
            "--" => options.command_lines.extend(words.by_ref()),
            _ => return Err(format!("`{word}` is not known")),
        }
    }
    match &options {
        Options { out, .. } if out.as_os_str().is_empty() => Err("`--out` is missing".to_owned()),
        Options { command_lines, .. } if command_lines.is_empty() => {
            Err("there is no command line behind `--`".to_owned())
        }
        _ => Ok(Wish::Draw(options)),
    }
}

fn number<N: std::str::FromStr>(word: &str) -> Result<N, String> {
    word.parse().map_err(|_| format!("`{word}` is not a number that fits here"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_words(line: &[&str]) -> Result<Wish, String> {
        read(line.iter().map(|word| (*word).to_owned()))
    }

    #[test]
    fn what_is_missing_or_unknown_is_said() {
        for (line, told) in [
            (&["--", "ls"][..], "`--out` is missing"),
            (&["--out", "x"][..], "there is no command line behind `--`"),
            (&["--out"][..], "`--out` needs a value"),
            (&["--columns", "wide"][..], "`wide` is not a number that fits here"),
            (&["--colour"][..], "`--colour` is not known"),
        ] {
            assert_eq!(read_words(line).err().as_deref(), Some(told));
        }
        assert!(read_words(&["--replace", "(", "x"]).is_err());
    }

    #[test]
    fn all_words_behind_the_dashes_are_command_lines() {
        let Ok(Wish::Draw(options)) = read_words(&["--out", "x", "--code", "1", "--", "ls", "--help"]) else {
            panic!("not understood");
        };
        assert_eq!(options.command_lines, ["ls", "--help"]);
        assert_eq!(options.codes, [0, 1]);
    }
}
