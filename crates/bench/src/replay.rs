//! Measures `provost replay` on 600 MB of transcripts, beside programs that only read them.
//!
//! The recorded transcripts are repeated, with other ids in each copy, because calls with the same id count once. All
//! programs run interleaved on the same files. Counting lines with `wc -l` is the least that a reader can do;
//! `jq -c .type` parses each line. Memory is measured on a tenth of the files too, and with one line of 50 MB.

use std::fmt::Write as _;
use std::fs;
use std::io::{self, Read, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;
use serde_json::{Value, json};

use crate::programs::{find_built, find_on_system};
use crate::statistics::median;

const BYTES: u64 = 600_000_000;
const LONG_LINE: usize = 50_000_000;
const RECORDED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/transcripts");

/// Linux takes 2 MB, with the environment.
const LONGEST_COMMAND_LINE: usize = 1_500_000;
/// At most so many times `wc -l`, and so many times faster than `jq`.
const SLOWEST: f64 = 4.0;
const FASTER_THAN_JQ: f64 = 10.0;
const FIRST_OUTPUT_MILLIS: f64 = 100.0;
/// What ten times the files may need more, in KiB.
const MORE_MEMORY: u64 = 8 << 10;

/// The medians of one program, in milliseconds.
struct ProgramTimes {
    name: &'static str,
    wall: f64,
    cpu: f64,
    first_output: f64,
}

pub struct ReplayTimes {
    bytes: u64,
    files: usize,
    calls: u64,
    wc: ProgramTimes,
    jq: Option<ProgramTimes>,
    replay: ProgramTimes,
    /// Peak KiB with a tenth of the files, with all, and with a line of 50 MB besides.
    peaks: [u64; 3],
}

/// One run of one program.
struct Run {
    wall: f64,
    cpu: f64,
    first_output: f64,
    output: Vec<u8>,
}

pub fn measure(rounds: usize, transcripts: Option<&Path>) -> io::Result<ReplayTimes> {
    let room = tempfile::tempdir()?;
    let (all, tenth, long) =
        (room.path().join("all"), room.path().join("tenth"), room.path().join("all/long"));
    let source = read_directory(transcripts.unwrap_or(Path::new(RECORDED)))?;
    eprintln!("writing {} MB of transcripts …", BYTES * 11 / 10 / 1_000_000);
    let (bytes, files) = write_copies(&source, &all, BYTES)?;
    write_copies(&source, &tenth, BYTES / 10)?;
    let names: Vec<PathBuf> =
        files.iter().map(|file| file.strip_prefix(&all).unwrap_or(file).into()).collect();
    let home = room.path().join("home");
    fs::create_dir(&home)?;
    let provost = find_built("provost")?;
    let replay = |place: &Path| {
        let mut command = Command::new(&provost);
        command.args(["replay", "--json", "--transcripts"]).arg(place).current_dir(&home);
        command.env_clear().env("HOME", &home);
        command
    };
    let reader = |name: &str, arguments: &[&str]| {
        let mut command = Command::new(find_on_system(name)?);
        command.args(arguments).args(&names).current_dir(&all).env_clear();
        Some(command)
    };
    let wc = reader("wc", &["-l"]).ok_or_else(|| io::Error::other("there is no wc"))?;
    let mut programs = vec![("wc -l", wc), ("provost replay", replay(&all))];
    programs.extend(reader("jq", &["-c", ".type"]).map(|jq| ("jq -c .type", jq)));
    eprintln!("measuring {rounds} rounds of {} programs …", programs.len());
    let mut runs: Vec<Vec<Run>> = programs.iter().map(|_| Vec::new()).collect();
    for round in 0..=rounds {
        for ((_, command), runs) in programs.iter_mut().zip(&mut runs) {
            let run = run(command)?;
            // The first round fills the cache of the disk.
            if round > 0 {
                runs.push(run);
            }
        }
    }
    let result: Value = serde_json::from_slice(&runs[1][0].output)?;
    let calls = result["calls"].as_u64().filter(|calls| *calls > 0 && result["interrupted"] == false);
    let calls = calls.ok_or_else(|| io::Error::other("the replay found no calls, or did not end"))?;
    let mut times = programs.iter().zip(&runs).map(|((name, _), runs)| ProgramTimes::new(name, runs));
    let (wc, replayed, jq) = (times.next(), times.next(), times.next());
    let (Some(wc), Some(replayed)) = (wc, replayed) else { unreachable!("both are measured") };
    let (small, large) = (measure_peak(&replay(&tenth))?, measure_peak(&replay(&all))?);
    fs::create_dir(&long)?;
    write_long_line(&long.join("long.jsonl"))?;
    let peaks = [small, large, measure_peak(&replay(&all))?];
    Ok(ReplayTimes { bytes, files: files.len(), calls, wc, jq, replay: replayed, peaks })
}

/// All transcripts below a directory, with their paths in it.
fn read_directory(directory: &Path) -> io::Result<Vec<(PathBuf, String)>> {
    let mut found = Vec::new();
    let mut waiting = vec![directory.to_owned()];
    while let Some(next) = waiting.pop() {
        for entry in fs::read_dir(next)? {
            let path = entry?.path();
            if path.is_dir() {
                waiting.push(path);
            } else if path.extension().is_some_and(|extension| extension == "jsonl" || extension == "json") {
                let name = path.strip_prefix(directory).unwrap_or(&path).to_owned();
                found.push((name, String::from_utf8_lossy(&fs::read(&path)?).into_owned()));
            }
        }
    }
    found.sort();
    Ok(found)
}

/// Writes copies until there are so many bytes, or as many names as a command line takes. Returns the bytes and the
/// transcripts.
fn write_copies(source: &[(PathBuf, String)], to: &Path, bytes: u64) -> io::Result<(u64, Vec<PathBuf>)> {
    let (mut written, mut files) = (0, Vec::<PathBuf>::new());
    for copy in 0.. {
        let name_bytes: usize = files.iter().map(|file| file.as_os_str().len() + size_of::<usize>()).sum();
        if written >= bytes || name_bytes >= LONGEST_COMMAND_LINE {
            break;
        }
        for (name, text) in source {
            let path = to.join(format!("copy-{copy}")).join(name);
            fs::create_dir_all(path.parent().unwrap_or(to))?;
            let text = text.replace("toolu_", &format!("toolu_{copy}x"));
            fs::write(&path, text.replace("\"uuid\":\"", &format!("\"uuid\":\"{copy}x")))?;
            if path.extension().is_some_and(|extension| extension == "jsonl") {
                written += fs::metadata(&path)?.len();
                files.push(path);
            }
        }
        if written == 0 {
            return Err(io::Error::other("there are no transcripts"));
        }
    }
    Ok((written, files))
}

fn write_long_line(path: &Path) -> io::Result<()> {
    let mut file = fs::File::create(path)?;
    let line = json!({"type": "user", "uuid": "long", "message": {"content": "x".repeat(LONG_LINE)}});
    writeln!(file, "{line}")
}

fn run(command: &mut Command) -> io::Result<Run> {
    let cpu = || -> io::Result<i64> {
        let usage = getrusage(UsageWho::RUSAGE_CHILDREN)?;
        Ok((usage.user_time() + usage.system_time()).num_microseconds())
    };
    let before = cpu()?;
    let began = Instant::now();
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::inherit()).spawn()?;
    let mut output = vec![0];
    let mut pipe = child.stdout.take().ok_or_else(|| io::Error::other("no pipe"))?;
    pipe.read_exact(&mut output)?;
    let first_output = began.elapsed();
    pipe.read_to_end(&mut output)?;
    let status = child.wait()?;
    let wall = began.elapsed();
    if !status.success() {
        return Err(io::Error::other(format!("{} failed: {status}", command.get_program().display())));
    }
    let cpu = u32::try_from(cpu()? - before).map_or(f64::NAN, f64::from) / 1e3;
    Ok(Run { wall: wall.as_secs_f64() * 1e3, cpu, first_output: first_output.as_secs_f64() * 1e3, output })
}

