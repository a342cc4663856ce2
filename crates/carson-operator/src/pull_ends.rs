//! What a person decides about a pull request, on any forge.

use carson_firing::ended_pulls;
use carson_forge::{ForgeError, Pull, PullState};
use carson_home::Home;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::names;
use crate::refusal::Refusal;
use crate::verb::{Ask, Who};

/// Merge a pull request: its branch comes into its base, and its issue is done.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Merge {
    /// Its number.
    pub number: u64,
    /// The commit that was read, or its first digits, from seven on: when the branch has another one now,
    /// nothing is merged.
    #[serde(default)]
    pub commit: Option<String>,
    /// The repository; needed when there are several.
    pub repo: Option<String>,
}

/// A pull request was ended.
#[derive(Debug, Serialize)]
pub struct Ended {
    /// Its number.
    pub pull: u64,
    /// The branch that it offered.
    pub head: String,
    /// The branch that it was for.
    pub base: String,
    /// The issue that goes on: closed as done, or back with its role.
    pub issue: Option<u64>,
}

impl Ask for Merge {
    const NAME: &'static str = "pr merge";
    const WHAT: &'static str = "Merge a pull request into its base branch";
    const WHO: Who = Who::Trusted;
    type Answer = Ended;

    async fn answer(self, home: &Home) -> Result<Self::Answer, Refusal> {
        let read = self.commit.as_deref().map(commit).transpose()?;
        let repo = names::repo_or_only(&home.fleet, self.repo.as_deref())?;
        let forge = home.forge(repo).await?;
        let _turn = ended_pulls::turn_to_end(home).await;
        let pull = still_open(forge.pull(self.number).await?)?;
        if pull.draft {
            return Err(Refusal::DraftPull(pull.number));
        }
        let mut merge = carson_forge::Merge::default();
        if forge.holds_branches() || read.is_some() {
            let offered = forge.pull_head(pull.number).await?.sha;
            if let Some(expected) = read.filter(|read| !offered.starts_with(read)) {
                return Err(Refusal::from(ForgeError::HeadMoved {
                    number: pull.number,
                    expected,
                    found: offered,
                }));
            }
            merge.expected = Some(offered);
        }
        if !forge.holds_branches() {
            let expected = merge.expected.as_deref();
            ended_pulls::merge_branch(home, repo, &pull, expected).await?;
            // It offers nothing any more.
            merge.expected = None;
        }
        let merged = Pull {
            state: PullState::Merged,
            ..pull
        };
        let noted = async {
            forge.merge_pull(merged.number, &merge).await?;
            ended_pulls::follow(home, repo, &forge, &merged).await
        };
        match noted.await {
            Ok(issue) => Ok(ended(merged, issue)),
            // The base has it by then, and whoever reads only an error believes that it has not.
            Err(source) if !forge.holds_branches() => Err(Refusal::MergedUnnoted {
                number: merged.number,
                base: merged.base,
                source,
            }),
            Err(error) => Err(error.into()),
        }
    }
}

/// The name of a commit as somebody types it.
fn commit(text: &str) -> Result<String, Refusal> {
    let is_one = (7..=40).contains(&text.len()) && text.bytes().all(|one| one.is_ascii_hexdigit());
    if !is_one {
        return Err(Refusal::Field {
            field: "match-head-commit",
            problem: format!(
                "{text:?} is none: seven to forty digits, as `carson pr show` prints them"
            ),
        });
    }
    Ok(text.to_ascii_lowercase())
}

/// Close a pull request without merging it; its issue goes back, and people are asked what now.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Close {
    /// Its number.
    pub number: u64,
    /// Why, as a comment there.
    #[serde(default)]
    pub comment: String,
    /// The repository; needed when there are several.
    pub repo: Option<String>,
}

impl Ask for Close {
    const NAME: &'static str = "pr close";
    const WHAT: &'static str = "Close a pull request without merging it";
    const WHO: Who = Who::Operator;
    type Answer = Ended;

    async fn answer(self, home: &Home) -> Result<Self::Answer, Refusal> {
        let repo = names::repo_or_only(&home.fleet, self.repo.as_deref())?;
        let forge = home.forge(repo).await?;
        let _turn = ended_pulls::turn_to_end(home).await;
        let pull = still_open(forge.pull(self.number).await?)?;
        if !self.comment.trim().is_empty() {
            let comment = home.redactor.redact(&self.comment);
            forge.comment(pull.number, &comment).await?;
        }
        // Somebody merged its branch by git: that it was refused would be wrong, and be taken for a no.
        let in_base = !forge.holds_branches()
            && ended_pulls::is_in_its_base(home, repo, &pull)
                .await
                .unwrap_or(false);
        let state = match in_base {
            true => PullState::Merged,
            false => PullState::Closed,
        };
        match state {
            PullState::Merged => {
                let merge = carson_forge::Merge::default();
                forge.merge_pull(pull.number, &merge).await?;
            }
            _ => forge.close_pull(pull.number).await?,
        }
        let closed = Pull { state, ..pull };
        let issue = ended_pulls::follow(home, repo, &forge, &closed).await?;
        Ok(ended(closed, issue))
    }
}

/// What does a pull request change?
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Diff {
    /// Its number.
    pub number: u64,
    /// The repository; needed when there are several.
    pub repo: Option<String>,
}

/// What a pull request changes.
#[derive(Debug, Serialize)]
pub struct Changes {
    /// Its number.
    pub pull: u64,
    /// The diff against where its branch left the base.
    pub diff: String,
}

impl Ask for Diff {
    const NAME: &'static str = "pr diff";
    const WHAT: &'static str = "Show what a pull request changes";
    const WHO: Who = Who::Operator;
    type Answer = Changes;

    async fn answer(self, home: &Home) -> Result<Self::Answer, Refusal> {
        let repo = names::repo_or_only(&home.fleet, self.repo.as_deref())?;
        let pull = home.forge(repo).await?.pull(self.number).await?;
        let diff = ended_pulls::diff(home, repo, &pull).await?;
        Ok(Changes {
            pull: pull.number,
            diff,
        })
    }
}

fn still_open(pull: Pull) -> Result<Pull, Refusal> {
    match pull.state {
        PullState::Open => Ok(pull),
        state => Err(Refusal::EndedPull {
            number: pull.number,
            state,
        }),
    }
}

fn ended(pull: Pull, issue: Option<u64>) -> Ended {
    Ended {
        pull: pull.number,
        head: pull.head,
        base: pull.base,
        issue,
    }
}
