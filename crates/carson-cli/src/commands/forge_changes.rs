//! `carson issue` and `carson pr` where they change something, and `carson pr diff`

use carson_core::untrusted::one_line;
use carson_forge::{Issue, PullState};
use carson_home::Home;
use carson_operator::pull_ends::{self, Ended};
use carson_operator::{Ask, issue_edits, pulls};

use super::agreement::Wanted;
use crate::app::App;
use crate::args::{IssueAction, PrAction, RepoArg};
use crate::error::CommandError;
use crate::print;

/// Longest title that is shown.
const TITLE: usize = 100;

pub async fn issue(app: &App, home: &Home, action: IssueAction) -> Result<(), CommandError> {
    let issue = match action {
        IssueAction::Close {
            number,
            repo: RepoArg { repo },
        } => issue_edits::Close { number, repo }.answer(home).await?,
        IssueAction::Reopen {
            number,
            repo: RepoArg { repo },
        } => issue_edits::Reopen { number, repo }.answer(home).await?,
        IssueAction::Label {
            number,
            add,
            remove,
            repo: RepoArg { repo },
        } => {
            let label = issue_edits::Label {
                number,
                add,
                remove,
                repo,
            };
            label.answer(home).await?
        }
        IssueAction::Edit {
            number,
            title,
            body,
            repo: RepoArg { repo },
        } => {
            let edit = issue_edits::Edit {
                number,
                title,
                body,
                repo,
            };
            edit.answer(home).await?
        }
        IssueAction::Create { .. } | IssueAction::List { .. } | IssueAction::Show { .. } => {
            return Ok(());
        }
    };
    print::done(app.json, &stands(&issue), &issue);
    Ok(())
}

/// An issue as it is now.
fn stands(issue: &Issue) -> String {
    let state = format!("{:?}", issue.state).to_lowercase();
    let (number, title) = (issue.number, one_line(&issue.title, TITLE));
    format!("#{number} {title}: {state} [{}]", issue.labels.join(", "))
}

pub async fn pr(app: &App, home: &Home, action: PrAction) -> Result<(), CommandError> {
    match action {
        PrAction::Diff {
            number,
            repo: RepoArg { repo },
        } => {
            let changes = pull_ends::Diff { number, repo }.answer(home).await?;
            print::done(app.json, changes.diff.trim_end(), &changes);
        }
        PrAction::Merge {
            number,
            yes,
            match_head_commit: commit,
            repo: RepoArg { repo },
        } => {
            if !yes {
                agree(home, number, repo.clone()).await?;
            }
            let merge = pull_ends::Merge {
                number,
                commit,
                repo,
            };
            let merged = merge.answer(home).await?;
            let Ended { head, base, .. } = &merged;
            let text = format!("#{number} is merged: {head} → {base}");
            print::done(app.json, &text, &merged);
            goes_on(app, &merged, "is done");
        }
        PrAction::Close {
            number,
            comment,
            repo: RepoArg { repo },
        } => {
            let close = pull_ends::Close {
                number,
                comment,
                repo,
            };
            let closed = close.answer(home).await?;
            let text = format!("#{number} is closed; its branch {} stays", closed.head);
            print::done(app.json, &text, &closed);
            goes_on(
                app,
                &closed,
                "goes back, and its role will ask people what now",
            );
        }
        PrAction::List { .. }
        | PrAction::Show { .. }
        | PrAction::Checks { .. }
        | PrAction::Reviews { .. }
        | PrAction::Ready { .. } => {}
    }
    Ok(())
}

fn goes_on(app: &App, ended: &Ended, how: &str) {
    if let Some(issue) = ended.issue.filter(|_| !app.json) {
        print::line(&format!("issue #{issue} {how}"));
    }
}

/// A merge changes a branch that Carson itself never pushes, so a person says yes to it.
async fn agree(home: &Home, number: u64, repo: Option<String>) -> Result<(), CommandError> {
    let wanted = Wanted("merge without a question");
    let pull = pulls::Show { number, repo }.answer(home).await?.pull;
    // One that has ended is refused, whoever agrees.
    if pull.state != PullState::Open {
        return Ok(());
    }
    wanted.of_a_person()?;
    let (title, head, base) = (one_line(&pull.title, TITLE), &pull.head, &pull.base);
    wanted.ask(&format!("#{number} {title}: merge {head} into {base}?"))
}
