use proptest::prelude::*;

use super::*;
use crate::forecast::{Cap, History, Past, Purse};
use crate::usage::Budget;

const WEEK: i64 = 7 * 24 * 60;

fn now() -> DateTime<Utc> {
    DateTime::from_timestamp(1_800_000_000, 0).unwrap()
}

fn after(minutes: i64) -> DateTime<Utc> {
    now() + TimeDelta::minutes(minutes)
}

fn claude() -> AccountName {
    "claude".parse().unwrap()
}

/// A window of which a firing takes a tenth.
fn window(name: &str, used: f64, ends_in: i64) -> WindowFacts {
    WindowFacts {
        window: UsageWindow {
            account: claude(),
            name: name.to_owned(),
            utilization: used,
            resets_at: Some(after(ends_in)),
            seen_at: after(-20),
        },
        length: WindowFacts::length_of(name),
        per_token: Some(0.000_1),
        warn_at: 0.8,
        reserve: 0.1,
    }
}

/// A role that is due in so many minutes, and took 1,000 tokens each time.
fn role(name: &str, due: &[i64]) -> RoleFacts {
    let past = Past {
        cost_usd: Some(1.0),
        estimated: false,
        tokens: 1_000,
        ran: TimeDelta::minutes(1),
    };
    RoleFacts {
        role: name.parse().unwrap(),
        slots: due.iter().map(|minutes| after(*minutes)).collect(),
        caps: Vec::new(),
        stopped: None,
        history: History::of([past; 5]),
        asks_models: true,
        max_cost_usd: None,
        account: Some(claude()),
        is_low: false,
    }
}

fn night(windows: Vec<WindowFacts>, roles: Vec<RoleFacts>) -> Night {
    Night {
        from: now(),
        until: after(60),
        roles,
        purses: Vec::new(),
        windows,
    }
}

fn found(night: &Night, tried: u32, running: &[RoleName]) -> Result<Spare, Kept> {
    let asks = Asks {
        role: &night.roles[0],
        account: &claude(),
        is_counted: true,
        begins: after(-240),
        running,
        tried,
    };
    spare(night, &asks)
}

/// What a fleet of one role has that is not due.
fn alone(windows: Vec<WindowFacts>) -> Result<Spare, Kept> {
    found(&night(windows, vec![role("hand", &[])]), 0, &[])
}

#[test]
fn what_a_window_would_lose_is_told() {
    // Five days of seven have passed, and half of it is used.
    let week = window("seven_day", 0.5, WEEK * 2 / 7);
    let found = alone(vec![window("five_hour", 0.3, 40), week.clone()]).unwrap();
    assert_eq!(
        (found.window.as_str(), found.until),
        ("five_hour", after(40))
    );
    assert!((found.left - 0.6).abs() < 1e-9, "{found:?}");
    let told = "60 % of claude's five_hour would be lost";
    assert!(found.to_string().starts_with(told), "{found}");
    assert!(found.has_room_for(5_999) && !found.has_room_for(6_001));
    // Of two that start again soon the tighter one counts.
    let opus = window("five_hour_opus", 0.6, 45);
    let two = alone(vec![window("five_hour", 0.3, 40), opus, week]).unwrap();
    assert_eq!(two.window, "five_hour_opus");
}

#[test]
fn nothing_is_left_over_that_somebody_will_want() {
    let little = alone(vec![window("five_hour", 0.7, 30)]);
    assert!(matches!(little, Err(Kept::Little { .. })), "{little:?}");
    let due = |minutes: &[i64]| {
        let roles = vec![role("hand", &[]), role("other", minutes)];
        night(vec![window("five_hour", 0.5, 30)], roles)
    };
    assert!(found(&due(&[5]), 0, &[]).is_ok());
    let two = found(&due(&[5, 20]), 0, &[]);
    assert!(matches!(two, Err(Kept::Little { .. })), "{two:?}");
    // One that runs now is one that is due, and one of the next window is none of this one's.
    let other = [due(&[]).roles[1].role.clone()];
    assert!(found(&due(&[5]), 0, &other).is_err());
    assert!(found(&due(&[5, 30, 31]), 0, &[]).is_ok());
    // Its own firings come before its second tries.
    let own = night(
        vec![window("five_hour", 0.5, 30)],
        vec![role("hand", &[5, 20])],
    );
    assert!(found(&own, 0, &[]).is_err());
    let weekly = vec![
        window("five_hour", 0.2, 30),
        window("seven_day", 0.8, WEEK * 5 / 7),
    ];
    assert_eq!(alone(weekly), Err(Kept::Missed("seven_day".to_owned())));
}

#[test]
fn only_a_window_that_is_about_to_start_again_loses_anything() {
    let windows = |ends_in| {
        let facts = [
            window("five_hour", 0.1, ends_in),
            window("seven_day", 0.1, WEEK / 2),
        ];
        facts.map(|facts| facts.window)
    };
    assert_eq!(soon(&windows(60), &claude(), now()), Ok(after(60 - 300)));
    let early = soon(&windows(61), &claude(), now());
    assert_eq!(
        early,
        Err(Kept::Early {
            window: "five_hour".to_owned(),
            at: after(61)
        })
    );
    // Where both do, a try belongs to the one that began last.
    let both = [window("seven_day", 0.1, 10), window("five_hour", 0.1, 50)];
    let both = both.map(|facts| facts.window);
    assert_eq!(soon(&both, &claude(), now()), Ok(after(50 - 300)));
}

