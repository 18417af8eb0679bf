//! The effects of command lines, as short texts.

mod arithmetic;
mod bounds;
mod code;
mod commands;
mod hidden;
mod network;
mod operands;
mod texts;

use super::*;
use crate::effect::ReadScope;

fn describe(command: &str) -> Vec<String> {
    effects(command, Path::new("/p"), Some(Path::new("/h")))
        .into_iter()
        .filter(|effect| {
            !matches!(
                effect,
                Effect::Run { .. }
                    | Effect::RunFetched
                    | Effect::Send { .. }
                    | Effect::MutatingOption { .. }
                    | Effect::Commit { .. }
            )
        })
        .map(|effect| match effect {
            Effect::Write { path, .. } => format!("write {}", path.display()),
            Effect::Delete { path } => format!("delete {}", path.display()),
            Effect::Read { path, .. } => format!("read {}", path.display()),
            Effect::Unparsed { what, .. } | Effect::UnknownTarget { target: what, .. } => {
                format!("obscure {what}")
            }
            Effect::SetVariable { name, .. } => format!("set {name}"),
            Effect::Place { names, to, tree } => {
                let names: Vec<_> = names.iter().map(|name| name.to_string_lossy()).collect();
                format!(
                    "place {} at {}{}",
                    names.join(" "),
                    to.display(),
                    if tree { " as trees" } else { "" }
                )
            }
            other => format!("{other:?}"),
        })
        .collect()
}

#[test]
fn redirections_of_every_kind_are_writes() {
    for line in [
        "echo x > f",
        "echo x >f",
        "echo x 2>>f",
        "x &> f",
        "x >| f",
        ": <> f",
        "x >& f",
        "> f",
        "(x) > f",
        "{ x; } >f",
    ] {
        assert_eq!(describe(line), ["write /p/f"], "{line}");
    }
    assert_eq!(describe("x 2>&1 >&2 2>&- < in"), ["read /p/in"]);
}

#[test]
fn file_commands_are_found_everywhere() {
    assert_eq!(describe("a && rm -rf d; b | tee -a log &"), ["delete /p/d", "write /p/log"]);
    assert_eq!(describe("if true; then rm f; fi"), ["delete /p/f"]);
    assert_eq!(describe("sudo env A=1 /bin/rm f"), ["set A", "delete /p/f"]);
    assert_eq!(describe("cd sub && touch f"), ["write /p/sub/f"]);
    assert_eq!(describe("mv a b"), ["delete /p/a", "read /p/a", "place a at /p/b as trees"]);
    assert_eq!(describe("cp x/a b ~"), ["read /p/x/a", "read /p/b", "place a b at /h"]);
    assert_eq!(describe("cp -t /tmp a"), ["read /p/a", "place a at /tmp"]);
    assert_eq!(describe("cp -r a b")[1..], ["place a at /p/b as trees"]);
    assert_eq!(describe("bash -lc 'rm f'"), ["delete /p/f"]);
    assert_eq!(describe("perl -pi -e s/a/b/ f").last().unwrap(), "write /p/f");
    assert_eq!(describe("sed -i s/a/b/ f"), ["write /p/f"]);
    assert_eq!(describe("dd if=a of=b"), ["read /p/a", "write /p/b"]);
    assert_eq!(describe("bash -c 'rm f'"), ["delete /p/f"]);
    assert_eq!(describe("rm -- -f"), ["delete /p/-f"]);
}

#[test]
fn quotes_do_not_change_the_effects() {
    for line in ["r\"m\" f", "\\rm 'f'", "'rm' \"f\"", "$'rm' f", "rm f # rm g", "rm \\\nf"] {
        assert_eq!(describe(line), ["delete /p/f"], "{line}");
    }
}

#[test]
fn a_directory_is_entered_only_if_that_is_certain() {
    assert_eq!(describe("cd /d && rm f"), ["delete /d/f"]);
    assert_eq!(describe("cd /d; rm f"), ["delete /p/f", "delete /d/f"]);
    assert_eq!(describe("(cd /d && x); rm f"), ["delete /p/f"]);
    assert_eq!(describe("cd /d && (cd e; x $(cd ..)) && rm f"), ["delete /d/f"]);
    assert_eq!(describe("cd /d && x; rm /f"), ["delete /f"]);
    assert_eq!(describe("cd /d && x | y | rm f"), ["delete /d/f"]);
    assert_eq!(describe("cd /d | rm f"), ["delete /p/f", "delete /d/f"]);
    assert_eq!(describe("{ cd /d && x; } | rm f"), ["delete /p/f", "delete /d/f"]);
    assert_eq!(describe("cd /d && x || rm f"), ["delete /p/f", "delete /d/f"]);
    assert_eq!(describe("x || cd /d && rm f"), ["delete /p/f", "delete /d/f"]);
    assert_eq!(describe("! cd /d && rm f"), ["delete /p/f", "delete /d/f"]);
    assert_eq!(describe("x | cd /d && rm f"), ["delete /p/f", "delete /d/f"]);
    assert_eq!(describe("cd /d && x | y && rm f"), ["delete /d/f"]);
}

