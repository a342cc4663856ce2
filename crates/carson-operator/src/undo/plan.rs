//! Which ways back there are, and how each stands.

use carson_core::effect::Effect;
use carson_core::lesson::LessonState;
use carson_core::{Compensation, FiringId};
use carson_firing::TAKEN_BACK;
use carson_home::Home;
use carson_store::{EffectRow, EffectState, Firing, LessonFilter, NewUndo, UndoState};

use super::going::Going;
use super::looking::{Looking, nothing, owed, stands};
use super::{issues, labels, pulls, said};
use crate::refusal::Refusal;

/// Lessons that are counted.
const LESSONS: u32 = 10_000;

/// The list, in the order in which it is gone: what other people and roles would act on goes first.
pub(super) async fn plan(going: &mut Going<'_>, row: &Firing) -> Result<Vec<NewUndo>, Refusal> {
    let home = going.home;
    let effects = home.store.effects(row.id).await?;
    let mut list: Vec<NewUndo> = effects.iter().filter_map(dropped).collect();
    if let Some(repo) = &row.repo {
        let place = going.place(repo).await?;
        let mut looking = Looking {
            going,
            row,
            place,
            effects: &effects,
        };
        list.extend(pulls::merges(&mut looking).await?);
        list.extend(pulls::opened(&mut looking).await?);
        list.extend(pulls::drafts(&mut looking).await?);
        list.extend(said::reviews(&mut looking).await?);
        list.extend(said::replies(&mut looking).await?);
        list.extend(issues::filed(&mut looking).await?);
        list.extend(issues::closed(&mut looking).await?);
        list.extend(labels::changed(&mut looking).await?);
        list.extend(said::comments(&mut looking).await?);
        list.extend(stays(&effects));
    }
    let count = lessons(home, row.id).await?;
    if count > 0 {
        list.push(owed(Compensation::DropLessons { count }));
    }
    Ok(list)
}

/// What was still owed: it is dropped before anything is looked at.
fn dropped(row: &EffectRow) -> Option<NewUndo> {
    let what = Compensation::DropOwed {
        n: row.n,
        effect: row.effect.kind().to_owned(),
    };
    match row.state {
        EffectState::Owed => Some(owed(what)),
        EffectState::Refused if row.said.as_deref() == Some(TAKEN_BACK) => {
            Some(stands(what, UndoState::Done, None))
        }
        _ => None,
    }
}

/// What no forge gives back. Each effect is named here: who adds one says what takes it back.
fn stays(effects: &[EffectRow]) -> impl Iterator<Item = NewUndo> {
    let done = effects.iter().filter(|one| one.state == EffectState::Done);
    done.filter_map(|one| match &one.effect {
        Effect::DescribePull { pull, .. } => Some(nothing(
            format!("title and text of pull request #{pull}"),
            "nobody wrote down what stood there before",
        )),
        // By `pulls`, with its branch.
        Effect::OpenPull { .. }
        | Effect::JoinPull { .. }
        | Effect::MergePull { .. }
        | Effect::CloseDrafts { .. }
        // By `issues`.
        | Effect::FileIssue { .. }
        | Effect::CloseIssue { .. }
        // By `labels` and `said`.
        | Effect::Release { .. }
        | Effect::TellFiled { .. }
        | Effect::HandOver { .. }
        | Effect::SetLabels { .. }
        | Effect::Comment { .. }
        | Effect::Review { .. }
        | Effect::Reply { .. }
        // It only waits.
        | Effect::AwaitApproval { .. } => None,
    })
}

async fn lessons(home: &Home, id: FiringId) -> Result<u32, Refusal> {
    let mut count = 0;
    for state in [
        LessonState::Promoted,
        LessonState::Candidate,
        LessonState::Held,
    ] {
        let filter = LessonFilter {
            state: Some(state),
            firing: Some(id),
            ..LessonFilter::all(home.clock.now(), LESSONS)
        };
        let rows = home.store.lessons(&filter).await?;
        count += u32::try_from(rows.len()).unwrap_or(u32::MAX);
    }
    Ok(count)
}
