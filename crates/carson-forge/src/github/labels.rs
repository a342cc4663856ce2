//! Labels, made where they are missing.

use chrono::{DateTime, Utc};
use reqwest::Method;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::json;

use super::GitHubForge;
use super::types::{RawLabel, RawUser, login};
use crate::error::ForgeError;
use crate::people::Association;
use crate::rest::Query;
use crate::words::{Labelled, is_same_label};

/// The colour of those that we make.
const COLOUR: &str = "ededed";

/// The event of a label that is set, and of one that is taken away.
const SET: &str = "labeled";
const TAKEN: &str = "unlabeled";

impl GitHubForge {
    /// Adds labels. GitHub makes those that are missing for whoever may push; for others each is made
    /// first, if they may do that.
    pub(super) async fn add_labels(&self, number: u64, add: &[&str]) -> Result<(), ForgeError> {
        match self.post_labels(number, add).await {
            Err(ForgeError::Invalid { .. }) => {
                for label in add {
                    self.post_label(label, "").await?;
                }
                self.post_labels(number, add).await
            }
            done => done,
        }
    }

    async fn post_labels(&self, number: u64, add: &[&str]) -> Result<(), ForgeError> {
        let path = self.path(&["issues", &number.to_string(), "labels"]);
        let body = json!({"labels": add});
        let sent = self.client.send::<IgnoredAny>(Method::POST, &path, &body);
        sent.await.map(|_| ())
    }

    pub(super) async fn label_names(&self) -> Result<Vec<String>, ForgeError> {
        let path = self.path(&["labels"]);
        let all: Vec<RawLabel> = self.client.whole_list(Query::of(&path, &[])).await?;
        Ok(all.into_iter().map(|label| label.name).collect())
    }

    pub(super) async fn post_label(&self, name: &str, says: &str) -> Result<(), ForgeError> {
        let path = self.path(&["labels"]);
        let label = json!({"name": name, "color": COLOUR, "description": says});
        let made = self
            .client
            .send::<IgnoredAny>(Method::POST, &path, &label)
            .await;
        match made {
            // It is there already.
            Err(ForgeError::Invalid { .. }) => Ok(()),
            made => made.map(|_| ()),
        }
    }

    /// The last time that somebody set it, as the events have it; `None` where they do not show it
    /// yet, or it was taken away since.
    pub(super) async fn last_labelled(
        &self,
        number: u64,
        label: &str,
    ) -> Result<Option<Labelled>, ForgeError> {
        let path = self.path(&["issues", &number.to_string(), "events"]);
        let events: Vec<RawEvent> = self.client.whole_list(Query::of(&path, &[])).await?;
        let last = events.into_iter().rfind(|event| event.is_of(label));
        let Some(last) = last.filter(|event| event.event == SET) else {
            return Ok(None);
        };
        let by = login(last.actor);
        Ok(Some(Labelled {
            association: self.association_of(&by).await?,
            by,
            at: Some(last.created_at),
        }))
    }

    /// Events do not say how somebody stands to the repository, and whoever may sort its issues may set
    /// labels: so it is asked who may write there.
    async fn association_of(&self, login: &str) -> Result<Association, ForgeError> {
        if login.eq_ignore_ascii_case(&self.owner) {
            return Ok(Association::Owner);
        }
        let path = self.path(&["collaborators", login, "permission"]);
        match self.client.get::<RawPermission>(&path).await {
            Ok(may) if matches!(may.permission.as_str(), "admin" | "write") => {
                Ok(Association::Collaborator)
            }
            Ok(_) | Err(ForgeError::NotFound { .. }) => Ok(Association::None),
            // The token may not ask that.
            Err(ForgeError::Forbidden { .. }) => Ok(Association::Unknown),
            Err(error) => Err(error),
        }
    }
}

#[derive(Deserialize)]
struct RawEvent {
    event: String,
    actor: Option<RawUser>,
    label: Option<RawLabel>,
    created_at: DateTime<Utc>,
}

impl RawEvent {
    fn is_of(&self, label: &str) -> bool {
        let named = self.label.as_ref();
        let is_it = named.is_some_and(|named| is_same_label(&named.name, label));
        is_it && [SET, TAKEN].contains(&self.event.as_str())
    }
}

/// What somebody may do in a repository: `admin`, `write`, `read` or `none`.
#[derive(Deserialize)]
struct RawPermission {
    permission: String,
}
