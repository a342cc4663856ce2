//! One run of the gate: candidates, oldest first, against rules, evidence, a judge and the budgets.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use carson_config::Repo;
use carson_core::lesson::{LessonId, LessonState};
use carson_core::{AccountName, Event, RepoName};
use carson_home::Home;
use carson_home::calendar::day_of;
use carson_memory::candidate::Candidate;
use carson_memory::found::Piece;
use carson_memory::gate::{Auto, Decision, Judged as Verdict, decide, score};
use carson_memory::judge::prompt;
use carson_memory::rails::{Known, Other, broken};
use carson_memory::recall::{lessons_with, telling};
use carson_memory::structural::structural;
use carson_store::{
    Change, Decided, Judgement, LessonFilter, LessonRow, NewLesson, StoreError, Times, Valid,
};
use serde::Serialize;
use uuid::Uuid;

use super::evidence::Look;
use super::{harvested, held, judge, reviewed};
use crate::prompt::fence;
use crate::turn::Turns;

/// Candidates that one run looks at, beside those that are ready already and wait for a person.
const MOST: u32 = 500;
/// How long one that a person asked for begins with another candidate.
const BY_HAND: Duration = Duration::from_secs(3_600);
/// Lessons that are believed and are held against each of them.
const LIKE: usize = 20;
/// What stops it first of all.
const KILLED: &str = "memory.kill_switch is on";

/// How a run goes about it.
pub struct Plan<'p> {
    /// It changes nothing and asks no judge.
    pub dry: bool,
    /// How many of those are looked at again that are ready and wait for a person.
    pub ready: u32,
    /// How long it begins with another candidate.
    pub within: Duration,
    /// Whether memory was switched off since it began.
    pub is_killed: &'p (dyn Fn() -> bool + Send + Sync),
}

impl Plan<'static> {
    /// As a person asks for it, who can end it.
    #[must_use]
    pub fn by_hand(dry: bool) -> Self {
        Self {
            dry,
            ready: MOST,
            within: BY_HAND,
            is_killed: &|| false,
        }
    }
}

/// One run.
#[derive(Debug, Default, Serialize)]
pub struct GateRun {
    /// Why it did nothing, or no more, where something stopped it.
    pub stopped: Option<String>,
    /// Why no judge was asked, where one would have been.
    pub no_judge: Option<String>,
    /// What failures that came again proposed before it.
    pub harvested: Vec<LessonId>,
    /// What reviewers who say the same again and again proposed before it.
    pub reviewed: Vec<LessonId>,
    /// What was believed and is held now, because the code or a check contradicts it.
    pub contradicted: Vec<LessonId>,
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
    plan: &'h Plan<'h>,
    run: Uuid,
    /// Judges that may still be asked.
    calls: u32,
    /// Where evidence is looked up, by repository.
    looks: BTreeMap<Option<RepoName>, Look<'h>>,
    /// Candidates before the one that is looked at.
    before: Vec<Other>,
    /// How many of these were looked at that were ready before, and how many that were not.
    looked: (u32, u32),
    out: GateRun,
}

/// Runs it once. One process of a host does at a time: nobody is asked twice for the same.
///
/// # Errors
/// When the store does not answer.
pub async fn run(home: &Home, plan: &Plan<'_>) -> Result<GateRun, StoreError> {
    let stopped = |why: &str| GateRun {
        stopped: Some(why.to_owned()),
        ..GateRun::default()
    };
    let memory = &home.fleet.memory;
    if memory.killed {
        return Ok(stopped(KILLED));
    }
    if !plan.dry
        && let Some(why) = judge::paused(home).await?
    {
        return Ok(stopped(&why));
    }
    let turn = match plan.dry {
        true => None,
        false => Turns::Memory.soon(home).await,
    };
    if !plan.dry && turn.is_none() {
        return Ok(stopped(
            "another process runs it: look again when it is done",
        ));
    }
    let mut gate = Gate {
        home,
        plan,
        run: Uuid::now_v7(),
        calls: memory.judge_calls,
        looks: BTreeMap::new(),
        before: Vec::new(),
        looked: (0, 0),
        out: GateRun::default(),
    };
    if !plan.dry {
        gate.out.contradicted = held::hold_contradicted(home).await?;
        gate.out.harvested = harvested::harvest(home).await?;
        gate.out.reviewed = reviewed::review(home).await?;
    }
    gate.all().await?;
    Ok(gate.out)
}

