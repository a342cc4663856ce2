//! GitHub, by its REST API, typed for the few calls that are needed.

mod app;
mod drafts;
mod graphql;
mod labels;
mod once;
mod pull_types;
mod pulls;
mod section;
mod threads;
mod types;

use std::sync::Arc;

use reqwest::Method;
use reqwest::header::{ACCEPT, HeaderMap, HeaderName, HeaderValue};
use serde::de::IgnoredAny;
use serde_json::{Value, json};
use tokio::sync::OnceCell;

use crate::answer::Answer;
use crate::api::Api;
use crate::error::ForgeError;
use crate::rest::{Client, Dialect, Query, number};
use crate::standing::Standing;
use crate::words::{Comment, Issue, IssueEdit, Labelled, Listed, NewIssue, NewPull, Pull};
use app::Installation;
use graphql::REPEATABLE;
pub(crate) use section::GitHubSection;

/// One repository on GitHub.
#[derive(Clone, Debug)]
pub struct GitHubForge {
    client: Client,
    owner: String,
    slug: String,
    /// Whose token it is.
    me: Arc<OnceCell<String>>,
    /// Where the tokens are an app's.
    app: Option<Arc<Installation>>,
}

impl GitHubForge {
    /// The repository `slug` (`owner/name`) behind `api_base`.
    #[cfg(test)]
    pub fn new(
        api_base: &str,
        slug: &str,
        token: secrecy::SecretString,
    ) -> Result<Self, ForgeError> {
        let fixed = crate::rest::Fixed(token);
        let client = Client::new(api_base, Arc::new(fixed), dialect())?;
        Ok(Self::of(client, slug, None))
    }

    fn of(client: Client, slug: &str, app: Option<Arc<Installation>>) -> Self {
        Self {
            client,
            owner: slug.split('/').next().unwrap_or_default().to_owned(),
            slug: slug.to_owned(),
            me: Arc::default(),
            app,
        }
    }

    async fn ask_who(&self) -> Result<String, ForgeError> {
        if let Some(app) = &self.app {
            return app.login().await;
        }
        match self
            .client
            .get::<types::RawUser>(&["user".to_owned()])
            .await
        {
            Ok(user) => Ok(user.login),
            // A token that some app or workflow was given has no user of its own, but a viewer.
            Err(ForgeError::Forbidden { .. } | ForgeError::NotFound { .. }) => {
                let query = "query { viewer { login } }";
                let data: Value = self.graphql(query, json!({}), REPEATABLE).await?;
                let login = data["viewer"]["login"].as_str();
                login.map(str::to_owned).ok_or(ForgeError::Unauthorized)
            }
            Err(error) => Err(error),
        }
    }

    /// What became of an issue with another address: it was transferred, or the whole repository was.
    async fn left(&self, what: String) -> ForgeError {
        match self.client.get::<IgnoredAny>(&self.path(&[])).await {
            Ok(_) => ForgeError::NotFound { what },
            Err(error) => error,
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
            // GitHub tells what a user may push, and of an app that it may nothing.
            let permissions = raw.permissions.filter(|_| self.app.is_none());
            if let Some(lacking) = self.app.as_ref().and_then(|app| app.lacks()) {
                return Err(ForgeError::Forbidden {
                    message: format!(
                        "the app's installation lacks the permission {lacking}: write"
                    ),
                });
            }
            Ok(Standing {
                may_push: permissions.map(|may| may.push),
                private: Some(raw.private),
                ..self.client.standing()
            })
        })
    }

    fn labels(&self) -> Answer<'_, Option<Vec<String>>> {
        Box::pin(async move { self.label_names().await.map(Some) })
    }

    fn labelled<'a>(&'a self, number: u64, label: &'a str) -> Answer<'a, Option<Labelled>> {
        Box::pin(self.last_labelled(number, label))
    }

    fn make_label<'a>(&'a self, name: &'a str, says: &'a str) -> Answer<'a, ()> {
        Box::pin(self.post_label(name, says))
    }

    fn issues<'a>(&'a self, label: Option<&'a str>) -> Answer<'a, Listed<Issue>> {
        Box::pin(async move {
            let mut query = vec![("state", "open"), ("sort", "created"), ("direction", "asc")];
            query.extend(label.map(|label| ("labels", label)));
            let path = self.path(&["issues"]);
            let query = Query::of(&path, &query).polled();
            Ok(types::issues_of(self.client.list(query).await?))
        })
    }

    fn issue(&self, number: u64) -> Answer<'_, Issue> {
        Box::pin(async move {
            let path = self.path(&["issues", &number.to_string()]);
            match self.client.get::<types::RawIssue>(&path).await {
                Err(ForgeError::Moved { what }) => Err(self.left(what).await),
                raw => Ok(raw?.into()),
            }
        })
    }

    fn create_issue<'a>(&'a self, new: &'a NewIssue) -> Answer<'a, Issue> {
        Box::pin(async move {
            match self.post_issue(new).await {
                // It may have been made, and the answer was lost.
                Err(error @ ForgeError::Unavailable { .. }) => {
                    let made = self.newest_like(new).await.ok().flatten();
                    made.ok_or(error)
                }
                done => done,
            }
        })
    }

    fn own_issues(&self) -> Answer<'_, Listed<Issue>> {
        Box::pin(self.issues_of_ours())
    }

    fn create_own_issue<'a>(&'a self, new: &'a NewIssue) -> Answer<'a, Issue> {
        Box::pin(self.post_issue(new))
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
            let raw: Vec<types::RawComment> = self.client.whole_list(Query::of(&path, &[])).await?;
            let mut comments: Vec<Comment> = raw.into_iter().map(Into::into).collect();
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
            let add: Vec<&str> = add
                .iter()
                .copied()
                .filter(|label| !label.is_empty())
                .collect();
            if !add.is_empty() {
                self.add_labels(number, &add).await?;
            }
            let number = number.to_string();
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
            let query = [("state", state)];
            let query = Query::of(&path, &query).polled();
            let raw: Listed<types::RawPull> = self.client.list(query).await?;
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
                None => self.make_pull(new, new.draft).await?,
            };
            let mut labels: Vec<&str> = new.labels.iter().map(String::as_str).collect();
            // It should be a draft, and cannot be one here.
            labels.extend((new.draft && !raw.draft).then_some(types::WIP));
            let stale: Vec<String> = raw.labels.iter().map(|label| label.name.clone()).collect();
            let stale = stale
                .iter()
                .map(String::as_str)
                .filter(|label| !labels.contains(label));
            self.set_labels(raw.number, &labels, &stale.collect::<Vec<_>>())
                .await?;
            Ok(Pull {
                labels: labels.into_iter().map(str::to_owned).collect(),
                draft: new.draft,
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
mod approval_tests;
#[cfg(test)]
mod claim_tests;
#[cfg(test)]
mod fake;
#[cfg(test)]
mod fault_tests;
#[cfg(test)]
mod house;
#[cfg(test)]
mod keeping;
#[cfg(test)]
mod label_tests;
#[cfg(test)]
mod limit_tests;
#[cfg(test)]
mod link_tests;
#[cfg(test)]
mod log_tests;
#[cfg(test)]
mod once_tests;
#[cfg(test)]
mod poll_tests;
#[cfg(test)]
mod pull_tests;
#[cfg(test)]
mod review_tests;
#[cfg(test)]
mod secret_tests;
#[cfg(test)]
mod standing_tests;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod thread_tests;
