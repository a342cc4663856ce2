//! What tests of this crate stand on: a fleet of its own, and what a server was given.

use std::path::Path;
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use carson_config::McpGrant;
use carson_core::Clock;
use carson_home::{Home, testing};
use carson_loop::api;
use carson_loop::caller::Caller;
use carson_loop::config::Config;
use carson_loop::place::{Layout, Place};
use carson_loop::words::Words;
use carson_redact::Redactor;
use tempfile::TempDir;

use crate::desk::{Opening, Standing};
use crate::refused::Refused;
use crate::roots::Roots;

/// A role that takes issues of the only repository.
const ROLE: &str = "repos = [\"widget\"]\nengines = [\"claude\"]\ncadence = [\"0 0 * * *\"]\n\
    work = { from = \"issues\", label = \"carson:ready\" }\n";

/// A home with one repository on the local forge, and one role.
pub(crate) async fn home(dir: &Path) -> Home {
    let settings = "[fleet]\nname = \"attic\"\nhost = \"box\"\n[accounts.claude]\nengine = \"claude\"\n\
        [repos.widget]\nurl = \"/nowhere/widget.git\"\nforge = \"local\"\n";
    std::fs::write(dir.join("carson.toml"), settings).unwrap();
    let role = dir.join("roles/hand");
    std::fs::create_dir_all(&role).unwrap();
    std::fs::write(role.join("role.toml"), ROLE).unwrap();
    testing::open(dir, Clock::system()).await.unwrap()
}

/// What a server was given; a test takes it back, or gives more.
pub(crate) struct Given {
    dir: TempDir,
    home: Option<Home>,
    pub(crate) grants: Mutex<Vec<McpGrant>>,
    pub(crate) roots: Roots,
}

impl Given {
    /// A fleet, and these grants.
    pub(crate) async fn with(grants: &[McpGrant]) -> Arc<Self> {
        let dir = tempfile::tempdir().unwrap();
        let home = home(dir.path()).await;
        Self::of(dir, Some(home), grants)
    }

    /// No fleet at all.
    pub(crate) fn nothing() -> Arc<Self> {
        Self::of(tempfile::tempdir().unwrap(), None, &[])
    }

    fn of(dir: TempDir, home: Option<Home>, grants: &[McpGrant]) -> Arc<Self> {
        let roots = Roots {
            here: Some(dir.path().to_owned()),
            below: Vec::new(),
        };
        Arc::new(Self {
            dir,
            home,
            grants: Mutex::new(grants.to_vec()),
            roots,
        })
    }

    /// Makes a loop where it was started.
    pub(crate) fn with_loop(&self, promise: &str, task: &str) -> Place {
        let words = |line| Words::line(line).unwrap();
        let config = Config::new(words(promise), words(task));
        api::init(self.dir.path(), Layout::Native, &config).unwrap()
    }

    pub(crate) fn dir(&self) -> &Path {
        self.dir.path()
    }

    pub(crate) fn home(&self) -> &Home {
        self.home.as_ref().unwrap()
    }
}

impl Standing for Given {
    fn fleet(&self) -> Opening<'_> {
        Box::pin(async {
            self.home.clone().ok_or_else(|| Refused::NoFleet {
                why: "there is no fleet here".to_owned(),
                hints: vec!["`carson init` makes one".to_owned()],
            })
        })
    }

    fn grants(&self) -> Vec<McpGrant> {
        self.grants.lock().unwrap().clone()
    }

    fn roots(&self) -> Roots {
        self.roots.clone()
    }

    fn caller(&self) -> Caller {
        Caller::new(
            std::env::vars_os(),
            "/nowhere/carson".into(),
            self.redactor(),
        )
    }

    fn redactor(&self) -> Redactor {
        self.home
            .as_ref()
            .map(|home| home.redactor.clone())
            .unwrap_or_default()
    }
}

/// A fleet that never opens, and who waits for it.
#[derive(Clone, Default)]
pub(crate) struct Gate(Arc<(Mutex<State>, Condvar)>);

/// How many calls there were.
#[derive(Default)]
pub(crate) struct State {
    pub(crate) began: usize,
    pub(crate) dropped: usize,
}

impl Gate {
    fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.0.0.lock().unwrap());
        self.0.1.notify_all();
    }

    pub(crate) fn until(&self, holds: impl Fn(&State) -> bool) {
        let state = self.0.0.lock().unwrap();
        let limit = Duration::from_secs(20);
        let (_state, waited) = self
            .0
            .1
            .wait_timeout_while(state, limit, |state| !holds(state))
            .unwrap();
        assert!(!waited.timed_out());
    }
}

/// Says when it is dropped.
struct Waits(Gate);

impl Drop for Waits {
    fn drop(&mut self) {
        self.0.change(|state| state.dropped += 1);
    }
}

impl Standing for Gate {
    fn fleet(&self) -> Opening<'_> {
        let waits = Waits(self.clone());
        self.change(|state| state.began += 1);
        Box::pin(async move {
            let _waits = waits;
            std::future::pending().await
        })
    }

    fn grants(&self) -> Vec<McpGrant> {
        Vec::new()
    }

    fn roots(&self) -> Roots {
        Roots::default()
    }

    fn caller(&self) -> Caller {
        Caller::new([], "/nowhere/carson".into(), self.redactor())
    }

    fn redactor(&self) -> Redactor {
        Redactor::default()
    }
}
