//! Issues that wait for a role which does not see them, and labels that no issue can carry.
//!
//! A role takes issues by one label. Where none of the open ones has it, and one has a label that looks like a
//! role's and is no role's there, somebody mistook the one for the other: `agent:ready` for `carson:ready`. Where a
//! repository has a list of its labels and that of the role is not among them, it was mistyped, or never made.

use std::collections::BTreeSet;

use carson_config::{Repo, Role, nearest};
use carson_core::RepoName;
use carson_forge::{Issue, is_same_label};
use carson_home::Home;

use crate::{Scene, Verdict};

/// What an issue gets where no role works on issues.
const USUAL: &str = "carson:ready";

/// An open issue whose label no role takes, where none has that of the role.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StrayLabel {
    /// Where.
    pub repo: RepoName,
    /// The issue.
    pub issue: u64,
    /// The label that it has.
    pub has: String,
    /// The label that the role takes.
    pub wants: String,
}

impl StrayLabel {
    /// What is so.
    #[must_use]
    pub fn told(&self) -> String {
        let Self {
            repo,
            issue,
            has,
            wants,
        } = self;
        format!(
            "no open issue of {repo} has the label {wants}, but #{issue} has {has}, which no role takes"
        )
    }

    /// What gives the issue to the role, as it is typed after `carson`.
    #[must_use]
    pub fn command(&self) -> String {
        let Self {
            repo,
            issue,
            has,
            wants,
        } = self;
        format!("issue label {issue} --add {wants} --remove {has} --repo {repo}")
    }
}

/// The first that is found in the role's repositories; a forge that does not answer tells of none.
pub async fn stray_label(home: &Home, role: &Role) -> Option<StrayLabel> {
    let wants = role.work.label()?;
    for name in &role.repos {
        let Some(repo) = home.fleet.repos.get(name) else {
            continue;
        };
        if let Some((issue, has)) = stray_in(home, repo, wants).await {
            return Some(StrayLabel {
                repo: name.clone(),
                issue,
                has,
                wants: wants.to_owned(),
            });
        }
    }
    None
}

async fn stray_in(home: &Home, repo: &Repo, wants: &str) -> Option<(u64, String)> {
    let forge = home.forge(repo).await.ok()?;
    let issues = forge.issues(None).await.ok()?.found;
    let of = |role: &&Role| role.enabled && role.repos.contains(&repo.name);
    let roles = home.fleet.roles.values();
    let taken: BTreeSet<&str> = roles
        .filter(of)
        .filter_map(|role| role.work.label())
        .collect();
    let all = home
        .fleet
        .roles
        .values()
        .filter_map(|role| role.work.label());
    let known: BTreeSet<&str> = all.chain([USUAL]).collect();
    mistaken(&issues, wants, &taken, &known)
}

/// The first repository of the role whose list of labels does not have the role's, and the label there that is most
/// like it; a forge that does not answer, or where an issue may carry any word, tells of none.
async fn not_there(home: &Home, role: &Role) -> Option<(RepoName, Option<String>)> {
    let wants = role.work.label()?;
    for name in &role.repos {
        let Some(repo) = home.fleet.repos.get(name) else {
            continue;
        };
        let Ok(forge) = home.forge(repo).await else {
            continue;
        };
        if let Ok(Some(labels)) = forge.labels().await
            && let Some(nearest) = missing(&labels, wants)
        {
            return Some((name.clone(), nearest));
        }
    }
    None
}

/// The label that is most like the one that is missing, where that is missing.
fn missing(labels: &[String], wants: &str) -> Option<Option<String>> {
    if labels.iter().any(|label| is_same_label(label, wants)) {
        return None;
    }
    let known: Vec<&str> = labels.iter().map(String::as_str).collect();
    Some(nearest(wants, &known).map(str::to_owned))
}

/// The first issue with a label that looks like a role's, and is none of those that are taken.
fn mistaken(
    issues: &[Issue],
    wants: &str,
    taken: &BTreeSet<&str>,
    known: &BTreeSet<&str>,
) -> Option<(u64, String)> {
    if issues.iter().any(|issue| issue.has(wants)) {
        return None;
    }
    // `agent:ready` and `carson:ready` end alike; `carson:raedy` is a mistyped one.
    let ending = wants.rsplit_once(':').map(|(_, ending)| ending);
    let looks_ready = |label: &&String| {
        let ends = label.rsplit_once(':').map(|(_, ending)| ending);
        let alike = ending.is_some() && ends == ending;
        !taken.contains(label.as_str())
            && (alike || known.contains(label.as_str()) || is_mistyped(label, wants))
    };
    issues.iter().find_map(|issue| {
        let label = issue.labels.iter().find(looks_ready)?;
        Some((issue.number, label.clone()))
    })
}

