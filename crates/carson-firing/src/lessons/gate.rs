//! One run of the gate: candidates, oldest first, against rules, evidence, a judge and the budgets.

use std::collections::BTreeMap;

use carson_config::Repo;
use carson_core::Event;
use carson_core::RepoName;
use carson_core::lesson::{LessonId, LessonState};
use carson_home::Home;
use carson_home::calendar::day_of;
use carson_memory::candidate::Candidate;
use carson_memory::found::Piece;
use carson_memory::gate::{Auto, Decision, Judged as Verdict, decide, score};
use carson_memory::judge::prompt;
use carson_memory::rails::{Known, Other, broken};
use carson_memory::recall::telling;
use carson_memory::structural::structural;
use carson_store::{
    Change, Decided, Judgement, LessonFilter, LessonRow, NewLesson, StoreError, Times, Valid,
};
use serde::Serialize;
use uuid::Uuid;

use super::evidence::Look;
use super::{harvested, judge};
use crate::prompt::fence;

/// Candidates that one run looks at; and as many again of those that are ready already and wait for a person.
const MOST: u32 = 500;
/// Lessons that are believed and are held against each of them.
const LIKE: usize = 20;

/// One run.
#[derive(Debug, Default, Serialize)]
pub struct GateRun {
    /// Why it did nothing at all, where it did not.
    pub stopped: Option<String>,
    /// What failures that came again proposed before it.
    pub harvested: Vec<LessonId>,
    /// What became of each candidate.
    pub judged: Vec<Judged>,
    /// Judges that were asked.
    pub judges_asked: u32,
    /// Lessons that were promoted.
    pub promoted: u32,
    /// Candidates that wait for the next run, because a budget was used up.
    pub deferred: u32,
}

/// What became of one.
#[derive(Debug, Serialize)]
pub struct Judged {
    /// Which.
    pub id: LessonId,
    /// `promote`, `ready`, `hold`, `reject`; `wait` where this run promotes no more; of a dry run `ask`: a judge would be
    /// asked.
    pub decision: &'static str,
    /// Why.
    pub why: String,
    /// The rules that it broke.
    pub rails: Vec<String>,
    /// What its evidence is worth.
    pub structural: f64,
    /// The lower of that and of what the judge says.
    pub score: Option<f64>,
}

/// What the gate works with.
struct Gate<'h> {
    home: &'h Home,
    dry: bool,
    run: Uuid,
    /// Judges that may still be asked.
    calls: u64,
    /// Where evidence is looked up, by repository.
    looks: BTreeMap<Option<RepoName>, Look<'h>>,
    /// Candidates before the one that is looked at.
    before: Vec<Other>,
    /// How many of these were looked at that were ready before, and how many that were not.
    looked: (u32, u32),
    out: GateRun,
}

/// Runs it once; `dry` changes nothing and asks no judge.
///
/// # Errors
/// When the store does not answer.
pub async fn run(home: &Home, dry: bool) -> Result<GateRun, StoreError> {
    let memory = &home.fleet.memory;
    if memory.killed {
        return Ok(GateRun {
            stopped: Some("memory.kill_switch is on".to_owned()),
            ..GateRun::default()
        });
    }
    let today = day_of(home.fleet.zone, home.clock.now()).0;
    let asked = home.store.judges_asked_since(today).await?;
    let of_day = u64::from(memory.judge_calls_per_day).saturating_sub(asked);
    let mut gate = Gate {
        home,
        dry,
        run: Uuid::now_v7(),
        calls: of_day.min(memory.judge_calls.into()),
        looks: BTreeMap::new(),
        before: Vec::new(),
        looked: (0, 0),
        out: GateRun::default(),
    };
    if !dry {
        gate.out.harvested = harvested::harvest(home).await?;
    }
    let mut filter = LessonFilter {
        state: Some(LessonState::Candidate),
        after: Some(0),
        ..LessonFilter::all(home.clock.now(), MOST)
    };
    while gate.looked.1 < MOST {
        let rows = home.store.lessons(&filter).await?;
        let Some(last) = rows.last() else {
            break;
        };
        filter.after = Some(last.seq);
        for row in rows {
            gate.next(row).await?;
        }
    }
    Ok(gate.out)
}