#[test]
fn what_nobody_knows_is_not_spent() {
    let told = |windows: &[WindowFacts], account: &str| {
        let windows: Vec<UsageWindow> = windows.iter().map(|one| one.window.clone()).collect();
        soon(&windows, &account.parse().unwrap(), now())
    };
    assert_eq!(told(&[], "claude"), Err(Kept::Untold));
    assert_eq!(
        told(&[window("five_hour", 0.0, 10)], "codex"),
        Err(Kept::Untold)
    );
    assert_eq!(
        told(&[window("five_hour", 0.0, -10)], "claude"),
        Err(Kept::Untold)
    );
    let odd = told(&[window("usage", 0.0, 10)], "claude");
    assert_eq!(odd, Err(Kept::Unknown("usage".to_owned())));
    let uncounted = WindowFacts {
        per_token: None,
        ..window("five_hour", 0.0, 30)
    };
    assert!(alone(vec![uncounted.clone()]).is_ok());
    let due = night(vec![uncounted], vec![role("hand", &[10])]);
    let nobody = Err(Kept::Uncounted("five_hour".to_owned()));
    assert_eq!(found(&due, 0, &[]), nobody);
    let new = RoleFacts {
        history: History::default(),
        ..role("new", &[10])
    };
    let roles = vec![role("hand", &[]), new];
    let due = night(vec![window("five_hour", 0.0, 30)], roles);
    assert_eq!(found(&due, 0, &[]), Err(Kept::New("new".parse().unwrap())));
}

#[test]
fn a_window_has_so_many_second_tries() {
    let night = night(vec![window("five_hour", 0.0, 30)], vec![role("hand", &[])]);
    assert!(found(&night, TRIES - 1, &[]).is_ok());
    assert_eq!(found(&night, TRIES, &[]), Err(Kept::Tried));
}

/// A role with so much of its day's firings used, and of a budget, where half of both is over.
fn halfway(fired: u32, spent: f64, max_cost_usd: Option<f64>) -> Night {
    let (from, to) = (after(-720), after(720));
    let hand = RoleFacts {
        caps: vec![Cap {
            from,
            to,
            left: 10 - fired,
            most: 10,
        }],
        max_cost_usd,
        ..role("hand", &[])
    };
    let budget = Budget {
        what: "this role a day",
        key: "limits.max_cost_usd_per_day",
        spent,
        estimated: false,
        max: 8.0,
    };
    let purse = Purse {
        role: Some(hand.role.clone()),
        from,
        to,
        budget,
    };
    Night {
        purses: vec![purse],
        ..night(vec![window("five_hour", 0.0, 30)], vec![hand])
    }
}

#[test]
fn neither_a_cap_nor_a_budget_is_used_up_for_it() {
    assert!(found(&halfway(5, 3.0, None), 0, &[]).is_ok());
    assert_eq!(found(&halfway(6, 3.0, None), 0, &[]), Err(Kept::Cap(10)));
    let spent = Err(Kept::Budget("this role a day"));
    assert_eq!(found(&halfway(5, 3.1, None), 0, &[]), spent);
    // All that a firing may cost, where that is set.
    assert_eq!(found(&halfway(5, 1.0, Some(3.5)), 0, &[]), spent);
    let mut unpriced = halfway(5, 0.0, None);
    unpriced.roles[0].history = History::default();
    assert_eq!(found(&unpriced, 0, &[]), Err(Kept::Unpriced));
    // Who asks before there is a firing counts it, too.
    let full = halfway(5, 0.0, None);
    let asks = Asks {
        role: &full.roles[0],
        account: &claude(),
        is_counted: false,
        begins: after(-240),
        running: &[],
        tried: 0,
    };
    assert_eq!(spare(&full, &asks), Err(Kept::Cap(10)));
}

proptest! {
    #[test]
    fn what_is_kept_is_never_spent(
        used in 0.0_f64..1.5, reserve in 0.0_f64..1.0, ends in 1_i64..60, due in 0_usize..5,
        fired in 0_u32..10, spent in 0.0_f64..10.0,
    ) {
        let mut facts = halfway(fired, spent, Some(1.0));
        facts.windows = vec![WindowFacts { reserve, ..window("five_hour", used, ends) }];
        facts.roles.push(role("other", &[1, 5, 9, 13, 17][..due]));
        if let Ok(spare) = found(&facts, 0, &[]) {
            prop_assert!(spare.left >= LEAST && spare.left <= 1.0 - reserve - used.min(1.0) + 1e-9);
            prop_assert!(fired <= 5 && spent + 1.0 <= 4.0);
            // The more is due, the less is left over.
            facts.roles.push(role("more", &[0]));
            let less = found(&facts, 0, &[]).map_or(0.0, |spare| spare.left);
            prop_assert!(less < spare.left);
        }
    }
}
