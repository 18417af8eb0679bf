//! The same with the real client as the reviewer.
