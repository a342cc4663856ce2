//! Parameters: what `$x` and `${x…}` stand for.
//!
//! A variable nobody set, neither on this line nor in the environment Carson knows, is unknown and
//! not empty: the rules decide what that means for them.

use crate::glob;
use crate::marks::{self, ANY, STAR};
use crate::shell::syntax::{Param, Word};

use super::{State, Walker};

impl Walker<'_> {
    /// The texts an expansion may become.
    pub(crate) fn param(&mut self, param: &Param, state: &mut State) -> Vec<String> {
        if param.length {
            return vec![marks::only(STAR)];
        }
        let mut values = self.lookup(&param.name, state);
        if param.indirect {
            values = self.indirect(values, state);
        }
        match &param.change {
            None => values.unwrap_or_else(|| vec![marks::only(ANY)]),
            Some((operator, word)) => self.changed(&param.name, values, operator, word, state),
        }
    }

    fn indirect(&self, names: Option<Vec<String>>, state: &State) -> Option<Vec<String>> {
        let name = names?.into_iter().next()?;
        marks::exact(&name)
            .then(|| self.lookup(&name, state))
            .flatten()
    }

    /// The values of a variable; `None` when it is not set as far as anyone knows.
    pub(crate) fn lookup(&self, name: &str, state: &State) -> Option<Vec<String>> {
        if let Some(var) = state.var(name) {
            return Some(var.values.clone());
        }
        let one = |text: &str| Some(vec![text.to_owned()]).filter(|_| !text.is_empty());
        match name {
            "_" if state.cmdlets && self.world.listed.is_some() => {
                self.world.listed.clone().map(|listed| vec![listed])
            }
            "@" | "*" => Some(state.positional.clone()),
            "0" => one(&state.program),
            "?" | "#" | "$" | "!" | "-" | "RANDOM" | "SECONDS" | "LINENO" | "UID" | "EUID"
            | "PPID" | "BASHPID" | "EPOCHSECONDS" | "SHLVL" => one(&marks::only(STAR)),
            "SHELL" | "BASH" => {
                let own = self.ctx.vars.get(name).map(String::as_str);
                one(own.unwrap_or("/bin/bash"))
            }
            "COPROC" => one(&crate::shell::COPROCESS.to_string()),
            "IFS" => one(" \t\n"),
            "PWD" => Some(state.cwd.clone()),
            "OLDPWD" => Some(state.old_cwd.clone()),
            "HOME" => Some(vec![self.home()]),
            "TMPDIR" | "TMP" | "TEMP" | "CARSON_TMP" if !self.ctx.tmp.is_empty() => {
                one(&self.ctx.tmp)
            }
            "CARSON_WORKTREE" => one(&self.ctx.worktree),
            "CARSON_BRANCH" => one(&self.ctx.branch),
            _ => match name.parse::<usize>() {
                Ok(index) => state
                    .positional
                    .get(index.wrapping_sub(1))
                    .map(|v| vec![v.clone()]),
                Err(_) if crate::rules::credential_read::is_secret_variable(name) => {
                    one(&marks::only(marks::SECRET))
                }
                Err(_) => self.ctx.vars.get(name).map(|value| vec![value.clone()]),
            },
        }
    }

    fn changed(
        &mut self,
        name: &str,
        values: Option<Vec<String>>,
        operator: &str,
        word: &Word,
        state: &mut State,
    ) -> Vec<String> {
        let words = self.texts(word, state);
        let empty = |values: &Vec<String>| values.iter().all(String::is_empty);
        let set = match operator {
            ":-" | ":=" | ":+" => values.as_ref().is_some_and(|values| !empty(values)),
            _ => values.is_some(),
        };
        // With something to stand for it, a credential is not what is asked for.
        let secret = |values: &Vec<String>| values.iter().any(|it| it.contains(marks::SECRET));
        let set = set && !(matches!(operator, ":-" | "-") && values.as_ref().is_some_and(secret));
        match operator {
            ":-" | "-" if !set => words,
            ":=" | "=" if !set => {
                state.set(name, words.clone(), false);
                words
            }
            ":+" | "+" => {
                if set {
                    words
                } else {
                    vec![String::new()]
                }
            }
            _ => {
                let values = values.unwrap_or_else(|| vec![marks::only(ANY)]);
                let detail = words.first().map_or("", String::as_str);
                values
                    .iter()
                    .map(|value| edited(value, operator, detail))
                    .collect()
            }
        }
    }
}

