//! Labels, made where they are missing.

use reqwest::Method;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::json;

use super::GitHubForge;
use crate::error::ForgeError;
use crate::rest::Query;

/// The colour of those that we make.
const COLOUR: &str = "ededed";

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
        #[derive(Deserialize)]
        struct RawLabel {
            name: String,
        }
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
}
