//! The stages of one firing, in their order.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A step of a firing. The order of the variants is the order in which they run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stage {
    /// Checks that cost no model call: binaries, sign-in, disk, clock, block flag.
    Preflight,
    /// Takes exactly one piece of work and claims it on the forge.
    Pick,
    /// Mirror, worktree, branch, bench.
    Workspace,
    /// First session, read-only: writes the plan.
    Plan,
    /// Fresh session that sees only task and plan.
    Review,
    /// Session that answers the review with a second plan.
    Revise,
    /// The session in full trust.
    Execute,
    /// Carson runs the promise and the scope check itself.
    Verify,
    /// Fresh session that sees task, plan and diff.
    DiffReview,
    /// Fresh session that judges whether the work was done before, as another one says.
    Confirm,
    /// Sentinel and facts become an outcome.
    Settle,
    /// Whatever changed goes to a branch, a draft pull request or a kept ref.
    Salvage,
    /// Row, forge comment and labels, Slack.
    Report,
    /// The worktree goes, after salvage says that nothing is left in it.
    Teardown,
}

impl Stage {
    /// All stages in order.
    pub const ALL: [Self; 14] = [
        Self::Preflight,
        Self::Pick,
        Self::Workspace,
        Self::Plan,
        Self::Review,
        Self::Revise,
        Self::Execute,
        Self::Verify,
        Self::DiffReview,
        Self::Confirm,
        Self::Settle,
        Self::Salvage,
        Self::Report,
        Self::Teardown,
    ];

    /// The name in files, tables and events.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Preflight => "preflight",
            Self::Pick => "pick",
            Self::Workspace => "workspace",
            Self::Plan => "plan",
            Self::Review => "review",
            Self::Revise => "revise",
            Self::Execute => "execute",
            Self::Verify => "verify",
            Self::DiffReview => "diff-review",
            Self::Confirm => "confirm",
            Self::Settle => "settle",
            Self::Salvage => "salvage",
            Self::Report => "report",
            Self::Teardown => "teardown",
        }
    }

    /// The stages whose sessions may have accounts of their own.
    pub const ROUTED: [Self; 4] = [Self::Plan, Self::Review, Self::Execute, Self::DiffReview];

    /// The one of [`Self::ROUTED`] whose accounts this one has: who planned revises, and who judges changes
    /// judges whether there was one before.
    #[must_use]
    pub fn route(self) -> Self {
        match self {
            Self::Revise => Self::Plan,
            Self::Confirm => Self::DiffReview,
            other => other,
        }
    }

    /// Whether its session judges what another one made.
    #[must_use]
    pub fn judges(self) -> bool {
        matches!(self, Self::Review | Self::DiffReview | Self::Confirm)
    }

    /// The stages an operator may list in a role's `stages`; the others always run.
    pub const CHOSEN: [Self; 5] = [
        Self::Plan,
        Self::Review,
        Self::Execute,
        Self::Verify,
        Self::DiffReview,
    ];
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for Stage {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL
            .into_iter()
            .find(|stage| stage.as_str() == text)
            .ok_or_else(|| format!("{text:?} is not a stage"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_read_back_and_order_is_the_order_of_a_firing() {
        for stage in Stage::ALL {
            assert_eq!(stage.as_str().parse::<Stage>(), Ok(stage));
            assert_eq!(
                serde_json::to_string(&stage).unwrap(),
                format!("{:?}", stage.as_str())
            );
        }
        assert!(Stage::ALL.is_sorted());
        assert!("deploy".parse::<Stage>().is_err());
    }
}
