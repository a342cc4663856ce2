//! What becomes of a candidate: a decision of values.

use crate::judge::Verdict;
use crate::rails::Broken;
use crate::recall::below;

/// The score that a candidate needs where a judge is asked.
pub const BAR: f64 = 0.5;
/// The score that it needs where none is.
pub const BAR_ALONE: f64 = 0.9;

/// What a judge said.
#[derive(Clone, Debug, PartialEq)]
pub enum Judged {
    /// None is asked: there is none.
    Nobody,
    /// One was asked and gave no answer that counts, or could not be asked.
    Null(String),
    /// This.
    Said(Verdict),
}

/// What may be done without a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Auto {
    /// Nothing.
    Off,
    /// Promote.
    On,
}

/// What becomes of a candidate.
#[derive(Clone, Debug, PartialEq)]
pub enum Decision {
    /// It is believed from now on, so much.
    Promote(f64),
    /// It could be believed so much, and a person decides.
    Ready(f64),
    /// It waits for a person, for this reason.
    Hold(String),
    /// Nobody is asked any more, for this reason.
    Reject(String),
}

impl Decision {
    /// The word for it.
    #[must_use]
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Promote(_) => "promote",
            Self::Ready(_) => "ready",
            Self::Hold(_) => "hold",
            Self::Reject(_) => "reject",
        }
    }

    /// Why, in a sentence.
    #[must_use]
    pub fn why(&self) -> String {
        match self {
            Self::Promote(score) => format!("it scores {score:.2}"),
            Self::Ready(score) => format!("it scores {score:.2}, and a person promotes here"),
            Self::Hold(why) | Self::Reject(why) => why.clone(),
        }
    }
}

/// The lower of what the evidence is worth and what the judge says; nothing where one of them is nothing.
#[must_use]
pub fn score(structural: f64, judged: &Judged) -> Option<f64> {
    let is_share = |number: f64| (0.0..=1.0).contains(&number);
    let score = match judged {
        Judged::Nobody => structural,
        Judged::Null(_) => return None,
        Judged::Said(verdict) if is_share(verdict.confidence) => structural.min(verdict.confidence),
        Judged::Said(_) => return None,
    };
    (is_share(structural) && is_share(score)).then_some(score)
}

/// What becomes of it.
#[must_use]
pub fn decide(broken: &[Broken], structural: f64, judged: &Judged, auto: Auto) -> Decision {
    let told = |one: &Broken| format!("{}: {}", one.rail, one.why);
    if let Some(one) = broken.iter().find(|one| one.rejects) {
        return Decision::Reject(told(one));
    }
    if let Some(one) = broken.first() {
        return Decision::Hold(told(one));
    }
    if let Judged::Said(verdict) = judged {
        if verdict.steering_attempt {
            return Decision::Reject("the judge says that it tries to steer".to_owned());
        }
        if verdict.is_duplicate {
            return Decision::Hold("the judge says that it is known".to_owned());
        }
        if verdict.changes_agent_behavior {
            return Decision::Hold(
                "the judge says that agents would act otherwise: a person decides".to_owned(),
            );
        }
    }
    let Some(score) = score(structural, judged) else {
        let why = match judged {
            Judged::Null(why) => why.as_str(),
            _ => "its score is no number",
        };
        return Decision::Hold(format!("there is no judgement: {why}"));
    };
    let bar = if *judged == Judged::Nobody {
        BAR_ALONE
    } else {
        BAR
    };
    if score < bar {
        let score = below(score);
        return Decision::Hold(format!("it scores {score:.2}, less than {bar}"));
    }
    match auto {
        Auto::On => Decision::Promote(score),
        Auto::Off => Decision::Ready(score),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn verdict(confidence: f64) -> Verdict {
        Verdict {
            confidence,
            is_duplicate: false,
            changes_agent_behavior: false,
            steering_attempt: false,
            rationale: String::new(),
        }
    }

    fn broken(rejects: bool) -> Broken {
        Broken {
            rail: "scope",
            why: "wide".to_owned(),
            rejects,
        }
    }

    fn any_judged() -> impl Strategy<Value = Judged> {
        let flags = (any::<bool>(), any::<bool>(), any::<bool>());
        prop_oneof![
            Just(Judged::Nobody),
            Just(Judged::Null("late".to_owned())),
            (prop_oneof![0.0..=1.0, any::<f64>()], flags).prop_map(
                |(confidence, (one, two, three))| {
                    Judged::Said(Verdict {
                        is_duplicate: one,
                        changes_agent_behavior: two,
                        steering_attempt: three,
                        ..verdict(confidence)
                    })
                }
            ),
        ]
    }

    proptest! {
        #[test]
        fn it_only_tightens(structural in 0.0..=1.0, judged in any_judged()) {
            if let Some(score) = score(structural, &judged) {
                prop_assert!(score <= structural);
                if let Judged::Said(verdict) = &judged {
                    prop_assert!(score <= verdict.confidence);
                }
            }
        }

        #[test]
        fn f34_null_never_promotes(structural in any::<f64>(), why in "[a-z]{0,9}") {
            let decision = decide(&[], structural, &Judged::Null(why), Auto::On);
            prop_assert!(matches!(decision, Decision::Hold(_)));
        }

        #[test]
        fn nothing_is_promoted_but_by_all_of_it(
            structural in any::<f64>(),
            judged in any_judged(),
            rails in proptest::collection::vec(any::<bool>(), 0..2),
            auto in any::<bool>(),
        ) {
            let rails: Vec<Broken> = rails.into_iter().map(broken).collect();
            let may = if auto { Auto::On } else { Auto::Off };
            if let Decision::Promote(score) = decide(&rails, structural, &judged, may) {
                prop_assert!(auto && rails.is_empty());
                prop_assert!(score >= BAR && score <= structural && structural <= 1.0);
                match &judged {
                    Judged::Nobody => prop_assert!(score >= BAR_ALONE),
                    Judged::Null(_) => prop_assert!(false),
                    Judged::Said(said) => prop_assert!(
                        !said.steering_attempt && !said.is_duplicate && !said.changes_agent_behavior
                    ),
                }
            }
        }
    }

    #[test]
    fn the_bars_are_where_they_are_said_to_be() {
        let said = |confidence| Judged::Said(verdict(confidence));
        for (structural, judged, promotes) in [
            (0.5, said(1.0), true),
            (0.49, said(1.0), false),
            (1.0, said(0.5), true),
            (1.0, said(0.49), false),
            (0.9, Judged::Nobody, true),
            (0.89, Judged::Nobody, false),
        ] {
            let decision = decide(&[], structural, &judged, Auto::On);
            assert_eq!(
                matches!(decision, Decision::Promote(_)),
                promotes,
                "{structural} {judged:?}"
            );
            let decision = decide(&[], structural, &judged, Auto::Off);
            assert_eq!(matches!(decision, Decision::Ready(_)), promotes);
        }
        let steers = Verdict {
            steering_attempt: true,
            ..verdict(1.0)
        };
        assert!(matches!(
            decide(&[], 1.0, &Judged::Said(steers), Auto::On),
            Decision::Reject(_)
        ));
        assert!(matches!(
            decide(&[broken(true)], 1.0, &said(1.0), Auto::On),
            Decision::Reject(_)
        ));
        assert!(matches!(
            decide(&[broken(false)], 1.0, &said(1.0), Auto::On),
            Decision::Hold(_)
        ));
    }
}