impl Gate<'_> {
    /// Looks at every candidate, the oldest first, until its time is over or memory is switched off.
    async fn all(&mut self) -> Result<(), StoreError> {
        let until = Instant::now() + self.plan.within;
        let mut filter = LessonFilter {
            state: Some(LessonState::Candidate),
            after: Some(0),
            ..LessonFilter::all(self.home.clock.now(), MOST)
        };
        loop {
            let rows = self.home.store.lessons(&filter).await?;
            let Some(last) = rows.last() else {
                break;
            };
            filter.after = Some(last.seq);
            for row in rows {
                let over = match (self.plan.is_killed)() {
                    true => Some(KILLED),
                    false => (Instant::now() >= until).then_some("its time is over"),
                };
                if let Some(why) = over {
                    self.out.stopped = Some(why.to_owned());
                    return Ok(());
                }
                self.next(row).await?;
            }
        }
        Ok(())
    }

    /// Looks at it, unless enough of its sort were looked at: who waits for a person keeps nobody else from the gate.
    async fn next(&mut self, row: LessonRow) -> Result<(), StoreError> {
        let earlier = self.home.store.judgements(row.seq).await?;
        let is_ready = earlier.last().is_some_and(|last| last.decision == "ready");
        let (looked, most) = match is_ready {
            true => (&mut self.looked.0, self.plan.ready),
            false => (&mut self.looked.1, MOST),
        };
        if *looked < most {
            *looked += 1;
            return self.candidate(row, earlier).await;
        }
        if !is_ready {
            self.out.deferred += 1;
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
                None if self.plan.dry && self.home.fleet.memory.judge.is_some() => {
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
                    let Some(heard) = self.judge(&lesson, &asked).await? else {
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
        let is_full = self.out.promoted >= self.home.fleet.memory.promotions;
        let waits = promotes && (is_full || (self.plan.is_killed)());
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
        if !self.plan.dry && is_news {
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
        if steers && !self.plan.dry {
            judge::note_steering(self.home, lesson.id, &told.why).await;
        }
        let counts = self.plan.dry || self.carry_out(&row, &decision).await?;
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
        let believed = lessons_with(&self.home.store, &words, times, LIKE).await?;
        let believed = believed.iter().map(|row| other(row, true));
        Ok(believed.chain(self.before.iter().cloned()).collect())
    }

    /// What a judge says of it, whether one was asked, and what that cost; `None` where none may be asked now.
    async fn judge(
        &mut self,
        lesson: &NewLesson,
        asked: &str,
    ) -> Result<Option<(Verdict, bool, Option<f64>)>, StoreError> {
        let memory = &self.home.fleet.memory;
        let Some(account) = memory.judge.clone() else {
            return Ok(Some((Verdict::Nobody, false, None)));
        };
        if self.out.no_judge.is_none() {
            self.out.no_judge = self.no_judge(&account).await?;
        }
        let repo = repo_of(self.home, lesson);
        let (None, Some(repo)) = (&self.out.no_judge, repo) else {
            return Ok(None);
        };
        self.calls -= 1;
        self.out.judges_asked += 1;
        let heard = judge::ask(self.home, &account, repo, asked).await;
        if let Some(why) = heard.no_room {
            // It has said nothing of this one, and would of none.
            self.out.no_judge = Some(why);
            return Ok(None);
        }
        Ok(Some((heard.judged, true, heard.cost_usd)))
    }

    /// Why no more judges are asked in this run.
    async fn no_judge(&self, account: &AccountName) -> Result<Option<String>, StoreError> {
        let memory = &self.home.fleet.memory;
        if self.calls == 0 {
            let why = format!("this run asked {}, its most", memory.judge_calls);
            return Ok(Some(why));
        }
        // Counted anew each time: another host may ask, too.
        let today = day_of(self.home.fleet.zone, self.home.clock.now()).0;
        let asked = self.home.store.judges_asked_since(today).await?;
        if asked >= u64::from(memory.judge_calls_per_day) {
            return Ok(Some(format!("{asked} were asked today, the most of a day")));
        }
        judge::stopped(self.home, account).await
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
