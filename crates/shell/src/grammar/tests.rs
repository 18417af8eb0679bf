//! Which commands the parser finds, and which constructs it does not understand.

use super::*;
use crate::Budget;

/// The first word of every simple command, in the order of parsing, with `?` for each syntax error, and the text
/// between backticks as it is.
fn list_programs(line: &str) -> String {
    list_programs_as(line, TextKind::Commands)
}

fn list_programs_as(line: &str, kind: TextKind) -> String {
    let work = Budget::for_line(line);
    let steps = Parser::new(line, kind, None, &work).filter_map(|step| match step {
        SyntaxEvent::Simple(command) => {
            let first = command.words.iter().find(|word| word.assigned_name().is_none());
            Some(first.map_or("=".to_owned(), |word| word.text().unwrap_or("$").to_owned()))
        }
        SyntaxEvent::NotUnderstood { .. } => Some("?".into()),
        SyntaxEvent::Commands(text) => Some(format!("`{text}`")),
        SyntaxEvent::Body { text, quoted: false, .. } => {
            Some(format!("<{}>", list_programs_as(text, TextKind::Text)))
        }
        _ => None,
    });
    steps.collect::<Vec<_>>().join(" ")
}

fn first_error(line: &str) -> Option<(String, usize)> {
    let work = Budget::for_line(line);
    Parser::new(line, TextKind::Commands, None, &work).find_map(|step| match step {
        SyntaxEvent::NotUnderstood { what, at } => Some((what.into_owned(), at)),
        _ => None,
    })
}

fn describe_words(line: &str) -> Vec<(String, bool, bool)> {
    let work = Budget::for_line(line);
    let commands = Parser::new(line, TextKind::Commands, Some("/h"), &work).filter_map(|step| match step {
        SyntaxEvent::Simple(command) => Some(command),
        _ => None,
    });
    commands
        .last()
        .unwrap()
        .words
        .iter()
        .map(|word| (word.prefix().to_owned(), word.text().is_some(), word.may_be_option()))
        .collect()
}

#[test]
fn every_command_of_every_construct_is_found() {
    for (line, wanted) in [
        ("a; b && c || d | e |& f & g", "a b c d e f g"),
        ("(a; (b)) && { c; d; }", "a b c d"),
        ("( (a) ); ( ( b ) )", "a b"),
        ("if a; then b; elif c; then d; else e; fi", "a b c d e"),
        ("if (a) then b; fi; if { a; } then b; fi", "a b a b"),
        ("while a; do b; done; until c; do d; done", "a b c d"),
        ("for x in $(a) b; do c \"$x\"; done", "a c"),
        ("for x\ndo a; done; for x; do b; done; for x in; do c; done", "a b c"),
        ("select x in a b; do c; done", "c"),
        ("case $(a) in (x|y) b;; \"$(z)\") c;& *) d;;& esac; e", "a b z c d e"),
        ("case x in esac; a", "a"),
        ("echo $(case x in a) b;; esac)", "b echo"),
        ("while read -r x; do case $x in a) b;; esac; done < f | c", "read b = c"),
        ("[[ $(a) == x* && ! -f y || ( z < w ) ]] && b", "a [[ b"),
        ("[[ $x =~ ^(a|b)+$ ]] && c", "[[ c"),
        ("a <(b) > >(c)", "b c a"),
        ("x=$(a) y=(b $(c)) d", "a c d"),
        ("a \"$(b \"$(c)\")\" ${x:-$(d)} ${y#$(e)} \"${z%\"$(f)\"}\"", "c b d e f a"),
        ("a <<E b\n$(c) text\nE\nd", "a <c> d"),
        ("a <<'E'\n$(c)\nE\nd", "a d"),
        ("a <<-E\n\t$(c)\n\tE\nd", "a <c> d"),
        ("a <<A <<B\n$(b)\nA\n$(c)\nB\nd", "a <b> <c> d"),
        ("a \"$(b <<E\n(\nE\n)\" c", "b <> a"),
        ("a <<E\nx\\\nE\n$(b)\nE\nc", "a <b> c"),
        ("x=$(for y in a; do b; done) c; (if d; then e; fi)", "b c d e"),
        ("x $(while a; do b; done) $(case c in d) e;; esac) $({ f; }) $([[ g ]])", "a b e f [[ x"),
        ("(while a; do b; done)|c; { (d)&&e; }>f;if g;then h;fi", "a b c d e = g h"),
        ("! a; time b; time -p c", "a b c"),
        ("a # b\nc # d", "a c"),
        ("a \\\n b; c\\\nd", "a cd"),
        ("a;\n\n\nb &&\nc", "a b c"),
        ("git log | grep x | head -3\nMARK x && ls", "git grep head MARK ls"),
        ("ls ==\nMARK", "ls MARK"),
        ("ls a =~\nMARK", "ls MARK"),
        ("a `b` \"`c \\\"d\\\"`\"", "`b` `c \"d\"` a"),
        ("a ${x:-`MARK`}", "`MARK` a"),
        ("echo `a`\n\necho ` MARK`", "`a` echo ` MARK` echo"),
        ("{fd}> f a 2>&1 <&3 >&- &> g", "a"),
        ("> f", "="),
        ("echo $((1 + 2)) $(( (3) * 4 ))", "echo"),
        ("((1 < 2)) && a", "a"),
        ("a {b,c} d{1..3} HEAD@{1} {} @{u}", "a"),
        ("a$(b)c", "b $"),
    ] {
        assert_eq!(list_programs(line), wanted, "{line}");
    }
}