impl Gate<'_> {
    /// Looks at it, unless enough of its sort were looked at: who waits for a person keeps nobody else from the gate.
    async fn next(&mut self, row: LessonRow) -> Result<(), StoreError> {
        let earlier = self.home.store.judgements(row.seq).await?;
        let is_ready = earlier.last().is_some_and(|last| last.decision == "ready");
        let looked = match is_ready {
            true => &mut self.looked.0,
            false => &mut self.looked.1,
        };
        if *looked < MOST {
            *looked += 1;
            return self.candidate(row, earlier).await;
        }
        self.before.push(other(&row, false));
        Ok(())
    }

    async fn candidate(
        &mut self,
        row: LessonRow,
        earlier: Vec<Judgement>,
    ) -> Result<(), StoreError> {
        let store = &self.home.store;
        let mut lesson = row.lesson.clone();
        lesson.evidence = store.lesson_evidence(row.seq).await?;
        let pieces = self.pieces(&lesson).await;
        let candidate = Candidate::of_row(&lesson);
        let others = self.others(&row).await?;
        let broken = broken(&Known {
            candidate: &candidate,
            pieces: &pieces,
            others: &others,
            redactor: &self.home.redactor,
        });
        self.before.push(other(&row, false));
        let worth = structural(&candidate, &pieces);
        let auto = match self.home.fleet.memory.promotes(&lesson.scope) {
            true => Auto::On,
            false => Auto::Off,
        };
        let (verdict, asked, cost_usd) = if broken.is_empty() {
            let said = earlier.iter().rev().find_map(|one| one.verdict.clone());
            let said = said.and_then(|verdict| serde_json::from_value(verdict).ok());
            match said {
                // Who was judged well before is not paid for again.
                Some(verdict) => (Verdict::Said(verdict), false, None),
                None if self.dry && self.home.fleet.memory.judge.is_some() => {
                    self.out.judged.push(Judged {
                        id: lesson.id,
                        decision: "ask",
                        why: "a judge would be asked".to_owned(),
                        rails: Vec::new(),
                        structural: worth,
                        score: None,
                    });
                    return Ok(());
                }
                None => {
                    let asked = prompt(&candidate, &pieces, &others, fence);
                    let Some(heard) = self.judge(&lesson, &asked).await else {
                        self.out.deferred += 1;
                        return Ok(());
                    };
                    heard
                }
            }
        } else {
            (Verdict::Nobody, false, None)
        };
        let decision = decide(&broken, worth, &verdict, auto);
        let promotes = matches!(decision, Decision::Promote(_));
        let waits = promotes && self.out.promoted >= self.home.fleet.memory.promotions;
        let told = Judged {
            id: lesson.id,
            decision: if waits { "wait" } else { decision.as_str() },
            why: decision.why(),
            rails: broken
                .iter()
                .map(|one| format!("{}: {}", one.rail, one.why))
                .collect(),
            structural: worth,
            score: if broken.is_empty() {
                score(worth, &verdict)
            } else {
                None
            },
        };
        let is_news = asked
            || earlier
                .last()
                .is_none_or(|last| last.decision != told.decision || last.rails != told.rails);
        if !self.dry && is_news {
            let found = Judgement {
                at: self.home.clock.now(),
                run: self.run,
                account: self.home.fleet.memory.judge.clone().filter(|_| asked),
                asked,
                rails: told.rails.clone(),
                structural: worth,
                verdict: match &verdict {
                    Verdict::Said(verdict) => serde_json::to_value(verdict).ok(),
                    _ => None,
                },
                score: told.score,
                decision: told.decision.to_owned(),
                cost_usd,
            };
            store.note_judgement(lesson.id, &found).await?;
        }
        // What was said of it is kept, and counted: nobody is asked twice.
        if waits {
            self.out.deferred += 1;
            return Ok(());
        }
        let steers = broken.iter().any(|one| one.rail == "steering")
            || matches!(&verdict, Verdict::Said(one) if one.steering_attempt);
        if steers && !self.dry {
            judge::note_steering(self.home, lesson.id, &told.why).await;
        }
        let counts = self.dry || self.carry_out(&row, &decision).await?;
        if promotes && counts {
            self.out.promoted += 1;
        }
        self.out.judged.push(told);
        Ok(())
    }

    async fn pieces(&mut self, lesson: &NewLesson) -> Vec<Piece> {
        if !self.looks.contains_key(&lesson.repo) {
            let look = Look::fetched(self.home, lesson.repo.as_ref()).await;
            self.looks.insert(lesson.repo.clone(), look);
        }
        let mut pieces = Vec::new();
        if let Some(look) = self.looks.get_mut(&lesson.repo) {
            for one in &lesson.evidence {
                pieces.push(look.piece(one, lesson.source).await);
            }
        }
        pieces
    }

    /// Lessons that are believed and have words of it, and the candidates before it.
    async fn others(&self, row: &LessonRow) -> Result<Vec<Other>, StoreError> {
        let words = telling(&row.lesson.text);
        let times = Times::now(self.home.clock.now());
        let believed = self.home.store.lessons_with(&words, times, LIKE).await?;
        let believed = believed.iter().take(LIKE).map(|row| other(row, true));
        Ok(believed.chain(self.before.iter().cloned()).collect())
    }

    /// What a judge says of it, whether one was asked, and what that cost; `None` where the budgets are used up.
    async fn judge(
        &mut self,
        lesson: &NewLesson,
        asked: &str,
    ) -> Option<(Verdict, bool, Option<f64>)> {
        let Some(account) = self.home.fleet.memory.judge.clone() else {
            return Some((Verdict::Nobody, false, None));
        };
        if self.calls == 0 {
            return None;
        }
        let repo = repo_of(self.home, lesson)?;
        self.calls -= 1;
        self.out.judges_asked += 1;
        let heard = judge::ask(self.home, &account, repo, asked).await;
        Some((heard.judged, true, heard.cost_usd))
    }

    /// Whether it counts: who decided meanwhile knows better.
    async fn carry_out(&self, row: &LessonRow, decision: &Decision) -> Result<bool, StoreError> {
        let (state, confidence) = match decision {
            Decision::Promote(score) => (LessonState::Promoted, *score),
            Decision::Hold(_) => (LessonState::Held, row.now.confidence),
            Decision::Reject(_) => (LessonState::Rejected, row.now.confidence),
            Decision::Ready(_) => return Ok(true),
        };
        let lesson = &row.lesson;
        let valid = Valid {
            from: lesson.valid.from,
            to: lesson.valid.to,
        };
        let change = Change {
            n: row.now.n + 1,
            at: self.home.clock.now(),
            state,
            valid: (state == LessonState::Promoted).then_some(valid),
            confidence,
            by: "gate".to_owned(),
            why: decision.why(),
            undoes: None,
        };
        if self.home.store.change_lesson(lesson.id, &change).await? != Decided::Done {
            return Ok(false);
        }
        let event = Event::MemoryDecided {
            lesson: lesson.id,
            state,
            why: change.why,
        };
        self.home.store.event(&event, None, None, change.at).await?;
        Ok(true)
    }
}

/// The repository beside which the judge stands; any, where it is about none.
fn repo_of<'h>(home: &'h Home, lesson: &NewLesson) -> Option<&'h Repo> {
    let repos = &home.fleet.repos;
    let own = lesson.repo.as_ref().and_then(|name| repos.get(name));
    own.or_else(|| repos.values().next())
}

fn other(row: &LessonRow, believed: bool) -> Other {
    Other {
        id: row.lesson.id,
        text: row.lesson.text.clone(),
        believed,
        scope: row.lesson.scope.clone(),
    }
}
