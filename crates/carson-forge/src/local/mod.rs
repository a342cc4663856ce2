//! The local forge: files that people can read and edit.
//!
//! ```text
//! forge/<repo>/issues/0007.md              an issue
//! forge/<repo>/issues/0007.comments/0001.md   its comments
//! forge/<repo>/pulls/0008.md               a pull request
//! ```
//! Each file is TOML between two `+++` lines, then the text, to the letter. A Markdown file that
//! somebody drops into `issues/` without front matter becomes an issue: its first line is the
//! title. Every write is atomic (a new file, synced, renamed) under one lock.
//!
//! All of this is the operator's own disk: whoever can write here can write anything, claims by
//! the author `carson` included. What comes from outside is only ever text behind the second `+++`
//! or a quoted value before it.

mod file;
mod head;

use std::fs::{self, File};
use std::path::PathBuf;

use carson_core::Clock;
use secrecy::SecretString;

use crate::api::{Answer, Api};
use crate::error::ForgeError;
use crate::forge::Forge;
use crate::opener::{Place, Spec};
use crate::standing::Standing;
use crate::words::{Comment, Issue, NewIssue, NewPull, Pull, PullState, State};
use head::{CommentHead, IssueHead, PullHead, operator, read_issue, read_pull};

/// The forge of one repository.
#[derive(Clone, Debug)]
pub struct LocalForge {
    dir: PathBuf,
    clock: Clock,
}

/// The files in the home: nothing to set.
#[derive(Debug)]
pub(crate) struct LocalFiles;

impl Spec for LocalFiles {
    fn name(&self) -> &'static str {
        "local"
    }

    fn open(&self, place: &Place<'_>, _: Option<SecretString>) -> Result<Forge, ForgeError> {
        Ok(Forge::of(LocalForge::at(place.files.to_owned())))
    }
}

/// The author of what Carson writes.
const ME: &str = "carson";

impl LocalForge {
    /// The forge in a directory; made at the first write.
    #[must_use]
    pub fn at(dir: PathBuf) -> Self {
        Self {
            dir,
            clock: Clock::system(),
        }
    }

    fn issues_dir(&self) -> PathBuf {
        self.dir.join("issues")
    }

    fn pulls_dir(&self) -> PathBuf {
        self.dir.join("pulls")
    }

    fn issue_file(&self, number: u64) -> PathBuf {
        self.issues_dir().join(format!("{number:04}.md"))
    }

    fn pull_file(&self, number: u64) -> PathBuf {
        self.pulls_dir().join(format!("{number:04}.md"))
    }

    /// Issues and pull requests share their numbers, so a number has one place for comments.
    fn comments_dir(&self, number: u64) -> PathBuf {
        let dir = if self.pull_file(number).exists() {
            self.pulls_dir()
        } else {
            self.issues_dir()
        };
        dir.join(format!("{number:04}.comments"))
    }

    /// One writer at a time, in any process.
    fn lock(&self) -> Result<File, ForgeError> {
        for dir in [self.issues_dir(), self.pulls_dir()] {
            fs::create_dir_all(&dir).map_err(|source| file::io(&dir, source))?;
        }
        let path = self.dir.join(".lock");
        let lock = File::create(&path).map_err(|source| file::io(&path, source))?;
        lock.lock().map_err(|source| file::io(&path, source))?;
        Ok(lock)
    }

    fn next_number(&self) -> Result<u64, ForgeError> {
        let mut last = 0;
        for dir in [self.issues_dir(), self.pulls_dir()] {
            last = last.max(
                file::numbered(&dir)?
                    .last()
                    .map_or(0, |(number, _)| *number),
            );
        }
        Ok(last + 1)
    }

