//! What of it is done, and what is refused.

mod order;

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use self::order::Order;
use super::{Declared, Grant, Outbox, ReviewVerdict};
use crate::effect::Effect;
use crate::id::RepoName;
use crate::text::{counted, matches};
use crate::untrusted::{Page, is_hidden, one_line};

/// Entries that are looked at; whoever writes more has not understood.
const ENTRIES: usize = 50;
/// Letters of a title.
const TITLE: usize = 200;
/// Bytes of a text.
const BODY: usize = 32 * 1024;
/// Bytes of what people read of a pull request: Carson's own lines have room beside it, whatever it is made of.
const PULL_BODY: usize = 16 * 1024;
/// Letters of a label, as GitHub has it.
const LABEL: usize = 50;
/// Labels of one entry.
const LABELS: usize = 10;
/// Letters of what somebody else wrote in a reason.
const SHOWN: usize = 60;
/// How urgent a finding is that stands in the way.
const URGENT: &str = "p0";

/// What a firing works on, and what it may not touch: everything else is nobody's business of its.
#[derive(Clone, Debug, Default)]
pub struct Given {
    /// The issue that it works on.
    pub issue: Option<u64>,
    /// The pull request that it works on, and the commit that its sessions see.
    pub pull: Option<(u64, String)>,
    /// Threads of that, as its forge calls them, which it may answer.
    pub threads: Vec<String>,
    /// Entries with a secret in the text of a change: their places in the file, from 1.
    pub leaks: BTreeSet<usize>,
    /// Labels that steer the fleet: those of roles' queues, and Carson's own.
    pub steering: Vec<String>,
    /// Issues that the role filed within the last 24 hours.
    pub filed: u32,
    /// Names that never leave.
    pub scrub: Vec<String>,
    /// The repository of its work.
    pub repo: String,
    /// Other repositories in which it may file issues, and the names that never get into each.
    pub elsewhere: BTreeMap<RepoName, Vec<String>>,
}

/// What is done, and what is not.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Admitted {
    /// What Carson does, in this order.
    #[serde(default)]
    pub effects: Vec<Effect>,
    /// What people read of the pull request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pull: Option<PullText>,
    /// What it does not.
    #[serde(default)]
    pub refused: Vec<Refused>,
}

/// What people read of a pull request, in a session's words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PullText {
    /// Its title.
    pub title: Page,
    /// What it is about, as a quotation.
    pub body: Page,
}

/// One entry that is not done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refused {
    /// Its place in the file, from 1.
    pub n: usize,
    /// Its word there.
    pub kind: String,
    /// Why.
    pub why: String,
}

/// What was admitted so far.
#[derive(Default)]
struct Counts {
    comments: u32,
    issues: u32,
    reviews: u32,
    closed: u32,
    answered: BTreeSet<String>,
    replies: u32,
    pull: Option<PullText>,
    order: Order,
}

impl Admitted {
    /// Whether nothing was asked for.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.effects.is_empty() && self.pull.is_none() && self.refused.is_empty()
    }
}

impl Outbox {
    /// Holds every entry against the grant. Each is judged alone: one that is refused holds up no other.
    #[must_use]
    pub fn admit(&self, grant: &Grant, given: &Given) -> Admitted {
        let mut admitted = Admitted::default();
        let mut counts = Counts::default();
        for (n, entry) in (1..).zip(&self.effects) {
            let judged = match n <= ENTRIES {
                true => judge((n, entry), grant, given, &mut counts),
                false => Err(format!("only {ENTRIES} entries are looked at")),
            };
            match judged {
                Ok(effects) => admitted.effects.extend(effects),
                Err(why) => admitted.refused.push(Refused {
                    n,
                    kind: entry.kind().to_owned(),
                    why,
                }),
            }
        }
        admitted.pull = counts.pull;
        admitted
    }
}

