//! The folder of a local forge: what each verb does to its files. Everything here blocks.

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use carson_core::Clock;
use chrono::{DateTime, Utc};

use super::head::{
    CommentHead, IssueHead, PullHead, digest, operator, owner, read_comment, read_fate, read_issue,
    read_merged, read_pull, us,
};
use super::{ME, file};
use crate::error::ForgeError;
use crate::pull_words::{Fate, Merged};
use crate::standing::Standing;
use crate::words::is_same_label;
use crate::words::{
    Comment, Issue, IssueEdit, Labelled, Listed, NewIssue, NewPull, Pull, PullState, State,
};

/// How long a writer waits for another.
const LOCK_PATIENCE: Duration = Duration::from_secs(10);

/// How often it looks.
const LOCK_POLL: Duration = Duration::from_millis(5);

/// The file that has the newest number that was given.
const GIVEN: &str = ".number";

/// The files of one repository's forge.
#[derive(Clone, Debug)]
pub(super) struct Folder {
    dir: PathBuf,
    clock: Clock,
}

impl Folder {
    /// The forge in a directory; made at the first write.
    pub(super) fn at(dir: PathBuf) -> Self {
        Self {
            dir,
            clock: Clock::system(),
        }
    }

    /// Where it lies.
    pub(super) fn path(&self) -> &Path {
        &self.dir
    }

