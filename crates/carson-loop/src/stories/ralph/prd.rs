//! ralph-loop's `prd.json`: its rules, and what is read of it.

mod rules;

use std::path::PathBuf;

use super::contract::Contract;
use super::settings::Mode;
use crate::stories::finding::Finding;
use crate::stories::json::Json;

/// A PRD that is right.
#[derive(Clone, Debug, PartialEq)]
pub struct Prd {
    /// The document as it was written: what changes, changes there.
    pub document: Json,
    /// What it is for.
    pub project: String,
    /// The branch that it names.
    pub branch: Option<String>,
    /// What holds where nobody says otherwise.
    pub defaults: Defaults,
    /// Its stories, as they stand.
    pub stories: Vec<Story>,
}

/// What holds where nobody says otherwise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Defaults {
    /// The mode.
    pub mode: Mode,
    /// How many stories of a run; `None` is all that are open.
    pub max_stories: Option<u64>,
    /// The model.
    pub model: String,
    /// How hard it thinks.
    pub effort: String,
    /// Where reports stand, from the top of the repository; without `./` before and `/` behind.
    pub report_dir: String,
}

/// One story.
#[derive(Clone, Debug, PartialEq)]
pub struct Story {
    /// `AUDIT-001`
    pub id: String,
    /// In one line.
    pub title: String,
    /// The smallest comes first.
    pub priority: f64,
    /// What it may do.
    pub mode: Mode,
    /// What it may change.
    pub scope: Vec<String>,
    /// What must be so in the end.
    pub acceptance: Vec<String>,
    /// The one line of it that begins with `Created`.
    pub created: String,
    /// It is done.
    pub passes: bool,
    /// It was given up.
    pub skipped: bool,
    /// What it is for.
    pub objective: String,
    /// How to go about it.
    pub steps: Vec<Step>,
    /// What is looked at in the end.
    pub verification: Vec<String>,
    /// What it is not about.
    pub out_of_scope: Vec<String>,
    /// What else there is to say.
    pub notes: String,
}

/// A step of a story.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// Its name; without one its place counts.
    pub id: String,
    /// In one line.
    pub title: String,
    /// What is done.
    pub actions: Vec<String>,
    /// What shows that it was.
    pub expected_evidence: Vec<String>,
    /// When it is over.
    pub done_when: Vec<String>,
}

impl Prd {
    /// Reads a document by the rules, with the keys of this contract.
    ///
    /// # Errors
    /// All that is wrong with it.
    pub fn read(document: Json, contract: &Contract) -> Result<Self, Vec<Finding>> {
        let findings = rules::findings(&document, contract);
        if !findings.is_empty() {
            return Err(findings);
        }
        Ok(Self::of(document))
    }

    /// Whether a document is one of ralph-loop's, right or not.
    #[must_use]
    pub fn is_one(document: &Json) -> bool {
        ["schema_version", "defaults"]
            .iter()
            .all(|key| document.get(key).is_some())
            || document.get("version").is_none() && has_story_of_ralph(document)
    }

    fn of(document: Json) -> Self {
        let text = |key: &str| document.get(key).and_then(Json::text).unwrap_or_default();
        let branch = [text("branch_name"), text("branchName")]
            .into_iter()
            .find(|name| !name.is_empty());
        let stories = document
            .get("stories")
            .and_then(Json::list)
            .unwrap_or_default();
        Self {
            project: text("project").to_owned(),
            branch: branch.map(str::to_owned),
            defaults: defaults(document.get("defaults").unwrap_or(&Json::Null)),
            stories: stories.iter().map(story).collect(),
            document,
        }
    }

    /// The open stories of a mode, in the order in which they are done.
    #[must_use]
    pub fn open(&self, mode: Mode) -> Vec<&Story> {
        let is_open = |story: &&Story| story.mode == mode && !story.passes && !story.skipped;
        let mut open: Vec<&Story> = self.stories.iter().filter(is_open).collect();
        open.sort_by(|a, b| {
            a.priority
                .total_cmp(&b.priority)
                .then_with(|| a.id.cmp(&b.id))
        });
        open
    }

    /// A story by its name.
    #[must_use]
    pub fn story(&self, id: &str) -> Option<&Story> {
        self.stories.iter().find(|story| story.id == id)
    }

    /// The same with a story that passed.
    #[must_use]
    pub fn passed(self, id: &str, report: &str, now: &str) -> Self {
        self.changed(id, &["skip_reason", "skipped_at"], |set| {
            set("passes", Json::Bool(true));
            set("skipped", Json::Bool(false));
            set("completed_at", Json::Text(now.into()));
            set("report_path", Json::Text(report.into()));
        })
    }

