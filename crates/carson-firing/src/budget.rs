//! What may still be spent.

use carson_config::{Fleet, Role};
use carson_core::admission::{Budget, Spent};
use carson_core::settle::Halt;
use carson_store::{Store, StoreError};
use chrono::{DateTime, Utc};

use crate::ctx::Ctx;
use crate::record::Record;
use carson_home::calendar::{day_of, month_of};
use carson_home::halt::OrBroken;

/// The budgets of the whole fleet, with what was spent of them.
pub(crate) async fn fleet_budgets(
    store: &Store,
    fleet: &Fleet,
    now: DateTime<Utc>,
) -> Result<Vec<Budget>, StoreError> {
    let mut budgets = Vec::new();
    if let Some(max) = fleet.max_cost_usd_per_day {
        let spent = store.spent(day_of(fleet.zone, now)).await?;
        budgets.push(Budget {
            what: "the fleet a day",
            key: "fleet.max_cost_usd_per_day",
            spent: spent.usd,
            estimated: spent.estimated,
            max,
        });
    }
    if let Some(max) = fleet.max_cost_usd_per_month {
        let spent = store.spent(month_of(fleet.zone, now)).await?;
        budgets.push(Budget {
            what: "the fleet a month",
            key: "fleet.max_cost_usd_per_month",
            spent: spent.usd,
            estimated: spent.estimated,
            max,
        });
    }
    Ok(budgets)
}

/// The role's own budget of a day.
pub(crate) fn role_budget(role: &Role, spent: Spent) -> Option<Budget> {
    let max = role.limits.max_cost_usd_per_day?;
    Some(Budget {
        what: "this role a day",
        key: "limits.max_cost_usd_per_day",
        spent: spent.usd,
        estimated: spent.estimated,
        max,
    })
}

/// What the next session of this firing may cost: the least that any budget leaves.
pub(crate) async fn left(ctx: &Ctx<'_>, rec: &Record) -> Result<Option<f64>, Halt> {
    let (fleet, role) = (&ctx.home.fleet, ctx.role);
    let now = ctx.now();
    let mut budgets = fleet_budgets(ctx.store(), fleet, now)
        .await
        .or_broken("reading what was spent")?;
    if role.limits.max_cost_usd_per_day.is_some() {
        let spent = ctx
            .store()
            .spent_by(&role.name, day_of(role.cadence.zone(), now));
        budgets.extend(role_budget(
            role,
            spent.await.or_broken("reading what was spent")?,
        ));
    }
    let all = budgets.iter().map(|budget| budget.max - budget.spent);
    Ok(all.chain(own_left(ctx, rec)).reduce(f64::min))
}

/// What this firing may still spend of its own.
pub(crate) fn own_left(ctx: &Ctx<'_>, rec: &Record) -> Option<f64> {
    let max = ctx.role.limits.max_cost_usd?;
    Some(max - rec.tally().cost_usd.unwrap_or(0.0))
}
