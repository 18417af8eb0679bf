//! Prints the effects of a command line: `cargo run -p provost-shell --example effects -- 'rm -rf build > log'`.

#![expect(clippy::disallowed_macros, clippy::disallowed_methods, reason = "only the library must be pure")]

use std::path::Path;

fn main() {
    let line = std::env::args().skip(1).collect::<Vec<_>>().join(" ");
    for effect in provost_shell::effects(&line, Path::new("/project"), Some(Path::new("/home/user"))) {
        println!("{effect:?}");
    }
}
