//! `cargo xtask supply-chain`: what the build is made of, held by cargo-deny against `deny.toml`, and against what is
//! known to be wrong with each crate.
//!
//! What is known comes from RustSec's database. A run must say the same on the same commit, on a machine without a
//! network too: so it takes the database as it was on the day that lies in `supply-chain/`, and only who asks for the
//! newest fetches that.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context, bail, ensure};

use crate::cargo_tools::CargoTool;
use crate::debian;
use crate::interrupt::{self, Interrupt};
use crate::workspace::{Cache, output, root};

const DENY: CargoTool = CargoTool {
    name: "cargo-deny",
    version: "0.20.2",
    asks: &["--version"],
    // No second TLS, as in the product.
    args: &["--no-default-features"],
};

/// The database of a day, below the checkout, and that day.
const PACKED: &str = "supply-chain/advisories.tar.gz";
const DAY: &str = "supply-chain/advisories.day";
/// What cargo-deny, which wants an address, is told in the place of a directory.
const ADDRESS: &str = "https://advisories.localhost/advisory-db";
/// What of the database is needed.
const PARTS: [&str; 4] = ["crates", "support.toml", "LICENSE.txt", "LICENSES"];

/// Checks; with `--newest` against the newest database, and with `--renew DIR` after packing the checkout of it in DIR.
///
/// # Errors
/// When cargo-deny or a database cannot be had.
pub fn run(interrupt: &Interrupt, args: &[&str]) -> anyhow::Result<ExitCode> {
    let newest = match args {
        [] => false,
        ["--newest"] => true,
        ["--renew", dir] => {
            renew(Path::new(dir))?;
            false
        }
        _ => bail!("supply-chain knows --newest and --renew DIR, and not {args:?}"),
    };
    debian::ensure(interrupt)?;
    let deny = DENY.ensure(interrupt, &Cache::open()?)?;
    let scratch = root().join("target/supply-chain");
    let mut check = Command::new(&deny);
    check.arg("--locked");
    if !newest {
        let database = unpacked(&scratch)?;
        let day = fs::read_to_string(root().join(DAY))?;
        println!("xtask: advisories as of {}", day.trim());
        check.arg("--config").arg(with_database(&scratch)?);
        // What it takes for an address is that repository.
        let instead = format!("url.file://{}.insteadOf", database.display());
        check
            .env("GIT_CONFIG_COUNT", "1")
            .env("GIT_CONFIG_KEY_0", instead)
            .env("GIT_CONFIG_VALUE_0", ADDRESS);
    }
    check.arg("check");
    let status = interrupt.run(check.current_dir(root()))?;
    Ok(interrupt::exit_code(status))
}

/// The settings of `deny.toml`, with another database; the file.
fn with_database(scratch: &Path) -> anyhow::Result<PathBuf> {
    let settings = fs::read_to_string(root().join("deny.toml")).context("deny.toml")?;
    let named = format!(
        "[advisories]\ndb-urls = [\"{ADDRESS}\"]\ndb-path = \"{}\"\n",
        scratch.join("fetched").display()
    );
    ensure!(
        settings.contains("[advisories]\n"),
        "deny.toml has no [advisories]"
    );
    let file = scratch.join("deny.toml");
    fs::write(&file, settings.replacen("[advisories]\n", &named, 1))?;
    Ok(file)
}

/// Unpacks the database into a repository, which is what cargo-deny reads; the directory.
fn unpacked(scratch: &Path) -> anyhow::Result<PathBuf> {
    if scratch.exists() {
        fs::remove_dir_all(scratch)?;
    }
    let database = scratch.join("advisory-db");
    fs::create_dir_all(&database)?;
    let said =
        |mut command: Command| output(&mut command).with_context(|| format!("{command:?} failed"));
    let mut tar = Command::new("tar");
    tar.arg("-xzf")
        .arg(root().join(PACKED))
        .arg("-C")
        .arg(&database);
    said(tar)?;
    for args in [
        &["init", "--quiet", "--initial-branch=main"][..],
        &["add", "--all"],
        &["commit", "--quiet", "--message=Advisories"],
    ] {
        let mut git = Command::new("git");
        git.args([
            "-c",
            "user.name=carson",
            "-c",
            "user.email=carson@localhost",
        ]);
        said({
            git.args(args).current_dir(&database);
            git
        })?;
    }
    Ok(database)
}

/// Packs a checkout of the database, with its day.
fn renew(checkout: &Path) -> anyhow::Result<()> {
    let mut git = Command::new("git");
    git.arg("-C")
        .arg(checkout)
        .args(["log", "-1", "--format=%cs"]);
    let day = output(&mut git).context("git does not say of which day the database is")?;
    let mut tar = Command::new("tar");
    tar.args(["--sort=name", "--owner=0", "--group=0", "--numeric-owner"])
        .args(["--mtime=@0", "-czf"])
        .arg(root().join(PACKED))
        .args(PARTS)
        .current_dir(checkout);
    output(&mut tar).context("the database cannot be packed")?;
    fs::write(root().join(DAY), day + "\n")?;
    Ok(())
}
