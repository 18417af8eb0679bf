//! The progress bar: one line on standard error, redrawn in place.

use std::io::{self, Write};

use crate::cli::screen::text_width;

const CELLS: usize = 24;

pub(super) struct Bar {
    is_shown: bool,
    bytes: u64,
    files: usize,
    last: String,
}

impl Bar {
    /// Shows nothing where there is nothing to read.
    pub(super) fn new(is_terminal: bool, bytes: u64, files: usize) -> Self {
        Self { is_shown: is_terminal && files > 0, bytes, files, last: String::new() }
    }

    /// Shows how much is read. An error is no reason to stop.
    pub(super) fn show(&mut self, bytes: u64, files: usize) {
        if !self.is_shown {
            return;
        }
        let line = self.draw(bytes, files);
        if line != self.last {
            let _ = write!(io::stderr(), "\r{line}\x1b[K");
            let _ = io::stderr().flush();
            self.last = line;
        }
    }

    fn draw(&self, bytes: u64, files: usize) -> String {
        let done = bytes.min(self.bytes);
        let scale = |most: u64| done * most / self.bytes.max(1);
        let filled = usize::try_from(scale(CELLS as u64)).unwrap_or(0);
        let bar = "█".repeat(filled) + &"░".repeat(CELLS - filled);
        let line =
            format!("{bar} {:3} %  {files} of {} files, {} MB", scale(100), self.files, done / 1_000_000);
        line.chars().take(text_width()).collect()
    }

    pub(super) fn clear(&mut self) {
        if self.is_shown && !self.last.is_empty() {
            let _ = write!(io::stderr(), "\r\x1b[K");
            let _ = io::stderr().flush();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_fills_up() {
        let bar = Bar::new(false, 2_000_000, 4);
        assert_eq!(bar.draw(0, 0), format!("{}   0 %  0 of 4 files, 0 MB", "░".repeat(CELLS)));
        assert_eq!(bar.draw(9_000_000, 4), format!("{} 100 %  4 of 4 files, 2 MB", "█".repeat(CELLS)));
        assert!(Bar::new(false, 0, 0).draw(5, 0).contains("  0 %"));
    }
}