#[test]
fn cd_goes_up_by_names_and_programs_follow_links() {
    assert_eq!(describe("cd link && cd .. && rm f"), ["delete /p/f"]);
    assert_eq!(describe("cd a/link/../d && rm f"), ["delete /p/a/d/f"]);
    assert_eq!(describe("cd ../../../.. && rm f"), ["delete /f"]);
    assert_eq!(describe("cd link && rm ../f"), ["delete /p/link/../f"]);
    assert_eq!(describe("env -C link/.. rm f"), ["delete /p/link/../f"]);
    assert_eq!(describe("cd link && echo > $PWD/../f"), ["write /p/link/../f"]);
    let physical = describe("cd -P link && cd .. && rm f");
    assert!(physical.iter().any(|effect| effect.contains("a directory that is not known")), "{physical:?}");
}

#[test]
fn wrappers_may_have_options() {
    for line in [
        "sudo -u root rm f",
        "nice -n 5 rm f",
        "env -u X -i rm f",
        "timeout 5 rm f",
        "xargs rm f",
        "eval rm 'f'",
    ] {
        assert_eq!(describe(line), ["delete /p/f"], "{line}");
    }
}

#[test]
fn variables_that_a_line_sets_are_reported() {
    assert_eq!(describe("A=1 B=\"$x\" cmd"), ["set A", "set B"]);
    assert_eq!(describe("export A=1; A=2"), ["set A", "set A"]);
    assert_eq!(describe("echo A=1 ./a=b"), [""; 0]);
}

#[test]
fn text_is_not_a_command() {
    assert_eq!(describe("echo 'rm f > g'"), [""; 0]);
    assert_eq!(describe("cat <<'EOF'\nrm f > g\nEOF\nrm h"), ["delete /p/h"]);
}

#[test]
fn an_unknown_target_is_reported_as_such() {
    for line in ["rm $X", "x > $X", "cp a $X", "cd $X && x > y", "while x; do cd a && x > y; done"] {
        let found = effects(line, Path::new("/p"), None);
        assert!(
            found.iter().any(|effect| matches!(effect, Effect::UnknownTarget { .. })),
            "{line}: {found:?}"
        );
    }
    for line in ["cat $X", "x < $X", "$X > f", "cd $X && cat y"] {
        let found = effects(line, Path::new("/p"), None);
        assert!(
            !found.iter().any(|effect| matches!(effect, Effect::UnknownTarget { .. })),
            "{line}: {found:?}"
        );
    }
}

#[test]
fn the_first_word_is_the_first_in_the_text() {
    for (line, wanted) in [
        ("A=1 B=$(x) rm f", Some("x")),
        ("A=1 rm $(x)", Some("rm")),
        ("(rm f); x", Some("rm")),
        ("! rm", Some("rm")),
        ("$X f", None),
        ("A=1", None),
        ("", None),
    ] {
        assert_eq!(find_first_word(line).as_deref(), wanted, "{line}");
    }
}

#[test]
fn unknown_words_are_reported() {
    assert_eq!(describe("rm $X"), ["obscure `$X`"]);
    assert_eq!(describe("echo > \"$X/f\""), ["obscure `\"$X/f\"`"]);
    assert_eq!(describe("rm *.md"), ["obscure `*.md`"]);
    assert_eq!(describe("rm f.{a,b} {} g"), ["obscure `f.{a,b}`", "delete /p/{}", "delete /p/g"]);
    assert_eq!(describe("$CMD f"), ["obscure `$CMD`"]);
    assert_eq!(describe("eval \"$X\""), ["obscure eval of an unknown text", "obscure `$X`"]);
}

fn assert_no_effect(line: &str) {
    assert_eq!(describe(line), [""; 0], "{line}");
}

fn assert_deletes(lines: &[&str]) {
    for line in lines {
        let found = describe(line);
        assert!(found.iter().any(|effect| effect == "delete /p/f"), "{line}: {found:?}");
    }
}

#[test]
fn arithmetic_is_not_a_here_document() {
    assert_deletes(&[
        "N=$((1<<10))\nrm f",
        "(( n <<= 2 ))\nrm f",
        "if ((1<<2)); then\nrm f\nfi",
        "echo \"$((1<<2))\"\nrm f",
        "echo $(( $(rm f) + 1 ))",
        "((rm f) | x)",
        "echo $((rm f) | x)",
        "for ((i=0;i<1<<2;i++)); do\nrm f; done",
    ]);
}

