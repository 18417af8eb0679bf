//! `bench`: measures what one call of the hook costs the user.
//!
//! A client starts the hook for every tool call, so the cost is that of a whole process. A benchmark inside one process would
//! miss most of it; only the analysis of command lines, whose cost depends on the agent, is measured that way too. All cases
//! run interleaved, so that other work on the machine affects all of them alike, and the ratio to an empty program stays
//! meaningful.
//!
//! | exit | meaning |
//! |------|---------|
//! | 0    | measured (and with `--check`, within the goals) |
//! | 1    | with `--check`, above a goal |
//! | 64   | wrong usage |
//! | 70   | it could not be measured: a program is missing, or the hook gave another answer than expected |

mod analysis;
mod cases;
mod growth;
mod instructions;
mod measure;
mod options;
mod plan_directories;
mod plans;
mod programs;
mod replay;
mod report;
mod rule_cases;
mod rule_files;
mod scene;
mod statistics;
mod steps;
mod workflows;

use std::process::ExitCode;

use cases::Stage;
use clap::Parser;
use options::Options;
use serde_json::Value;

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    // Before clap, whose memory would count as the peak of the command.
    if arguments.next().is_some_and(|first| first == "--peak") {
        return exit_code(measure::print_peak(&arguments.collect::<Vec<_>>()).map(|()| true));
    }
    match Options::try_parse() {
        Ok(options) => exit_code(run(&options).map(|is_met| is_met || !options.check)),
        Err(error) => {
            let _ = error.print();
            ExitCode::from(if error.use_stderr() { 64 } else { 0 })
        }
    }
}

fn exit_code(result: std::io::Result<bool>) -> ExitCode {
    match result {
        Ok(is_success) => ExitCode::from(u8::from(!is_success)),
        Err(error) => {
            eprintln!("bench: {error}");
            ExitCode::from(70)
        }
    }
}

/// Measures, prints, and returns whether all goals are met.
fn run(options: &Options) -> std::io::Result<bool> {
    let rounds = options.rounds.get();
    if options.steps {
        let steps = steps::measure(rounds)?;
        print(options, || steps.table(), || steps.json());
        Ok(true)
    } else if options.plans {
        let plans = plans::measure(rounds.min(50))?;
        print(options, || plans.table(), || plans.json());
        Ok(plans.goals_hold())
    } else if options.growth {
        let curves = growth::measure(rounds.min(21))?;
        print(options, || growth::table(&curves), || growth::json(&curves));
        Ok(growth::goals_hold(&curves))
    } else if options.replay {
        let times = replay::measure(rounds.min(9), options.transcripts.as_deref())?;
        print(options, || times.table(), || times.json());
        Ok(times.goals_hold())
    } else if options.instructions {
        let counts = instructions::count_all()?;
        print(options, || instructions::table(&counts), || instructions::json(&counts));
        if options.write {
            instructions::write(&counts)?;
        }
        Ok(options.write || instructions::goals_hold(&counts))
    } else {
        measure_calls(options, rounds)
    }
}

/// Measures the usual calls, and returns whether their goals are met.
fn measure_calls(options: &Options, rounds: usize) -> std::io::Result<bool> {
    let stage = Stage::with_cases(options.only.as_deref(), &options.others)?;
    eprintln!("measuring {rounds} rounds of {} processes …", stage.cases.len());
    let journal = stage.scene.journal_size()?;
    let results = measure::measure_all(&stage, rounds)?;
    // A single call may have nothing to write to the journal.
    if options.only.is_none() && journal == stage.scene.journal_size()? {
        return Err(std::io::Error::other("the hook wrote no journal, so it did not work as usual"));
    }
    let report = report::Report { rounds, results: &results };
    let analysis = if options.only.is_none() { analysis::measure_all() } else { Vec::new() };
    print(
        options,
        || report.table() + &if analysis.is_empty() { String::new() } else { analysis::table(&analysis) },
        || {
            let mut json = report.json();
            json["analysis"] = analysis::json(&analysis);
            json
        },
    );
    Ok(report.goal_holds() && analysis::goals_hold(&analysis))
}

fn print(options: &Options, table: impl FnOnce() -> String, json: impl FnOnce() -> Value) {
    if options.json {
        println!("{:#}", json());
    } else {
        print!("{}", table());
    }
}
