//! What variables stand for: the values they were given, those that a language puts into a text, those
//! that a loop goes through.

use crate::marks::{self, ANY};

use super::Language;
use super::literals::Literal;
use super::value::{Values, is_name};

impl<'s> Values<'s> {
    /// The expression a variable was given by a plain `name = …`, as a `with … as name`, or from a list
    /// in a loop.
    pub(super) fn assigned(&self, name: &str) -> Option<&'s str> {
        let skeleton = &self.source.skeleton;
        let mut seen = 0;
        for (at, _) in skeleton.match_indices(name) {
            if !self.spend(at - seen + name.len()) {
                return None;
            }
            seen = at;
            if skeleton[..at]
                .chars()
                .next_back()
                .is_some_and(|c| is_name(c) || c == '.')
            {
                continue;
            }
            let after = skeleton[at + name.len()..].trim_start_matches(' ');
            let given = after.strip_prefix(":=").or_else(|| after.strip_prefix('='));
            if let Some(value) = given.filter(|v| !v.starts_with(['=', '~', '>'])) {
                return Some(&value[..value.find([';', '\n']).unwrap_or(value.len())]);
            }
            let line = skeleton[..at]
                .rsplit(['\n', ';'])
                .next()
                .unwrap_or_default();
            self.spend(line.len());
            // `%w[a b].each { |name|`.
            let block = line.trim_end().strip_suffix('|');
            if let Some((list, _)) = block.and_then(|it| it.rsplit_once(".each")) {
                return Some(super::calls::receiver(list));
            }
            if let Some(each) = looped(line, after) {
                return Some(each);
            }
            if let (Some(with), true) = (
                line.trim_start().strip_prefix("with "),
                line.ends_with(" as "),
            ) {
                return Some(with.trim_end_matches(" as "));
            }
        }
        None
    }

    /// A literal with the values that the language puts into it.
    pub(super) fn literal(&self, literal: &Literal, steps: usize) -> String {
        if literal.live && literal.text.contains(['{', '$', '@', '#']) {
            self.interpolated(&literal.text, steps)
        } else {
            literal.text.clone()
        }
    }

    /// The text with `{x}`, `${x}`, `#{x}` and `$x` replaced by what they stand for.
    fn interpolated(&self, text: &str, steps: usize) -> String {
        use Language::{Elixir, JavaScript, Lua, Python, R, Ruby};
        let bare = !matches!(self.language, Python | JavaScript | Ruby | Lua | R | Elixir);
        let braces = self.language == Python;
        let first = |rest: &str| rest.starts_with(|c: char| c == '_' || c.is_ascii_alphabetic());
        let mut out = String::new();
        let mut rest = text;
        while let Some(c) = rest.chars().next() {
            rest = &rest[c.len_utf8()..];
            let signed = out.ends_with(['$', '#']);
            match c {
                '{' if braces || signed || rest.starts_with('$') => {
                    let end = rest.find('}').unwrap_or(rest.len());
                    let inside = &rest[..end];
                    rest = rest.get(end + 1..).unwrap_or_default();
                    out.truncate(out.trim_end_matches(['$', '#']).len());
                    out.push_str(&self.inserted(inside, steps));
                }
                '$' | '@' if bare && first(rest) => {
                    let end = rest
                        .find(|c: char| c != '_' && !c.is_ascii_alphanumeric())
                        .unwrap_or(rest.len());
                    out.push_str(&self.inserted(&rest[..end], steps));
                    rest = &rest[end..];
                }
                c => out.push(c),
            }
        }
        marks::bounded(out)
    }

    /// A value put into a text: known when it is a plain variable.
    fn inserted(&self, expression: &str, steps: usize) -> String {
        let name = expression.split([':', '!']).next().unwrap_or_default();
        let name = name.trim().trim_start_matches(['$', '@']);
        let plain = |c| is_name(c) || matches!(c, '.' | '(' | ')');
        if name.is_empty() || !name.chars().all(plain) {
            return marks::only(ANY);
        }
        self.evaluate(name, steps + 1)
    }
}

/// The expression that a loop goes through, when the name right before `after` is its variable.
fn looped<'s>(line: &'s str, after: &'s str) -> Option<&'s str> {
    let start = line.trim_start_matches(|c: char| c == '[' || c.is_whitespace());
    let (_, names) = start
        .rsplit_once("for")
        .filter(|(before, _)| !before.ends_with(is_name))?;
    let between = |c: char| is_name(c) || " (,".contains(c);
    if !names.chars().all(between) {
        return None;
    }
    let several = names.contains(',');
    let signs = [" in ", " of ", "in ", "of "];
    let (rest, list) = signs.iter().find_map(|sign| after.split_once(sign))?;
    if !rest.chars().all(between) && !rest.trim_matches([')', ' ']).is_empty() {
        return None;
    }
    let pairs = [('[', ']'), ('(', ')'), ('{', '}')];
    let pair = pairs.iter().find(|(open, _)| list.starts_with(*open));
    let end = if let Some((_, close)) = pair {
        list.find(*close).map_or(list.len(), |at| at + 1)
    } else {
        list.find(['\n', ':', '{', ']']).unwrap_or(list.len())
    };
    // The names that `os.walk` gives beside the directory lie in it.
    if several && list[..end].contains("walk") {
        return Some("");
    }
    (!several).then_some(&list[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_loop_goes_through() {
        assert_eq!(looped("for ", " in [a, b]: x"), Some("[a, b]"));
        assert_eq!(looped("for (const ", " of [a]) x"), Some("[a]"));
        assert_eq!(looped("for d, ", ", f in os.walk(x):"), Some(""));
        assert_eq!(looped("before ", " in [a]"), None);
    }

    #[test]
    fn the_one_that_leads_elsewhere() {
        let of = |texts: &[&str]| marks::worst(texts.iter().map(|it| (*it).to_owned()));
        assert_eq!(of(&["dist", "/opt", "x"]), "/opt");
        assert_eq!(of(&["dist", "x"]), "dist");
    }
}
