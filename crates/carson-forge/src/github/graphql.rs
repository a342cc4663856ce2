//! GitHub's other API, for what its REST API has no verb for.

use std::time::Duration;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::GitHubForge;
use crate::error::ForgeError;

/// What is shown of errors.
const SHOWN: usize = 300;

/// What is waited when its own limit is used up; REST's goes on.
const LIMITED: Duration = Duration::from_secs(300);

/// A question, or a change that may be asked for twice.
pub(super) const REPEATABLE: bool = true;
/// A change that is made each time it is asked for.
pub(super) const ONCE: bool = false;

#[derive(Deserialize)]
struct Answer<T> {
    data: Option<T>,
    #[serde(default)]
    errors: Vec<Trouble>,
}

#[derive(Deserialize)]
struct Trouble {
    #[serde(default, rename = "type")]
    kind: String,
    #[serde(default)]
    message: String,
}

impl GitHubForge {
    /// One query or mutation. What is wrong with it comes as a success, in words.
    pub(super) async fn graphql<T: DeserializeOwned>(
        &self,
        query: &str,
        variables: Value,
        repeatable: bool,
    ) -> Result<T, ForgeError> {
        let mut url = self.client.url(&[], &[])?;
        // GitHub Enterprise has the one under `/api/v3` and the other under `/api`.
        if url.path().ends_with("/v3") {
            url = url.join("graphql").unwrap_or(url);
        } else {
            url = self.client.url(&["graphql".to_owned()], &[])?;
        }
        let body = json!({"query": query, "variables": variables});
        let answer: Answer<T> = self.client.post_to(url, &body, repeatable).await?;
        match (answer.data, answer.errors.first()) {
            (_, Some(first)) => Err(self.refused(&first.kind, &answer.errors)),
            (Some(data), None) => Ok(data),
            (None, None) => Err(ForgeError::Unavailable {
                detail: "an answer that is none: it has no data".into(),
            }),
        }
    }

    fn refused(&self, kind: &str, all: &[Trouble]) -> ForgeError {
        let all: Vec<&str> = all.iter().map(|one| one.message.as_str()).collect();
        let message: String = self.client.hide(&all.join("; "));
        let message: String = message.chars().take(SHOWN).collect();
        match kind {
            "NOT_FOUND" => ForgeError::NotFound { what: message },
            "FORBIDDEN" | "INSUFFICIENT_SCOPES" => ForgeError::Forbidden { message },
            "RATE_LIMITED" => ForgeError::RateLimited(LIMITED),
            _ => ForgeError::Invalid { message },
        }
    }
}
