//! What became of a pull request that the fleet opened, from facts of the forge and of git alone.
//!
//! Merged is not all there is to say: people may have had to change it first, or take it back afterwards.
//! Until somebody decided it is pending, which is no success.

use std::fmt;
use std::str::FromStr;

use chrono::{DateTime, TimeDelta, Utc};
use serde::Serialize;

/// For how long after a merge somebody who takes it back says that it was no good.
pub const REVERTED_WITHIN: TimeDelta = TimeDelta::days(14);

/// The shortest part of a commit's name that git writes by itself.
const SHORTEST_NAME: usize = 7;

/// What became of a pull request. Rows have these words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum PullEnd {
    /// The commit that was merged is the one that the fleet pushed last.
    Untouched,
    /// It was merged with commits that the fleet did not push.
    Changed,
    /// It was merged; nobody can say any more as what.
    Merged,
    /// It was merged, and taken back soon after.
    Reverted,
    /// It was closed without merging.
    Closed,
    /// It is open.
    Pending,
}

impl PullEnd {
    const ALL: [Self; 6] = [
        Self::Untouched,
        Self::Changed,
        Self::Merged,
        Self::Reverted,
        Self::Closed,
        Self::Pending,
    ];

    /// What a merge says of the work: by the last commit that was merged, and the one that the fleet
    /// pushed last.
    #[must_use]
    pub fn of_merge(merged: Option<&str>, pushed: Option<&str>) -> Self {
        match (merged, pushed) {
            (Some(merged), Some(pushed)) if merged.eq_ignore_ascii_case(pushed) => Self::Untouched,
            (Some(_), Some(_)) => Self::Changed,
            _ => Self::Merged,
        }
    }

    /// Whether it was merged, and that stands.
    #[must_use]
    pub fn stands(self) -> bool {
        matches!(self, Self::Untouched | Self::Changed | Self::Merged)
    }

    /// The word for it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Untouched => "untouched",
            Self::Changed => "changed",
            Self::Merged => "merged",
            Self::Reverted => "reverted",
            Self::Closed => "closed",
            Self::Pending => "pending",
        }
    }
}

impl fmt::Display for PullEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for PullEnd {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        let known = Self::ALL.into_iter().find(|end| end.as_str() == word);
        known.ok_or_else(|| format!("{word:?} is no end of a pull request"))
    }
}

/// What a commit must say to take a pull request back.
#[derive(Clone, Copy, Debug)]
pub struct TakenBackAs<'a> {
    /// Its number.
    pub number: u64,
    /// What its forge calls the repository, where it has such a name.
    pub slug: &'a str,
    /// The commit that brought it into its base, and the last one that it offered.
    pub commits: [Option<&'a str>; 2],
    /// When it was merged, as far as anybody noted it.
    pub merged_at: Option<DateTime<Utc>>,
}

