//! What a kind of role is made of.

use std::pin::Pin;

use carson_config::{Repo, Role};
use carson_core::effect::Draft;
use carson_core::settle::{Facts, Goal, Halt, Settled};
use carson_core::story::StoryId;
use carson_core::{Effect, FiringId};
use carson_forge::Forge;
use carson_home::Home;

use super::candidates::Candidates;
use crate::ctx::Ctx;
use crate::reached::{Place, Taken};
use crate::record::Record;
use crate::review_queue::QueueError;
use crate::saved::Saved;

/// A boxed future, so that a kind is a row of plain functions.
pub(crate) type Picking<'a, 'h> =
    Pin<Box<dyn Future<Output = Result<Taken<'h>, Halt>> + Send + 'a>>;
/// The same of a look.
pub(crate) type Seeing<'a> =
    Pin<Box<dyn Future<Output = Result<Candidates, QueueError>> + Send + 'a>>;

/// A look for work.
pub(crate) type Look = for<'a> fn(Looking<'a>) -> Seeing<'a>;

/// A kind of role.
pub(crate) struct Kind {
    /// Finds one piece of work and holds it for this firing.
    pub pick: for<'a, 'h> fn(&'a Ctx<'h>, &'a mut Record) -> Picking<'a, 'h>,
    /// What it could take that is no issue of its queue, and why it does not take the rest; changes nothing.
    pub look: Option<Look>,
    /// What its `[OK]` must have made.
    pub goal: fn(&Role) -> Goal,
    /// What follows on the forge. Pure: it is asked before any of it is done.
    pub effects: fn(&Closing<'_, '_>) -> Vec<Effect>,
}

/// Where a role looks for work.
#[derive(Clone, Copy)]
pub(crate) struct Looking<'a> {
    pub home: &'a Home,
    pub role: &'a Role,
    pub repo: &'a Repo,
    pub forge: &'a Forge,
    /// Only this number.
    pub wanted: Option<u64>,
    /// Only this story.
    pub story: Option<StoryId>,
    /// The firing that looks, if it is one.
    pub me: Option<FiringId>,
    /// A person named it for this firing: it does not wait.
    pub by_hand: bool,
}

/// A firing that was settled, and whose work is pushed or kept.
pub(crate) struct Closing<'a, 'h> {
    pub ctx: &'a Ctx<'h>,
    pub rec: &'a Record,
    pub taken: &'a Taken<'h>,
    pub place: Option<&'a Place>,
    pub settled: &'a Settled,
    pub facts: &'a Facts,
    pub saved: &'a Saved,
    /// Drafts of the role's earlier firings for the same work.
    pub older: Vec<Draft>,
}
