//! Any sequence of looks, restarts and jumps of the clock.

use proptest::prelude::*;

use super::*;

/// What happens to a daemon.
#[derive(Clone, Copy, Debug)]
enum Happening {
    /// It looks again after this many seconds: woken by anything, or asleep until then.
    Later(i64),
    /// Another daemon takes over.
    Restart,
    /// The clock is set back by this many seconds.
    Back(i64),
}

fn happenings(back: i64) -> impl Strategy<Value = Vec<Happening>> {
    let later = prop_oneof![0..90i64, 0..7_200i64, 0..200_000i64];
    let one = prop_oneof![
        6 => later.prop_map(Happening::Later),
        2 => Just(Happening::Restart),
        1 => (0..=back).prop_map(Happening::Back),
    ];
    proptest::collection::vec(one, 1..25)
}

fn any_line() -> impl Strategy<Value = &'static str> {
    prop_oneof![
        Just("*/5 * * * *"),
        Just("30 2 * * *"),
        Just("0 0 * * 1"),
        Just("17 */3 * * *"),
        Just("*/20 * * * * *"),
    ]
}

async fn live(line: &'static str, start: i64, happenings: &[Happening]) -> Stage {
    let long = "max_late = \"1000d\"\n";
    let start = DateTime::from_timestamp(1_774_000_000 + start, 0).unwrap();
    let mut stage = Stage::new(fleet([("one", line, long)]), &start.to_rfc3339()).await;
    for happening in happenings {
        let now = stage.clock.now();
        match happening {
            Happening::Later(by) => stage.clock.set(now + TimeDelta::seconds(*by)),
            Happening::Back(by) => stage.clock.set(now - TimeDelta::seconds(*by)),
            Happening::Restart => stage.restart().await,
        }
        stage.pass_once().await;
    }
    stage
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    runtime.enable_all().build().unwrap().block_on(future)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..Default::default() })]

    /// Every slot since the start is fired once, alone or in one that stands for it.
    #[test]
    fn however_often_it_looks_and_restarts_each_slot_counts_once(
        line in any_line(),
        start in 0..20_000_000i64,
        happenings in happenings(0),
    ) {
        let stage = block_on(live(line, start, &happenings));
        let slots: Vec<_> = stage.fired.iter().map(|fired| fired.1).collect();
        prop_assert!(slots.is_sorted_by(|a, b| a < b), "{slots:?}");
        let cadence = &stage.fleet.roles.values().next().unwrap().cadence;
        let start = DateTime::from_timestamp(1_774_000_000 + start, 0).unwrap();
        let mut at = start;
        for (_, slot, missed, _) in &stage.fired {
            let mut between = 0;
            while let Some(next) = cadence.next_after(at).filter(|next| next < slot) {
                (at, between) = (next, between + 1);
            }
            at = *slot;
            prop_assert_eq!(between.min(carson_core::cadence::MISSED_MAX), *missed);
        }
        let next = cadence.next_after(at).unwrap();
        prop_assert!(next > stage.clock.now(), "{next} was not fired");
    }

    /// Wherever the clock went: once it is past where it was, the next slot fires.
    #[test]
    fn no_jump_of_the_clock_silences_a_role(
        line in any_line(),
        start in 0..20_000_000i64,
        happenings in happenings(400_000),
    ) {
        block_on(async {
            let mut stage = live(line, start, &happenings).await;
            let furthest = stage.fired.iter().map(|fired| fired.3).max();
            let past = furthest.max(Some(stage.clock.now())).unwrap();
            stage.pass_at(past + CLOCK_MENDED).await;
            let before = stage.fired.len();
            let next = Ledger::next(&stage.fleet, stage.clock.now()).unwrap();
            stage.pass_at(next).await;
            assert_eq!(stage.fired.len(), before + 1, "{:?}", stage.fired.last());
        });
    }
}
