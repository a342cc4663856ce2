//! Drafts, also where GitHub has none: in private repositories of some plans. There a label says it.

use serde::de::IgnoredAny;
use serde_json::json;

use super::GitHubForge;
use super::graphql::REPEATABLE;
use super::types::RawPull;
use crate::error::ForgeError;

/// The label of a pull request that would be a draft if GitHub let it.
pub(super) const WIP: &str = "wip";

/// Whether a label stands for a draft.
pub(super) fn has_label(raw: &RawPull) -> bool {
    let mut labels = raw.labels.iter();
    labels.any(|label| label.name.eq_ignore_ascii_case(WIP))
}

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
