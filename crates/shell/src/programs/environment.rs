//! Variables that change what programs run, read their options from, or load.
//!
//! A reading program with `LD_PRELOAD` or `GIT_EXTERNAL_DIFF` in its environment can do anything. The lists hold the
//! names that are known to steer programs. Any other variable does nothing to the programs that are known here.

/// Harmless members of the families below.
#[rustfmt::skip]
const HARMLESS: &[&str] = &[
    "GIT_ADVICE", "GIT_CEILING_DIRECTORIES", "GIT_CONFIG_NOSYSTEM", "GIT_DISCOVERY_ACROSS_FILESYSTEM",
    "GIT_FLUSH", "GIT_GLOB_PATHSPECS", "GIT_ICASE_PATHSPECS", "GIT_LITERAL_PATHSPECS", "GIT_MERGE_AUTOEDIT",
    "GIT_NOGLOB_PATHSPECS", "GIT_NO_LAZY_FETCH", "GIT_OPTIONAL_LOCKS", "GIT_REFLOG_ACTION",
    "GIT_TERMINAL_PROMPT", "LESSCHARSET", "PYTHONDONTWRITEBYTECODE", "PYTHONUNBUFFERED",
];

#[rustfmt::skip]
const STEERING: &[&str] = &[
    "ANDROID_HOME", "AWKLIBPATH", "AWKPATH", "BASHOPTS", "BASH_ENV", "BROWSER", "CDPATH", "DART_SDK",
    "DART_VM_OPTIONS", "EDITOR", "ENV", "EXECIGNORE", "FLUTTER_ROOT", "FLUTTER_TOOL_ARGS", "FPATH",
    "GCONV_PATH", "GLOBIGNORE", "GNUPGHOME", "GREP_OPTIONS", "GZIP", "HOME", "HOSTALIASES", "IFS",
    "JAVA_HOME", "JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "KRB5_CONFIG", "KRB5_TRACE", "LOCPATH",
    "LUA_CPATH", "LUA_INIT", "LUA_PATH", "MAGIC", "MAKEFILES", "MAKEFLAGS", "MALLOC_TRACE", "MANOPT",
    "MANPATH", "NLSPATH", "NODE_OPTIONS", "NODE_PATH", "OPENSSL_CONF", "OPENSSL_ENGINES", "OPENSSL_MODULES",
    "PATH", "PHPRC", "PHP_INI_SCAN_DIR", "POSIXLY_CORRECT", "PROMPT_COMMAND", "PS4", "PWD",
    "RIPGREP_CONFIG_PATH", "RUBYLIB", "RUBYOPT", "RUSTC", "RUSTC_WRAPPER", "RUSTFLAGS", "R_ENVIRON",
    "R_PROFILE", "R_PROFILE_USER", "SHELL", "SHELLOPTS", "SSLKEYLOGFILE", "SUDO_ASKPASS", "TAR_OPTIONS",
    "TERMCAP", "TERMINFO", "TMPDIR", "VISUAL", "ZDOTDIR", "ZIPOPT", "_JAVA_OPTIONS",
];

#[rustfmt::skip]
const FAMILIES: &[&str] = &[
    "BASH_FUNC_", "BUN_", "CARGO_", "DENO_", "DYLD_", "FVM_", "GIT_", "GLIBC_", "LD_", "LESS", "NPM_CONFIG_",
    "PERL", "PUB_", "PYTHON", "SSH_", "XDG_", "npm_config_",
];

/// Whether a variable with this value (`None` if unknown) changes what programs do, beyond what their arguments say.
pub fn variable_steers_programs(name: &str, value: Option<&str>) -> bool {
    // `cat` and an empty value are the harmless ways to turn the pager off.
    if matches!(name, "PAGER" | "GIT_PAGER" | "MANPAGER") {
        return !matches!(value, Some("cat" | ""));
    }
    let is_person = name.starts_with("GIT_AUTHOR_") || name.starts_with("GIT_COMMITTER_");
    !is_person
        && HARMLESS.binary_search(&name).is_err()
        && (STEERING.binary_search(&name).is_ok() || FAMILIES.iter().any(|family| name.starts_with(family)))
}

#[cfg(test)]
mod tests {
    use super::{FAMILIES, HARMLESS, STEERING, variable_steers_programs};

    #[test]
    fn the_lists_are_sorted() {
        assert!(HARMLESS.is_sorted() && STEERING.is_sorted() && FAMILIES.is_sorted());
    }

    #[test]
    fn variables_that_choose_programs_steer() {
        for name in [
            "LD_PRELOAD",
            "DYLD_INSERT_LIBRARIES",
            "PATH",
            "GIT_EXTERNAL_DIFF",
            "GIT_SSH_COMMAND",
            "GIT_DIR",
            "GIT_CONFIG_COUNT",
            "BASH_ENV",
            "ENV",
            "IFS",
            "PS4",
            "PWD",
            "SSLKEYLOGFILE",
            "OPENSSL_CONF",
            "PROMPT_COMMAND",
            "RIPGREP_CONFIG_PATH",
            "LESSOPEN",
            "LESS",
            "EDITOR",
            "VISUAL",
            "PYTHONPATH",
            "PYTHONSTARTUP",
            "NODE_OPTIONS",
            "RUBYOPT",
            "PERL5OPT",
            "PERL5LIB",
            "DART_VM_OPTIONS",
            "FLUTTER_ROOT",
            "FVM_HOME",
            "PUB_CACHE",
            "JAVA_TOOL_OPTIONS",
            "HOME",
            "XDG_CONFIG_HOME",
            "SHELLOPTS",
            "BASHOPTS",
            "CDPATH",
            "BROWSER",
        ] {
            assert!(variable_steers_programs(name, Some("x")), "{name}");
        }
        for (name, value) in [("PAGER", Some("less")), ("GIT_PAGER", None), ("MANPAGER", Some("sh -c x"))] {
            assert!(variable_steers_programs(name, value), "{name}");
        }
    }

    #[test]
    fn other_variables_do_not() {
        for name in [
            "A",
            "FOO",
            "LANG",
            "LC_ALL",
            "TZ",
            "NO_COLOR",
            "CI",
            "TERM",
            "COLUMNS",
            "RUST_BACKTRACE",
            "GIT_OPTIONAL_LOCKS",
            "GIT_TERMINAL_PROMPT",
            "GIT_AUTHOR_NAME",
            "GIT_COMMITTER_DATE",
        ] {
            assert!(!variable_steers_programs(name, None), "{name}");
        }
        assert!(
            !variable_steers_programs("PAGER", Some("cat"))
                && !variable_steers_programs("GIT_PAGER", Some(""))
        );
    }
}
