use chrono::{DateTime, TimeDelta, Utc};
use proptest::prelude::*;

use super::*;
use crate::id::{AccountName, RoleName};
use crate::usage::{Budget, UsageWindow};

fn at(minutes: i64) -> DateTime<Utc> {
    DateTime::from_timestamp(minutes * 60, 0).unwrap()
}

fn role(name: &str) -> RoleName {
    name.parse().unwrap()
}

fn history(firings: u32, each_usd: f64, minutes: i64) -> History {
    History::of((0..firings).map(|_| Past {
        cost_usd: Some(each_usd),
        estimated: false,
        tokens: 1_000,
        ran: TimeDelta::minutes(minutes),
    }))
}

fn facts(name: &str, slots: impl IntoIterator<Item = i64>, history: History) -> RoleFacts {
    RoleFacts {
        role: role(name),
        slots: slots.into_iter().map(at).collect(),
        caps: Vec::new(),
        stopped: None,
        history,
        asks_models: true,
        max_cost_usd: Some(5.0),
        account: Some("claude".parse().unwrap()),
        is_low: false,
    }
}

fn purse(of: Option<&str>, max: f64, spent: f64) -> Purse {
    Purse {
        role: of.map(role),
        from: at(0),
        to: at(100_000),
        budget: Budget {
            what: "the fleet a day",
            key: "fleet.max_cost_usd_per_day",
            spent,
            estimated: false,
            max,
        },
    }
}

fn night(roles: Vec<RoleFacts>, purses: Vec<Purse>) -> Night {
    Night {
        from: at(0),
        until: at(720),
        roles,
        purses,
        windows: Vec::new(),
    }
}

#[test]
fn a_night_costs_its_slots_at_the_average_and_at_worst_all_that_they_may() {
    // Each firing takes 25 minutes: of three slots two pass meanwhile.
    let implementer = facts("implementer", (0..12).map(|n| n * 10), history(6, 2.0, 25));
    let forecast = night(vec![implementer], Vec::new()).forecast();
    let [line] = &forecast.roles[..] else {
        panic!("{forecast:#?}")
    };
    assert_eq!((line.slots, line.expected.firings), (12, 4));
    assert_eq!(line.expected.usd, Some(8.0));
    assert_eq!((line.worst.firings, line.worst.usd), (12, Some(60.0)));
    assert!(forecast.expected.without.is_empty() && forecast.expected.ends.is_empty());
}

#[test]
fn the_purse_that_ends_names_the_role_that_is_cut_first() {
    let dear = facts("dear", [10, 50, 90], history(5, 2.0, 1));
    let cheap = facts("cheap", [20, 60], history(5, 0.5, 1));
    let purses = vec![
        purse(None, 10.0, 5.0),
        purse(Some("cheap"), 4.0, 0.0),
        purse(Some("dear"), 4.0, 3.5),
    ];
    let forecast = night(vec![dear, cheap], purses).forecast();
    // 0.5 of `dear` is its own, 1.0 of `cheap`; the fleet's lasts.
    assert!((forecast.expected.usd - 1.5).abs() < 1e-9, "{forecast:#?}");
    let [end] = &forecast.expected.ends[..] else {
        panic!("{forecast:#?}")
    };
    assert_eq!((end.cuts.as_str(), end.at), ("dear", at(10)));
    assert_eq!(end.of, Some(role("dear")));
    // At worst each wants 5: the fleet's 5 end, too.
    let ends: Vec<&str> = forecast
        .worst
        .ends
        .iter()
        .map(|end| end.cuts.as_str())
        .collect();
    assert_eq!(ends, ["dear", "cheap", "cheap"]);
    assert!((forecast.worst.usd - 4.5).abs() < 1e-9, "{forecast:#?}");
}

#[test]
fn what_nobody_knows_is_no_money_and_is_named() {
    let few = facts("few", [1], history(4, 1.0, 1));
    let untold = facts(
        "untold",
        [2],
        History::of((0..8).map(|n| Past {
            cost_usd: (n < 4).then_some(1.0),
            estimated: true,
            tokens: 0,
            ran: TimeDelta::zero(),
        })),
    );
    let unbounded = RoleFacts {
        max_cost_usd: None,
        ..facts("unbounded", [3], history(5, 1.0, 1))
    };
    let never = facts("never", [], history(0, 0.0, 0));
    let free = RoleFacts {
        asks_models: false,
        max_cost_usd: None,
        ..facts("free", [4], History::default())
    };
    let forecast = night(vec![few, untold, unbounded, never, free], Vec::new()).forecast();
    let without =
        |case: &Case| -> Vec<String> { case.without.iter().map(ToString::to_string).collect() };
    assert_eq!(without(&forecast.expected), ["few", "untold"]);
    assert_eq!(without(&forecast.worst), ["unbounded"]);
    assert!((forecast.expected.usd - 1.0).abs() < 1e-9);
    let why: Vec<String> = forecast
        .roles
        .iter()
        .filter_map(|role| Some(role.too_little?.to_string()))
        .collect();
    assert_eq!(
        why,
        [
            "too little history: 4 of 5 firings",
            "the cost of only 4 of 8 firings is known",
            "it has not fired lately"
        ]
    );
}