    pub(super) fn now(&self) -> DateTime<Utc> {
        self.clock.now()
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

    /// What lies beside a pull request.
    pub(super) fn beside_pull(&self, number: u64, what: &str) -> PathBuf {
        self.pulls_dir().join(format!("{number:04}.{what}"))
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

    /// One writer at a time, in any process. Who waits too long gives up: whoever asked has been
    /// told by then that nothing was written.
    pub(super) fn lock(&self) -> Result<File, ForgeError> {
        for dir in [self.issues_dir(), self.pulls_dir()] {
            fs::create_dir_all(&dir).map_err(|source| file::io(&dir, source))?;
        }
        let path = self.dir.join(".lock");
        let lock = File::create(&path).map_err(|source| file::io(&path, source))?;
        let give_up = Instant::now() + LOCK_PATIENCE;
        loop {
            match lock.try_lock() {
                Ok(()) => return Ok(lock),
                Err(TryLockError::WouldBlock) if Instant::now() < give_up => sleep(LOCK_POLL),
                Err(error) => return Err(file::io(&path, error.into())),
            }
        }
    }

    /// A number that nothing here has, or ever had: rows of the store mean by one what it meant when they were
    /// written, also where somebody removed its file since. Under the lock.
    fn next_number(&self) -> Result<u64, ForgeError> {
        let given = self.dir.join(GIVEN);
        // One that cannot be read is as one that is not there: the files say what is in use.
        let known = fs::read_to_string(&given).unwrap_or_default();
        let mut last = known.trim().parse().unwrap_or(0);
        for dir in [self.issues_dir(), self.pulls_dir()] {
            last = last.max(
                file::numbered(&dir)?
                    .last()
                    .map_or(0, |(number, _)| *number),
            );
        }
        let next = last + 1;
        fs::write(&given, format!("{next}\n")).map_err(|source| file::io(&given, source))?;
        Ok(next)
    }

    /// Gives a number to every file that somebody dropped in.
    fn adopt(&self) -> Result<(), ForgeError> {
        let strays = file::strays(&self.issues_dir())?;
        if strays.is_empty() {
            return Ok(());
        }
        let _lock = self.lock()?;
        for stray in strays {
            let Ok(text) = file::text(&stray) else {
                continue;
            };
            // A copy of an issue's file has its title, and not its labels: nobody said that it is work, too.
            let (title, body) = match file::read::<IssueHead>(&stray) {
                Ok((head, body)) => (head.title, body),
                Err(_) => words_of(&text),
            };
            let new = NewIssue {
                title,
                body,
                labels: Vec::new(),
            };
            self.write_issue(self.next_number()?, &new, operator())?;
            fs::remove_file(&stray).map_err(|source| file::io(&stray, source))?;
        }
        Ok(())
    }

    /// The same for comments: what a person dropped in is the newest one.
    fn adopt_comments(&self, dir: &Path) -> Result<(), ForgeError> {
        if file::strays(dir)?.is_empty() {
            return Ok(());
        }
        let _lock = self.lock()?;
        for stray in file::strays(dir)? {
            let path = dir.join(format!("{:04}.md", next_comment(dir)?));
            fs::rename(&stray, &path).map_err(|source| file::io(&stray, source))?;
        }
        Ok(())
    }

    fn write_issue(&self, number: u64, new: &NewIssue, author: String) -> Result<(), ForgeError> {
        let head = IssueHead {
            title: new.title.clone(),
            state: State::Open,
            labels: new.labels.clone(),
            author,
            association: owner(),
            assignees: Vec::new(),
            created_at: self.clock.now(),
        };
        file::write(&self.issue_file(number), &head, &new.body)
    }

    fn change_issue(
        &self,
        number: u64,
        change: impl FnOnce(&mut IssueHead, &mut String),
    ) -> Result<(), ForgeError> {
        let _lock = self.lock()?;
        let path = self.issue_file(number);
        let (mut head, mut body) = file::read::<IssueHead>(&path)?;
        change(&mut head, &mut body);
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

impl Folder {
    /// Reads every file, and makes one that goes again.
    pub(super) fn examine(&self) -> Result<Standing, ForgeError> {
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
    }

    pub(super) fn issues(&self, label: Option<&str>) -> Result<Listed<Issue>, ForgeError> {
        self.adopt()?;
        let mut issues = file::readable(&self.issues_dir(), read_issue)?;
        issues.found.retain(|issue| {
            issue.state == State::Open && label.is_none_or(|label| issue.has(label))
        });
        Ok(issues)
    }

    pub(super) fn own_issues(&self) -> Result<Listed<Issue>, ForgeError> {
        let mut issues = file::readable(&self.issues_dir(), read_issue)?;
        issues.found.retain(|issue| issue.author == ME);
        issues.found.reverse();
        Ok(issues)
    }

    pub(super) fn issue(&self, number: u64) -> Result<Issue, ForgeError> {
        read_issue(number, &self.issue_file(number))
    }

    pub(super) fn create_issue(&self, new: &NewIssue, by: String) -> Result<Issue, ForgeError> {
        let _lock = self.lock()?;
        let number = self.next_number()?;
        self.write_issue(number, new, by)?;
        read_issue(number, &self.issue_file(number))
    }

    pub(super) fn set_state(&self, number: u64, state: State) -> Result<(), ForgeError> {
        self.change_issue(number, |head, _| head.state = state)
    }

    pub(super) fn edit_issue(&self, number: u64, edit: IssueEdit) -> Result<(), ForgeError> {
        let IssueEdit { title, body } = edit;
        self.change_issue(number, |head, text| {
            head.title = title.unwrap_or_else(|| std::mem::take(&mut head.title));
            *text = body.unwrap_or_else(|| std::mem::take(text));
        })
    }

    /// What was merged stays merged; and a merge, which git has by then, is one although it was closed meanwhile.
    pub(super) fn end_pull(&self, number: u64, state: PullState) -> Result<(), ForgeError> {
        let _lock = self.lock()?;
        self.edit_pull(number, |head, _| {
            let is_merge = state == PullState::Merged;
            if head.state == PullState::Open || is_merge && head.state == PullState::Closed {
                head.state = state;
                head.merged_at = is_merge.then(|| self.clock.now());
            }
        })
    }

    pub(super) fn ready_pull(&self, number: u64) -> Result<(), ForgeError> {
        let _lock = self.lock()?;
        self.edit_pull(number, |head, _| head.draft = false)
    }

    pub(super) fn comments(&self, number: u64) -> Result<Vec<Comment>, ForgeError> {
        let dir = self.comments_dir(number);
        self.adopt_comments(&dir)?;
        let numbered = file::numbered(&dir)?.into_iter();
        numbered.map(|(id, path)| read_comment(id, &path)).collect()
    }

    pub(super) fn comment(&self, number: u64, body: &str) -> Result<Comment, ForgeError> {
        let _lock = self.lock()?;
        if !self.issue_file(number).exists() && !self.pull_file(number).exists() {
            return Err(ForgeError::NotFound {
                what: format!("number {number}"),
            });
        }
        let dir = self.comments_dir(number);
        fs::create_dir_all(&dir).map_err(|source| file::io(&dir, source))?;
        let id = next_comment(&dir)?;
        let head = CommentHead {
            author: ME.to_owned(),
            association: owner(),
            created_at: self.clock.now(),
            written: Some(digest(body)),
        };
        file::write(&dir.join(format!("{id:04}.md")), &head, body)?;
        let CommentHead {
            author,
            association,
            created_at,
            ..
        } = head;
        Ok(Comment {
            id,
            author,
            body: body.to_owned(),
            created_at,
            association,
            edited: false,
        })
    }

    /// One that is gone already is no error.
    pub(super) fn remove_comment(&self, number: u64, id: u64) -> Result<(), ForgeError> {
        let _lock = self.lock()?;
        file::remove(&self.comments_dir(number).join(format!("{id:04}.md")))
    }

    /// What was merged stays merged.
    pub(super) fn reopen_pull(&self, number: u64) -> Result<(), ForgeError> {
        let _lock = self.lock()?;
        self.edit_pull(number, |head, _| {
            if head.state == PullState::Closed {
                head.state = PullState::Open;
            }
        })
    }

    pub(super) fn set_labels(
        &self,
        number: u64,
        add: &[String],
        remove: &[String],
    ) -> Result<(), ForgeError> {
        let change = |labels: &mut Vec<String>| {
            labels.retain(|label| !remove.iter().any(|other| is_same_label(label, other)));
            for label in add.iter().filter(|label| !label.is_empty()) {
                if !labels.iter().any(|own| is_same_label(own, label)) {
                    labels.push(label.clone());
                }
            }
        };
        if self.pull_file(number).exists() {
            let _lock = self.lock()?;
            return self.edit_pull(number, |head, _| change(&mut head.labels));
        }
        self.change_issue(number, |head, _| change(&mut head.labels))
    }

    /// No file says who set a label, and when: whoever can write here is the operator.
    pub(super) fn labelled(
        &self,
        number: u64,
        label: &str,
    ) -> Result<Option<Labelled>, ForgeError> {
        let labelled = Labelled {
            by: operator(),
            association: owner(),
            at: None,
        };
        Ok(self.issue(number)?.has(label).then_some(labelled))
    }

    pub(super) fn pulls(&self, open_only: bool) -> Result<Listed<Pull>, ForgeError> {
        let mut pulls = file::readable(&self.pulls_dir(), read_pull)?;
        let wanted = |pull: &Pull| !open_only || pull.state == PullState::Open;
        pulls.found.retain(wanted);
        Ok(pulls)
    }

    pub(super) fn pull(&self, number: u64) -> Result<Pull, ForgeError> {
        read_pull(number, &self.pull_file(number))
    }

    pub(super) fn fate(&self, number: u64) -> Result<Fate, ForgeError> {
        read_fate(&self.pull_file(number))
    }

    pub(super) fn merged(&self) -> Result<Vec<Merged>, ForgeError> {
        let pulls = file::readable(&self.pulls_dir(), read_merged)?.found;
        Ok(pulls.into_iter().flatten().collect())
    }

    pub(super) fn pull_by_head(&self, branch: &str) -> Result<Option<Pull>, ForgeError> {
        let pulls = self.pulls(false)?.found;
        Ok(pulls.into_iter().rev().find(|pull| pull.head == branch))
    }

    pub(super) fn create_pull(&self, new: &NewPull) -> Result<Pull, ForgeError> {
        // Before the look: of two that open the same branch, the second has to see the first.
        let _lock = self.lock()?;
        let known = self.pull_by_head(&new.head)?;
        if let Some(known) = known.filter(|pull| pull.state == PullState::Open) {
            self.edit_pull(known.number, |head, body| {
                (head.title, head.draft) = (new.title.to_string(), new.draft);
                head.labels.clone_from(&new.labels);
                *body = new.body.to_string();
            })?;
            return self.pull(known.number);
        }
        let number = self.next_number()?;
        let head = PullHead {
            title: new.title.to_string(),
            state: PullState::Open,
            draft: new.draft,
            head: new.head.clone(),
            base: new.base.clone(),
            labels: new.labels.clone(),
            author: us(),
            created_at: self.clock.now(),
            merged_at: None,
        };
        file::write(&self.pull_file(number), &head, new.body.as_str())?;
        read_pull(number, &self.pull_file(number))
    }
}

/// What somebody wrote without a head: the first line is the title.
fn words_of(text: &str) -> (String, String) {
    // Editors of some systems begin a file with a mark of its byte order.
    let text = text.trim_start_matches('\u{feff}').trim_start();
    let (title, body) = text.split_once('\n').unwrap_or((text, ""));
    let title = title.trim_start_matches('#').trim();
    (title.to_owned(), body.trim_start().to_owned())
}

/// The number of the next comment in a directory.
pub(super) fn next_comment(dir: &Path) -> Result<u64, ForgeError> {
    let numbered = file::numbered(dir)?;
    Ok(numbered.last().map_or(1, |(last, _)| last + 1))
}
