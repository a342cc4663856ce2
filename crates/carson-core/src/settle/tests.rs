use proptest::prelude::*;

use super::*;
use crate::coverage::{Covered, Measured};
use crate::declared::Refused;
use crate::effect::Effect;
use crate::id::AccountName;
use crate::skip::BlockKind;

#[test]
fn a_story_fails_by_what_was_measured_whatever_was_said_and_judged() {
    let story = |outside: &[&str], missing: &[&str]| StoryFact {
        file: "prd.json".into(),
        text_hash: String::new(),
        prompt_hash: String::new(),
        outside: outside.iter().map(|one| (*one).to_owned()).collect(),
        missing: missing.iter().map(|one| (*one).to_owned()).collect(),
    };
    let ended = |story| {
        let facts = Facts {
            story: Some(story),
            ..ok_facts()
        };
        let settled = settle(&facts);
        (settled.outcome, settled.reason)
    };
    assert_eq!(ended(story(&[], &[])).0, Outcome::Ok);
    let (outcome, reason) = ended(story(&["src/keep (changed)"], &[]));
    assert_eq!(
        (outcome, reason.as_str()),
        (Outcome::Failed, "OUT_OF_SCOPE: src/keep (changed)")
    );
    let (outcome, reason) = ended(story(&[], &["a.md"]));
    assert!(outcome == Outcome::Failed && reason.starts_with("MISSING: "));
}

fn ok_facts() -> Facts {
    Facts {
        sentinel: Some(Sentinel::Ok(String::new())),
        commits: 1,
        ..Facts::default()
    }
}

fn outcome(facts: &Facts) -> Outcome {
    settle(facts).outcome
}

/// Where Carson cannot have what was committed it does not say that there is nothing.
#[test]
fn a_commit_that_could_not_be_saved_is_told() {
    let at = |commits, unchanged, dirty| {
        let settled = settle(&Facts {
            commits,
            unchanged,
            dirty,
            untaken: Some("the store is closed".into()),
            ..ok_facts()
        });
        (settled.outcome, settled.reason)
    };
    for (commits, unchanged) in [(0, false), (2, true)] {
        for dirty in [false, true] {
            let (outcome, reason) = at(commits, unchanged, dirty);
            assert_eq!(outcome, Outcome::Failed);
            assert!(
                reason.ends_with("was not saved: the store is closed"),
                "{reason}"
            );
        }
    }
    assert_eq!(at(2, false, false).0, Outcome::Partial);
}

#[test]
fn ok_needs_a_commit() {
    assert_eq!(outcome(&ok_facts()), Outcome::Ok);
    assert_eq!(
        outcome(&Facts {
            commits: 0,
            dirty: true,
            ..ok_facts()
        }),
        Outcome::NoCommit
    );
    assert_eq!(
        outcome(&Facts {
            commits: 0,
            ..ok_facts()
        }),
        Outcome::Failed
    );
}

#[test]
fn checks_win_over_the_claim() {
    let failed = Facts {
        promise: PromiseFact::Failed,
        ..ok_facts()
    };
    assert_eq!(outcome(&failed), Outcome::Failed);
    let rejected = Facts {
        diff_review: DiffReviewFact::Rejected,
        ..ok_facts()
    };
    assert_eq!(outcome(&rejected), Outcome::Rejected);
}

#[test]
fn a_silent_session_that_left_files_is_not_silent() {
    let silent = Facts {
        sentinel: Some(Sentinel::Silent),
        ..Facts::default()
    };
    assert_eq!(outcome(&silent), Outcome::Silent);
    assert_eq!(
        outcome(&Facts {
            dirty: true,
            ..silent
        }),
        Outcome::Partial
    );
}

#[test]
fn already_done_must_point_somewhere() {
    let claim = Facts {
        halt: Some(Halt::DoneBefore {
            claim: "src/a.rs:3".into(),
            confirmed: true,
        }),
        ..Facts::default()
    };
    assert_eq!(outcome(&claim), Outcome::Failed);
    let there = Facts {
        reference_exists: true,
        ..claim
    };
    assert_eq!(outcome(&there), Outcome::AlreadyDone);
    let worked = Facts {
        dirty: true,
        ..there
    };
    assert_eq!(outcome(&worked), Outcome::Partial);
}

