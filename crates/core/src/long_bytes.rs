//! The bytes of a very long text, in memory that costs nothing until it is used.
//!
//! A plan of many megabytes is read into large pages once and never copied, because touching new memory costs more than
//! all work on the text.

use std::io;

#[cfg(unix)]
type Pages = memmap2::MmapMut;
#[cfg(not(unix))]
type Pages = Vec<u8>;

/// A large block of memory, of which the first bytes are in use.
#[derive(Debug)]
pub struct LongBytes {
    pages: Pages,
    length: usize,
}

impl LongBytes {
    /// Memory for this many bytes, in the largest pages of the system. None of them is in use yet.
    pub fn allocate(capacity: usize) -> io::Result<Self> {
        Ok(Self { pages: allocate_pages(capacity.max(1))?, length: 0 })
    }

    pub fn as_bytes(&self) -> &[u8] {
        &self.pages[..self.length]
    }

    /// All of the memory, including the bytes that are not in use.
    pub fn memory_mut(&mut self) -> &mut [u8] {
        &mut self.pages
    }

    /// Makes the first `length` bytes the ones in use.
    pub fn set_length(&mut self, length: usize) {
        self.length = length.min(self.pages.len());
    }
}

#[cfg(unix)]
fn allocate_pages(length: usize) -> io::Result<Pages> {
    let pages = memmap2::MmapOptions::new().len(length).map_anon()?;
    #[cfg(target_os = "linux")]
    let _ = pages.advise(memmap2::Advice::HugePage);
    Ok(pages)
}

#[cfg(not(unix))]
fn allocate_pages(length: usize) -> io::Result<Pages> {
    Ok(vec![0; length])
}
