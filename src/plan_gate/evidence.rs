//! What a critic and a validator were seen to answer about a plan.
//!
//! Between the critic's answer and the validator's, something has to remember the findings, or the
//! validator could be given others. They are kept in Provost's own state, under the plan's hash and
//! signed with the key, so they belong to that text and to no other. A failure is kept there, too: the
//! plan file is the agent's to write, and it may claim something else there.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::digest::Digest;
use super::entries::{self, Critique};
use super::seal::Key;
use crate::decision::Fault;
use crate::workspace::Workspace;

/// An answer that is longer than this is no list of findings.
const LONGEST_ANSWER: usize = 256 << 10;
const LARGEST: u64 = 1 << 20;

pub struct Evidence {
    /// The critic's own words.
    pub answer: String,
    pub critique: Critique,
    pub time: String,
}

impl Evidence {
    /// Keeps what a critic answered about the plan with this hash.
    pub fn keep(answer: &str, plan: Digest, key: &Key, workspace: &Workspace) -> Result<(), Fault> {
        let place = place(plan, workspace)?;
        if Self::find(plan, key, workspace)
            .is_ok_and(|known| known.is_some_and(|known| known.answer == answer))
        {
            return Ok(());
        }
        let record = json!({"plan": plan.to_string(), "critic": answer, "ts": workspace.now()}).to_string();
        let signed = json!({"record": record, "signature": key.sign(&record)});
        workspace.replace_own(&place, signed.to_string().as_bytes())
    }

    /// What a critic answered about the plan with this hash, if that was witnessed.
    pub fn find(plan: Digest, key: &Key, workspace: &Workspace) -> Result<Option<Self>, Fault> {
        let Ok(place) = place(plan, workspace) else { return Ok(None) };
        let Some(text) = workspace.read_text(&place, LARGEST)? else { return Ok(None) };
        Ok(read(&text, plan, key))
    }
}

/// Keeps that a validator failed these texts, whatever is written into the plan afterwards; `None`: it has
/// passed them since.
pub fn keep_failure(
    reason: Option<&str>,
    texts: (Digest, Digest),
    key: &Key,
    workspace: &Workspace,
) -> Result<(), Fault> {
    let place = failure_place(texts, workspace)?;
    let Some(reason) = reason else {
        return if workspace.exists(&place) { workspace.remove(&place) } else { Ok(()) };
    };
    let record = json!({"texts": name_texts(texts), "failed": reason}).to_string();
    let signed = json!({"record": record, "signature": key.sign(&record)});
    workspace.replace_own(&place, signed.to_string().as_bytes())
}

/// Why a validator failed these texts the last time that it judged them.
pub fn failure(texts: (Digest, Digest), key: &Key, workspace: &Workspace) -> Result<Option<String>, Fault> {
    let Ok(place) = failure_place(texts, workspace) else { return Ok(None) };
    let Some(text) = workspace.read_text(&place, LARGEST)? else { return Ok(None) };
    let record = signed_record(&text, key).filter(|record| record["texts"] == name_texts(texts));
    Ok(record.and_then(|record| record["failed"].as_str().map(str::to_owned)))
}

fn name_texts((plan, gaps): (Digest, Digest)) -> String {
    format!("{plan} {gaps}")
}

fn failure_place(texts: (Digest, Digest), workspace: &Workspace) -> Result<PathBuf, Fault> {
    let name = Digest::of(&[name_texts(texts).as_bytes()]).short();
    workspace.own_file("witness", &format!("{name}.failed"))
}

/// What a critic answered, or why that is no answer.
pub fn critique(answer: &str) -> Result<Critique, String> {
    if answer.len() > LONGEST_ANSWER {
        return Err(format!("it is longer than {LONGEST_ANSWER} bytes"));
    }
    entries::critique(answer).map_err(|why| why.to_string())
}

/// A record that was signed with the key.
fn signed_record(text: &str, key: &Key) -> Option<Value> {
    let signed: Value = serde_json::from_str(text).ok()?;
    let record = signed["record"].as_str()?;
    let is_ours = key.signed(signed["signature"].as_str()?, record);
    serde_json::from_str(record).ok().filter(|_| is_ours)
}

fn read(text: &str, plan: Digest, key: &Key) -> Option<Evidence> {
    let record = signed_record(text, key)?;
    if !plan.is(record["plan"].as_str()?) {
        return None;
    }
    let answer = record["critic"].as_str()?.to_owned();
    let critique = entries::critique(&answer).ok()?;
    Some(Evidence { critique, answer, time: record["ts"].as_str().unwrap_or_default().to_owned() })
}

fn place(plan: Digest, workspace: &Workspace) -> Result<PathBuf, Fault> {
    workspace.own_file("witness", &format!("{}.json", plan.short()))
}
