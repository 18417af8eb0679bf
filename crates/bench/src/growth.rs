//! Measures how the cost of a call grows with inputs that an agent or a project can make large.
//!
//! Measures the processor time of whole processes, which other work on the machine hardly changes. Each curve is one event
//! at sizes that grow tenfold, and its sizes run interleaved. Ten times the size may cost little more than ten times the
//! time above the smallest size, so that no allowed size makes the hook miss its deadline.

use std::fmt::Write;
use std::io;

use serde_json::{Value, json};

use crate::cases::Case;
use crate::measure;
use crate::plan_directories;
use crate::programs;
use crate::scene::Scene;
use crate::statistics::median;
use crate::workflows;

const BASH: &str = include_str!("../../../tests/events/PreToolUse.Bash.json");
const AGENT: &str = include_str!("../../../tests/events/PreToolUse.Agent.json");
/// The goal for ten times the size, as a multiple of the time.
const STEEPEST: f64 = 13.0;
/// Smaller differences, in microseconds, are noise.
const NOISE: f64 = 250.0;

pub struct Curve {
    what: &'static str,
    /// The size in words, and the median in microseconds.
    points: Vec<(String, f64)>,
}

/// One size of a curve, with a scene of its own.
struct Point {
    size: String,
    scene: Scene,
    case: Case,
}

pub fn measure(rounds: usize) -> io::Result<Vec<Curve>> {
    let kilobytes = |bytes: &usize| match bytes {
        1_000_000.. => format!("{} MB", bytes / 1_000_000),
        1_000.. => format!("{} KB", bytes / 1_000),
        _ => format!("{bytes} B"),
    };
    let number = |count: &usize| count.to_string();
    let tenfold = |from: usize, steps: u32| (0..steps).map(move |step| from * 10_usize.pow(step));
    Ok(vec![
        curve("plan, way out of plan mode", tenfold(1_000, 5), kilobytes, rounds, |scene, size| {
            scene.plans()?.create_assessed("plan.md", size)
        })?,
        curve("plans in the directory, 10 KB each", tenfold(1, 5), number, rounds, |scene, count| {
            let mut event = scene.leave_plan_mode_event()?;
            let plans = scene.plans()?;
            plans.forget_notes()?;
            plans.create_others(count - 1, 10_000)?;
            // Without its name, the plan has to be found by its session.
            event["tool_input"] = json!({});
            Ok(event)
        })?,
        curve("state of a workflow, agent started", tenfold(1_000, 5), kilobytes, rounds, |scene, size| {
            workflows::create_with_state_size(&scene.project(), size)?;
            let mut event = scene.relocate(AGENT);
            event["tool_input"]["subagent_type"] = "software-developer".into();
            Ok(event)
        })?,
        curve("files of a plan, turn ended", tenfold(10, 4), number, rounds, |scene, files| {
            scene.end_of_turn_event(files)
        })?,
        curve("calls in the record, turn ended", tenfold(10, 5), number, rounds, |scene, calls| {
            plan_directories::create_plan(&scene.project(), &scene.root().join("record"), 43, calls)
        })?,
        curve("command line, shell call", tenfold(100, 5), kilobytes, rounds, |scene, length| {
            let unit = "echo \"$(cat 'a b' | grep -c x)\" && ls -la lib > /dev/null 2>&1; ";
            let mut event = scene.relocate(BASH);
            event["tool_input"]["command"] = unit.repeat(length.div_ceil(unit.len())).into();
            Ok(event)
        })?,
    ])
}

fn curve(
    what: &'static str,
    sizes: impl Iterator<Item = usize>,
    words: impl Fn(&usize) -> String,
    rounds: usize,
    make: impl Fn(&Scene, usize) -> io::Result<Value>,
) -> io::Result<Curve> {
    eprintln!("measuring {what} …");
    let point = |size: usize| {
        let scene = Scene::create()?;
        let case = Case::hook_call(what, programs::find_built("provost")?, &make(&scene, size)?);
        Ok(Point { size: words(&size), scene, case })
    };
    let points = sizes.map(point).collect::<io::Result<Vec<_>>>()?;
    let mut times = vec![Vec::new(); points.len()];
    for round in 0..=rounds {
        for (point, times) in points.iter().zip(&mut times) {
            let sample = measure::run_case(&point.scene, &point.case)?;
            // The first round is for warming up.
            if round > 0 {
                times.push(sample.cpu);
            }
        }
    }
    let points = points.into_iter().map(|point| point.size);
    Ok(Curve { what, points: points.zip(times.iter().map(|times| median(times))).collect() })
}

impl Curve {
    /// The growth of the time above the smallest size in the last step, as a factor.
    fn last_step(&self) -> Option<f64> {
        let [(_, small), .., (_, before), (_, large)] = &self.points[..] else { return None };
        (large - small > NOISE).then(|| (large - small) / (before - small).max(NOISE))
    }

    fn is_within_goal(&self) -> bool {
        self.last_step().is_none_or(|step| step <= STEEPEST)
    }
}

pub fn goals_hold(curves: &[Curve]) -> bool {
    curves.iter().all(Curve::is_within_goal)
}

pub fn table(curves: &[Curve]) -> String {
    let mut text = String::from(
        "What grows, and what a call then costs: processor time of whole processes, milliseconds (median)\n",
    );
    for curve in curves {
        let _ = write!(text, "\n{}\n", curve.what);
        let row = |cells: Vec<String>| {
            let cells: Vec<String> = cells.into_iter().map(|cell| format!("{cell:>10}")).collect();
            cells.concat()
        };
        let _ = writeln!(text, "{}", row(curve.points.iter().map(|(size, _)| size.clone()).collect()));
        let times = curve.points.iter().map(|(_, micros)| format!("{:.2}", micros / 1000.0));
        let step = match curve.last_step() {
            Some(step) if curve.is_within_goal() => format!("   the last step: {step:.1} ×"),
            Some(step) => format!("   the last step: {step:.1} ×, more than {STEEPEST}"),
            None => "   hardly".into(),
        };
        let _ = writeln!(text, "{}{step}", row(times.collect()));
    }
    let word = if goals_hold(curves) { "holds" } else { "does not hold" };
    let _ = writeln!(
        text,
        "\nGoal: the last tenfold step costs at most {STEEPEST} times what the sizes before it cost. It {word}."
    );
    text
}

pub fn json(curves: &[Curve]) -> Value {
    let to_json = |curve: &Curve| {
        let points: Vec<Value> =
            curve.points.iter().map(|(size, micros)| json!({ "size": size, "micros": micros })).collect();
        json!({ "what": curve.what, "points": points, "last_step": curve.last_step() })
    };
    curves.iter().map(to_json).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_time_above_the_smallest_size_counts() {
        let curve = |times: &[f64]| Curve {
            what: "x",
            points: times.iter().map(|micros| (String::new(), *micros)).collect(),
        };
        assert!(curve(&[1000.0, 1100.0, 1200.0]).last_step().is_none());
        assert!(!curve(&[1000.0, 1100.0, 9000.0]).is_within_goal());
        assert!(curve(&[1000.0, 3000.0, 21_000.0]).is_within_goal());
        assert!(!curve(&[1000.0, 3000.0, 41_000.0]).is_within_goal());
        assert!(table(&[curve(&[1000.0, 3000.0, 41_000.0])]).contains("does not hold"));
    }
}
