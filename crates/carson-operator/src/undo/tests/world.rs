//! A fleet with a real git remote, and a forge: files, or a GitHub over HTTP.

#![expect(
    clippy::disallowed_methods,
    reason = "tests play the people who push, who have no supervisor"
)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use carson_core::effect::Release;
use carson_core::settle::Settled;
use carson_core::work::WorkKey;
use carson_core::{Effect, FiringId, Outcome, Page};
use carson_forge::{Claim, Claimed, Forge, IN_FLIGHT, NewIssue, PR_OPEN};
use carson_home::Home;
use carson_store::{Ending, Judged, NewFiring};
use chrono::TimeDelta;
use tempfile::TempDir;

use super::super::{Undo, Undone, UndoneFiring};
use super::github::GitHub;
use crate::refusal::Refusal;
use crate::tests::home_with;
use crate::verb::Ask;

pub(super) const READY: &str = "carson:ready";

pub(super) struct World {
    pub dir: TempDir,
    _home: TempDir,
    pub home: Home,
    pub forge: Forge,
    /// The GitHub, where it is one.
    pub github: Option<GitHub>,
}

/// What a firing did.
#[derive(Default)]
pub(super) struct Did {
    pub issue: u64,
    /// Whether it pushed its branch.
    pub pushed: bool,
    pub effects: Vec<Effect>,
}

pub(super) fn git(dir: &Path, args: &[&str]) -> String {
    let done = Command::new("git")
        .args(["-c", "user.name=Ann", "-c", "user.email=ann@example.org"])
        .args(["-c", "init.defaultBranch=main"])
        .args(args)
        .current_dir(dir)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "git {args:?}: {errors}");
    String::from_utf8_lossy(&done.stdout).trim().to_owned()
}

pub(super) fn labels(all: &[&str]) -> Vec<String> {
    all.iter().map(|label| (*label).to_owned()).collect()
}

pub(super) fn branch(issue: u64) -> String {
    format!("carson/hand/issue-{issue}")
}

pub(super) fn open_pull(issue: u64) -> Effect {
    Effect::OpenPull {
        head: branch(issue),
        base: "main".into(),
        title: Page::from("Work"),
        body: Page::from("Done."),
        draft: false,
        labels: Vec::new(),
    }
}

pub(super) fn release(issue: u64, add: &[&str]) -> Effect {
    let release = Release {
        outcome: "OK".into(),
        note: Page::from("It is done."),
        attempt_counts: false,
        add: labels(add),
        remove: labels(&[IN_FLIGHT]),
    };
    Effect::Release {
        issue,
        release,
        without_pull: None,
    }
}

impl World {
    pub async fn local() -> Self {
        Self::new(None).await
    }

    pub async fn on_github() -> Self {
        Self::new(Some(GitHub::start().await)).await
    }

