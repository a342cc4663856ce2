//! The labels that the fleet reads and writes, in the repositories where labels have to be made.

use std::collections::BTreeMap;

use carson_config::{Repo, Role};
use carson_core::RepoName;
use carson_forge::{Forge, OWN_LABELS, is_same_label};
use carson_home::Home;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::names;
use crate::refusal::Refusal;
use crate::verb::{Ask, Who};

/// Which labels does a repository lack?
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Check {
    /// One repository; without it all.
    pub repo: Option<String>,
}

/// Makes those that are missing.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Bootstrap {
    /// One repository; without it all.
    pub repo: Option<String>,
}

/// How a repository stands.
#[derive(Debug, Serialize)]
pub struct Standing {
    /// Which.
    pub repo: RepoName,
    /// Whether labels have to be made there; where an issue may carry any word nothing is missing.
    pub has_list: bool,
    /// Labels that it lacks.
    pub missing: Vec<String>,
    /// Labels that were made just now.
    pub made: Vec<String>,
}

impl Ask for Check {
    const NAME: &'static str = "labels check";
    const WHAT: &'static str = "Say which of the fleet's labels a repository lacks";
    const WHO: Who = Who::Anyone;
    type Answer = Vec<Standing>;

    async fn answer(self, home: &Home) -> Result<Self::Answer, Refusal> {
        let mut all = Vec::new();
        for repo in repos(home, self.repo.as_deref())? {
            all.push(standing(home, repo).await?.0);
        }
        Ok(all)
    }
}

impl Ask for Bootstrap {
    const NAME: &'static str = "labels bootstrap";
    const WHAT: &'static str = "Make the fleet's labels where a repository lacks them";
    const WHO: Who = Who::Operator;
    type Answer = Vec<Standing>;

    async fn answer(self, home: &Home) -> Result<Self::Answer, Refusal> {
        let mut all = Vec::new();
        for repo in repos(home, self.repo.as_deref())? {
            let (mut standing, forge) = standing(home, repo).await?;
            let says = wanted(home, repo);
            for label in std::mem::take(&mut standing.missing) {
                let says = says.get(&label).map_or("", String::as_str);
                forge.make_label(&label, says).await?;
                standing.made.push(label);
            }
            all.push(standing);
        }
        Ok(all)
    }
}

/// The one that is named, or all.
fn repos<'h>(home: &'h Home, named: Option<&str>) -> Result<Vec<&'h Repo>, Refusal> {
    match named {
        Some(_) => Ok(vec![names::repo_or_only(&home.fleet, named)?]),
        None => Ok(home.fleet.repos.values().collect()),
    }
}

async fn standing(home: &Home, repo: &Repo) -> Result<(Standing, Forge), Refusal> {
    let forge = home.forge(repo).await?;
    let there = forge.labels().await?;
    let lacks = |label: &String| match &there {
        Some(there) => !there.iter().any(|own| is_same_label(own, label)),
        None => false,
    };
    let standing = Standing {
        repo: repo.name.clone(),
        has_list: there.is_some(),
        missing: wanted(home, repo).into_keys().filter(lacks).collect(),
        made: Vec::new(),
    };
    Ok((standing, forge))
}

/// What the fleet needs there, with what each label says: its own, and those of the roles that work there.
fn wanted(home: &Home, repo: &Repo) -> BTreeMap<String, String> {
    let own = OWN_LABELS.map(|(name, says)| (name.to_owned(), says.to_owned()));
    let mut all = BTreeMap::from(own);
    let here = |role: &&Role| role.repos.contains(&repo.name);
    for role in home.fleet.roles.values().filter(here) {
        let labels = role.work.label().into_iter();
        for label in labels.chain(role.work.labels.iter().map(String::as_str)) {
            let says = format!("Work for {}", role.name);
            all.entry(label.to_owned()).or_insert(says);
        }
    }
    all
}
