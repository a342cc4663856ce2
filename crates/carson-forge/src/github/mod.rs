//! GitHub, by its REST API, typed for the few calls that are needed.

mod client;
mod refusal;
mod types;

use std::sync::Arc;

use reqwest::Method;
use secrecy::SecretString;
use serde::de::IgnoredAny;
use serde_json::json;
use tokio::sync::OnceCell;

use crate::error::ForgeError;
use crate::standing::Standing;
use crate::words::{Comment, Issue, NewIssue, NewPull, Pull, PullState};
use client::Client;

/// One repository on GitHub.
#[derive(Clone, Debug)]
pub struct GitHubForge {
    client: Client,
    owner: String,
    slug: String,
    /// Whose token it is.
    me: Arc<OnceCell<String>>,
}

impl GitHubForge {
    /// The repository `slug` (`owner/name`) behind `api_base`.
    ///
    /// # Errors
    /// When the address is none.
    pub fn new(api_base: &str, slug: &str, token: SecretString) -> Result<Self, ForgeError> {
        let owner = slug.split('/').next().unwrap_or_default().to_owned();
        Ok(Self {
            client: Client::new(api_base, token)?,
            owner,
            slug: slug.to_owned(),
            me: Arc::default(),
        })
    }

    /// The login that the token belongs to; asked once.
    pub(crate) async fn me(&self) -> Result<&str, ForgeError> {
        self.me
            .get_or_try_init(|| self.ask_who())
            .await
            .map(String::as_str)
    }

    async fn ask_who(&self) -> Result<String, ForgeError> {
        match self
            .client
            .get::<types::RawUser>(&["user".to_owned()])
            .await
        {
            Ok(user) => Ok(user.login),
            // An app's token has no user of its own, but a viewer.
            Err(ForgeError::Forbidden { .. } | ForgeError::NotFound { .. }) => {
                let body = json!({"query": "query { viewer { login } }"});
                let answer = self.client.graphql(&body).await?;
                let login = answer["data"]["viewer"]["login"].as_str();
                login.map(str::to_owned).ok_or(ForgeError::Unauthorized)
            }
            Err(error) => Err(error),
        }
    }

    pub(crate) fn standing(&self) -> Standing {
        self.client.standing()
    }

    /// Asks for the repository: the answer says what the token may do with it.
    pub(crate) async fn examine(&self) -> Result<Standing, ForgeError> {
        let raw: types::RawRepository = self.client.get(&self.path(&[])).await?;
        Ok(Standing {
            may_push: raw.permissions.map(|may| may.push),
            private: Some(raw.private),
            ..self.client.standing()
        })
    }

    /// Path segments below the repository.
    fn path(&self, rest: &[&str]) -> Vec<String> {
        let segments = std::iter::once("repos").chain(self.slug.split('/'));
        segments
            .chain(rest.iter().copied())
            .map(str::to_owned)
            .collect()
    }

    pub(crate) async fn issues(&self, label: Option<&str>) -> Result<Vec<Issue>, ForgeError> {
        let mut query = vec![("state", "open"), ("sort", "created"), ("direction", "asc")];
        query.extend(label.map(|label| ("labels", label)));
        let raw: Vec<types::RawIssue> = self.client.pages(&self.path(&["issues"]), &query).await?;
        Ok(raw
            .into_iter()
            .filter(|raw| raw.pull_request.is_none())
            .map(Into::into)
            .collect())
    }

    pub(crate) async fn issue(&self, number: u64) -> Result<Issue, ForgeError> {
        let number = number.to_string();
        let raw: types::RawIssue = self.client.get(&self.path(&["issues", &number])).await?;
        Ok(raw.into())
    }

    pub(crate) async fn create_issue(&self, new: &NewIssue) -> Result<Issue, ForgeError> {
        let body = json!({"title": new.title, "body": new.body, "labels": new.labels});
        let path = self.path(&["issues"]);
        let raw: types::RawIssue = self.client.send(Method::POST, &path, &body).await?;
        Ok(raw.into())
    }

    pub(crate) async fn close_issue(&self, number: u64) -> Result<(), ForgeError> {
        let number = number.to_string();
        let path = self.path(&["issues", &number]);
        let body = json!({"state": "closed", "state_reason": "completed"});
        self.client
            .send::<IgnoredAny>(Method::PATCH, &path, &body)
            .await
            .map(|_| ())
    }

    pub(crate) async fn comments(&self, number: u64) -> Result<Vec<Comment>, ForgeError> {
        let number = number.to_string();
        let path = self.path(&["issues", &number, "comments"]);
        let raw: Vec<types::RawComment> = self.client.pages(&path, &[]).await?;
        let mut comments: Vec<Comment> = raw.into_iter().map(Into::into).collect();
        comments.sort_by_key(|comment| comment.id);
        Ok(comments)
    }

    pub(crate) async fn comment(&self, number: u64, body: &str) -> Result<Comment, ForgeError> {
        let number = number.to_string();
        let path = self.path(&["issues", &number, "comments"]);
        let raw: types::RawComment = self
            .client
            .send(Method::POST, &path, &json!({"body": body}))
            .await?;
        Ok(raw.into())
    }

