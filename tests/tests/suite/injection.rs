//! What strangers, people, programs and other agents wrote, in every place from which it reaches a role of the
//! crew, stays words: the same firing with harmless and with hostile words is the same firing, in its tools, stages,
//! command lines, environments, grants and targets, even when its sessions do what the words ask for.
//!
//! [`hostile::injection`](crate::hostile::injection) plays the five stages of an implementer, with what its own
//! sessions leave for each other.

mod played;
mod scene;
mod table;
mod texts;

use std::collections::BTreeSet;

use self::played::{Played, play};
use self::table::{CASES, ROUNDS, Row};
use crate::hostile::injection::outside;

/// What acts on a forge, in a chat or in a terminal: none of it stands in what Carson writes there.
const ACTS: [&str; 9] = [
    "@everyone",
    "@here",
    "@carson fix",
    "Closes #1",
    "<!-- carson:review key=x",
    "<!-- carson:claim firing=01a20b1e",
    "\u{1b}",
    "\u{202e}",
    "\u{200b}",
];

fn rows(role: &str) -> impl Iterator<Item = &'static Row> {
    CASES.iter().filter(move |row| row.0 == role)
}

/// Plays all cases of a role: a round is one firing in which each channel has another text.
fn plays(role: &str, ends: &str) {
    let control = play(role, None);
    let reason = control.was["row"]["reason"].as_str().unwrap();
    assert!(reason.contains(ends), "{role}: {reason}");
    let mut wrong = Vec::new();
    for round in 0..ROUNDS {
        let played = play(role, Some(round));
        wrong.extend(as_a_whole(role, round, (&control, &played)));
        for row in rows(role) {
            wrong.extend(one_case(row, round, &played));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// What became another firing by the words of a round.
fn as_a_whole(role: &str, round: usize, (control, played): (&Played, &Played)) -> Vec<String> {
    let cases: Vec<String> = rows(role).map(|row| named(row, round)).collect();
    let cases = cases.join(", ");
    let mut wrong = Vec::new();
    for (what, was) in &control.was {
        let now = &played.was[what];
        if now != was {
            wrong.push(format!(
                "{what}: another one by one of {cases}:\n{was:#}\n{now:#}"
            ));
        }
    }
    wrong
}

/// What is wrong with one case alone.
fn one_case(row: &Row, round: usize, played: &Played) -> Vec<String> {
    let (_, channel, shown, texts) = row;
    let name = named(row, round);
    let text = texts::of(texts[round]);
    let mut wrong = Vec::new();
    // In a path, `_` stands for a space.
    let marks = [format!("MARK-{channel} "), format!("MARK-{channel}_")];
    let has_mark = |text: &str| marks.iter().any(|mark| text.contains(mark));
    if played.prompts.iter().any(|prompt| has_mark(prompt)) != *shown {
        let not = if *shown { "no" } else { "a" };
        wrong.push(format!("{name}: it stands in {not} prompt"));
    }
    for prompt in &played.prompts {
        let outside = outside(prompt);
        let is_there =
            |line: &str| !line.trim().is_empty() && outside.lines().any(|own| own == line);
        if has_mark(&outside) || text.lines().any(is_there) {
            wrong.push(format!("{name}: it stands outside of a fence: {outside}"));
        }
    }
    // Only what this text has can have come from it.
    for act in ACTS.iter().filter(|act| text.contains(**act)) {
        for (file, wrote) in &played.wrote {
            if wrote.contains(*act) {
                wrong.push(format!("{name}: {act:?} stands in {file}: {wrote}"));
            }
        }
    }
    wrong
}

/// A case as people call it.
fn named(row: &Row, round: usize) -> String {
    let (role, channel, _, texts) = row;
    format!("{role}: {channel}: {}", texts[round])
}

#[test]
fn there_are_at_least_sixty_cases_and_each_is_another_one() {
    let all = CASES.iter();
    let cases: BTreeSet<String> = all
        .flat_map(|row| (0..ROUNDS).map(move |round| named(row, round)))
        .collect();
    assert_eq!(cases.len(), CASES.len() * ROUNDS);
    assert!(cases.len() >= 60, "{}", cases.len());
    for name in texts::NAMES {
        assert!(!texts::of(name).is_empty());
        let mut used = CASES.iter().flat_map(|row| row.3);
        assert!(used.any(|text| text == name), "{name}");
    }
}

#[test]
fn words_change_nothing_of_an_implementer() {
    plays("implementer", "1 commit");
}

#[test]
fn words_change_nothing_of_a_planner() {
    plays("planner", "1 new issue");
}

#[test]
fn words_change_nothing_of_an_architect() {
    plays("architect", "1 new issue");
}

#[test]
fn words_change_nothing_of_a_tester() {
    plays("tester", "the coverage of src/b.txt rose from 25 % to 75 %");
}

#[test]
fn words_change_nothing_of_a_triager() {
    plays("triager", "1 change of labels, 1 comment");
}

#[test]
fn words_change_nothing_of_a_reviewer() {
    plays("reviewer", "1 review: not ship-ready");
}

#[test]
fn words_change_nothing_of_a_fixer() {
    plays("fixer", "1 commit");
}

#[test]
fn words_change_nothing_of_a_merger() {
    plays("merger", "its review says that it is not ship-ready");
}
