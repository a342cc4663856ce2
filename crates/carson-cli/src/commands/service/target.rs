//! Which service: its text, its file, and how it is asked for.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use nix::unistd::User;

use super::written::{Comment, marked};
use super::{launchd_plist, systemd_unit};
use crate::app::App;
use crate::args::service::{Manager, Which};
use crate::error::CommandError;

/// What it is called by systemd.
pub const UNIT: &str = "carson.service";

/// Programs of the system, where nobody says more.
const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// Whose it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// This user's, by systemd.
    Own,
    /// The whole machine's, as this user.
    Machine(String),
    /// This user's, by launchd, in this domain.
    Launchd { domain: String },
}

/// One service.
#[derive(Clone, Debug)]
pub struct Target {
    /// Whose it is.
    pub kind: Kind,
    /// Where its text is written.
    pub file: PathBuf,
    /// Its text.
    pub text: String,
    /// The home that its daemon runs.
    pub fleet_home: PathBuf,
    user: String,
}

impl Target {
    /// The service of a command line; files of the machine lie below `root`.
    ///
    /// # Errors
    /// When there is no such user, or a path cannot stand in the text.
    pub fn of(app: &App, which: &Which, root: &Path) -> Result<Self, CommandError> {
        let program = program(app);
        let program = utf8(&program)?;
        match (&which.system, which.manager.unwrap_or_else(Manager::usual)) {
            (Some(user), _) => Self::of_machine(app, which, user, program, root),
            (None, Manager::Systemd) => Self::own(app, program),
            (None, Manager::Launchd) => Self::launchd(app, program),
        }
    }

    fn own(app: &App, program: &str) -> Result<Self, CommandError> {
        let config = match value(app, "XDG_CONFIG_HOME") {
            Some(dir) => PathBuf::from(dir),
            None => home_of_user(app)?.join(".config"),
        };
        let path = value(app, "PATH").unwrap_or(OsStr::new(PATH));
        let place = systemd_unit::Place {
            program,
            home: named_home(app)?,
            path: utf8(Path::new(path))?,
            user: None,
            credentials: &[],
        };
        Ok(Self {
            kind: Kind::Own,
            file: config.join("systemd/user").join(UNIT),
            text: systemd_unit::text(&place).map_err(CommandError::usage)?,
            fleet_home: app.layout.root.clone(),
            user: me().map(|user| user.name).unwrap_or_default(),
        })
    }

    fn of_machine(
        app: &App,
        which: &Which,
        user: &str,
        program: &str,
        root: &Path,
    ) -> Result<Self, CommandError> {
        let found = User::from_name(user).ok().flatten().ok_or_else(|| {
            CommandError::usage(format!("there is no user {user:?} on this machine"))
                .hint("name the one whose agents' CLIs are signed in")
        })?;
        if found.uid.is_root() {
            return Err(CommandError::usage("agents never run as root")
                .hint("name another user: --system USER"));
        }
        let own = utf8(&found.dir)?;
        let path = format!("{own}/.local/bin:{own}/.cargo/bin:{PATH}");
        let home = named_home(app)?;
        let place = systemd_unit::Place {
            program,
            home,
            path: &path,
            user: Some(user),
            credentials: &which.credential,
        };
        let fleet_home = home.map_or_else(|| found.dir.join(".carson"), PathBuf::from);
        Ok(Self {
            kind: Kind::Machine(user.to_owned()),
            file: root.join("etc/systemd/system").join(UNIT),
            text: systemd_unit::text(&place).map_err(CommandError::usage)?,
            fleet_home,
            user: user.to_owned(),
        })
    }

    fn launchd(app: &App, program: &str) -> Result<Self, CommandError> {
        let own = home_of_user(app)?;
        let log = own.join("Library/Logs/carson.log");
        let path = value(app, "PATH").unwrap_or(OsStr::new(PATH));
        let place = launchd_plist::Place {
            program,
            home: named_home(app)?,
            path: utf8(Path::new(path))?,
            log: utf8(&log)?,
        };
        let file = format!("Library/LaunchAgents/{}.plist", launchd_plist::LABEL);
        let uid = nix::unistd::getuid();
        Ok(Self {
            kind: Kind::Launchd {
                domain: format!("gui/{uid}"),
            },
            file: own.join(file),
            text: launchd_plist::text(&place).map_err(CommandError::usage)?,
            fleet_home: app.layout.root.clone(),
            user: me().map(|user| user.name).unwrap_or_default(),
        })
    }

    /// The text as it is written.
    pub fn marked(&self) -> String {
        match self.kind {
            Kind::Launchd { .. } => marked(&self.text, Comment::Xml),
            Kind::Own | Kind::Machine(_) => marked(&self.text, Comment::Hash),
        }
    }

    /// What it is called.
    pub fn name(&self) -> &'static str {
        match self.kind {
            Kind::Launchd { .. } => launchd_plist::LABEL,
            Kind::Own | Kind::Machine(_) => UNIT,
        }
    }

    /// Whether it runs while its user is not signed in.
    pub fn lingers(&self, root: &Path) -> bool {
        match self.kind {
            Kind::Own => root
                .join("var/lib/systemd/linger")
                .join(&self.user)
                .exists(),
            Kind::Machine(_) => true,
            Kind::Launchd { .. } => false,
        }
    }
}

fn value<'a>(app: &'a App, name: &str) -> Option<&'a OsStr> {
    let found = app.environ().iter().find(|(known, _)| known == name);
    found
        .map(|(_, value)| value.as_os_str())
        .filter(|value| !value.is_empty())
}

fn me() -> Option<User> {
    User::from_uid(nix::unistd::getuid()).ok().flatten()
}

/// The home, where the daemon would not find it by itself.
fn named_home(app: &App) -> Result<Option<&str>, CommandError> {
    match app.is_usual_home() {
        true => Ok(None),
        false => utf8(&app.layout.root).map(Some),
    }
}

fn home_of_user(app: &App) -> Result<&Path, CommandError> {
    app.user_home().ok_or_else(|| {
        CommandError::usage("there is no home directory").hint("set HOME, and try again")
    })
}

fn utf8(path: &Path) -> Result<&str, CommandError> {
    path.to_str().ok_or_else(|| {
        CommandError::usage(format!(
            "{} is no text: it cannot stand in a unit",
            path.display()
        ))
        .hint("rename it")
    })
}

/// This program by the path that an upgrade keeps: as it is found on PATH, where that is the same one.
fn program(app: &App) -> PathBuf {
    let me = std::env::current_exe().unwrap_or_else(|_| "carson".into());
    let real = |path: &Path| path.canonicalize().ok();
    let path = value(app, "PATH").unwrap_or_default();
    let mut found = std::env::split_paths(path)
        .filter(|dir| dir.is_absolute())
        .map(|dir| dir.join("carson"));
    let same = found.find(|one| real(one).is_some() && real(one) == real(&me));
    same.unwrap_or(me)
}
