//! Which accounts a role uses, written into its file. Nothing is written that [`load`](crate::load) would
//! refuse, and the file is replaced whole.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process;

use carson_core::{RoleName, Stage};
use thiserror::Error;
use toml_edit::DocumentMut;

use crate::finding::{Finding, Findings};
use crate::layout::Layout;
use crate::load::{Loaded, load_with};
use crate::options::LoadOptions;
use crate::route_text::{Wanted, written};

/// What was written.
#[derive(Debug)]
pub struct Written {
    /// The role's file.
    pub file: PathBuf,
    /// Whether it is another one now.
    pub changed: bool,
    /// The settings as they are now.
    pub loaded: Loaded,
}

/// Why nothing was written.
#[derive(Debug, Error)]
pub enum RouteError {
    /// The role has no file.
    #[error("{} cannot be read", .file.display())]
    Unreadable {
        /// The file.
        file: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The settings would not be taken, or are not now.
    #[error("the settings would not be taken: nothing was written\n{0}")]
    Refused(Findings),
    /// It holds something else where sections should be.
    #[error("{} holds something else in the place of [routes.STAGE]", .0.display())]
    NoSection(PathBuf),
    /// Somebody wrote it at the same time.
    #[error("{} was changed meanwhile: nothing was written", .0.display())]
    Changed(PathBuf),
    /// It cannot be replaced.
    #[error("{} cannot be written", .file.display())]
    Unwritable {
        /// The file.
        file: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

impl RouteError {
    /// What the operator can do.
    #[must_use]
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Unreadable { .. } => "`carson config check` says what is wrong with it",
            Self::Refused(_) => "name other accounts, or mend what is found first",
            Self::NoSection(_) => "write [routes.STAGE] as docs/CONFIG.md says",
            Self::Changed(_) => "look at it, then try again",
            Self::Unwritable { .. } => "check who may write the role's directory",
        }
    }
}

/// Writes what a role, or one of its stages, uses.
///
/// # Errors
/// When it would be refused, or cannot be written; the file is as it was then.
pub fn write_route(
    options: &LoadOptions,
    role: &RoleName,
    stage: Option<Stage>,
    wanted: &Wanted,
) -> Result<Written, RouteError> {
    let file = Layout::at(&options.home).role(role).join("role.toml");
    let unreadable = |source| RouteError::Unreadable {
        file: file.clone(),
        source,
    };
    let before = fs::read_to_string(&file).map_err(unreadable)?;
    let mut document: DocumentMut = before.parse().map_err(|error: toml_edit::TomlError| {
        let problem = format!("this is not TOML: {}", error.message().trim());
        RouteError::Refused(Findings(vec![Finding::new(&file, None, "", problem)]))
    })?;
    let stage = stage.map(Stage::as_str);
    written(&mut document, stage, wanted).ok_or_else(|| RouteError::NoSection(file.clone()))?;
    let text = document.to_string();
    let instead = Some((file.clone(), text.clone()));
    let loaded = load_with(options, instead).map_err(RouteError::Refused)?;
    let changed = text != before;
    if changed {
        replace(&file, &before, &text)?;
    }
    Ok(Written {
        file,
        changed,
        loaded,
    })
}

/// Puts the text in the place of the file's, in one step. Who keeps the file elsewhere, behind a link, goes on
/// doing so.
fn replace(file: &Path, before: &str, text: &str) -> Result<(), RouteError> {
    let unwritable = |source| RouteError::Unwritable {
        file: file.to_owned(),
        source,
    };
    let real = file.canonicalize().map_err(unwritable)?;
    let new = real.with_file_name(format!(".role.toml.{}", process::id()));
    let done =
        beside(&real, &new, text)
            .map_err(unwritable)
            .and_then(|()| match fs::read_to_string(&real) {
                Ok(now) if now == before => fs::rename(&new, &real).map_err(unwritable),
                Ok(_) => Err(RouteError::Changed(file.to_owned())),
                Err(source) => Err(unwritable(source)),
            });
    if done.is_err() {
        let _ = fs::remove_file(&new);
    }
    done
}

/// A new file with the mode and the owner of another one.
fn beside(like: &Path, new: &Path, text: &str) -> io::Result<()> {
    let meta = fs::metadata(like)?;
    let _ = fs::remove_file(new);
    let mut options = File::options();
    let mut file = options.create_new(true).write(true).mode(0o600).open(new)?;
    file.write_all(text.as_bytes())?;
    file.set_permissions(fs::Permissions::from_mode(meta.mode() & 0o7777))?;
    if file.metadata()?.uid() != meta.uid() {
        // Root mends a file that is another's.
        chown(new, Some(meta.uid()), Some(meta.gid()))?;
    }
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    const SETTINGS: &str = "[accounts.claude]\nengine = \"claude\"\n[accounts.codex]\nengine = \"codex\"\n\
         [repos.widget]\nurl = \"/nowhere\"\nforge = \"local\"\n";
    const ROLE: &str = "repos = [\"widget\"] # one\nengines = [\"claude\"]\n";

    fn home() -> (tempfile::TempDir, LoadOptions) {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("roles/hand")).unwrap();
        fs::write(dir.path().join("carson.toml"), SETTINGS).unwrap();
        fs::write(dir.path().join("roles/hand/role.toml"), ROLE).unwrap();
        let options = LoadOptions {
            home: dir.path().to_owned(),
            files: None,
            env: Vec::new(),
            user_home: None,
            machine: "box".into(),
        };
        (dir, options)
    }