#[test]
fn who_is_stopped_fires_when_that_is_over_and_a_cap_is_one_of_its_day() {
    let waits = |until| RoleFacts {
        stopped: Some(Stopped {
            why: "paused".into(),
            until,
        }),
        ..facts("one", [10, 20, 30], history(5, 1.0, 1))
    };
    let firings = |facts| {
        night(vec![facts], Vec::new()).forecast().roles[0]
            .expected
            .firings
    };
    assert_eq!(firings(waits(Some(at(20)))), 2);
    assert_eq!(firings(waits(None)), 0);
    let capped = RoleFacts {
        caps: vec![
            Cap {
                from: at(0),
                to: at(25),
                left: 1,
                most: 7,
            },
            Cap {
                from: at(25),
                to: at(1_000),
                left: 7,
                most: 7,
            },
        ],
        ..facts("one", [10, 20, 30], history(5, 1.0, 1))
    };
    assert_eq!(firings(capped), 2);
}

fn window(used: f64, per_token: Option<f64>) -> WindowFacts {
    WindowFacts {
        window: UsageWindow {
            account: "claude".parse().unwrap(),
            name: "five_hour".into(),
            utilization: used,
            resets_at: Some(at(100)),
            seen_at: at(0),
        },
        length: WindowFacts::length_of("five_hour"),
        per_token,
        warn_at: 0.8,
        reserve: 0.1,
    }
}

#[test]
fn a_window_ends_for_low_priorities_first_and_begins_again() {
    let ends = |low, used, per_token, slots: Vec<i64>| {
        let role = RoleFacts {
            is_low: low,
            ..facts("one", slots, history(5, 1.0, 1))
        };
        let night = Night {
            windows: vec![window(used, per_token)],
            ..night(vec![role], Vec::new())
        };
        let mut windows = night.forecast().windows;
        windows.pop().map(|end| end.at)
    };
    // A firing takes 1,000 tokens: a tenth of the window.
    let tenth = Some(0.000_1);
    let early = vec![10, 20, 30, 40];
    assert_eq!(ends(false, 0.7, tenth, early.clone()), Some(at(30)));
    assert_eq!(ends(true, 0.7, tenth, early.clone()), Some(at(20)));
    assert_eq!(ends(false, 0.2, tenth, early.clone()), None);
    assert_eq!(ends(false, 0.7, None, early), None);
    // Over two windows: each has room for these.
    assert_eq!(ends(false, 0.7, tenth, vec![10, 20, 110, 120]), None);
    let many: Vec<i64> = (0..12).map(|n| 110 + n * 10).collect();
    assert_eq!(ends(false, 0.7, tenth, many), Some(at(200)));
    assert_eq!(WindowFacts::length_of("primary"), None);
}

/// Costs that are told, and some that nobody would tell.
fn any_history() -> impl Strategy<Value = History> {
    let cost = proptest::option::weighted(0.8, -1.0..50.0_f64);
    let past = (cost, 0_u64..1_000_000, 0_i64..7_200);
    proptest::collection::vec(past, 0..12).prop_map(|all| {
        History::of(all.into_iter().map(|(cost_usd, tokens, seconds)| Past {
            cost_usd,
            estimated: true,
            tokens,
            ran: TimeDelta::seconds(seconds),
        }))
    })
}

fn any_role(index: usize) -> impl Strategy<Value = RoleFacts> {
    let slots = proptest::collection::btree_set(0_i64..720, 0..40);
    let cap = proptest::option::of((0_i64..720, 0_u32..20));
    let max = proptest::option::of(0.0..20.0_f64);
    (slots, any_history(), cap, max, any::<bool>()).prop_map(
        move |(slots, history, cap, max_cost_usd, is_low)| RoleFacts {
            caps: cap.map_or_else(Vec::new, |(midnight, left)| {
                let days = [
                    (at(-10), at(midnight), left),
                    (at(midnight), at(1_000), left),
                ];
                days.map(|(from, to, left)| Cap {
                    from,
                    to,
                    left,
                    most: 20,
                })
                .into()
            }),
            max_cost_usd,
            is_low,
            ..facts(["one", "two", "three"][index], slots, history)
        },
    )
}

fn any_purse() -> impl Strategy<Value = Purse> {
    let of = proptest::option::of(0_usize..3);
    let span = (0_i64..720, 0_i64..720);
    (of, span, -1.0..60.0_f64, 0.0..80.0_f64).prop_map(|(of, (from, length), spent, max)| Purse {
        from: at(from),
        to: at(from + length),
        ..purse(of.map(|index| ["one", "two", "three"][index]), max, spent)
    })
}

