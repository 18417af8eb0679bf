//! Quoted substitutions that run because bash evaluates the value around them.
//!
//! Each line of the first list deletes the victim in some version of bash.

use super::hidden::{changes_victim, find_effects};
use crate::effect::Effect;

#[rustfmt::skip]
const EVALUATED: &[&str] = &[
    "RANDOM='a[$(rm victim)]'",
    "SRANDOM='a[$(rm victim)]'",
    "OPTIND='a[$(rm victim)]'",
    "HISTCMD='a[$(rm victim)]'",
    "declare SECONDS='a[$(rm victim)]'",
    r#"RANDOM="a[\$(rm victim)]""#,
    r"RANDOM=a[\$\(rm\ victim\)]",
    r"RANDOM=$'a[\x24(rm victim)]'",
    "RANDOM='a[`rm victim`]'",
    r"RANDOM='a['\`rm\ victim\`']'",
    "RANDOM='1+a[$(rm victim)]'",
    "RANDOM='a[b[$(rm victim)]]'",
    "RANDOM='a[$((0+b[$(rm victim)]))]'",
    "RANDOM='a[${x:-$(rm victim)}]'",
    r#"RANDOM='a["$(rm victim)"]'"#,
    r#"RANDOM="a['\$(rm victim)']""#,
    "RANDOM+='a[$(rm victim)]'",
    "x=1 RANDOM='a[$(rm victim)]'",
    "export RANDOM='a[$(rm victim)]'",
    "export 'RANDOM=a[$(rm victim)]'",
    "declare -g OPTIND='a[$(rm victim)]'",
    "RANDOM=('a[$(rm victim)]')",
    "RANDOM[0]='a[$(rm victim)]'",
    "RANDOM=([0]='a[$(rm victim)]')",
    "x='a[$(rm victim)]'; RANDOM=$x",
    "x='a[$(rm victim)]'; RANDOM=x",
    r#"x='a[$(rm victim)]'; RANDOM="${x}""#,
    "x='[$(rm victim)]'; RANDOM=a$x",
    r#"x='$(rm victim)'; RANDOM="a[$x]""#,
    "RANDOM=$(echo 'a[$(rm victim)]')",
    "RANDOM=$(printf %s 'a[$(rm victim)]')",
    r#"RANDOM="$(cat <<'E'
a[$(rm victim)]
E
)""#,
    "for RANDOM in 'a[$(rm victim)]'; do :; done",
    "for SECONDS in 1 'a[$(rm victim)]'; do :; done",
    "set -- 'a[$(rm victim)]'; for OPTIND; do :; done",
    "select RANDOM in 'a[$(rm victim)]'; do break; done <<< 1",
    "read RANDOM <<< 'a[$(rm victim)]'",
    "read -r x RANDOM <<< '1 a[$(rm victim)]'",
    "echo 'a[$(rm victim)]' | read RANDOM",
    "echo 'a[$(rm victim)]' | while read -r OPTIND; do :; done",
    "read RANDOM <<'E'