#[test]
fn already_done_that_nobody_confirmed_is_for_people() {
    let said = Sentinel::AlreadyDone("README.md:1".into());
    let unconfirmed = Halt::DoneBefore {
        claim: "README.md:1".into(),
        confirmed: false,
    };
    for (halt, sentinel) in [
        (Some(unconfirmed), None),
        (Some(Halt::Planned(said.clone())), None),
        (None, Some(said)),
    ] {
        let facts = Facts {
            halt,
            sentinel,
            reference_exists: true,
            ..Facts::default()
        };
        assert_eq!(outcome(&facts), Outcome::Blocked);
    }
}

#[test]
fn what_is_pushed_is_what_was_judged() {
    let sha = |digit: char| Some(digit.to_string().repeat(40));
    let judged = Facts {
        promise: PromiseFact::Passed,
        diff_review: DiffReviewFact::Approved,
        tip: sha('a'),
        verified: sha('a'),
        reviewed: sha('a'),
        ..ok_facts()
    };
    assert_eq!(outcome(&judged), Outcome::Ok);
    let verified = Facts {
        verified: sha('b'),
        ..judged.clone()
    };
    let reviewed = Facts {
        reviewed: None,
        ..judged.clone()
    };
    let unshown = Facts {
        unshown: vec!["logo.png: no text".into(), "b".into()],
        ..judged
    };
    for (facts, why) in [
        (
            verified,
            "verified (bbbbbbbbbb) is not the one that would be pushed (aaaaaaaaaa)",
        ),
        (reviewed, "reviewed (none) is not"),
        (unshown, "not shown all of it: logo.png: no text and 1 more"),
    ] {
        let settled = settle(&facts);
        assert_eq!(settled.outcome, Outcome::Partial);
        assert!(settled.reason.contains(why), "{}", settled.reason);
    }
}

#[test]
fn a_budget_that_ends_with_work_is_partial() {
    let ended = Facts {
        halt: Some(Halt::OutOfTurns),
        ..Facts::default()
    };
    assert_eq!(outcome(&ended), Outcome::Failed);
    assert_eq!(
        outcome(&Facts {
            dirty: true,
            ..ended
        }),
        Outcome::Partial
    );
}

#[test]
fn tool_calls_that_are_used_up_and_circles_say_so_and_keep_what_there_is() {
    let ends = [
        (Halt::OutOfToolCalls, "tool call budget"),
        (Halt::InCircles("Bash again".into()), "in circles"),
    ];
    for (halt, why) in ends {
        let empty = Facts {
            halt: Some(halt),
            ..Facts::default()
        };
        let left = Facts {
            commits: 1,
            ..empty.clone()
        };
        for (facts, outcome) in [(empty, Outcome::Failed), (left, Outcome::Partial)] {
            let settled = settle(&facts);
            assert_eq!(settled.outcome, outcome);
            assert!(settled.reason.contains(why), "{}", settled.reason);
        }
    }
}

#[test]
fn a_blocked_call_that_ended_the_session_is_blocked() {
    let stopped = Facts {
        sentinel: Some(Sentinel::Partial("could not push".into())),
        commits: 1,
        blocked_calls: 1,
        ..Facts::default()
    };
    assert_eq!(outcome(&stopped), Outcome::Blocked);
    let went_on = Facts {
        blocked_calls: 1,
        ..ok_facts()
    };
    assert_eq!(outcome(&went_on), Outcome::Ok);
}

fn sentinels() -> impl Strategy<Value = Option<Sentinel>> {
    prop_oneof![
        Just(None),
        Just(Some(Sentinel::Silent)),
        "[a-z]{0,5}".prop_map(|n| Some(Sentinel::Ok(n))),
        "[a-z]{0,5}".prop_map(|n| Some(Sentinel::Partial(n))),
        "[a-z]{0,5}".prop_map(|n| Some(Sentinel::Blocked(n))),
        "[a-z]{0,5}".prop_map(|n| Some(Sentinel::AlreadyDone(n))),
    ]
}

