//! A verdict as the end of a session.

use carson_proc::{Exit, Finished};
use carson_redact::Redactor;
use chrono::{DateTime, Local, NaiveDateTime, TimeZone, Utc};

use super::class::Class;
use super::classify::{Verdict, classify};
use super::facts::Facts;
use crate::session::{Ended, Limit, LimitKind};

/// What made the session fail; `None` when no rule knows it.
pub(crate) fn failure(
    facts: &mut Facts,
    done: &Finished,
    redactor: &Redactor,
    now: DateTime<Utc>,
) -> Option<Ended> {
    let exit = match done.exit {
        Exit::Code(code) => Some(code),
        Exit::Signal(_) => None,
    };
    facts.ended(exit, &redactor.redact(&done.stderr.text()));
    let verdict = classify(facts, now, &local);
    tracing::debug!(?verdict, rules = %facts.file.edition(), "the session failed");
    ended(facts, verdict)
}

/// CLIs print times of day in the zone of the machine.
fn local(at: NaiveDateTime) -> Option<DateTime<Utc>> {
    let at = Local.from_local_datetime(&at).latest()?;
    Some(at.with_timezone(&Utc))
}

fn ended(facts: &Facts, verdict: Verdict) -> Option<Ended> {
    let kind = match verdict.class {
        Class::Limit if verdict.window.is_some() => LimitKind::UsageWindow,
        Class::Limit => LimitKind::RateLimit,
        Class::Auth => LimitKind::Auth,
        Class::Billing => LimitKind::Billing,
        Class::Outage | Class::Transient => {
            return Some(Ended::Unavailable {
                status: verdict.status,
                not_before: verdict.resets_at,
                message: verdict.message,
                outage: verdict.class == Class::Outage,
            });
        }
        Class::Turns => return Some(Ended::MaxTurns),
        Class::Budget => return Some(Ended::MaxCost),
        Class::Capability => {
            return Some(Ended::Refused {
                message: verdict.message,
            });
        }
        Class::Fatal => return None,
    };
    Some(Ended::Limited(Limit {
        kind,
        resets_at: verdict.resets_at,
        remedy: match kind {
            LimitKind::Auth => Some(facts.file.sign_in_remedy()),
            LimitKind::Billing => Some(facts.file.billing_remedy()),
            LimitKind::UsageWindow | LimitKind::RateLimit => None,
        },
        message: limit_message(&verdict),
        window: verdict.window,
    }))
}

/// The message, and what was not believed of it.
fn limit_message(verdict: &Verdict) -> String {
    match verdict.capped_from {
        None => verdict.message.clone(),
        Some(claimed) => format!(
            "{} (it named {}, which is too far to believe)",
            verdict.message,
            claimed.format("%Y-%m-%d")
        ),
    }
}
