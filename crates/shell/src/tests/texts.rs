//! The text that a line writes, where its words say it.

use super::*;
use crate::effect::WriteContent;

/// `path`, a sign and the text for each write: `=` replaces, `>` appends, `+` edits, `?` is not known. `~` behind the
/// sign: a part of the text is left out.
fn list_written(line: &str) -> Vec<String> {
    let describe = |effect| {
        let Effect::Write { path, content } = effect else { return None };
        let path = path.display();
        Some(match content {
            WriteContent::Known { text, append, is_complete } => {
                let sign = if append { ">" } else { "=" };
                format!("{path} {sign}{}{text}", if is_complete { "" } else { "~" })
            }
            WriteContent::Copied { file, append } => {
                format!("{path} {}@{}", if append { ">" } else { "=" }, file.display())
            }
            WriteContent::Adds { text } => format!("{path} +{text}"),
            WriteContent::InCall => panic!("{path}"),
            WriteContent::Unknown => format!("{path} ?"),
        })
    };
    effects(line, Path::new("/p"), None).into_iter().filter_map(describe).collect()
}

#[test]
fn a_write_has_the_text_that_the_words_give_it() {
    for (line, wanted) in [
        ("echo a b > f", &["/p/f =a b\n"][..]),
        ("echo -n 'a  b' >> f", &["/p/f >a  b"]),
        ("echo -e 'a\\tb' > f", &["/p/f =a\tb\n"]),
        ("echo 'a\\tb' > f", &["/p/f =a\\tb\n"]),
        ("echo \"a $X b\" > f", &["/p/f =~a  b\n"]),
        ("> f echo a 2> e", &["/p/f =a\n", "/p/e ?"]),
        ("echo a 1>> f", &["/p/f >a\n"]),
        ("echo a &> f", &["/p/f =a\n"]),
        ("echo a 3> f", &["/p/f ?"]),
        ("printf '%s\\n' x y >> f", &["/p/f >x\ny\n"]),
        ("printf 'a=%s 100%%\\n' \"$X\" > f", &["/p/f =~a= 100%\n"]),
        ("printf '%-5s|%03d\\n' a 3 > f", &["/p/f =~a|3\n"]),
        ("{ echo a; echo b; } > f", &["/p/f =~a\nb\n"]),
        ("( echo a; { echo b; } ) | tee -a f", &["/p/f >~a\nb\n"]),
        ("{ cat <<'E'\na\nE\necho b; } > f", &["/p/f =~a\nb\n"]),
        ("{ cat <<'E'; } > f\na\nE", &["/p/f =a\n"]),
        ("for i in 1 2; do echo $i a; done >> f", &["/p/f >~ a\n"]),
        ("{ echo a; } ; cat > f", &["/p/f ?"]),
        ("{ echo a > g; date; } > f", &["/p/g =a\n", "/p/f ?"]),
        ("echo $(echo a) > f", &["/p/f =a\n"]),
        ("echo $(date) > f", &["/p/f =~\n"]),
        ("echo $(echo a b) \"$(echo c  d)\" > f", &["/p/f =a b c d\n"]),
        ("echo a >&2 | cat > f", &["/p/f ?"]),
        ("cat a b > f", &["/p/f ?"]),
        ("cd d && cat a >> f", &["/p/d/f >@/p/d/a"]),
        ("tee f < g", &["/p/f =@/p/g"]),
        ("cat g | tee -a f", &["/p/f >@/p/g"]),
        ("dd of=f <<< a", &["/p/f =a\n"]),
        ("cat > f <<'EOF'\na $X\nEOF", &["/p/f =a $X\n"]),
        ("cat <<EOF >> f\na\nb\nEOF", &["/p/f >a\nb\n"]),
        ("cat <<-EOF > f\n\ta\n\tEOF", &["/p/f =a\n"]),
        ("cat > f <<EOF\na ${X:-$(y)} \\$Z `id` $HOME/$1.\nEOF", &["/p/f =~a  $Z  /.\n"]),
        ("cat - > f <<< a", &["/p/f =a\n"]),
        ("cat g > f <<< a", &["/p/f =@/p/g"]),
        ("cat < g > f", &["/p/f =@/p/g"]),
        ("tee f <<EOF\na\nEOF", &["/p/f =a\n"]),
        ("tee -a f g > h <<< a", &["/p/h =a\n", "/p/f >a\n", "/p/g >a\n"]),
        ("echo a | tee f", &["/p/f =a\n"]),
        ("echo a | sudo tee -a /etc/f > /dev/null", &["/dev/null =a\n", "/etc/f >a\n"]),
        ("cat <<E | tee f | cat > g\na\nE", &["/p/f =a\n", "/p/g =a\n"]),
        ("echo a | sort > f", &["/p/f ?"]),
        ("echo a; cat > f", &["/p/f ?"]),
        ("echo a > f | cat > g", &["/p/f =a\n", "/p/g ?"]),
        ("cat <<A > f; cat <<B > g\na\nA\nb\nB", &["/p/f =a\n", "/p/g =b\n"]),
        ("cat <<A <<B > f\na\nA\nb\nB", &["/p/f =b\n"]),
        ("cd d; echo a > f", &["/p/f =a\n", "/p/d/f =a\n"]),
        ("bash -c 'echo a > f'", &["/p/f =a\n"]),
        ("find . -exec echo a \\; > f", &["/p/f ?"]),
        ("date > f", &["/p/f ?"]),
        ("sed -i --expression='s/a/b/' f", &["/p/f +b"]),
        ("sed -i --expression='s/a/b/' --expression='$ a\\text' f g", &["/p/f +b\ntext", "/p/g +b\ntext"]),
        ("sed -i --expression=\"s/a/$X/\" f", &["/p/f ?"]),
        ("sed -n 's/a/b/w f' g", &["/p/f ?"]),
        ("perl -pi -e 's/a/b c/g' f", &["/p/f +b c"]),
        ("perl -i.bak -pe 's{a}{b}' f", &["/p/f ?"]),
        ("ed -s f <<'E'\na\nnew\n.\nw\nE", &["/p/f +a\nnew\n.\nw\n"]),
        ("printf 'a\\nnew\\n' | ed f", &["/p/f +a\nnew\n"]),
    ] {
        assert_eq!(list_written(line), wanted, "{line}");
    }
}
