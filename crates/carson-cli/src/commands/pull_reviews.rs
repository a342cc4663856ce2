//! `carson pr checks`, `carson pr reviews` and `carson pr ready`

use carson_core::text::instant;
use carson_core::untrusted::one_line;
use carson_forge::{CheckRun, Review, Thread};
use carson_home::Home;
use carson_operator::Ask;
use carson_operator::pull_reviews::{self, Checked, Reviewed};
use serde_json::json;

use crate::app::App;
use crate::args::{PrAction, RepoArg};
use crate::error::CommandError;
use crate::print;

/// Longest name of a check that is shown.
const NAME: usize = 80;

pub async fn pr(app: &App, home: &Home, action: PrAction) -> Result<(), CommandError> {
    match action {
        PrAction::Checks {
            number,
            repo: RepoArg { repo },
        } => {
            let checked = pull_reviews::Checks { number, repo }.answer(home).await?;
            match app.json {
                true => print::json(&checked),
                false => show_checks(&checked),
            }
        }
        PrAction::Reviews {
            number,
            repo: RepoArg { repo },
        } => {
            let reviewed = pull_reviews::Reviews { number, repo }.answer(home).await?;
            match app.json {
                true => print::sorted_json(&reviewed),
                false => show_reviews(&reviewed),
            }
        }
        PrAction::Ready {
            number,
            repo: RepoArg { repo },
        } => {
            let ready = pull_reviews::Ready { number, repo }.answer(home).await?;
            print::done(app.json, &format!("#{number} is ready for review"), &ready);
        }
        _ => {}
    }
    Ok(())
}

/// The word of a choice, as JSON has it.
fn word(choice: &impl serde::Serialize) -> String {
    json!(choice).as_str().unwrap_or_default().to_owned()
}

fn show_checks(checked: &Checked) {
    let sha: String = checked.head.sha.chars().take(12).collect();
    let merges = word(&checked.head.mergeability);
    print::line(&format!("#{} offers {sha}: {merges}", checked.pull));
    let row = |check: &CheckRun| {
        let ended = check.conclusion.as_ref().map_or("runs".to_owned(), word);
        let at = check.ended_at.map(instant).unwrap_or_default();
        let url = check.url.as_deref().unwrap_or_default();
        vec![one_line(&check.name, NAME), ended, at, one_line(url, 200)]
    };
    let rows: Vec<Vec<String>> = checked.checks.iter().map(row).collect();
    if rows.is_empty() {
        print::line("no check says anything of it");
    } else {
        print::table(&["CHECK", "RESULT", "ENDED", "WHERE"], rows);
    }
}

fn show_reviews(reviewed: &Reviewed) {
    if reviewed.reviews.is_empty() && reviewed.threads.is_empty() {
        print::line(&format!("nobody said anything of #{}", reviewed.pull));
    }
    for review in &reviewed.reviews {
        let Review {
            author,
            state,
            body,
            submitted_at,
            ..
        } = review;
        let at = submitted_at.map(instant).unwrap_or_default();
        let author = one_line(author, NAME);
        print::line(&format!("--- {author} · {} · {at}\n{body}", word(state)));
    }
    for thread in &reviewed.threads {
        let Thread {
            path,
            line,
            resolved,
            comments,
            ..
        } = thread;
        let line = line.map_or(String::new(), |line| format!(":{line}"));
        let settled = if *resolved { " · resolved" } else { "" };
        let path = one_line(path, 200);
        print::line(&format!("\n=== {path}{line}{settled}"));
        for comment in comments {
            let author = one_line(&comment.author, NAME);
            let at = instant(comment.created_at);
            print::line(&format!("--- {author} · {at}\n{}", comment.body));
        }
    }
}
