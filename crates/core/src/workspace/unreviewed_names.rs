//! Files that programs write, by their names: no reviewer reads them.

/// Lock files of package managers.
const LOCK_FILES: &[&str] = &[
    "Cargo.lock",
    "Gemfile.lock",
    "Package.resolved",
    "Pipfile.lock",
    "Podfile.lock",
    "bun.lock",
    "bun.lockb",
    "composer.lock",
    "deno.lock",
    "flake.lock",
    "go.sum",
    "gradle.lockfile",
    "mix.lock",
    "npm-shrinkwrap.json",
    "package-lock.json",
    "packages.lock.json",
    "pdm.lock",
    "pnpm-lock.yaml",
    "poetry.lock",
    "pubspec.lock",
    "uv.lock",
    "yarn.lock",
];
/// Directories with the code of others.
const VENDORED: &[&str] =
    &["node_modules", "bower_components", "vendor", "third_party", ".yarn", ".venv", "__pycache__"];
const GENERATED_ENDINGS: &[&str] = &[".min.js", ".min.css", ".js.map", ".css.map", "_pb2.py", ".pb.go"];

/// Why a file is not reviewed, by its name; `None`: it is.
pub(super) fn find_generated_name(name: &str) -> Option<&'static str> {
    let (directories, file) = name.rsplit_once('/').unwrap_or(("", name));
    match () {
        () if LOCK_FILES.contains(&file) => Some("a lock file"),
        () if directories.split('/').any(|part| VENDORED.contains(&part)) => Some("vendored"),
        () if GENERATED_ENDINGS.iter().any(|ending| file.ends_with(ending)) => Some("generated"),
        () => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generated_files_are_known_by_their_names() {
        for name in
            ["Cargo.lock", "web/package-lock.json", "vendor/x/a.go", "a/node_modules/b/c.js", "x.min.js"]
        {
            assert!(find_generated_name(name).is_some(), "{name}");
        }
        for name in ["src/lock.rs", "Cargo.toml", "vendor.rs", "src/vendors/a.rs", "min.js", "lock"] {
            assert_eq!(find_generated_name(name), None, "{name}");
        }
    }
}