/// The value after one of the editing operators.
fn edited(value: &str, operator: &str, detail: &str) -> String {
    if value.contains(marks::SECRET) {
        return value.to_owned();
    }
    match operator {
        "#" | "##" => trim(value, detail, false, operator == "##"),
        "%" | "%%" => trim(value, detail, true, operator == "%%"),
        "/" | "//" | "/#" | "/%" => replaced(value, operator, detail),
        "^^" | "^" | ",," | "," => recased(value, operator),
        ":" => part_of(value, detail),
        _ => value.to_owned(),
    }
}

/// `${x%pattern}` and its like: the shortest or longest matching end is cut off.
fn trim(value: &str, pattern: &str, at_end: bool, longest: bool) -> String {
    let pattern = marks::live_globs(pattern);
    let mut cut = None;
    let mut places: Vec<usize> = value.char_indices().map(|(at, _)| at).collect();
    places.push(value.len());
    if at_end {
        places.reverse();
    }
    // The ends of a path are what is trimmed; a longer search is not worth its time.
    for &at in places.iter().take(512) {
        let (head, tail) = value.split_at(at);
        let (end, kept) = if at_end { (tail, head) } else { (head, tail) };
        if marks::unknown(end) {
            return cut.unwrap_or_else(|| marks::only(ANY));
        }
        if glob::overlap(end, &pattern) {
            cut = Some(kept.to_owned());
            if !longest {
                break;
            }
        }
    }
    cut.unwrap_or_else(|| value.to_owned())
}

fn replaced(value: &str, operator: &str, detail: &str) -> String {
    let (pattern, with) = detail.split_once('/').unwrap_or((detail, ""));
    let plain = !pattern.contains(['*', '?', '[']) && marks::exact(pattern);
    if !plain || pattern.is_empty() {
        return marks::only(ANY);
    }
    match operator {
        "//" => value.replace(pattern, with),
        "/#" => value
            .strip_prefix(pattern)
            .map_or(value.to_owned(), |rest| format!("{with}{rest}")),
        "/%" => value
            .strip_suffix(pattern)
            .map_or(value.to_owned(), |rest| format!("{rest}{with}")),
        _ => value.replacen(pattern, with, 1),
    }
}

fn recased(value: &str, operator: &str) -> String {
    let mut chars = value.chars();
    match operator {
        "^^" => value.to_ascii_uppercase(),
        ",," => value.to_ascii_lowercase(),
        _ => chars.next().map_or(String::new(), |first| {
            let first = if operator == "^" {
                first.to_ascii_uppercase().to_string()
            } else {
                first.to_ascii_lowercase().to_string()
            };
            first + chars.as_str()
        }),
    }
}

/// `${x:offset:length}` with plain numbers.
fn part_of(value: &str, detail: &str) -> String {
    let mut numbers = detail.split(':').map(|n| n.trim().parse::<i64>());
    let (Some(Ok(from)), true) = (numbers.next(), marks::exact(value)) else {
        return marks::only(ANY);
    };
    let size = value.chars().count();
    let from = if from < 0 {
        size.saturating_sub(from.unsigned_abs() as usize)
    } else {
        from as usize
    };
    let length = match numbers.next() {
        None => size,
        Some(Ok(length)) if length >= 0 => length as usize,
        Some(_) => return marks::only(ANY),
    };
    value.chars().skip(from).take(length).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn editing_operators() {
        for (value, operator, detail, expected) in [
            ("a/b.tar.gz", "%", ".*", "a/b.tar"),
            ("a/b.tar.gz", "%%", ".*", "a/b"),
            ("a/b/c", "##", "*/", "c"),
            ("a/b/c", "#", "*/", "b/c"),
            ("dir/", "%", "/", "dir"),
            ("dir", "%", "/", "dir"),
            ("a-b-c", "//", "-/_", "a_b_c"),
            ("a-b-c", "/", "-/_", "a_b-c"),
            ("Main", ",,", "", "main"),
            ("main", "^", "", "Main"),
            ("xmainx", ":", "1:4", "main"),
            ("main", ":", " -2", "in"),
        ] {
            assert_eq!(
                edited(value, operator, detail),
                expected,
                "{value} {operator} {detail}"
            );
        }
        assert_eq!(edited(&marks::only(ANY), "%", "x"), marks::only(ANY));
    }
}
