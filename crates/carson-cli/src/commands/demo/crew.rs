//! The demo's crew: one issue of a repository of its own, from the plan to the merge.

use std::path::Path;

use carson_config::Role;
use carson_firing::waiting_plan;
use carson_forge::{DONE, Forge, LocalForge, NewIssue, is_same_label};
use carson_home::Home;
use carson_operator::Ask;
use carson_operator::approve::{Approve, Approved};
use carson_operator::issues::Show;
use serde_json::json;

use super::repository;
use crate::error::CommandError;

/// Its repository.
pub const REPO: &str = "dinner";
/// The issue that is planned: its first.
pub const PLANNED: u64 = 1;
/// What it asks for.
pub const TITLE: &str = "Give a dinner";

/// Its roles, each with its `role.toml`.
const ROLES: [(&str, &str); 5] = [
    ("planner", include_str!("../../../demo/dinner/planner.toml")),
    (
        "implementer",
        include_str!("../../../demo/dinner/implementer.toml"),
    ),
    (
        "reviewer",
        include_str!("../../../demo/dinner/reviewer.toml"),
    ),
    ("fixer", include_str!("../../../demo/dinner/fixer.toml")),
    ("merger", include_str!("../../../demo/dinner/merger.toml")),
];
/// What its repository has. The check looks for what is left open.
const FILES: [(&str, &str); 3] = [
    ("README.md", "# A dinner\n\nOn Saturday, at eight.\n"),
    (
        "guests.md",
        "# Guests\n\n- the colonel: must not eat nuts\n- the doctor\n",
    ),
    ("check.sh", "! grep -n 'to be decided' ./*.md\n"),
];

/// Makes its repository, its roles and its issue; its sections of `carson.toml`.
pub async fn make(root: &Path, home: &Path) -> Result<String, CommandError> {
    let remote = root.join("dinner.git");
    repository::sample(&root.join("dinner"), &FILES, &remote).await?;
    for (name, text) in ROLES {
        let dir = home.join("roles").join(name);
        std::fs::create_dir_all(&dir)?;
        std::fs::write(dir.join("role.toml"), text)?;
    }
    let script = home.join("dinner.toml");
    std::fs::write(&script, include_str!("../../../demo/dinner/play.toml"))?;
    let issue = NewIssue {
        title: TITLE.to_owned(),
        body: "For the guests of guests.md.".to_owned(),
        labels: vec!["carson:plan".to_owned()],
    };
    let forge = Forge::of(LocalForge::at(home.join("forge").join(REPO)));
    forge.create_issue(&issue).await?;
    let text = |path: &Path| json!(path.to_string_lossy());
    let (remote, script) = (text(&remote), text(&script));
    Ok(format!(
        "\n[repos.{REPO}]\nurl = {remote}\npolicy = {{ merge = true }}\n\n\
         [accounts.crew]\nengine = \"rehearsal\"\nscript = {script}\n"
    ))
}

/// Whether a role is one of it.
pub fn has(role: &Role) -> bool {
    role.repos.iter().any(|repo| repo.as_str() == REPO)
}

/// Does what its operator does: approves the plan, once the firing that made it has ended and people
/// could read it. `None` while there is none; what stands in the way is asked again.
pub async fn approve(home: &Home) -> Option<Approved> {
    let repo = home
        .fleet
        .repos
        .values()
        .find(|repo| repo.name.as_str() == REPO)?;
    let (planner, _) = waiting_plan(home, repo, PLANNED).await.ok()??;
    planner.ended_at?;
    let (issue, repo) = (PLANNED, Some(REPO.to_owned()));
    Approve { issue, repo }.answer(home).await.ok()
}

/// What an operator types for that, and what comes of it.
pub fn approval(filed: &[u64]) -> String {
    let filed = numbered(filed);
    format!("carson approve {PLANNED} --repo {REPO}: filed {filed}")
}

/// Issues as people name them.
pub fn numbered(issues: &[u64]) -> String {
    let all: Vec<String> = issues.iter().map(|number| format!("#{number}")).collect();
    all.join(" and ")
}

/// Whether this issue of its repository is done.
pub async fn is_done(home: &Home, number: u64) -> bool {
    let repo = Some(REPO.to_owned());
    let shown = Show { number, repo }.answer(home).await;
    shown.is_ok_and(|shown| {
        let mut labels = shown.issue.labels.iter();
        labels.any(|label| is_same_label(label, DONE))
    })
}
