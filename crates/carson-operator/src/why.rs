//! Why a role fired or did not, and where an issue stands: the chain of facts, and what would change it.

mod ended;
mod of_firing;
mod of_issue;
mod of_pull;
mod of_role;
mod stops;

use carson_home::Home;
use carson_store::Found;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::names;
use crate::refusal::Refusal;
use crate::verb::{Ask, Who};

pub use of_firing::OfFiring;
pub use of_issue::{OfIssue, OfQueue};
pub use of_pull::OfPull;
pub use of_role::OfRole;
pub use stops::Stop;

/// What a role does not take in a repository, each with what would change it; nothing where its forge does not
/// answer.
pub(crate) async fn held_work(
    home: &Home,
    role: &carson_config::Role,
    repo: &carson_config::Repo,
) -> Vec<(String, carson_core::stops::Change)> {
    let held = stops::held_in(home, role, repo).await;
    held.into_iter()
        .map(|stop| (stop.why, stop.change))
        .collect()
}

/// What keeps a role from firing now.
pub(crate) async fn role_stopped(
    home: &Home,
    role: &carson_config::Role,
) -> Result<Option<String>, Refusal> {
    let now = home.clock.now();
    let gate = carson_firing::admit::gate(home, role, now).await?;
    of_issue::stopped(home, role, &gate, now).await
}

/// Why did a role fire or not, what would change it, and what comes next?
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Why {
    /// The role; an issue (`issue-12`, `widget#12`); a pull request (`pr-12`, `pr-widget#12`); or a firing: its id, or any part of it that no other
    /// has.
    pub what: String,
}

/// The reasons.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum Reasons {
    /// Of a role, now.
    Role(Box<OfRole>),
    /// Of one issue, now.
    Issue(Box<OfIssue>),
    /// Of one pull request, now.
    Pull(Box<OfPull>),
    /// Of one firing.
    Firing(Box<OfFiring>),
}

/// `12` or `widget#12` of a pull request, in the form of an issue.
fn as_issue(text: &str) -> String {
    match text.contains('#') {
        true => text.to_owned(),
        false => format!("issue-{text}"),
    }
}

impl Ask for Why {
    const NAME: &'static str = "why";
    const WHAT: &'static str =
        "Say why a role fired or did not, what would change it, and what comes next";
    const WHO: Who = Who::Anyone;
    type Answer = Reasons;

    async fn answer(self, home: &Home) -> Result<Self::Answer, Refusal> {
        let no_role = match names::role(&home.fleet, &self.what) {
            Ok(role) => {
                return Ok(Reasons::Role(Box::new(
                    of_role::reasons_of_role(home, role).await?,
                )));
            }
            Err(no_role) => no_role,
        };
        if let Some(text) = self.what.strip_prefix("pr-")
            && let Some((repo, number)) = of_issue::named(&home.fleet, &as_issue(text))?
        {
            let reasons = of_pull::reasons_of_pull(home, repo, number).await?;
            return Ok(Reasons::Pull(Box::new(reasons)));
        }
        if let Some((repo, number)) = of_issue::named(&home.fleet, &self.what)? {
            let reasons = of_issue::reasons_of_issue(home, repo, number).await?;
            return Ok(Reasons::Issue(Box::new(reasons)));
        }
        // A word of a few such letters that several ids have is a role's name, mistyped.
        let is_short = self.what.len() < 4;
        match home.store.find_firing(&self.what).await? {
            Found::Nothing => return Err(no_role),
            Found::Many(_) if is_short => return Err(no_role),
            Found::Many(_) | Found::One(_) => {}
        }
        let row = names::firing(&home.store, &self.what).await?;
        let reasons = of_firing::reasons_of_firing(home, row).await?;
        Ok(Reasons::Firing(Box::new(reasons)))
    }
}
