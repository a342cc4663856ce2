//! What every firing, recovery and job of one home works with.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use carson_config::{Account, Fleet, Repo, read_secret};
use carson_core::Clock;
use carson_forge::{Branches, Forge, Keeper, Place, TokenSource};
use carson_git::Mirror;
use carson_memory::vectors::Vectors;
use carson_proc::inspector::Inspector;
use carson_proc::{Command, Limits, capture, own_path, own_program};
use carson_redact::Redactor;
use carson_store::Store;
use secrecy::SecretString;
use thiserror::Error;
use tracing::warn;

use crate::branches::MirrorBranches;
use crate::forge_limits::{self, ForgeLimits};
use crate::secrets;

/// What is kept running with `memory.embedder_dir`.
pub const EMBEDDER: &str = "carson-embedder";

/// How long a token command may take.
const TOKEN_COMMAND: Duration = Duration::from_secs(15);

/// One home: its checked settings, its store, and the process they are used in.
#[derive(Clone)]
pub struct Home {
    /// Settings and roles.
    pub fleet: Arc<Fleet>,
    /// Rows.
    pub store: Store,
    /// The wall clock.
    pub clock: Clock,
    /// The `carson` binary: what a firing re-executes, and where the hook is found.
    pub program: PathBuf,
    /// The operator's environment. A bench gets a few names of it, never all.
    pub environ: Vec<(OsString, OsString)>,
    /// The operator's own home directory.
    pub user_home: Option<PathBuf>,
    /// Who reads what sessions wrote.
    pub inspector: Inspector,
    /// Takes secrets out of what is written or leaves; one for the whole process.
    pub redactor: Redactor,
    /// What was read of lessons' vectors; one for the whole process.
    pub vectors: Vectors,
}

/// A forge that cannot be opened.
#[derive(Debug, Error)]
pub enum ForgeOpenError {
    /// The token could not be had.
    #[error("the forge token cannot be read: {0}")]
    Token(String),
    /// The forge itself refused its settings.
    #[error(transparent)]
    Forge(#[from] carson_forge::ForgeError),
}

impl ForgeOpenError {
    /// What the operator can do.
    #[must_use]
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Token(_) => "mend token_file or token_command in the forge's section",
            Self::Forge(error) => error.hint(),
        }
    }
}

impl Home {
    /// Opens the forge of a repository. Cheap for `local`; reads the token for one that has one.
    ///
    /// # Errors
    /// When its token cannot be had, or what the settings say of it cannot be used.
    pub async fn forge(&self, repo: &Repo) -> Result<Forge, ForgeOpenError> {
        let token = match repo.forge.token() {
            Some(source) => {
                let token = self.token(source).await?;
                self.redactor.learn([token.clone()]);
                Some(token)
            }
            None => None,
        };
        let files = self.fleet.layout.forge_repo(&repo.name);
        let forge = repo.forge.name();
        let keeper: Arc<dyn Keeper> = Arc::new(ForgeLimits {
            forge,
            store: self.store.clone(),
            clock: self.clock.clone(),
            redactor: self.redactor.clone(),
        });
        let shut_for = match token {
            Some(_) => self.forge_shut_for(forge).await,
            None => Duration::ZERO,
        };
        let branches: Arc<dyn Branches> = Arc::new(MirrorBranches(self.mirror(repo)));
        let place = Place {
            slug: &repo.slug,
            files: &files,
            keeper: &keeper,
            shut_for,
            branches: &branches,
        };
        Ok(repo.forge.open(&place, token)?)
    }

    /// How long a forge accepts nothing, as anybody of the fleet heard from it.
    async fn forge_shut_for(&self, forge: &str) -> Duration {
        let shut_for = forge_limits::shut_for(&self.store, &self.clock, forge).await;
        shut_for.unwrap_or_else(|error| {
            // Then the forge says it again.
            warn!(%error, forge, "the limits of a forge cannot be read");
            Duration::ZERO
        })
    }

