//! What all requests share.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use carson_config::Page;
use carson_door::{Names, Often, Pace};
use carson_home::Home;
use secrecy::SecretString;
use tokio::sync::Semaphore;

use crate::secret::token;
use crate::sessions::Sessions;

/// The fleet as it is at this moment. It is asked at every request: what the settings say now counts at once.
pub type Homes = Arc<dyn Fn() -> Home + Send + Sync>;

/// How often somebody may try to sign in, and in which time.
const TRIES: (usize, Duration) = (10, Duration::from_secs(60));

/// Live transcripts at once.
const LIVE: usize = 8;

/// What all requests share.
pub(crate) struct Desk {
    at: SocketAddr,
    homes: Homes,
    pub(crate) sessions: Sessions,
    pub(crate) tries: Pace,
    /// Somebody does not know the token.
    pub(crate) strangers: Often,
    /// The token cannot be read.
    pub(crate) shut: Often,
    pub(crate) live: Arc<Semaphore>,
}

impl Desk {
    /// Reached at this address; `sessions` are none yet.
    pub(crate) fn new(at: SocketAddr, homes: Homes, sessions: Sessions) -> Self {
        let (most, within) = TRIES;
        Self {
            at,
            homes,
            sessions,
            tries: Pace::new(most, within),
            strangers: Often::default(),
            shut: Often::default(),
            live: Arc::new(Semaphore::new(LIVE)),
        }
    }

    pub(crate) fn home(&self) -> Home {
        (self.homes)()
    }

    /// What the settings say of the page now.
    pub(crate) fn page(home: &Home) -> Result<&Page, String> {
        let page = home.fleet.page.as_ref();
        page.ok_or_else(|| "the settings have no [page] any more".to_owned())
    }

    /// What people sign in with now.
    pub(crate) fn token(home: &Home) -> Result<SecretString, String> {
        let token = token(Self::page(home)?)?;
        // It may be another one than when the settings were read.
        home.redactor.learn([token.clone()]);
        Ok(token)
    }

    pub(crate) fn names(&self, home: &Home) -> Names {
        let hosts = home.fleet.page.as_ref().map(|page| page.hosts.as_slice());
        Names::of(self.at).and(hosts.unwrap_or_default())
    }

    /// Cookies are those of a machine, whatever its port: each page has one of its own.
    pub(crate) fn cookie(&self) -> String {
        format!("carson-{}", self.at.port())
    }
}
