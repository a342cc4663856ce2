//! What three hosts of one fleet share, and a home for each: one database, one remote, one folder of the forge.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::super::super::{output, tempdir};

/// The hosts. Whoever asks and makes issues has a home of its own, without a daemon.
pub const HOSTS: [&str; 3] = ["a", "b", "c"];
const DESK: &str = "desk";

/// Seconds between the slots of a role; each divides a minute. These find work in a queue that they share,
const WORKERS: [u32; 12] = [5, 5, 6, 6, 10, 10, 10, 12, 12, 15, 15, 20];
/// and these never find any.
const IDLERS: [u32; 8] = [2, 4, 5, 6, 10, 12, 15, 20];

/// Changes, commits, changes again, waits, commits that too. What it has written it says in its journal, which lies
/// outside of every workspace: its content has to be somewhere at the end.
const AGENT: &str = r#"#!/bin/bash
cat >/dev/null
journal=JOURNAL/$CARSON_FIRING
wrote() {
    printf '%s of %s\n' "$1" "$CARSON_FIRING" > "$1-$CARSON_FIRING.txt"
    echo "$(git hash-object --no-filters "$1-$CARSON_FIRING.txt") $1" >> "$journal"
}
wrote first; git add .; git commit --quiet -m "Work on $CARSON_WORK"
sleep $((2 + CARSON_WORK % 6)).5
wrote second
sleep $((1 + CARSON_WORK % 4)).5
git add .; git commit --quiet -m "More work on $CARSON_WORK"
echo done >> "$journal"
echo '[OK] done'
"#;

/// A role as the books need it.
pub struct Role {
    pub name: String,
    /// Seconds between its slots.
    pub every: u32,
}

/// All of it in a temporary directory; it goes with that unless somebody wants to look.
pub struct Site {
    root: PathBuf,
    carson: PathBuf,
    pub roles: Vec<Role>,
    pub keep: bool,
}

impl Site {
    pub fn new(carson: &Path, database: &str) -> anyhow::Result<Self> {
        let site = Self {
            root: tempdir("carson-bench-hosts")?,
            carson: carson.to_owned(),
            roles: roles(),
            keep: false,
        };
        for dir in [site.journal(), site.root.join("forge")] {
            fs::create_dir_all(dir)?;
        }
        site.begin_the_repository()?;
        let agent = site.root.join("agent");
        let journal = site.journal().display().to_string();
        fs::write(&agent, AGENT.replace("JOURNAL", &journal))?;
        fs::set_permissions(&agent, fs::Permissions::from_mode(0o755))?;
        for host in HOSTS.into_iter().chain([DESK]) {
            site.make_home(host, database)?;
        }
        Ok(site)
    }

    /// Where everything of a host is, and nothing of another.
    pub fn host(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    pub fn home(&self, name: &str) -> PathBuf {
        self.host(name).join("home")
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    /// What sessions say they have written, a file for each firing.
    pub fn journal(&self) -> PathBuf {
        self.root.join("journal")
    }

    pub fn remote(&self) -> PathBuf {
        self.root.join("remote.git")
    }

    /// `carson ARGS` on a host.
    pub fn command(&self, host: &str, args: &[&str]) -> Command {
        let mut command = Command::new(&self.carson);
        command
            .args(args)
            .env("CARSON_HOME", self.home(host))
            .stdin(Stdio::null());
        command
    }

    /// The same at the desk, where nobody is killed.
    pub fn ask(&self, args: &[&str]) -> Command {
        self.command(DESK, args)
    }

    /// The command that makes a piece of work.
    pub fn issue(&self) -> Command {
        let issue = [
            "issue", "create", "Work", "--body", "To do.", "--label", "queue",
        ];
        self.ask(&issue)
    }

    fn begin_the_repository(&self) -> anyhow::Result<()> {
        let seed = self.root.join("seed");
        let git = || {
            let mut git = Command::new("git");
            git.args(["-c", "user.name=bench", "-c", "user.email=bench@localhost"]);
            git.current_dir(&self.root);
            git
        };
        let init = ["init", "--quiet", "--initial-branch=main"];
        output(git().args(init).arg("--bare").arg(self.remote()))?;
        output(git().args(init).arg(&seed))?;
        fs::write(seed.join("README.md"), "# Sample\n")?;
        let at = |args: &[&str]| {
            let mut git = git();
            git.arg("-C").arg(&seed).args(args);
            git
        };
        output(&mut at(&["add", "--all"]))?;
        output(&mut at(&["commit", "--quiet", "--message=All"]))?;
        output(at(&["push", "--quiet"]).arg(self.remote()).arg("main"))?;
        Ok(())
    }

    fn make_home(&self, host: &str, database: &str) -> anyhow::Result<()> {
        let home = self.home(host);
        fs::create_dir_all(home.join("roles"))?;
        symlink(self.root.join("forge"), home.join("forge"))?;
        let settings = format!(
            "[fleet]\nname = \"bench\"\nhost = {host:?}\nzone = \"UTC\"\nmax_firings = 16\n\
             [database]\nurl = {database:?}\n\
             [repos.sample]\nurl = {:?}\nbase = \"main\"\n\
             [accounts.sh]\nengine = \"command\"\nbinary = {:?}\n",
            self.remote(),
            self.root.join("agent")
        );
        fs::write(home.join("carson.toml"), settings)?;
        for Role { name, every } in &self.roles {
            let label = match name.starts_with("worker") {
                true => "queue",
                false => "nothing",
            };
            let dir = home.join("roles").join(name);
            fs::create_dir_all(&dir)?;
            let role = format!(
                "title = {name:?}\nrepos = [\"sample\"]\ncadence = [\"*/{every} * * * * *\"]\n\
                 engines = [\"sh\"]\nstages = [\"execute\"]\n\
                 work = {{ from = \"issues\", label = {label:?} }}\n\
                 paths = {{ write = [{:?}] }}\n\
                 [limits]\nwall_clock = \"5m\"\nfail_streak = 100000\nmax_firings_per_day = 100000\n\
                 max_open_prs = 100000\nmax_work_attempts = 1000\n",
                self.journal()
            );
            fs::write(dir.join("role.toml"), role)?;
        }
        Ok(())
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        if !self.keep {
            let _ = fs::remove_dir_all(&self.root);
        }
    }
}

fn roles() -> Vec<Role> {
    let named = |kind: &'static str, every: &'static [u32]| {
        every.iter().enumerate().map(move |(number, &every)| Role {
            name: format!("{kind}-{number:02}"),
            every,
        })
    };
    named("worker", &WORKERS)
        .chain(named("idler", &IDLERS))
        .collect()
}
