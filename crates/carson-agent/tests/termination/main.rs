//! Every run ends inside its bounds, whatever the model, the tools, the check and the clock do.
//!
//! The models are scripts in memory, and the clock is tokio's own, paused: who hangs costs nothing.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod scene;
mod script;

use std::time::Duration;

use carson_agent::bounds::Bounds;
use carson_agent::context::LEAST_TOKENS;
use carson_agent::message::CHARACTERS_PER_TOKEN;
use carson_agent::outcome::{Outcome, Stop, Verified};
use proptest::prelude::*;
use scene::{Deed, Judge, Played, Scene, play};
use script::Move;

/// Cases of each property; together more than ten thousand.
const MIXED: u32 = 12_000;
const STUBBORN: u32 = 8_000;

fn bounds() -> impl Strategy<Value = Bounds> {
    let numbers = (0..12_u32, 0..12_u32, 0..12_u32);
    (numbers, 1..900_u64, LEAST_TOKENS..6_000_usize).prop_map(|(numbers, seconds, context)| {
        Bounds {
            max_turns: numbers.0,
            max_tool_calls: numbers.1,
            max_iterations: numbers.2,
            wall_clock: Duration::from_secs(seconds),
            context_tokens: context,
        }
    })
}

fn a_move() -> impl Strategy<Value = Move> {
    prop_oneof![
        Just(Move::Read),
        Just(Move::Write),
        Just(Move::Alternate),
        (0..70_usize).prop_map(Move::Many),
        Just(Move::Malformed),
        Just(Move::Unknown),
        Just(Move::Huge),
        Just(Move::EndlessStream),
        Just(Move::Words),
        Just(Move::Empty),
        Just(Move::NoChoices),
        Just(Move::Refused),
        Just(Move::Hang),
        (0..3_000_u64).prop_map(Move::Jump),
    ]
}

fn a_deed() -> impl Strategy<Value = Deed> {
    prop_oneof![
        Just(Deed::Same),
        Just(Deed::Changing),
        Just(Deed::Growing),
        Just(Deed::Wrong),
        Just(Deed::Hang),
        (0..600_u64).prop_map(Deed::Slow),
    ]
}

fn a_judge() -> impl Strategy<Value = Judge> {
    prop_oneof![
        Just(Judge::None),
        Just(Judge::Never),
        Just(Judge::Hang),
        (0..8_u32).prop_map(Judge::After),
    ]
}

/// What holds of every run.
fn holds(scene: &Scene, played: &Played) -> Result<(), TestCaseError> {
    let (bounds, end) = (&scene.bounds, &played.end);
    prop_assert!(end.spent.turns <= bounds.max_turns);
    prop_assert!(end.spent.tool_calls <= bounds.max_tool_calls);
    prop_assert!(end.spent.iterations <= bounds.max_iterations);
    prop_assert_eq!(played.asked, end.spent.turns);
    prop_assert!(played.done <= end.spent.tool_calls);
    // A clock that jumps can only be seen after it did.
    let jumped = Duration::from_secs(played.jumped);
    let slack = Duration::from_millis(5);
    prop_assert!(
        played.took <= bounds.wall_clock + jumped + slack,
        "{:?}",
        played.took
    );
    prop_assert!(!played.asked_late, "asked after its time was over");
    let most = bounds.context_tokens * CHARACTERS_PER_TOKEN;
    prop_assert!(played.longest <= most, "{} of {most}", played.longest);
    prop_assert!(played.pairs_hold, "a result without its call");
    prop_assert!(!end.text.trim().is_empty(), "silence");
    prop_assert!(!played.told_late, "told of a turn that there is not");
    let has_check = !matches!(scene.judge, Judge::None);
    match end.outcome() {
        Outcome::Done if has_check => prop_assert!(played.passed_last, "done without the check"),
        Outcome::Done => prop_assert!(matches!(end.stop, Stop::Answered)),
        Outcome::Exhausted => prop_assert!(has_check && end.verified != Verified::Passed),
        Outcome::Bound => prop_assert!(!has_check),
        Outcome::Endpoint => prop_assert!(matches!(end.stop, Stop::Endpoint(_))),
        Outcome::Interrupted => prop_assert!(false, "nobody interrupted it"),
    }
    let line = end.line();
    let counted = format!("after {} iteration(s)", end.spent.iterations);
    prop_assert!(
        line.starts_with("→ ") && line.contains(&counted),
        "{}",
        line
    );
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(MIXED) })]
    #[test]
    fn any_mixture_ends_inside_its_bounds(
        bounds in bounds(),
        moves in prop::collection::vec(a_move(), 1..8),
        deeds in prop::collection::vec(a_deed(), 1..5),
        judge in a_judge(),
    ) {
        let scene = Scene { bounds, moves, deeds, judge };
        let played = play(&scene);
        holds(&scene, &played)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(STUBBORN) })]
    #[test]
    fn who_does_the_same_for_ever_ends_inside_its_bounds(
        bounds in bounds(),
        stubborn in a_move(),
        deed in a_deed(),
        judge in a_judge(),
    ) {
        let scene = Scene { bounds, moves: vec![stubborn], deeds: vec![deed], judge };
        let played = play(&scene);
        holds(&scene, &played)?;
    }
}

mod presets;
