//! The seal: proof that this program saw a verdict on exactly these texts.
//!
//! A seal is a keyed digest of the plan's and the gaps' hash. The key is made on first use, readable
//! by its owner only, and closed to tools by the self guard. Whoever cannot read the key cannot make
//! a seal, and a seal of other texts does not fit these.

use hmac_sha256::HMAC;

use super::digest::{Digest, hex};
use crate::decision::Fault;
use crate::workspace::Workspace;

/// What the digest begins with, so that no digest for another purpose can be taken for a seal.
const VERDICT: &[u8] = b"provost plan verdict 1\npass\n";
const EVIDENCE: &[u8] = b"provost plan evidence 1\n";
const KEY_LENGTH: usize = 32;

pub struct Key(Vec<u8>);

impl Key {
    /// The key, if there is one yet. One that others could have read or that has another length
    /// than ours is worse than none.
    pub fn find(workspace: &Workspace) -> Result<Option<Self>, Fault> {
        let Some(key) = workspace.seal_key()? else { return Ok(None) };
        if key.len() != KEY_LENGTH {
            return Err(Fault::Error("the seal key is damaged; take the file away and assess again".into()));
        }
        Ok(Some(Self(key)))
    }

    /// The key, made now if there is none.
    pub fn obtain(workspace: &Workspace) -> Result<Self, Fault> {
        if let Some(key) = Self::find(workspace)? {
            return Ok(key);
        }
        let mut key = [0; KEY_LENGTH];
        getrandom::fill(&mut key).map_err(|error| Fault::Error(format!("no random numbers: {error}")))?;
        workspace.keep_seal_key(&key)?;
        // Another process may have been first.
        Self::find(workspace)?.ok_or_else(|| Fault::Error("the seal key cannot be kept".into()))
    }

    /// The seal of a pass on these texts.
    pub fn seal(&self, plan: Digest, gaps: Digest) -> String {
        hex(&self.verdict(plan, gaps).finalize())
    }

    pub fn fits(&self, seal: &str, plan: Digest, gaps: Digest) -> bool {
        bytes(seal).is_some_and(|seal| self.verdict(plan, gaps).finalize_verify(&seal))
    }

    /// A digest that shows that a record of what was witnessed is ours.
    pub fn sign(&self, record: &str) -> String {
        hex(&self.mac(EVIDENCE, record).finalize())
    }

    pub fn signed(&self, signature: &str, record: &str) -> bool {
        bytes(signature).is_some_and(|signature| self.mac(EVIDENCE, record).finalize_verify(&signature))
    }

    fn verdict(&self, plan: Digest, gaps: Digest) -> HMAC {
        self.mac(VERDICT, &format!("{plan}\n{gaps}\n"))
    }

    fn mac(&self, purpose: &[u8], text: &str) -> HMAC {
        let mut mac = HMAC::new(&self.0);
        mac.update(purpose);
        mac.update(text);
        mac
    }
}

fn bytes(hex: &str) -> Option<[u8; 32]> {
    let digits = hex.as_bytes();
    if digits.len() != 64 || !digits.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    let mut bytes = [0; 32];
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks(2)) {
        *byte = u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seal_fits_its_own_texts_and_key_only() {
        let (plan, gaps) = (Digest::of(&[b"plan"]), Digest::of(&[b"gaps"]));
        let key = Key(vec![7; KEY_LENGTH]);
        let seal = key.seal(plan, gaps);
        assert!(key.fits(&seal, plan, gaps));
        assert!(!key.fits(&seal, gaps, plan));
        assert!(!key.fits(&seal, plan, plan));
        assert!(!Key(vec![8; KEY_LENGTH]).fits(&seal, plan, gaps));
        for forged in ["", "pass", &seal[..62], &seal.replace('a', "g"), &"0".repeat(64), &format!("{seal} ")]
        {
            assert!(!key.fits(forged, plan, gaps), "{forged}");
        }
    }

    #[test]
    fn a_signature_is_no_seal() {
        let (plan, gaps) = (Digest::of(&[b"plan"]), Digest::of(&[b"gaps"]));
        let key = Key(vec![7; KEY_LENGTH]);
        assert!(!key.fits(&key.sign(&format!("pass\n{plan}\n{gaps}\n")), plan, gaps));
        assert!(key.signed(&key.sign("a"), "a") && !key.signed(&key.sign("a"), "b"));
    }
}