#[test]
fn constructs_that_depend_on_values_are_reported_and_parsed() {
    for (line, wanted) in [
        ("f() { a; }; f", "? a f"),
        ("function f { a; }", "? a"),
        ("function f() { a; }", "? a"),
        ("coproc a", "? a"),
        ("coproc X { a; }", "? a"),
        ("((x + 1))", "?"),
        ("echo $((x)) $[1] $((a[1]))", "? ? ? echo"),
        ("echo $(( $(a) ))", "? a echo"),
        ("((MARK) )", "? MARK"),
        ("echo $((MARK); ls)", "? MARK ls echo"),
        ("echo $(($((MARK); ls)); ls)", "? ? MARK ls MARK ls $ ls echo"),
        ("echo ${!x} ${x@P} ${a[b]} ${x:y}", "? ? ? ? echo"),
        ("a=([$(b)]=c)", "b ? ="),
        ("for ((i=0; i<3; i++)); do a; done", "? a"),
        ("a=(b); echo ${a[@]} ${a[0]} ${#a[*]} ${#x} ${x:1:2} ${x: -1}", "= echo"),
        ("echo \"$(cat <<'E'\nx\nE)\" y", "cat ? echo"),
    ] {
        assert_eq!(list_programs(line), wanted, "{line}");
    }
}

#[test]
fn a_syntax_error_has_a_name_and_a_position() {
    for (line, what, at) in [
        ("a 'b", "a quote that is never closed", 2),
        ("a \"b", "a quote that is never closed", 2),
        ("a; (b", "`(` that is never closed", 3),
        ("a $(b", "a substitution that is never closed", 2),
        ("if a; then b", "`if` without `fi`", 2),
        ("a; fi", "`fi` that belongs to nothing", 3),
        ("a )", "`)` that closes nothing", 2),
        ("a;; b", "`;;` outside `case`", 1),
        ("a &&& b", "an operator without a command", 4),
        ("; a", "an operator without a command", 0),
        ("a >", "a redirection without a target", 3),
        ("a > > b", "a redirection without a target", 4),
        ("a (b)", "`(` among the words of a command", 2),
        ("ls +(a)", "`(` among the words of a command", 4),
        ("ls *(e:a:)", "an extended pattern", 3),
        ("a ${ b; }", "`${` with commands", 2),
        ("\"${x:-'$(a)'}\"", "a quote in `${` between quotes", 6),
        ("a <<E", "a here-document without its text", 2),
        ("a <<E\nb", "the end of a here-document", 2),
        ("a <<E \"\n\"\nE\n\"", "a here-document around quotes", 2),
        ("a <<E $(b\n)", "a here-document around a substitution", 2),
        ("(a) b", "a word behind a compound command", 4),
        ("a\0b", "a zero byte", 1),
        ("a \\", "a backslash at the end", 2),
        ("a `b", "a backtick that is never closed", 2),
        ("[[ a", "`[[` without `]]`", 2),
        ("echo $\\\n(a)", "a line that goes on inside an expansion", 5),
        ("echo \"$\\\n(a)\"", "a line that goes on inside an expansion", 6),
        ("echo ${x:-$\\\n(a)}", "a line that goes on inside an expansion", 10),
        ("cat <\\\n(a)", "a line that goes on inside an operator", 5),
        ("echo $(\\\n(a))", "a line that goes on inside an operator", 7),
        ("a &\\\n& b", "a line that goes on inside an operator", 3),
        ("a &\\\n\\\n& b", "a line that goes on inside an operator", 3),
        ("a |\\\n| b", "a line that goes on inside an operator", 3),
        ("a |\\\n& b", "a line that goes on inside an operator", 3),
        ("a &\\\n> b", "a line that goes on inside an operator", 3),
        ("a ;\\\n; b", "a line that goes on inside an operator", 3),
        ("a &&\\\n# b", "a line that goes on inside an operator", 4),
        ("a >&\\\n1", "a line that goes on inside an operator", 4),
        ("a <\\\n< b", "a line that goes on inside an operator", 3),
        ("cat <<E\\\nF\nEF\na", "the delimiter of a here-document", 4),
        ("for x in a; { b; }", "a loop without `do`", 12),
    ] {
        assert_eq!(first_error(line), Some((what.to_owned(), at)), "{line}");
    }
}

