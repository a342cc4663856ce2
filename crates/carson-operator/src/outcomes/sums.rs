//! What many pull requests add up to.

use std::str::FromStr;

use carson_core::pull_end::PullEnd;
use serde::Serialize;

use super::pull::PullOutcome;

/// By what pull requests are put together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum By {
    /// By the role.
    Role,
    /// By the engine and its account.
    Engine,
    /// By the role and the version of its prompts.
    Prompt,
}

impl By {
    /// The word for it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Role => "role",
            Self::Engine => "engine",
            Self::Prompt => "prompt",
        }
    }

    /// The group of a pull request; `-` stands for what nobody noted.
    fn name(self, pull: &PullOutcome) -> String {
        let role = pull.role.as_str();
        match self {
            Self::Role => role.to_owned(),
            Self::Engine => {
                let engine = pull.engine.as_deref().unwrap_or("-");
                let account = pull
                    .account
                    .as_ref()
                    .map_or("-", |account| account.as_str());
                format!("{engine}/{account}")
            }
            Self::Prompt => {
                let version = pull.prompt_version.as_deref().unwrap_or("-");
                format!("{role} {version}")
            }
        }
    }
}

impl FromStr for By {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        let all = [Self::Role, Self::Engine, Self::Prompt];
        let found = all.into_iter().find(|by| by.as_str() == word);
        found.ok_or_else(|| format!("{word:?} is none: role, engine or prompt"))
    }
}

/// Pull requests that have something in common.
#[derive(Clone, Debug, Serialize)]
pub struct Group {
    /// What: a role, `ENGINE/ACCOUNT`, or `ROLE VERSION`.
    pub name: String,
    /// What they add up to.
    #[serde(flatten)]
    pub sum: Sum,
}

/// What some pull requests add up to. Each is counted once between `untouched` and `untold`.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Sum {
    /// How many there are.
    pub pulls: u64,
    /// Merged as the fleet pushed them.
    pub untouched: u64,
    /// Merged with commits of people.
    pub changed: u64,
    /// Merged, and nobody can say any more as what.
    pub merged: u64,
    /// Merged, and taken back soon after.
    pub reverted: u64,
    /// Closed without merging.
    pub closed: u64,
    /// Still open.
    pub pending: u64,
    /// Nobody told.
    pub untold: u64,
    /// Hours from opening to merge, the median of those whose merge stands.
    pub hours_to_merge: Option<f64>,
    /// Money for each whose merge stands, with all attempts at its work.
    pub cost_per_merged: Option<f64>,
    /// Whether part of it was priced from tokens.
    pub cost_estimated: bool,
    /// Those of them whose cost is not known, and not counted.
    pub cost_unknown: u64,
}

impl Sum {
    /// Of all of these.
    pub(super) fn of<'p>(pulls: impl IntoIterator<Item = &'p PullOutcome>) -> Self {
        let (mut sum, mut stand) = (Self::default(), Vec::new());
        for pull in pulls {
            sum.count(pull.end);
            stand.extend(pull.end.is_some_and(PullEnd::stands).then_some(pull));
        }
        sum.hours_to_merge = median(
            stand
                .iter()
                .filter_map(|pull| pull.hours_to_merge)
                .collect(),
        );
        sum.price(&stand);
        sum
    }

    /// How many were merged, and that stands.
    #[must_use]
    pub fn stand(&self) -> u64 {
        self.untouched + self.changed + self.merged
    }

    fn count(&mut self, end: Option<PullEnd>) {
        self.pulls += 1;
        let one = match end {
            Some(PullEnd::Untouched) => &mut self.untouched,
            Some(PullEnd::Changed) => &mut self.changed,
            Some(PullEnd::Merged) => &mut self.merged,
            Some(PullEnd::Reverted) => &mut self.reverted,
            Some(PullEnd::Closed) => &mut self.closed,
            Some(PullEnd::Pending) => &mut self.pending,
            None => &mut self.untold,
        };
        *one += 1;
    }

    fn price(&mut self, stand: &[&PullOutcome]) {
        let known = stand.iter().filter(|pull| pull.cost_usd.is_some());
        let count = known.clone().count();
        let all: f64 = known.clone().filter_map(|pull| pull.cost_usd).sum();
        self.cost_estimated = known.clone().any(|pull| pull.cost_estimated);
        self.cost_per_merged = (count > 0).then(|| all / count as f64);
        self.cost_unknown = u64::try_from(stand.len() - count).unwrap_or(u64::MAX);
    }
}