a[$(rm victim)]
E",
    "read 'a[$(rm victim)]' <<< 1",
    r#"x='$(rm victim)'; read "a[$x]" <<< 1"#,
    "builtin read RANDOM <<< 'a[$(rm victim)]'",
    "command read RANDOM <<< 'a[$(rm victim)]'",
    "mapfile RANDOM <<< 'a[$(rm victim)]'",
    "readarray -t RANDOM <<< 'a[$(rm victim)]'",
    "printf -v RANDOM %s 'a[$(rm victim)]'",
    "printf -vRANDOM %s 'a[$(rm victim)]'",
    "printf -v 'a[$(rm victim)]' x",
    r#"printf -v"a[\$(rm victim)]" x"#,
    r#"x='$(rm victim)'; printf -v "a[$x]" 1"#,
    "a['$(rm victim)']=1",
    "a['$(rm victim)']+=1",
    "i='b[$(rm victim)]'; a[i]=1",
    "i='b[$(rm victim)]'; a[$i]=1",
    "i='b[$(rm victim)]'; a=([i]=1)",
    "a=(['b[$(rm victim)]']=1)",
    "i='b[$(rm victim)]'; echo ${a[i]}",
    r#"i='b[$(rm victim)]'; echo "${a[$i]}""#,
    "a=(1); unset 'a[$(rm victim)]'",
    r#"a=(1); x='$(rm victim)'; unset "a[$x]""#,
    "a=(1); unset -v 'a[$(rm victim)]'",
    "test -v 'a[$(rm victim)]'",
    "[ -v 'a[$(rm victim)]' ]",
    "[[ -v 'a[$(rm victim)]' ]]",
    "test ! -v 'a[$(rm victim)]'",
    "[[ 1 -eq 'a[$(rm victim)]' ]]",
    "[[ 'a[$(rm victim)]' -lt 1 ]]",
    "x='a[$(rm victim)]'; [[ x -ge 1 ]]",
    "x='a[$(rm victim)]'; [[ $x -ne 1 ]]",
    r#"x='a[$(rm victim)]'; if [[ "$x" -gt 0 ]]; then :; fi"#,
    "declare -i y='a[$(rm victim)]'",
    "declare -gi y='a[$(rm victim)]'",
    "declare -i y; y='a[$(rm victim)]'",
    "declare -i 'y=a[$(rm victim)]'",
    "declare -i y; y+='a[$(rm victim)]'",
    "declare -i y; read y <<< 'a[$(rm victim)]'",
    "declare -i y; for y in 'a[$(rm victim)]'; do :; done",
    "declare -ai y=('a[$(rm victim)]')",
    "typeset -i y='a[$(rm victim)]'",
    "export y; declare -i y; export y='a[$(rm victim)]'",
    "f() { local -i y='a[$(rm victim)]'; }; f",
    "f() { local -i y=$1; }; f 'a[$(rm victim)]'",
    "f() { (( $1 )); }; f 'a[$(rm victim)]'",
    "declare 'y[$(rm victim)]=1'",
    "declare -n r='a[$(rm victim)]'; echo $r",
    "declare -n r; r='a[$(rm victim)]'; r=1",
    "let 'a[$(rm victim)]'",
    "let y='a[$(rm victim)]'",
    "let x=1 'y=a[$(rm victim)]'",
    "x='a[$(rm victim)]'; let y=x",
    r#"x='$(rm victim)'; let "a[$x]""#,
    "x='a[$(rm victim)]'; ((x))",
    "x='a[$(rm victim)]'; ((y=x+1))",
    "x='a[$(rm victim)]'; (( $x ))",
    "x='a[$(rm victim)]'; echo $((x))",
    "x='a[$(rm victim)]'; echo $[x]",
    "x='a[$(rm victim)]' y=$((x))",
    "x='a[$(rm victim)]'; for ((i=x;i<1;i++)); do :; done",
    "x=1; : $((x='$(rm victim)'))",
    "x='a[$(rm victim)]'; y=x; z=y; echo $((z))",
    "v=abc; o='a[$(rm victim)]'; echo ${v:o}",
    "v=abc; o='a[$(rm victim)]'; echo ${v:0:$o}",
    "v=abc; echo ${v:'a[$(rm victim)]'}",
    "v='a[$(rm victim)]'; echo ${!v}",
    "v='$(rm victim)'; echo ${v@P}",
    r#"v='`rm victim`'; echo "${v@P}""#,
    "sleep 0 & wait -n -p 'a[$(rm victim)]'",
    "exec {a['$(rm victim)']}>/dev/null",
    "PS4='$(rm victim)'; set -x; :",
    r#"eval 'RANDOM="a[\$(rm victim)]"'"#,
    r#"bash -c "RANDOM='a[\$(rm victim)]'""#,
    "x='a[$(rm victim)]' bash -c 'echo $((x))'",
    "export x='a[$(rm victim)]'; bash -c '((x))'",
    "env x='a[$(rm victim)]' bash -c 'echo $((x))'",
    "echo 'a[$(rm victim)]' > t; RANDOM=$(cat t)",
    r#"IFS=, read x RANDOM <<< "1,a[\$(rm victim)]""#,
    "RANDOM=$(echo 'a[$(rm vict''im)]')",
    "RANDOM='a[$(
