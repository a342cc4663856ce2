//! A role that tells the owner what the fleet did since it told it last; it asks no model, and says nothing
//! when nothing happened.

use carson_core::Outcome;
use carson_core::outcome::Severity;
use carson_core::settle::{Goal, Halt};
use carson_core::text::counted;
use carson_home::Word;
use carson_home::halt::OrBroken;
use carson_store::Filter;
use chrono::{DateTime, TimeDelta, Utc, Weekday};

use super::kind::Kind;
use crate::brief::Brief;
use crate::ctx::Ctx;

/// How far back it looks, where it never told anything.
const FIRST: TimeDelta = TimeDelta::hours(24);
/// How far back at most.
const MOST: TimeDelta = TimeDelta::days(7);

pub(super) static KIND: Kind = Kind {
    pick: |ctx, _| Box::pin(async move { Err(tell(ctx).await?) }),
    look: None,
    goal: |_| Goal::Text,
    effects: |_| Vec::new(),
};

/// Tells it; how the firing ends.
async fn tell(ctx: &Ctx<'_>) -> Result<Halt, Halt> {
    let now = ctx.now();
    let before = told_before(ctx).await?;
    let since = before.unwrap_or(now - FIRST).max(now - MOST);
    let brief = Brief::since(ctx.home, since).await;
    let brief = brief.or_broken("reading what the fleet did")?;
    let week = match is_first_of_week(ctx, before, now) {
        true => of_week(ctx, now).await?,
        false => None,
    };
    if brief.is_quiet() && week.is_none() {
        return Ok(Halt::NothingNew("nothing happened".to_owned()));
    }
    let text = brief.text() + &week.unwrap_or_default();
    let word = Word {
        severity: Severity::Info,
        title: &ctx.role.title,
        text: &text,
        role: Some(&ctx.role.name),
    };
    let told = ctx.home.file_word(&word).await;
    told.or_broken("telling it")?;
    let firings = counted(brief.sums.firings, "firing");
    Ok(Halt::NothingNew(format!("told of {firings}")))
}

/// The sums of the last seven days, where there was anything.
async fn of_week(ctx: &Ctx<'_>, now: DateTime<Utc>) -> Result<Option<String>, Halt> {
    let week = Brief::since(ctx.home, now - MOST).await;
    let week = week.or_broken("reading what the fleet did in a week")?;
    let merged = u64::try_from(week.merged.len()).unwrap_or(u64::MAX);
    let told = format!(
        "\nThe last 7 days: {}, {}",
        week.sums.words(),
        counted(merged, "merge")
    );
    Ok((week.sums.firings > 0).then_some(told))
}

/// When its newest firing that told something, or had nothing to tell, began.
async fn told_before(ctx: &Ctx<'_>) -> Result<Option<DateTime<Utc>>, Halt> {
    let filter = Filter {
        role: Some(ctx.role.name.clone()),
        since: None,
        skipped: false,
        outcome: None,
        limit: 50,
    };
    let rows = ctx.store().firings(&filter).await;
    let rows = rows.or_broken("reading the role's firings")?;
    let mut rows = rows.iter().filter(|row| row.id != ctx.id);
    let told = rows.find(|row| row.outcome == Some(Outcome::Silent));
    Ok(told.map(|row| row.claimed_at))
}

/// Whether it has told nothing since Monday began in the role's zone.
fn is_first_of_week(ctx: &Ctx<'_>, before: Option<DateTime<Utc>>, now: DateTime<Utc>) -> bool {
    let zone = ctx.role.cadence.zone();
    let week = |at: DateTime<Utc>| {
        let day = at.with_timezone(&zone).date_naive();
        day.week(Weekday::Mon).first_day()
    };
    before.is_some_and(|before| week(before) < week(now))
}
