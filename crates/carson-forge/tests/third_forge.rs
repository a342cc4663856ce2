//! What a new forge costs: its section, what becomes of it, the verbs of its API, and its line in
//! the list. All of that is in this file; queues, claims and releases work on it as on the others.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use carson_core::section::{Around, Section, SectionKind};
use carson_forge::{
    Answer, Api, Association, Branches, Claim, Claimed, Comment, Compared, Forge, ForgeError,
    IN_FLIGHT, Issue, IssueEdit, Keeper, Listed, Merge, NewIssue, NewPull, Opener, Place, Pull,
    PullApi, PullState, Release, Spec, Standing, State, TokenSource,
};
use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};

/// `[memory]`
#[derive(Default, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct MemorySection {
    /// A file, mode 0600, with the name that Carson has there.
    #[schemars(extend("examples" = ["memory.name"]))]
    token_file: Option<String>,
}

impl Section for MemorySection {
    const NAME: &'static str = "memory";
    type Checked = dyn Spec;

    fn check(self, around: &mut dyn Around) -> Option<Arc<dyn Spec>> {
        let token = TokenSource::check(self.token_file, None, around)?;
        Some(Arc::new(MemorySpec(token)))
    }
}

#[derive(Debug)]
struct MemorySpec(TokenSource);

impl Spec for MemorySpec {
    fn name(&self) -> &'static str {
        MemorySection::NAME
    }

    fn token(&self) -> Option<&TokenSource> {
        Some(&self.0)
    }

    fn open(&self, place: &Place<'_>, token: Option<SecretString>) -> Result<Forge, ForgeError> {
        let token = token.ok_or(ForgeError::Unauthorized)?;
        Ok(Forge::of(Memory {
            me: token.expose_secret().to_owned(),
            slug: place.slug.to_owned(),
            has: Mutex::default(),
        }))
    }
}

/// Its line in the list.
const MEMORY: Opener = Opener {
    name: "memory",
    about: "What is forgotten at the end",
    section: Some(SectionKind::of::<MemorySection>()),
    without_section: None,
    slug: None,
    host: None,
    git_sign_in: None,
    sample: "token_file = \"memory.name\"",
};

#[derive(Debug)]
struct Memory {
    me: String,
    slug: String,
    has: Mutex<Has>,
}

#[derive(Debug, Default)]
struct Has {
    issues: Vec<Issue>,
    pulls: Vec<Pull>,
    comments: Vec<(u64, Comment)>,
}

impl Memory {
    fn has(&self) -> MutexGuard<'_, Has> {
        self.has.lock().unwrap()
    }

    fn url(&self, number: u64) -> String {
        format!("memory:{}/{number}", self.slug)
    }

    fn made(&self, new: &NewIssue, by: &str) -> Result<Issue, ForgeError> {
        let mut has = self.has();
        let number = has.next();
        has.issues.push(Issue {
            blocked_by: 0,
            dropped: false,
            number,
            title: new.title.clone(),
            body: new.body.clone(),
            author: by.to_owned(),
            association: Association::Owner,
            assignees: Vec::new(),
            state: State::Open,
            labels: new.labels.clone(),
            created_at: DateTime::UNIX_EPOCH,
            url: self.url(number),
        });
        has.issue(number).cloned()
    }
}

impl Has {
    fn next(&self) -> u64 {
        (self.issues.len() + self.pulls.len()) as u64 + 1
    }

    fn issue(&mut self, number: u64) -> Result<&mut Issue, ForgeError> {
        let found = self.issues.iter_mut().find(|issue| issue.number == number);
        found.ok_or_else(|| gone(number))
    }
}

impl Has {
    fn end(&mut self, number: u64, state: PullState) -> Result<(), ForgeError> {
        let found = self.pulls.iter_mut().find(|pull| pull.number == number);
        found
            .ok_or_else(|| gone(number))
            .map(|pull| pull.state = state)
    }
}

fn gone(number: u64) -> ForgeError {
    let what = format!("number {number}");
    ForgeError::NotFound { what }
}

fn done<'a, T: Send + 'a>(result: Result<T, ForgeError>) -> Answer<'a, T> {
    Box::pin(std::future::ready(result))
}

