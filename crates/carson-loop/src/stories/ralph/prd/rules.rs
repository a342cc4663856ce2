//! What must be so in a PRD of ralph-loop.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;

use super::super::contract::Contract;
use super::super::pattern::of_text as pattern;
use super::super::settings::Mode;
use crate::stories::finding::Finding;
use crate::stories::json::{Json, Object, Pointer};

static CREATED: LazyLock<Regex> = LazyLock::new(|| pattern(r"^Created\s+`?[^`\s]+`?(\s+.*)?$"));
static ID: LazyLock<Regex> = LazyLock::new(|| pattern("^(AUDIT|LINT|FIX)-[0-9]{3}$"));
static VERSION: LazyLock<Regex> = LazyLock::new(|| pattern(r"^[0-9]+\.[0-9]+\.[0-9]+$"));
static TIME: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?(Z|[+-][0-9]{2}:[0-9]{2})$",
    )
});

/// Whether a line of acceptance says which report is made.
pub(super) fn is_created_line(line: &str) -> bool {
    CREATED.is_match(line)
}

/// A number.
pub(super) fn number(json: &Json) -> Option<f64> {
    match json {
        Json::Number(number) => number.as_f64(),
        _ => None,
    }
}

/// A whole number, 0 or more; `2.0` is one, too.
pub(super) fn whole(json: &Json) -> Option<u64> {
    let value = number(json).filter(|value| *value >= 0.0 && value.fract() == 0.0)?;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "it is whole and not below 0; what is larger than any is the largest"
    )]
    Some(value as u64)
}

/// All that is not as it must be.
pub(super) fn findings(document: &Json, contract: &Contract) -> Vec<Finding> {
    let mut check = Check {
        contract,
        findings: Vec::new(),
    };
    check.document(document);
    check.findings
}

struct Check<'c> {
    contract: &'c Contract,
    findings: Vec<Finding>,
}