    /// The same with a story that was given up.
    #[must_use]
    pub fn skipped(self, id: &str, reason: &str, now: &str) -> Self {
        self.changed(id, &["report_path", "completed_at"], |set| {
            set("passes", Json::Bool(false));
            set("skipped", Json::Bool(true));
            set("skip_reason", Json::Text(reason.into()));
            set("skipped_at", Json::Text(now.into()));
        })
    }

    fn changed(
        mut self,
        id: &str,
        gone: &[&str],
        change: impl FnOnce(&mut dyn FnMut(&str, Json)),
    ) -> Self {
        let stories = self
            .document
            .object_mut()
            .and_then(|root| root.get_mut("stories"));
        let stories = stories.and_then(Json::list_mut);
        let is_it = |story: &&mut Json| story.get("id").and_then(Json::text) == Some(id);
        let story = stories.and_then(|all| all.iter_mut().find(is_it));
        if let Some(object) = story.and_then(Json::object_mut) {
            change(&mut |key, value| object.set(key, value));
            gone.iter().for_each(|key| object.remove(key));
        }
        Self::of(self.document)
    }
}

fn has_story_of_ralph(document: &Json) -> bool {
    let stories = document
        .get("stories")
        .and_then(Json::list)
        .unwrap_or_default();
    stories
        .iter()
        .any(|story| story.get("passes").is_some() && story.get("acceptance_criteria").is_some())
}

fn defaults(json: &Json) -> Defaults {
    let text = |key: &str| text_of(json, key);
    let max = json.get("max_stories_default");
    let dir = text("report_dir");
    let dir = dir.strip_prefix("./").unwrap_or(&dir);
    Defaults {
        mode: Mode::of(&text("mode_default")).unwrap_or(Mode::Audit),
        max_stories: max.and_then(rules::whole),
        model: text("model_default"),
        effort: text("reasoning_effort_default"),
        report_dir: dir.strip_suffix('/').unwrap_or(dir).to_owned(),
    }
}

fn story(json: &Json) -> Story {
    let text = |key: &str| text_of(json, key);
    let is = |key: &str| json.get(key) == Some(&Json::Bool(true));
    let acceptance = texts_of(json, "acceptance_criteria");
    let created = acceptance.iter().find(|line| rules::is_created_line(line));
    let steps = json.get("steps").and_then(Json::list).unwrap_or_default();
    Story {
        id: text("id"),
        title: text("title"),
        priority: json
            .get("priority")
            .and_then(rules::number)
            .unwrap_or(f64::MAX),
        mode: Mode::of(&text("mode")).unwrap_or(Mode::Audit),
        scope: texts_of(json, "scope"),
        created: created.cloned().unwrap_or_default(),
        acceptance,
        passes: is("passes"),
        skipped: is("skipped"),
        objective: text("objective"),
        steps: steps.iter().map(step).collect(),
        verification: texts_of(json, "verification"),
        out_of_scope: texts_of(json, "out_of_scope"),
        notes: text("notes"),
    }
}

fn step(json: &Json) -> Step {
    Step {
        id: text_of(json, "id"),
        title: text_of(json, "title"),
        actions: texts_of(json, "actions"),
        expected_evidence: texts_of(json, "expected_evidence"),
        done_when: texts_of(json, "done_when"),
    }
}

fn text_of(json: &Json, key: &str) -> String {
    json.get(key)
        .and_then(Json::text)
        .unwrap_or_default()
        .to_owned()
}

fn texts_of(json: &Json, key: &str) -> Vec<String> {
    let items = json.get(key).and_then(Json::list).unwrap_or_default();
    items
        .iter()
        .filter_map(Json::text)
        .map(str::to_owned)
        .collect()
}

/// Where a report of a story is said to be, as it is written in its line; nothing has been looked at yet.
#[must_use]
pub fn report_of(created: &str) -> PathBuf {
    let rest = created
        .strip_prefix("Created")
        .unwrap_or(created)
        .trim_start();
    let word = rest.split_whitespace().next().unwrap_or_default();
    let word = word.strip_prefix('`').unwrap_or(word);
    let mut word = word.strip_suffix('`').unwrap_or(word);
    while let Some(rest) = word.strip_prefix("./") {
        word = rest;
    }
    PathBuf::from(word)
}

#[cfg(test)]
pub(super) mod tests;