/// Puts them together; the group with the newest is the first.
pub(super) fn grouped(by: By, pulls: &[PullOutcome]) -> Vec<Group> {
    let mut groups: Vec<(String, Vec<&PullOutcome>)> = Vec::new();
    for pull in pulls {
        let name = by.name(pull);
        match groups.iter_mut().find(|(own, _)| *own == name) {
            Some((_, all)) => all.push(pull),
            None => groups.push((name, vec![pull])),
        }
    }
    let group = |(name, all): (String, Vec<&PullOutcome>)| Group {
        name,
        sum: Sum::of(all),
    };
    groups.into_iter().map(group).collect()
}

fn median(mut all: Vec<f64>) -> Option<f64> {
    all.sort_by(f64::total_cmp);
    let middle = all.len() / 2;
    let upper = *all.get(middle)?;
    Some(match all.len() % 2 {
        0 => f64::midpoint(all[middle - 1], upper),
        _ => upper,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pull(number: u64, end: Option<PullEnd>) -> PullOutcome {
        PullOutcome {
            repo: "widget".parse().unwrap(),
            number,
            url: None,
            title: None,
            role: "hand".parse().unwrap(),
            engine: Some("codex".to_owned()),
            account: Some("home".parse().unwrap()),
            prompt_version: None,
            second_try: None,
            end,
            opened_at: None,
            ended_at: None,
            hours_to_merge: None,
            firings: 1,
            cost_usd: None,
            cost_estimated: false,
        }
    }

    fn merged(end: PullEnd, hours: f64, cost_usd: Option<f64>) -> PullOutcome {
        PullOutcome {
            hours_to_merge: Some(hours),
            cost_usd,
            cost_estimated: cost_usd.is_some_and(|cost| cost > 3.0),
            ..pull(1, Some(end))
        }
    }

    #[test]
    fn each_is_counted_once_and_what_is_open_is_no_success() {
        let all = [
            pull(1, Some(PullEnd::Untouched)),
            pull(2, Some(PullEnd::Changed)),
            pull(3, Some(PullEnd::Merged)),
            pull(4, Some(PullEnd::Reverted)),
            pull(5, Some(PullEnd::Closed)),
            pull(6, Some(PullEnd::Pending)),
            pull(7, None),
        ];
        let sum = Sum::of(&all);
        let one = |end| Sum::of([&pull(1, end)]).stand();
        assert_eq!((sum.pulls, sum.stand()), (7, 3));
        let each = [sum.untouched, sum.changed, sum.merged, sum.reverted];
        assert_eq!(each, [1; 4]);
        assert_eq!([sum.closed, sum.pending, sum.untold], [1; 3]);
        assert_eq!([one(Some(PullEnd::Pending)), one(None)], [0, 0]);
        assert_eq!(
            sum.cost_unknown, 3,
            "only those that were merged cost something each"
        );
    }

    #[test]
    fn hours_and_money_are_of_what_was_merged_and_stands() {
        let unknown = merged(PullEnd::Changed, 9.0, None);
        let all = [
            merged(PullEnd::Untouched, 1.0, Some(1.0)),
            merged(PullEnd::Changed, 5.0, Some(3.0)),
            merged(PullEnd::Reverted, 99.0, Some(99.0)),
        ];
        let sum = Sum::of(&all);
        assert_eq!(
            (sum.hours_to_merge, sum.cost_per_merged),
            (Some(3.0), Some(2.0))
        );
        assert!(!sum.cost_estimated && sum.cost_unknown == 0, "{sum:?}");
        let more = merged(PullEnd::Untouched, 2.0, Some(5.0));
        let sum = Sum::of(all.iter().chain([&unknown, &more]));
        assert_eq!(
            (sum.hours_to_merge, sum.cost_per_merged),
            (Some(3.5), Some(3.0))
        );
        assert!(sum.cost_estimated && sum.cost_unknown == 1, "{sum:?}");
        let none = Sum::of([&unknown]);
        assert_eq!((none.cost_per_merged, none.cost_unknown), (None, 1));
        assert_eq!(Sum::of([]), Sum::default());
    }

    #[test]
    fn groups_have_names_that_people_know_and_the_newest_is_the_first() {
        let other = PullOutcome {
            role: "cook".parse().unwrap(),
            engine: None,
            prompt_version: Some("0a1b2c3d".to_owned()),
            ..pull(2, None)
        };
        let all = [pull(3, None), other, pull(1, None)];
        for (by, names) in [
            ("role", ["hand", "cook"]),
            ("engine", ["codex/home", "-/home"]),
            ("prompt", ["hand -", "cook 0a1b2c3d"]),
        ] {
            let groups = grouped(by.parse().unwrap(), &all);
            let found: Vec<_> = groups
                .iter()
                .map(|one| (&*one.name, one.sum.pulls))
                .collect();
            assert_eq!(found, [(names[0], 2), (names[1], 1)], "{by}");
        }
        assert!("day".parse::<By>().unwrap_err().contains("prompt"));
    }
}