    async fn new(github: Option<GitHub>) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let (seed, origin) = (dir.path().join("seed"), dir.path().join("origin.git"));
        fs::create_dir(&seed).unwrap();
        git(&seed, &["init", "--quiet"]);
        fs::write(seed.join("README.md"), "widget\n").unwrap();
        git(&seed, &["add", "--all"]);
        git(&seed, &["commit", "--quiet", "-m", "First"]);
        let to = origin.to_str().unwrap();
        git(dir.path(), &["clone", "--quiet", "--bare", "seed", to]);
        git(&seed, &["remote", "add", "origin", to]);
        let mut settings = format!("[repos.widget]\nurl = {to:?}\nbase = \"main\"\n");
        match &github {
            None => settings.push_str("forge = \"local\"\n"),
            Some(github) => {
                let token = dir.path().join("token");
                fs::write(&token, "ghp_test").unwrap();
                private(&token);
                settings.push_str(&format!(
                    "forge = \"github\"\nslug = \"acme/widget\"\n\
                     [github]\napi_base = {:?}\ntoken_file = {:?}\n",
                    github.uri(),
                    token.to_str().unwrap()
                ));
            }
        }
        let (home_dir, home) = home_with(&settings, &[("hand", READY)]).await;
        let repo = &home.fleet.repos[&"widget".parse().unwrap()];
        let forge = home.forge(repo).await.unwrap();
        Self {
            dir,
            _home: home_dir,
            home,
            forge,
            github,
        }
    }

    pub fn seed(&self) -> PathBuf {
        self.dir.path().join("seed")
    }

    pub fn origin(&self) -> PathBuf {
        self.dir.path().join("origin.git")
    }

    /// An issue that people wrote.
    pub async fn issue(&self, title: &str, with: &[&str]) -> u64 {
        let new = NewIssue {
            title: title.to_owned(),
            body: String::new(),
            labels: labels(with),
        };
        match &self.github {
            Some(github) => github.issue("ann", &new),
            None => self.forge.create_issue(&new).await.unwrap().number,
        }
    }

    /// A commit on a branch of the remote, above what it has.
    pub fn push(&self, branch: &str, file: &str) -> String {
        let seed = self.seed();
        git(&seed, &["fetch", "--quiet", "origin"]);
        let there = format!("origin/{branch}");
        let has = git(&seed, &["branch", "--remotes", "--list", &there]);
        let from = if has.is_empty() { "main" } else { &there };
        git(&seed, &["checkout", "--quiet", "--detach", from]);
        fs::write(seed.join(file), format!("{branch}\n")).unwrap();
        git(&seed, &["add", "--all"]);
        git(&seed, &["commit", "--quiet", "-m", file]);
        let to = format!("HEAD:refs/heads/{branch}");
        git(&seed, &["push", "--quiet", "origin", &to]);
        git(&seed, &["rev-parse", "HEAD"])
    }

    pub fn has_branch(&self, branch: &str) -> bool {
        let found = git(&self.origin(), &["branch", "--list", branch]);
        !found.is_empty()
    }

    /// A firing from claim to end, whose effects are carried out as they are after a crash.
    pub async fn fired(&self, did: Did) -> FiringId {
        let id = self.ends(did).await;
        carson_firing::recover::pass(&self.home).await.unwrap();
        let effects = self.home.store.effects(id).await.unwrap();
        for one in &effects {
            let kind = one.effect.kind();
            assert_eq!(
                one.state,
                carson_store::EffectState::Done,
                "{kind}: {one:#?}"
            );
        }
        id
    }

    /// One that still owes all that follows.
    pub async fn ends(&self, did: Did) -> FiringId {
        let store = &self.home.store;
        let now = self.home.clock.now() - TimeDelta::minutes(1);
        let new = NewFiring {
            id: FiringId::new(),
            role: "hand".parse().unwrap(),
            slot: None,
            host: "box".parse().unwrap(),
            account: Some("claude".parse().unwrap()),
            deadline_at: now + TimeDelta::hours(1),
            claimed_at: now,
            missed: 0,
            repo: None,
            work: None,
            probes: None,
        };
        let (id, claimed_at) = (new.id, new.claimed_at);
        store.claim_firing(&new).await.unwrap();
        let (repo, work) = ("widget".parse().unwrap(), WorkKey::Issue(did.issue));
        store
            .as_firing(id, carson_store::Epoch::FIRST)
            .take_work(&repo, work, "Work")
            .await
            .unwrap();
        let claim = Claim {
            firing: id,
            role: new.role,
            host: new.host,
            at: claimed_at,
        };
        let claimed = self.forge.claim(did.issue, READY, &claim).await.unwrap();
        assert_eq!(claimed, Claimed::Won);
        let base = git(&self.origin(), &["rev-parse", "main"]);
        let bench = Path::new("/nowhere");
        store
            .as_firing(id, carson_store::Epoch::FIRST)
            .set_place(&branch(did.issue), &base, bench)
            .await
            .unwrap();
        if did.pushed {
            let sha = self.push(&branch(did.issue), &format!("{}.txt", did.issue));
            store
                .as_firing(id, carson_store::Epoch::FIRST)
                .set_judged(Judged::Pushed, &sha)
                .await
                .unwrap();
        }
        let settled = Settled::new(Outcome::Ok, "done");
        store
            .as_firing(id, carson_store::Epoch::FIRST)
            .plan_effects(&settled, &did.effects)
            .await
            .unwrap();
        let ending = Ending {
            outcome: Outcome::Ok,
            reason: String::new(),
            skip: None,
            at: now + TimeDelta::seconds(1),
            thresholds: None,
            posts: Vec::new(),
        };
        store
            .as_firing(id, carson_store::Epoch::FIRST)
            .end_firing(&ending)
            .await
            .unwrap();
        id
    }

    /// A firing that did its issue: a branch, its pull request, and the end of its claim.
    pub async fn worked(&self, issue: u64) -> FiringId {
        self.fired(Did {
            issue,
            pushed: true,
            effects: vec![open_pull(issue), release(issue, &[PR_OPEN])],
        })
        .await
    }

    pub async fn undo(&self, id: FiringId, yes: bool) -> UndoneFiring {
        let mut all = self.ask(Some(id), None, yes).await.unwrap();
        assert_eq!((all.firings.len(), all.running.len()), (1, 0));
        all.firings.remove(0)
    }

    pub async fn ask(
        &self,
        firing: Option<FiringId>,
        since: Option<&str>,
        yes: bool,
    ) -> Result<Undone, Refusal> {
        let undo = Undo {
            firing: firing.map(|id| id.to_string()),
            since: since.map(str::to_owned),
            yes,
        };
        undo.answer(&self.home).await
    }

    pub async fn labels(&self, number: u64) -> Vec<String> {
        let mut all = self.forge.issue(number).await.unwrap().labels;
        all.sort();
        all
    }

    /// How many comments of ours an issue or a pull request has.
    pub async fn ours(&self, number: u64) -> usize {
        let me = self.forge.me().await.unwrap().to_owned();
        let comments = self.forge.comments(number).await.unwrap();
        comments.iter().filter(|one| one.author == me).count()
    }

    /// Somebody edits our newest comment there.
    pub async fn edit_comment(&self, number: u64) {
        let id = self
            .forge
            .comments(number)
            .await
            .unwrap()
            .last()
            .unwrap()
            .id;
        match &self.github {
            Some(github) => github.edit_comment(number, id),
            None => {
                let dir = self
                    .home
                    .fleet
                    .layout
                    .forge_repo(&"widget".parse().unwrap());
                let file = format!("issues/{number:04}.comments/{id:04}.md");
                let file = dir.join(file);
                let text = fs::read_to_string(&file).unwrap();
                fs::write(&file, format!("{text}\nHow?\n")).unwrap();
            }
        }
    }

    /// Somebody says something about a line of a pull request; what the forge calls that.
    pub fn thread(&self, pull: u64) -> String {
        if let Some(github) = &self.github {
            return github.thread(pull);
        }
        let dir = self
            .home
            .fleet
            .layout
            .forge_repo(&"widget".parse().unwrap());
        let dir = dir.join(format!("pulls/{pull:04}.threads"));
        fs::create_dir_all(dir.join("0001.comments")).unwrap();
        let head = "+++\npath = \"README.md\"\nline = 1\nresolved = false\n+++\n";
        fs::write(dir.join("0001.md"), head).unwrap();
        fs::write(dir.join("0001.comments/0001.md"), "Why?\n").unwrap();
        "1".to_owned()
    }
}

fn private(file: &Path) {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(file, fs::Permissions::from_mode(0o600)).unwrap();
}
