//! The forges: a sign-in that may do what it must, and requests that are left.
//!
//! A forge such as GitHub tells scopes and limits with every answer, so preflight reads them off the list of
//! issues that found the work, and asks nothing more.

use carson_config::Repo;
use carson_forge::{FIRING_REQUESTS, Forge, ForgeError, Standing};
use chrono::DateTime;

use crate::{Scene, Verdict};
use carson_home::halt::describe_error;

/// What mends a name that its forge does not know.
const NO_REPOSITORY: &str = "put its owner and name there into slug of its section; a token that may not read \
                             a private repository hears the same";

pub(crate) async fn standing(scene: &Scene<'_>, repo: &Repo) -> Option<Verdict> {
    Some(match examined(scene, repo).await {
        Ok(standing) => may(repo, &standing),
        Err((found, remedy)) => Verdict::error(found).mend(remedy),
    })
}

pub(crate) async fn rate(scene: &Scene<'_>, repo: &Repo) -> Option<Verdict> {
    // What keeps it from answering is the other check's to tell.
    let standing = examined(scene, repo).await.ok()?;
    let left = standing.remaining?;
    let of = standing.limit.unwrap_or(left);
    if !standing.is_used_up() {
        return Some(Verdict::ok(format!("{left} of {of} requests are left")));
    }
    let until = standing
        .resets_at
        .and_then(|at| DateTime::from_timestamp(at, 0));
    let until = until.map_or("in the next hour".to_owned(), |at| {
        at.format("at %H:%M UTC").to_string()
    });
    let found = format!(
        "only {left} of {of} requests are left, a firing makes up to {FIRING_REQUESTS}; it begins \
         anew {until}"
    );
    Some(Verdict::error(found))
}

async fn examined(scene: &Scene<'_>, repo: &Repo) -> Result<Standing, (String, &'static str)> {
    if let Some(firing) = &scene.firing {
        return Ok(firing.forge.map(Forge::standing).unwrap_or_default());
    }
    let forge = scene.home.forge(repo).await;
    let forge = forge.map_err(|error| (told_alone(&error), error.hint()))?;
    let standing = forge.examine().await;
    standing.map_err(|error| {
        let remedy = match error {
            // Here it is the repository itself that is not there.
            ForgeError::NotFound { .. } => NO_REPOSITORY,
            _ => error.hint(),
        };
        (told_alone(&error), remedy)
    })
}

/// What happened and why, without the hint that is a remedy here.
fn told_alone(error: &impl carson_home::halt::Hinted) -> String {
    let hint = format!("; {}", error.hint());
    describe_error(error).trim_end_matches(&hint).to_owned()
}

fn may(repo: &Repo, standing: &Standing) -> Verdict {
    if let Some(scope) = standing.lacks_scope() {
        let scopes = standing.scopes.as_deref().unwrap_or_default().join(", ");
        let has = if scopes.is_empty() { "none" } else { &scopes };
        let found = format!("the token lacks the scope {scope}; it has {has}");
        return Verdict::error(found);
    }
    if standing.may_push == Some(false) {
        return Verdict::error("the token may read the repository, and not push to it").mend(
            "give the token's user write access, or contents: write to a fine-grained token",
        );
    }
    match repo.forge.token() {
        None => Verdict::ok("its files can be read and written"),
        Some(_) => Verdict::ok(format!("the token is accepted at {}", repo.slug)),
    }
}