/// Measures the peak memory in KiB, with this program as a small parent.
fn measure_peak(command: &Command) -> io::Result<u64> {
    let mut peak = Command::new(std::env::current_exe()?);
    peak.arg("--peak").arg(command.get_program()).args(command.get_args()).env_clear();
    peak.current_dir(command.get_current_dir().unwrap_or(Path::new(".")));
    peak.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let output = String::from_utf8_lossy(&peak.output()?.stdout).trim().to_owned();
    output.parse().map_err(io::Error::other)
}

impl ProgramTimes {
    fn new(name: &'static str, runs: &[Run]) -> Self {
        let middle = |value: fn(&Run) -> f64| median(&runs.iter().map(value).collect::<Vec<_>>());
        Self {
            name,
            wall: middle(|run| run.wall),
            cpu: middle(|run| run.cpu),
            first_output: middle(|run| run.first_output),
        }
    }
}

impl ReplayTimes {
    /// The goals: their words, and whether they hold.
    fn goals(&self) -> Vec<(String, bool)> {
        let of_wc = self.replay.wall / self.wc.wall;
        let mut goals = vec![(format!("{of_wc:.1} of at most {SLOWEST} × `wc -l`"), of_wc <= SLOWEST)];
        if let Some(jq) = &self.jq {
            let faster = jq.wall / self.replay.wall;
            let text = format!("{faster:.1} of at least {FASTER_THAN_JQ} × faster than `jq -c .type`");
            goals.push((text, faster >= FASTER_THAN_JQ));
        }
        let first = self.replay.first_output;
        goals.push((
            format!("first output after {first:.1} of at most {FIRST_OUTPUT_MILLIS} ms"),
            first <= FIRST_OUTPUT_MILLIS,
        ));
        let more = self.peaks[1].saturating_sub(self.peaks[0]);
        let text = format!("{more} of at most {MORE_MEMORY} KiB more for ten times the files");
        goals.push((text, more <= MORE_MEMORY));
        goals
    }

