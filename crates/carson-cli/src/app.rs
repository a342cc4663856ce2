//! From the command line to a home that can be worked with.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use carson_checks::Trouble;
use carson_config::{Findings, Fleet, Layout, LoadOptions, Loaded, Provenance, load};
use carson_core::Clock;
use carson_home::{Home, KnownDatabase, secrets};
use carson_proc::inspector::Inspector;
use carson_store::{Opening, Store, StoreError, shown_address};

use crate::error::CommandError;
use crate::print;

/// How long a firing waits for a database that another process holds.
const LOCK_PATIENCE: Duration = Duration::from_secs(120);

/// How long one that was claimed waits for a server that is away when it begins: by then it is taken for dead.
const AWAY: Duration = Duration::from_secs(9 * 60);

/// The variable that names the home.
const HOME: &str = "CARSON_HOME";

/// What the process was started with.
#[derive(Clone, Debug)]
pub struct App {
    /// The home, absolute.
    pub layout: Layout,
    /// Answer as JSON.
    pub json: bool,
    /// Where the settings are read from, when not from the home.
    settings: Option<PathBuf>,
    environ: Vec<(OsString, OsString)>,
    user_home: Option<PathBuf>,
}

/// A path without links and dots as far as it exists: walls are put around the place itself, whatever leads there.
fn resolved(path: &Path) -> PathBuf {
    let found = path.ancestors().find_map(|above| {
        let real = above.canonicalize().ok()?;
        Some((real, path.strip_prefix(above).ok()?))
    });
    match found {
        Some((real, rest)) if rest.as_os_str().is_empty() => real,
        Some((real, rest)) => real.join(rest),
        None => path.to_owned(),
    }
}

impl App {
    /// Reads the environment, once.
    pub fn new(home: Option<PathBuf>, json: bool) -> Result<Self, CommandError> {
        let environ: Vec<(OsString, OsString)> = std::env::vars_os().collect();
        let user_home = std::env::home_dir().map(|home| resolved(&home));
        let named = environ.iter().find(|(name, _)| name == HOME);
        let named = named.filter(|(_, home)| !home.is_empty());
        let home = home.or_else(|| named.map(|(_, home)| PathBuf::from(home)));
        let home = match (home, &user_home) {
            (Some(home), _) => home,
            (None, Some(user)) => user.join(".carson"),
            (None, None) => {
                return Err(CommandError::usage("there is no home directory")
                    .hint("name the fleet's home with --home or CARSON_HOME"));
            }
        };
        let home = resolved(&std::path::absolute(home)?);
        // Git writes the places of repositories down line by line.
        if home.as_os_str().as_encoded_bytes().contains(&b'\n') {
            return Err(CommandError::usage(format!(
                "there is a line break in the path of the fleet's home: {home:?}"
            ))
            .hint("name another one with --home or CARSON_HOME"));
        }
        Ok(Self {
            layout: Layout::at(home),
            json,
            settings: None,
            environ,
            user_home,
        })
    }

    /// The same app with its settings read from somewhere else.
    pub fn with_settings(&self, settings: Option<PathBuf>) -> Self {
        Self {
            settings,
            ..self.clone()
        }
    }

    /// How to call Carson for this home: with `--home`, unless it finds it by itself.
    pub fn called(&self) -> String {
        let named = self.environ.iter().find(|(name, _)| name == HOME);
        let usual = match named {
            Some((_, home)) => std::path::absolute(home).ok().map(|home| resolved(&home)),
            None => self.user_home.as_ref().map(|home| home.join(".carson")),
        };
        if usual.is_some_and(|usual| usual == self.layout.root) {
            "carson".to_owned()
        } else {
            format!("carson --home {}", self.layout.root.display())
        }
    }

    /// Whether the home is the one that this user has where nobody names any.
    pub fn is_usual_home(&self) -> bool {
        let usual = self.user_home.as_ref().map(|home| home.join(".carson"));
        usual.is_some_and(|usual| usual == self.layout.root)
    }

    /// The operator's home.
    pub fn user_home(&self) -> Option<&Path> {
        self.user_home.as_deref()
    }

