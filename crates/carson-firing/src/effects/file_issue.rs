//! Files one issue of a plan, where it belongs and after what it comes after.

use carson_core::{Page, RepoName};
use carson_forge::NewIssue;

use super::bearer::Bearer;
use super::issue_in::IssueIn;
use crate::ended_pulls::PullError;

/// How the line begins that holds an issue until others are closed.
pub const DEPENDS_ON: &str = "Depends on: ";

/// An issue to be filed.
pub(super) struct Part<'e> {
    /// What it is about, where there is one open issue about that at most.
    pub topic: Option<&'e str>,
    /// The repository that it is for; without it that of the work.
    pub repo: Option<&'e RepoName>,
    /// Places of what must be done before it, from 1.
    pub after: &'e [u32],
    /// What it says.
    pub new: NewIssue,
}

impl Bearer<'_> {
    /// Files it, once. `filed` are the issues before it. Why it is not to be filed any more, where that is so.
    pub(super) async fn file_issue(
        &self,
        key: &str,
        part: Part<'_>,
        filed: &[Option<IssueIn>],
    ) -> Result<Result<IssueIn, String>, PullError> {
        let own = &self.repo.name;
        let name = part.repo.unwrap_or(own);
        let mut new = part.new;
        match self.depends_on(part.after, name, filed) {
            // Before all that a session wrote: a fence that nobody closes hides what follows.
            Some(line) => new.body.insert_str(0, line.as_str()),
            None => return Ok(Err("what it comes after was not filed".to_owned())),
        }
        let elsewhere;
        let forge = if name == own {
            self.forge
        } else {
            let Some(repo) = self.home.fleet.repos.get(name) else {
                let why = format!("no repository of the settings is called {name}");
                return Ok(Err(why));
            };
            elsewhere = self.home.forge(repo).await?;
            &elsewhere
        };
        let made = match part.topic {
            Some(topic) => forge.create_issue_about(topic, &new).await?,
            None => forge.create_issue_once(key, &new).await?,
        };
        Ok(Ok(IssueIn {
            repo: name.clone(),
            number: made.number,
        }))
    }

    /// The line that holds it in its queue until those are closed; `None` where one of them was not filed.
    fn depends_on(
        &self,
        after: &[u32],
        here: &RepoName,
        filed: &[Option<IssueIn>],
    ) -> Option<Page> {
        let mut line = Page::default();
        for (at, place) in after.iter().enumerate() {
            let place = usize::try_from(*place).ok()?.checked_sub(1)?;
            let before = filed.get(place)?.as_ref()?;
            line = line.says(if at == 0 { DEPENDS_ON } else { ", " });
            line = line.names(before.named_in(self.home, here));
        }
        Some(match after.is_empty() {
            true => line,
            false => line.says("\n\n"),
        })
    }

    /// What was made of a plan, for who reads the issue that was planned.
    pub(super) fn filed_text(&self, filed: &[Option<IssueIn>], refused: u32) -> Page {
        let mut text = Page::from("Filed:");
        for one in filed.iter().flatten() {
            let named = one.named_in(self.home, &self.repo.name);
            text = text.says(" ").names(named);
        }
        let missing = filed.iter().filter(|one| one.is_none()).count();
        if missing > 0 {
            text = text
                .says("\n\nOf ")
                .names(filed.len())
                .says(" issues, this many could not be filed: ")
                .names(missing)
                .says("; its firing says why.");
        }
        if refused > 0 {
            text = text
                .says("\n\nAsked for besides, and refused: ")
                .names(refused)
                .says(".");
        }
        if missing > 0 || refused > 0 {
            text = text.says(" So this issue stays open when these are done.");
        }
        text
    }
}