rm victim)]'",
    "if RANDOM='a[$(rm victim)]'; then :; fi",
    "{ RANDOM='a[$(rm victim)]'; } 2>/dev/null",
    "(RANDOM='a[$(rm victim)]')",
    "RANDOM='a[$(rm victim)]' && ls",
    "! RANDOM='a[$(rm victim)]'",
    "case x in x) RANDOM='a[$(rm victim)]';; esac",
    "echo $(RANDOM='a[$(rm victim)]')",
    "cd . && OPTIND='a[$(rm victim)]'",
    "time RANDOM='a[$(rm victim)]'",
    "declare -A m; [[ -v 'm[$(rm victim)]' ]]",
    "declare -A m; unset 'm[$(rm victim)]'",
    r"printf '%s\n' 'a[$(rm victim)]' | mapfile RANDOM",
    "mapfile -C 'rm victim;:' -c 1 b <<< x",
    "compgen -C 'rm victim' foo",
    "[ 'a[$(rm victim)]' -eq 1 ]",
    "x='a[$(rm victim)]'; test x -eq 1",
    "SECONDS='a[$(rm victim)]'",
    "read -r SECONDS <<< 'a[$(rm victim)]'",
    "readonly SECONDS='a[$(rm victim)]'",
];

#[test]
fn a_quoted_substitution_in_an_evaluated_value_is_found() {
    let missed: Vec<&str> = EVALUATED.iter().copied().filter(|line| !changes_victim(line)).collect();
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}

fn is_understood(line: &str) -> bool {
    !find_effects(line).iter().any(|effect| matches!(effect, Effect::Unparsed { .. }))
}

#[test]
fn an_unknown_evaluated_value_is_unparsed() {
    for line in [
        "RANDOM=$x",
        "RANDOM=x",
        "SECONDS=$(cat f)",
        "OPTIND=\"$(cat f)\"",
        "SRANDOM=${x:-1}",
        "HISTCMD=`cat f`",
        "export RANDOM=$x",
        "RANDOM=(1 $x)",
        "for RANDOM in $(cat f); do :; done",
        "while read RANDOM; do :; done < f",
        "read RANDOM < f",
        "mapfile RANDOM < f",
        "printf -v OPTIND %s $x",
        "declare -i n=$x",
        "declare -i n; n=x",
        "local -i n=$1",
        "declare -n r=$x",
        "let n=x",
        "let n=$x",
        "unset \"a[$x]\"",
        "read \"$x\" < f",
        "wait -n -p 'a[x]'",
        "((x))",
        ": $((x='1'))",
        "[[ $x -eq 1 ]]",
        "[[ -v $x ]]",
    ] {
        assert!(!is_understood(line), "{line}: {:?}", find_effects(line));
    }
}

#[test]
fn numbers_and_plain_names_are_understood() {
    for line in [
        "RANDOM=42; echo $RANDOM",
        "RANDOM=$$",
        "SECONDS=0; sleep 1; echo $SECONDS",
        "OPTIND=1",
        "HISTCMD=",
        "for i in 1 2 3; do echo $i; done",
        "echo $((1+2))",
        "echo ${v:0:3}",
        "[ \"$n\" -gt 3 ] && echo many",
        "test -v HOME",
        "[[ $# -eq 1 ]]",
        "export A=1 B=$x",
        "declare -r A=1",
        "unset A B",
        "read -r line < f",
        "wait $pid",
        "x='a[$(ls)]'; echo \"$x\"",
    ] {
        assert!(is_understood(line), "{line}: {:?}", find_effects(line));
    }
}

/// A quoted text stays a text if nothing is evaluated, or if no evaluation can reach it.
#[test]
fn other_quoted_texts_are_texts() {
    for line in [
        "echo 'a[$(rm victim)]'",
        "x='a[$(rm victim)]'; echo \"$x\"",
        "grep -n 'a[`rm victim`]' README.md",
        "git commit -m 'Explain $(rm victim)'; ((n))",
        "git commit -m 'Explain `rm victim`' && echo $((n + 1))",
        "[ \"$n\" -gt 3 ] && echo 'see `rm victim`'",
        "cat > notes.md <<'EOF'\n- [ ] run `rm victim`\nEOF\necho $((n))",
        "cat > notes.md <<'EOF'\n[x]: `rm victim`\nlist[0] and `rm victim`\nEOF\nlet n=n+1",
        "RANDOM=42; echo 'a[$(rm victim)]'",
        "for i in 1 2; do echo 'a[$(rm victim)]'; done",
    ] {
        assert!(!changes_victim(line), "{line}: {:?}", find_effects(line));
    }
}
