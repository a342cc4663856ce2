//! Drafts, also where GitHub has none: in private repositories of some plans. There a label says it.

use serde::de::IgnoredAny;
use serde_json::json;

use super::GitHubForge;
use super::graphql::REPEATABLE;
use crate::error::ForgeError;

/// Whether GitHub refused because this repository can have no drafts.
pub(super) fn are_unsupported(error: &ForgeError) -> bool {
    let ForgeError::Invalid { message } = error else {
        return false;
    };
    let said = message.to_ascii_lowercase();
    said.contains("draft") && said.contains("not supported")
}

impl GitHubForge {
    /// REST has no verb for this.
    pub(super) async fn set_draft(&self, node: &str, draft: bool) -> Result<(), ForgeError> {
        let verb = if draft {
            "convertPullRequestToDraft"
        } else {
            "markPullRequestReadyForReview"
        };
        let query = format!(
            "mutation($id: ID!) {{ {verb}(input: {{pullRequestId: $id}}) {{ clientMutationId }} }}"
        );
        let sent = self.graphql::<IgnoredAny>(&query, json!({"id": node}), REPEATABLE);
        sent.await.map(|_| ())
    }
}
