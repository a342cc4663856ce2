//! What Alfred remembers: the snapshot that `alfred brain export` writes, lines of JSON, and the rows of its database.
//!
//! A lesson has an id, a codename (a role there), a repository, a body, a severity, tags, perhaps a firing and when it was
//! made; a candidate has evidence, a confidence and a status beside that. Everything is a candidate here: what Alfred
//! promoted by itself has not gone through this gate. The whole record stays with it.

use carson_core::RepoName;
use carson_core::lesson::{
    BODY_MAX, Evidence, LessonId, LessonKind, LessonSource, LessonState, Scope, Severity, TEXT_MAX,
};
use carson_redact::Redactor;
use carson_store::{Change, NewLesson, Valid};
use chrono::{DateTime, NaiveDateTime, Utc};
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use thiserror::Error;

use crate::words;

/// The lists of a snapshot that hold lessons.
const LISTS: [&str; 3] = ["lessons", "memory_candidates", "candidates"];

/// What is no memory of Alfred's.
#[derive(Debug, Error)]
pub enum AlfredError {
    /// It is no JSON.
    #[error("it is no JSON, and no lines of JSON: {0}")]
    Json(#[from] serde_json::Error),
    /// It has no lists of lessons.
    #[error("it has neither `lessons` nor `memory_candidates`, nor is it a list of them")]
    NoLessons,
    /// A record is none.
    #[error("record {n} is no lesson: {why}")]
    Record {
        /// Which, from 1.
        n: usize,
        /// What is wrong with it.
        why: String,
    },
}

/// The lessons of a file, as they are written down here. `repo_of` says what a repository of Alfred's is called here.
///
/// # Errors
/// When it is none of Alfred's; nothing is read then.
pub fn read(
    text: &str,
    (redactor, now): (&Redactor, DateTime<Utc>),
    repo_of: impl Fn(&str) -> Option<RepoName>,
) -> Result<Vec<(NewLesson, Vec<Change>)>, AlfredError> {
    let records = records(text)?;
    let rows = (1..).zip(records).map(|(n, record)| {
        lesson(record, (redactor, now), &repo_of).map_err(|why| AlfredError::Record { n, why })
    });
    rows.collect()
}

fn records(text: &str) -> Result<Vec<Value>, AlfredError> {
    let value = match serde_json::from_str::<Value>(text) {
        Ok(value) => value,
        Err(whole) => return lines(text).ok_or(AlfredError::Json(whole)),
    };
    match value {
        Value::Array(records) => Ok(records),
        Value::Object(mut lists) => {
            let found = LISTS
                .iter()
                .filter_map(|list| lists.remove(*list)?.as_array().cloned());
            let found: Vec<Vec<Value>> = found.collect();
            if found.is_empty() {
                let one = Value::Object(lists);
                return if one.get("body").is_some() {
                    Ok(vec![one])
                } else {
                    Err(AlfredError::NoLessons)
                };
            }
            Ok(found.into_iter().flatten().collect())
        }
        _ => Err(AlfredError::NoLessons),
    }
}

fn lines(text: &str) -> Option<Vec<Value>> {
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    let records: Option<Vec<Value>> = lines.map(|line| serde_json::from_str(line).ok()).collect();
    records.filter(|records| !records.is_empty())
}

fn lesson(
    record: Value,
    (redactor, now): (&Redactor, DateTime<Utc>),
    repo_of: &impl Fn(&str) -> Option<RepoName>,
) -> Result<(NewLesson, Vec<Change>), String> {
    let field = |name: &str| {
        record
            .get(name)
            .and_then(Value::as_str)
            .map(str::trim)
            .filter(|text| !text.is_empty())
    };
    let body = field("body").ok_or("it has no body")?;
    if body.chars().count() > BODY_MAX {
        return Err(format!("its body is longer than {BODY_MAX} characters"));
    }
    let severity = match field("severity") {
        None => Severity::Info,
        Some(word) => word.parse().map_err(|error| format!("{error}"))?,
    };
    let confidence = match record.get("confidence") {
        None | Some(Value::Null) => 0.5,
        Some(number) => number.as_f64().ok_or("its confidence is no number")?,
    };
    if !(0.0..=1.0).contains(&confidence) {
        return Err("its confidence is not from 0 to 1".to_owned());
    }
    let made = match field("created_at") {
        None => now,
        Some(text) => instant(text).ok_or_else(|| format!("{text:?} is no time"))?,
    };
    let repo = field("repo").and_then(repo_of);
    let codename = field("codename").unwrap_or("alfred");
    let body = redactor.redact(body);
    let text = shortened(&body);
    let new = NewLesson {
        id: id_of(&record),
        recorded_at: now,
        digest: words::digest(&text),
        words: words::searched(&body),
        body: (text != body).then(|| body.to_string()),
        text,
        kind: LessonKind::Fact,
        severity,
        // Without a repository that is known here it holds nowhere in particular, and a person has to say where.
        scope: repo.clone().map_or(Scope::Fleet, Scope::Repo),
        repo,
        confidence,
        valid: Valid {
            from: made,
            to: None,
        },
        source: LessonSource::Alfred,
        by: format!("alfred:{codename}"),
        firing: None,
        evidence: vec![Evidence::Note(noted(&record, codename))],
        origin: Some(record),
    };
    let first = Change {
        n: 1,
        at: now,
        state: LessonState::Candidate,
        valid: None,
        confidence,
        by: "operator".to_owned(),
        why: "brought from Alfred".to_owned(),
        undoes: None,
    };
    Ok((new, vec![first]))
}

/// What there is of its evidence: Alfred's firings and texts are nothing that can be looked up here.
fn noted(record: &Value, codename: &str) -> String {
    let mut said = format!("Alfred's {codename}");
    for (name, before) in [
        ("firing_id", "firing"),
        ("source_firing_id", "firing"),
        ("evidence", "evidence"),
    ] {
        let text = match record.get(name) {
            Some(Value::String(text)) if !text.trim().is_empty() => text.trim().to_owned(),
            Some(other @ (Value::Array(_) | Value::Object(_))) => other.to_string(),
            _ => continue,
        };
        let text: String = carson_core::untrusted::one_line(&text, 400);
        said.push_str(&format!(", {before} {text}"));
    }
    said.truncate(said.floor_char_boundary(900));
    said
}

/// The beginning of a long body, up to the end of a sentence where there is one.
fn shortened(body: &str) -> String {
    if body.chars().count() <= TEXT_MAX {
        return body.to_owned();
    }
    let cut: String = body.chars().take(TEXT_MAX - 1).collect();
    let end = cut.rfind(". ").filter(|at| *at > TEXT_MAX / 3);
    match end {
        Some(at) => cut[..=at].to_owned(),
        None => format!("{cut}…"),
    }
}

/// The same for the same record, so that a file that is brought twice is there once.
fn id_of(record: &Value) -> LessonId {
    let hash = Sha256::digest(record.to_string());
    let mut bytes = [0_u8; 16];
    bytes.copy_from_slice(&hash[..16]);
    uuid::Builder::from_custom_bytes(bytes).into_uuid().into()
}

fn instant(text: &str) -> Option<DateTime<Utc>> {
    let with_zone = DateTime::parse_from_rfc3339(text)
        .ok()
        .map(|at| at.to_utc());
    let without = || {
        let forms = ["%Y-%m-%dT%H:%M:%S%.f", "%Y-%m-%d %H:%M:%S%.f"];
        forms
            .iter()
            .find_map(|form| NaiveDateTime::parse_from_str(text, form).ok())
    };
    with_zone.or_else(|| Some(without()?.and_utc()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXPORT: &str = r#"{"exported_at": "2026-05-01T00:00:00+00:00", "lessons": [
        {"id": "01HX", "codename": "lucius", "repo": "acme/widget", "body": "The migration test needs a fresh database.",
         "tags": ["tests"], "severity": "warning", "firing_id": "lucius-1", "created_at": "2026-04-01T10:00:00+00:00"}],
        "memory_candidates": [
        {"id": "01HY", "codename": "bane", "repo": "acme/other", "body": "Coverage drops when the cache is warm.",
         "tags_json": "[]", "severity": "info", "evidence": "PR 7", "confidence": 0.8, "status": "candidate",
         "created_at": "2026-04-02 10:00:00"}], "repo_notes": []}"#;

    fn now() -> DateTime<Utc> {
        DateTime::from_timestamp(1_790_000_000, 0).unwrap()
    }

    fn plain() -> (&'static Redactor, DateTime<Utc>) {
        static NOTHING: std::sync::LazyLock<Redactor> = std::sync::LazyLock::new(Redactor::default);
        (&NOTHING, now())
    }

    fn known(name: &str) -> Option<RepoName> {
        (name == "acme/widget").then(|| "widget".parse().unwrap())
    }

    #[test]
    fn a_snapshot_becomes_candidates_with_their_whole_records() {
        let rows = read(EXPORT, plain(), known).unwrap();
        assert_eq!(rows.len(), 2);
        let (lesson, history) = &rows[0];
        assert_eq!(lesson.scope.to_string(), "repo:widget");
        assert_eq!(
            lesson.evidence[0].to_string(),
            "note:Alfred's lucius, firing lucius-1"
        );
        assert_eq!(lesson.origin.as_ref().unwrap()["tags"][0], "tests");
        assert_eq!(history[0].state, LessonState::Candidate);
        assert_eq!(rows[1].0.scope, Scope::Fleet);
        assert!((rows[1].0.confidence - 0.8).abs() < 1e-9);
        assert_eq!(read(EXPORT, plain(), known).unwrap()[0].0.id, lesson.id);
    }

    #[test]
    fn a_long_body_is_kept_whole_and_shortened_for_prompts() {
        let body = "One sentence of it. ".repeat(100);
        let text = serde_json::json!([{ "body": body, "codename": "x" }]).to_string();
        let (lesson, _) = read(&text, plain(), known).unwrap().remove(0);
        assert_eq!(lesson.body.as_deref(), Some(body.trim()));
        assert!(lesson.text.chars().count() <= TEXT_MAX && lesson.text.ends_with('.'));
    }

    #[test]
    fn what_is_not_alfreds_is_told() {
        for text in [
            "",
            "x",
            "7",
            "{}",
            "[{}]",
            r#"[{"body": "a b c", "severity": "fatal"}]"#,
            r#"[{"body": "a b c", "confidence": true}]"#,
            r#"[{"body": "a b c", "created_at": "soon"}]"#,
        ] {
            assert!(read(text, plain(), known).is_err(), "{text}");
        }
        let long = serde_json::json!([{ "body": "x".repeat(4_001) }]).to_string();
        assert!(read(&long, plain(), known).is_err());
        let lines = "{\"body\": \"one lesson\"}\n{\"body\": \"another lesson\"}\n";
        assert_eq!(read(lines, plain(), known).unwrap().len(), 2);
    }
}
