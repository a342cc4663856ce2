//! What the rows of a fleet say of its money, and of the night.

use carson_core::admission::UsageWindow;
use carson_core::forecast::TooLittle;
use carson_core::{Clock, FiringId, Outcome};
use carson_home::Home;
use carson_store::{Claim, Ending, NewFiring, Progress, Store, Used};
use chrono::{DateTime, TimeDelta, Utc};

use super::*;
use crate::tests::home_with;

const MORE: &str = "[repos.widget]\nurl = \"/nowhere/widget.git\"\nforge = \"local\"\n";

fn at(text: &str) -> DateTime<Utc> {
    text.parse().unwrap()
}

/// A firing of `hand` that cost this, of which a third was another account's.
async fn fired(store: &Store, when: DateTime<Utc>, cost: Option<f64>) {
    let claude = "claude".parse().unwrap();
    let new = NewFiring {
        id: FiringId::new(),
        role: "hand".parse().unwrap(),
        slot: None,
        host: "box".parse().unwrap(),
        account: Some(claude),
        deadline_at: when + TimeDelta::hours(1),
        claimed_at: when,
        missed: 0,
        repo: None,
        work: None,
        probes: None,
    };
    assert_eq!(store.claim_firing(&new).await.unwrap(), Claim::Won);
    let used = |account: &str, sessions: u32, part: f64| Used {
        sessions,
        turns: sessions,
        tokens: u64::from(sessions) * 1_000,
        cost_usd: cost.map(|cost| cost * part),
        cost_estimated: account == "codex",
        untold: if cost.is_some() { 0 } else { sessions },
        ..Used::with(account.parse().unwrap())
    };
    let so_far = Progress {
        sessions: 3,
        turns: 3,
        tokens_in: 3_000,
        cost_usd: cost,
        cost_estimated: true,
        used: vec![used("claude", 2, 2.0 / 3.0), used("codex", 1, 1.0 / 3.0)],
        ..Progress::default()
    };
    store
        .as_firing(new.id, carson_store::Epoch::FIRST)
        .progress(&so_far, true)
        .await
        .unwrap();
    let ending = Ending {
        outcome: Outcome::Ok,
        reason: String::new(),
        skip: None,
        at: when + TimeDelta::minutes(10),
        thresholds: None,
        posts: Vec::new(),
    };
    store
        .as_firing(new.id, carson_store::Epoch::FIRST)
        .end_firing(&ending)
        .await
        .unwrap();
}

/// The home at this instant, with a role that is due each hour.
async fn home(limits: &str, now: &str) -> (tempfile::TempDir, Home) {
    let (dir, home) = home_with(MORE, &[("hand", "hand:ready")]).await;
    let file = dir.path().join("roles/hand/role.toml");
    let text = std::fs::read_to_string(&file).unwrap();
    let text = text.replace("0 0 * * *", "0 * * * *");
    std::fs::write(&file, format!("{text}[limits]\n{limits}")).unwrap();
    let fleet = carson_home::testing::fleet(dir.path()).unwrap();
    let home = Home {
        fleet: std::sync::Arc::new(fleet),
        clock: Clock::manual(at(now)),
        ..home
    };
    (dir, home)
}

async fn seen(home: &Home) -> Seen {
    let since = SINCE.to_owned();
    Usage { since }.answer(home).await.unwrap()
}

#[tokio::test]
async fn a_fleet_without_a_past_says_that_nothing_is_known() {
    let (_dir, home) = home("", "2026-11-20T22:30:00Z").await;
    let seen = seen(&home).await;
    assert!(seen.used.is_empty() && !seen.daemon_runs);
    assert!(seen.accounts[0].windows.is_empty());
    let [hand] = &seen.night.roles[..] else {
        panic!("{:#?}", seen.night)
    };
    // 23:00 to 06:00; 07:00 is the morning.
    assert_eq!(
        (hand.slots, seen.night.until),
        (8, at("2026-11-21T07:00:00Z"))
    );
    let enough = carson_core::forecast::ENOUGH;
    assert_eq!(hand.too_little, Some(TooLittle::Few { firings: 0, enough }));
    assert_eq!(seen.night.expected.without.len(), 1);
    assert_eq!(seen.night.worst.without.len(), 1, "nothing bounds it");
}

