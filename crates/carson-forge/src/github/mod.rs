//! GitHub, by its REST API, typed for the few calls that are needed.

mod section;
mod types;

use std::sync::Arc;

use reqwest::Method;
use reqwest::header::{ACCEPT, HeaderMap, HeaderName, HeaderValue};
use secrecy::SecretString;
use serde::de::IgnoredAny;
use serde_json::{Value, json};
use tokio::sync::OnceCell;

use crate::api::{Answer, Api};
use crate::error::ForgeError;
use crate::rest::{Client, Dialect, number};
use crate::standing::Standing;
use crate::words::{Comment, Issue, IssueEdit, Listed, NewIssue, NewPull, Pull, PullState, Unread};
pub(crate) use section::GitHubSection;

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
            client: Client::new(api_base, token, dialect())?,
            owner,
            slug: slug.to_owned(),
            me: Arc::default(),
        })
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
                let answer = self.graphql(&body).await?;
                let login = answer["data"]["viewer"]["login"].as_str();
                login.map(str::to_owned).ok_or(ForgeError::Unauthorized)
            }
            Err(error) => Err(error),
        }
    }

    /// Path segments below the repository.
    fn path(&self, rest: &[&str]) -> Vec<String> {
        let segments = std::iter::once("repos").chain(self.slug.split('/'));
        segments
            .chain(rest.iter().copied())
            .map(str::to_owned)
            .collect()
    }

    fn patch_issue(&self, number: u64, body: Value) -> Answer<'_, ()> {
        Box::pin(async move {
            let path = self.path(&["issues", &number.to_string()]);
            let sent = self.client.send::<IgnoredAny>(Method::PATCH, &path, &body);
            sent.await.map(|_| ())
        })
    }

    async fn raw_pull_by_head(&self, branch: &str) -> Result<Option<types::RawPull>, ForgeError> {
        let head = format!("{}:{branch}", self.owner);
        let query = [
            ("state", "all"),
            ("head", head.as_str()),
            ("sort", "created"),
        ];
        let raw: Listed<types::RawPull> = self.client.list(&self.path(&["pulls"]), &query).await?;
        let pulls = raw.found.into_iter();
        Ok(pulls
            .filter(|raw| raw.head.name == branch)
            .max_by_key(|raw| raw.number))
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

    /// One query of the other API; its whole answer.
    async fn graphql(&self, body: &Value) -> Result<Value, ForgeError> {
        let mut url = self.client.url(&[], &[])?;
        // GitHub Enterprise has the one under `/api/v3` and the other under `/api`.
        if url.path().ends_with("/v3") {
            url = url.join("graphql").unwrap_or(url);
        } else {
            url = self.client.url(&["graphql".to_owned()], &[])?;
        }
        let answer: Value = self.client.send_to(Method::POST, url, body).await?;
        match answer.get("errors") {
            Some(errors) => Err(ForgeError::Invalid {
                message: self
                    .client
                    .hide(&errors.to_string())
                    .chars()
                    .take(300)
                    .collect(),
            }),
            None => Ok(answer),
        }
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
        self.graphql(&body).await.map(|_| ())
    }
}

