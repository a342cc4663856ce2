//! Command-line options, as `getopt` reads them.

use crate::words::Words;

/// How a command's options are spelled.
#[derive(Debug, Clone, Copy)]
pub struct Spec {
    /// Short options that take a value; a `?` after one says that the value is optional, so that it
    /// must be attached.
    pub short: &'static str,
    /// Long options that take a value as the next word.
    pub long: Words,
}

/// Options that take no value worth knowing.
pub const PLAIN: Spec = Spec {
    short: "",
    long: Words(""),
};

/// An argument in its role.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Arg<'a> {
    /// `-x`, with its value if it takes one.
    Short(char, Option<&'a str>),
    /// `--name`, with its value if one is given.
    Long(&'a str, Option<&'a str>),
    /// Anything else.
    Operand(&'a str),
}

/// Reads all arguments; operands may stand between options, `--` ends them.
pub fn read<'a>(args: &'a [String], spec: Spec) -> Vec<Arg<'a>> {
    let mut out = Vec::new();
    let mut at = 0;
    while let Some(arg) = args.get(at) {
        at += 1;
        if arg == "--" {
            out.extend(args[at..].iter().map(|arg| Arg::Operand(arg)));
            break;
        }
        at += one(arg, args.get(at), spec, &mut out);
    }
    out
}

/// Index of the first argument that is neither an option nor an option's value.
pub fn first_operand(args: &[String], spec: Spec) -> usize {
    let mut at = 0;
    while let Some(arg) = args.get(at) {
        if arg == "--" {
            return at + 1;
        }
        if !arg.starts_with('-') || arg == "-" {
            return at;
        }
        at += 1 + one(arg, args.get(at + 1), spec, &mut Vec::new());
    }
    at
}

/// The options before the first operand, and the operand's index.
pub fn leading(args: &[String], spec: Spec) -> (Vec<Arg<'_>>, usize) {
    let at = first_operand(args, spec).min(args.len());
    (read(&args[..at], spec), at)
}

/// Reads one argument; returns how many further words it took.
fn one<'a>(arg: &'a str, next: Option<&'a String>, spec: Spec, out: &mut Vec<Arg<'a>>) -> usize {
    let next = next.map(String::as_str);
    if let Some(long) = arg.strip_prefix("--") {
        if let Some((name, value)) = long.split_once('=') {
            out.push(Arg::Long(name, Some(value)));
            return 0;
        }
        let takes = spec.long.has(long);
        out.push(Arg::Long(long, next.filter(|_| takes)));
        return usize::from(takes && next.is_some());
    }
    let Some(cluster) = arg.strip_prefix('-').filter(|rest| !rest.is_empty()) else {
        out.push(Arg::Operand(arg));
        return 0;
    };
    for (index, c) in cluster.char_indices() {
        if let Some(at) = spec.short.find(c).filter(|_| c != '?') {
            let optional = spec.short[at + c.len_utf8()..].starts_with('?');
            let next = next.filter(|_| !optional);
            let attached = &cluster[index + c.len_utf8()..];
            let value = if attached.is_empty() {
                next
            } else {
                Some(attached)
            };
            out.push(Arg::Short(c, value));
            return usize::from(attached.is_empty() && next.is_some());
        }
        out.push(Arg::Short(c, None));
    }
    0
}

/// Whether `given` is `name` or an abbreviation of it that is at least `least` letters long, as
/// `getopt_long` and git accept.
pub fn means(given: &str, name: &str, least: usize) -> bool {
    given.len() >= least && name.starts_with(given)
}

/// The operands only.
pub fn operands(args: &[String], spec: Spec) -> Vec<&str> {
    let operand = |arg| match arg {
        Arg::Operand(text) => Some(text),
        _ => None,
    };
    read(args, spec).into_iter().filter_map(operand).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn clusters_values_and_the_end_of_options() {
        let spec = Spec {
            short: "m",
            long: Words("file"),
        };
        let args = words("-anm msg --file f --x=y o -mz - -- -n");
        let read = read(&args, spec);
        assert_eq!(
            read,
            [
                Arg::Short('a', None),
                Arg::Short('n', None),
                Arg::Short('m', Some("msg")),
                Arg::Long("file", Some("f")),
                Arg::Long("x", Some("y")),
                Arg::Operand("o"),
                Arg::Short('m', Some("z")),
                Arg::Operand("-"),
                Arg::Operand("-n"),
            ]
        );
    }

    #[test]
    fn the_first_operand_comes_after_values() {
        let spec = Spec {
            short: "u",
            long: Words("user"),
        };
        assert_eq!(first_operand(&words("-u root -E --user x cmd -y"), spec), 5);
        assert_eq!(first_operand(&words("-- cmd"), spec), 1);
        assert_eq!(first_operand(&words("-E"), spec), 1);
    }
}