fn halts() -> impl Strategy<Value = Option<Halt>> {
    let until = DateTime::from_timestamp(0, 0);
    let account: AccountName = "a".parse().unwrap();
    prop_oneof![
        4 => Just(None),
        1 => Just(Some(Halt::NothingToDo)),
        1 => Just(Some(Halt::Skipped(SkipReason::too_late()))),
        1 => Just(Some(Halt::RateLimited { account, until, kind: None, why: String::new() })),
        1 => Just(Some(Halt::AsBefore("x".into()))),
        1 => Just(Some(Halt::TimedOut("x".into()))),
        1 => Just(Some(Halt::OutOfTurns)),
        1 => Just(Some(Halt::OutOfToolCalls)),
        1 => Just(Some(Halt::InCircles("x".into()))),
        1 => Just(Some(Halt::OutOfMoney)),
        1 => sentinels().prop_map(|s| s.map(Halt::Planned)),
        1 => Just(Some(Halt::PlanRejected("x".into()))),
        1 => Just(Some(Halt::NoSentinel("plan".into()))),
        1 => Just(Some(Halt::Exhausted("x".into()))),
        1 => Just(Some(Halt::Stagnated("x".into()))),
        1 => Just(Some(Halt::LostWorktree("x".into()))),
        1 => Just(Some(Halt::Unavailable("x".into()))),
        1 => Just(Some(Halt::EngineFailed("x".into()))),
        1 => Just(Some(Halt::Broken("x".into()))),
        1 => Just(Some(Halt::Cancelled)),
    ]
}

fn any_facts() -> impl Strategy<Value = Facts> {
    let promise = prop_oneof![
        Just(PromiseFact::NotRun),
        Just(PromiseFact::Passed),
        Just(PromiseFact::Failed)
    ];
    let review = prop_oneof![
        Just(DiffReviewFact::NotRun),
        Just(DiffReviewFact::Approved),
        Just(DiffReviewFact::Rejected)
    ];
    (
        halts(),
        sentinels(),
        0..3u32,
        any::<bool>(),
        promise,
        review,
        0..3u32,
        any::<bool>(),
    )
        .prop_map(
            |(halt, sentinel, commits, dirty, promise, diff_review, blocked_calls, exists)| Facts {
                halt,
                sentinel,
                commits,
                dirty,
                promise,
                diff_review,
                blocked_calls,
                reference_exists: exists,
                ..Facts::default()
            },
        )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn the_table_is_total_and_facts_win(facts in any_facts()) {
        let Settled { outcome, reason, skip } = settle(&facts);
        prop_assert!(!reason.is_empty());
        prop_assert_eq!(skip.is_some(), outcome == Outcome::Skipped);
        prop_assert_ne!(outcome, Outcome::Crashed, "a crash is never settled by the firing itself");
        if outcome == Outcome::Ok {
            prop_assert!(facts.commits > 0);
            prop_assert_ne!(facts.promise, PromiseFact::Failed);
            prop_assert_ne!(facts.diff_review, DiffReviewFact::Rejected);
        }
        if outcome == Outcome::AlreadyDone {
            prop_assert!(facts.reference_exists && facts.commits == 0 && !facts.dirty);
        }
        if outcome == Outcome::Silent && facts.halt != Some(Halt::NothingToDo) {
            prop_assert!(facts.commits == 0 && !facts.dirty);
        }
        if outcome == Outcome::NoCommit {
            prop_assert!(facts.dirty && facts.commits == 0);
        }
    }
}

#[test]
fn a_provider_that_was_away_costs_the_work_nothing_as_long_as_there_is_none() {
    let away = Facts {
        halt: Some(Halt::Unavailable("refused".into())),
        ..Facts::default()
    };
    assert_eq!(settle(&away).outcome, Outcome::Failed);
    assert!(away.spares_the_work());
    let begun = Facts {
        commits: 1,
        ..away.clone()
    };
    assert!(!begun.spares_the_work());
    assert!(away.spares_the_role() && begun.spares_the_role());
}

