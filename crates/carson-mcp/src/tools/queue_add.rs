//! An issue for the fleet.

use std::collections::BTreeSet;

use carson_config::{Fleet, McpGrant, Repo};
use carson_core::untrusted::{FILED_BY_A_MODEL, Untrusted};
use carson_operator::issues::{Create, label_there};
use carson_operator::{Ask, names};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::desk::Desk;
use crate::refused::Refused;
use crate::tool::Call;

/// The longest text of an issue, in bytes.
const BODY: usize = 32 * 1024;
/// The longest title, in characters.
const TITLE: usize = 200;

/// How urgent an issue is, beside the label of its queue.
const URGENCY: [&str; 4] = ["p0", "p1", "p2", "p3"];

/// Files an issue that a role of the fleet takes up.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct QueueAdd {
    /// Its title: one line.
    #[schemars(length(min = 1, max = 200))]
    title: String,
    /// Its text, in Markdown: what is to be done, and how one sees that it is.
    #[serde(default)]
    body: String,
    /// The repository, by its name in the fleet; needed when there are several.
    repo: Option<String>,
    /// The label of the role that is to take it; without it that of the role that makes changes there.
    label: Option<String>,
    /// How urgent it is: `p0` to `p3`, the first of them first.
    priority: Option<String>,
}

impl Call for QueueAdd {
    const NAME: &'static str = "queue_add";
    const WHAT: &'static str = "File an issue in a repository of the fleet, for a role to take up: it becomes a pull \
         request, which people read. It costs the owner's money. Needs the grant `queue`.";
    const GRANT: Option<McpGrant> = Some(McpGrant::Queue);
    type Answer = <Create as Ask>::Answer;

    async fn answer(self, desk: &Desk) -> Result<Self::Answer, Refused> {
        let home = desk.fleet().await?;
        let repo = names::repo_or_only(&home.fleet, self.repo.as_deref())?;
        let create = self.checked(&home.fleet, repo)?;
        desk.files_an_issue()?;
        Ok(Ask::answer(create, &home).await?)
    }
}

impl QueueAdd {
    /// The operator's ask. Its texts were written by a model: nothing in them calls, closes or commands.
    fn checked(self, fleet: &Fleet, repo: &Repo) -> Result<Create, Refused> {
        let long = |name, most: usize, what| Refused::Argument {
            name,
            problem: format!("it is longer than {most} {what}"),
        };
        if self.title.chars().count() > TITLE {
            return Err(long("title", TITLE, "characters"));
        }
        if self.body.len() > BODY {
            return Err(long("body", BODY, "bytes"));
        }
        let queue = match self.label {
            Some(label) => known(label, fleet, repo)?,
            None => label_there(fleet, &repo.name)?,
        };
        let urgency = self.priority.map(urgency).transpose()?;
        Ok(Create {
            title: Untrusted::new(&self.title).title(),
            body: signed(&Untrusted::new(&self.body).prose()),
            labels: [queue].into_iter().chain(urgency).collect(),
            repo: Some(repo.name.to_string()),
        })
    }
}

/// A label by which an enabled role takes issues there. Others mean more than "do this": that a plan is
/// approved, or that what was given up is tried again.
fn known(label: String, fleet: &Fleet, repo: &Repo) -> Result<String, Refused> {
    let roles = fleet.roles.values();
    let roles = roles.filter(|role| role.enabled && role.repos.contains(&repo.name));
    let queues: BTreeSet<&str> = roles.filter_map(|role| role.work.label()).collect();
    if queues.contains(label.as_str()) {
        return Ok(label);
    }
    let queues: Vec<&str> = queues.into_iter().collect();
    Err(Refused::Argument {
        name: "label",
        problem: format!(
            "no role takes {label:?} in {}; there are: {}",
            repo.name,
            queues.join(", ")
        ),
    })
}

fn urgency(word: String) -> Result<String, Refused> {
    match URGENCY.contains(&word.as_str()) {
        true => Ok(word),
        false => Err(Refused::Argument {
            name: "priority",
            problem: format!("{word:?} is none of {}", URGENCY.join(", ")),
        }),
    }
}

/// People see how it came.
fn signed(body: &str) -> String {
    format!("{body}\n\n{FILED_BY_A_MODEL}")
        .trim_start()
        .to_owned()
}
