//! What tools work with.

use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use carson_config::McpGrant;
use carson_door::Pace;
use carson_home::Home;
use carson_loop::caller::Caller;
use carson_loop::error::LoopError;
use carson_loop::place::Place;
use carson_redact::Redactor;

use crate::refused::Refused;
use crate::roots::Roots;

/// Issues that a server files at most, and in which time: what a client in circles costs has an end.
const ISSUES: (usize, Duration) = (20, Duration::from_secs(3_600));

/// A home on its way.
pub type Opening<'s> = Pin<Box<dyn Future<Output = Result<Home, Refused>> + Send + 's>>;

/// What a server was given by who started it. It is asked at every call: what was taken back counts at
/// once.
pub trait Standing: Send + Sync + 'static {
    /// The fleet, or why there is none.
    fn fleet(&self) -> Opening<'_>;
    /// What may be changed.
    fn grants(&self) -> Vec<McpGrant>;
    /// Where loops may be worked with.
    fn roots(&self) -> Roots;
    /// Whose environment tasks and promises have, and which program runs a loop.
    fn caller(&self) -> Caller;
    /// Takes secrets out of what is answered.
    fn redactor(&self) -> Redactor;
}

/// What tools work with: one for a server, whatever the number of its clients.
pub(crate) struct Desk {
    standing: Arc<dyn Standing>,
    issues: Pace,
}

impl Desk {
    pub(crate) fn new(standing: Arc<dyn Standing>) -> Self {
        let (most, within) = ISSUES;
        Self {
            standing,
            issues: Pace::new(most, within),
        }
    }

    pub(crate) async fn fleet(&self) -> Result<Home, Refused> {
        self.standing.fleet().await
    }

    pub(crate) fn redactor(&self) -> Redactor {
        self.standing.redactor()
    }

    pub(crate) fn must_have(&self, grant: McpGrant) -> Result<(), Refused> {
        match self.standing.grants().contains(&grant) {
            true => Ok(()),
            false => Err(Refused::NotGranted(grant)),
        }
    }

    /// The loop that is meant by a directory: the nearest one upward that the server may look at.
    pub(crate) fn loop_in(&self, directory: Option<&str>) -> Result<Place, Refused> {
        self.standing.roots().loop_in(directory)
    }

    /// The same, and whether its commands may run as they are: that is granted, and granted there.
    pub(crate) fn loop_to_ask(&self, directory: Option<&str>) -> Result<(Place, bool), Refused> {
        let roots = self.standing.roots();
        let place = roots.loop_in(directory)?;
        let is_granted = self.must_have(McpGrant::Loop).is_ok() && roots.are_granted(place.root());
        Ok((place, is_granted))
    }

    /// The same, of which something is changed or run.
    pub(crate) fn loop_to_run(&self, directory: Option<&str>) -> Result<Place, Refused> {
        let roots = self.standing.roots();
        let place = roots.loop_in(directory)?;
        match roots.are_granted(place.root()) {
            true => Ok(place),
            false => Err(Refused::NotGrantedThere {
                root: place.root().to_owned(),
                granted: roots.below,
            }),
        }
    }

    pub(crate) fn caller(&self) -> Caller {
        self.standing.caller()
    }

    /// Does what blocks on a thread where it may.
    pub(crate) async fn aside<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, LoopError> + Send + 'static,
    ) -> Result<T, Refused> {
        let done = tokio::task::spawn_blocking(work).await;
        Ok(done.map_err(Refused::Broke)??)
    }

    /// One more issue is about to be filed.
    pub(crate) fn files_an_issue(&self) -> Result<(), Refused> {
        let (most, within) = ISSUES;
        match self.issues.pass(Instant::now()) {
            true => Ok(()),
            false => Err(Refused::TooManyIssues { most, within }),
        }
    }
}
