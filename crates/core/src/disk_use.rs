//! What a judgement has asked of the disk, in a workspace of the past.
//!
//! The disk of today may not be the one of then. A judgement that has asked nothing follows from the call alone.

/// What a judgement has asked of the disk.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct DiskUse(u8);

impl DiskUse {
    /// Whether something exists, or is the same file.
    pub const EXISTENCE: Self = Self(1);
    /// What a file holds, the state of a git repository, or Provost's own state.
    pub const CONTENT: Self = Self(2);

    pub fn from_bits(bits: u8) -> Self {
        Self(bits)
    }

    pub fn bits(self) -> u8 {
        self.0
    }

    pub fn is_none(self) -> bool {
        self.0 == 0
    }

    pub fn includes_content(self) -> bool {
        self.0 & Self::CONTENT.0 != 0
    }
}
