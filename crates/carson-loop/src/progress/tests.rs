use proptest::prelude::*;

use super::*;

/// Attempts from one letter each for output, failure and tree; `.` is none, and a tree of `=` is idle.
fn traces(attempts: &[&str]) -> Vec<Trace> {
    let digest = |c: char| (c != '.').then(|| Digest::of(c.to_string().as_bytes()));
    let mut tree = 'a';
    let trace = |(at, letters): (usize, &&str)| {
        let letters: Vec<char> = letters.chars().collect();
        let is_idle = letters[2] == '=';
        if !is_idle {
            tree = letters[2];
        }
        Trace {
            attempt: u32::try_from(at).unwrap() + 1,
            output: digest(letters[0]),
            failure: digest(letters[1]),
            tree: digest(tree),
            is_idle,
        }
    };
    attempts.iter().enumerate().map(trace).collect()
}

fn said(attempts: &[&str]) -> String {
    match judge(&traces(attempts), 3) {
        Verdict::GoesOn => "goes on".to_owned(),
        Verdict::Doubtful(found) => format!("doubtful: {found}"),
        Verdict::Stagnated(found) => found.to_string(),
    }
}

#[test]
fn each_kind_names_the_attempts_that_match() {
    for (attempts, wanted) in [
        (&["xfa", "xgb"][..], "goes on"),
        (
            &["xfa", "xfb", "xfc"],
            "output matches attempt 2 and attempt 1: the same 3 times in a row",
        ),
        // It says "Done." each time, and mends a case each time.
        (&["xfa", "xgb", "xhc", "xid", "xje"], "goes on"),
        (&["xfa", "ygb", "xhc", "yid"], "goes on"),
        // Another failure, but the same tree, or one that was there before.
        (
            &["xfa", "xga", "xha"],
            "output matches attempt 2 and attempt 1: the same 3 times in a row",
        ),
        (
            &["xfa", "xgb", "xfc", "xgd"],
            "output matches attempt 3 and attempt 2: the same 3 times in a row",
        ),
        (&["xfa", "xgb", "yhc", "xic"], "goes on"),
        (
            &["xfa", "ygb", "xfc", "ygd"],
            "output goes round in 2 attempts: attempt 4 matches attempt 2 and attempt 3 matches attempt 1",
        ),
        (&["xfa", "ygb", "zhc", "xid", "yje"], "goes on"),
        (
            &["xfa", "ygb", "zhc", "xfd", "yge", "zhf"],
            "output goes round in 3 attempts: attempt 6 matches attempt 3, attempt 5 matches attempt 2 and \
             attempt 4 matches attempt 1",
        ),
        (
            &["xfa", "ygb", "zha", "uib"],
            "the tree goes round in 2 attempts: attempt 4 matches attempt 2 and attempt 3 matches attempt 1",
        ),
        // It says something else each time, and does nothing.
        (
            &["xf=", "yf=", "zf="],
            "the check fails as in attempt 2 and attempt 1, and the tree is the same: 3 attempts in a row changed nothing",
        ),
        (
            &["xfa", "yfa", "zfa"],
            "the check fails as in attempt 2 and attempt 1, and the tree is the same: 3 attempts in a row changed nothing",
        ),
        (&["xfa", "yfa", "zga"], "goes on"),
        (
            &["xfa", "yfb", "zfc"],
            "doubtful: the check fails as in attempt 2 and attempt 1: 3 times in a row in the same way, whatever was \
             changed",
        ),
        (
            &["ufa", "vfb", "wfc", "xfd", "yfe", "zff"],
            "the check fails as in attempt 5, attempt 4, attempt 3, attempt 2 and attempt 1: 6 times in a row in the same \
             way, whatever was changed",
        ),
        // Who prints nothing may well get somewhere.
        (&[".fa", ".gb", ".hc", ".id"], "goes on"),
        (&["x.a", "y.a", "z.a"], "goes on"),
    ] {
        assert_eq!(said(attempts), wanted, "{attempts:?}");
    }
}

#[test]
fn what_matches_is_told_before_it_is_too_often() {
    assert_eq!(matches(&traces(&["xfa", "yfb", "xfc"])), [1]);
    assert_eq!(matches(&traces(&[".fa", ".fb"])), Vec::<u32>::new());
    assert_eq!(matches(&[]), Vec::<u32>::new());
}

fn letter() -> impl Strategy<Value = char> {
    prop_oneof![Just('x'), Just('y'), Just('z')]
}

proptest! {
    /// Against the same said without any cleverness.
    #[test]
    fn it_stops_exactly_where_the_rule_says(
        letters in proptest::collection::vec((letter(), letter(), letter()), 0..14), limit in 2..5_u32,
    ) {
        let attempts: Vec<String> = letters.iter().map(|(a, b, c)| [*a, *b, *c].iter().collect()).collect();
        let attempts: Vec<&str> = attempts.iter().map(String::as_str).collect();
        let limit_of = usize::try_from(limit).unwrap();
        let ends_same = |count: usize, of: &dyn Fn(&(char, char, char)) -> String| {
            letters.len() >= count && {
                let end: Vec<String> = letters[letters.len() - count..].iter().map(of).collect();
                end.iter().all(|one| *one == end[0])
            }
        };
        let gets_on = |at: usize| {
            at > 0 && letters[at].2 != letters[at - 1].2 && letters[..at].iter().all(|one| one.1 != letters[at].1)
        };
        let none_gets_on = |count: usize| (letters.len() - count..letters.len()).all(|at| !gets_on(at));
        let goes_round = |of: &dyn Fn(&(char, char, char)) -> char, judges: bool| {
            // The shortest round is the one that counts.
            (2..=4).find(|period| {
                letters.len() >= 2 * period && {
                    let end: Vec<char> = letters[letters.len() - 2 * period..].iter().map(of).collect();
                    end[..*period] == end[*period..] && end.iter().any(|one| *one != end[0])
                }
            }).is_some_and(|period| !judges || none_gets_on(period))
        };
        let stops = ends_same(limit_of, &|one| one.0.to_string()) && none_gets_on(limit_of - 1)
            || ends_same(limit_of, &|one| format!("{}{}", one.1, one.2))
            || ends_same(2 * limit_of, &|one| one.1.to_string())
            || goes_round(&|one| one.0, true)
            || goes_round(&|one| one.2, false);
        let verdict = judge(&traces(&attempts), limit);
        prop_assert_eq!(matches!(verdict, Verdict::Stagnated(_)), stops, "{:?}", verdict);
    }

    #[test]
    fn attempts_of_which_each_does_something_new_are_never_stopped(count in 0..60_u32, limit in 2..9_u32) {
        let new = |n: u32, what: &str| Some(Digest::of(format!("{what}{n}").as_bytes()));
        let traces: Vec<Trace> = (1..=count)
            .map(|n| Trace {
                attempt: n,
                output: new(n, "output"),
                failure: new(n, "failure"),
                tree: new(n, "tree"),
                is_idle: false,
            })
            .collect();
        prop_assert_eq!(judge(&traces, limit), Verdict::GoesOn);
    }
}
