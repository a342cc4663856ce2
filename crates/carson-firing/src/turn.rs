//! What one process of a host does at a time. Whoever changes something on a forge looks first whether it was done
//! already: two who look at once would both do it.

use std::fs::File;
use std::time::{Duration, Instant};

use carson_home::Home;

/// How long somebody waits for their turn.
const WAIT: Duration = Duration::from_secs(10);
/// The time between two looks.
const LOOK: Duration = Duration::from_millis(50);

/// What is taken in turns. Each has a lock of its own, which ends with the process.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Turns {
    /// Dead firings are concluded, and what ended ones owe is carried out.
    Recovery,
    /// Claims of ended firings are released.
    Claims,
    /// Pull requests that people ended are followed.
    Pulls,
    /// People end a pull request.
    Ends,
    /// Issues are closed whose parts are done.
    Parts,
    /// What turned its base red is told.
    Merges,
    /// The gate of what the fleet remembers looks at candidates.
    Memory,
}

impl Turns {
    fn file(self) -> &'static str {
        match self {
            Self::Recovery => "recover.lock",
            Self::Claims => "claims.lock",
            Self::Pulls => "pulls.lock",
            Self::Ends => "ends.lock",
            Self::Parts => "parts.lock",
            Self::Merges => "merges.lock",
            Self::Memory => "memory.lock",
        }
    }

    /// The turn, unless another process has it.
    pub fn now(self, home: &Home) -> Option<Turn> {
        let file = File::create(home.fleet.layout.state().join(self.file())).ok()?;
        file.try_lock().ok().map(|()| Turn(file))
    }

    /// The turn, once another process has given it back; none when that takes too long.
    pub async fn soon(self, home: &Home) -> Option<Turn> {
        let until = Instant::now() + WAIT;
        loop {
            match self.now(home) {
                None if Instant::now() < until => tokio::time::sleep(LOOK).await,
                turn => return turn,
            }
        }
    }
}

/// It lasts as long as this value.
#[derive(Debug)]
#[must_use]
pub struct Turn(#[expect(dead_code, reason = "the open file is the lock")] File);
