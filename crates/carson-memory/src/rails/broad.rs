//! It claims no more than its scope, and its scope is no wider than what it rests on.

use carson_core::lesson::{Evidence, LessonSource, Scope};

use super::phrases::{Phrase, first};
use super::rail::{Breach, Known};
use crate::folded;
use crate::scopes::matches;

/// They speak of more than one repository can show.
const EVERYWHERE: &[Phrase] = &[
    "all|every|any|each|across|whole|entire ~repo|repos|repository|repositories|project|projects|codebase|codebases|fleet|agents|roles|sessions|firings|languages|teams|organisation|organization|company|software|programs|models",
    "always ~everywhere|anywhere|regardless",
    "everywhere|universally|globally|anywhere",
    "in general|principle",
    "no matter what|which|where",
    "best practice|practices",
    "every time|task|issue|change|commit|line|file|function|developer|engineer|programmer",
    "all code|software|systems|tests|changes|commits|files|developers",
    "as a rule",
    "generally|typically|usually",
];

pub(super) fn breach(known: &Known<'_>) -> Option<Breach> {
    let candidate = known.candidate;
    if candidate.source == LessonSource::Operator {
        return None;
    }
    let holds = |why: &str| Some(Breach::Holds(why.to_owned()));
    match &candidate.scope {
        Scope::Fleet => return holds("only a person can say what holds for the whole fleet"),
        Scope::Path(glob) if matches_all(glob) => {
            return holds("its pattern matches every file: name a repository, or fewer files");
        }
        Scope::Role(_) if !shows_a_firing(&candidate.evidence) => {
            return holds("what holds for a role is shown by a firing of it");
        }
        Scope::Repo(repo) if candidate.repo.as_ref().is_some_and(|shown| shown != repo) => {
            return holds("what shows it is in another repository than where it would hold");
        }
        Scope::Path(glob) if !shows_one_of(glob, &candidate.evidence) => {
            return holds("what holds for files is shown by one of them: none of its evidence is");
        }
        _ => {}
    }
    let said = first(&folded::words(&candidate.text), EVERYWHERE)?;
    holds(&format!(
        "it claims more than its scope shows (\u{201c}{said}\u{201d})"
    ))
}

fn shows_one_of(glob: &str, evidence: &[Evidence]) -> bool {
    evidence.iter().any(|one| match one {
        Evidence::File { path, .. } => matches(glob, path),
        _ => false,
    })
}

fn matches_all(glob: &str) -> bool {
    glob.split('/')
        .all(|part| part.chars().all(|c| "*?.".contains(c)))
}

fn shows_a_firing(evidence: &[Evidence]) -> bool {
    evidence
        .iter()
        .any(|one| matches!(one, Evidence::Firing(_)))
}

#[cfg(test)]
mod tests {
    use carson_core::lesson::Severity;
    use carson_redact::Redactor;

    use super::*;
    use crate::candidate::Candidate;

    #[test]
    fn what_holds_somewhere_is_shown_there() {
        let held = |scope: &str, repo: &str, evidence: &str, source: LessonSource| {
            let evidence = vec![evidence.parse().unwrap()];
            let text = "The uploader gives up after three tries";
            let candidate = Candidate {
                repo: Some(repo.parse().unwrap()),
                source,
                severity: Severity::Info,
                ..Candidate::of_operator(text, scope.parse().unwrap(), evidence)
            };
            let redactor = Redactor::default();
            let known = Known {
                candidate: &candidate,
                pieces: &[],
                others: &[],
                redactor: &redactor,
            };
            breach(&known).is_some()
        };
        let (session, file) = (LessonSource::Session, "file:src/up.rs@0a1b2c3:1-2");
        for (scope, repo, evidence, is_held) in [
            ("repo:widget", "widget", file, false),
            ("repo:gadget", "widget", file, true),
            ("path:src/**", "widget", file, false),
            ("path:docs/**", "widget", file, true),
            ("path:src/**", "widget", "pr:7", true),
        ] {
            let found = held(scope, repo, evidence, session);
            assert_eq!(found, is_held, "{scope} {evidence}");
        }
        // A person may know more than the evidence shows.
        assert!(!held("repo:gadget", "widget", file, LessonSource::Operator));
    }
}
