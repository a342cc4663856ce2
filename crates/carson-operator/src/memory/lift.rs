//! Whether memory helps.

use std::collections::BTreeMap;

use carson_core::RoleName;
use carson_core::lesson::{LessonId, LessonState};
use carson_home::Home;
use carson_memory::lift::{Compared, Says, compare};
use carson_store::{LessonFilter, ToldFiring};
use chrono::{DateTime, TimeDelta, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::refusal::Refusal;
use crate::since::since;
use crate::verb::{Ask, Who};

/// Firings that are compared.
const FIRINGS: u32 = 20_000;
/// Lessons that are compared.
const LESSONS: u32 = 1_000;
/// How far back is looked unless somebody says otherwise.
const BACK: TimeDelta = TimeDelta::days(90);

/// Did it help to be told?
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Lift {
    /// Firings since then; of the last ninety days without it.
    #[serde(default)]
    pub since: Option<String>,
}

/// What the comparison says.
#[derive(Debug, Serialize)]
pub struct Lifted {
    /// Since when.
    pub since: DateTime<Utc>,
    /// Role by role.
    pub roles: Vec<OfRole>,
    /// Lesson by lesson, those that say something first.
    pub lessons: Vec<OfLesson>,
    /// Lessons whose firings did worse: take them back?
    pub proposed_for_revert: Vec<LessonId>,
}

/// A role's firings that were told something beside those that would have been and were told nothing on purpose.
#[derive(Debug, Serialize)]
pub struct OfRole {
    /// Which.
    pub role: RoleName,
    /// Thing by thing.
    pub compared: Vec<Compared>,
}

/// Firings that were told a lesson beside those that would have been and were told nothing on purpose.
#[derive(Debug, Serialize)]
pub struct OfLesson {
    /// Which.
    pub id: LessonId,
    /// What it says.
    pub text: String,
    /// Thing by thing.
    pub compared: Vec<Compared>,
}

impl Ask for Lift {
    const NAME: &'static str = "memory lift";
    const WHAT: &'static str =
        "Compare firings that were told lessons with those that were told none on purpose";
    const WHO: Who = Who::Anyone;
    type Answer = Lifted;

    async fn answer(self, home: &Home) -> Result<Self::Answer, Refusal> {
        let now = home.clock.now();
        let since = since(home, self.since.as_deref())?.unwrap_or(now - BACK);
        let firings = home.store.firings_with_recall(since, FIRINGS).await?;
        let mut by_role: BTreeMap<&RoleName, Vec<&ToldFiring>> = BTreeMap::new();
        for one in &firings {
            by_role.entry(&one.role).or_default().push(one);
        }
        let roles = by_role.iter().map(|(role, all)| {
            let (off, on): (Vec<&ToldFiring>, Vec<&ToldFiring>) =
                all.iter().partition(|one| one.off);
            OfRole {
                role: (*role).clone(),
                compared: compare(&on, &off),
            }
        });
        let roles = roles.collect();
        let mut lessons = Vec::new();
        let filter = LessonFilter {
            state: Some(LessonState::Promoted),
            ..LessonFilter::all(now, LESSONS)
        };
        for row in home.store.lessons(&filter).await? {
            let all = home.store.firings_told(row.seq, FIRINGS).await?;
            let (off, told): (Vec<&ToldFiring>, Vec<&ToldFiring>) =
                all.iter().partition(|one| one.off);
            let compared = compare(&told, &off);
            if compared.iter().any(|one| one.numbers.is_some()) {
                lessons.push(OfLesson {
                    id: row.lesson.id,
                    text: row.lesson.text,
                    compared,
                });
            }
        }
        let worse = |one: &&OfLesson| {
            one.compared
                .iter()
                .any(|found| found.what == "success" && found.says == Says::Worse)
        };
        let proposed_for_revert = lessons.iter().filter(worse).map(|one| one.id).collect();
        lessons.sort_by_key(|one| {
            one.compared
                .iter()
                .all(|found| found.says == Says::NoEvidence)
        });
        Ok(Lifted {
            since,
            roles,
            lessons,
            proposed_for_revert,
        })
    }
}
