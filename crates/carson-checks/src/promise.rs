//! What is known of the checks of a role and its repositories before its sessions have worked.

use std::path::Path;

use carson_config::{Repo, Role};
use carson_core::RepoName;
use carson_core::work::WorkKey;
use carson_home::Home;
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use tracing::warn;

use crate::{Scene, Verdict};

/// How a promise ended on the untouched base of a repository.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Baseline {
    /// The commit.
    pub base: String,
    /// What was run.
    pub run: String,
    /// A name for what lay there beside the commit: see [`beside`].
    #[serde(default)]
    pub beside: String,
    /// How.
    pub ended: BaselineEnd,
    /// The end of what it printed when it did not pass, on one line.
    #[serde(default)]
    pub said: String,
    /// Work whose sessions were paid and left it failing in this very way.
    #[serde(default)]
    pub unmended: Vec<WorkKey>,
}

/// How a promise ended there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum BaselineEnd {
    /// Exit 0.
    Passed,
    /// It failed; the fingerprint of what it printed.
    Failed(String),
    /// It could not be run; what was said.
    Unable(String),
}

impl Baseline {
    fn key(role: &Role, repo: &RepoName) -> String {
        format!("promise {} {repo}", role.name)
    }

    /// What was found last.
    pub async fn known(home: &Home, role: &Role, repo: &RepoName) -> Option<Self> {
        let known = Self::known_at(home, role, repo).await?;
        Some(known.0)
    }

    /// The same, and when.
    pub async fn known_at(
        home: &Home,
        role: &Role,
        repo: &RepoName,
    ) -> Option<(Self, DateTime<Utc>)> {
        let key = Self::key(role, repo);
        let known = home.store.measured(&home.fleet.host, &key).await;
        let (text, at) = known.ok()??;
        Some((serde_json::from_str(&text).ok()?, at))
    }

    /// Keeps it for the firings after this one. One that cannot be kept is found again.
    pub async fn keep(&self, home: &Home, role: &Role, repo: &RepoName) {
        let text = serde_json::to_string(self).unwrap_or_default();
        let (key, now) = (Self::key(role, repo), home.clock.now());
        let kept = home.store.keep_measured(&home.fleet.host, &key, &text, now);
        if let Err(error) = kept.await {
            warn!(%error, "how the check ended on the base could not be kept");
        }
    }

    /// Whether it was this that was run, on what is beside the commit now: who mends the setup or an included file
    /// waits for no other commit.
    #[must_use]
    pub fn is_of(&self, run: &str, repo: &Repo) -> bool {
        self.run == run && self.beside == beside(repo)
    }

    /// Whether sessions on this work would be paid once more for what they could not mend.
    #[must_use]
    pub fn is_unmended(&self, work: WorkKey) -> bool {
        matches!(self.ended, BaselineEnd::Failed(_)) && self.unmended.contains(&work)
    }
}

/// A name for what lies in a workspace beside the commit, by the settings: lines of the setup, toolchains, and included
/// files as they are now; the lines themselves are nobody else's to keep. Empty without any.
#[must_use]
pub fn beside(repo: &Repo) -> String {
    let changed_at = |path: &Path| path.metadata().and_then(|found| found.modified()).ok();
    let mut all: Vec<String> = repo.setup.lines.clone();
    all.extend(repo.setup.toolchains.iter().map(|one| format!("{one:?}")));
    all.extend(repo.include.iter().map(|one| {
        let (from, to) = (one.from.display(), one.to.display());
        format!("{from} {to} {:?}", changed_at(&one.from))
    }));
    let name = || carson_git::name_of(all.join("\n").as_bytes());
    match all.is_empty() {
        true => String::new(),
        false => name().map_or_else(String::new, |name| name.to_string()),
    }
}

/// What somebody can do about a check that fails before any work.
pub const FAILS: &str = "mend it in the repository, or what it needs (setup or include of the repository), or the line itself (promise.run of the \
     role, check of the repository); where that is what its issues are about, nothing is wrong";

/// That it fails there, and how.
#[must_use]
pub fn fails_on_base(repo: &RepoName, said: &str) -> String {
    let said = match said {
        "" => String::new(),
        said => format!(": {said}"),
    };
    format!("the check fails on the untouched base of {repo}, before any work{said}")
}

/// Whether it could be run when it was last.
pub(crate) async fn runs(scene: &Scene<'_>, role: &Role) -> Option<Verdict> {
    let repos = role.repos.iter();
    let repos = repos.filter_map(|name| scene.home.fleet.repos.get(name));
    let checked: Vec<(&Repo, String)> = repos
        .filter_map(|repo| Some((repo, role.checks_line(repo)?)))
        .collect();
    if checked.is_empty() || scene.database.is_some() {
        return None;
    }
    let (mut fails, mut not_run) = (None, Vec::new());
    for (repo, run) in checked {
        let known = Baseline::known(scene.home, role, &repo.name).await;
        let known = known.filter(|known| known.is_of(&run, repo));
        let Some(known) = known else {
            not_run.push(repo.name.to_string());
            continue;
        };
        let repo = &repo.name;
        match known.ended {
            BaselineEnd::Unable(why) => {
                return Some(Verdict::error(format!("in {repo}: {why}")));
            }
            BaselineEnd::Failed(_) => {
                let on: String = known.base.chars().take(10).collect();
                let found = fails_on_base(repo, &known.said);
                fails.get_or_insert_with(|| format!("when it was last run, on {on}: {found}"));
            }
            BaselineEnd::Passed => {}
        }
    }
    if let Some(found) = fails {
        return Some(Verdict::warning(found).mend(FAILS));
    }
    Some(Verdict::ok(match not_run.is_empty() {
        true => "it could be run when it was last".to_owned(),
        false => format!("not run yet in {}", not_run.join(", ")),
    }))
}
