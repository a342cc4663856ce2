//! Who may say what the fleet is to do.

use serde::{Deserialize, Serialize};

/// How somebody stands to a repository, as its forge says (`author_association` of GitHub).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Association {
    /// It is theirs.
    Owner,
    /// They belong to the organisation that owns it.
    Member,
    /// They were invited to work in it.
    Collaborator,
    /// Something of theirs was merged once.
    Contributor,
    /// A stranger.
    None,
    /// The forge says nothing that we know.
    #[default]
    #[serde(other)]
    Unknown,
}

impl Association {
    /// Those that an operator may trust, as settings write them.
    pub const KNOWN: [(&'static str, Self); 5] = [
        ("owner", Self::Owner),
        ("member", Self::Member),
        ("collaborator", Self::Collaborator),
        ("contributor", Self::Contributor),
        ("none", Self::None),
    ];

    /// Reads the word of a setting.
    #[must_use]
    pub fn from_setting(word: &str) -> Option<Self> {
        let mut known = Self::KNOWN.into_iter();
        known.find_map(|(name, association)| (name == word).then_some(association))
    }

    /// Reads the word of GitHub's API.
    #[must_use]
    pub fn from_github(word: &str) -> Self {
        match word {
            "OWNER" => Self::Owner,
            "MEMBER" => Self::Member,
            "COLLABORATOR" => Self::Collaborator,
            "CONTRIBUTOR" => Self::Contributor,
            "NONE" | "FIRST_TIMER" | "FIRST_TIME_CONTRIBUTOR" | "MANNEQUIN" => Self::None,
            _ => Self::Unknown,
        }
    }
}

/// Whose issues, comments and approvals count; everybody else's are read by nobody.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trust {
    /// By what the forge says of them.
    pub associations: Vec<Association>,
    /// By their names there, in any case.
    pub authors: Vec<String>,
}

impl Default for Trust {
    fn default() -> Self {
        Self {
            associations: vec![
                Association::Owner,
                Association::Member,
                Association::Collaborator,
            ],
            authors: Vec::new(),
        }
    }
}

impl Trust {
    /// Whether what this author wrote counts. An association that the forge did not tell never does.
    #[must_use]
    pub fn has(&self, author: &str, association: Association) -> bool {
        let known = association != Association::Unknown;
        let named = |name: &String| name.eq_ignore_ascii_case(author);
        known && self.associations.contains(&association) || self.authors.iter().any(named)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_of_the_repository_and_named_authors_are_trusted_and_nobody_else() {
        let mut trust = Trust::default();
        for (word, counts) in [
            ("OWNER", true),
            ("MEMBER", true),
            ("COLLABORATOR", true),
            ("CONTRIBUTOR", false),
            ("FIRST_TIMER", false),
            ("NONE", false),
            ("", false),
            ("owner", false),
            ("SOMETHING_NEW", false),
        ] {
            let association = Association::from_github(word);
            assert_eq!(trust.has("ann", association), counts, "{word:?}");
        }
        trust.authors.push("Dependabot[bot]".to_owned());
        assert!(trust.has("dependabot[BOT]", Association::Unknown));
        trust.associations.push(Association::Unknown);
        assert!(!trust.has("ann", Association::Unknown));
    }
}
