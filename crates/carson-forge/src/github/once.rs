//! What is there once: it is looked for before it is made, and after an answer that was lost.

use reqwest::Method;
use serde_json::json;

use super::{GitHubForge, drafts, types};
use crate::api::Api;
use crate::error::ForgeError;
use crate::rest::Query;
use crate::words::{Issue, Listed, NewIssue, NewPull, PullState};

/// Pages of a hundred issues and pull requests of ours among which one that was made lately is looked
/// for: what is owed to a forge is tried for days, in which no fleet makes more.
const OWN_PAGES: u32 = 2;

impl GitHubForge {
    pub(super) async fn post_issue(&self, new: &NewIssue) -> Result<Issue, ForgeError> {
        let body = json!({"title": new.title, "body": new.body, "labels": new.labels});
        let path = self.path(&["issues"]);
        let raw: types::RawIssue = self.client.send(Method::POST, &path, &body).await?;
        Ok(raw.into())
    }

    pub(super) async fn issues_of_ours(&self) -> Result<Listed<Issue>, ForgeError> {
        let me = self.me().await?;
        let path = self.path(&["issues"]);
        let query = [
            ("creator", me),
            ("state", "all"),
            ("sort", "created"),
            ("direction", "desc"),
        ];
        let query = Query::of(&path, &query).first_pages(OWN_PAGES);
        Ok(types::issues_of(self.client.list(query).await?))
    }

    /// Our own open issue of this title and text.
    pub(super) async fn newest_like(&self, new: &NewIssue) -> Result<Option<Issue>, ForgeError> {
        let me = self.me().await?;
        let path = self.path(&["issues"]);
        let query = [("creator", me), ("sort", "created"), ("direction", "desc")];
        let ours: Listed<types::RawIssue> = self.client.list(Query::of(&path, &query)).await?;
        let mut ours = ours.found.into_iter().map(Issue::from);
        Ok(ours.find(|issue| issue.title == new.title && issue.body == new.body))
    }

    pub(super) async fn raw_pull_by_head(
        &self,
        branch: &str,
    ) -> Result<Option<types::RawPull>, ForgeError> {
        let head = format!("{}:{branch}", self.owner);
        let query = [
            ("state", "all"),
            ("head", head.as_str()),
            ("sort", "created"),
        ];
        let path = self.path(&["pulls"]);
        let raw: Listed<types::RawPull> = self.client.list(Query::of(&path, &query)).await?;
        let pulls = raw.found.into_iter();
        Ok(pulls
            .filter(|raw| raw.head.name == branch)
            .max_by_key(|raw| raw.number))
    }

    pub(super) async fn open_pull_by_head(
        &self,
        head: &str,
    ) -> Result<Option<types::RawPull>, ForgeError> {
        let known = self.raw_pull_by_head(head).await?;
        Ok(known.filter(|raw| raw.state() == PullState::Open))
    }

    /// Another process may have made it since the look, or our own request whose answer was lost.
    pub(super) async fn make_pull(
        &self,
        new: &NewPull,
        draft: bool,
    ) -> Result<types::RawPull, ForgeError> {
        let body = json!({
            "title": new.title.as_str(), "body": new.body.as_str(), "head": new.head, "base": new.base,
            "draft": draft,
        });
        let path = self.path(&["pulls"]);
        match self.client.send(Method::POST, &path, &body).await {
            Err(error) if draft && drafts::are_unsupported(&error) => {
                Box::pin(self.make_pull(new, false)).await
            }
            Err(error @ (ForgeError::Invalid { .. } | ForgeError::Unavailable { .. })) => {
                match self.open_pull_by_head(&new.head).await {
                    Ok(Some(known)) => self.change_pull(known, new).await,
                    _ => Err(error),
                }
            }
            done => done,
        }
    }

    pub(super) async fn change_pull(
        &self,
        known: types::RawPull,
        new: &NewPull,
    ) -> Result<types::RawPull, ForgeError> {
        let mut draft = known.draft;
        if known.draft != new.draft {
            match self.set_draft(&known.node_id, new.draft).await {
                Err(error) if new.draft && drafts::are_unsupported(&error) => {}
                done => {
                    done?;
                    draft = new.draft;
                }
            }
        }
        let number = known.number.to_string();
        let body = json!({"title": new.title.as_str(), "body": new.body.as_str()});
        let path = self.path(&["pulls", &number]);
        let mut raw: types::RawPull = self.client.send(Method::PATCH, &path, &body).await?;
        raw.draft = draft;
        Ok(raw)
    }
}
