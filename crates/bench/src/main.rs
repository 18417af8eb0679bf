//! `bench`: what one call of the hook costs the person who waits for it.
//!
//! A client starts the hook anew for every tool call, so the cost is that of a whole process, and
//! a benchmark of functions inside one process would miss most of it (only the analysis of command
//! lines, whose cost grows with what an agent writes, is also measured so). All cases are measured in
//! one interleaved run: what else happens on the machine then hits all of them alike, and their
//! ratio to an empty program stays meaningful where the times are not.
//!
//! | exit | meaning |
//! |------|---------|
//! | 0    | measured (and with `--check`, within the goals) |
//! | 1    | with `--check`, above a goal |
//! | 64   | the command line makes no sense |
//! | 70   | it could not be measured: a program is missing, or the hook answered otherwise than expected |

mod analysis;
mod cases;
mod growth;
mod instructions;
mod measure;
mod options;
mod order;
mod plan_directories;
mod plans;
mod programs;
mod report;
mod scene;
mod statistics;
mod steps;
mod workflows;

use std::path::Path;
use std::process::ExitCode;

use cases::Stage;
use options::{Invocation, Options, What};
use order::Order;
use serde_json::Value;

fn main() -> ExitCode {
    match Invocation::parse(std::env::args_os().skip(1)) {
        Ok(Invocation::Help) => {
            print!("{}", options::HELP);
            ExitCode::SUCCESS
        }
        Ok(Invocation::Peak(command)) => match measure::print_peak(&command) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => failed(&error),
        },
        Ok(Invocation::Order { map, check }) => order(&map, check).unwrap_or_else(|error| failed(&error)),
        Ok(Invocation::Measure(options)) => bench(&options).unwrap_or_else(|error| failed(&error)),
        Err(usage) => {
            eprintln!("bench: {usage}\nTry `scripts/bench --help`.");
            ExitCode::from(64)
        }
    }
}

fn failed(error: &std::io::Error) -> ExitCode {
    eprintln!("bench: {error}");
    ExitCode::from(70)
}

fn order(map: &Path, check: bool) -> std::io::Result<ExitCode> {
    let order = Order::find(&Stage::set()?, map)?;
    eprintln!("{} % of what runs lies side by side", order.share());
    if !check {
        print!("{}", order.script());
    }
    Ok(ExitCode::from(u8::from(check && !order.holds())))
}

fn bench(options: &Options) -> std::io::Result<ExitCode> {
    let holds = match options.what {
        What::Calls => calls(options)?,
        What::Steps => {
            let steps = steps::measure(options.rounds)?;
            print(options, || steps.table(), || steps.json());
            true
        }
        What::Plans => {
            let plans = plans::measure(options.rounds.min(50))?;
            print(options, || plans.table(), || plans.json());
            plans.goals_hold()
        }
        What::Growth => {
            let curves = growth::measure(options.rounds.min(21))?;
            print(options, || growth::table(&curves), || growth::json(&curves));
            growth::goals_hold(&curves)
        }
        What::Instructions => {
            let counts = instructions::all()?;
            print(options, || instructions::table(&counts), || instructions::json(&counts));
            if options.write {
                instructions::write(&counts)?;
            }
            options.write || instructions::hold(&counts)
        }
    };
    Ok(ExitCode::from(u8::from(options.check && !holds)))
}

/// The usual calls. Whether their goals hold.
fn calls(options: &Options) -> std::io::Result<bool> {
    let stage = Stage::narrowed(options.only.as_deref(), &options.others)?;
    eprintln!("measuring {} rounds of {} processes …", options.rounds, stage.cases.len());
    let journal = stage.scene.journal_size()?;
    let results = measure::all(&stage, options.rounds)?;
    // Some calls alone leave nothing to keep.
    if options.only.is_none() && journal == stage.scene.journal_size()? {
        return Err(std::io::Error::other("the hook wrote no journal, so it did not do its work"));
    }
    let report = report::Report { rounds: options.rounds, results: &results };
    let analysis = if options.only.is_none() { analysis::all() } else { Vec::new() };
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
