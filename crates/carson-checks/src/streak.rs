//! The streak of failed preflights: its own, beside the breaker's.
//!
//! It stops nothing: a preflight costs some milliseconds, and the first one that passes after
//! somebody mended the machine is how the role goes on by itself. It says since when nothing went,
//! and is told once.

use std::collections::BTreeSet;

use carson_config::Role;
use carson_core::Event;
use carson_core::outcome::Severity;
use carson_store::{PreflightRow, StoreError};
use chrono::{DateTime, TimeDelta, Utc};

use crate::{Failed, Findings};
use carson_home::FiringRef;

/// Failures in a row before somebody is told, where the role has no breaker.
const PATIENCE: u32 = 5;

/// A role that does not look again within this time has waited long enough after one failure.
const SOON: TimeDelta = TimeDelta::hours(1);

/// Another role's word on the same trouble is old after this time.
const OLD_NEWS: TimeDelta = TimeDelta::days(1);

/// Something that is told of a role, besides its firings.
#[derive(Clone, Debug)]
pub struct Word {
    /// What is written down.
    pub event: Event,
    /// How loud it is.
    pub severity: Severity,
    /// What the role does, for the title.
    pub what: &'static str,
    /// What people read.
    pub text: String,
}

/// How the checks of a firing move the streak of its role on this host.
pub struct Streak {
    /// Told before the row says that it was.
    pub word: Option<Word>,
    row: Moved,
}

enum Moved {
    No,
    On(PreflightRow),
    Over,
}

impl Streak {
    /// Reads the streak, and moves it by what was found.
    pub async fn moved_by(firing: &FiringRef<'_>, found: &Findings) -> Result<Self, StoreError> {
        let no = Self {
            word: None,
            row: Moved::No,
        };
        if found.failed.is_none() && found.passed.is_empty() {
            return Ok(no);
        }
        let (host, role) = (&firing.home.fleet.host, &firing.role.name);
        let rows = firing.home.store.preflights().await?;
        let here = rows.into_iter().filter(|row| row.host == host.as_str());
        let (own, others): (Vec<_>, Vec<_>) = here.partition(|row| row.role == role.as_str());
        let own = own.into_iter().next();
        Ok(match (&found.failed, own) {
            (Some(failed), own) => fails(firing, failed, own, &others),
            (None, Some(own)) if is_over(firing.role, &own.failed, &found.passed) => Self {
                word: passes_again(&own),
                row: Moved::Over,
            },
            (None, _) => no,
        })
    }

    /// Writes it down.
    pub async fn save(self, firing: &FiringRef<'_>) -> Result<(), StoreError> {
        let store = &firing.home.store;
        match self.row {
            Moved::No => Ok(()),
            Moved::On(row) => store.set_preflight(&row).await,
            Moved::Over => {
                let (host, role) = (&firing.home.fleet.host, &firing.role.name);
                store.end_preflight(host, role).await.map(drop)
            }
        }
    }
}

fn fails(
    firing: &FiringRef<'_>,
    failed: &Failed,
    own: Option<PreflightRow>,
    others: &[PreflightRow],
) -> Streak {
    let now = firing.home.clock.now();
    let mut row = longer(firing, failed, own, now);
    let known = others
        .iter()
        .filter(|other| other.failed == row.failed)
        .filter_map(|other| other.told_at.map(|_| other.last_at));
    let known = known.max().is_some_and(|at| now - at < OLD_NEWS);
    let mut word = None;
    if row.told_at.is_none() && !known && is_time(firing.role, row.streak, now) {
        row.told_at = Some(now);
        let text = failure_text(&row);
        word = Some(Word {
            event: Event::PreflightFailing { text: text.clone() },
            severity: Severity::Error,
            what: "cannot fire",
            text,
        });
    }
    Streak {
        word,
        row: Moved::On(row),
    }
}

fn passes_again(row: &PreflightRow) -> Option<Word> {
    row.told_at?;
    let text = format!(
        "`{}` passes again, after {} failures.",
        row.failed, row.streak
    );
    Some(Word {
        event: Event::PreflightWell { text: text.clone() },
        severity: Severity::Info,
        what: "fires again",
        text,
    })
}

fn longer(
    firing: &FiringRef<'_>,
    failed: &Failed,
    own: Option<PreflightRow>,
    now: DateTime<Utc>,
) -> PreflightRow {
    let before = own.as_ref();
    PreflightRow {
        host: firing.home.fleet.host.to_string(),
        role: firing.role.name.to_string(),
        failed: failed.id.clone(),
        why: failed.why.clone(),
        streak: before.map_or(0, |row| row.streak).saturating_add(1),
        since: before.map_or(now, |row| row.since),
        last_at: now,
        told_at: before.and_then(|row| row.told_at),
    }
}

/// As many failures as would open the breaker, or one when the role does not look again soon.
fn is_time(role: &Role, streak: i64, now: DateTime<Utc>) -> bool {
    let patience = match role.limits.fail_streak {
        0 => PATIENCE,
        streak => streak,
    };
    let next = role.cadence.next_after(now);
    streak >= i64::from(patience) || next.is_some_and(|next| next - now > SOON)
}

/// A streak ends with the check that kept it going: a quiet firing never asks those that work needs.
/// One that the role does not need any more ends it too.
fn is_over(role: &Role, failed: &str, passed: &BTreeSet<String>) -> bool {
    let mut parts = failed.split('.');
    let needed = match (parts.next(), parts.next()) {
        (Some("account"), Some(name)) => role.accounts().iter().any(|own| own.as_str() == name),
        (Some("repo"), Some(name)) => role.repos.iter().any(|own| own.as_str() == name),
        _ => true,
    };
    !needed || passed.contains(failed)
}

fn failure_text(row: &PreflightRow) -> String {
    let times = match row.streak {
        1 => "once".to_owned(),
        times => format!("{times} times in a row"),
    };
    format!(
        "Preflight failed {times}, at `{}`: {}\nNo model was called, and no work lost an attempt. \
         It goes on by itself once that is mended.",
        row.failed, row.why
    )
}

#[cfg(test)]
mod tests {
    use chrono_tz::Tz;

    use super::*;

    fn role() -> Role {
        let mut role = Role::gone("hand".parse().unwrap(), Tz::UTC);
        role.engines = vec!["play".parse().unwrap()];
        role.repos = vec!["widget".parse().unwrap()];
        role
    }

    #[test]
    fn a_streak_ends_with_its_own_check() {
        let passed = BTreeSet::from(["disk.space".to_owned()]);
        assert!(is_over(&role(), "disk.space", &passed));
        assert!(!is_over(&role(), "account.play.version", &passed));
        assert!(!is_over(&role(), "repo.widget.remote", &passed));
        assert!(is_over(&role(), "account.gone.version", &passed));
        assert!(is_over(&role(), "repo.gone.remote", &passed));
    }

    #[test]
    fn it_is_told_after_as_many_as_open_a_breaker() {
        let (mut role, now) = (role(), DateTime::from_timestamp(1_800_000_000, 0).unwrap());
        role.limits.fail_streak = 3;
        assert!(!is_time(&role, 2, now));
        assert!(is_time(&role, 3, now));
        role.limits.fail_streak = 0;
        assert!(!is_time(&role, 4, now));
        assert!(is_time(&role, 5, now));
    }
}