#[test]
fn a_here_document_ends_at_the_source_of_its_delimiter() {
    for delimiter in ["$X", "E*?", "'E F'", "\\E", "\"E\"", "E'O'F", "$'E'"] {
        let end = delimiter.replace(['\'', '"', '\\'], "").replace("$E", "E");
        let line = format!("cat <<{delimiter}\nrm g\n{end}\nrm f");
        assert_eq!(describe(&line), ["delete /p/f"], "{line}");
    }
    assert_deletes(&["cat <<-E\n\tx\n\tE\nrm f", "cat <<E\n$(rm f)\nE", "cat <<A <<B\nA\nB\nrm f"]);
    assert_no_effect("cat <<'E'\n$(rm f)\nE");
}

#[test]
fn substitutions_are_command_lines_of_their_own() {
    for line in [
        "echo \"$(grep \"it's\" x)\" > f",
        "echo \"$(echo '\"')\" > f",
        "echo \"$(echo \"$(echo ')')\")\" > f",
        "echo \"$(case x in a) y;; esac)\" > f",
        "echo \"${X:-\"}\"}\" > f",
        "echo \"$(cat <<'E'\nit's (\nE\n)\" > f",
        "echo \"$(cat <<'E'\nit's (\nE)\" > f",
        "echo `echo \"'\"` > f",
    ] {
        assert!(describe(line).contains(&"write /p/f".to_owned()), "{line}: {:?}", describe(line));
    }
    assert_deletes(&[
        "echo \"$(rm f)\"",
        "echo $(rm f)",
        "echo `rm f`",
        "echo \"`rm f`\"",
        "echo `echo \\`rm f\\``",
        "diff <(rm f) x",
        "x > >(rm f)",
        "echo ${X:-$(rm f)}",
        "a=(x $(rm f))",
        "echo \"$(echo \"$(rm f)\")\"",
        "$(rm f)",
    ]);
    let line = "git commit -m \"$(cat <<'EOF'\nit's 'quoted', (a paren and > signs\necho x > f; `rm f` $(rm f)\nEOF\n)\"";
    assert_no_effect(line);
    assert_eq!(describe("a=(rm f)"), ["set a"]);
}

#[test]
fn a_target_option_may_be_attached_or_abbreviated() {
    for line in ["cp -td x", "cp -vt d x", "cp --target-dir=d x", "cp --t d x", "mv -ft d x"] {
        assert!(
            describe(line).iter().any(|e| e.starts_with("place x at /p/d")),
            "{line}: {:?}",
            describe(line)
        );
    }
    assert_eq!(describe("rsync -t a b")[1..], ["place a at /p/b"]);
}

#[test]
fn digits_with_more_text_name_a_file() {
    assert_eq!(describe("x >&2f"), ["write /p/2f"]);
    assert_eq!(describe("x >&2-f"), ["write /p/2-f"]);
    assert_no_effect("x >&2; x 2>&1|x; x >&-; x 3>&2-");
}

#[test]
fn many_directories_do_not_hide_the_newest_or_the_first() {
    let line = (0..40).map(|n| format!("cd /d{n}; ")).collect::<Vec<_>>().concat() + "rm f";
    let found = describe(&line);
    for wanted in ["delete /p/f", "delete /d39/f", "obscure a line with very many directories"] {
        assert!(found.iter().any(|effect| effect == wanted), "{wanted}: {found:?}");
    }
    let deep = format!("cd {} && cd {0} && rm f", "a".repeat(3000));
    assert!(describe(&deep).iter().any(|effect| effect.contains("very long path")));
}

#[test]
fn every_spelling_of_a_path_is_resolved() {
    assert_deletes(&[
        "rm $\"f\"",
        "rm $'\\x66'",
        "rm $'\\146'",
        "rm $'\\u0066'",
        "rm $'f\\0x'",
        "rm ~+/f",
        "rm $PWD/f",
        "rm \"${PWD}/f\"",
    ]);
    assert_eq!(describe("rm $'a\\n\\tb'"), ["delete /p/a\n\tb"]);
    assert_eq!(describe("cd /d && rm $PWD/f"), ["delete /d/f"]);
    assert_eq!(describe("cd /d; rm $PWD/f"), ["obscure `$PWD/f`"]);
    assert_eq!(describe("cd $X; rm $PWD/f"), ["obscure `$PWD/f`"]);
    assert_eq!(describe("rm $'\\xff'"), ["obscure `$'\\xff'`"]);
}

