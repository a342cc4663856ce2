//! What `role.toml` says of a role's kind and its work.

use std::time::Duration;

use carson_core::Stage;
use carson_core::declared::Grant;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::forms::{Maybe, Span};

/// What a role is for. Each kind is a file in `crates/carson-firing/src/roles/`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RoleKind {
    /// Makes a pull request of an issue.
    Implementer,
    /// Does a task of its own at every slot.
    Routine,
    /// Makes issues of an issue that is too large for one.
    Planner,
    /// Makes issues of an issue that is too large for one repository, in any of its repositories.
    Architect,
    /// Says how urgent new issues are, and what they lack.
    Triager,
    /// Reviews pull requests.
    Reviewer,
    /// Mends the fleet's own pull requests: red checks, findings of reviews, conflicts.
    Fixer,
    /// Merges the fleet's pull requests that nothing stands against; asks no model.
    Merger,
    /// Runs a command at every slot; asks no model.
    Command,
    /// Tells the owner what the fleet did; asks no model, and works in no repository.
    Steward,
    /// Writes tests for what was changed lately and is tested least.
    Tester,
    /// Does the stories of a plan in the repository, one a firing, each within what it may change.
    Stories,
}

/// What `work.from` may say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(extend("x-planned" = ["queue"]))]
pub enum WorkFrom {
    /// Open issues.
    Issues,
    /// Open pull requests.
    Pulls,
    /// Stories of a plan in the repository.
    Stories,
    /// Nowhere: it has a task of its own.
    None,
}

impl RoleKind {
    /// Every kind.
    pub const ALL: [Self; 12] = [
        Self::Implementer,
        Self::Routine,
        Self::Planner,
        Self::Architect,
        Self::Triager,
        Self::Reviewer,
        Self::Fixer,
        Self::Merger,
        Self::Command,
        Self::Steward,
        Self::Tester,
        Self::Stories,
    ];

    /// Its word in `role.toml`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Implementer => "implementer",
            Self::Routine => "routine",
            Self::Planner => "planner",
            Self::Architect => "architect",
            Self::Triager => "triager",
            Self::Reviewer => "reviewer",
            Self::Fixer => "fixer",
            Self::Merger => "merger",
            Self::Command => "command",
            Self::Steward => "steward",
            Self::Tester => "tester",
            Self::Stories => "stories",
        }
    }

    /// Where its work comes from.
    #[must_use]
    pub fn works_on(self) -> WorkFrom {
        match self {
            Self::Implementer | Self::Planner | Self::Architect | Self::Triager => WorkFrom::Issues,
            Self::Reviewer | Self::Fixer | Self::Merger => WorkFrom::Pulls,
            Self::Stories => WorkFrom::Stories,
            Self::Routine | Self::Command | Self::Steward | Self::Tester => WorkFrom::None,
        }
    }

    /// Whether it may make commits; the sessions of the others ask in their outbox.
    #[must_use]
    pub fn makes_commits(self) -> bool {
        matches!(
            self,
            Self::Implementer
                | Self::Routine
                | Self::Fixer
                | Self::Command
                | Self::Tester
                | Self::Stories
        )
    }

    /// Whether it asks a model at all.
    #[must_use]
    pub fn has_sessions(self) -> bool {
        !matches!(self, Self::Merger | Self::Command | Self::Steward)
    }

    /// Whether it makes issues of an issue, which is done when all of those are.
    #[must_use]
    pub fn divides(self) -> bool {
        matches!(self, Self::Planner | Self::Architect)
    }

    /// Whether its issues may be in any of its repositories.
    #[must_use]
    pub fn files_elsewhere(self) -> bool {
        self == Self::Architect
    }

    /// Whether only the operator can say what it runs: no role of it is shipped with a command.
    #[must_use]
    pub fn needs_a_command(self) -> bool {
        matches!(self, Self::Command | Self::Tester)
    }

    /// The label by which it takes issues, where nobody wrote one.
    pub(crate) fn label(self) -> Option<&'static str> {
        match self {
            Self::Implementer => Some("carson:ready"),
            Self::Planner => Some("carson:plan"),
            Self::Architect => Some("carson:architect"),
            Self::Routine
            | Self::Triager
            | Self::Reviewer
            | Self::Fixer
            | Self::Merger
            | Self::Command
            | Self::Steward
            | Self::Tester
            | Self::Stories => None,
        }
    }

    /// How old a pull request must be, where nobody wrote it.
    pub(crate) fn min_age(self) -> Duration {
        let minutes = match self {
            Self::Reviewer => 5,
            Self::Merger => 30,
            _ => 0,
        };
        Duration::from_secs(minutes * 60)
    }

    /// The stages that it walks, where nobody wrote them.
    pub(crate) fn stages(self) -> Vec<Stage> {
        match self {
            Self::Implementer | Self::Routine => Stage::CHOSEN.to_vec(),
            Self::Fixer | Self::Tester | Self::Stories => {
                vec![Stage::Execute, Stage::Verify, Stage::DiffReview]
            }
            Self::Command => vec![Stage::Execute, Stage::Verify],
            Self::Planner | Self::Architect | Self::Triager | Self::Reviewer => {
                vec![Stage::Execute]
            }
            Self::Merger | Self::Steward => Vec::new(),
        }
    }

    /// What its sessions may ask for, where nobody wrote it.
    pub(crate) fn grant(self) -> Grant {
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        match self {
            Self::Planner | Self::Architect => Grant {
                comments: 1,
                issues: if self.files_elsewhere() { 10 } else { 5 },
                issues_per_day: 20,
                issue_label: "carson:ready".to_owned(),
                approval: true,
                ..Grant::default()
            },
            Self::Triager => Grant {
                comments: 1,
                labels: words(&["p0", "p1", "p2", "p3", "duplicate", "needs-info"]),
                ..Grant::default()
            },
            Self::Reviewer => Grant {
                review: true,
                ..Grant::default()
            },
            Self::Command => Grant {
                issues: 1,
                issues_per_day: 4,
                ..Grant::default()
            },
            Self::Implementer | Self::Routine | Self::Tester | Self::Stories => Grant {
                pull: true,
                ..Grant::default()
            },
            Self::Fixer => Grant {
                replies: 3,
                pull: true,
                ..Grant::default()
            },
            Self::Merger | Self::Steward => Grant::default(),
        }
    }
}

