//! A document becomes a [`Plan`], or all findings at once.

use std::collections::BTreeMap;
use std::path::Path;

use super::acceptance::created;
use super::conforms;
use super::policy;
use super::schema::schema;
use super::written::{Mode, Plan, Story};
use crate::stories::finding::Finding;
use crate::stories::hygiene::hidden_letters;
use crate::stories::json::{Json, Pointer};
use crate::stories::scope::Gitignore;

/// Checks a document.
///
/// # Errors
/// All that is wrong with it, in the order of the document's parts.
pub fn checked(document: &Json) -> Result<Plan, Vec<Finding>> {
    let mut findings = conforms::findings(schema(), document);
    findings.extend(hidden_letters(document));
    let read = plan(document);
    if findings.is_empty() {
        match &read {
            Ok(plan) => findings.extend(beyond_the_schema(plan)),
            Err(error) => findings.push(Finding::new(&Pointer::root(), error)),
        }
    } else {
        // What can be said of single texts is said even where others are wrong.
        findings.extend(loose_texts(document));
    }
    findings.dedup();
    match (findings.is_empty(), read) {
        (true, Ok(plan)) => Ok(plan),
        _ => Err(findings),
    }
}

fn plan(document: &Json) -> Result<Plan, String> {
    let value = serde_json::to_value(document).and_then(serde_json::from_value);
    value.map_err(|error: serde_json::Error| error.to_string())
}

/// What no schema can say.
fn beyond_the_schema(plan: &Plan) -> Vec<Finding> {
    let root = Pointer::root();
    let stories = root.key("stories");
    let mut findings = patterns(&plan.scope_ignore, &root.key("scope_ignore"));
    let named = plan.policy.as_deref();
    let policy = named.and_then(|named| Some(policy::finding(named, &policy::path(named).err()?)));
    findings.extend(policy);
    let mut ids = Ids::default();
    for (index, story) in plan.stories.iter().enumerate() {
        let at = stories.item(index);
        findings.extend(ids.repeated(&story.id, &at));
        findings.extend(of_story(story, &at));
    }
    findings
}

/// The ids so far.
#[derive(Default)]
struct Ids<'i>(BTreeMap<String, &'i str>);

impl<'i> Ids<'i> {
    /// Whether there was this one already. Files are named after it, and some file systems do not tell letters by their
    /// case.
    fn repeated(&mut self, id: &'i str, at: &Pointer) -> Option<Finding> {
        let other = self.0.insert(id.to_lowercase(), id)?;
        let message = format!("another story has the same id ({other})");
        Some(Finding::new(&at.key("id"), message))
    }
}

fn of_story(story: &Story, at: &Pointer) -> Vec<Finding> {
    let mut findings = patterns(&story.scope, &at.key("scope"));
    findings.extend(acceptance(&story.acceptance, &at.key("acceptance")));
    if !story.scope.is_empty() && story.scope.iter().all(|one| one.starts_with('!')) {
        let message = "covers nothing: `!` takes out, and nothing is in";
        findings.push(Finding::new(&at.key("scope"), message));
    }
    if story.title.contains('\n') {
        findings.push(Finding::new(&at.key("title"), "must be one line"));
    }
    let makes_nothing = !story.acceptance.iter().any(|line| created(line).is_some());
    if makes_nothing && story.mode == Mode::Audit {
        let message = "an audit leaves a report: say `Created PATH` in `acceptance`";
        findings.push(Finding::new(at, message));
    } else if makes_nothing && story.scope.is_empty() {
        findings.push(Finding::new(at, "may change nothing: say what in `scope`"));
    }
    findings
}

/// What of a plan could never pass where its file is this one: nobody may write the plan.
#[must_use]
pub fn makes_the_plan(plan: &Plan, file: &Path) -> Vec<Finding> {
    let stories = Pointer::root().key("stories");
    let mut findings = Vec::new();
    for (index, story) in plan.stories.iter().enumerate() {
        let at = stories.item(index).key("acceptance");
        let lines = story.acceptance.iter().enumerate();
        let own = lines.filter(|(_, line)| {
            created(line).is_some_and(|made| made.is_ok_and(|path| path == file))
        });
        let message = "is the plan itself, which no story may change";
        findings.extend(own.map(|(line, _)| Finding::new(&at.item(line), message)));
    }
    findings
}

fn patterns(all: &[String], at: &Pointer) -> Vec<Finding> {
    let all = all.iter().enumerate();
    all.filter_map(|(index, text)| {
        let bad = Gitignore::check(text).err()?;
        Some(Finding::new(&at.item(index), bad.to_string()))
    })
    .collect()
}

fn acceptance(all: &[String], at: &Pointer) -> Vec<Finding> {
    let all = all.iter().enumerate();
    all.filter_map(|(index, line)| {
        let bad = created(line)?.err()?;
        Some(Finding::new(&at.item(index), bad.to_string()))
    })
    .collect()
}

/// The same of a document that is no plan: of each id and each list of texts that is one.
fn loose_texts(document: &Json) -> Vec<Finding> {
    let stories = Pointer::root().key("stories");
    let all = document
        .get("stories")
        .and_then(Json::list)
        .unwrap_or_default();
    let (mut findings, mut ids) = (Vec::new(), Ids::default());
    for (index, story) in all.iter().enumerate() {
        let at = stories.item(index);
        let id = story.get("id").and_then(Json::text);
        findings.extend(id.and_then(|id| ids.repeated(id, &at)));
        let texts = |key| texts(story.get(key));
        findings.extend(patterns(&texts("scope"), &at.key("scope")));
        findings.extend(acceptance(&texts("acceptance"), &at.key("acceptance")));
    }
    findings
}

/// Its texts; nothing of a list in which something else stands, whose places would be others.
fn texts(list: Option<&Json>) -> Vec<String> {
    let items = list.and_then(Json::list).unwrap_or_default();
    let texts: Option<Vec<String>> = items
        .iter()
        .map(|item| item.text().map(str::to_owned))
        .collect();
    texts.unwrap_or_default()
}

#[cfg(test)]
mod tests;
