//! Issues whose check failed before any work, and in the same way after sessions that were paid.
//!
//! The base, the machine or the check is to be mended then, and nobody knows which: the check says whether
//! it is, not another session.

use carson_checks::Baseline;
use carson_config::{Repo, Role};
use carson_core::work::WorkKey;
use carson_home::Home;
use chrono::{DateTime, TimeDelta, Utc};

use super::held::Held;

/// How long it is believed that nothing was mended, as long as the base stays where it is.
const BELIEVED: TimeDelta = TimeDelta::hours(1);

/// Those of a role in one repository.
#[derive(Default)]
pub struct Unmended {
    known: Option<Baseline>,
    until: Option<DateTime<Utc>>,
}

impl Unmended {
    /// Looks at how the check ended last, and whether the base has moved since; as far as it was fetched.
    pub async fn of(home: &Home, role: &Role, repo: &Repo, now: DateTime<Utc>) -> Self {
        let known = Baseline::known_at(home, role, &repo.name).await;
        let Some((known, at)) = known else {
            return Self::default();
        };
        let run = role.checks_line(repo);
        let is_same = run.is_some_and(|run| known.is_of(&run, repo));
        if !is_same || known.unmended.is_empty() {
            return Self::default();
        }
        let base = home.mirror(repo).resolve(&repo.base).await;
        let stands = base.is_ok_and(|base| base.as_str() == known.base);
        let until = at + BELIEVED;
        Self {
            known: Some(known),
            until: (stands && until > now).then_some(until),
        }
    }

    /// Whether sessions have tried this issue in vain.
    pub(crate) fn has(&self, number: u64) -> bool {
        let known = self.known.as_ref();
        known.is_some_and(|known| known.is_unmended(WorkKey::Issue(number)))
    }

    /// What holds it, when something does.
    #[must_use]
    pub fn held(&self, number: u64) -> Option<Held> {
        let (known, until) = (self.known.as_ref()?, self.until?);
        self.has(number).then(|| Held::FailsOnBase {
            said: known.said.clone(),
            until,
        })
    }
}
