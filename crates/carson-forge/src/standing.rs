//! What our token may do at a forge, and how often it may still ask.

use serde::Serialize;

/// Requests that one firing makes at most, when nothing goes wrong: lists, a claim and its checks,
/// a pull request, labels, the release.
pub const FIRING_REQUESTS: u64 = 60;

/// How we stand with a forge. GitHub tells most of it with every answer, so that looking costs no
/// request of its own.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Standing {
    /// The scopes of a classic token; `None` where the forge does not tell, as for fine-grained
    /// tokens and apps.
    pub scopes: Option<Vec<String>>,
    /// Requests that are left in this hour.
    pub remaining: Option<u64>,
    /// Requests of a whole hour.
    pub limit: Option<u64>,
    /// When that begins anew, in seconds since 1970.
    pub resets_at: Option<i64>,
    /// Whether the token may push; known once the repository itself was asked for.
    pub may_push: Option<bool>,
    /// Whether strangers may not read the repository; known as well.
    pub private: Option<bool>,
}

impl Standing {
    /// The scope that a classic token lacks for issues, pull requests and pushes.
    #[must_use]
    pub fn lacks_scope(&self) -> Option<&'static str> {
        let scopes = self.scopes.as_deref()?;
        let has = |wanted: &str| scopes.iter().any(|scope| scope == wanted);
        // Of a repository that we know nothing of yet, the weaker scope may be enough.
        let public = self.private != Some(true);
        if has("repo") || (public && has("public_repo")) {
            return None;
        }
        Some(if public { "public_repo" } else { "repo" })
    }

    /// Whether fewer requests are left than a firing needs.
    #[must_use]
    pub fn is_used_up(&self) -> bool {
        // A forge without limits tells none; one with a tiny limit would never be enough.
        let needed = FIRING_REQUESTS.min(self.limit.unwrap_or(u64::MAX) / 2);
        self.remaining.is_some_and(|left| left < needed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scopes(scopes: &[&str], private: Option<bool>) -> Standing {
        let scopes = scopes.iter().map(|scope| (*scope).to_owned()).collect();
        Standing {
            scopes: Some(scopes),
            private,
            ..Standing::default()
        }
    }

    #[test]
    fn a_classic_token_needs_one_of_two_scopes() {
        assert_eq!(Standing::default().lacks_scope(), None);
        for (has, private, lacks) in [
            (&["repo"][..], Some(true), None),
            (&["gist", "repo"], None, None),
            (&["public_repo"], Some(false), None),
            (&["public_repo"], None, None),
            (&["public_repo"], Some(true), Some("repo")),
            (&["read:org"], None, Some("public_repo")),
            (&[], Some(true), Some("repo")),
        ] {
            assert_eq!(scopes(has, private).lacks_scope(), lacks, "{has:?}");
        }
    }

    #[test]
    fn too_few_requests_are_told_and_no_limit_is_none() {
        let left = |remaining, limit| Standing {
            remaining,
            limit,
            ..Standing::default()
        };
        assert!(!left(None, None).is_used_up());
        assert!(left(Some(3), Some(5000)).is_used_up());
        assert!(!left(Some(60), Some(5000)).is_used_up());
        assert!(!left(Some(6), Some(10)).is_used_up());
    }
}
