//! Who may fire: the order of the stops, and what each combination of them says.

use proptest::prelude::*;

use std::time::Duration;

use super::*;
use crate::breaker::Breaker;

fn at(seconds: i64) -> DateTime<Utc> {
    DateTime::from_timestamp(seconds, 0).unwrap()
}

fn gate() -> Gate {
    Gate {
        accounts: vec!["a".parse().unwrap(), "b".parse().unwrap()],
        max_per_day: 10,
        max_here: 2,
        ..Gate::of("r".parse().unwrap())
    }
}

fn block(account: &str, until: Option<i64>) -> Block {
    let account = account.parse().unwrap();
    Block {
        account,
        until: until.map(at),
        reason: "limit".into(),
        kind: None,
    }
}

fn kind(admission: Admission) -> &'static str {
    match admission {
        Admission::Skip(reason) => reason.kind().as_str(),
        Admission::Wait(_) => "wait",
        Admission::Admit(_) => "admit",
    }
}

fn window(account: &str, utilization: f64, resets: Option<i64>) -> UsageWindow {
    UsageWindow {
        account: account.parse().unwrap(),
        name: "five_hour".into(),
        utilization,
        resets_at: resets.map(at),
        seen_at: at(0),
    }
}

fn shares(account: &str, reserve: f64) -> Shares {
    Shares {
        account: account.parse().unwrap(),
        warn_at: 0.9,
        reserve,
    }
}

#[test]
fn windows_hold_back_the_low_ones_first_and_the_reserve_everybody() {
    let mut gate = Gate {
        shares: vec![shares("a", 0.25), shares("b", 0.0)],
        windows: vec![window("a", 0.75, Some(100)), window("b", 0.91, Some(200))],
        ..gate()
    };
    let to = |account: &str| Admission::Admit(Some(account.parse().unwrap()));
    assert_eq!(admit(&gate, at(99)), to("b"), "the reserve of the first");
    assert_eq!(admit(&gate, at(100)), to("a"), "its window began anew");
    gate.is_low = true;
    assert_eq!(kind(admit(&gate, at(99))), "reserved");
    gate.accounts = vec!["b".parse().unwrap()];
    assert_eq!(kind(admit(&gate, at(199))), "low-priority");
    assert_eq!(admit(&gate, at(200)), to("b"));
    // One without an end is not believed for ever.
    gate.windows = vec![window("b", 1.0, None)];
    assert_eq!(kind(admit(&gate, at(5 * 3_600 - 1))), "low-priority");
    assert_eq!(admit(&gate, at(5 * 3_600)), to("b"));
}

#[test]
fn a_cooldown_lets_one_try_and_a_budget_lets_none() {
    let breaker = Breaker {
        opened_at: Some(at(0)),
        ..Breaker::default()
    };
    let half = Gate {
        breaker,
        cooldown: Some(Duration::from_secs(60)),
        ..gate()
    };
    assert_eq!(kind(admit(&half, at(59))), "breaker");
    assert_eq!(kind(admit(&half, at(60))), "admit");
    let budget = |spent| Budget {
        what: "this role a day",
        key: "limits.max_cost_usd_per_day",
        spent,
        estimated: false,
        max: 2.0,
    };
    let spent = Gate {
        budgets: vec![budget(1.99), budget(2.0)],
        ..gate()
    };
    assert_eq!(kind(admit(&spent, at(0))), "budget");
}

/// Each stop alone: those of people give way to a reason, and are named; all others hold.
#[test]
fn an_operator_with_a_reason_fires_over_what_people_set_and_over_nothing_else() {
    let paused = Gate {
        pause: Some(Pause {
            what: "fleet".to_owned(),
            reason: "holidays".to_owned(),
            until: None,
        }),
        ..gate()
    };
    let reserved = Gate {
        accounts: vec!["a".parse().unwrap()],
        shares: vec![shares("a", 0.25)],
        windows: vec![window("a", 0.75, Some(100))],
        ..gate()
    };
    let broken = Gate {
        breaker: Breaker {
            opened_at: Some(at(0)),
            ..Breaker::default()
        },
        ..gate()
    };
    let capped = Gate {
        fired_today: 5,
        max_per_day: 5,
        ..gate()
    };
    for (held, name) in [
        (&paused, "pause"),
        (&reserved, "reserved"),
        (&broken, "breaker"),
        (&capped, "daily-cap"),
    ] {
        assert_eq!(kind(admit(held, at(1))), name);
        assert_eq!(kind(admit_forced(held, at(1))), "admit", "{name}");
        let over = yielding(held, at(1));
        assert_eq!(over.len(), 1, "{over:?}");
        assert_eq!(over[0].kind().as_str(), name);
    }
    assert_eq!(yielding(&gate(), at(1)), []);
    let holds = STOPS.iter().filter(|stop| !stop.yields);
    let mut holds: Vec<&str> = holds
        .flat_map(|stop| stop.kinds)
        .map(|kind| kind.as_str())
        .collect();
    holds.sort_unstable();
    assert_eq!(
        holds,
        [
            "block",
            "budget",
            "forge-limit",
            "host-drained",
            "host-full",
            "host-unfit",
            "overlap"
        ]
    );
    let busy = Gate {
        last: LastFiring::Runs,
        ..paused
    };
    assert_ne!(kind(admit_forced(&busy, at(1))), "admit");
}

