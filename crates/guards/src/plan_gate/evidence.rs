//! The answers of critics and validators that Provost witnessed.
//!
//! Between the critic's answer and the validator's, the findings must be kept where the agent cannot
//! replace them: in Provost's own state, under the plan's hash and signed with the key, so that they
//! belong to that text only. A validator's failure is kept there too, because the agent can write
//! another verdict into the plan file.

use crate::prelude::*;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::digest::Digest;
use super::entries::{self, Critique};
use crate::seal::SealKey;
use provost_core::opinion::Fault;
use provost_core::workspace::Workspace;

/// A longer answer is not a list of findings.
const LONGEST_ANSWER: usize = 256 << 10;
const LARGEST_FILE: u64 = 1 << 20;

/// A critic's witnessed answer.
pub struct Evidence {
    pub answer: String,
    pub critique: Critique,
    pub time: String,
}

pub fn save_critique(answer: &str, plan: Digest, key: &SealKey, workspace: &Workspace) -> Result<(), Fault> {
    let file = critique_file(plan, workspace)?;
    if find_critique(plan, key, workspace)
        .is_ok_and(|known| known.is_some_and(|known| known.answer == answer))
    {
        return Ok(());
    }
    let record = json!({"plan": plan.to_string(), "critic": answer, "ts": workspace.format_now()});
    write_signed(&file, &record, key, workspace)
}

/// The critic's answer about the plan with this hash, if one was witnessed.
pub fn find_critique(plan: Digest, key: &SealKey, workspace: &Workspace) -> Result<Option<Evidence>, Fault> {
    let record = read_signed(critique_file(plan, workspace), key, workspace)?;
    let read = |record: Value| {
        let answer = record["critic"]
            .as_str()
            .filter(|_| plan.equals_hex(record["plan"].as_str().unwrap_or_default()))?;
        let critique = entries::read_critique(answer).ok()?;
        let time = record["ts"].as_str().unwrap_or_default().to_owned();
        Some(Evidence { critique, answer: answer.to_owned(), time })
    };
    Ok(record.and_then(read))
}

/// Reads a critic's answer. The error says why it does not count.
pub fn read_critique(answer: &str) -> Result<Critique, String> {
    if answer.len() > LONGEST_ANSWER {
        return Err(format!("it is longer than {LONGEST_ANSWER} bytes"));
    }
    Ok(entries::read_critique(answer)?)
}

/// Saves why a validator failed these texts, independently of later changes to the plan. `None` removes an older
/// failure, because the texts have passed since.
pub fn save_failure(
    reason: Option<&str>,
    hashes: (Digest, Digest),
    key: &SealKey,
    workspace: &Workspace,
) -> Result<(), Fault> {
    let file = failure_file(hashes, workspace)?;
    match reason {
        Some(reason) => {
            write_signed(&file, &json!({"texts": format_hashes(hashes), "failed": reason}), key, workspace)
        }
        None if workspace.exists(&file) => workspace.remove_file(&file),
        None => Ok(()),
    }
}

/// Why a validator failed these texts when it last judged them.
pub fn find_failure(
    hashes: (Digest, Digest),
    key: &SealKey,
    workspace: &Workspace,
) -> Result<Option<String>, Fault> {
    let record = read_signed(failure_file(hashes, workspace), key, workspace)?;
    let record = record.filter(|record| record["texts"] == format_hashes(hashes));
    Ok(record.and_then(|record| record["failed"].as_str().map(str::to_owned)))
}

fn format_hashes((plan, gaps): (Digest, Digest)) -> String {
    format!("{plan} {gaps}")
}

fn critique_file(plan: Digest, workspace: &Workspace) -> Result<PathBuf, Fault> {
    workspace.state_file("witness", &format!("{}.json", plan.short_hex()))
}

fn failure_file(hashes: (Digest, Digest), workspace: &Workspace) -> Result<PathBuf, Fault> {
    let name = Digest::hash_text(&[format_hashes(hashes).as_bytes()]).short_hex();
    workspace.state_file("witness", &format!("{name}.failed"))
}

fn write_signed(file: &Path, record: &Value, key: &SealKey, workspace: &Workspace) -> Result<(), Fault> {
    let record = record.to_string();
    let signed = json!({"record": record, "signature": key.sign(&record)});
    workspace.write_state_file(file, signed.to_string().as_bytes())
}

/// The record in a file, if it was signed with the key.
fn read_signed(
    file: Result<PathBuf, Fault>,
    key: &SealKey,
    workspace: &Workspace,
) -> Result<Option<Value>, Fault> {
    // Without a state directory, nothing was ever saved.
    let Ok(file) = file else { return Ok(None) };
    let Some(text) = workspace.read_text(&file, LARGEST_FILE)? else { return Ok(None) };
    let read = || {
        let signed: Value = serde_json::from_str(&text).ok()?;
        let record = signed["record"].as_str()?;
        let is_ours = key.is_signed(signed["signature"].as_str()?, record);
        serde_json::from_str(record).ok().filter(|_| is_ours)
    };
    Ok(read())
}
