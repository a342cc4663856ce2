//! Issues on any forge.

use std::collections::BTreeMap;

use carson_config::{Fleet, Repo, RoleKind};
use carson_core::{RepoName, RoleName};
use carson_forge::{Comment, Forge, Issue, Listed, NewIssue};
use carson_home::Home;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};

use crate::names;
use crate::refusal::Refusal;
use crate::verb::{Ask, Who};

/// The label of a new issue where no role works on issues yet.
const LABEL: &str = "carson:ready";

/// Make an issue that a role may take up.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Create {
    /// Its title.
    pub title: String,
    /// Its text.
    #[serde(default)]
    pub body: String,
    /// Its labels; without any it gets the one of the role that makes changes there.
    #[serde(default)]
    pub labels: Vec<String>,
    /// The repository; needed when there are several.
    pub repo: Option<String>,
}

/// The label that brings an issue to the role that works there.
///
/// # Errors
/// When several roles do, each with a label of its own.
pub fn label_there(fleet: &Fleet, repo: &RepoName) -> Result<String, Refusal> {
    let mut labels = BTreeMap::new();
    for role in fleet
        .roles
        .values()
        .filter(|role| role.repos.contains(repo))
    {
        if let Some(label) = role.work.label() {
            labels.entry(label).or_insert(&role.name);
        }
    }
    // Who is disabled takes nothing, unless nobody else is there.
    let enabled = |role: &RoleName| fleet.roles.get(role).is_some_and(|role| role.enabled);
    if labels.values().any(|role| enabled(role)) {
        labels.retain(|_, role| enabled(role));
    }
    // Most issues ask for a change; to plan one is asked for by its own label.
    let changes = |role: &RoleName| {
        let role = fleet.roles.get(role);
        role.is_some_and(|role| role.kind == RoleKind::Implementer)
    };
    if labels.values().any(|role| changes(role)) {
        labels.retain(|_, role| changes(role));
    }
    match labels.len() {
        0 => Ok(LABEL.to_owned()),
        1 => Ok(labels.into_keys().map(str::to_owned).collect()),
        _ => Err(Refusal::WhichLabel {
            known: labels
                .into_iter()
                .map(|(label, role)| format!("{label} ({role})"))
                .collect(),
        }),
    }
}

impl Ask for Create {
    const NAME: &'static str = "issue create";
    const WHAT: &'static str = "Make an issue that a role may take up";
    const WHO: Who = Who::Operator;
    type Answer = Issue;

    async fn answer(self, home: &Home) -> Result<Self::Answer, Refusal> {
        let repo = names::repo_or_only(&home.fleet, self.repo.as_deref())?;
        let issue = self.checked(home, repo)?;
        Ok(home.forge(repo).await?.create_issue(&issue).await?)
    }
}

impl Create {
    /// The same, once: whoever says it again with this key finds what there is.
    ///
    /// # Errors
    /// As [`Create`] has them, and when an issue cannot be read that may be the one.
    pub(crate) async fn once(self, home: &Home, key: &str) -> Result<Issue, Refusal> {
        let repo = names::repo_or_only(&home.fleet, self.repo.as_deref())?;
        let issue = self.checked(home, repo)?;
        Ok(home
            .forge(repo)
            .await?
            .create_issue_once(key, &issue)
            .await?)
    }

    fn checked(self, home: &Home, repo: &Repo) -> Result<NewIssue, Refusal> {
        let is_empty = |word: &String| word.trim().is_empty();
        if is_empty(&self.title) || self.labels.iter().any(is_empty) {
            return Err(Refusal::EmptyIssue);
        }
        let labels = match self.labels.is_empty() {
            true => vec![label_there(&home.fleet, &repo.name)?],
            false => self.labels,
        };
        Ok(NewIssue {
            title: home.redactor.redact(&self.title).into_owned(),
            body: home.redactor.redact(&self.body).into_owned(),
            labels,
        })
    }
}

/// Which issues are open?
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct List {
    /// Only with this label.
    pub label: Option<String>,
    /// The repository; needed when there are several.
    pub repo: Option<String>,
}

impl Ask for List {
    const NAME: &'static str = "issue list";
    const WHAT: &'static str = "List open issues";
    const WHO: Who = Who::Anyone;
    type Answer = Readable<Issue>;

    async fn answer(self, home: &Home) -> Result<Self::Answer, Refusal> {
        let forge = forge(home, self.repo.as_deref()).await?;
        Ok(Readable(forge.issues(self.label.as_deref()).await?))
    }
}

/// A list of a forge; as JSON what of it can be read.
#[derive(Debug)]
pub struct Readable<T>(pub Listed<T>);

impl<T: Serialize> Serialize for Readable<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.found.serialize(serializer)
    }
}

/// What does an issue say?
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Show {
    /// Its number.
    pub number: u64,
    /// The repository; needed when there are several.
    pub repo: Option<String>,
}

/// An issue with its comments.
#[derive(Debug, Serialize)]
pub struct Shown {
    /// The issue.
    pub issue: Issue,
    /// What was said to it.
    pub comments: Vec<Comment>,
}

impl Ask for Show {
    const NAME: &'static str = "issue show";
    const WHAT: &'static str = "Show one issue with its comments";
    const WHO: Who = Who::Anyone;
    type Answer = Shown;

    async fn answer(self, home: &Home) -> Result<Self::Answer, Refusal> {
        let forge = forge(home, self.repo.as_deref()).await?;
        Ok(Shown {
            issue: forge.issue(self.number).await?,
            comments: forge.comments(self.number).await?,
        })
    }
}

/// The forge of a repository; of the only one where none is named.
pub(crate) async fn forge(home: &Home, repo: Option<&str>) -> Result<Forge, Refusal> {
    let repo = names::repo_or_only(&home.fleet, repo)?;
    Ok(home.forge(repo).await?)
}