    pub(crate) async fn set_labels(
        &self,
        number: u64,
        add: &[&str],
        remove: &[&str],
    ) -> Result<(), ForgeError> {
        let number = number.to_string();
        let add: Vec<&&str> = add.iter().filter(|label| !label.is_empty()).collect();
        if !add.is_empty() {
            let path = self.path(&["issues", &number, "labels"]);
            let body = json!({"labels": add});
            self.client
                .send::<IgnoredAny>(Method::POST, &path, &body)
                .await?;
        }
        for label in remove {
            let path = self.path(&["issues", &number, "labels", label]);
            match self.client.delete(&path).await {
                Ok(()) | Err(ForgeError::NotFound { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    pub(crate) async fn pulls(&self, open_only: bool) -> Result<Vec<Pull>, ForgeError> {
        let state = if open_only { "open" } else { "all" };
        let raw: Vec<types::RawPull> = self
            .client
            .pages(&self.path(&["pulls"]), &[("state", state)])
            .await?;
        Ok(raw.into_iter().map(Into::into).collect())
    }

    pub(crate) async fn pull(&self, number: u64) -> Result<Pull, ForgeError> {
        let number = number.to_string();
        let raw: types::RawPull = self.client.get(&self.path(&["pulls", &number])).await?;
        Ok(raw.into())
    }

    pub(crate) async fn pull_by_head(&self, branch: &str) -> Result<Option<Pull>, ForgeError> {
        Ok(self.raw_pull_by_head(branch).await?.map(Into::into))
    }

    async fn raw_pull_by_head(&self, branch: &str) -> Result<Option<types::RawPull>, ForgeError> {
        let head = format!("{}:{branch}", self.owner);
        let query = [
            ("state", "all"),
            ("head", head.as_str()),
            ("sort", "created"),
        ];
        let raw: Vec<types::RawPull> = self.client.pages(&self.path(&["pulls"]), &query).await?;
        Ok(raw
            .into_iter()
            .filter(|raw| raw.head.name == branch)
            .max_by_key(|raw| raw.number))
    }

    pub(crate) async fn create_pull(&self, new: &NewPull) -> Result<Pull, ForgeError> {
        let raw = match self.open_pull_by_head(&new.head).await? {
            Some(known) => self.change_pull(known, new).await?,
            None => self.make_pull(new).await?,
        };
        let labels: Vec<&str> = new.labels.iter().map(String::as_str).collect();
        let stale: Vec<String> = raw.labels.iter().map(|label| label.name.clone()).collect();
        let stale = stale
            .iter()
            .map(String::as_str)
            .filter(|label| !labels.contains(label));
        self.set_labels(raw.number, &labels, &stale.collect::<Vec<_>>())
            .await?;
        Ok(Pull {
            labels: new.labels.clone(),
            ..raw.into()
        })
    }

    async fn open_pull_by_head(&self, head: &str) -> Result<Option<types::RawPull>, ForgeError> {
        let known = self.raw_pull_by_head(head).await?;
        Ok(known.filter(|raw| raw.state() == PullState::Open))
    }

    /// Another process may have made it since the look, or our own request whose answer was lost.
    async fn make_pull(&self, new: &NewPull) -> Result<types::RawPull, ForgeError> {
        let body = json!({
            "title": new.title.as_str(), "body": new.body.as_str(), "head": new.head, "base": new.base,
            "draft": new.draft,
        });
        let path = self.path(&["pulls"]);
        match self.client.send(Method::POST, &path, &body).await {
            Err(error @ (ForgeError::Invalid { .. } | ForgeError::Unavailable { .. })) => {
                match self.open_pull_by_head(&new.head).await {
                    Ok(Some(known)) => self.change_pull(known, new).await,
                    _ => Err(error),
                }
            }
            done => done,
        }
    }

    async fn change_pull(
        &self,
        known: types::RawPull,
        new: &NewPull,
    ) -> Result<types::RawPull, ForgeError> {
        if known.draft != new.draft {
            self.set_draft(&known.node_id, new.draft).await?;
        }
        let number = known.number.to_string();
        let body = json!({"title": new.title.as_str(), "body": new.body.as_str()});
        let path = self.path(&["pulls", &number]);
        let mut raw: types::RawPull = self.client.send(Method::PATCH, &path, &body).await?;
        raw.draft = new.draft;
        Ok(raw)
    }

    /// REST has no verb for this.
    async fn set_draft(&self, node: &str, draft: bool) -> Result<(), ForgeError> {
        let verb = if draft {
            "convertPullRequestToDraft"
        } else {
            "markPullRequestReadyForReview"
        };
        let query = format!(
            "mutation($id: ID!) {{ {verb}(input: {{pullRequestId: $id}}) {{ clientMutationId }} }}"
        );
        let body = json!({"query": query, "variables": {"id": node}});
        self.client.graphql(&body).await.map(|_| ())
    }
}

#[cfg(test)]
mod claim_tests;
#[cfg(test)]
mod fake;
#[cfg(test)]
mod fault_tests;
#[cfg(test)]
mod limit_tests;
#[cfg(test)]
mod secret_tests;
#[cfg(test)]
mod standing_tests;
#[cfg(test)]
mod tests;
