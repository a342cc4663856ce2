//! Small charts, as numbers of a template. Places are shares of a width, so that they fit any.

use std::collections::BTreeMap;

use carson_core::Outcome;
use carson_core::text::counted;
use carson_operator::tally::Day;
use carson_operator::timeline::{Lane, Span};
use carson_store::{Drawn, Quiet};
use chrono::{DateTime, TimeDelta, Timelike, Utc};

use crate::mark::{MARKS, mark};
use crate::pages::work;
use crate::text::{Zone, line};

/// Steps between two lines of a timeline, in minutes; the first that leaves at most [`LINES`].
const STEPS: [i64; 9] = [15, 30, 60, 120, 180, 360, 720, 1_440, 4_320];
const LINES: i64 = 8;

/// Firings over time.
pub(crate) struct Timeline {
    pub(crate) ticks: Vec<Tick>,
    pub(crate) lanes: Vec<LaneShown>,
}

/// A line of it.
pub(crate) struct Tick {
    pub(crate) x: String,
    pub(crate) label: String,
}

/// One role of it.
pub(crate) struct LaneShown {
    pub(crate) role: String,
    pub(crate) said: String,
    pub(crate) marks: Vec<Mark>,
    pub(crate) more: bool,
}

/// One firing of it, or several that were quiet.
pub(crate) struct Mark {
    /// Where it leads; a skipped slot leads nowhere, nor do several.
    pub(crate) to: Option<String>,
    pub(crate) x: String,
    pub(crate) width: String,
    pub(crate) mark: &'static str,
    pub(crate) shape: String,
    pub(crate) said: String,
}

impl Timeline {
    pub(crate) fn of(zone: &Zone, span: &Span) -> Self {
        let (from, until) = (
            span.since,
            span.until.max(span.since + TimeDelta::minutes(1)),
        );
        Self {
            ticks: ticks(zone, (from, until)),
            lanes: span
                .roles
                .iter()
                .map(|lane| shown(zone, (from, until), lane))
                .collect(),
        }
    }
}

/// Where in a span an instant lies.
fn share((from, until): (DateTime<Utc>, DateTime<Utc>), at: DateTime<Utc>) -> f64 {
    let whole = (until - from).num_seconds().max(1) as f64;
    ((at - from).num_seconds() as f64 / whole).clamp(0.0, 1.0)
}

/// The shape of a mark in the middle of its lane. The usual ones are drawn as they are, because what is used from
/// elsewhere (shapes.html, which has the same) costs a browser three times as much.
fn shape(mark: &str, x: &str) -> String {
    match mark {
        "good" => format!("<circle cx=\"{x}\" cy=\"16\" r=\"6.5\"/>"),
        "quiet" => {
            format!("<rect class=\"quiet\" x=\"{x}\" y=\"15\" width=\"9\" height=\"2.25\"/>")
        }
        "skipped" => format!("<circle cx=\"{x}\" cy=\"16\" r=\"1.5\"/>"),
        "failed" => ["one", "other"]
            .map(|bar| {
                format!("<rect class=\"{bar}\" x=\"{x}\" y=\"8.5\" width=\"3.5\" height=\"15\"/>")
            })
            .concat(),
        _ => format!(
            "<use href=\"#m-{mark}\" x=\"{x}\" y=\"8\" width=\"16\" height=\"16\" class=\"used\"/>"
        ),
    }
}

fn percent(share: f64) -> String {
    format!("{:.2}%", share * 100.0)
}

fn ticks(zone: &Zone, (from, until): (DateTime<Utc>, DateTime<Utc>)) -> Vec<Tick> {
    let minutes = (until - from).num_minutes().max(1);
    let step = STEPS.into_iter().find(|step| minutes / step <= LINES);
    let step = TimeDelta::minutes(step.unwrap_or(minutes / LINES));
    // The first full hour or quarter of the zone.
    let local = from.with_timezone(&zone.zone);
    let into = TimeDelta::minutes(i64::from(local.hour() * 60 + local.minute()));
    let midnight = from - into - TimeDelta::seconds(i64::from(local.second()));
    let steps = into.num_minutes() / step.num_minutes() + 1;
    let mut at = midnight + TimeDelta::minutes(steps * step.num_minutes());
    let form = if step >= TimeDelta::days(1) {
        "%-d %b"
    } else {
        "%H:%M"
    };
    let mut all = Vec::new();
    while at < until {
        let place = share((from, until), at);
        // A label at the edge would be cut.
        if (0.04..=0.96).contains(&place) {
            all.push(Tick {
                x: percent(place),
                label: at.with_timezone(&zone.zone).format(form).to_string(),
            });
        }
        at += step;
    }
    all
}

