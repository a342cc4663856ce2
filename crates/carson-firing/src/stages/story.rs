//! What the work on a story kept to, as its commits say: what they change and may not, and what they were to make.
//! A session's own word is not asked.

use carson_core::settle::Halt;
use carson_core::story::StoryFact;
use carson_git::{AtPath, Changed, GitError, Oid, Sides};
use carson_home::halt::{OrBroken, describe_error};
use carson_loop::stories::native::{Leaf, Touched};

use crate::forge_text::one_line;
use crate::placed::Placed;
use crate::plan_at::StoryWork;
use crate::reached::Place;

/// How the commits up to this one stand to the story. What cannot be asked is not allowed.
pub(crate) async fn measured(story: &StoryWork, place: &Place, tip: &Oid) -> StoryFact {
    match touched(place, tip).await {
        Ok(touched) => story.held_against(&touched),
        Err(error) => {
            let why = one_line(&describe_error(&error));
            StoryFact {
                outside: vec![format!("what it changed cannot be listed: {why}")],
                ..story.unmeasured()
            }
        }
    }
}

async fn touched(place: &Place, tip: &Oid) -> Result<Vec<Touched>, GitError> {
    let sides = Sides {
        head: tip.clone(),
        base: place.worktree.base.clone(),
    };
    let changed = place.mirror.changed(&sides).await?;
    let paths = changed.iter().map(|one| one.path.clone()).collect();
    let now = place.mirror.at_paths(tip, paths).await?;
    Ok(changed.into_iter().zip(now).map(one).collect())
}

fn one((changed, now): (Changed, AtPath)) -> Touched {
    Touched {
        path: changed.path,
        is_new: changed.is_new,
        now: match now {
            AtPath::Nothing | AtPath::Directory => Leaf::Gone,
            AtPath::File => Leaf::File,
            AtPath::Link(to) => Leaf::Link(to),
            AtPath::Repository => Leaf::Repository,
        },
    }
}

/// What a session hears whose work lacks something that the story asks for. Work that does more than it may ends the
/// firing, whatever the session said, and so does what is still missing after the last attempt.
pub(super) async fn feedback(
    placed: &mut Placed<'_, '_>,
    is_last: bool,
) -> Result<Option<String>, Halt> {
    let Some(story) = &placed.taken.story else {
        return Ok(None);
    };
    let seen = placed.place.inspect().await;
    let seen = seen.or_broken("looking at the worktree")?;
    if seen.facts().commits == 0 {
        return Ok(None);
    }
    let fact = measured(story, placed.place, seen.tip()).await;
    match fact.failed() {
        None => Ok(None),
        Some(_) if fact.outside.is_empty() && !is_last => Ok(Some(format!(
            "Your commits do not make all files that the story asks for:\n{}\nEach must be a regular file that your \
             commits make or change.",
            fact.missing.join("\n")
        ))),
        Some(why) => Err(Halt::StoryFailed(why)),
    }
}
