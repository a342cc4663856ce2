//! Typed names. A role is not a repository, and the compiler knows it.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;
use uuid::Uuid;

/// Longest name an operator may give a role, repository, account or host.
pub const NAME_MAX: usize = 40;

/// A name that is not usable in a path, a branch and a label.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{given:?} is not a usable name: {why}")]
pub struct NameError {
    given: String,
    why: &'static str,
}

fn check_name(given: &str) -> Result<(), NameError> {
    let fail = |why| {
        Err(NameError {
            given: given.chars().take(80).collect(),
            why,
        })
    };
    if given.is_empty() {
        return fail("it is empty");
    }
    if given.len() > NAME_MAX {
        return fail("it is longer than 40 characters");
    }
    if !given.starts_with(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit()) {
        return fail("it must begin with a lower-case letter or a digit");
    }
    if !given
        .chars()
        .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
    {
        return fail("only a-z, 0-9 and '-' are allowed");
    }
    Ok(())
}

macro_rules! name {
    ($(#[$doc:meta])* $type:ident) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $type(String);

        impl $type {
            /// The name as text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl FromStr for $type {
            type Err = NameError;
            fn from_str(given: &str) -> Result<Self, NameError> {
                check_name(given).map(|()| Self(given.to_owned()))
            }
        }

        impl TryFrom<String> for $type {
            type Error = NameError;
            fn try_from(given: String) -> Result<Self, NameError> {
                check_name(&given).map(|()| Self(given))
            }
        }

        impl From<$type> for String {
            fn from(name: $type) -> String {
                name.0
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(&self.0)
            }
        }
    };
}

name!(
    /// A role: a named specialist of the household.
    RoleName
);
name!(
    /// A repository as the operator calls it in `carson.toml`.
    RepoName
);
name!(
    /// An account: a subscription or key that engines share; it owns the rate limit.
    AccountName
);
name!(
    /// A box that runs a supervisor.
    HostName
);

impl AccountName {
    /// Stands where no model is asked.
    #[must_use]
    pub fn nobodys() -> Self {
        Self("nobody".to_owned())
    }
}

impl HostName {
    /// Makes a host name out of whatever the machine calls itself: lower case, other characters
    /// become `-`. Never fails; a nameless machine is `localhost`.
    #[must_use]
    pub fn from_machine(machine: &str) -> Self {
        let name: String = machine
            .to_lowercase()
            .chars()
            .map(|c| {
                if c.is_ascii_lowercase() || c.is_ascii_digit() {
                    c
                } else {
                    '-'
                }
            })
            .take(NAME_MAX)
            .collect();
        name.trim_matches('-')
            .parse()
            .unwrap_or_else(|_| Self("localhost".to_owned()))
    }

    /// The same with the end of a home's id: of two homes whose hosts have one name, the second goes by
    /// this one.
    #[must_use]
    pub fn of_home(&self, id: &str) -> Self {
        const END: usize = 8;
        let end: String = id.chars().rev().take(END).collect();
        let end: String = end.chars().rev().collect();
        let name: String = self.0.chars().take(NAME_MAX - END - 1).collect();
        Self::from_machine(&format!("{name}-{end}"))
    }
}

/// One bounded run of a role. Version 7, so ids sort by the time of their claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct FiringId(Uuid);

impl FiringId {
    /// A new id.
    #[must_use]
    #[expect(clippy::new_without_default, reason = "every call gives another id")]
    pub fn new() -> Self {
        Self(Uuid::now_v7())
    }

    /// The last eight hex digits: random, so short enough for branches and tables. (The first
    /// digits are the time and are alike for firings of one minute.)
    #[must_use]
    pub fn short(&self) -> String {
        let text = self.0.simple().to_string();
        text[text.len() - 8..].to_owned()
    }

    /// A place from 0 up to 1, by the random end of the id: always the same one for the same firing.
    #[must_use]
    pub fn place(&self) -> f64 {
        let [.., a, b, c, d] = *self.0.as_bytes();
        f64::from(u32::from_be_bytes([a, b, c, d])) / 2_f64.powi(32)
    }

    /// The id as the databases keep it.
    #[must_use]
    pub fn uuid(&self) -> Uuid {
        self.0
    }
}

impl From<Uuid> for FiringId {
    fn from(id: Uuid) -> Self {
        Self(id)
    }
}

impl FromStr for FiringId {
    type Err = uuid::Error;
    fn from_str(text: &str) -> Result<Self, uuid::Error> {
        text.parse().map(Self)
    }
}

impl fmt::Display for FiringId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0.hyphenated().to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_safe_in_paths_and_branches() {
        assert_eq!(
            "implementer-2".parse::<RoleName>().unwrap().as_str(),
            "implementer-2"
        );
        for bad in ["", "A", "-x", "a b", "a/b", "..", "ä", &"x".repeat(41)] {
            assert!(bad.parse::<RoleName>().is_err(), "{bad:?}");
        }
    }

    #[test]
    fn any_machine_name_becomes_a_host_name() {
        assert_eq!(
            HostName::from_machine("Box.Example.org").as_str(),
            "box-example-org"
        );
        assert_eq!(HostName::from_machine("...").as_str(), "localhost");
        assert_eq!(
            HostName::from_machine(&"X".repeat(99)).as_str().len(),
            NAME_MAX
        );
    }

    #[test]
    fn firing_ids_sort_by_time_and_read_back() {
        let (a, b) = (FiringId::new(), FiringId::new());
        assert!(a < b);
        assert_eq!(a.to_string().parse::<FiringId>().unwrap(), a);
        assert_eq!(a.short().len(), 8);
        assert_ne!(a.short(), b.short());
    }

    #[test]
    fn places_of_firings_are_spread() {
        let ids: Vec<FiringId> = (0..2_000).map(|_| FiringId::new()).collect();
        let below = |share: f64| ids.iter().filter(|id| id.place() < share).count();
        assert_eq!((below(0.0), below(1.0)), (0, 2_000));
        // Four hundred are meant; further off than this is one in many millions.
        assert!((290..=510).contains(&below(0.2)), "{}", below(0.2));
    }
}
