//! The cost of a program's arguments has a bound, for any number of them.

use std::path::Path;

use crate::effects;
use cpu_time::cpu_time;

#[test]
fn long_lists_of_arguments_take_bounded_time() {
    for line in [
        format!("git log{}", " --output=f".repeat(90_000)),
        format!("git log{}", " --made-up".repeat(90_000)),
        format!("git log{}", " --no-made-up".repeat(70_000)),
        format!("git branch{}", " --contains".repeat(90_000)),
        format!("git{} status", " -C a".repeat(180_000)),
        format!("git{} status", " -c a.b=c".repeat(90_000)),
        format!("git commit{}", " -m x".repeat(180_000)),
        format!("git checkout{}", " f".repeat(400_000)),
        "git switch f && git commit && ".repeat(30_000),
        format!("tree -{}", "a".repeat(1_000_000)),
        format!("diff -{}", "x".repeat(1_000_000)),
        format!("diff{}", " --x".repeat(200_000)),
        format!("find .{}", " -exec find .".repeat(70_000)),
        format!("find .{}", " -exec cat {} +".repeat(60_000)),
        format!("find .{}", " -made-up".repeat(100_000)),
        format!("sed '{}'", "b;".repeat(400_000)),
        format!("sed '{}'", "s/a/b/;".repeat(120_000)),
        format!("sed{}", " -e p".repeat(180_000)),
        format!("[{} ]", " -v x".repeat(180_000)),
        format!("[{} ]", " $x".repeat(300_000)),
        format!("fvm{}", " exec fvm".repeat(100_000)),
        format!("fvm exec{}", " fvm exec".repeat(100_000)),
        format!("flutter{}", " -d".repeat(300_000)),
        format!("env{} cat", " env".repeat(250_000)),
        format!("xxd{}", " a".repeat(400_000)),
    ] {
        let (effects_of_line, took) = cpu_time(|| effects(&line, Path::new("/p"), None));
        let name = &line[..line.len().min(30)];
        assert!(took.as_secs() < 10, "{name}: {took:?}");
        assert!(effects_of_line.len() < 900_000, "{name}");
    }
}
