//! `carson issue` and `carson pr`

use carson_core::text::instant;
use carson_forge::{Comment, Issue, Pull, Unread};
use carson_operator::{Ask, issues, pulls};

use super::{forge_changes, pull_reviews};
use crate::app::App;
use crate::args::{IssueAction, PrAction, RepoArg};
use crate::error::CommandError;
use crate::print;

pub async fn issue(app: &App, action: IssueAction) -> Result<u8, CommandError> {
    let home = app.home_in_any_case().await?;
    match action {
        IssueAction::Create {
            title,
            title_option,
            body,
            labels,
            repo: RepoArg { repo },
        } => {
            let create = issues::Create {
                title: title.or(title_option).unwrap_or_default(),
                body,
                labels,
                repo,
            };
            let issue = create.answer(&home).await?;
            if app.json {
                print::json(&issue);
            } else {
                print::line(&format!("#{} {}", issue.number, issue.url));
            }
        }
        IssueAction::List {
            label,
            repo: RepoArg { repo },
        } => {
            let all = issues::List { label, repo }.answer(&home).await?;
            if app.json {
                print::json(&all);
            } else {
                let rows = all.0.found.iter().map(issue_row).collect();
                print::table(&["ISSUE", "TITLE", "LABELS"], rows);
            }
            say_unread(&all.0.unread);
        }
        IssueAction::Show {
            number,
            repo: RepoArg { repo },
        } => {
            let shown = issues::Show { number, repo }.answer(&home).await?;
            if app.json {
                print::sorted_json(&shown);
            } else {
                show_issue(&shown);
            }
        }
        change => forge_changes::issue(app, &home, change).await?,
    }
    Ok(0)
}

/// What a list lacks.
fn say_unread(unread: &[Unread]) {
    for Unread { place, why } in unread {
        print::error(&format!("left out: {place}: {}", why.trim_end()));
    }
}

fn issue_row(issue: &Issue) -> Vec<String> {
    let number = format!("#{}", issue.number);
    vec![number, flat(&issue.title), issue.labels.join(", ")]
}

fn show_issue(shown: &issues::Shown) {
    let issue = &shown.issue;
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
    print_comments(&shown.comments);
}

pub async fn pr(app: &App, action: PrAction) -> Result<u8, CommandError> {
    let home = app.home_in_any_case().await?;
    match action {
        PrAction::List {
            all,
            repo: RepoArg { repo },
        } => {
            let all = pulls::List { all, repo }.answer(&home).await?;
            if app.json {
                print::json(&all);
            } else {
                let rows = all.0.found.iter().map(pull_row).collect();
                print::table(&["PR", "STATE", "TITLE", "BRANCH"], rows);
            }
            say_unread(&all.0.unread);
        }
        PrAction::Show {
            number,
            repo: RepoArg { repo },
        } => {
            let shown = pulls::Show { number, repo }.answer(&home).await?;
            if app.json {
                print::sorted_json(&shown);
            } else {
                show_pull(&shown);
            }
        }
        asked @ (PrAction::Checks { .. } | PrAction::Reviews { .. } | PrAction::Ready { .. }) => {
            pull_reviews::pr(app, &home, asked).await?;
        }
        change => forge_changes::pr(app, &home, change).await?,
    }
    Ok(0)
}

fn pull_row(pull: &Pull) -> Vec<String> {
    let number = format!("#{}", pull.number);
    vec![number, stand(pull), flat(&pull.title), pull.head.clone()]
}

fn show_pull(shown: &pulls::Shown) {
    let pull = &shown.pull;
    print::line(&format!("#{} {}", pull.number, flat(&pull.title)));
    print::line(&format!(
        "{} · {} → {} · {}",
        stand(pull),
        pull.head,
        pull.base,
        pull.url
    ));
    if let Some(commit) = &shown.commit {
        print::line(&format!("commit: {commit}"));
    }
    if !pull.labels.is_empty() {
        print::line(&format!("labels: {}", pull.labels.join(", ")));
    }
    print::line(&format!("\n{}", pull.body));
    print_comments(&shown.comments);
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

fn print_comments(comments: &[Comment]) {
    for comment in comments {
        print::line(&format!(
            "\n--- {} · {}",
            comment.author,
            instant(comment.created_at)
        ));
        print::line(&comment.body);
    }
}