fn any_night() -> impl Strategy<Value = Night> {
    let roles = (any_role(0), any_role(1), any_role(2));
    let windows =
        proptest::collection::vec((0.0..1.0_f64, proptest::option::of(0.0..1e-3_f64)), 0..3);
    let purses = proptest::collection::vec(any_purse(), 0..5);
    (roles, purses, windows).prop_map(|((one, two, three), purses, windows)| Night {
        windows: windows
            .into_iter()
            .map(|(used, rate)| window(used, rate))
            .collect(),
        ..night(vec![one, two, three], purses)
    })
}

/// What money is: finite and not negative; and no sum is more than was wanted.
fn is_sound(sum: &Sum) -> bool {
    let sound = |usd: Option<f64>| usd.is_none_or(|usd| usd.is_finite() && usd >= 0.0);
    let within = match (sum.usd, sum.wanted_usd) {
        (Some(usd), Some(wanted)) => usd <= wanted + 1e-6,
        _ => true,
    };
    sound(sum.each_usd) && sound(sum.wanted_usd) && sound(sum.usd) && within
}

/// What the roles take in the time of a purse is never more than it holds. Only firings that a purse of all
/// times and roles covers can be told apart by their sums.
fn all_of_it(night: &Night, purse: &Purse) -> bool {
    let all = night
        .roles
        .iter()
        .flat_map(|role| role.slots.iter().map(move |at| (role, at)));
    purse.role.is_none()
        && all
            .into_iter()
            .all(|(role, at)| purse.is_of(&role.role, *at))
}

proptest! {
    #[test]
    fn no_sum_is_negative_and_none_is_more_than_the_purses_hold(night in any_night()) {
        let forecast = night.forecast();
        for case in [&forecast.expected, &forecast.worst] {
            prop_assert!(case.usd.is_finite() && case.usd >= 0.0, "{case:?}");
            for purse in night.purses.iter().filter(|purse| all_of_it(&night, purse)) {
                prop_assert!(case.usd <= purse.left() + 1e-6, "{purse:?} {case:?}");
            }
        }
        for (facts, role) in night.roles.iter().zip(&forecast.roles) {
            prop_assert!(is_sound(&role.expected) && is_sound(&role.worst), "{role:?}");
            prop_assert!(role.expected.firings <= role.worst.firings);
            prop_assert!(role.worst.firings <= role.slots);
            if let (Some(likely), Some(most)) = (role.expected.each_usd, role.worst.each_usd) {
                prop_assert!(likely <= most);
            }
            // Its own purse holds it, too.
            for purse in night.purses.iter().filter(|purse| purse.role.as_ref() == Some(&facts.role)) {
                if facts.slots.iter().all(|at| purse.is_of(&facts.role, *at)) {
                    let spent = role.worst.usd.unwrap_or(0.0);
                    prop_assert!(spent <= purse.left() + 1e-6, "{purse:?} {role:?}");
                }
            }
        }
    }

    #[test]
    fn one_more_slot_never_makes_less_wanted(night in any_night(), more in 0_i64..720) {
        let before = night.forecast();
        let mut fuller = night.clone();
        let slots = &mut fuller.roles[0].slots;
        slots.push(at(more));
        slots.sort_unstable();
        slots.dedup();
        let after = fuller.forecast();
        let pairs = [
            (before.roles[0].expected, after.roles[0].expected),
            (before.roles[0].worst, after.roles[0].worst),
        ];
        for (before, after) in pairs {
            prop_assert!(after.firings >= before.firings);
            if let (Some(before), Some(after)) = (before.wanted_usd, after.wanted_usd) {
                prop_assert!(after >= before - 1e-9);
            }
        }
    }

    #[test]
    fn under_one_purse_more_slots_never_cost_less(night in any_night(), more in 0_i64..720, max in 0.0..50.0_f64) {
        let mut night = Night { purses: vec![purse(None, max, 0.0)], ..night };
        let before = night.forecast();
        let slots = &mut night.roles[0].slots;
        slots.push(at(more));
        slots.sort_unstable();
        slots.dedup();
        let after = night.forecast();
        prop_assert!(after.expected.usd >= before.expected.usd - 1e-6);
        prop_assert!(after.worst.usd >= before.worst.usd - 1e-6);
    }

    #[test]
    fn without_purses_what_is_wanted_is_what_it_costs(night in any_night()) {
        let forecast = Night { purses: Vec::new(), ..night }.forecast();
        for role in &forecast.roles {
            let (wanted, usd) = (role.expected.wanted_usd, role.expected.usd);
            prop_assert!((wanted.unwrap_or(0.0) - usd.unwrap_or(0.0)).abs() < 1e-6);
        }
        prop_assert!(forecast.expected.ends.is_empty() && forecast.worst.ends.is_empty());
    }

    #[test]
    fn a_window_ends_at_a_firing_of_its_account(night in any_night()) {
        let other: AccountName = "codex".parse().unwrap();
        let mut night = night;
        night.roles[2].account = Some(other);
        for end in night.forecast().windows {
            let own = night.roles.iter().find(|role| role.role == end.cuts).unwrap();
            prop_assert_eq!(own.account.as_ref(), Some(&end.account));
            prop_assert!(own.slots.contains(&end.at));
        }
    }
}
