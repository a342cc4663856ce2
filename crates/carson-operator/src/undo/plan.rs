//! Which ways back there may be, by what the rows of a firing say, and how each stands now.

use carson_core::effect::Effect;
use carson_core::lesson::LessonState;
use carson_core::{Compensation, FiringId};
use carson_firing::TAKEN_BACK;
use carson_home::Home;
use carson_store::{EffectRow, EffectState, Firing, LessonFilter, NewUndo, UndoState};

use super::going::Going;
use super::looking::{Looking, Staying, done, nothing, owed, stands};
use super::{issues, labels, pulls, said};
use crate::refusal::Refusal;

/// Lessons that are counted.
const LESSONS: u32 = 10_000;

/// What is looked at in one piece, directly before any of it is done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Subject {
    /// What was still owed.
    Owed,
    /// Merges.
    Merges,
    /// Its pull request, and the branch of that.
    Opened,
    /// Drafts that it closed.
    Drafts,
    /// Its reviews.
    Reviews,
    /// Its answers in threads.
    Replies,
    /// The issue that this effect filed.
    Filed(u32),
    /// Issues that it closed.
    Closed,
    /// The labels of this issue or pull request.
    Labels(u64),
    /// Its comments on this issue or pull request.
    Comments(u64),
    /// What no forge gives back.
    Never,
    /// What its sessions proposed as lessons.
    Lessons,
}

/// Those of a firing, in the order in which they are gone: what other people and roles would act on goes first.
pub(super) fn subjects(row: &Firing, effects: &[EffectRow]) -> Vec<Subject> {
    let mut list = vec![Subject::Owed];
    if row.repo.is_some() {
        list.extend([
            Subject::Merges,
            Subject::Opened,
            Subject::Drafts,
            Subject::Reviews,
            Subject::Replies,
        ]);
        // The newest first: what comes after others is closed before them.
        let filed = done(effects).filter(|one| matches!(one.effect, Effect::FileIssue { .. }));
        let filed: Vec<u32> = filed.map(|one| one.n).collect();
        list.extend(filed.into_iter().rev().map(Subject::Filed));
        list.push(Subject::Closed);
        list.extend(
            labels::numbers(row, effects)
                .into_iter()
                .map(Subject::Labels),
        );
        list.extend(
            said::numbers(row, effects)
                .into_iter()
                .map(Subject::Comments),
        );
        list.push(Subject::Never);
    }
    list.push(Subject::Lessons);
    list
}

/// How the ways of one of them stand at this moment.
pub(super) async fn look(
    going: &mut Going<'_>,
    (row, effects): (&Firing, &[EffectRow]),
    stays: &Staying,
    subject: &Subject,
) -> Result<Vec<NewUndo>, Refusal> {
    let repo = match (subject, &row.repo) {
        (Subject::Owed, _) => return still_owed(going.home, row.id).await,
        (Subject::Lessons, _) => return lessons(going.home, row.id).await,
        (_, None) => return Ok(Vec::new()),
        (_, Some(repo)) => repo,
    };
    let place = going.place(repo).await?;
    let mut looking = Looking {
        going,
        row,
        place,
        effects,
        stays,
    };
    match subject {
        Subject::Merges => pulls::merges(&looking).await,
        Subject::Opened => pulls::opened(&mut looking).await,
        Subject::Drafts => pulls::drafts(&looking).await,
        Subject::Reviews => said::reviews(&looking).await,
        Subject::Replies => said::replies(&looking).await,
        Subject::Filed(n) => issues::filed(&mut looking, *n).await,
        Subject::Closed => issues::closed(&looking).await,
        Subject::Labels(number) => labels::changed(&looking, *number).await,
        Subject::Comments(on) => said::comments(&looking, *on).await,
        Subject::Never => Ok(never(effects).collect()),
        Subject::Owed | Subject::Lessons => Ok(Vec::new()),
    }
}

/// What was still owed: it is dropped before anything else is looked at.
async fn still_owed(home: &Home, id: FiringId) -> Result<Vec<NewUndo>, Refusal> {
    let effects = home.store.effects(id).await?;
    Ok(effects.iter().filter_map(dropped).collect())
}

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
fn never(effects: &[EffectRow]) -> impl Iterator<Item = NewUndo> {
    done(effects).filter_map(|one| match &one.effect {
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

async fn lessons(home: &Home, id: FiringId) -> Result<Vec<NewUndo>, Refusal> {
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
    let drops = (count > 0).then(|| owed(Compensation::DropLessons { count }));
    Ok(drops.into_iter().collect())
}
