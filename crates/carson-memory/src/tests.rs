//! Two sets of candidates, under every sort of judge.

use carson_core::lesson::{Evidence, LessonId, LessonKind, LessonSource};
use carson_redact::Redactor;
use serde::Deserialize;

use crate::candidate::Candidate;
use crate::found::{Found, Now, Piece};
use crate::gate::{Auto, Decision, Judged, decide};
use crate::judge::read;
use crate::rails::{Broken, Known, Other, broken};
use crate::structural::structural;

const POISONED: &str = include_str!("../testdata/poisoned.jsonl");
const CLEAN: &str = include_str!("../testdata/clean.jsonl");

/// What is believed already.
const BELIEVED: [&str; 3] = [
    "The uploader gives up after five tries when the gateway is down.",
    "Run the schema generator before the parser tests, or they read an old schema.",
    "The upload limit of the gateway is 5 MB per request.",
];

#[derive(Deserialize)]
struct Entry {
    class: String,
    text: String,
    scope: String,
    source: LessonSource,
    evidence: Vec<Shown>,
}

#[derive(Deserialize)]
struct Shown {
    form: String,
    found: String,
    text: String,
}

struct Case {
    class: String,
    candidate: Candidate,
    pieces: Vec<Piece>,
}

fn cases(set: &str) -> Vec<Case> {
    set.lines()
        .map(|line| case(serde_json::from_str(line).unwrap()))
        .collect()
}

fn case(entry: Entry) -> Case {
    let piece = |shown: &Shown| Piece {
        evidence: shown.form.parse::<Evidence>().unwrap(),
        found: match shown.found.as_str() {
            "lines" => Found::Lines {
                text: shown.text.clone(),
                now: Now::Same,
            },
            "gone" => Found::Lines {
                text: shown.text.clone(),
                now: Now::Gone,
            },
            "there" => Found::There {
                text: shown.text.clone(),
            },
            "missing" => Found::Missing(shown.text.clone()),
            "unknown" => Found::Unknown(shown.text.clone()),
            other => panic!("{other}"),
        },
    };
    let pieces: Vec<Piece> = entry.evidence.iter().map(piece).collect();
    let evidence = pieces.iter().map(|piece| piece.evidence.clone()).collect();
    let kind = entry.class.parse().unwrap_or(LessonKind::Fact);
    let candidate = Candidate {
        kind,
        source: entry.source,
        by: "implementer".to_owned(),
        ..Candidate::of_operator(&entry.text, entry.scope.parse().unwrap(), evidence)
    };
    Case {
        class: entry.class,
        candidate,
        pieces,
    }
}

fn others() -> Vec<Other> {
    let other = |text: &&str| Other {
        id: LessonId::new(),
        text: (*text).to_owned(),
        believed: true,
        scope: "repo:widget".parse().unwrap(),
    };
    BELIEVED.iter().map(other).collect()
}

fn rails_of(case: &Case) -> Vec<Broken> {
    let redactor = Redactor::default();
    broken(&Known {
        candidate: &case.candidate,
        pieces: &case.pieces,
        others: &others(),
        redactor: &redactor,
    })
}

/// A judge's answer to a case, by its place.
type Judge = fn(usize, &Case) -> String;

fn answer(confidence: &str) -> String {
    format!(
        r#"{{"confidence": {confidence}, "is_duplicate": false, "changes_agent_behavior": false, "steering_attempt": false, "rationale": "so it is"}}"#
    )
}

/// The candidates of a set that are promoted under a judge, where promoting by itself is on.
fn promoted(set: &str, judge: Judge) -> Vec<String> {
    let mut promoted = Vec::new();
    for (at, case) in cases(set).iter().enumerate() {
        let judged = match read(&judge(at, case)) {
            Ok(verdict) => Judged::Said(verdict),
            Err(error) => Judged::Null(error.to_string()),
        };
        let worth = structural(&case.candidate, &case.pieces);
        if let Decision::Promote(_) = decide(&rails_of(case), worth, &judged, Auto::On) {
            promoted.push(format!("{}: {}", case.class, case.candidate.text));
        }
    }
    promoted
}

#[test]
fn the_sets_are_as_large_as_they_must_be() {
    assert!(cases(POISONED).len() >= 100 && cases(CLEAN).len() == 40);
}

#[test]
fn fixed_rules_decide_every_poisoned_candidate_but_the_unverified() {
    let passed: Vec<String> = cases(POISONED)
        .iter()
        .filter(|case| case.class != "unverified" && rails_of(case).is_empty())
        .map(|case| format!("{}: {}", case.class, case.candidate.text))
        .collect();
    assert!(passed.is_empty(), "{passed:#?}");
}

#[test]
fn what_speaks_to_somebody_hides_or_tells_a_secret_is_rejected_and_not_held() {
    for case in cases(POISONED) {
        let means_it =
            ["injection", "judge-flattering", "unicode-hidden"].contains(&case.class.as_str());
        let rejects = rails_of(&case).iter().any(|one| one.rejects);
        assert!(rejects || !means_it, "{}", case.candidate.text);
    }
}

#[test]
fn an_honest_judge_promotes_none_of_the_poisoned() {
    let honest: Judge = |_, case| {
        answer(if case.class == "unverified" {
            "0.1"
        } else {
            "0.0"
        })
    };
    assert_eq!(promoted(POISONED, honest), [""; 0]);
}

#[test]
fn f34_a_silent_judge_promotes_nothing() {
    assert_eq!(promoted(POISONED, |_, _| String::new()), [""; 0]);
    assert_eq!(promoted(CLEAN, |_, _| String::new()), [""; 0]);
}

#[test]
fn f34_a_lying_judge_promotes_nothing_by_an_answer_that_is_none() {
    let lying: Judge = |at, _| match at % 6 {
        0 => answer("NaN"),
        1 => answer("true"),
        2 => answer("\"1.0\""),
        3 => answer("7"),
        4 => format!("Sure! {}", answer("1.0")),
        _ => answer("1.0").replace("\"is_duplicate\": false, ", ""),
    };
    assert_eq!(promoted(POISONED, lying), [""; 0]);
    assert_eq!(promoted(CLEAN, lying), [""; 0]);
}

#[test]
fn a_judge_that_always_says_yes_promotes_no_poisoned_candidate_either() {
    assert_eq!(promoted(POISONED, |_, _| answer("1.0")), [""; 0]);
}

#[test]
fn most_clean_candidates_reach_the_judge_and_are_promoted_by_a_good_one() {
    let stopped: Vec<String> = cases(CLEAN)
        .iter()
        .filter_map(|case| {
            let broken = rails_of(case);
            let first = broken.first()?;
            Some(format!(
                "{}: {} ({})",
                first.rail, first.why, case.candidate.text
            ))
        })
        .collect();
    assert!(stopped.len() <= 4, "{stopped:#?}");
    // What says the same with a denial more or less is left to a person.
    let promoted = promoted(CLEAN, |_, _| answer("0.9"));
    assert!(promoted.len() >= 34, "{promoted:#?}");
}
