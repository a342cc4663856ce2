//! Puts a path where a line for the shell names it.

use std::path::Path;

/// The line with a path in the place of a word such as `{prompt_file}`, so that the shell reads it as one word, whatever
/// is in it; quotation marks around the word go.
#[must_use]
pub fn fill_in(line: &str, word: &str, path: &Path) -> String {
    let quoted = quoted(&path.to_string_lossy());
    let mut line = line.to_owned();
    for mark in ["\"", "'", ""] {
        line = line.replace(&format!("{mark}{word}{mark}"), &quoted);
    }
    line
}

fn quoted(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+@%:=,".contains(c);
    match text.chars().all(is_plain) {
        true => text.to_owned(),
        false => format!("'{}'", text.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_one_word() {
        let filled = |line, path| fill_in(line, "{f}", Path::new(path));
        assert_eq!(
            filled("a {f} '{f}' \"{f}\"", "/x/y.md"),
            "a /x/y.md /x/y.md /x/y.md"
        );
        assert_eq!(filled("a <{f}", "/it's; rm/x"), r"a <'/it'\''s; rm/x'");
        assert_eq!(filled("a '{f}'", "/a b"), "a '/a b'");
        assert_eq!(filled("nothing", "/a b"), "nothing");
    }
}
