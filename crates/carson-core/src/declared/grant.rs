//! What a role may ask for.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::text::counted;

/// `[grant]`: what its sessions may ask Carson to do on the forge, in `$CARSON_OUTBOX`; nothing of what is
/// not named.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Grant {
    /// Comments of one firing, on the issue that it works on.
    #[schemars(range(max = 20), extend("examples" = [1]))]
    pub comments: u32,
    /// Labels that it may give and take away; `*` stands for anything, and none that steers the fleet is
    /// among them.
    #[schemars(extend("examples" = [["p0", "p1", "area:*"]]))]
    pub labels: Vec<String>,
    /// Whether it may close the issue that it works on.
    #[schemars(extend("examples" = [true]))]
    pub close: bool,
    /// Whether it may review the pull request that it works on, once.
    #[schemars(extend("examples" = [true]))]
    pub review: bool,
    /// A fixer's: threads of its pull request that one firing may answer without changing anything for them.
    #[schemars(range(max = 20), extend("examples" = [3]))]
    pub replies: u32,
    /// Whether it may say what its pull request is called and what people read of it.
    #[schemars(extend("examples" = [true]))]
    pub pull: bool,
    /// Issues that one firing may file.
    #[schemars(range(max = 20), extend("examples" = [5]))]
    pub issues: u32,
    /// Issues that all firings of the role may file within 24 hours.
    #[schemars(range(max = 200), extend("examples" = [20]))]
    pub issues_per_day: u32,
    /// The label of each issue that it files: that of the role which is to work on it.
    #[schemars(extend("examples" = ["carson:ready"]))]
    pub issue_label: String,
    /// Whether a person approves the issues of a planner or an architect before they are filed
    /// (`/carson approve HASH` on the forge, or `carson approve`); after a day without an answer they are not.
    #[schemars(extend("examples" = [false]))]
    pub approval: bool,
}

impl Grant {
    /// Whether it allows nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        let Self {
            comments,
            labels,
            close,
            review,
            replies,
            pull,
            issues,
            issues_per_day: _,
            issue_label: _,
            approval: _,
        } = self;
        let counts = [comments, replies, issues];
        let is_nothing = counts.into_iter().all(|count| *count == 0);
        is_nothing && labels.is_empty() && !close && !review && !pull
    }

    /// What it allows, in words: for prompts and people.
    #[must_use]
    pub fn words(&self) -> Vec<String> {
        let mut words = Vec::new();
        if self.comments > 0 {
            words.push(counted(self.comments, "comment"));
        }
        if !self.labels.is_empty() {
            words.push(format!("labels among {}", self.labels.join(", ")));
        }
        if self.review {
            words.push("1 review".to_owned());
        }
        if self.replies > 0 {
            let first = counted(self.replies, "reply");
            words.push(format!("{first} in threads of the pull request"));
        }
        if self.pull {
            words.push("the title and the text of the pull request".to_owned());
        }
        if self.issues > 0 {
            let first = counted(self.issues, "new issue");
            words.push(format!("{first} ({} in 24 hours)", self.issues_per_day));
        }
        if self.close {
            words.push("to close the issue".to_owned());
        }
        words
    }
}