#[tokio::test]
async fn money_is_told_by_account_and_the_night_by_what_it_was() {
    let limits = "max_cost_usd = 4.0\nmax_cost_usd_per_day = 9.0\nmax_firings_per_day = 20\n";
    let (_dir, home) = home(limits, "2026-11-20T22:30:00Z").await;
    for hour in 10..16 {
        fired(
            &home.store,
            at(&format!("2026-11-20T{hour}:00:00Z")),
            Some(1.5),
        )
        .await;
    }
    let window = UsageWindow {
        account: "claude".parse().unwrap(),
        name: "five_hour".into(),
        utilization: 0.5,
        resets_at: Some(at("2026-11-21T01:00:00Z")),
        seen_at: at("2026-11-20T21:00:00Z"),
    };
    home.store.note_window(&window).await.unwrap();

    let seen = seen(&home).await;

    let used: Vec<_> = seen
        .used
        .iter()
        .map(|row| {
            let cents = row.used.cost_usd.map(|usd| (usd * 100.0).round() as i64);
            let account = row.used.account.as_str();
            (account, row.firings, row.used.sessions, cents)
        })
        .collect();
    assert_eq!(
        used,
        [("claude", 6, 12, Some(600)), ("codex", 6, 6, Some(300))]
    );
    assert!((seen.all.cost_usd - 9.0).abs() < 1e-9 && seen.all.cost_estimated);
    let [hand] = &seen.night.roles[..] else {
        panic!("{:#?}", seen.night)
    };
    assert_eq!(hand.expected.each_usd, Some(1.5));
    // The day's 9 are spent: 23:00 gets nothing, and tomorrow's 9 are six of seven firings.
    assert_eq!(hand.expected.firings, 8);
    assert_eq!(hand.expected.wanted_usd, Some(12.0));
    assert_eq!(hand.expected.usd, Some(9.0));
    let ends: Vec<_> = seen.night.expected.ends.iter().map(|end| end.at).collect();
    assert_eq!(
        ends,
        [at("2026-11-20T23:00:00Z"), at("2026-11-21T06:00:00Z")]
    );
    assert_eq!(hand.worst.usd, Some(9.0));
    // What no session has used since the window began fills it at no speed that anybody knows.
    assert!(seen.night.windows.is_empty());
}

#[tokio::test]
async fn a_window_that_fills_says_when_it_is_full() {
    let (_dir, home) = home("max_cost_usd = 4.0\n", "2026-11-20T22:30:00Z").await;
    for hour in 17..22 {
        fired(&home.store, at(&format!("2026-11-20T{hour}:30:00Z")), None).await;
    }
    let window = |used| UsageWindow {
        account: "claude".parse().unwrap(),
        name: "five_hour".into(),
        utilization: used,
        resets_at: Some(at("2026-11-21T02:30:00Z")),
        seen_at: at("2026-11-20T22:00:00Z"),
    };
    home.store.note_window(&window(0.7)).await.unwrap();
    let seen = seen(&home).await;
    // 2,000 tokens since 21:30 were 0.7 of it, and a firing takes 3,000.
    let [end] = &seen.night.windows[..] else {
        panic!("{:#?}", seen.night)
    };
    assert_eq!(
        (end.cuts.as_str(), end.at),
        ("hand", at("2026-11-21T00:00:00Z"))
    );
    assert_eq!(
        seen.night.roles[0].too_little,
        Some(TooLittle::Untold {
            firings: 5,
            known: 0
        })
    );
    assert_eq!((seen.all.untold, seen.all.sessions), (15, 15));
}

#[tokio::test]
async fn a_pause_and_a_block_keep_a_role_from_its_slots() {
    let (_dir, home) = home("max_cost_usd = 1.0\n", "2026-11-20T22:30:00Z").await;
    let set = crate::block::Set {
        account: "claude".into(),
        r#for: Some("2h".into()),
        reason: "dinner".into(),
    };
    set.answer(&home).await.unwrap();
    let seen = seen(&home).await;
    let hand = &seen.night.roles[0];
    // Until 00:30: 01:00 is the first.
    assert_eq!((hand.slots, hand.worst.firings), (8, 6));
    let stopped = hand.stopped.as_ref().unwrap();
    assert!(stopped.why.contains("dinner"), "{stopped:?}");
    assert_eq!(stopped.until, Some(at("2026-11-21T00:30:00Z")));
}
