//! Prompts are templates; what is wrong with one is found before a session is paid for.

use std::path::Path;

use minijinja::Environment;

use crate::finding::Finding;
use crate::nearest::nearest;

/// What a prompt may name between `{{` and `}}`.
pub const PROMPT_NAMES: [&str; 18] = [
    "role_title",
    "repo",
    "base",
    "branch",
    "work.number",
    "task",
    "plan",
    "findings",
    "diff",
    "feedback",
    "claim",
    "promise",
    "attempt",
    "max_attempts",
    "max_turns",
    "blocked",
    "policy",
    "outbox",
];

/// Finds what would keep a prompt from being filled.
pub(crate) fn check(file: &Path, text: &str, findings: &mut Vec<Finding>) {
    let templates = Environment::new();
    let template = match templates.template_from_str(text) {
        Ok(template) => template,
        Err(error) => {
            let why = error.detail().unwrap_or("it cannot be read").to_owned();
            let finding = Finding::new(file, error.line(), "", format!("the prompt: {why}"));
            findings.push(finding.hint("a name is written {{ task }}, a condition {% if plan %}"));
            return;
        }
    };
    let mut unknown: Vec<String> = template.undeclared_variables(true).into_iter().collect();
    unknown.retain(|name| !PROMPT_NAMES.contains(&name.as_str()));
    unknown.sort();
    for name in unknown {
        let line = text.lines().position(|line| line.contains(&name));
        let problem = format!("the prompt names {name}, which there is not");
        let finding = Finding::new(file, line.map(|line| line + 1), "", problem);
        findings.push(match nearest(&name, &PROMPT_NAMES) {
            Some(near) => finding.hint(format!("did you mean {near}?")),
            None => finding.hint(format!("there are: {}", PROMPT_NAMES.join(", "))),
        });
    }
}