impl TakenBackAs<'_> {
    /// Whether a commit of the base with this message, made then, takes it back in time. Git's own words
    /// and GitHub's count, each on a line of its own.
    #[must_use]
    pub fn says(&self, message: &str, made_at: DateTime<Utc>) -> bool {
        let until = self.merged_at.map(|at| at + REVERTED_WITHIN);
        until.is_none_or(|until| made_at <= until)
            && message
                .lines()
                .any(|line| self.is_git_s(line) || self.is_github_s(line))
    }

    /// `This reverts commit SHA.`, and what git adds behind it for a merge.
    fn is_git_s(&self, line: &str) -> bool {
        let Some(rest) = line.strip_prefix("This reverts commit ") else {
            return false;
        };
        let name = rest.split(|one: char| !one.is_ascii_hexdigit()).next();
        let name = name.unwrap_or_default().to_ascii_lowercase();
        let mut commits = self.commits.into_iter().flatten();
        name.len() >= SHORTEST_NAME
            && commits.any(|commit| commit.to_ascii_lowercase().starts_with(&name))
    }

    /// `Reverts #N`, `Reverts owner/repo#N`.
    fn is_github_s(&self, line: &str) -> bool {
        let line = line.trim_end().trim_end_matches('.');
        let named = line
            .strip_prefix("Reverts ")
            .and_then(|what| what.split_once('#'));
        named.is_some_and(|(slug, number)| {
            number.parse() == Ok(self.number)
                && (slug.is_empty() || slug.eq_ignore_ascii_case(self.slug))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MERGE: &str = "1111111111111111111111111111111111111111";
    const HEAD: &str = "2222222222222222222222222222222222222222";
    const OTHER: &str = "3333333333333333333333333333333333333333";

    #[test]
    fn a_merge_is_untouched_only_by_the_commit_that_the_fleet_pushed_last() {
        for (merged, pushed, end) in [
            (Some(HEAD), Some(HEAD), PullEnd::Untouched),
            (Some(OTHER), Some(HEAD), PullEnd::Changed),
            (None, Some(HEAD), PullEnd::Merged),
            (Some(HEAD), None, PullEnd::Merged),
        ] {
            assert_eq!(
                PullEnd::of_merge(merged, pushed),
                end,
                "{merged:?} {pushed:?}"
            );
        }
    }

    #[test]
    fn only_a_merge_that_stands_is_a_success_and_each_word_is_read_back() {
        let stand = PullEnd::ALL.map(PullEnd::stands);
        assert_eq!(stand, [true, true, true, false, false, false]);
        for end in PullEnd::ALL {
            assert_eq!(end.as_str().parse(), Ok(end));
        }
        assert!("done".parse::<PullEnd>().is_err());
    }

    fn at(days: i64) -> DateTime<Utc> {
        DateTime::UNIX_EPOCH + TimeDelta::days(days)
    }

    fn taken_back(slug: &str, message: &str, day: i64) -> bool {
        let taken_back_as = TakenBackAs {
            number: 7,
            slug,
            commits: [Some(MERGE), Some(HEAD)],
            merged_at: Some(at(100)),
        };
        taken_back_as.says(message, at(day))
    }

    #[test]
    fn what_git_and_github_write_takes_it_back_and_nothing_else_does() {
        let short = &MERGE[..8];
        for (says, message) in [
            (
                true,
                format!("Revert \"x\"\n\nThis reverts commit {MERGE}.\n"),
            ),
            (
                true,
                format!(
                    "Revert\n\nThis reverts commit {MERGE}, reversing\nchanges made to {OTHER}.\n"
                ),
            ),
            (true, format!("Revert\n\nThis reverts commit {HEAD}.\n")),
            (
                true,
                format!("Revert\n\nThis reverts commit {short} (x, 2026-01-01).\n"),
            ),
            (true, "Revert \"x\" (#9)\n\nReverts #7".to_owned()),
            (
                true,
                "Revert \"x\" (#9)\r\n\r\nReverts Acme/Widget#7\r\n".to_owned(),
            ),
            (false, format!("Revert\n\nThis reverts commit {OTHER}.\n")),
            (
                false,
                format!(
                    "Revert\n\nThis reverts commit {OTHER}, reversing\nchanges made to {MERGE}.\n"
                ),
            ),
            (false, "Revert\n\nThis reverts commit 1111.\n".to_owned()),
            (false, "Revert\n\nThis reverts commit .\n".to_owned()),
            (false, format!("> This reverts commit {MERGE}.\n")),
            (false, format!("Reverting {MERGE} (#7)")),
            (false, "Revert\n\nReverts #70".to_owned()),
            (false, "Revert\n\nReverts other/widget#7".to_owned()),
            (false, "Revert\n\nReverts #7 in part".to_owned()),
        ] {
            assert_eq!(
                taken_back("acme/widget", &message, 101),
                says,
                "{message:?}"
            );
        }
        // A repository that has no such name.
        assert!(taken_back("", "Reverts #7", 101));
        assert!(!taken_back("", "Reverts acme/widget#7", 101));
    }

    #[test]
    fn two_weeks_later_it_says_nothing_about_the_merge() {
        for (day, says) in [(100, true), (114, true), (115, false)] {
            assert_eq!(taken_back("", "Reverts #7", day), says, "{day}");
        }
        let long_ago = TakenBackAs {
            number: 7,
            slug: "",
            commits: [None, None],
            merged_at: None,
        };
        assert!(long_ago.says("Reverts #7", at(9_000)), "nobody noted when");
    }
}
