//! What the presets and the seeds promise, one run each.

use carson_agent::bounds::{Bounds, Preset};
use carson_agent::outcome::{Outcome, Stop};

use super::scene::{Deed, Judge, Played, Scene, play};
use super::script::Move;

fn played(bounds: Bounds, moves: &[Move], deed: Deed, judge: Judge) -> Played {
    play(&Scene {
        bounds,
        moves: moves.to_vec(),
        deeds: vec![deed],
        judge,
    })
}

#[test]
fn a_local_model_that_never_gets_there_is_exhausted_after_eight() {
    let local = Preset::Local.bounds();
    let played = played(local, &[Move::Write], Deed::Changing, Judge::Never);
    assert_eq!(
        played.end.line(),
        "→ exhausted after 8 iteration(s): verify still failing"
    );
    assert_eq!(played.end.outcome().exit_code(), 3);
    assert_eq!((played.asked, played.checks), (8, 8));
}

#[test]
fn the_call_over_the_cap_returns_the_fallback_at_once() {
    let react = Preset::React.bounds();
    let ever = played(
        react.clone(),
        &[Move::Read, Move::Write],
        Deed::Changing,
        Judge::None,
    );
    assert!(matches!(ever.end.stop, Stop::ToolCalls));
    assert_eq!((ever.asked, ever.done), (5, 4));
    assert_eq!(ever.end.outcome().exit_code(), 4);
    assert!(
        ever.end.text.contains("tool calls are used"),
        "{}",
        ever.end.text
    );
    let empty = played(react, &[Move::Empty], Deed::Same, Judge::None);
    assert!(matches!(empty.end.stop, Stop::Turns));
    assert_eq!(empty.asked, 6);
}

#[test]
fn silence_of_the_model_is_not_done() {
    let silent = |judge| {
        let local = Preset::Local.bounds();
        played(local, &[Move::Words], Deed::Same, judge)
    };
    let never = silent(Judge::Never);
    assert_eq!(never.end.outcome(), Outcome::Exhausted);
    assert_eq!(never.asked, 8);
    assert_eq!(never.checks, 1, "nothing was done since");
    let without = silent(Judge::None);
    assert_eq!((without.asked, without.end.outcome()), (1, Outcome::Done));
    assert_eq!(without.end.text, "I am done.");
}

#[test]
fn the_check_runs_after_each_step_in_which_something_was_done_and_after_no_other() {
    let moves = [
        Move::Read,
        Move::Write,
        Move::Unknown,
        Move::Words,
        Move::Write,
    ];
    let played = played(Bounds::default(), &moves, Deed::Changing, Judge::After(1));
    assert_eq!(
        played.end.line(),
        "→ done after 5 iteration(s): verify passed"
    );
    assert_eq!(played.checks, 2);
}

#[test]
fn no_choices_is_exhausted() {
    let bounds = Bounds::default();
    let played = played(bounds, &[Move::NoChoices], Deed::Same, Judge::Never);
    assert!(matches!(played.end.stop, Stop::NoChoices));
    assert_eq!(played.end.outcome().exit_code(), 3);
}

#[test]
fn the_same_three_times_is_a_loop_and_a_changing_result_is_none() {
    let same = played(Bounds::default(), &[Move::Write], Deed::Same, Judge::Never);
    assert!(matches!(same.end.stop, Stop::Loop));
    assert_eq!(same.asked, 3);
    let bounds = Bounds {
        max_turns: 20,
        ..Bounds::default()
    };
    let changing = played(bounds, &[Move::Write], Deed::Changing, Judge::Never);
    assert!(matches!(changing.end.stop, Stop::Turns));
}

#[test]
fn a_known_result_is_used_until_something_is_written() {
    let moves = [Move::Read, Move::Read, Move::Write, Move::Read];
    let bounds = Bounds {
        max_turns: 4,
        ..Bounds::default()
    };
    let played = played(bounds, &moves, Deed::Changing, Judge::None);
    assert_eq!(played.end.spent.tool_calls, 4);
    assert_eq!(played.done, 3, "the second is the first");
}

#[test]
fn what_the_last_call_did_is_judged_also_when_its_bound_is_met() {
    let bounds = Bounds {
        max_tool_calls: 2,
        ..Bounds::default()
    };
    let played = played(bounds, &[Move::Many(3)], Deed::Changing, Judge::After(0));
    assert_eq!(
        played.end.line(),
        "→ done after 1 iteration(s): verify passed"
    );
}

#[test]
fn who_only_reads_is_exhausted_by_a_check_that_was_run() {
    let local = Preset::Local.bounds();
    let moves = [Move::Read, Move::Unknown];
    let played = played(local, &moves, Deed::Changing, Judge::Never);
    let line = "→ exhausted after 8 iteration(s): verify still failing";
    assert_eq!((played.end.line().as_str(), played.checks), (line, 1));
}