impl Api for Memory {
    fn me(&self) -> Answer<'_, &str> {
        done(Ok(&self.me))
    }

    fn examine(&self) -> Answer<'_, Standing> {
        done(Ok(Standing::default()))
    }

    fn issues<'a>(&'a self, label: Option<&'a str>) -> Answer<'a, Listed<Issue>> {
        let wanted = |issue: &&Issue| label.is_none_or(|label| issue.has(label));
        let has = self.has();
        let found: Vec<Issue> = has.issues.iter().filter(wanted).cloned().collect();
        done(Ok(found.into()))
    }

    fn issue(&self, number: u64) -> Answer<'_, Issue> {
        done(self.has().issue(number).cloned())
    }

    fn create_issue<'a>(&'a self, new: &'a NewIssue) -> Answer<'a, Issue> {
        done(self.made(new, "ann"))
    }

    fn own_issues(&self) -> Answer<'_, Listed<Issue>> {
        let mut issues = self.has().issues.clone();
        issues.retain(|issue| issue.author == self.me);
        done(Ok(issues.into()))
    }

    fn create_own_issue<'a>(&'a self, new: &'a NewIssue) -> Answer<'a, Issue> {
        done(self.made(new, &self.me))
    }

    fn close_issue(&self, number: u64) -> Answer<'_, ()> {
        let mut has = self.has();
        done(has.issue(number).map(|issue| issue.state = State::Closed))
    }

    fn reopen_issue(&self, number: u64) -> Answer<'_, ()> {
        let mut has = self.has();
        done(has.issue(number).map(|issue| issue.state = State::Open))
    }

    fn edit_issue<'a>(&'a self, number: u64, edit: &'a IssueEdit) -> Answer<'a, ()> {
        let mut has = self.has();
        done(has.issue(number).map(|issue| {
            issue.title = edit.title.clone().unwrap_or_default();
            issue.body = edit.body.clone().unwrap_or_default();
        }))
    }

    fn comments(&self, number: u64) -> Answer<'_, Vec<Comment>> {
        let has = self.has();
        let here = has.comments.iter().filter(|(on, _)| *on == number);
        done(Ok(here.map(|(_, comment)| comment.clone()).collect()))
    }

    fn comment<'a>(&'a self, number: u64, body: &'a str) -> Answer<'a, Comment> {
        let mut has = self.has();
        let comment = Comment {
            id: has.comments.len() as u64 + 1,
            author: self.me.clone(),
            body: body.to_owned(),
            created_at: DateTime::UNIX_EPOCH,
            association: Association::Owner,
            edited: false,
        };
        has.comments.push((number, comment.clone()));
        done(Ok(comment))
    }

    fn set_labels<'a>(
        &'a self,
        number: u64,
        add: &'a [&'a str],
        remove: &'a [&'a str],
    ) -> Answer<'a, ()> {
        done(self.has().issue(number).map(|issue| {
            let all = [add, remove].concat();
            issue.labels.retain(|label| !all.contains(&label.as_str()));
            issue
                .labels
                .extend(add.iter().map(|label| (*label).to_owned()));
        }))
    }

    fn pulls(&self, open_only: bool) -> Answer<'_, Listed<Pull>> {
        let mut pulls = self.has().pulls.clone();
        pulls.retain(|pull| !open_only || pull.state == PullState::Open);
        done(Ok(pulls.into()))
    }

    fn pull(&self, number: u64) -> Answer<'_, Pull> {
        let has = self.has();
        let found = has.pulls.iter().find(|pull| pull.number == number);
        done(found.cloned().ok_or_else(|| gone(number)))
    }

    fn pull_by_head<'a>(&'a self, branch: &'a str) -> Answer<'a, Option<Pull>> {
        let has = self.has();
        let newest = has.pulls.iter().rfind(|pull| pull.head == branch);
        done(Ok(newest.cloned()))
    }

    fn create_pull<'a>(&'a self, new: &'a NewPull) -> Answer<'a, Pull> {
        let mut has = self.has();
        has.pulls.retain(|pull| pull.head != new.head);
        let number = has.next();
        let pull = Pull {
            number,
            title: new.title.to_string(),
            body: new.body.to_string(),
            author: self.me.clone(),
            opened_at: DateTime::UNIX_EPOCH,
            from_fork: false,
            head: new.head.clone(),
            base: new.base.clone(),
            draft: new.draft,
            state: PullState::Open,
            labels: new.labels.clone(),
            url: self.url(number),
        };
        has.pulls.push(pull.clone());
        done(Ok(pull))
    }

    fn close_pull(&self, number: u64) -> Answer<'_, ()> {
        done(self.has().end(number, PullState::Closed))
    }
}

/// It has no reviews, no threads and no checks, and says so.
impl PullApi for Memory {
    fn merge_pull<'a>(&'a self, number: u64, _: &'a Merge) -> Answer<'a, ()> {
        done(self.has().end(number, PullState::Merged))
    }
}

/// The settings, which find that every file can be read.
#[derive(Default)]
struct Settings(Vec<String>);

impl Around for Settings {
    fn path(&self, text: &str) -> PathBuf {
        Path::new("/home").join(text)
    }

    fn problem(&mut self, key: &str, problem: &str, _: &str) {
        self.0.push(format!("{key}: {problem}"));
    }