fn judge(
    (n, entry): (usize, &Declared),
    grant: &Grant,
    given: &Given,
    counts: &mut Counts,
) -> Result<Vec<Effect>, String> {
    match entry {
        Declared::Label { issue, add, remove } => {
            let issue = the_issue(*issue, given)?;
            labels(add, grant, given)?;
            labels(remove, grant, given)?;
            if add.is_empty() && remove.is_empty() {
                return Err("it names no label".to_owned());
            }
            Ok(vec![Effect::SetLabels {
                issue,
                add: add.clone(),
                remove: remove.clone(),
            }])
        }
        Declared::Comment { issue, body } => {
            let issue = the_issue(*issue, given)?;
            let body = prose(body, &given.scrub)?;
            take(&mut counts.comments, grant.comments, "comment")?;
            Ok(vec![Effect::Comment { on: issue, body }])
        }
        Declared::Close { issue, reason } => {
            let issue = the_issue(*issue, given)?;
            let body = prose(reason, &given.scrub)?;
            if !grant.close {
                return Err("the role may close no issue".to_owned());
            }
            take(&mut counts.closed, 1, "closed issue")?;
            Ok(vec![
                Effect::Comment { on: issue, body },
                Effect::CloseIssue { issue },
            ])
        }
        Declared::Issue {
            title,
            body,
            labels: own,
            repo,
            after,
        } => {
            let (repo, never) = target(repo.as_deref(), given)?;
            let title = title_of(title, &never)?;
            let body = prose(body, &never)?;
            labels(own, grant, given)?;
            let after = counts.order.before(n, after)?;
            if given.filed.saturating_add(counts.issues) >= grant.issues_per_day {
                let most = counted(grant.issues_per_day, "issue");
                return Err(format!("the role files at most {most} in 24 hours"));
            }
            take(&mut counts.issues, grant.issues, "new issue")?;
            counts.order.add(n, counts.issues);
            let of_queue = Some(&grant.issue_label).filter(|label| !label.is_empty());
            Ok(vec![Effect::FileIssue {
                topic: None,
                repo,
                after,
                title,
                body,
                labels: of_queue.into_iter().chain(own).cloned().collect(),
            }])
        }
        Declared::Review {
            pull,
            head,
            verdict,
            body,
        } => {
            let (pull, head) = the_pull((*pull, head), given)?;
            let text = prose(body, &given.scrub)?;
            take(&mut counts.reviews, u32::from(grant.review), "review")?;
            // As it was written, and as people will read it: what nobody sees is taken out of that.
            let is_urgent = has_urgent(body) || has_urgent(text.as_str());
            let ship = *verdict == ReviewVerdict::Approve && !is_urgent;
            Ok(vec![Effect::Review {
                pull,
                head,
                ship,
                body: text,
            }])
        }
        Declared::Reply { thread, body } => {
            let (pull, thread) = the_thread(thread, given)?;
            let body = of_a_change((n, body), BODY, given)?;
            if counts.answered.contains(&thread) {
                return Err(format!("it answers the thread {thread:?} already"));
            }
            take(&mut counts.replies, grant.replies, "reply")?;
            counts.answered.insert(thread.clone());
            Ok(vec![Effect::Reply { pull, thread, body }])
        }
        Declared::Pull { title, body } => {
            let title = title_of(title, &given.scrub)?;
            let body = of_a_change((n, body), PULL_BODY, given)?;
            let mut said = u32::from(counts.pull.is_some());
            take(&mut said, u32::from(grant.pull), "text of the pull request")?;
            counts.pull = Some(PullText { title, body });
            Ok(Vec::new())
        }
    }
}

fn the_issue(issue: u64, given: &Given) -> Result<u64, String> {
    match given.issue {
        Some(own) if own == issue => Ok(issue),
        Some(own) => Err(format!("#{issue} is not its work: it was given #{own}")),
        None => Err(format!("#{issue} is not its work: it was given no issue")),
    }
}

/// A thread that waits for an answer. What others are called is a session's invention, or a stranger's word.
fn the_thread(thread: &str, given: &Given) -> Result<(u64, String), String> {
    let mut threads = given.threads.iter();
    let known = threads.find(|known| *known == thread);
    match (&given.pull, known) {
        (Some((pull, _)), Some(known)) => Ok((*pull, known.clone())),
        _ => {
            let thread = one_line(thread, SHOWN);
            Err(format!(
                "the thread {thread:?} is none of those that it was given"
            ))
        }
    }
}

/// The repository of a new issue, where it is not that of the work, and the names that never get into its text:
/// people read that in both.
fn target(repo: Option<&str>, given: &Given) -> Result<(Option<RepoName>, Vec<String>), String> {
    let Some(name) = repo.filter(|name| *name != given.repo) else {
        return Ok((None, given.scrub.clone()));
    };
    let mut all = given.elsewhere.iter();
    let Some((known, scrub)) = all.find(|(known, _)| known.as_str() == name) else {
        let name = one_line(name, SHOWN);
        return Err(format!("the role files no issues in a repository {name:?}"));
    };
    Ok((
        Some(known.clone()),
        [given.scrub.as_slice(), scrub.as_slice()].concat(),
    ))
}

/// The commit may be shortened, and is the one that the session saw.
fn the_pull((pull, head): (u64, &str), given: &Given) -> Result<(u64, String), String> {
    let Some((own, seen)) = &given.pull else {
        return Err(format!(
            "#{pull} is not its work: it was given no pull request"
        ));
    };
    if *own != pull {
        return Err(format!("#{pull} is not its work: it was given #{own}"));
    }
    if head.len() < 7 || !seen.starts_with(&head.to_ascii_lowercase()) {
        let (head, seen) = (one_line(head, SHOWN), &seen[..seen.len().min(12)]);
        return Err(format!(
            "it judges the commit {head:?}, and was shown {seen}"
        ));
    }
    Ok((pull, seen.clone()))
}

fn take(count: &mut u32, most: u32, noun: &str) -> Result<(), String> {
    if *count >= most {
        return Err(match most {
            0 => format!("the role may make no {noun}"),
            _ => format!(
                "the role may make at most {} in one firing",
                counted(most, noun)
            ),
        });
    }
    *count += 1;
    Ok(())
}

