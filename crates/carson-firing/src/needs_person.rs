//! What only a person ends: by the stops of now and by what the forges say of now. A firing that ended as
//! BLOCKED tells why; whether it still needs somebody, its issue or pull request says.

use std::collections::{BTreeMap, BTreeSet};

use carson_config::{Repo, RoleKind};
use carson_core::RepoName;
use carson_core::work::WorkKey;
use carson_forge::{Forge, NEEDS_HUMAN, PullState, State};
use carson_home::Home;
use carson_store::{Firing as Row, StoreError};

use crate::effects::waiting_plans;
use crate::forge_text::one_line;
use crate::review_queue::FLEET;
use crate::roles::command::topic;
use crate::standing::Standing;

/// What needs a person, each once.
pub(crate) struct Needs {
    /// For people.
    pub(crate) lines: Vec<String>,
    /// The pull requests among it.
    pub(crate) pulls: BTreeSet<(RepoName, u64)>,
}

impl Needs {
    /// `blocked` are the pieces of work whose newest firing ended so.
    pub(crate) async fn now(home: &Home, blocked: &[&Row]) -> Result<Self, StoreError> {
        let mut needs = Self {
            lines: Standing::now(home).await?.for_people(),
            pulls: BTreeSet::new(),
        };
        needs.lines.extend(plans(home).await?);
        for repo in home.fleet.repos.values() {
            let of_repo = blocked.iter().copied();
            let of_repo = of_repo.filter(|row| row.repo.as_ref() == Some(&repo.name));
            needs.of_repo(home, repo, of_repo.collect()).await;
        }
        let known = |name: &RepoName| home.fleet.repos.contains_key(name);
        let nowhere = blocked.iter().copied();
        let nowhere = nowhere.filter(|row| !row.repo.as_ref().is_some_and(known));
        needs.lines.extend(nowhere.map(by_the_row));
        Ok(needs)
    }

    async fn of_repo(&mut self, home: &Home, repo: &Repo, blocked: Vec<&Row>) {
        let Ok(forge) = home.forge(repo).await else {
            self.lines.extend(blocked.into_iter().map(by_the_row));
            return;
        };
        let whys: BTreeMap<u64, String> = blocked
            .iter()
            .filter_map(|row| Some((row.work?.number()?, why(row))))
            .collect();
        let mut seen = BTreeSet::new();
        self.found(home, repo, &forge, &mut seen).await;
        let asked = self.labelled(repo, &forge, &whys, &mut seen).await;
        for row in blocked {
            let stands = match row.work {
                Some(WorkKey::Issue(number)) => {
                    let role = home.fleet.roles.get(&row.role);
                    let is_new = seen.insert(number);
                    is_new
                        && match role.and_then(|role| role.work.label()) {
                            // The label would stand there.
                            Some(_) => !asked,
                            None => is_open(&forge, number).await,
                        }
                }
                Some(WorkKey::Pull(number)) => {
                    let is_new = seen.insert(number);
                    is_new && self.is_open(repo, &forge, number).await
                }
                _ => true,
            };
            if stands {
                self.lines.push(by_the_row(row));
            }
        }
    }

    /// Whether a pull request is open, as far as the forge says; it counts among these then.
    async fn is_open(&mut self, repo: &Repo, forge: &Forge, number: u64) -> bool {
        let state = forge.pull(number).await.map(|pull| pull.state);
        let is_open = state.map_or(true, |state| state == PullState::Open);
        if is_open {
            self.pulls.insert((repo.name.clone(), number));
        }
        is_open
    }

    /// What a command found.
    async fn found(&mut self, home: &Home, repo: &Repo, forge: &Forge, seen: &mut BTreeSet<u64>) {
        let name = &repo.name;
        for role in home.fleet.roles.values() {
            if role.kind != RoleKind::Command || !role.repos.contains(name) {
                continue;
            }
            if let Ok(Some(issue)) = forge.open_issue_about(&topic(&role.name)).await {
                seen.insert(issue.number);
                let title = one_line(&issue.title);
                self.lines
                    .push(format!("{name}#{} {title:?}", issue.number));
            }
        }
    }

    /// What the fleet gave up, and pull requests that it may not mend any more. Whether the forge could say
    /// which issues those are.
    async fn labelled(
        &mut self,
        repo: &Repo,
        forge: &Forge,
        whys: &BTreeMap<u64, String>,
        seen: &mut BTreeSet<u64>,
    ) -> bool {
        let name = &repo.name;
        let why = |number: u64| match whys.get(&number) {
            Some(why) => format!(" ({why})"),
            None => String::new(),
        };
        let issues = forge.issues(Some(NEEDS_HUMAN)).await;
        let asked = issues.is_ok();
        for issue in issues.map(|all| all.found).unwrap_or_default() {
            let number = issue.number;
            if seen.insert(number) {
                let (title, why) = (one_line(&issue.title), why(number));
                let line = format!("{name}#{number} {title:?} carries {NEEDS_HUMAN}{why}");
                self.lines.push(line);
            }
        }
        for pull in forge.open_pulls_of(FLEET).await.unwrap_or_default() {
            let is_given = pull.labels.iter().any(|label| label == NEEDS_HUMAN);
            if is_given && seen.insert(pull.number) {
                let (number, title) = (pull.number, one_line(&pull.title));
                self.lines.push(format!(
                    "pull request #{number} of {name} {title:?} carries {NEEDS_HUMAN}{}",
                    why(number)
                ));
                self.pulls.insert((name.clone(), number));
            }
        }
        asked
    }
}

/// Whether an issue is open, as far as the forge says.
async fn is_open(forge: &Forge, number: u64) -> bool {
    let issue = forge.issue(number).await;
    issue.map_or(true, |issue| issue.state == State::Open)
}

/// Plans that wait for somebody's word.
async fn plans(home: &Home) -> Result<Vec<String>, StoreError> {
    let mut lines = Vec::new();
    for repo in home.fleet.repos.values() {
        for plan in waiting_plans(home, repo).await? {
            lines.push(format!(
                "a plan waits for you on #{issue} of {0} (carson approve {issue} --repo {0})",
                repo.name,
                issue = plan.issue
            ));
        }
    }
    Ok(lines)
}

/// Who ended so, and why.
fn why(row: &Row) -> String {
    let reason = one_line(row.reason.as_deref().unwrap_or_default());
    format!("{}: {reason}", row.role)
}

fn by_the_row(row: &Row) -> String {
    let why = one_line(row.reason.as_deref().unwrap_or_default());
    format!("{}: {why}", of(row))
}

/// Whose work it was.
pub(crate) fn of(row: &Row) -> String {
    let repo = row.repo.as_ref().map_or("", |repo| repo.as_str());
    let title = one_line(row.title.as_deref().unwrap_or_default());
    match row.work {
        Some(WorkKey::Issue(number)) => format!("{} on {repo}#{number} {title:?}", row.role),
        Some(WorkKey::Pull(number)) => {
            format!("{} on pull request #{number} of {repo} {title:?}", row.role)
        }
        _ => format!("{} in {repo}", row.role),
    }
}