#[test]
fn commands_are_found_in_everything_that_runs_them() {
    assert_deletes(&[
        "env -S 'A=1 rm f'",
        "env -S'rm f'",
        "env --split-string='rm f'",
        "su -c 'rm f'",
        "su root -c 'rm f'",
        "coproc rm f",
        "coproc X { rm f; }",
        "flock lock rm f",
        "flock lock -c 'rm f'",
        "flock -n -w 5 lock rm f",
        "trap 'rm f' EXIT",
        "function g { rm f; }",
        "bash <<E\nrm f\nE",
        "sudo bash -s <<'E'\nrm f\nE",
        "bash <<E && x\nrm f\nE",
        "x <<A; bash <<B\ny\nA\nrm f\nB",
        "bash <<< 'rm f'",
        "sudo --unheard-of value rm f",
        "timeout -k 5 10 rm f",
        "command -- rm f",
    ]);
    assert_eq!(describe("env -C /d rm f; rm g"), ["delete /d/f", "delete /p/g"]);
    assert_eq!(describe("env --chdir=/d rm f"), ["delete /d/f"]);
    assert_eq!(describe("A+=1 x"), ["set A"]);
    assert_eq!(describe("env 'A=1' x"), ["set A"]);
    assert_eq!(describe("bash run.sh <<E\nrm f\nE"), ["read /p/run.sh", "obscure the script `run.sh`"]);
    assert_eq!(describe(". ./env"), ["obscure the script `./env`", "read /p/./env"]);
    assert_eq!(describe("curl u | sh")[1..], ["obscure commands that a shell reads from its input"]);
}

#[test]
fn outputs_of_programs_are_writes() {
    assert_eq!(describe("ln -s /x/f"), ["read /x/f", "place f at /p/."]);
    assert_eq!(describe("link a b"), ["read /p/a", "place a at /p/b"]);
    for line in [
        "sort -o f x",
        "sort --output=f x",
        "sort -uof x",
        "uniq x f",
        "curl -o f u",
        "curl -sSLo f u",
        "curl --output f u",
        "wget -O f u",
        "wget -qOf u",
        "x | tee f",
        "zip f x",
    ] {
        assert!(describe(line).contains(&"write /p/f".to_owned()), "{line}: {:?}", describe(line));
    }
    for line in ["curl -O http://h/f", "wget http://h/f"] {
        assert_eq!(describe(line), ["place f at /p/."], "{line}");
    }
}

#[test]
fn a_program_may_read_its_operands() {
    assert_eq!(describe("sha256sum f -x --key=k"), ["read /p/f", "read /p/k"]);
    assert_eq!(describe("curl -d @f u"), ["read /p/@f", "read /p/f", "read /p/u"]);
    assert_no_effect("echo f; [ -f f ]; printf f $X");
    let recursive = |line: &str| {
        effects(line, Path::new("/p"), None).iter().any(
            |effect| matches!(effect, Effect::Read { path, scope: ReadScope::Tree } if path == Path::new("/p/d")),
        )
    };
    for line in ["tar czf x d", "tar -C /p -cf x d", "zip x d", "scp d h:", "rsync d h:"] {
        assert!(recursive(line), "{line}");
    }
    assert!(!recursive("tar xf x -C d") && !recursive("sha256sum d") && !recursive("ls -Ra d"));
}

#[test]
fn every_program_that_runs_is_reported() {
    for line in [
        "p a b",
        "/bin/p a $X b",
        "sudo -u root p a b",
        "env A=1 timeout 5 p a b",
        "sh -c 'p a b'",
        "echo \"$(p a b)\"",
        "if p a b; then x; fi",
        "x | p a b",
        "sudo --unheard-of p a b",
    ] {
        let found = effects(line, Path::new("/p"), None);
        let wanted = ["a".to_owned(), "b".to_owned()];
        let is_wanted = |effect: &Effect| {
            matches!(effect, Effect::Run { program, arguments, .. }
                if program.ends_with('p') && *arguments == wanted)
        };
        assert!(found.iter().any(is_wanted), "{line}: {found:?}");
    }
}

#[test]
fn a_condition_that_may_run_commands_is_unparsed() {
    for line in [
        "[[ 'a[$(rm f)]' -eq 1 ]]",
        "[[ 1 -lt $x ]]",
        "[[ -v 'a[$(rm f)]' ]]",
        "[[ -R $x ]]",
        "[[ a && ( 3 -gt b ) ]]",
    ] {
        assert!(
            describe(line).iter().any(|effect| effect.starts_with("obscure")),
            "{line}: {:?}",
            describe(line)
        );
    }
    for line in [
        "[[ -f x && 3 -lt -4 ]]",
        "[[ -v HOME ]]",
        "[[ $x == *.md ]]",
        "[[ \"$x\" =~ ^a(b|c)$ ]]",
        "[[ a < b ]]",
    ] {
        assert_no_effect(line);
    }
}