fn labels(labels: &[String], grant: &Grant, given: &Given) -> Result<(), String> {
    if labels.len() > LABELS {
        return Err(format!("at most {LABELS} labels at once"));
    }
    labels
        .iter()
        .try_for_each(|label| one_label(label, grant, given))
}

fn one_label(label: &str, grant: &Grant, given: &Given) -> Result<(), String> {
    let shown = one_line(label, SHOWN);
    let folded = label.trim().to_lowercase();
    // Whoever compares labels leaves out case and space, and so a comma or a line break is none.
    let is_odd = folded.is_empty() || one_line(label, LABEL) != label || label.contains(',');
    if is_odd {
        return Err(format!("{shown:?} is no label"));
    }
    let steers = given
        .steering
        .iter()
        .any(|own| own.trim().to_lowercase() == folded);
    if steers || folded.starts_with("carson:") {
        return Err(format!("the label {shown:?} steers the fleet"));
    }
    let granted = grant.labels.iter();
    let granted = granted.map(|pattern| pattern.trim().to_lowercase());
    match granted
        .into_iter()
        .any(|pattern| matches(&pattern, &folded))
    {
        true => Ok(()),
        false => Err(format!(
            "the label {shown:?} is not among those that the role may use"
        )),
    }
}

fn title_of(title: &str, never: &[String]) -> Result<Page, String> {
    scrubbed(title, never)?;
    let line = one_line(title, TITLE + 1);
    match line.chars().count() {
        0 => Err("its title is empty".to_owned()),
        1..=TITLE => Ok(Page::default().title(&line)),
        _ => Err(format!("its title has more than {TITLE} letters")),
    }
}

fn scrubbed(text: &str, never: &[String]) -> Result<(), String> {
    match holds_name(text, never) {
        true => Err("it has a name that never leaves (`scrub` of the repository)".to_owned()),
        false => Ok(()),
    }
}

/// Whether a text has one of these names of customers, hosts, people: in any case, and however it is spaced.
#[must_use]
pub fn holds_name(text: &str, names: &[String]) -> bool {
    let plain = |text: &str| {
        let seen: String = text
            .chars()
            .filter(|c| c.is_whitespace() || !is_hidden(*c))
            .collect();
        let words: Vec<&str> = seen.split_whitespace().collect();
        words.join(" ").to_lowercase()
    };
    let text = plain(text);
    let mut names = names.iter().map(|name| plain(name));
    names.any(|name| !name.is_empty() && text.contains(&name))
}

fn prose(body: &str, never: &[String]) -> Result<Page, String> {
    scrubbed(body, never)?;
    bounded(Page::default().prose(body), body, BODY)
}

/// What stands beside Carson's own lines is a quotation.
fn of_a_change((n, body): (usize, &str), most: usize, given: &Given) -> Result<Page, String> {
    if given.leaks.contains(&n) {
        return Err("it has a secret".to_owned());
    }
    scrubbed(body, &given.scrub)?;
    bounded(Page::default().quotes_prose(body), body, most)
}

fn bounded(page: Page, body: &str, most: usize) -> Result<Page, String> {
    if page.as_str().trim().is_empty() {
        return Err("its text is empty".to_owned());
    }
    match body.len() <= most {
        true => Ok(page),
        false => Err(format!("its text has more than {most} bytes")),
    }
}

/// Whether a review says anything below a heading of the first urgency, whatever its verdict is: facts
/// win, and only towards no.
fn has_urgent(body: &str) -> bool {
    // The heading's depth, while what follows is below it; 0 is one that only looks like a heading.
    let mut below: Option<usize> = None;
    for line in body.lines().map(str::trim) {
        let depth = line.bytes().take_while(|byte| *byte == b'#').count();
        match urgency(line) {
            Some((URGENT, rest)) => {
                if depth == 0 && !says_none(rest) {
                    return true;
                }
                below = Some(depth);
            }
            Some(_) => below = None,
            None if below.is_some_and(|own| depth > 0 && depth <= own.max(1)) => below = None,
            None if below.is_some() && !says_none(line) => return true,
            None => {}
        }
    }
    false
}

/// The urgency that a line begins with, and the rest of it.
fn urgency(line: &str) -> Option<(&'static str, &str)> {
    let text = line.trim_start_matches(|c: char| !c.is_alphanumeric());
    let word = text.get(..2)?.to_ascii_lowercase();
    let rest = &text[2..];
    if rest.starts_with(char::is_alphanumeric) {
        return None;
    }
    let found = [URGENT, "p1", "p2", "p3"]
        .into_iter()
        .find(|one| *one == word);
    found.map(|found| (found, rest))
}

/// Whether a line says that there is nothing.
fn says_none(line: &str) -> bool {
    let words = line.split(|c: char| !c.is_alphanumeric());
    let words: Vec<String> = words
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    let said = words.join(" ");
    ["", "none", "nothing", "no findings", "n a"].contains(&said.as_str())
}

#[cfg(test)]
mod tests;
