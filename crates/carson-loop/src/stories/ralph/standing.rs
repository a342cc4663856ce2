//! How a PRD stands, story by story.

use std::path::Path;

use serde::Serialize;

use super::ended::Ended;
use super::failures::Failures;
use super::prd::{Prd, Story};
use super::read;

/// One story.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Standing {
    /// Its name.
    pub id: String,
    /// Its priority.
    pub priority: f64,
    /// What it may do.
    pub mode: &'static str,
    /// `open`, `passing` or `skipped`.
    pub status: &'static str,
    /// How often it failed since it passed last.
    pub failures: u64,
    /// Why it was skipped, or where its report is.
    pub reason: String,
    /// What it is about.
    pub title: String,
}

/// Every story, in the order in which they are done.
///
/// # Errors
/// When the PRD is not right.
pub fn standing(prd: &Path) -> Result<Vec<Standing>, Ended> {
    let read = read::of_file(prd)?;
    let failures = Failures::of(&prd.with_file_name(".runtime"));
    let mut stories: Vec<&Story> = read.stories.iter().collect();
    stories.sort_by(|a, b| {
        a.priority
            .total_cmp(&b.priority)
            .then_with(|| a.id.cmp(&b.id))
    });
    let of = |story: &Story| Standing {
        id: story.id.clone(),
        priority: story.priority,
        mode: story.mode.as_str(),
        status: match (story.passes, story.skipped) {
            (true, _) => "passing",
            (false, true) => "skipped",
            (false, false) => "open",
        },
        failures: failures.count(&story.id),
        reason: reason(&read, &story.id),
        title: story.title.clone(),
    };
    Ok(stories.into_iter().map(of).collect())
}

fn reason(prd: &Prd, id: &str) -> String {
    let stories = prd
        .document
        .get("stories")
        .and_then(|stories| stories.list())
        .unwrap_or_default();
    let story = stories
        .iter()
        .find(|story| story.get("id").and_then(|one| one.text()) == Some(id));
    let text = |key: &str| story?.get(key)?.text().map(str::to_owned);
    text("skip_reason")
        .or_else(|| text("report_path"))
        .unwrap_or_default()
}