impl Check<'_> {
    fn say(&mut self, at: &Pointer, message: impl Into<String>) {
        self.findings.push(Finding::new(at, message));
    }

    fn hold(&mut self, at: &Pointer, so: bool, message: &str) {
        if !so {
            self.say(at, message);
        }
    }

    fn document(&mut self, document: &Json) {
        let root = Pointer::root();
        let Some(object) = document.object() else {
            return self.say(&root, "must be an object");
        };
        self.only(object, &root, &self.contract.root.clone());
        let version = text(object, "schema_version").is_some_and(|text| VERSION.is_match(text));
        self.hold(
            &root.key("schema_version"),
            version,
            "must be a version (1.0.0)",
        );
        self.filled(object, "project", &root, true);
        for key in ["$schema", "branch_name", "branchName"] {
            self.filled(object, key, &root, false);
        }
        let branches = (object.get("branch_name"), object.get("branchName"));
        if let (Some(one), Some(other)) = branches {
            self.hold(
                &root.key("branchName"),
                one == other,
                "must be the same as `branch_name`",
            );
        }
        self.defaults(object.get("defaults"), &root.key("defaults"));
        self.stories(object.get("stories"), &root.key("stories"));
    }

    fn only(&mut self, object: &Object, at: &Pointer, known: &BTreeSet<String>) {
        for (key, _) in object.entries() {
            self.hold(&at.key(key), known.contains(key), "is not known here");
        }
    }

    /// A text that is not empty; one that may be left out.
    fn filled(&mut self, object: &Object, key: &str, at: &Pointer, required: bool) {
        let is_filled = |json: &Json| json.text().is_some_and(|text| !text.is_empty());
        let right = object.get(key).map_or(!required, is_filled);
        self.hold(&at.key(key), right, "must be a text that is not empty");
    }

    /// A list of such texts.
    fn filled_list(&mut self, object: &Object, key: &str, at: &Pointer, least: usize) {
        let at = at.key(key);
        let Some(items) = object.get(key).and_then(Json::list) else {
            return self.say(&at, "must be a list of texts");
        };
        self.hold(&at, items.len() >= least, "must not be empty");
        for (index, item) in items.iter().enumerate() {
            let right = item.text().is_some_and(|text| !text.is_empty());
            self.hold(&at.item(index), right, "must be a text that is not empty");
        }
    }

    fn defaults(&mut self, json: Option<&Json>, at: &Pointer) {
        let Some(object) = json.and_then(Json::object) else {
            return self.say(at, "must be an object");
        };
        self.only(object, at, &self.contract.defaults.clone());
        for key in self.contract.defaults.clone() {
            self.hold(at, object.get(&key).is_some(), &format!("has no `{key}`"));
        }
        let mode = text(object, "mode_default").is_some_and(|word| Mode::of(word).is_ok());
        self.hold(&at.key("mode_default"), mode, MODES);
        let max = object.get("max_stories_default");
        let max = max.is_some_and(|max| whole(max).is_some() || max.text() == Some("all_open"));
        self.hold(
            &at.key("max_stories_default"),
            max,
            "must be a whole number, or \"all_open\"",
        );
        self.filled(object, "model_default", at, true);
        let effort = text(object, "reasoning_effort_default");
        let effort = effort.is_some_and(|word| ["low", "medium", "high"].contains(&word));
        self.hold(
            &at.key("reasoning_effort_default"),
            effort,
            "must be one of low, medium, high",
        );
        let dir = text(object, "report_dir").is_some_and(stays_inside);
        self.hold(
            &at.key("report_dir"),
            dir,
            "must be a relative path without `..`",
        );
        self.sandbox(object.get("sandbox_by_mode"), &at.key("sandbox_by_mode"));
        self.filled_list(object, "lint_detection_order", at, 1);
    }

    fn sandbox(&mut self, json: Option<&Json>, at: &Pointer) {
        let right = [
            ("audit", "read-only"),
            ("linting", "read-only"),
            ("fixing", "workspace-write"),
        ];
        let Some(object) = json.and_then(Json::object) else {
            return self.say(at, "must be an object");
        };
        self.only(object, at, &right.map(|(mode, _)| mode.to_owned()).into());
        for (mode, sandbox) in right {
            let so = text(object, mode) == Some(sandbox);
            self.hold(&at.key(mode), so, &format!("must be \"{sandbox}\""));
        }
    }

    fn stories(&mut self, json: Option<&Json>, at: &Pointer) {
        let stories = json.and_then(Json::list).unwrap_or_default();
        self.hold(at, !stories.is_empty(), "must be a list of stories");
        let mut ids = BTreeSet::new();
        for (index, story) in stories.iter().enumerate() {
            let at = at.item(index);
            let Some(object) = story.object() else {
                self.say(&at, "must be an object");
                continue;
            };
            self.story(object, &at);
            let id = text(object, "id").map(str::to_owned);
            let is_new = id.is_none_or(|id| ids.insert(id));
            self.hold(&at.key("id"), is_new, "another story has the same id");
        }
    }

    fn story(&mut self, story: &Object, at: &Pointer) {
        for key in self.contract.story_required.clone() {
            self.hold(at, story.get(&key).is_some(), &format!("has no `{key}`"));
        }
        self.only(story, at, &self.contract.story.clone());
        let id = text(story, "id").is_some_and(|id| ID.is_match(id));
        self.hold(
            &at.key("id"),
            id,
            "must look like AUDIT-001, LINT-001 or FIX-001",
        );
        self.filled(story, "title", at, true);
        let priority = story
            .get("priority")
            .and_then(whole)
            .is_some_and(|one| one >= 1);
        self.hold(
            &at.key("priority"),
            priority,
            "must be a whole number, 1 or more",
        );
        let mode = text(story, "mode").is_some_and(|word| Mode::of(word).is_ok());
        self.hold(&at.key("mode"), mode, MODES);
        self.filled_list(story, "scope", at, 1);
        self.filled_list(story, "acceptance_criteria", at, 1);
        self.one_report(story, &at.key("acceptance_criteria"));
        self.filled(story, "objective", at, false);
        for key in ["verification", "out_of_scope"] {
            if story.get(key).is_some() {
                self.filled_list(story, key, at, 0);
            }
        }
        let notes = story
            .get("notes")
            .is_none_or(|notes| notes.text().is_some());
        self.hold(&at.key("notes"), notes, "must be a text");
        if let Some(steps) = story.get("steps") {
            self.steps(steps, &at.key("steps"));
        }
        self.state(story, at);
    }

    fn one_report(&mut self, story: &Object, at: &Pointer) {
        let lines = story
            .get("acceptance_criteria")
            .and_then(Json::list)
            .unwrap_or_default();
        let created = lines
            .iter()
            .filter_map(Json::text)
            .filter(|line| is_created_line(line));
        let message = "must hold exactly one line `Created PATH …`";
        self.hold(at, created.count() == 1, message);
    }

    fn steps(&mut self, json: &Json, at: &Pointer) {
        let steps = json.list().unwrap_or_default();
        self.hold(at, !steps.is_empty(), "must be a list of steps");
        for (index, step) in steps.iter().enumerate() {
            let at = at.item(index);
            let Some(object) = step.object() else {
                self.say(&at, "must be an object");
                continue;
            };
            self.only(object, &at, &self.contract.step.clone());
            self.filled(object, "id", &at, false);
            self.filled(object, "title", &at, true);
            for key in ["actions", "expected_evidence", "done_when"] {
                self.filled_list(object, key, &at, 1);
            }
        }
    }

    /// What stands in a story that is done, one that was given up, and one that is open.
    fn state(&mut self, story: &Object, at: &Pointer) {
        let is = |key: &str| story.get(key) == Some(&Json::Bool(true));
        for key in ["passes", "skipped"] {
            let right = story
                .get(key)
                .is_none_or(|value| matches!(value, Json::Bool(_)));
            self.hold(&at.key(key), right, "must be true or false");
        }
        let time = |key: &str| text(story, key).is_some_and(|time| TIME.is_match(time));
        let when = "must be a time (2026-01-02T03:04:05Z)";
        if is("passes") {
            let report = text(story, "report_path");
            let report = report
                .is_some_and(|path| stays_inside(path) && path.len() > 3 && path.ends_with(".md"));
            self.hold(
                &at.key("report_path"),
                report,
                "must be the relative path of an .md file: the story passes",
            );
            self.hold(&at.key("completed_at"), time("completed_at"), when);
            self.hold(
                &at.key("skipped"),
                !is("skipped"),
                "a story that passes was not skipped",
            );
        } else {
            for key in ["report_path", "completed_at"] {
                self.hold(
                    &at.key(key),
                    story.get(key).is_none(),
                    "only a story that passes has it",
                );
            }
        }
        if is("skipped") {
            let reason = text(story, "skip_reason").is_some_and(|reason| !reason.is_empty());
            self.hold(
                &at.key("skip_reason"),
                reason,
                "must say why the story was skipped",
            );
            self.hold(&at.key("skipped_at"), time("skipped_at"), when);
        } else {
            for key in ["skip_reason", "skipped_at"] {
                self.hold(
                    &at.key(key),
                    story.get(key).is_none(),
                    "only a story that was skipped has it",
                );
            }
        }
    }
}

const MODES: &str = "must be one of audit, linting, fixing";

fn text<'j>(object: &'j Object, key: &str) -> Option<&'j str> {
    object.get(key).and_then(Json::text)
}

/// A relative path that leads nowhere else.
fn stays_inside(path: &str) -> bool {
    !path.is_empty()
        && !path.starts_with('/')
        && !path.contains('\n')
        && path.split('/').all(|part| part != "..")
}
