//! The directory and the variables that code sets for what it runs.

use crate::marks;
use crate::path;
use crate::rules::bypass_checks::is_switch;
use crate::words::Words;

use super::super::{State, Walker};
use super::Piece;
use super::literals::{CLOSE, OPEN};
use super::value::is_name;

/// Calls that enter a directory.
const ENTERS: Words = Words("chdir os.Chdir set_current_dir setwd cd! File.cd! File.cd");

/// The state in which the calls of a piece run.
pub(super) fn of(piece: Piece<'_>, walker: &Walker<'_>, state: &State) -> State {
    let mut inside = state.clone();
    for args in piece.calls(ENTERS) {
        let dir = piece.values.words(args).into_iter().next();
        enter(dir, walker, &mut inside, state);
    }
    for (name, value) in variables(piece) {
        inside.set(&name, vec![value], true);
    }
    inside
}

/// The state of one call: `run([…], cwd='/')`.
pub(super) fn of_call(args: &str, piece: Piece<'_>, state: &State, walker: &Walker<'_>) -> State {
    let mut inside = state.clone();
    for key in ["cwd=", "cwd:", "cwd =", "cwd: ", "chdir:", "dir:", "cd:"] {
        let Some((_, value)) = args.split_once(key) else {
            continue;
        };
        let end = value.find([',', '}', ')']).unwrap_or(value.len());
        let dir = piece.values.expression(&value[..end]);
        if !dir.is_empty() {
            inside.cwd.clear();
            enter(Some(dir), walker, &mut inside, state);
        }
    }
    inside
}

/// Adds a directory to those in which what follows may run.
fn enter(dir: Option<String>, walker: &Walker<'_>, inside: &mut State, from: &State) {
    let Some(dir) = dir.filter(|dir| !dir.is_empty()) else {
        return;
    };
    let dir = match dir.strip_prefix('~') {
        Some(rest) => format!("{}{rest}", walker.home()),
        None => dir,
    };
    for cwd in &from.cwd {
        let path = path::absolute(&dir, cwd).unwrap_or_else(|| marks::only(marks::ANY));
        if !inside.cwd.contains(&path) {
            inside.cwd.push(path);
        }
    }
}

/// Variables that matter to a rule and get a value somewhere: `env['X'] = '0'`, `{X: '0'}`,
/// `setenv('X', '0')`, `X='0'`.
fn variables(piece: Piece<'_>) -> Vec<(String, String)> {
    let skeleton = &piece.source.skeleton;
    let mut out = Vec::new();
    for (number, literal) in piece.source.literals.iter().enumerate() {
        if is_switch(&literal.text) {
            let sign = format!("{OPEN}{number}{CLOSE}");
            let after = skeleton.split_once(&sign).map(|(_, after)| after);
            let value = after.and_then(|after| value_of(after, piece));
            out.extend(value.map(|value| (literal.text.clone(), value)));
        }
    }
    let mut rest = skeleton.as_str();
    while let Some(at) = rest.find(|c: char| c.is_ascii_uppercase()) {
        let word = &rest[at..];
        let end = word.find(|c| !is_name(c) || c == '-').unwrap_or(word.len());
        let (name, after) = word.split_at(end.max(1));
        if is_switch(name) {
            let value = value_of(after, piece);
            out.extend(value.map(|value| (name.to_owned(), value)));
        }
        rest = after;
    }
    out
}

/// The value after a name: `'] = '0'`, `: '0'`, `, 0`, `} = 0`.
fn value_of(after: &str, piece: Piece<'_>) -> Option<String> {
    let after = after.trim_start_matches([']', '}', ' ', '"', '\'']);
    let value = ["=>", ":=", "=", ":", ","]
        .iter()
        .find_map(|sign| after.strip_prefix(sign))?;
    let value = value.trim_start();
    if value.starts_with(OPEN) {
        let end = value.find(CLOSE)? + CLOSE.len_utf8();
        return Some(piece.values.expression(&value[..end]));
    }
    let end = value
        .find(|c: char| !c.is_ascii_alphanumeric())
        .unwrap_or(value.len());
    (end > 0).then(|| value[..end].to_ascii_lowercase())
}