    /// Gives a number to every file that somebody dropped in.
    fn adopt(&self) -> Result<(), ForgeError> {
        let strays = file::strays(&self.issues_dir())?;
        if strays.is_empty() {
            return Ok(());
        }
        let _lock = self.lock()?;
        for stray in strays {
            let Ok(text) = fs::read_to_string(&stray) else {
                continue;
            };
            let (title, body) = text.split_once('\n').unwrap_or((&text, ""));
            let new = NewIssue {
                title: title.trim_start_matches('#').trim().to_owned(),
                body: body.trim_start().to_owned(),
                labels: Vec::new(),
            };
            self.write_issue(self.next_number()?, &new)?;
            fs::remove_file(&stray).map_err(|source| file::io(&stray, source))?;
        }
        Ok(())
    }

    fn write_issue(&self, number: u64, new: &NewIssue) -> Result<(), ForgeError> {
        let head = IssueHead {
            title: new.title.clone(),
            state: State::Open,
            labels: new.labels.clone(),
            author: operator(),
            created_at: self.clock.now(),
        };
        file::write(&self.issue_file(number), &head, &new.body)
    }

    fn change_issue(
        &self,
        number: u64,
        change: impl FnOnce(&mut IssueHead),
    ) -> Result<(), ForgeError> {
        let _lock = self.lock()?;
        let path = self.issue_file(number);
        let (mut head, body) = file::read::<IssueHead>(&path)?;
        change(&mut head);
        file::write(&path, &head, &body)
    }

    /// Under the lock.
    fn edit_pull(
        &self,
        number: u64,
        change: impl FnOnce(&mut PullHead, &mut String),
    ) -> Result<(), ForgeError> {
        let path = self.pull_file(number);
        let (mut head, mut body) = file::read::<PullHead>(&path)?;
        change(&mut head, &mut body);
        file::write(&path, &head, &body)
    }
}

