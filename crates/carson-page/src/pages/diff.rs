//! What a firing changed.

use std::sync::Arc;

use askama::Template;
use axum::Extension;
use axum::extract::{Path, State};
use axum::response::Response;
use carson_operator::Ask;
use carson_operator::show::Show;

use crate::desk::Desk;
use crate::fault::Fault;
use crate::frame::{Frame, page as whole};
use crate::guard::Signed;
use crate::text::cut;

/// Lines that are shown; git has the rest.
const LINES: usize = 4_000;
/// Characters of one of them.
const LETTERS: usize = 1_000;

#[derive(Template)]
#[template(path = "diff.html")]
struct Page {
    frame: Frame,
    id: String,
    short: String,
    lines: Vec<(&'static str, String)>,
    added: usize,
    removed: usize,
    more: usize,
}

pub(crate) async fn page(
    State(desk): State<Arc<Desk>>,
    Extension(signed): Extension<Signed>,
    Path(firing): Path<String>,
) -> Result<Response, Fault> {
    let home = desk.home();
    let ask = Show {
        firing,
        prompt: false,
        diff: true,
        transcript: false,
    };
    let papers = ask.answer(&home).await?;
    let text = papers.diff.unwrap_or_default();
    let kinds: Vec<(&'static str, &str)> = kinds(&text).collect();
    let count = |kind: &str| kinds.iter().filter(|(own, _)| *own == kind).count();
    let short = papers.id.short();
    let page = Page {
        frame: Frame::of(
            (&desk, &home),
            &signed,
            ("/", format!("What {short} changed")),
        ),
        id: papers.id.to_string(),
        short,
        added: count("added"),
        removed: count("removed"),
        more: kinds.len().saturating_sub(LINES),
        lines: kinds
            .iter()
            .take(LINES)
            .map(|(kind, line)| (*kind, cut(line, LETTERS).0))
            .collect(),
    };
    whole(&home, &page)
}

/// Each line and what it is. Within a hunk a line that begins with `---` was removed.
fn kinds(diff: &str) -> impl Iterator<Item = (&'static str, &str)> {
    let mut in_hunk = false;
    diff.lines().map(move |line| {
        let kind = match line.as_bytes().first() {
            Some(b'd') if line.starts_with("diff ") => {
                in_hunk = false;
                "file"
            }
            Some(b'@') => {
                in_hunk = true;
                "hunk"
            }
            Some(b'+') if in_hunk => "added",
            Some(b'-') if in_hunk => "removed",
            _ if in_hunk => "same",
            _ => "head",
        };
        (kind, line)
    })
}

#[cfg(test)]
mod tests {
    use super::kinds;

    #[test]
    fn a_line_is_what_it_is_where_it_stands() {
        let diff = "diff --git a/x b/x\nindex 1..2\n--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n same\n--- gone\n+new\n\
            diff --git a/y b/y\n--- a/y\n";
        let kinds: Vec<&str> = kinds(diff).map(|(kind, _)| kind).collect();
        let expected = [
            "file", "head", "head", "head", "hunk", "same", "removed", "added", "file", "head",
        ];
        assert_eq!(kinds, expected);
    }
}
