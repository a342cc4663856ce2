//! `carson issue` and `carson pr`

use carson_config::Repo;
use carson_firing::Household;
use carson_forge::{Comment, Forge, NewIssue, Pull};

use crate::app::{self, App};
use crate::args::{IssueAction, PrAction, RepoArg};
use crate::error::CommandError;
use crate::print;

async fn open(house: &Household, arg: &RepoArg) -> Result<Forge, CommandError> {
    let repo: &Repo = app::repo(&house.fleet, arg.repo.as_deref())?;
    Ok(house.forge(repo).await?)
}

pub async fn issue(app: &App, action: IssueAction) -> Result<u8, CommandError> {
    let house = app.house_in_any_case().await?;
    match action {
        IssueAction::Create {
            title,
            body,
            labels,
            repo,
        } => {
            if title.trim().is_empty() || labels.iter().any(|label| label.trim().is_empty()) {
                return Err(CommandError::usage("a title or a label is empty")
                    .hint("carson issue create \"What is to be done\" --label carson:ready"));
            }
            let forge = open(&house, &repo).await?;
            let issue = forge
                .create_issue(&NewIssue {
                    title: house.redactor.redact(&title).into_owned(),
                    body: house.redactor.redact(&body).into_owned(),
                    labels,
                })
                .await?;
            if app.json {
                print::json(&issue);
            } else {
                print::line(&format!("#{} {}", issue.number, issue.url));
            }
        }
        IssueAction::List { label, repo } => {
            let issues = open(&house, &repo).await?.issues(label.as_deref()).await?;
            if app.json {
                print::json(&issues);
                return Ok(0);
            }
            let row = |issue: &carson_forge::Issue| {
                vec![
                    format!("#{}", issue.number),
                    flat(&issue.title),
                    issue.labels.join(", "),
                ]
            };
            print::table(
                &["ISSUE", "TITLE", "LABELS"],
                issues.iter().map(row).collect(),
            );
        }
        IssueAction::Show { number, repo } => {
            let forge = open(&house, &repo).await?;
            let (issue, comments) = (forge.issue(number).await?, forge.comments(number).await?);
            if app.json {
                print::json(&serde_json::json!({"issue": issue, "comments": comments}));
                return Ok(0);
            }
            print::line(&format!("#{} {}", issue.number, flat(&issue.title)));
            print::line(&format!(
                "{:?} · {} · {}",
                issue.state, issue.author, issue.url
            ));
            print::line(&format!(
                "labels: {}\n\n{}",
                issue.labels.join(", "),
                issue.body
            ));
            tell(&comments);
        }
    }
    Ok(0)
}

pub async fn pr(app: &App, action: PrAction) -> Result<u8, CommandError> {
    let house = app.house_in_any_case().await?;
    match action {
        PrAction::List { all, repo } => {
            let pulls = open(&house, &repo).await?.pulls(!all).await?;
            if app.json {
                print::json(&pulls);
                return Ok(0);
            }
            let row = |pull: &Pull| {
                vec![
                    format!("#{}", pull.number),
                    stand(pull),
                    flat(&pull.title),
                    pull.head.clone(),
                ]
            };
            print::table(
                &["PR", "STATE", "TITLE", "BRANCH"],
                pulls.iter().map(row).collect(),
            );
        }
        PrAction::Show { number, repo } => {
            let forge = open(&house, &repo).await?;
            let (pull, comments) = (forge.pull(number).await?, forge.comments(number).await?);
            if app.json {
                print::json(&serde_json::json!({"pull": pull, "comments": comments}));
                return Ok(0);
            }
            print::line(&format!("#{} {}", pull.number, flat(&pull.title)));
            print::line(&format!(
                "{} · {} → {} · {}",
                stand(&pull),
                pull.head,
                pull.base,
                pull.url
            ));
            print::line(&format!(
                "labels: {}\n\n{}",
                pull.labels.join(", "),
                pull.body
            ));
            tell(&comments);
        }
    }
    Ok(0)
}

fn stand(pull: &Pull) -> String {
    let state = format!("{:?}", pull.state).to_lowercase();
    if pull.draft {
        format!("{state}, draft")
    } else {
        state
    }
}

/// A title as one line that cannot move the cursor.
fn flat(title: &str) -> String {
    title
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .take(100)
        .collect()
}

fn tell(comments: &[Comment]) {
    for comment in comments {
        print::line(&format!(
            "\n--- {} · {}",
            comment.author,
            print::time(comment.created_at)
        ));
        print::line(&comment.body);
    }
}
