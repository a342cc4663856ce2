//! `xargs` and `parallel`: words from the input become arguments.

use crate::marks::{self, ANY};
use crate::words::Words;

use super::options::{self, Spec};
use super::simple::requote;
use super::{Exec, State, Walker};

/// Most input words handed to one command. Beyond them stands one word that may be anything.
const MAX_ITEMS: usize = 8 * 1024;

const XARGS: Spec = Spec {
    short: "aEIJLRSdnPs",
    long: Words("arg-file delimiter max-args max-procs replace max-lines max-chars"),
};

const PARALLEL: Spec = Spec {
    short: "jaINLnCSd",
    long: Words("jobs max-args arg-file colsep joblog delay timeout results"),
};

impl Walker<'_> {
    /// `xargs [OPTIONS] COMMAND [ARGS]`.
    pub(super) fn xargs(&mut self, exec: &Exec, state: &mut State) -> String {
        let args = exec.args();
        let at = options::first_operand(args, XARGS);
        let inner = args.get(at..).unwrap_or_default().to_vec();
        let flags = &args[..at.min(args.len())];
        let input = match value_of(flags, 'a', "arg-file") {
            Some(file) => self
                .content(&file, state)
                .unwrap_or_else(|| marks::only(ANY)),
            None => exec.stdin.clone(),
        };
        let mark = replacement(flags);
        let items = if mark.is_some() {
            lines(&input)
        } else {
            items(&input)
        };
        if inner.is_empty() {
            return items.join(" ");
        }
        let mut out = String::new();
        for argv in placed(&inner, &items, mark.as_deref()) {
            let inside = Exec {
                argv,
                env: exec.env.clone(),
                stdin: String::new(),
            };
            let printed = self.deeper(&inner.join(" "), |walker| walker.exec(inside, state));
            super::append(&mut out, &printed);
        }
        out
    }

    /// `parallel [OPTIONS] COMMAND [::: ITEMS]`: the command is a text for a shell.
    pub(super) fn parallel(&mut self, exec: &Exec, state: &State) -> String {
        let args = exec.args();
        let at = options::first_operand(args, PARALLEL).min(args.len());
        let lists = |arg: &String| matches!(arg.as_str(), ":::" | "::::" | ":::+");
        let split = args[at..]
            .iter()
            .position(lists)
            .map_or(args.len(), |n| at + n);
        let given = args.get(split + 1..).unwrap_or_default().to_vec();
        let items = if given.is_empty() {
            items(&exec.stdin)
        } else {
            given
        };
        let template = args[at..split].join(" ");
        let mut child = state.clone();
        if template.is_empty() {
            return items
                .iter()
                .map(|item| self.code_of(item, &mut child, ""))
                .collect();
        }
        let words: Vec<_> = items.iter().map(|item| requote(item)).collect();
        if !template.contains("{}") {
            let code = format!("{template} {}", words.join(" "));
            return self.code_of(&code, &mut child, "");
        }
        let codes = words.iter().map(|word| template.replace("{}", word));
        codes
            .map(|code| self.code_of(&code, &mut child, ""))
            .collect()
    }
}

/// The words of the input; unknown input is one unknown word.
fn items(input: &str) -> Vec<String> {
    if input.is_empty() {
        return vec![marks::only(ANY)];
    }
    bounded(input.split(['\n', '\0', ' ', '\t']))
}

/// The lines of the input: `-I` takes a whole one at a time.
fn lines(input: &str) -> Vec<String> {
    if input.is_empty() {
        return vec![marks::only(ANY)];
    }
    bounded(input.split(['\n', '\0']).map(str::trim_start))
}

fn bounded<'i>(items: impl Iterator<Item = &'i str>) -> Vec<String> {
    let mut items = items.filter(|item| !item.is_empty());
    let mut out: Vec<String> = items.by_ref().take(MAX_ITEMS).map(str::to_owned).collect();
    out.extend(items.next().map(|_| marks::only(ANY)));
    out
}

fn value_of(flags: &[String], short: char, long: &str) -> Option<String> {
    options::read(flags, XARGS)
        .into_iter()
        .find_map(|arg| match arg {
            options::Arg::Short(c, Some(value)) if c == short => Some(value.to_owned()),
            options::Arg::Long(name, Some(value)) if name == long => Some(value.to_owned()),
            _ => None,
        })
}

/// The text that stands for the item: `-I R`, `-i`, `--replace`.
fn replacement(flags: &[String]) -> Option<String> {
    let plain = flags.iter().any(|flag| flag == "-i" || flag == "--replace");
    value_of(flags, 'I', "replace")
        .or_else(|| value_of(flags, 'J', "-"))
        .or_else(|| plain.then(|| "{}".to_owned()))
}

/// The commands that are run: one for all items, or one for each where a text stands for it.
fn placed(inner: &[String], items: &[String], mark: Option<&str>) -> Vec<Vec<String>> {
    let Some(mark) = mark else {
        return vec![inner.iter().chain(items).cloned().collect()];
    };
    let with = |item: &String| inner.iter().map(|word| word.replace(mark, item)).collect();
    items.iter().map(with).collect()
}
