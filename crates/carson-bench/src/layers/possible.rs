//! Whether this machine can put layers together, for this user, on the disk of the home.

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use carson_proc::inspector::{Bounds, Desk, Question};
use carson_proc::sandbox::{Marks, Overlay, Upper, rights};
use serde::{Deserialize, Serialize};

use crate::private_dir::private_dir;
use carson_home::Home;

/// Whether it can.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Possible {
    /// In this form.
    Yes(Marks),
    /// Why not.
    No(String),
}

impl Possible {
    fn parse(text: &str) -> Option<Self> {
        Some(match text.split_once(' ')? {
            ("user", _) => Self::Yes(Marks::User),
            ("trusted", _) => Self::Yes(Marks::Trusted),
            (_, why) => Self::No(why.to_owned()),
        })
    }
}

impl std::fmt::Display for Possible {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Yes(Marks::User) => f.write_str("user marks"),
            Self::Yes(Marks::Trusted) => f.write_str("trusted marks"),
            Self::No(why) => write!(f, "no {why}"),
        }
    }
}

/// What was found since this machine started, for this user; else it is tried.
pub async fn possible(home: &Home) -> Possible {
    if let Some(known) = known(home).await {
        return known;
    }
    let found = tried(home).await;
    let (said, now) = (found.to_string(), home.clock.now());
    let (store, host) = (&home.store, &home.fleet.host);
    let kept = store.keep_measured(host, &what(), &said, now).await;
    if let Err(error) = kept {
        tracing::warn!(%error, "whether there are layers could not be kept");
    }
    found
}

/// The same, and `None` where it was not tried yet.
pub async fn known(home: &Home) -> Option<Possible> {
    let known = home.store.measured(&home.fleet.host, &what()).await;
    Possible::parse(&known.ok()??.0)
}

fn what() -> String {
    format!("layers {} {}", boot(), rights())
}

/// Whether files can be cloned here, from where the layers lie to where the benches do: what was found
/// since this machine started; else it is tried.
///
/// # Errors
/// Why not.
pub async fn clones(home: &Home) -> Result<(), String> {
    let (layers, benches) = (home.fleet.layout.layers(), home.fleet.layout.benches());
    let mut disks = String::new();
    for dir in [&layers, &benches] {
        if !dir.is_dir() {
            private_dir(dir).map_err(|error| format!("{}: {error}", dir.display()))?;
        }
        let found = dir.metadata().map(|found| found.dev());
        disks.push_str(&format!(" {}", found.unwrap_or_default()));
    }
    let (store, host) = (&home.store, &home.fleet.host);
    let what = format!("clones {} {}{disks}", nix::unistd::geteuid(), boot());
    if let Ok(Some((known, _))) = store.measured(host, &what).await {
        return match known.strip_prefix("no ") {
            None => Ok(()),
            Some(why) => Err(why.to_owned()),
        };
    }
    let found = carson_git::can_clone(&layers, &benches);
    let found = found.map_err(|error| match error.kind() {
        ErrorKind::Unsupported => "its disk clones no files".to_owned(),
        ErrorKind::CrossesDevices => "layers and benches lie on two disks".to_owned(),
        _ => format!("no file could be cloned: {error}"),
    });
    let said = found
        .as_ref()
        .map_or_else(|why| format!("no {why}"), |()| "yes".to_owned());
    let kept = store.keep_measured(host, &what, &said, home.clock.now());
    if let Err(error) = kept.await {
        tracing::warn!(%error, "whether files can be cloned could not be kept");
    }
    found
}

fn boot() -> String {
    carson_proc::boot_id().unwrap_or_default()
}

/// Root's form lets directories be renamed in one step; everybody has the other.
async fn tried(home: &Home) -> Possible {
    if !cfg!(target_os = "linux") {
        return Possible::No("this system has no layers".to_owned());
    }
    let mut why = String::new();
    let forms = [Marks::Trusted, Marks::User];
    let skip = usize::from(!nix::unistd::geteuid().is_root());
    for marks in forms.into_iter().skip(skip) {
        match try_form(home, marks).await {
            Ok(()) => return Possible::Yes(marks),
            Err(error) => why = error.replace('\n', " "),
        }
    }
    Possible::No(why)
}

async fn try_form(home: &Home, marks: Marks) -> Result<(), String> {
    let name = format!("try.{}.half", std::process::id());
    let dir = home.fleet.layout.layers().join("try").join(name);
    let said = |error: std::io::Error| format!("{}: {error}", dir.display());
    private_dir(&dir).map_err(said)?;
    let root = dir.canonicalize().map_err(said)?;
    for place in ["at", "lower/dir", "upper", "work"] {
        private_dir(&root.join(place)).map_err(said)?;
    }
    fs::write(root.join("lower/dir/file"), "below").map_err(said)?;
    let at = root.join("at");
    let overlay = Overlay {
        at: at.clone(),
        lower: vec![root.join("lower")],
        upper: Some(Upper {
            dir: root.join("upper"),
            work: root.join("work"),
        }),
        marks,
        renames: true,
    };
    let asked = async {
        for overlay in [overlay.clone(), overlay.read_only()] {
            let desk = Desk {
                own: root.clone(),
                write: vec![at.clone()],
                overlays: vec![overlay.clone()],
                ..Desk::default()
            };
            let question = Try {
                at: at.clone(),
                is_new: overlay.upper.is_some(),
                renames: marks == Marks::Trusted,
            };
            let asked = home.inspector.ask(&question, &desk, &BOUNDS).await;
            asked.map_err(|error| error.to_string())?;
        }
        Ok(())
    };
    let done = asked.await;
    let near = home.fleet.layout.mirrors().join("layers.git");
    let _ = carson_git::remove_tree(&home.inspector, &near, &root).await;
    done
}

const BOUNDS: Bounds = Bounds {
    wall_clock: Duration::from_secs(20),
    memory_mb: 256,
    file_size_mb: 1,
    answer: 1024,
};

/// Tries what a session does in a tree of layers, and whether the next one finds it so.
#[derive(Serialize, Deserialize)]
pub struct Try {
    at: PathBuf,
    is_new: bool,
    renames: bool,
}

impl Question for Try {
    const NAME: &'static str = "try-layers";
    type Answer = ();

    fn answer(self) -> Result<(), String> {
        let said = |error: std::io::Error| error.to_string();
        let (dir, moved) = (self.at.join("dir"), self.at.join("moved"));
        let is_below = |dir: &Path| fs::read(dir.join("file")).is_ok_and(|text| text == b"below");
        if self.is_new {
            if !is_below(&dir) {
                return Err("what is below is not seen".to_owned());
            }
            if self.renames {
                fs::rename(&dir, &moved).map_err(said)?;
            } else {
                fs::remove_file(dir.join("file")).map_err(said)?;
                fs::remove_dir(&dir).map_err(said)?;
            }
            return fs::write(self.at.join("new"), "above").map_err(said);
        }
        let is_right = match self.renames {
            true => is_below(&moved),
            false => !moved.exists(),
        };
        if !is_right || dir.exists() || !self.at.join("new").exists() {
            return Err("what was written is not seen again".to_owned());
        }
        Ok(())
    }
}