    /// The operator's environment.
    pub fn environ(&self) -> &[(OsString, OsString)] {
        &self.environ
    }

    /// Where the settings are read from.
    pub fn options(&self) -> LoadOptions {
        LoadOptions {
            home: self.layout.root.clone(),
            files: self.settings.clone(),
            env: self.environ.clone(),
            user_home: self.user_home.clone(),
            machine: machine_name(),
        }
    }

    /// Reads and checks the settings.
    pub fn load(&self) -> Result<Loaded, CommandError> {
        let loaded = load(&self.options());
        let loaded = loaded.map_err(|findings| CommandError::usage(not_right(&findings)))?;
        // From here on nothing that the settings hold is shown.
        print::redactor().learn(secrets::held(&loaded.fleet, &self.environ));
        Ok(loaded)
    }

    /// Where each value of the settings came from.
    pub fn provenance(&self) -> Result<Provenance, CommandError> {
        // What must not be shown is known from here on.
        self.load()?;
        let all = carson_config::provenance(&self.options());
        all.map_err(|findings| CommandError::usage(not_right(&findings)))
    }

    /// The home with its store open.
    pub async fn home(&self) -> Result<Home, CommandError> {
        let fleet = self.load()?.fleet;
        self.home_of(fleet).await
    }

    /// The same for commands that look at the fleet or stop it: broken settings must not keep an
    /// operator from that, so the ones the daemon goes on with serve, and the findings are said.
    pub async fn home_in_any_case(&self) -> Result<Home, CommandError> {
        let findings = match load(&self.options()) {
            Ok(loaded) => return self.home_of(loaded.fleet).await,
            Err(findings) => findings,
        };
        let kept = LoadOptions {
            files: Some(self.layout.kept_settings().join("current")),
            ..self.options()
        };
        let Ok(last_good) = load(&kept) else {
            return Err(CommandError::usage(not_right(&findings)));
        };
        print::error(&format!(
            "warning: {}\nthe last good ones stay in force and are used here\n",
            not_right(&findings)
        ));
        self.home_of(last_good.fleet).await
    }

    /// The home for a firing that was claimed: its row is in a database that exists, and nothing
    /// that it has to write is given up because somebody holds that for a while.
    pub async fn home_of_a_firing(&self) -> Result<Home, CommandError> {
        let opening = Opening {
            create: false,
            patience: LOCK_PATIENCE,
            away: AWAY,
            known: None,
        };
        self.home_opened(self.load()?.fleet, opening).await
    }

    /// The same, with settings that were read before.
    pub async fn home_of(&self, fleet: Fleet) -> Result<Home, CommandError> {
        self.home_opened(fleet, Opening::default()).await
    }

    /// The home for whoever looks what is wrong with it: with a database that was never opened, and
    /// why, where it cannot be.
    pub async fn home_as_it_is(
        &self,
        fleet: Fleet,
    ) -> Result<(Home, Option<Trouble>), CommandError> {
        // What keeps a directory from being made is a check's to tell.
        let _ = fleet.layout.create();
        let known = KnownDatabase::of(&fleet.layout).unwrap_or_default();
        let opening = of_known(&fleet, Opening::default(), known.as_ref());
        let opened = Store::open_as(&fleet.database, opening).await;
        let (store, trouble) = match opened {
            Ok(store) => (store, None),
            Err(error) => {
                let remedy = error.hint().to_owned();
                let error = self.store_error(error);
                let trouble = Trouble {
                    found: error.message,
                    remedy: error.hints.first().cloned().unwrap_or(remedy),
                };
                (Store::unopened(&fleet.database), Some(trouble))
            }
        };
        Ok((self.home_with(fleet, store)?, trouble))
    }

    /// The home for verbs that ask only the settings and files: its database is not opened.
    pub fn home_unopened(&self, fleet: Fleet) -> Result<Home, CommandError> {
        let store = Store::unopened(&fleet.database);
        self.home_with(fleet, store)
    }

