//! Every line of a block for a shell that begins with `carson`, given to the command line's own definition.

use clap::CommandFactory;
use clap::error::ErrorKind;

use super::{all, blocks};
use crate::args::Args;

/// The words of a line, as a shell sees them: commands apart, without comments.
fn commands(line: &str) -> Vec<Vec<String>> {
    let mut all = vec![Vec::new()];
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut letters = line.chars().peekable();
    while let Some(c) = letters.next() {
        match (c, quote) {
            (c, Some(open)) if c == open => quote = None,
            (c, Some(_)) => word.get_or_insert_default().push(c),
            ('\'' | '"', None) => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            ('\\', None) => word.get_or_insert_default().extend(letters.next()),
            ('#', None) if word.is_none() => break,
            (' ' | '\t', None) => all.last_mut().unwrap().extend(word.take()),
            ('>' | '<', None) => {
                // Where to, and of which stream, is the shell's.
                word = word.filter(|word| !word.chars().all(|c| c.is_ascii_digit()));
                all.last_mut().unwrap().extend(word.take());
                while letters.next_if(|c| !matches!(c, '&' | ';' | '|')).is_some() {}
            }
            ('&' | ';' | '|', None) => {
                all.last_mut().unwrap().extend(word.take());
                all.push(Vec::new());
            }
            (c, None) => word.get_or_insert_default().push(c),
        }
    }
    all.last_mut().unwrap().extend(word);
    all.retain(|words| !words.is_empty());
    all
}

/// What of a block is `carson`, each with its line.
fn typed<'t>(at: usize, lines: &[&'t str]) -> Vec<(usize, &'t str, Vec<String>)> {
    let mut found = Vec::new();
    for (n, line) in lines.iter().enumerate() {
        let shown = line.trim_start().trim_start_matches("$ ");
        for words in commands(shown) {
            if words[0] == "carson" {
                found.push((at + n, *line, words));
            }
        }
    }
    found
}

#[test]
fn every_command_of_the_documents_can_be_typed() {
    let args = Args::command();
    let mut seen = 0;
    let mut wrong = Vec::new();
    for (name, text) in all() {
        for (at, lines) in blocks(&text, &["sh", "console", "bash"]) {
            for (at, line, words) in typed(at, &lines) {
                seen += 1;
                let Err(error) = args.clone().try_get_matches_from(&words) else {
                    continue;
                };
                let help = [ErrorKind::DisplayHelp, ErrorKind::DisplayVersion];
                if !help.contains(&error.kind()) {
                    wrong.push(format!("{name}:{at}: {line}\n{error}"));
                }
            }
        }
    }
    assert!(seen > 80, "only {seen} commands were understood");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_line_is_read_as_a_shell_reads_it() {
    let line = "cd ~/src && carson issue create \"Say #1\" --body 'a \"b\"' | head; carson x\\ y  # and so on";
    let words: Vec<String> = commands(line).iter().map(|words| words.join("¦")).collect();
    assert_eq!(
        words,
        [
            "cd¦~/src",
            "carson¦issue¦create¦Say #1¦--body¦a \"b\"",
            "head",
            "carson¦x y"
        ]
    );
    let args = Args::command();
    let wrong = ["carson", "undo", "1a2b", "--no-such-option"];
    assert!(args.try_get_matches_from(wrong).is_err());
}
