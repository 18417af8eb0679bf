//! Variables that change what programs run, read their options from, or load.
//!
//! A reader with `LD_PRELOAD` or `GIT_EXTERNAL_DIFF` in its environment is no reader. The list is
//! of names that are known to steer; a variable that a project invents for itself is not among
//! them, and an assignment that only names it does no harm to the programs that are known here.

/// Whether a variable with this value (`None`: not known) changes what other programs do beyond
/// what their words say.
pub fn steers(name: &str, value: Option<&str>) -> bool {
    match name {
        // A pager that only prints, or none at all, is the harmless way to ask for no pager.
        "PAGER" | "GIT_PAGER" | "MANPAGER" | "DELTA_PAGER" | "BAT_PAGER" => {
            !matches!(value, Some("cat" | ""))
        }
        "GIT_OPTIONAL_LOCKS"
        | "GIT_TERMINAL_PROMPT"
        | "GIT_LITERAL_PATHSPECS"
        | "GIT_GLOB_PATHSPECS"
        | "GIT_NOGLOB_PATHSPECS"
        | "GIT_ICASE_PATHSPECS"
        | "GIT_ADVICE"
        | "GIT_NO_LAZY_FETCH"
        | "GIT_FLUSH"
        | "GIT_MERGE_AUTOEDIT"
        | "GIT_DISCOVERY_ACROSS_FILESYSTEM"
        | "GIT_CEILING_DIRECTORIES"
        | "GIT_REFLOG_ACTION"
        | "GIT_CONFIG_NOSYSTEM" => false,
        "PATH"
        | "BASH_ENV"
        | "ENV"
        | "SHELLOPTS"
        | "BASHOPTS"
        | "IFS"
        | "PS4"
        | "PROMPT_COMMAND"
        | "CDPATH"
        | "GLOBIGNORE"
        | "EXECIGNORE"
        | "POSIXLY_CORRECT"
        | "ZDOTDIR"
        | "FPATH"
        | "HOME"
        | "TMPDIR"
        | "SHELL"
        | "EDITOR"
        | "VISUAL"
        | "BROWSER"
        | "SUDO_ASKPASS"
        | "SSH_ASKPASS"
        | "MANPATH"
        | "MANOPT"
        | "RIPGREP_CONFIG_PATH"
        | "GREP_OPTIONS"
        | "TREE_COLORS"
        | "MAGIC"
        | "AWKPATH"
        | "AWKLIBPATH"
        | "GAWK_READ_TIMEOUT"
        | "NODE_OPTIONS"
        | "NODE_PATH"
        | "RUBYOPT"
        | "RUBYLIB"
        | "PHPRC"
        | "PHP_INI_SCAN_DIR"
        | "LUA_INIT"
        | "LUA_PATH"
        | "LUA_CPATH"
        | "R_PROFILE"
        | "R_PROFILE_USER"
        | "R_ENVIRON"
        | "DART_VM_OPTIONS"
        | "DART_SDK"
        | "FLUTTER_ROOT"
        | "FLUTTER_TOOL_ARGS"
        | "ANDROID_HOME"
        | "JAVA_HOME"
        | "JAVA_TOOL_OPTIONS"
        | "_JAVA_OPTIONS"
        | "JDK_JAVA_OPTIONS"
        | "MAKEFLAGS"
        | "MAKEFILES"
        | "RUSTC_WRAPPER"
        | "RUSTC"
        | "RUSTFLAGS"
        | "GCONV_PATH"
        | "LOCPATH"
        | "NLSPATH"
        | "TERMINFO"
        | "TERMCAP"
        | "HOSTALIASES"
        | "MALLOC_TRACE"
        | "TAR_OPTIONS"
        | "GZIP"
        | "ZIPOPT"
        | "LS_OPTIONS" => true,
        _ => {
            const NAMES: [&str; 2] = ["GIT_AUTHOR_", "GIT_COMMITTER_"];
            const FAMILIES: [&str; 17] = [
                "LD_",
                "DYLD_",
                "GIT_",
                "LESS",
                "PYTHON",
                "PERL",
                "FVM_",
                "PUB_",
                "BUN_",
                "DENO_",
                "XDG_",
                "BASH_FUNC_",
                "GLIBC_",
                "NPM_CONFIG_",
                "npm_config_",
                "CARGO_",
                "SSH_",
            ];
            !NAMES.iter().any(|family| name.starts_with(family))
                && FAMILIES.iter().any(|family| name.starts_with(family))
        }
    }
}