    async fn home_opened(&self, mut fleet: Fleet, opening: Opening) -> Result<Home, CommandError> {
        let unwritable = |error: std::io::Error| {
            CommandError::caused_by(&error).hint("check that CARSON_HOME is writable")
        };
        fleet.layout.create().map_err(|error| {
            CommandError::caused_by(&error).hint("check that CARSON_HOME is writable")
        })?;
        let known = KnownDatabase::of(&fleet.layout).map_err(unwritable)?;
        let opening = of_known(&fleet, opening, known.as_ref());
        let store = Store::open_as(&fleet.database, opening).await;
        let store = store.map_err(|error| self.store_error(error))?;
        remember(&fleet, &store, known).map_err(unwritable)?;
        let id = carson_home::id_of(&fleet.layout).map_err(unwritable)?;
        let named = store
            .host_of(&fleet.host, &id, Clock::system().now())
            .await?;
        if named != fleet.host {
            tracing::warn!(host = %named, "another home on this database calls its host {}", fleet.host);
            fleet.host = named;
        }
        self.home_with(fleet, store)
    }

    fn home_with(&self, fleet: Fleet, store: Store) -> Result<Home, CommandError> {
        let redactor = print::redactor();
        let program = std::env::current_exe()?;
        let home = Home {
            inspector: Inspector::of(&program),
            store: store.redacting(redactor.clone()),
            fleet: Arc::new(fleet),
            clock: Clock::system(),
            program,
            environ: self.environ.clone(),
            user_home: self.user_home.clone(),
            redactor,
            vectors: Default::default(),
        };
        home.learn_secrets();
        carson_bench::learn_places(&home);
        Ok(home)
    }
}

impl App {
    /// A failure of the store; for a database that is lost with the very command to type.
    pub fn store_error(&self, error: StoreError) -> CommandError {
        let StoreError::Unusable {
            backup: Some(backup),
            ..
        } = &error
        else {
            return error.into();
        };
        let name = backup.file_name().unwrap_or_default().to_string_lossy();
        CommandError::caused_by(&error).hint(format!(
            "the newest backup is {name}: `{} backup restore {name}` puts it in its place, and \
             keeps what is there now",
            self.called()
        ))
    }
}

/// Where the settings name the database that the home worked with last, no other one will do.
fn of_known(fleet: &Fleet, opening: Opening, known: Option<&KnownDatabase>) -> Opening {
    let address = shown_address(&fleet.database);
    let known = known.filter(|known| known.address == address);
    Opening {
        known: known.map(|known| known.id),
        ..opening
    }
}

/// Notes which database the home works with; another one than before is said.
fn remember(fleet: &Fleet, store: &Store, known: Option<KnownDatabase>) -> std::io::Result<()> {
    let Some(id) = store.identity() else {
        return Ok(());
    };
    let address = shown_address(&fleet.database);
    let now = KnownDatabase { id, address };
    match known {
        Some(before) if before == now => return Ok(()),
        Some(before) if before.id != now.id => tracing::warn!(
            "this home works with another database from now on, {}: what was fired in {} is not known there",
            now.address,
            before.address
        ),
        _ => {}
    }
    now.remember(&fleet.layout)
}

fn not_right(findings: &Findings) -> String {
    let count = findings.0.len();
    let noun = if count == 1 { "finding" } else { "findings" };
    format!("the settings are not right: {count} {noun}\n{findings}")
}

fn machine_name() -> String {
    nix::unistd::gethostname()
        .ok()
        .and_then(|name| name.into_string().ok())
        .unwrap_or_else(|| "localhost".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_home_is_the_place_itself_whatever_leads_there() {
        let dir = tempfile::tempdir().unwrap();
        let dir = dir.path().canonicalize().unwrap();
        let real = dir.join("disk/fleet");
        std::fs::create_dir_all(&real).unwrap();
        std::os::unix::fs::symlink(dir.join("disk"), dir.join("link")).unwrap();
        for (path, found) in [
            ("disk/fleet", "disk/fleet"),
            ("link/fleet", "disk/fleet"),
            ("link/../disk/fleet/", "disk/fleet"),
            ("link/not/yet", "disk/not/yet"),
        ] {
            assert_eq!(resolved(&dir.join(path)), dir.join(found), "{path}");
        }
    }
}