#[test]
fn what_fails_before_a_model_answered_is_no_fault_of_the_work_but_may_be_the_role_s() {
    for halt in [
        Halt::EngineFailed("the CLI ended with 3".into()),
        Halt::Broken("the forge".into()),
    ] {
        let early = Facts {
            halt: Some(halt),
            ..Facts::default()
        };
        assert!(early.spares_the_work() && !early.spares_the_role());
        let begun = Facts {
            dirty: true,
            ..early
        };
        assert!(!begun.spares_the_work());
    }
    // Neither is a check that fails without it in the same way.
    let as_before = Facts {
        halt: Some(Halt::AsBefore("exit code 1".into())),
        commits: 1,
        ..Facts::default()
    };
    assert!(as_before.spares_the_work() && !as_before.spares_the_role());
    // That a sandbox cannot be made is never the work's doing.
    let unconfined = Facts {
        halt: Some(Halt::Unconfined("no Landlock".into())),
        dirty: true,
        ..Facts::default()
    };
    assert!(unconfined.spares_the_work() && !unconfined.spares_the_role());
    let late = Facts {
        halt: Some(Halt::EngineFailed("the CLI ended with 3".into())),
        answered: true,
        ..Facts::default()
    };
    assert!(!late.spares_the_work());
}

#[test]
fn bad_credentials_are_no_limit() {
    let blocked = |kind| Facts {
        halt: Some(Halt::RateLimited {
            account: "main".parse().unwrap(),
            until: None,
            kind,
            why: "401".into(),
        }),
        ..Facts::default()
    };
    let outcome = |kind| settle(&blocked(kind)).outcome;
    assert_eq!(outcome(Some(BlockKind::Auth)), Outcome::Auth);
    assert_eq!(outcome(Some(BlockKind::Limit)), Outcome::RateLimited);
    assert_eq!(outcome(Some(BlockKind::Outage)), Outcome::RateLimited);
    assert_eq!(outcome(None), Outcome::RateLimited);
}

#[test]
fn what_ok_needs_depends_on_the_goal() {
    let asked = Admitted {
        effects: vec![Effect::CloseIssue { issue: 7 }],
        ..Admitted::default()
    };
    for goal in [Goal::Text, Goal::Effects] {
        let said = Facts {
            goal,
            commits: 0,
            declared: asked.clone(),
            ..ok_facts()
        };
        assert_eq!(outcome(&said), Outcome::Ok, "{goal:?}");
        for left in [
            Facts {
                dirty: true,
                ..said.clone()
            },
            Facts {
                commits: 1,
                ..said.clone()
            },
        ] {
            assert_eq!(outcome(&left), Outcome::Partial, "{left:?}");
        }
    }
    let refused = Refused {
        n: 1,
        kind: "label".into(),
        why: "it steers".into(),
    };
    let asks = |effects: &[Effect], refused: &[Refused]| {
        let told = settle(&Facts {
            goal: Goal::Effects,
            commits: 0,
            declared: Admitted {
                effects: effects.to_vec(),
                refused: refused.to_vec(),
                pull: None,
            },
            ..ok_facts()
        });
        (told.outcome, told.reason)
    };
    let (outcome, reason) = asks(&[], &[]);
    assert_eq!(outcome, Outcome::Failed, "{reason}");
    let (outcome, reason) = asks(&[], &[refused.clone(), refused.clone()]);
    assert_eq!(outcome, Outcome::Blocked, "{reason}");
    assert_eq!(
        reason,
        "label of its outbox was refused: it steers (and 1 more)"
    );
    let (outcome, reason) = asks(&asked.effects, &[refused]);
    assert_eq!(outcome, Outcome::Ok, "{reason}");
    assert_eq!(
        reason,
        "1 closed issue; label of its outbox was refused: it steers"
    );
    // Rows of before have no goal: they wanted commits.
    let old: Facts = serde_json::from_str(
        r#"{"halt":null,"sentinel":null,"commits":0,"dirty":false,"promise":"NotRun",
            "diff_review":"NotRun","blocked_calls":0,"reference_exists":false}"#,
    )
    .unwrap();
    assert_eq!(old.goal, Goal::Commits);
}

