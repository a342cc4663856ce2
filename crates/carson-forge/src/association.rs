//! What somebody is to a repository.

use serde::{Deserialize, Serialize};

/// How a forge says that somebody belongs to a repository. What cannot be read is a stranger.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Association {
    /// It is theirs.
    Owner,
    /// Of the organisation that it belongs to.
    Member,
    /// Invited to work on it.
    Collaborator,
    /// Something of theirs was merged once.
    Contributor,
    /// Nobody that it knows.
    Stranger,
}

impl Association {
    /// Reads GitHub's word.
    pub(crate) fn read(word: &str) -> Self {
        match word {
            "OWNER" => Self::Owner,
            "MEMBER" => Self::Member,
            "COLLABORATOR" => Self::Collaborator,
            "CONTRIBUTOR" => Self::Contributor,
            _ => Self::Stranger,
        }
    }

    /// Whether they may say what is to be done: who may write in a repository or was invited there.
    #[must_use]
    pub fn is_trusted(self) -> bool {
        matches!(self, Self::Owner | Self::Member | Self::Collaborator)
    }
}
