//! The list.

use std::sync::Arc;

use carson_core::section::SectionKind;

use crate::github::GitHubSection;
use crate::local::LocalFiles;
use crate::opener::{Opener, owner_and_name};

/// Every forge there is.
pub const OPENERS: &[Opener] = &[
    Opener {
        name: "local",
        about: "Files under the home",
        section: None,
        without_section: Some(|| Arc::new(LocalFiles)),
        slug: None,
        host: None,
        git_sign_in: None,
        sample: "",
    },
    Opener {
        name: "github",
        about: "GitHub",
        section: Some(SectionKind::of::<GitHubSection>()),
        without_section: None,
        slug: Some(owner_and_name),
        host: Some("github.com"),
        git_sign_in: Some("`gh auth login` and `gh auth setup-git`"),
        sample: "token_command = [\"gh\", \"auth\", \"token\"]",
    },
];

/// The names of all forges.
#[must_use]
pub fn names() -> Vec<&'static str> {
    OPENERS.iter().map(|opener| opener.name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_forge_has_a_name_of_its_own_and_can_be_opened_with_or_without_a_section() {
        for opener in OPENERS {
            let twice = OPENERS.iter().filter(|other| other.name == opener.name);
            assert_eq!(twice.count(), 1, "{}", opener.name);
            let (section, without) = (opener.section, opener.without_section);
            assert!(section.is_some() || without.is_some(), "{}", opener.name);
            assert!(section.is_none_or(|section| section.name == opener.name));
        }
    }
}
