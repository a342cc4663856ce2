//! What `echo` and `printf` print: it may become code, a path or a branch.

use crate::marks::{self, ANY};
use crate::shell::unescape;

/// `echo`.
pub(super) fn echo(args: &[String]) -> String {
    let flag = |arg: &&String| {
        arg.len() > 1 && arg.starts_with('-') && arg[1..].chars().all(|c| "neE".contains(c))
    };
    let flags = args.iter().take_while(flag).count();
    let escapes = args[..flags].iter().any(|arg| arg.contains('e'));
    let text = args[flags..].join(" ");
    if escapes { unescaped(&text) } else { text }
}

/// `printf FORMAT [ARGS]`; the format is used again while arguments are left.
pub(super) fn printf(args: &[String]) -> String {
    let Some(format) = args.first() else {
        return String::new();
    };
    let format = unescaped(format);
    let mut rest = args[1..].iter();
    let mut out = String::new();
    loop {
        let before = rest.len();
        one_round(&format, &mut rest, &mut out);
        if rest.len() == 0 || rest.len() == before || out.len() > marks::MAX_TEXT {
            return out;
        }
    }
}

fn one_round<'a>(format: &str, args: &mut impl Iterator<Item = &'a String>, out: &mut String) {
    let mut chars = format.chars();
    while let Some(c) = chars.next() {
        if c != '%' {
            out.push(c);
            continue;
        }
        let kind = chars
            .by_ref()
            .find(|c| c.is_ascii_alphabetic() || *c == '%');
        match kind {
            Some('%') => out.push('%'),
            Some('b') => out.push_str(&unescaped(args.next().map_or("", String::as_str))),
            Some('s' | 'd' | 'i' | 'u' | 'q' | 'c') => {
                out.push_str(args.next().map_or("", String::as_str));
            }
            Some(_) => {
                args.next();
                out.push(ANY);
            }
            None => {}
        }
    }
}

/// The text with its backslash escapes resolved.
pub(super) fn unescaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        match unescape(rest) {
            Some((c, used)) => {
                out.push(c);
                rest = &rest[used..];
            }
            None => out.push('\\'),
        }
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(items: &[&str]) -> Vec<String> {
        items.iter().map(|item| (*item).to_owned()).collect()
    }

    #[test]
    fn echo_and_printf() {
        assert_eq!(echo(&words(&["-n", "a", "b\\n"])), "a b\\n");
        assert_eq!(echo(&words(&["-ne", "\\x72m\\040x"])), "rm x");
        assert_eq!(printf(&words(&["%s-%s\\n", "a", "b", "c"])), "a-b\nc-\n");
        assert_eq!(printf(&words(&["100%%"])), "100%");
        assert_eq!(printf(&words(&["\\162m"])), "rm");
    }
}