#[test]
fn a_line_continues_after_an_operator() {
    for (line, wanted) in [
        ("a &&\\\nb", "a b"),
        ("a&&\\\nb", "a b"),
        ("a &&\\\n  b", "a b"),
        ("a &&\\\n\\\n b", "a b"),
        ("a ||\\\nb", "a b"),
        ("a |\\\nb", "a b"),
        ("a |&\\\nb", "a b"),
        ("a;\\\nb", "a b"),
        ("a &\\\nb", "a b"),
        ("a &&\\\n(b)", "a b"),
        ("a &&\\\n{ b; }", "a b"),
        ("a &&\\\n! b", "a b"),
        ("if a;\\\nthen b; fi", "a b"),
        ("$(a &&\\\nb)", "a b $"),
    ] {
        assert_eq!(list_programs(line), wanted, "{line}");
    }
}

#[test]
fn parsing_continues_after_a_syntax_error() {
    assert_eq!(list_programs("a *(x); rm f"), "? a x rm");
    assert_eq!(list_programs("a ) rm f"), "? a rm");
}

#[test]
fn nesting_has_a_limit() {
    for open in ["(", "$(", "{ ", "if ", "\"${x:-", "<(", "\"$(", "while "] {
        let line = open.repeat(10_000);
        assert!(list_programs(&line).contains('?'), "{open}");
    }
    let deep = format!("{}a{}", "( ".repeat(60), ")".repeat(60));
    assert_eq!(list_programs(&deep), "a");
}

#[test]
fn a_word_knows_what_it_may_become() {
    let unknown = |text: &str, dash| (text.to_owned(), false, dash);
    let known = |text: &str| (text.to_owned(), true, false);
    for (word, wanted) in [
        ("x", known("x")),
        ("-x", known("-x")),
        ("r\"m\"", known("rm")),
        ("\\rm", known("rm")),
        ("--no-\"verify\"", known("--no-verify")),
        ("$'\\x72m'", known("rm")),
        ("~/x", known("/h/x")),
        ("$HOME/x", known("/h/x")),
        ("\"${HOME}\"", known("/h")),
        ("HEAD@{1}", known("HEAD@{1}")),
        ("a{b}c", known("a{b}c")),
        ("$x", unknown("", true)),
        ("\"$x\"", unknown("", true)),
        ("a$x", unknown("a", true)),
        ("\"a$x\"", unknown("a", false)),
        ("a\"$x\"", unknown("a", false)),
        ("\"a$@\"", unknown("a", true)),
        ("\"a${x[@]}\"", unknown("a", true)),
        ("*.md", unknown("", true)),
        ("./*.md", unknown("./", false)),
        ("-*", unknown("-", true)),
        ("{a,b}/c", unknown("", false)),
        ("{a,-b}", unknown("", true)),
        ("{,-b}c", unknown("", true)),
        ("{1..-3}", unknown("", true)),
        ("a{b,-c}", unknown("a", false)),
        ("--output=$x", unknown("--output=", true)),
        ("\"$(a)\"", unknown("", true)),
        ("~user", unknown("", true)),
    ] {
        assert_eq!(describe_words(&format!("p {word}"))[1], wanted, "{word}");
    }
}

