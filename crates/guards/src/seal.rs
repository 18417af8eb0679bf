//! The seal: proof that Provost witnessed a pass, or the user's approval, for exactly these texts.
//!
//! A seal is a keyed digest. Provost creates the key on first use. Only its owner can read it, and the self guard
//! denies it to tools. Without the key nobody can make a seal, and a seal of other texts does not fit these.

use crate::prelude::*;
use hmac_sha256::HMAC;

use crate::plan_gate::digest::{Digest, hex};
use provost_core::opinion::Fault;
use provost_core::workspace::Workspace;

/// Prefixes of the signed text, so that no digest for another purpose can pass for a seal.
const VERDICT: &[u8] = b"provost plan verdict 1\npass\n";
const EVIDENCE: &[u8] = b"provost plan evidence 1\n";
const APPROVAL: &[u8] = b"provost workflow approval 1\n";
const UNCHANGED: &[u8] = b"provost workflow list 1\n";
const KEY_LENGTH: usize = 32;

pub struct SealKey(Vec<u8>);

impl SealKey {
    /// The key, if there is one. A key that others could read, or of a wrong length, is a fault.
    pub fn load(workspace: &Workspace) -> Result<Option<Self>, Fault> {
        let Some(key) = workspace.read_seal_key()? else { return Ok(None) };
        if key.len() != KEY_LENGTH {
            return Err(Fault::Error("the seal key is damaged; take the file away and assess again".into()));
        }
        Ok(Some(Self(key)))
    }

    /// The key. Creates one if there is none.
    pub fn load_or_create(workspace: &Workspace) -> Result<Self, Fault> {
        if let Some(key) = Self::load(workspace)? {
            return Ok(key);
        }
        let mut key = [0; KEY_LENGTH];
        workspace.fill_random(&mut key)?;
        workspace.save_seal_key(&key)?;
        // Another process may have created one first.
        Self::load(workspace)?.ok_or_else(|| Fault::Error("the seal key cannot be kept".into()))
    }

    /// The seal of a pass on these texts.
    pub fn seal_texts(&self, plan: Digest, gaps: Digest) -> String {
        hex(&self.digest_verdict(plan, gaps).finalize())
    }

    pub fn fits(&self, seal: &str, plan: Digest, gaps: Digest) -> bool {
        decode_hex(seal).is_some_and(|seal| self.digest_verdict(plan, gaps).finalize_verify(&seal))
    }

    /// The signature of a record of witnessed answers.
    pub fn sign(&self, record: &str) -> String {
        hex(&self.digest(EVIDENCE, record).finalize())
    }

    pub fn is_signed(&self, signature: &str, record: &str) -> bool {
        decode_hex(signature)
            .is_some_and(|signature| self.digest(EVIDENCE, record).finalize_verify(&signature))
    }

    /// The seal of the user's approval.
    pub fn seal_approval(&self, record: &str) -> String {
        hex(&self.digest(APPROVAL, record).finalize())
    }

    pub fn is_approval(&self, seal: &str, record: &str) -> bool {
        decode_hex(seal).is_some_and(|seal| self.digest(APPROVAL, record).finalize_verify(&seal))
    }

    /// The seal of a list of files that need not be read again.
    pub fn seal_list(&self, list: &str) -> String {
        hex(&self.digest(UNCHANGED, list).finalize())
    }

    pub fn is_list(&self, seal: &str, list: &str) -> bool {
        decode_hex(seal).is_some_and(|seal| self.digest(UNCHANGED, list).finalize_verify(&seal))
    }

    fn digest_verdict(&self, plan: Digest, gaps: Digest) -> HMAC {
        self.digest(VERDICT, &format!("{plan}\n{gaps}\n"))
    }

    fn digest(&self, purpose: &[u8], text: &str) -> HMAC {
        let mut mac = HMAC::new(&self.0);
        mac.update(purpose);
        mac.update(text);
        mac
    }
}

fn decode_hex(hex: &str) -> Option<[u8; 32]> {
    let is_hex = hex.len() == 64 && hex.bytes().all(|digit| digit.is_ascii_hexdigit());
    let mut bytes = [0; 32];
    for (at, byte) in bytes.iter_mut().enumerate().filter(|_| is_hex) {
        *byte = u8::from_str_radix(&hex[2 * at..2 * at + 2], 16).ok()?;
    }
    is_hex.then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seal_fits_its_own_texts_and_key_only() {
        let (plan, gaps) = (Digest::hash_text(&[b"plan"]), Digest::hash_text(&[b"gaps"]));
        let key = SealKey(vec![7; KEY_LENGTH]);
        let seal = key.seal_texts(plan, gaps);
        assert!(key.fits(&seal, plan, gaps));
        assert!(!key.fits(&seal, gaps, plan));
        assert!(!key.fits(&seal, plan, plan));
        assert!(!SealKey(vec![8; KEY_LENGTH]).fits(&seal, plan, gaps));
        for forged in ["", "pass", &seal[..62], &seal.replace('a', "g"), &"0".repeat(64), &format!("{seal} ")]
        {
            assert!(!key.fits(forged, plan, gaps), "{forged}");
        }
    }

    #[test]
    fn a_signature_does_not_pass_for_a_seal() {
        let (plan, gaps) = (Digest::hash_text(&[b"plan"]), Digest::hash_text(&[b"gaps"]));
        let key = SealKey(vec![7; KEY_LENGTH]);
        assert!(!key.fits(&key.sign(&format!("pass\n{plan}\n{gaps}\n")), plan, gaps));
        assert!(key.is_signed(&key.sign("a"), "a") && !key.is_signed(&key.sign("a"), "b"));
        assert!(key.is_approval(&key.seal_approval("a"), "a") && !key.is_approval(&key.sign("a"), "a"));
    }
}