    async fn token(&self, source: &TokenSource) -> Result<SecretString, ForgeOpenError> {
        match source {
            TokenSource::File(path) => {
                read_secret(path).map_err(|error| ForgeOpenError::Token(error.to_string()))
            }
            TokenSource::Command(argv) => self.token_from(argv).await,
        }
    }

    async fn token_from(&self, argv: &[String]) -> Result<SecretString, ForgeOpenError> {
        let fail = |why: String| ForgeOpenError::Token(format!("{}: {why}", argv.join(" ")));
        let (program, args) = argv
            .split_first()
            .ok_or_else(|| fail("it is empty".into()))?;
        let path = std::path::Path::new(program);
        let program = own_program(path, self.path()).ok_or_else(|| fail("not found".into()))?;
        let path = own_path(self.path().unwrap_or_default());
        let command = Command::new(program, &self.fleet.layout.root).inherit_env();
        let mut command = command.env("PATH", path);
        for arg in args {
            command = command.arg(arg);
        }
        let done = capture(&command, &Limits::within(TOKEN_COMMAND))
            .await
            .map_err(|error| fail(error.to_string()))?;
        let token = done.stdout.text().trim().to_owned();
        if !done.success() || token.is_empty() {
            return Err(fail("it printed no token".into()));
        }
        Ok(SecretString::from(token))
    }

    /// Carson's own clone of a repository.
    #[must_use]
    pub fn mirror(&self, repo: &Repo) -> Mirror {
        let path = self.fleet.layout.mirror(&repo.name);
        Mirror::at(path, &repo.url, self.inspector.clone())
    }

    /// Tells the redactor what these settings and the operator's environment hold. Called when the
    /// settings are read, and again when they have changed.
    pub fn learn_secrets(&self) {
        self.redactor
            .learn(secrets::held(&self.fleet, &self.environ));
    }

    /// The files that Carson's own secrets are in.
    #[must_use]
    pub fn secret_files(&self) -> Vec<PathBuf> {
        let forges = self.fleet.forges.iter();
        let tokens = forges.filter_map(|forge| forge.token()?.file());
        let tokens = tokens.map(Path::to_owned);
        let sinks = self.fleet.sinks.iter().flat_map(|sink| sink.files());
        let sinks = sinks.map(Path::to_owned);
        let keys = self.fleet.accounts.values();
        let keys = keys.filter_map(|account| Some(account.key.as_ref()?.file.clone()));
        let roles = self.fleet.roles.values();
        let servers = roles.flat_map(|role| &role.servers);
        let servers = servers.flat_map(|server| server.secrets.values().cloned());
        let mcp = self.fleet.mcp.iter().map(|mcp| mcp.token_file.clone());
        // Made at the first need: what is not there cannot be hidden.
        let page = self.fleet.page.iter().map(|page| page.token_file.clone());
        let page = page.filter(|file| file.exists());
        let all = tokens.chain(sinks).chain(keys).chain(servers);
        all.chain(mcp).chain(page).collect()
    }

    /// The program of an account's engine, if it is installed where no session may write: Carson
    /// itself asks it for its version.
    #[must_use]
    pub fn engine_program(&self, account: &Account) -> Option<PathBuf> {
        match &account.binary {
            Some(binary) => own_program(binary, self.path()),
            // Carson's own player of scripts.
            None => Some(self.program.clone()),
        }
    }

    /// The program that makes vectors on this machine: beside ours, or on `PATH`.
    #[must_use]
    pub fn embedder_program(&self) -> Option<PathBuf> {
        let beside = self.program.with_file_name(EMBEDDER);
        if beside.is_file() {
            return Some(beside);
        }
        own_program(Path::new(EMBEDDER), self.path())
    }

    /// `PATH` of the operator.
    #[must_use]
    pub fn path(&self) -> Option<&std::ffi::OsStr> {
        self.environ
            .iter()
            .find(|(name, _)| name == "PATH")
            .map(|(_, value)| value.as_os_str())
    }
}