proptest! {
    /// Whatever is admitted broke no stop.
    #[test]
    fn nothing_gets_past_a_stop(
        blocked in any::<[bool; 2]>(), used in any::<[u8; 2]>(), reserve in 0..100_u8, low in any::<bool>(),
        opened in any::<bool>(), cooldown in proptest::option::of(0..200_u64),
        spent in 0..40_u8, fired in 0..20_u32, running in any::<bool>(), now in 0..200_i64,
    ) {
        let share = |percent: u8| f64::from(percent) / 100.0;
        let gate = Gate {
            blocks: ["a", "b"].iter().zip(blocked).filter(|(_, is)| *is)
                .map(|(name, _)| block(name, Some(100))).collect(),
            shares: vec![shares("a", share(reserve)), shares("b", share(reserve))],
            windows: vec![window("a", share(used[0]), Some(150)), window("b", share(used[1]), Some(150))],
            is_low: low,
            breaker: Breaker { opened_at: opened.then(|| at(0)), ..Breaker::default() },
            cooldown: cooldown.map(Duration::from_secs),
            budgets: vec![Budget { what: "x", key: "y", spent: spent.into(), estimated: false, max: 20.0 }],
            fired_today: fired,
            last: if running { LastFiring::Runs } else { LastFiring::Ended },
            ..gate()
        };
        if let Admission::Admit(Some(account)) = admit(&gate, at(now)) {
            let place = usize::from(account.as_str() == "b");
            let used = share(used[place]);
            prop_assert!(!(blocked[place] && now < 100));
            prop_assert!(now >= 150 || reserve == 0 || used < 1.0 - share(reserve));
            prop_assert!(now >= 150 || !low || used < 0.9);
            prop_assert!(!opened || cooldown.is_some_and(|cooldown| now >= cooldown as i64));
            prop_assert!(spent < 20 && fired < 10 && !running);
        }
    }
}

#[test]
fn a_blocked_account_moves_to_the_next() {
    let one = Gate {
        blocks: vec![block("a", Some(100))],
        ..gate()
    };
    assert_eq!(
        admit(&one, at(99)),
        Admission::Admit(Some("b".parse().unwrap()))
    );
    assert_eq!(
        admit(&one, at(100)),
        Admission::Admit(Some("a".parse().unwrap()))
    );
    let both = Gate {
        blocks: vec![block("a", Some(100)), block("b", None)],
        ..gate()
    };
    assert_eq!(kind(admit(&both, at(99))), "block");
}

#[test]
fn each_stop_stops() {
    let pause = Pause {
        what: "fleet".into(),
        reason: "r".into(),
        until: Some(at(10)),
    };
    let paused = Gate {
        pause: Some(pause),
        ..gate()
    };
    assert_eq!(kind(admit(&paused, at(9))), "pause");
    assert_eq!(kind(admit(&paused, at(10))), "admit");
    let breaker = Breaker {
        opened_at: Some(at(0)),
        ..Breaker::default()
    };
    assert_eq!(kind(admit(&Gate { breaker, ..gate() }, at(1))), "breaker");
    assert_eq!(
        kind(admit(
            &Gate {
                fired_today: 10,
                ..gate()
            },
            at(1)
        )),
        "daily-cap"
    );
    assert_eq!(
        kind(admit(
            &Gate {
                last: LastFiring::Runs,
                ..gate()
            },
            at(1)
        )),
        "overlap"
    );
    let dead = Gate {
        last: LastFiring::Died,
        ..gate()
    };
    assert_eq!(kind(admit(&dead, at(1))), "wait");
    let queue = Gate {
        last: LastFiring::Runs,
        overlap: Overlap::QueueOne,
        ..gate()
    };
    assert_eq!(kind(admit(&queue, at(1))), "wait");
    assert_eq!(
        kind(admit(
            &Gate {
                running_here: 2,
                ..gate()
            },
            at(1)
        )),
        "wait"
    );
}
