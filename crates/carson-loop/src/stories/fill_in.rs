//! Puts a path where a line for the shell names it.

use std::path::Path;

use carson_core::text::shell_word;

/// The line with a path in the place of a word such as `{prompt_file}`, so that the shell reads it as one word, whatever
/// is in it; quotation marks around the word go.
#[must_use]
pub fn fill_in(line: &str, word: &str, path: &Path) -> String {
    let quoted = shell_word(&path.to_string_lossy());
    let mut line = line.to_owned();
    for mark in ["\"", "'", ""] {
        line = line.replace(&format!("{mark}{word}{mark}"), &quoted);
    }
    line
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
