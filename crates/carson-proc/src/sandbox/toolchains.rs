//! What the programs on a `PATH` need to run: their libraries, and the toolchains in a home. The home itself
//! is not among it.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// What stands beside a `bin` and belongs to its programs.
const BESIDE_BIN: [&str; 4] = ["lib", "lib64", "libexec", "include"];

/// Homes of toolchains: the variable, and where it usually is in a home.
const TOOLCHAIN_HOMES: [(&str, &str); 2] = [("CARGO_HOME", ".cargo"), ("RUSTUP_HOME", ".rustup")];

/// Where the programs of a user live, and what is secret there.
#[derive(Clone, Debug, Default)]
pub struct Toolchains {
    /// To be added to `read` of a profile.
    pub read: Vec<PathBuf>,
    /// To be added to `hide`.
    pub hide: Vec<PathBuf>,
    /// The homes of toolchains that there are, by their variables.
    pub homes: Vec<(&'static str, PathBuf)>,
}

impl Toolchains {
    /// Those of a user's home and of a `PATH`, in an environment.
    #[must_use]
    pub fn of(
        user: Option<&Path>,
        path: &OsStr,
        variable: impl Fn(&str) -> Option<OsString>,
    ) -> Self {
        let home = |(name, usual): (&'static str, &str)| {
            let home = variable(name)
                .map(PathBuf::from)
                .or_else(|| Some(user?.join(usual)))?;
            home.is_dir().then_some((name, home))
        };
        let homes: Vec<_> = TOOLCHAIN_HOMES.into_iter().filter_map(home).collect();
        let secrets = homes
            .iter()
            .flat_map(|(_, home)| ["credentials.toml", "credentials"].map(|name| home.join(name)));
        Self {
            read: read(user, path, &homes),
            hide: secrets.collect(),
            homes,
        }
    }
}

fn read(user: Option<&Path>, path: &OsStr, homes: &[(&str, PathBuf)]) -> Vec<PathBuf> {
    let dirs = std::env::split_paths(path).filter(|dir| dir.is_absolute());
    let mut places: Vec<PathBuf> = dirs.flat_map(|dir| programs(user, dir)).collect();
    for (variable, home) in homes {
        let parts = match *variable {
            "CARGO_HOME" => &["bin", "registry", "git", "config.toml", "config"][..],
            _ => &["."][..],
        };
        places.extend(parts.iter().map(|part| home.join(part)));
    }
    places.retain(|place| place.exists());
    let real = places.iter().filter_map(|place| place.canonicalize().ok());
    let real: Vec<PathBuf> = real.collect();
    places.extend(real);
    places.sort();
    places.dedup();
    places
}

/// What is read for the programs of one directory: it, and their libraries. A whole home is not.
fn programs(user: Option<&Path>, dir: PathBuf) -> Vec<PathBuf> {
    if dir.parent().is_none() || user.is_some_and(|user| user.starts_with(&dir)) {
        return Vec::new();
    }
    let around = dir.parent().filter(|_| dir.ends_with("bin"));
    let around = around.filter(|around| Some(*around) != user);
    let beside = around
        .into_iter()
        .flat_map(|around| BESIDE_BIN.map(|name| around.join(name)));
    let mut places: Vec<PathBuf> = beside.collect();
    places.push(dir);
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_read_with_their_libraries_and_a_home_is_not() {
        let user = Path::new("/home/me");
        let read = |dir: &str, place: &str| {
            let places = programs(Some(user), PathBuf::from(dir));
            places.contains(&PathBuf::from(place))
        };
        for dir in [
            "/opt/node/bin",
            "/home/me/.nvm/v20/bin",
            "/home/me/bin",
            "/srv/tools",
        ] {
            assert!(read(dir, dir), "{dir}");
        }
        assert!(read("/home/me/.nvm/v20/bin", "/home/me/.nvm/v20/lib"));
        assert!(!read("/home/me/.local/bin", "/home/me/.local/share"));
        assert!(!read("/home/me/bin", "/home/me/lib"));
        for none in ["/home/me", "/home", "/"] {
            assert!(!read(none, none), "{none}");
        }
    }
}