    fn warning(&mut self, _: &str, _: &str, _: &str) {}

    fn secret(&mut self, _: &str, _: &Path) -> Option<SecretString> {
        None
    }
}

/// A house that hears of nothing and has no branches.
#[derive(Debug)]
struct House;

impl Keeper for House {
    fn learn(&self, _: &SecretString) {}

    fn limited<'a>(
        &'a self,
        _: Duration,
        _: &'a str,
    ) -> Pin<Box<dyn Future<Output = ()> + Send + 'a>> {
        Box::pin(std::future::ready(()))
    }
}

impl Branches for House {
    fn compare<'a>(&'a self, _: &'a str, _: &'a str) -> Answer<'a, Option<Compared>> {
        done(Ok(None))
    }
}

/// As the settings and the home open it: by its line alone.
fn opened() -> Forge {
    let kind = MEMORY.section.unwrap();
    let mut settings = Settings::default();
    let nothing = (kind.check)(serde_json::json!({}), &mut settings);
    assert!(nothing.is_none());
    let missing = ": it needs token_file or token_command, one of them";
    assert_eq!(settings.0, [missing]);
    let section = serde_json::json!({"token_file": "memory.name"});
    let spec = (kind.check)(section, &mut settings).unwrap();
    let file = spec.token().unwrap().file();
    assert_eq!(file, Some(Path::new("/home/memory.name")));
    let (keeper, branches): (Arc<dyn Keeper>, Arc<dyn Branches>) =
        (Arc::new(House), Arc::new(House));
    let place = Place {
        slug: "widget",
        files: Path::new("/nowhere"),
        keeper: &keeper,
        shut_for: Duration::ZERO,
        branches: &branches,
    };
    let without = spec.open(&place, None);
    assert!(matches!(without, Err(ForgeError::Unauthorized)));
    let token = SecretString::from("carson-bot");
    spec.open(&place, Some(token)).unwrap()
}

fn claim(at: &str) -> Claim {
    Claim {
        firing: carson_core::FiringId::new(),
        role: "hand".parse().unwrap(),
        host: "box".parse().unwrap(),
        at: at.parse::<DateTime<Utc>>().unwrap(),
    }
}

#[tokio::test]
async fn queues_claims_and_releases_are_the_same_on_a_forge_that_was_added() {
    let forge = opened();
    let new = NewIssue {
        title: "t".into(),
        body: String::new(),
        labels: vec!["ready".into()],
    };
    let number = forge.create_issue(&new).await.unwrap().number;
    let ready = async || forge.ready_issues("ready").await.unwrap().len();
    assert_eq!(ready().await, 1);
    let (first, second) = (claim("2026-01-01T00:01:00Z"), claim("2026-01-01T00:02:00Z"));
    let taken = forge.claim(number, "ready", &first).await.unwrap();
    assert_eq!(taken, Claimed::Won);
    let taken = forge.claim(number, "ready", &second).await.unwrap();
    assert_eq!(taken, Claimed::NotReady);
    assert!(forge.issue(number).await.unwrap().has(IN_FLIGHT));
    assert_eq!(ready().await, 0);
    let release = Release {
        outcome: "FAILED".into(),
        note: Default::default(),
        attempt_counts: true,
        add: vec!["ready".into()],
        remove: vec![IN_FLIGHT.into()],
    };
    forge.release(number, &first, &release).await.unwrap();
    let history = forge.history(number).await.unwrap();
    assert_eq!((history.attempts, history.unreleased.len()), (1, 0));
    assert_eq!(ready().await, 1);
    let pull = NewPull {
        head: "carson/hand/1".into(),
        ..NewPull::default()
    };
    forge.create_pull(&pull).await.unwrap();
    forge.create_pull(&pull).await.unwrap();
    let open = forge.open_pulls_of("carson/hand/").await.unwrap();
    assert_eq!(open.len(), 1);
    // What it lacks, it says, and it knows of no links.
    let lacks = forge.reviews(open[0].number).await.unwrap_err();
    assert_eq!(lacks.to_string(), "this forge has no reviews");
    let lacks = forge.verdicts(open[0].number).await.unwrap_err();
    assert!(matches!(lacks, ForgeError::Lacks { .. }), "{lacks}");
    let once = forge.create_issue_once("plan-1", &new).await.unwrap();
    assert_eq!(forge.create_issue_once("plan-1", &new).await.unwrap(), once);
    assert_eq!(forge.links(number).await.unwrap(), None);
    forge
        .merge_pull(open[0].number, &Merge::default())
        .await
        .unwrap();
    assert!(
        forge
            .open_pulls_of("carson/hand/")
            .await
            .unwrap()
            .is_empty()
    );
}