impl Api for GitHubForge {
    /// The login that the token belongs to; asked once.
    fn me(&self) -> Answer<'_, &str> {
        Box::pin(async move {
            self.me
                .get_or_try_init(|| self.ask_who())
                .await
                .map(String::as_str)
        })
    }

    /// Asks for the repository: the answer says what the token may do with it.
    fn examine(&self) -> Answer<'_, Standing> {
        Box::pin(async move {
            let raw: types::RawRepository = self.client.get(&self.path(&[])).await?;
            Ok(Standing {
                may_push: raw.permissions.map(|may| may.push),
                private: Some(raw.private),
                ..self.client.standing()
            })
        })
    }

    fn issues<'a>(&'a self, label: Option<&'a str>) -> Answer<'a, Listed<Issue>> {
        Box::pin(async move {
            let mut query = vec![("state", "open"), ("sort", "created"), ("direction", "asc")];
            query.extend(label.map(|label| ("labels", label)));
            let raw: Listed<types::RawIssue> =
                self.client.list(&self.path(&["issues"]), &query).await?;
            let issues = raw.found.into_iter();
            Ok(Listed {
                found: issues
                    .filter(|raw| raw.pull_request.is_none())
                    .map(Into::into)
                    .collect(),
                unread: raw.unread,
            })
        })
    }

    fn issue(&self, number: u64) -> Answer<'_, Issue> {
        Box::pin(async move {
            let number = number.to_string();
            let raw: types::RawIssue = self.client.get(&self.path(&["issues", &number])).await?;
            Ok(raw.into())
        })
    }

    fn create_issue<'a>(&'a self, new: &'a NewIssue) -> Answer<'a, Issue> {
        Box::pin(async move {
            let body = json!({"title": new.title, "body": new.body, "labels": new.labels});
            let path = self.path(&["issues"]);
            let raw: types::RawIssue = self.client.send(Method::POST, &path, &body).await?;
            Ok(raw.into())
        })
    }

    fn close_issue(&self, number: u64) -> Answer<'_, ()> {
        let body = json!({"state": "closed", "state_reason": "completed"});
        self.patch_issue(number, body)
    }

    fn reopen_issue(&self, number: u64) -> Answer<'_, ()> {
        self.patch_issue(number, json!({"state": "open"}))
    }

    fn edit_issue<'a>(&'a self, number: u64, edit: &'a IssueEdit) -> Answer<'a, ()> {
        let given = [("title", &edit.title), ("body", &edit.body)];
        let given = given
            .into_iter()
            .filter_map(|(key, text)| Some((key.to_owned(), Value::from(text.as_deref()?))));
        self.patch_issue(number, Value::Object(given.collect()))
    }

    fn comments(&self, number: u64) -> Answer<'_, Vec<Comment>> {
        Box::pin(async move {
            let number = number.to_string();
            let path = self.path(&["issues", &number, "comments"]);
            let raw: Listed<types::RawComment> = self.client.list(&path, &[]).await?;
            if let Some(Unread { place, why }) = raw.unread.into_iter().next() {
                return Err(ForgeError::Record { place, why });
            }
            let mut comments: Vec<Comment> = raw.found.into_iter().map(Into::into).collect();
            comments.sort_by_key(|comment| comment.id);
            Ok(comments)
        })
    }

    fn comment<'a>(&'a self, number: u64, body: &'a str) -> Answer<'a, Comment> {
        Box::pin(async move {
            let number = number.to_string();
            let path = self.path(&["issues", &number, "comments"]);
            let raw: types::RawComment = self
                .client
                .send(Method::POST, &path, &json!({"body": body}))
                .await?;
            Ok(raw.into())
        })
    }

    fn set_labels<'a>(
        &'a self,
        number: u64,
        add: &'a [&'a str],
        remove: &'a [&'a str],
    ) -> Answer<'a, ()> {
        Box::pin(async move {
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
        })
    }

    fn pulls(&self, open_only: bool) -> Answer<'_, Listed<Pull>> {
        Box::pin(async move {
            let state = if open_only { "open" } else { "all" };
            let path = self.path(&["pulls"]);
            let raw: Listed<types::RawPull> = self.client.list(&path, &[("state", state)]).await?;
            Ok(Listed {
                found: raw.found.into_iter().map(Into::into).collect(),
                unread: raw.unread,
            })
        })
    }

    fn pull(&self, number: u64) -> Answer<'_, Pull> {
        Box::pin(async move {
            let number = number.to_string();
            let raw: types::RawPull = self.client.get(&self.path(&["pulls", &number])).await?;
            Ok(raw.into())
        })
    }

    fn pull_by_head<'a>(&'a self, branch: &'a str) -> Answer<'a, Option<Pull>> {
        Box::pin(async move { Ok(self.raw_pull_by_head(branch).await?.map(Into::into)) })
    }

    fn create_pull<'a>(&'a self, new: &'a NewPull) -> Answer<'a, Pull> {
        Box::pin(async move {
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
        })
    }

    fn close_pull(&self, number: u64) -> Answer<'_, ()> {
        Box::pin(async move {
            let path = self.path(&["pulls", &number.to_string()]);
            let body = json!({"state": "closed"});
            let sent = self.client.send::<IgnoredAny>(Method::PATCH, &path, &body);
            sent.await.map(|_| ())
        })
    }

    fn merge_pull(&self, number: u64) -> Answer<'_, ()> {
        Box::pin(async move {
            let path = self.path(&["pulls", &number.to_string(), "merge"]);
            let merge = json!({});
            let sent = self.client.send::<IgnoredAny>(Method::PUT, &path, &merge);
            match sent.await {
                Err(error @ (ForgeError::Invalid { .. } | ForgeError::Unavailable { .. })) => {
                    // It may have been merged, and the answer was lost.
                    match self.pull(number).await {
                        Ok(pull) if pull.state == PullState::Merged => Ok(()),
                        _ => Err(error),
                    }
                }
                done => done.map(|_| ()),
            }
        })
    }

    fn standing(&self) -> Standing {
        self.client.standing()
    }
}

fn dialect() -> Dialect {
    let accept = HeaderValue::from_static("application/vnd.github+json");
    let version = HeaderName::from_static("x-github-api-version");
    Dialect {
        headers: HeaderMap::from_iter([
            (ACCEPT, accept),
            (version, HeaderValue::from_static("2022-11-28")),
        ]),
        read_standing: standing_from_headers,
    }
}

/// Scopes and limits stand in the headers of every answer.
fn standing_from_headers(headers: &HeaderMap) -> Standing {
    let scopes = headers
        .get("x-oauth-scopes")
        .and_then(|scopes| scopes.to_str().ok());
    let scopes = scopes.map(|scopes| {
        let each = scopes.split(',').map(str::trim);
        let each = each.filter(|scope| !scope.is_empty());
        each.map(str::to_owned).collect()
    });
    let resets_at = number(headers, "x-ratelimit-reset");
    Standing {
        scopes,
        remaining: number(headers, "x-ratelimit-remaining"),
        limit: number(headers, "x-ratelimit-limit"),
        resets_at: resets_at.and_then(|at| i64::try_from(at).ok()),
        ..Standing::default()
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
