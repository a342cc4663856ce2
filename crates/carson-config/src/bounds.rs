//! Bounds of a role that contradict each other: the smaller one always comes first, and what the
//! larger one says never happens. They are warnings, and only about what somebody wrote.

use std::time::Duration;

use crate::check::Check;
use crate::duration::format_duration;
use crate::role_file::RoleFile;

/// Holds the bounds of a role against each other and against the fleet's money for a day.
pub(crate) fn check(raw: &RoleFile, fleet_day: Option<f64>, check: &mut Check<'_>) {
    let wall_clock = raw.limits.wall_clock;
    longer("limits.silence", raw.limits.silence, wall_clock, check);
    if let Some(promise) = &raw.promise {
        longer("promise.timeout", promise.timeout, wall_clock, check);
    }
    if let Some(coverage) = &raw.coverage {
        longer("coverage.timeout", coverage.timeout, wall_clock, check);
    }
    let (firing, day) = (raw.limits.max_cost_usd, raw.limits.max_cost_usd_per_day);
    more(
        ("limits.max_cost_usd", firing),
        ("limits.max_cost_usd_per_day", day),
        check,
    );
    let fleet = ("fleet.max_cost_usd_per_day", fleet_day);
    more(("limits.max_cost_usd", firing), fleet, check);
    more(("limits.max_cost_usd_per_day", day), fleet, check);
}

fn longer(key: &str, time: Duration, wall_clock: Duration, check: &mut Check<'_>) {
    // A default that is longer than a short wall clock is nobody's mistake.
    if time > wall_clock && check.document.line(key).is_some() {
        let (time, wall_clock) = (format_duration(time), format_duration(wall_clock));
        let warning =
            format!("{time} is longer than limits.wall_clock ({wall_clock}), which ends it first");
        check.warning(key, warning, "make it shorter, or limits.wall_clock longer");
    }
}

/// An amount that another one, for a longer time, is smaller than.
pub(crate) fn more(
    (key, amount): (&str, Option<f64>),
    (of, bound): (&str, Option<f64>),
    check: &mut Check<'_>,
) {
    if let (Some(amount), Some(bound)) = (amount, bound)
        && amount > bound
    {
        let warning = format!("{amount} USD is more than {of} ({bound} USD), which ends it first");
        check.warning(key, warning, &format!("lower it, or raise {of}"));
    }
}