impl Api for LocalForge {
    fn me(&self) -> Answer<'_, &str> {
        Box::pin(async move { Ok(ME) })
    }

    /// Reads every file, and makes one that goes again.
    fn examine(&self) -> Answer<'_, Standing> {
        Box::pin(async move {
            for dir in [self.issues_dir(), self.pulls_dir()] {
                let numbered = file::numbered(&dir)?;
                for (number, path) in numbered {
                    if dir == self.pulls_dir() {
                        read_pull(number, &path)?;
                    } else {
                        read_issue(number, &path)?;
                    }
                }
                if dir.is_dir() {
                    let trial = dir.join(format!(".try-{}", std::process::id()));
                    File::create(&trial).map_err(|source| file::io(&trial, source))?;
                    fs::remove_file(&trial).map_err(|source| file::io(&trial, source))?;
                }
            }
            Ok(Standing::default())
        })
    }

    fn issues<'a>(&'a self, label: Option<&'a str>) -> Answer<'a, Vec<Issue>> {
        Box::pin(async move {
            self.adopt()?;
            let mut issues = Vec::new();
            for (number, path) in file::numbered(&self.issues_dir())? {
                let issue = read_issue(number, &path)?;
                if issue.state == State::Open && label.is_none_or(|label| issue.has(label)) {
                    issues.push(issue);
                }
            }
            Ok(issues)
        })
    }

    fn issue(&self, number: u64) -> Answer<'_, Issue> {
        Box::pin(async move { read_issue(number, &self.issue_file(number)) })
    }

    fn create_issue<'a>(&'a self, new: &'a NewIssue) -> Answer<'a, Issue> {
        Box::pin(async move {
            let _lock = self.lock()?;
            let number = self.next_number()?;
            self.write_issue(number, new)?;
            read_issue(number, &self.issue_file(number))
        })
    }

    fn close_issue(&self, number: u64) -> Answer<'_, ()> {
        Box::pin(async move { self.change_issue(number, |head| head.state = State::Closed) })
    }

    fn comments(&self, number: u64) -> Answer<'_, Vec<Comment>> {
        Box::pin(async move {
            let mut comments = Vec::new();
            for (id, path) in file::numbered(&self.comments_dir(number))? {
                let (head, body) = file::read::<CommentHead>(&path)?;
                let CommentHead { author, created_at } = head;
                comments.push(Comment {
                    id,
                    author,
                    body,
                    created_at,
                });
            }
            Ok(comments)
        })
    }

    fn comment<'a>(&'a self, number: u64, body: &'a str) -> Answer<'a, Comment> {
        Box::pin(async move {
            let _lock = self.lock()?;
            if !self.issue_file(number).exists() && !self.pull_file(number).exists() {
                return Err(ForgeError::NotFound {
                    what: format!("number {number}"),
                });
            }
            let dir = self.comments_dir(number);
            fs::create_dir_all(&dir).map_err(|source| file::io(&dir, source))?;
            let id = file::numbered(&dir)?.last().map_or(1, |(last, _)| last + 1);
            let head = CommentHead {
                author: ME.to_owned(),
                created_at: self.clock.now(),
            };
            file::write(&dir.join(format!("{id:04}.md")), &head, body)?;
            let CommentHead { author, created_at } = head;
            Ok(Comment {
                id,
                author,
                body: body.to_owned(),
                created_at,
            })
        })
    }

    fn set_labels<'a>(
        &'a self,
        number: u64,
        add: &'a [&'a str],
        remove: &'a [&'a str],
    ) -> Answer<'a, ()> {
        Box::pin(async move {
            let change = |labels: &mut Vec<String>| {
                labels.retain(|label| !remove.contains(&label.as_str()));
                for label in add.iter().filter(|label| !label.is_empty()) {
                    if !labels.iter().any(|own| own == label) {
                        labels.push((*label).to_owned());
                    }
                }
            };
            if self.pull_file(number).exists() {
                let _lock = self.lock()?;
                return self.edit_pull(number, |head, _| change(&mut head.labels));
            }
            self.change_issue(number, |head| change(&mut head.labels))
        })
    }

    fn pulls(&self, open_only: bool) -> Answer<'_, Vec<Pull>> {
        Box::pin(async move {
            let mut pulls = Vec::new();
            for (number, path) in file::numbered(&self.pulls_dir())? {
                let pull = read_pull(number, &path)?;
                if !open_only || pull.state == PullState::Open {
                    pulls.push(pull);
                }
            }
            Ok(pulls)
        })
    }

    fn pull(&self, number: u64) -> Answer<'_, Pull> {
        Box::pin(async move { read_pull(number, &self.pull_file(number)) })
    }

    fn pull_by_head<'a>(&'a self, branch: &'a str) -> Answer<'a, Option<Pull>> {
        Box::pin(async move {
            let pulls = self.pulls(false).await?;
            Ok(pulls.into_iter().rev().find(|pull| pull.head == branch))
        })
    }

    fn create_pull<'a>(&'a self, new: &'a NewPull) -> Answer<'a, Pull> {
        Box::pin(async move {
            // Before the look: of two that open the same branch, the second has to see the first.
            let _lock = self.lock()?;
            let known = self.pull_by_head(&new.head).await?;
            if let Some(known) = known.filter(|pull| pull.state == PullState::Open) {
                self.edit_pull(known.number, |head, body| {
                    (head.title, head.draft) = (new.title.to_string(), new.draft);
                    head.labels.clone_from(&new.labels);
                    *body = new.body.to_string();
                })?;
                return self.pull(known.number).await;
            }
            let number = self.next_number()?;
            let head = PullHead {
                title: new.title.to_string(),
                state: PullState::Open,
                draft: new.draft,
                head: new.head.clone(),
                base: new.base.clone(),
                labels: new.labels.clone(),
                created_at: self.clock.now(),
            };
            file::write(&self.pull_file(number), &head, new.body.as_str())?;
            read_pull(number, &self.pull_file(number))
        })
    }
}

#[cfg(test)]
mod hostile_tests;
#[cfg(test)]
mod tests;
