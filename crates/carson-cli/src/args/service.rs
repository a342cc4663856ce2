//! `carson service`

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args as ClapArgs, Subcommand};

/// `carson service`
#[derive(Debug, Subcommand)]
pub enum Service {
    /// Write the unit, enable and start it, and wait until the daemon is ready.
    ///
    /// Firings that run go on: a restart adopts them. A unit that somebody edited stays as it is.
    Install {
        #[command(flatten)]
        which: Which,
        /// Replace a unit that somebody edited, or that Carson did not write; it is kept beside it.
        #[arg(long)]
        force: bool,
        /// Only write the unit.
        #[arg(long)]
        no_start: bool,
    },
    /// Stop the daemon and remove the unit, if it is as Carson wrote it; the home stays.
    Uninstall {
        #[command(flatten)]
        which: Which,
    },
    /// Say whether the unit is there, enabled and running, and which version runs; exit code 1 when none does.
    Status {
        #[command(flatten)]
        which: Which,
    },
    /// Print the unit; nothing is touched.
    Print {
        #[command(flatten)]
        which: Which,
    },
}

/// Whose service.
#[derive(Clone, Debug, ClapArgs)]
pub struct Which {
    /// One of the whole machine that runs as this user, in place of your own; root installs it.
    #[arg(long, value_name = "USER")]
    pub system: Option<String>,
    /// What runs services [default: systemd, on macOS launchd].
    #[arg(long, value_name = "NAME", value_parser = managers(), conflicts_with = "system")]
    pub manager: Option<Manager>,
    /// With --system: a secret's file that the unit is given as a credential (LoadCredential), as NAME:FILE.
    #[arg(long, value_name = "NAME:FILE", requires = "system", value_parser = credential)]
    pub credential: Vec<Credential>,
}

/// What runs services.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manager {
    /// Of Linux.
    Systemd,
    /// Of macOS.
    Launchd,
}

/// A file that the service manager hands to the daemon.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Credential {
    /// What its copy is called.
    pub name: String,
    /// Where it is; absolute.
    pub file: String,
}

impl Manager {
    /// That of this machine.
    pub fn usual() -> Self {
        match cfg!(target_os = "macos") {
            true => Self::Launchd,
            false => Self::Systemd,
        }
    }
}

fn managers() -> impl TypedValueParser<Value = Manager> {
    PossibleValuesParser::new(["systemd", "launchd"]).map(|word| match word.as_str() {
        "launchd" => Manager::Launchd,
        _ => Manager::Systemd,
    })
}

/// As systemd has them: a name is that of a file.
fn credential(text: &str) -> Result<Credential, String> {
    let wrong =
        "write NAME:FILE, with a name of letters, digits, '.', '-' and '_', and an absolute path";
    let (name, file) = text.split_once(':').ok_or(wrong)?;
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b".-_".contains(&byte);
    let is_name = !name.is_empty() && !name.starts_with('.') && name.bytes().all(fits);
    if !is_name || !file.starts_with('/') {
        return Err(wrong.to_owned());
    }
    Ok(Credential {
        name: name.to_owned(),
        file: file.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_credential_is_a_name_and_an_absolute_path() {
        let github = credential("github:/etc/carson/github:token").unwrap();
        assert_eq!(github.name, "github");
        assert_eq!(github.file, "/etc/carson/github:token");
        for wrong in ["github", ":/x", "a/b:/x", ".x:/x", "a b:/x", "a:x", "a:"] {
            assert!(credential(wrong).is_err(), "{wrong}");
        }
    }
}
