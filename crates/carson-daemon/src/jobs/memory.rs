//! What the fleet remembers, looked after: candidates before the gate, and vectors of what has none.

use std::sync::PoisonError;

use carson_firing::lessons::{GatePlan, GateRun, index, run_gate};
use carson_home::Home;

use super::runner::{Done, Report};
use super::{HOUR, Shared, error_chain};

/// Candidates that wait for a person and are looked at again: their evidence is asked of a forge each time.
const READY: u32 = 50;
/// Texts that one run sends to the embedder at most.
const VECTORS: u64 = 2_000;

/// Failures and remarks that came again, what is contradicted, and every candidate, once. The judges' and the
/// promotions' budgets are those of the settings; it begins with nothing after an hour, nor once memory is
/// switched off.
pub(super) async fn gate(home: Home, settings: Shared) -> Done {
    if home.fleet.memory.gate_every.is_none() {
        return Ok(Report::nothing("memory.gate_every is \"never\""));
    }
    let is_killed = move || {
        let newest = settings.read().unwrap_or_else(PoisonError::into_inner);
        newest.fleet.memory.killed
    };
    let plan = GatePlan {
        dry: false,
        ready: READY,
        within: HOUR,
        is_killed: &is_killed,
    };
    let run = run_gate(&home, &plan).await.map_err(error_chain)?;
    Ok(report(&run))
}

/// What is news of a run: that candidates wait for a person is none.
fn report(run: &GateRun) -> Report {
    let proposed = run.harvested.len() + run.reviewed.len();
    let decided = run
        .judged
        .iter()
        .filter(|one| one.decision != "ready")
        .count();
    let all = [
        Report::counted(proposed, "lesson proposed", "lessons proposed"),
        Report::counted(
            run.contradicted.len(),
            "lesson held that is contradicted",
            "lessons held that are contradicted",
        ),
        Report::counted(decided, "candidate decided", "candidates decided"),
    ];
    let mut report = all
        .into_iter()
        .fold(Report::nothing("nothing to do"), |sum, one| {
            if sum.did == 0 { one } else { sum.and(one) }
        });
    for why in run.stopped.iter().chain(&run.no_judge) {
        report.said.push_str(&format!("; {why}"));
    }
    report
}

/// Vectors of what is believed and has none: until then everything is found by words alone.
pub(super) async fn vectors(home: Home) -> Done {
    if home.fleet.memory.killed {
        return Ok(Report::nothing("memory.kill_switch is on"));
    }
    let Some(done) = index(&home, VECTORS, false).await.map_err(error_chain)? else {
        return Ok(Report::nothing("there is no embedder"));
    };
    if let Some(why) = done.stopped {
        return Err(why);
    }
    let made = usize::try_from(done.made).unwrap_or(usize::MAX);
    Ok(Report::counted(
        made,
        "lesson's vector made",
        "lessons' vectors made",
    ))
}

#[cfg(test)]
mod tests {
    use carson_core::lesson::LessonId;
    use carson_firing::lessons::GateJudged;

    use super::*;

    #[test]
    fn what_waits_for_a_person_is_no_news_and_why_nobody_judged_is_said() {
        let judged = |decision| GateJudged {
            id: LessonId::new(),
            decision,
            why: String::new(),
            rails: Vec::new(),
            structural: 0.9,
            score: None,
        };
        let mut run = GateRun {
            judged: vec![judged("ready"), judged("ready")],
            ..GateRun::default()
        };
        assert_eq!(report(&run), Report::nothing("nothing to do"));
        run.judged.push(judged("hold"));
        run.harvested.push(LessonId::new());
        run.no_judge = Some("25 were asked today, the most of a day".to_owned());
        let report = report(&run);
        assert_eq!(report.did, 2);
        assert_eq!(
            report.said,
            "1 lesson proposed, 1 candidate decided; 25 were asked today, the most of a day"
        );
    }
}
