//! Calls in a skeleton.

use crate::words::Words;

/// Longest argument text; literals stand in it as their numbers.
const MAX_ARGUMENTS: usize = 8 * 1024;
/// The same without parentheses.
const MAX_BARE: usize = 1024;
/// Most words that are looked through for the end of operands without parentheses.
const MAX_OPERANDS: usize = 48;
/// Longest expression before a method's name.
const MAX_RECEIVER: usize = 512;

/// A call.
#[derive(Debug, Clone, Copy)]
pub(super) struct Call<'s> {
    /// What stands before the name.
    pub(super) before: &'s str,
    /// The text between the parentheses, or up to the end of the statement.
    pub(super) args: &'s str,
    /// What stands after the call.
    pub(super) after: &'s str,
}

/// All calls of `name`: `name(…)`, or `name …` up to the end of the statement where a literal follows
/// directly.
pub(super) fn of<'s>(skeleton: &'s str, name: &str) -> impl Iterator<Item = Call<'s>> + use<'s> {
    let length = name.len();
    let found: Vec<usize> = skeleton.match_indices(name).map(|(at, _)| at).collect();
    found.into_iter().filter_map(move |at| {
        let before = &skeleton[..at];
        if before.chars().next_back().is_some_and(is_name) {
            return None;
        }
        let rest = &skeleton[at + length..];
        let args = arguments(rest)?;
        let end = args.as_ptr() as usize - rest.as_ptr() as usize + args.len();
        Some(Call {
            before,
            args,
            after: rest[end..].trim_start_matches(')'),
        })
    })
}

fn is_name(c: char) -> bool {
    c == '_' || c.is_ascii_alphanumeric()
}

fn arguments(after: &str) -> Option<&str> {
    if after.starts_with(is_name) {
        return None;
    }
    let trimmed = after.trim_start_matches([' ', '\t', '!']);
    let most = if trimmed.starts_with('(') {
        MAX_ARGUMENTS
    } else {
        MAX_BARE
    };
    let trimmed = &trimmed[..trimmed.floor_char_boundary(most)];
    if let Some(inside) = trimmed.strip_prefix('(') {
        return Some(&inside[..closing(inside)]);
    }
    let bare = (after.starts_with([' ', '\t'])
        && trimmed.starts_with([super::literals::OPEN, '$', '[', '@', '<', '*', '%'])
            | trimmed.starts_with(|c: char| c.is_ascii_alphabetic()))
        || after.starts_with(super::literals::OPEN);
    bare.then(|| operands(&trimmed[..trimmed.find([';', '\n', '}']).unwrap_or(trimmed.len())]))
}

/// Words that end the operands of a call without parentheses: `unlink F or die`, `delete F if x`.
const ENDS: Words = Words("or and if unless while until rescue xor");

/// Signs that do so before one of [`LEAVES`].
const SIGNS: Words = Words("|| && //");
const LEAVES: Words = Words(
    "die exit warn raise abort croak confess carp return next last print puts printf say throw",
);

/// The operands at the start of a statement's rest. Those of `unlink $_ for LIST` are the list.
fn operands(text: &str) -> &str {
    let mut words = text.split(' ').take(MAX_OPERANDS).peekable();
    while let Some(word) = words.next() {
        // Most words are none of these.
        let first = word.as_bytes().first().copied().unwrap_or_default();
        if word.len() > 7 || !b"oaiuwrxf|&/".contains(&first) {
            continue;
        }
        let at = word.as_ptr() as usize - text.as_ptr() as usize;
        let next = words.peek().copied().unwrap_or_default();
        let leaves = || LEAVES.has(next.split(['(', ',', ';']).next().unwrap_or_default());
        let before = text[..at].trim_end();
        if matches!(word, "for" | "foreach") && matches!(before, "" | "$_") {
            return text[at + word.len()..].trim_start();
        }
        if matches!(word, "for" | "foreach") || ENDS.has(word) || (SIGNS.has(word) && leaves()) {
            return before;
        }
    }
    text
}

/// Offset of the parenthesis that closes the one before the text.
fn closing(inside: &str) -> usize {
    let mut open = 0usize;
    for (at, c) in inside.char_indices() {
        match c {
            '(' => open += 1,
            ')' if open == 0 => return at,
            ')' => open -= 1,
            _ => {}
        }
    }
    inside.len()
}

/// The expression that ends here: `(Path(a) / b)` of `print((Path(a) / b).read_text())`.
pub(super) fn receiver(before: &str) -> &str {
    let before = before.trim_end().trim_end_matches(['.', '?', '&']);
    let from = before.ceil_char_boundary(before.len().saturating_sub(MAX_RECEIVER));
    let text = &before[from..];
    let mut open = 0usize;
    for (at, c) in text.char_indices().rev() {
        let ends = match c {
            ')' | ']' => {
                open += 1;
                false
            }
            '(' | '[' if open == 0 => true,
            '(' | '[' => {
                open -= 1;
                false
            }
            ';' | '\n' | '=' | ',' | '{' | '}' | ':' | ' ' => open == 0,
            _ => false,
        };
        if ends {
            return &text[at + c.len_utf8()..];
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arguments_of<'s>(skeleton: &'s str, name: &str) -> Vec<&'s str> {
        of(skeleton, name).map(|call| call.args).collect()
    }

    #[test]
    fn calls_by_name() {
        let found = arguments_of(
            "os.system(a(b), c); mysystem(x); system ; system(d",
            "system",
        );
        assert_eq!(found, ["a(b), c", "d"]);
        let found = arguments_of("system \u{2}0\u{3}, x; y", "system");
        assert_eq!(found, ["\u{2}0\u{3}, x"]);
    }

    #[test]
    fn what_ends_the_operands() {
        for (text, expected) in [
            ("$f or die", "$f"),
            ("$f || die(1)", "$f"),
            ("$f || $g", "$f || $g"),
            ("$f if -e $f", "$f"),
            ("$_ for @a, $b", "@a, $b"),
            ("for @a", "@a"),
            ("$f, $g", "$f, $g"),
            ("\"é\" or die", "\"é\""),
        ] {
            assert_eq!(operands(text), expected, "{text}");
        }
    }

    #[test]
    fn what_a_method_is_called_on() {
        for (before, expected) in [
            ("print((Path(a) / b).", "(Path(a) / b)"),
            ("x = p.", "p"),
            ("f(Path(a, b).", "Path(a, b)"),
            ("[q.", "q"),
        ] {
            assert_eq!(receiver(before), expected, "{before}");
        }
    }
}
