//! The words of started programs, known or not.

use std::path::Path;

use crate::effect::{Effect, UnknownArgument, UnknownCommand};
use crate::effects;

/// A command as text, with unknown words as they are written.
fn show(program: &str, known: &[String], unknown: &[UnknownArgument]) -> String {
    let mut words: Vec<&str> = known.iter().map(String::as_str).collect();
    for argument in unknown.iter().rev() {
        words.insert(argument.at, &argument.word.source);
    }
    words.insert(0, program);
    words.join(" ")
}

fn find_commands(line: &str) -> Vec<String> {
    let commands = effects(line, Path::new("/p"), None).into_iter().filter_map(|effect| match effect {
        Effect::Run { program, arguments, unknown_arguments, unknown_from, .. } => {
            assert_eq!(unknown_from, unknown_arguments.first().map(|argument| argument.at), "{line}");
            Some(show(&program, &arguments, &unknown_arguments))
        }
        Effect::Unparsed { command: Some(command), .. } => {
            let UnknownCommand { program, arguments, unknown_arguments } = &*command;
            Some(format!("? {}", show(&program.source, arguments, unknown_arguments)))
        }
        _ => None,
    });
    commands.collect()
}

#[test]
fn unknown_words_keep_their_positions() {
    assert_eq!(find_commands("git a $X b \"$Y/c\" *.rs"), ["git a $X b \"$Y/c\" *.rs"]);
    assert_eq!(find_commands("$X a $Y"), ["? $X a $Y", "a $Y"]);
    assert_eq!(find_commands("\"$X\" a $Y"), ["? \"$X\" a $Y"]);
    assert_eq!(find_commands("$X $Y a"), ["? $X $Y a", "a"]);
    assert_eq!(find_commands("$GIT push"), ["? $GIT push"]);
}

#[test]
fn wrappers_have_their_words() {
    assert_eq!(
        find_commands("sudo -u me env A=1 git push $X"),
        ["sudo -u me env A=1 git push $X", "env A=1 git push $X", "git push $X"]
    );
    assert_eq!(find_commands("xargs -n 1 git push"), ["xargs -n 1 git push", "git push xargs"]);
}

#[test]
fn an_unknown_word_says_what_it_may_become() {
    let effects = effects("x \"a$X\"b c$Y -$Z d*", Path::new("/p"), None);
    let Some(Effect::Run { unknown_arguments, .. }) = effects.first() else { panic!("{effects:?}") };
    let parts = unknown_arguments.iter().map(|argument| {
        let word = &argument.word;
        (&*word.prefix, &*word.tail, word.splits, word.may_dash)
    });
    let expected =
        [("a", "b", false, false), ("c", "", true, true), ("-", "", true, true), ("d", "*", true, false)];
    assert!(parts.eq(expected), "{unknown_arguments:?}");
}