#[test]
fn a_line_that_sets_home_does_not_know_it() {
    for line in
        ["HOME=/x; rm $HOME/f", "export HOME=/x; rm ~/f", "read HOME; rm ~", "for HOME in a; do rm ~; done"]
    {
        let work = Budget::for_line(line);
        let removed = Parser::new(line, TextKind::Commands, Some("/h"), &work).find_map(|step| match step {
            SyntaxEvent::Simple(command) if command.words.first().and_then(Word::text) == Some("rm") => {
                Some(command.words[1].text().is_some())
            }
            _ => None,
        });
        assert_eq!(removed, Some(false), "{line}");
    }
}

/// The last word of the last command, if it is known.
fn last_word(line: &str) -> Option<String> {
    let (text, is_known, _) = describe_words(line).pop().unwrap();
    is_known.then_some(text)
}

#[test]
fn a_value_without_quotes_becomes_its_words() {
    for (line, wanted) in [
        ("x='git push  -f'; $x y", "git push -f y"),
        ("x=' a '; p$x-q", "p a -q"),
        ("x='a b'; p q$x$x-r", "p qa ba b-r"),
        ("x='if a'; $x", "if a"),
        ("x='a=1 b'; $x", "a=1 b"),
        ("x='a\nb'; p $x", "p a b"),
        ("x='a b'; (p $x)", "p a b"),
    ] {
        let words: Vec<String> = describe_words(line).into_iter().map(|(text, ..)| text).collect();
        assert_eq!(words.join(" "), wanted, "{line}");
    }
    for line in ["x='a *'; p $x", "x=' '; p $x", "x='a b'; p y=$x", "x='a b'; case q in $x) p;; esac"] {
        assert!(last_word(line).is_none_or(|last| last == "p"), "{line}");
    }
}

#[test]
fn a_variable_is_known_if_nothing_else_can_set_it() {
    for (line, wanted) in [
        ("x=a; p $x", "a"),
        ("x=a && p \"$x\"", "a"),
        ("x=a\ny=b\np ${x}/\"$y\"", "a/b"),
        ("x='a b'; p \"$x\"", "a b"),
        ("x=a; y=$x/b; p \"$y\"", "a/b"),
        ("x=a; if q; then p $x; fi", "a"),
        ("x=a; x=b; p $x", "b"),
        ("x=~/a; p $x", "/h/a"),
        ("x=~; p \"$x/b\"", "/h/b"),
    ] {
        assert_eq!(last_word(line).as_deref(), Some(wanted), "{line}");
    }
    for line in [
        "p $x",
        "x='*'; p $x",
        "x=; p $x",
        "x='~/a'; p $x",
        "x=~u/a; p $x",
        "x=a | p $x",
        "x=a & p $x",
        "q && x=a; p $x",
        "q || x=a; p $x",
        "(x=a); p $x",
        "x=a; (x=b; q); p $x",
        "x=a; if q; then x=b; fi; p $x",
        "x=a; while q; do p $x; x=b; done; p $x",
        "x=a; while q; do p $x; done",
        "x=a; read x; p $x",
        "x=a; $q; p $x",
        "x=a; f() { x=b; }; f; p $x",
        "x=a; : ${x:=b}; p $x",
        "x=a; ((x = 5)); p $x",
        "x=a; for x in b; do q; done; p $x",
        "x=a; x+=b; p $x",
        "x=a y=b q; p $y",
        "IFS=a; x=bac; p $x",
        "RANDOM=a; p $RANDOM",
        "x=a; eval x=b; p $x",
        "x=a; export x=$(q); p $x",
        "x=(a b); p $x",
    ] {
        assert_eq!(last_word(line), None, "{line}");
    }
}

#[test]
fn a_loop_variable_has_the_shape_of_its_values() {
    let may_be_option = |line: &str| describe_words(line).pop().unwrap().2;
    for line in [
        "for x in a b/c; do p $x; done",
        "for x in a b/c\ndo p \"$x\"; done",
        "for x in lib/*.rs ./*; do p \"$x\"; done",
        "for x in a; do if q; then p $x; fi; done",
    ] {
        assert!(!may_be_option(line), "{line}");
    }
    for line in [
        "for x in a -b; do p $x; done",
        "for x in *.rs; do p \"$x\"; done",
        "for x in lib/*.rs; do p $x; done",
        "for x in 'a -b'; do p $x; done",
        "for x in a $y; do p \"$x\"; done",
        "for x; do p $x; done",
        "for x in a; do x=$y; p $x; done",
        "for x in a; do while q; do p $x; done; done",
        "for x in; do q; done; p $x",
        "for x in $(for y in a; do q; done); do p \"$x\"; done",
    ] {
        assert!(may_be_option(line), "{line}");
    }
}
