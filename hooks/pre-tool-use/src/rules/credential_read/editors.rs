//! Editors read files when told to, not only those on their command lines.

use crate::walk::Exec;
use crate::words::Words;

/// Editors with commands of their own.
pub(super) const EDITORS: Words =
    Words("vim vi nvim ex ed red view vimdiff gvim emacs emacsclient nano micro kak");

/// Their commands that open a file, also abbreviated.
const OPENING: Words = Words(
    "r re read e ed edit E f sp split vs vsplit sv sview view vie tabe tabedit tabnew tabf so \
     source fin find badd bad open o new vnew diffs diffsplit a args argadd next n 0r $r wn pedit",
);

/// The words of an editor's command line, the files its commands open, and the texts in its code.
pub(super) fn candidates(exec: &Exec, mut words: Vec<String>) -> Vec<String> {
    let args = exec.args().iter().flat_map(|arg| arg.lines());
    for line in args.chain(exec.stdin.lines()) {
        words.extend(line.split('|').filter_map(opened));
        if line.contains(['(', '=']) {
            words.extend(quoted(line));
        }
    }
    words
}

/// The file that a command such as `:0r FILE` opens.
fn opened(command: &str) -> Option<String> {
    let sign = |c: char| "+-:%$.,/; ".contains(c) || c.is_ascii_digit();
    let command = command.trim().trim_start_matches(sign);
    let (verb, file) = command.split_once(' ')?;
    OPENING
        .has(verb.trim_end_matches('!'))
        .then(|| file.trim_start_matches(['+', ' ']).trim().to_owned())
}

/// The texts in quotes.
fn quoted(line: &str) -> impl Iterator<Item = String> {
    let pieces = line.split(['"', '\'']);
    pieces.skip(1).step_by(2).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_commands_open() {
        assert_eq!(opened(":0r .env").as_deref(), Some(".env"));
        assert_eq!(opened("+e! ~/.netrc").as_deref(), Some("~/.netrc"));
        assert_eq!(opened("/re/r x").as_deref(), None);
        assert_eq!(opened("wq"), None);
        assert_eq!(
            quoted("echo readfile(\"a\", 'b')").collect::<Vec<_>>(),
            ["a", "b"]
        );
    }
}
