//! Tcl: a language of commands, as a shell is, with other quotes.

use std::collections::BTreeMap;

use super::super::{Exec, State, Walker};
use crate::walk::simple::requote;
use crate::words::Words;

/// Commands that run others, and those that matter by themselves.
const COMMANDS: Words = Words("exec spawn system file open source cd set glob");

impl Walker<'_> {
    /// Walks what Tcl code runs, opens and deletes.
    pub(super) fn tcl(&mut self, code: &str, state: &mut State, stdin: &str) {
        let mut known = BTreeMap::new();
        for words in statements(code, &mut known) {
            if self.done() || !self.spend(1 + words.len()) {
                return;
            }
            self.tcl_command(&words, state, stdin);
        }
    }

    fn tcl_command(&mut self, words: &[String], state: &mut State, stdin: &str) {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let argv = match words.as_slice() {
            ["exec" | "spawn" | "system", rest @ ..] => {
                let rest = rest.iter().skip_while(|word| word.starts_with('-'));
                let operator = |word: &str| Words("| |& < > >> && 2>@1 & << <@ >@").has(word);
                let quoted = |word: &&str| {
                    if operator(word) || words.len() == 2 {
                        (*word).to_owned()
                    } else {
                        requote(word)
                    }
                };
                let code: Vec<String> = rest.map(quoted).collect();
                self.code_of(&code.join(" "), state, stdin);
                return;
            }
            ["file", "delete", rest @ ..] => [&["rm", "-r"], rest].concat(),
            ["file", "rename", rest @ ..] => [&["mv"], rest].concat(),
            ["file", "copy", rest @ ..] => [&["cp"], rest].concat(),
            ["open", file, ..] if file.starts_with('|') => {
                self.code_of(&file[1..], state, stdin);
                return;
            }
            ["open", file, "w" | "w+"] => vec![":>", file],
            ["open", file, ..] => vec!["<", file],
            ["source", file] => vec![".", file],
            ["cd", dir] => vec!["cd", dir],
            ["set", name, value] => {
                let name = name
                    .strip_prefix("env(")
                    .and_then(|name| name.strip_suffix(')'));
                if let Some(name) = name {
                    state.set(name, vec![(*value).to_owned()], true);
                }
                return;
            }
            _ => return,
        };
        let exec = Exec::of(argv.into_iter().map(str::to_owned).collect());
        if matches!(exec.name(), "<" | ":>") {
            self.judge_command(&exec, state);
        } else {
            self.deeper("tcl", |walker| walker.exec(exec, state));
        }
    }
}

/// The words of every command in the code whose name matters, also in braces and brackets.
fn statements(code: &str, known: &mut BTreeMap<String, String>) -> Vec<Vec<String>> {
    let mut out = Vec::new();
    let mut fresh = true;
    let mut rest = code;
    while let Some(c) = rest.chars().next() {
        let end = rest
            .find(|c: char| !c.is_ascii_alphabetic())
            .unwrap_or(rest.len());
        if fresh && COMMANDS.has(&rest[..end]) {
            let (words, after) = words(rest, known);
            if let [set, name, value] = words.as_slice()
                && set == "set"
            {
                known.insert(name.clone(), value.clone());
            }
            // `set f [open …]`: the brackets are looked into.
            rest = if words[0] == "set" {
                &rest[end..]
            } else {
                after
            };
            out.push(words);
            fresh = false;
            continue;
        }
        let used = if end > 0 { end } else { c.len_utf8() };
        fresh = matches!(c, ';' | '\n' | '[' | '{' | '"') || (fresh && c.is_whitespace());
        rest = &rest[used..];
    }
    out
}

/// The words of one command, and what follows it.
fn words<'c>(text: &'c str, known: &BTreeMap<String, String>) -> (Vec<String>, &'c str) {
    let mut out = Vec::new();
    let mut rest = text;
    loop {
        rest = rest.trim_start_matches([' ', '\t']);
        let Some(c) = rest.chars().next() else { break };
        if matches!(c, ';' | '\n' | ']' | '}') {
            break;
        }
        let (word, used) = match c {
            '{' => braced(rest),
            '"' => {
                let end = rest[1..].find('"').map_or(rest.len(), |at| at + 1);
                (rest[1..end].to_owned(), (end + 1).min(rest.len()))
            }
            _ => {
                let end = rest.find([' ', '\t', ';', '\n', ']', '}']);
                let end = end.unwrap_or(rest.len()).max(1);
                (rest[..end].to_owned(), end)
            }
        };
        rest = rest.get(used..).unwrap_or_default();
        out.push(if c == '{' {
            word
        } else {
            resolved(&word, known)
        });
    }
    (out, rest)
}

/// The text in balanced braces, and the bytes it takes.
fn braced(text: &str) -> (String, usize) {
    let mut open = 0usize;
    for (at, c) in text.char_indices() {
        match c {
            '{' => open += 1,
            '}' if open == 1 => return (text[1..at].to_owned(), at + 1),
            '}' => open -= 1,
            _ => {}
        }
    }
    (text[1..].to_owned(), text.len())
}

/// The word with the variables that the code has set.
fn resolved(word: &str, known: &BTreeMap<String, String>) -> String {
    let mut out = String::new();
    let mut rest = word;
    while let Some((before, after)) = rest.split_once('$') {
        out.push_str(before);
        let name = after.trim_start_matches('{');
        let end = name
            .find(|c: char| c != '_' && !c.is_ascii_alphanumeric())
            .unwrap_or(name.len());
        let unknown = || crate::marks::only(crate::marks::ANY);
        out.push_str(&known.get(&name[..end]).cloned().unwrap_or_else(unknown));
        rest = name[end..].trim_start_matches('}');
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_in_braces_and_brackets() {
        let code = "set d x\nif {1} { exec rm {a b} $d } ; puts [open \"f\" r]";
        let found = statements(code, &mut BTreeMap::new());
        let lines: Vec<String> = found.iter().map(|words| words.join("|")).collect();
        assert_eq!(lines, ["set|d|x", "exec|rm|a b|x", "open|f|r"]);
    }
}