fn shown(zone: &Zone, span: (DateTime<Utc>, DateTime<Utc>), lane: &Lane) -> LaneShown {
    let place = |from, until| {
        let (begin, end) = (share(span, from), share(span, until));
        (percent(begin), percent((end - begin).max(0.0)))
    };
    let quiet = lane.quiet.iter().map(|part| {
        let (x, width) = place(part.first, part.last);
        let outcome = match part.silent {
            0 => Outcome::Skipped,
            _ => Outcome::Silent,
        };
        let mark = mark(Some(outcome));
        Mark {
            to: None,
            shape: shape(mark, &x),
            x,
            width,
            mark,
            said: together(zone, part),
        }
    });
    let marks = lane.firings.iter().rev().map(|row| {
        let (x, width) = place(row.claimed_at, row.ended_at.unwrap_or(zone.now));
        let mark = mark(row.outcome);
        Mark {
            to: (row.outcome != Some(Outcome::Skipped)).then(|| format!("/firings/{}", row.id)),
            shape: shape(mark, &x),
            x,
            width,
            mark,
            said: said(zone, row),
        }
    });
    LaneShown {
        role: lane.role.to_string(),
        said: sum(lane),
        marks: quiet.chain(marks).collect(),
        more: lane.more,
    }
}

fn said(zone: &Zone, row: &Drawn) -> String {
    let state = match (row.outcome, row.stage) {
        (Some(outcome), _) => outcome.to_string(),
        (None, Some(stage)) => format!("… {stage}"),
        (None, None) => "… claimed".to_owned(),
    };
    let work = work((row.repo.as_ref(), row.work), row.title.as_deref());
    let (at, role) = (zone.at(row.claimed_at), &row.role);
    line(&format!("{at} {role}: {state} {work}"))
}

/// `02:00:00 to 03:20:00 cook: 4 firings found no work, 1 slot skipped`.
fn together(zone: &Zone, part: &Quiet) -> String {
    let (first, last) = (zone.at(part.first), zone.at(part.last));
    let silent = (part.silent > 0).then(|| counted(part.silent, "firing") + " found no work");
    let skipped = (part.skipped > 0).then(|| counted(part.skipped, "slot") + " skipped");
    let both: Vec<String> = silent.into_iter().chain(skipped).collect();
    format!("{first} to {last} {}: {}", part.role, both.join(", "))
}

/// `12 firings: 8 done, 1 failed or crashed`.
fn sum(lane: &Lane) -> String {
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    for row in &lane.firings {
        *counts.entry(mark(row.outcome)).or_default() += 1;
    }
    for part in &lane.quiet {
        let both = [
            (Outcome::Silent, part.silent),
            (Outcome::Skipped, part.skipped),
        ];
        for (outcome, count) in both.into_iter().filter(|(_, count)| *count > 0) {
            *counts.entry(mark(Some(outcome))).or_default() += u64::from(count);
        }
    }
    let skipped = counts.remove("skipped").unwrap_or(0);
    let named = MARKS
        .iter()
        .filter_map(|(mark, word)| Some(format!("{} {word}", counts.get(mark)?)));
    let named: Vec<String> = named.collect();
    let fired = counted(counts.values().sum::<u64>(), "firing");
    let of_what = if named.is_empty() {
        String::new()
    } else {
        format!(": {}", named.join(", "))
    };
    let slots = if skipped == 0 {
        String::new()
    } else {
        format!("; {} skipped", counted(skipped, "slot"))
    };
    format!("{fired}{of_what}{slots}")
}

/// Bars of days: how firings ended, or what they cost.
pub(crate) struct Bars {
    pub(crate) bars: Vec<Bar>,
    pub(crate) most: String,
}

/// One day.
pub(crate) struct Bar {
    pub(crate) x: String,
    pub(crate) width: String,
    pub(crate) parts: Vec<BarPart>,
    pub(crate) said: String,
}

/// A part of it.
pub(crate) struct BarPart {
    pub(crate) mark: &'static str,
    pub(crate) y: String,
    pub(crate) height: String,
}