/// Words that are shorter differ by a letter on purpose: `p1` and `p2`.
const LONG_ENOUGH: usize = 6;

/// Whether somebody who wrote this meant that: a letter is missing, too many or another one, or two stand in each
/// other's place.
fn is_mistyped(label: &str, wants: &str) -> bool {
    let (one, other): (Vec<char>, Vec<char>) = (label.chars().collect(), wants.chars().collect());
    if other.len() < LONG_ENOUGH {
        return false;
    }
    let begin = one.iter().zip(&other).take_while(|(a, b)| a == b).count();
    let (one, other) = (&one[begin..], &other[begin..]);
    let ends = one.iter().rev().zip(other.iter().rev());
    let end = ends.take_while(|(a, b)| a == b).count();
    match (&one[..one.len() - end], &other[..other.len() - end]) {
        ([a, b], [c, d]) => a == d && b == c,
        (a, b) => a.len() < 2 && b.len() < 2 && a.len() + b.len() > 0,
    }
}

pub(crate) async fn carried(scene: &Scene<'_>, role: &Role) -> Option<Verdict> {
    if let Some((repo, nearest)) = not_there(scene.home, role).await {
        let label = role.work.label()?;
        let meant = nearest.map(|near| format!("; it has {near:?}: is that meant?"));
        let found = format!(
            "{} has no label {label:?}{}",
            repo,
            meant.unwrap_or_default()
        );
        let remedy = format!("carson labels bootstrap --repo {repo}, or work.label of the role");
        return Some(Verdict::warning(found).mend(remedy));
    }
    let stray = stray_label(scene.home, role).await?;
    let remedy = format!("carson {}, or work.label of the role", stray.command());
    Some(Verdict::warning(stray.told()).mend(remedy))
}

#[cfg(test)]
mod tests {
    use carson_forge::State;
    use chrono::DateTime;

    use super::*;

    fn issue(number: u64, label: &str) -> Issue {
        Issue {
            association: carson_forge::Association::Owner,
            assignees: Vec::new(),
            number,
            title: String::new(),
            body: String::new(),
            author: String::new(),
            state: State::Open,
            labels: vec!["bug".into(), label.into()],
            created_at: DateTime::UNIX_EPOCH,
            blocked_by: 0,
            dropped: false,
            url: String::new(),
        }
    }

    #[test]
    fn a_label_that_looks_ready_and_is_nobodys_is_told() {
        let known = BTreeSet::from(["agent:ready", "docs", USUAL]);
        let told = |labels: &[&str], wants: &str, taken: &[&str]| {
            let issues: Vec<Issue> = (1..)
                .zip(labels)
                .map(|(n, label)| issue(n, label))
                .collect();
            mistaken(&issues, wants, &taken.iter().copied().collect(), &known)
        };
        let first = |label: &str| Some((1, label.to_owned()));
        assert_eq!(
            told(&["carson:ready"], "agent:ready", &["agent:ready"]),
            first(USUAL)
        );
        assert_eq!(
            told(&["my:ready"], "agent:ready", &["agent:ready"]),
            first("my:ready")
        );
        // Mistyped.
        for wrong in ["agent:raedy", "agnt:ready", "agent:readyy", "agemt:ready"] {
            assert_eq!(
                told(&[wrong], "agent:ready", &["agent:ready"]),
                first(wrong)
            );
        }
        // A disabled role's.
        assert_eq!(
            told(&["docs"], "agent:ready", &["agent:ready"]),
            first("docs")
        );
        for (labels, taken) in [
            (&["carson:ready", "agent:ready"][..], &["agent:ready"][..]),
            (&["carson:ready"], &["agent:ready", "carson:ready"]),
            (&["question", "carson:pr-open"], &["agent:ready"]),
            (&[], &[]),
        ] {
            assert_eq!(told(labels, "agent:ready", taken), None, "{labels:?}");
        }
    }

    #[test]
    fn a_label_that_the_repository_does_not_have_is_told_with_the_one_that_is_meant() {
        let labels: Vec<String> = ["bug", "carson:ready", "Docs"].map(str::to_owned).into();
        assert_eq!(missing(&labels, "carson:ready"), None);
        assert_eq!(
            missing(&labels, "docs"),
            None,
            "forges do not tell them apart"
        );
        let meant = Some("carson:ready".to_owned());
        assert_eq!(missing(&labels, "carson:raedy"), Some(meant));
        assert_eq!(missing(&labels, "wanted"), Some(None));
        assert_eq!(missing(&[], "carson:ready"), Some(None));
    }
}
