//! What a critic was seen to answer about a plan.
//!
//! Between the critic's answer and the validator's, something has to remember the findings, or the
//! validator could be given others. They are kept in Provost's own state, under the plan's hash and
//! signed with the key, so they belong to that text and to no other.

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

/// What a critic answered, if it is an answer, and in measure.
pub fn critique(answer: &str) -> Option<Critique> {
    entries::critique(answer).filter(|_| answer.len() <= LONGEST_ANSWER)
}

fn read(text: &str, plan: Digest, key: &Key) -> Option<Evidence> {
    let signed: Value = serde_json::from_str(text).ok()?;
    let record = signed["record"].as_str()?;
    if !key.signed(signed["signature"].as_str()?, record) {
        return None;
    }
    let record: Value = serde_json::from_str(record).ok()?;
    if !plan.is(record["plan"].as_str()?) {
        return None;
    }
    let answer = record["critic"].as_str()?.to_owned();
    let critique = entries::critique(&answer)?;
    Some(Evidence { critique, answer, time: record["ts"].as_str().unwrap_or_default().to_owned() })
}

fn place(plan: Digest, workspace: &Workspace) -> Result<PathBuf, Fault> {
    workspace.own_file("witness", &format!("{}.json", plan.short()))
}