    pub fn goals_hold(&self) -> bool {
        self.goals().iter().all(|(_, holds)| *holds)
    }

    pub fn table(&self) -> String {
        let mut text = format!(
            "{} MB of transcripts in {} files with {} calls, milliseconds (medians of interleaved runs)\n\n{:16}\
             {:>10}{:>10}{:>14}\n",
            self.bytes / 1_000_000,
            self.files,
            self.calls,
            "",
            "wall",
            "cpu",
            "first output"
        );
        for program in [Some(&self.wc), Some(&self.replay), self.jq.as_ref()].into_iter().flatten() {
            let ProgramTimes { name, wall, cpu, first_output } = program;
            let _ = writeln!(text, "{name:16}{wall:10.0}{cpu:10.0}{first_output:14.1}");
        }
        let [tenth, all, long] = self.peaks;
        let _ = writeln!(
            text,
            "\nPeak memory of the replay: {tenth} KiB for a tenth of the files, {all} KiB for all, {long} KiB with a line \
             of 50 MB.\n"
        );
        for (goal, holds) in self.goals() {
            let _ = writeln!(text, "{goal}: {}", if holds { "holds" } else { "does not hold" });
        }
        text
    }

    pub fn json(&self) -> Value {
        let to_json = |times: &ProgramTimes| {
            json!({"name": times.name, "wall_millis": times.wall, "cpu_millis": times.cpu,
                "first_output_millis": times.first_output})
        };
        let programs = [Some(&self.wc), Some(&self.replay), self.jq.as_ref()];
        let programs: Vec<Value> = programs.into_iter().flatten().map(to_json).collect();
        let goals = self.goals().into_iter().map(|(goal, holds)| json!({"goal": goal, "holds": holds}));
        json!({
            "bytes": self.bytes,
            "files": self.files,
            "calls": self.calls,
            "programs": programs,
            "peak_kib": {"tenth": self.peaks[0], "all": self.peaks[1], "long_line": self.peaks[2]},
            "goals": goals.collect::<Vec<_>>(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(wall: f64, first_output: f64) -> ProgramTimes {
        ProgramTimes { name: "x", wall, cpu: 1.0, first_output }
    }

    #[test]
    fn each_goal_can_be_missed() {
        let measured = |replay: f64, first: f64, more: u64| ReplayTimes {
            bytes: BYTES,
            files: 1,
            calls: 1,
            wc: times(100.0, 1.0),
            jq: Some(times(4000.0, 1.0)),
            replay: times(replay, first),
            peaks: [8000, 8000 + more, 60_000],
        };
        assert!(measured(399.0, 5.0, 1000).goals_hold());
        for missed in [measured(401.0, 5.0, 0), measured(300.0, 101.0, 0), measured(300.0, 5.0, 9000)] {
            assert!(!missed.goals_hold() && missed.table().contains("does not hold"));
        }
    }

    #[test]
    fn copies_have_ids_of_their_own() {
        let room = tempfile::tempdir().unwrap();
        let source = vec![("a/s.jsonl".into(), "{\"uuid\":\"u\",\"id\":\"toolu_1\"}\n".to_owned())];
        let (bytes, files) = write_copies(&source, room.path(), 40).unwrap();
        let texts: Vec<String> = files.iter().map(|file| fs::read_to_string(file).unwrap()).collect();
        assert_eq!(
            texts,
            [0, 1].map(|copy| format!("{{\"uuid\":\"{copy}xu\",\"id\":\"toolu_{copy}x1\"}}\n"))
        );
        assert_eq!(bytes, texts.iter().map(|text| text.len() as u64).sum::<u64>());
        assert!(write_copies(&[], room.path(), 1).is_err());
    }
}