/// `work = { label = "carson:ready" }`, `work = { from = "stories", file = "stories.json" }`
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct WorkSection {
    /// Where its work comes from; it follows from `kind`, and of `none` alone `kind` is `routine`, of `stories` alone
    /// `stories`.
    #[schemars(extend("examples" = ["issues"]))]
    pub from: Option<WorkFrom>,
    /// The label that makes an issue ready for this role: without it `carson:ready` of an implementer,
    /// `carson:plan` of a planner, `carson:architect` of an architect, and none of a triager, which takes every
    /// issue.
    #[schemars(extend("examples" = ["docs:ready"]))]
    pub label: Option<String>,
    /// Labels that an issue or a pull request must carry beside it: all of them, as long as it is worked on.
    #[schemars(extend("examples" = [["backend"]]))]
    pub labels: Vec<String>,
    /// How old a pull request must be: without it 5 minutes for a reviewer, 30 for a merger, so that people
    /// can say no.
    #[serde(with = "Maybe::<Span>")]
    #[schemars(extend("examples" = ["2h"]))]
    pub min_age: Option<Duration>,
    /// Required where its work are `stories`: the file with the plan, from the top of each of its repositories. It is read from
    /// the newest commit of the base branch ([how](STORIES.md#in-the-fleet)).
    #[schemars(extend("examples" = ["stories.json"]))]
    pub file: Option<String>,
    /// What a role whose work is `none` is to do, at every slot; its prompts may say it instead.
    #[schemars(extend("examples" = ["Bring docs/ up to date with the code."]))]
    pub task: String,
}

/// What a role works on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkSource {
    /// Where its work comes from.
    pub from: WorkFrom,
    /// The label that makes an issue ready for this role; `None` for one that does not take issues by it.
    pub label: Option<String>,
    /// Labels that its work must carry beside it.
    pub labels: Vec<String>,
    /// How old a pull request must be.
    pub min_age: Duration,
    /// The file with the plan whose stories it does; `None` for one that does none.
    pub file: Option<String>,
    /// What a role without work from elsewhere is to do.
    pub task: String,
}

impl WorkSource {
    /// The label that makes an issue ready for this role; `None` for one that does not take issues by it.
    #[must_use]
    pub fn label(&self) -> Option<&str> {
        self.label.as_deref()
    }

    /// No work at all.
    pub(crate) fn none() -> Self {
        Self {
            from: WorkFrom::None,
            label: None,
            labels: Vec::new(),
            min_age: Duration::ZERO,
            file: None,
            task: String::new(),
        }
    }
}