    fn engines(names: &[&str]) -> Wanted {
        Wanted::Route {
            engines: names.iter().map(ToString::to_string).collect(),
            model: None,
            effort: None,
        }
    }

    fn hand() -> RoleName {
        "hand".parse().unwrap()
    }

    #[test]
    fn what_is_written_is_in_force_and_what_would_be_refused_is_not_written() {
        let (dir, options) = home();
        let file = dir.path().join("roles/hand/role.toml");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
        let done =
            write_route(&options, &hand(), Some(Stage::Review), &engines(&["codex"])).unwrap();
        assert!(done.changed);
        let route = &done.loaded.fleet.roles[&hand()].routes[&Stage::Review];
        assert_eq!(route.engines[0].as_str(), "codex");
        let text = fs::read_to_string(&file).unwrap();
        assert!(
            text.starts_with(ROLE) && text.contains("[routes.review]"),
            "{text}"
        );
        assert_eq!(file.metadata().unwrap().mode() & 0o777, 0o640);
        let same =
            write_route(&options, &hand(), Some(Stage::Review), &engines(&["codex"])).unwrap();
        assert!(!same.changed);

        for (stage, wanted, says) in [
            (None, engines(&["clade"]), "did you mean \"claude\"?"),
            (None, engines(&["claude", "claude"]), "named twice"),
            (
                Some(Stage::Settle),
                engines(&["codex"]),
                "no stage with sessions",
            ),
        ] {
            let refused = write_route(&options, &hand(), stage, &wanted).unwrap_err();
            assert!(refused.to_string().contains(says), "{refused}");
        }
        assert_eq!(fs::read_to_string(&file).unwrap(), text);
        let left = fs::read_dir(dir.path().join("roles/hand")).unwrap().count();
        assert_eq!(left, 1, "nothing lies beside it");
    }

    #[test]
    fn a_file_that_is_kept_elsewhere_stays_there() {
        let (dir, options) = home();
        let (file, kept) = (
            dir.path().join("roles/hand/role.toml"),
            dir.path().join("kept.toml"),
        );
        fs::rename(&file, &kept).unwrap();
        symlink(&kept, &file).unwrap();
        write_route(&options, &hand(), None, &engines(&["codex"])).unwrap();
        assert!(file.is_symlink());
        assert!(fs::read_to_string(&kept).unwrap().contains("[\"codex\"]"));
    }

    #[test]
    fn settings_that_are_not_right_are_said_first() {
        let (dir, options) = home();
        let broken = format!("{SETTINGS}nonsense = 1\n");
        fs::write(dir.path().join("carson.toml"), broken).unwrap();
        let refused = write_route(&options, &hand(), None, &engines(&["codex"])).unwrap_err();
        assert!(refused.to_string().contains("nonsense"), "{refused}");
        fs::write(dir.path().join("roles/hand/role.toml"), "engines = [").unwrap();
        let refused = write_route(&options, &hand(), None, &engines(&["codex"])).unwrap_err();
        assert!(refused.to_string().contains("not TOML"), "{refused}");
    }

    #[test]
    fn who_writes_at_the_same_time_is_not_overwritten() {
        let (dir, _) = home();
        let file = dir.path().join("roles/hand/role.toml");
        let late = replace(&file, "what was read", "what is written").unwrap_err();
        assert!(matches!(late, RouteError::Changed(_)), "{late}");
        assert_eq!(fs::read_to_string(&file).unwrap(), ROLE);
    }
}
