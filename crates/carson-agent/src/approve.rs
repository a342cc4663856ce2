//! Who is asked before something is written: the person at the terminal, or nobody.

use std::io::{BufRead, Write};
use std::time::Duration;

use similar::TextDiff;
use tokio::sync::oneshot;

use crate::visible::visible;

/// Lines of a difference that are shown.
const LINES: usize = 200;
/// How long is looked for the smallest difference.
const LONGEST: Duration = Duration::from_millis(500);

/// Who is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Approval {
    /// Nobody: there is nobody, or `--yes` was said.
    Nobody,
    /// Who sits at standard input and standard error.
    Terminal,
}

impl Approval {
    /// Whether a file may become so.
    pub async fn ask(self, name: &str, before: &str, after: &str) -> bool {
        if self == Self::Nobody {
            return true;
        }
        let question = format!(
            "{}\nWrite {}? [y/N] ",
            difference(name, before, after),
            visible(name)
        );
        let (sender, answer) = oneshot::channel();
        // Who never answers holds up nothing but this thread.
        std::thread::spawn(move || {
            let _ = std::io::stderr().write_all(question.as_bytes());
            let mut line = String::new();
            let read = std::io::stdin().lock().read_line(&mut line);
            let _ = sender.send(read.is_ok() && matches!(line.trim(), "y" | "Y" | "yes"));
        });
        answer.await.unwrap_or(false)
    }
}

/// What would change, as a unified diff.
fn difference(name: &str, before: &str, after: &str) -> String {
    let diff = TextDiff::configure()
        .timeout(LONGEST)
        .diff_lines(before, after);
    let unified = diff.unified_diff().header(name, name).to_string();
    let mut lines: Vec<String> = unified.lines().take(LINES).map(visible).collect();
    let left_out = unified.lines().count().saturating_sub(LINES);
    if left_out > 0 {
        lines.push(format!("… {left_out} more lines …"));
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_shows_what_goes_and_comes_and_nothing_that_moves_the_cursor() {
        let shown = difference("a.txt", "one\ntwo\n", "one\nt\u{1b}[2Jwo\n");
        assert!(shown.contains("-two") && shown.contains("+t"), "{shown}");
        assert!(!shown.contains('\u{1b}'), "{shown:?}");
        let long = "x\n".repeat(5_000);
        assert!(difference("a", "", &long).lines().count() <= LINES + 1);
    }
}