impl Bars {
    /// How firings ended; skipped slots are none.
    pub(crate) fn ends(days: &[Day]) -> Self {
        let parts = |day: &Day| {
            let mut counts: BTreeMap<&'static str, f64> = BTreeMap::new();
            for (outcome, count) in &day.ends {
                *counts.entry(mark(Some(*outcome))).or_default() += f64::from(*count);
            }
            *counts.entry("running").or_default() += f64::from(day.running);
            let known = MARKS.iter().filter(|(mark, _)| *mark != "skipped");
            known
                .filter_map(|(mark, _)| Some((*mark, *counts.get(mark)?)))
                .collect()
        };
        let said = |day: &Day, parts: &[(&'static str, f64)]| {
            let word = |mark: &str| {
                MARKS
                    .iter()
                    .find(|(own, _)| *own == mark)
                    .map_or("", |(_, word)| word)
            };
            let named: Vec<String> = parts
                .iter()
                .filter(|(_, count)| *count > 0.0)
                .map(|(mark, count)| format!("{count} {}", word(mark)))
                .collect();
            match named.as_slice() {
                [] => format!("{}: no firing", day.day),
                named => format!("{}: {}", day.day, named.join(", ")),
            }
        };
        let mut bars = Self::of(days, parts, said);
        bars.most = format!("{} firings", bars.most);
        bars
    }

    /// What they cost.
    pub(crate) fn money(days: &[Day]) -> Self {
        let said =
            |day: &Day, _: &[(&'static str, f64)]| format!("{}: ${:.2}", day.day, day.cost_usd);
        let mut bars = Self::of(days, |day| vec![("money", day.cost_usd)], said);
        bars.most = format!("${}", bars.most);
        bars
    }

    fn of(
        days: &[Day],
        parts: impl Fn(&Day) -> Vec<(&'static str, f64)>,
        said: impl Fn(&Day, &[(&'static str, f64)]) -> String,
    ) -> Self {
        let all: Vec<(&Day, Vec<(&'static str, f64)>)> =
            days.iter().map(|day| (day, parts(day))).collect();
        let height = |parts: &[(&str, f64)]| parts.iter().map(|(_, height)| height).sum::<f64>();
        let most = all
            .iter()
            .map(|(_, parts)| height(parts))
            .fold(0.0, f64::max);
        let step = 1.0 / days.len().max(1) as f64;
        let bars = all.iter().enumerate().map(|(index, (day, parts))| {
            let mut top = 1.0;
            let shown = parts
                .iter()
                .filter(|(_, height)| *height > 0.0)
                .map(|(mark, height)| {
                    let height = height / most;
                    top -= height;
                    BarPart {
                        mark,
                        y: percent(top),
                        height: percent(height),
                    }
                });
            Bar {
                x: percent(step * (index as f64 + 0.1)),
                width: percent(step * 0.8),
                parts: shown.collect(),
                said: said(day, parts),
            }
        });
        let whole = most.fract() == 0.0;
        Self {
            bars: bars.collect(),
            most: if whole {
                format!("{most}")
            } else {
                format!("{most:.2}")
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use chrono::NaiveDate;

    use super::*;

    #[test]
    fn bars_stand_on_the_ground_and_the_highest_fills_its_chart() {
        let day = |day: u32, cost_usd| Day {
            day: NaiveDate::from_ymd_opt(2026, 11, day).unwrap(),
            cost_usd,
            ends: [
                (carson_core::Outcome::Ok, day),
                (carson_core::Outcome::Failed, 1),
            ]
            .into(),
            ..Day::default()
        };
        let days = [day(1, 2.0), day(3, 0.0)];
        let money = Bars::money(&days);
        let one = &money.bars[0].parts[0];
        assert_eq!((&*one.y, &*one.height), ("0.00%", "100.00%"));
        assert!(money.bars[1].parts.is_empty() && money.most == "$2");
        let ends = Bars::ends(&days);
        assert_eq!(ends.most, "4 firings");
        assert_eq!(ends.bars[1].said, "2026-11-03: 3 done, 1 failed or crashed");
        let places: Vec<_> = ends.bars[0]
            .parts
            .iter()
            .map(|part| (&*part.y, &*part.height))
            .collect();
        assert_eq!(places, [("75.00%", "25.00%"), ("50.00%", "25.00%")]);
        assert!(Bars::money(&[]).bars.is_empty());
    }

    #[test]
    fn a_timeline_has_a_few_lines_at_full_hours_of_the_zone() {
        let now: DateTime<Utc> = "2026-11-26T07:10:00Z".parse().unwrap();
        let zone = Zone {
            zone: chrono_tz::Asia::Kolkata,
            now,
        };
        let labels = |hours: i64| -> Vec<String> {
            let ticks = ticks(&zone, (now - TimeDelta::hours(hours), now));
            ticks.into_iter().map(|tick| tick.label).collect()
        };
        assert_eq!(
            labels(2),
            [
                "10:45", "11:00", "11:15", "11:30", "11:45", "12:00", "12:15", "12:30"
            ]
        );
        let night = labels(12);
        assert!(
            night.contains(&"02:00".to_owned()) && night.len() <= 8,
            "{night:?}"
        );
        assert!(labels(24 * 7).iter().all(|label| label.ends_with("Nov")));
        assert!(labels(24 * 400).len() <= 140);
    }
}