#[test]
fn commits_on_branches_apart_are_half_of_the_work() {
    let apart = Facts {
        beside: vec!["feature/a".into()],
        ..ok_facts()
    };
    let told = settle(&apart);
    assert_eq!(told.outcome, Outcome::Partial);
    assert!(told.reason.ends_with("on feature/a"), "{}", told.reason);
    // Also where none of them could be the work.
    let none = Facts {
        commits: 0,
        ..apart
    };
    assert_eq!(outcome(&none), Outcome::Partial);
    assert!(
        !Facts {
            halt: Some(Halt::Unavailable("away".into())),
            ..none
        }
        .spares_the_work()
    );
}

#[test]
fn tests_are_done_when_they_change_nothing_else_and_run_more_of_their_file() {
    let covers = |hit| Facts {
        aimed: Some(Aimed {
            file: "src/a.rs".into(),
            before: Covered { hit: 4, found: 10 },
            after: Measured::Covered(Covered { hit, found: 10 }),
        }),
        ..ok_facts()
    };
    let rose = settle(&covers(5));
    assert_eq!(rose.outcome, Outcome::Ok);
    assert!(
        rose.reason
            .contains("the coverage of src/a.rs rose from 40 % to 50 %"),
        "{}",
        rose.reason
    );
    let stayed = settle(&covers(4));
    assert_eq!(stayed.outcome, Outcome::Partial);
    assert_eq!(
        stayed.reason,
        "the coverage of src/a.rs did not rise: 40 % before, 40 % after"
    );
    let strayed = settle(&Facts {
        outside: (0..7).map(|n| format!("src/{n}.rs")).collect(),
        ..covers(5)
    });
    assert_eq!(strayed.outcome, Outcome::Partial);
    assert!(
        strayed.reason.contains("src/4.rs and 2 more"),
        "{}",
        strayed.reason
    );
    // What the check refuses is refused for that.
    let failed = Facts {
        promise: PromiseFact::Failed,
        ..covers(5)
    };
    assert_eq!(outcome(&failed), Outcome::Failed);
}

#[test]
fn a_second_try_is_offered_only_where_it_is_the_better_one() {
    let second = |end: Held| Facts {
        second: Some(SecondTry { first: 7, end }),
        ..ok_facts()
    };
    let won = settle(&second(Held::Won("the first fails the check".to_owned())));
    assert_eq!(won.outcome, Outcome::Ok);
    assert!(
        won.reason
            .starts_with("second try beside #7, it is kept: the first fails"),
        "{won:?}"
    );
    let lost = settle(&second(Held::Lost("that is better".to_owned())));
    assert_eq!(lost.outcome, Outcome::Silent);
    assert!(
        lost.reason
            .contains("the first one is kept: that is better"),
        "{lost:?}"
    );
    // What is not finished ends as it does, whatever somebody said of it, and costs the work no attempt. What
    // is not kept says nothing of the role.
    for (end, is_lost) in [
        (Held::Won(String::new()), false),
        (Held::Lost(String::new()), true),
    ] {
        let failed = Facts {
            promise: PromiseFact::Failed,
            ..second(end)
        };
        assert_eq!(outcome(&failed), Outcome::Failed);
        assert!(failed.spares_the_work());
        assert_eq!(failed.spares_the_role(), is_lost);
    }
    // Nor is an issue closed because of it, as long as its first try is open.
    let alone = Facts {
        halt: Some(Halt::DoneBefore {
            claim: "README.md:1".into(),
            confirmed: true,
        }),
        reference_exists: true,
        ..Facts::default()
    };
    assert_eq!(outcome(&alone), Outcome::AlreadyDone);
    let beside = Facts {
        second: Some(SecondTry::unfinished(7)),
        ..alone
    };
    assert_eq!(outcome(&beside), Outcome::Silent);
}
