//! What Alfred remembers: the snapshot that `alfred brain export` writes, its outbox, and its records in Redis, as lists or
//! lines of JSON.
//!
//! A lesson has an id, a codename (a role there), a repository, a body, a severity, tags, perhaps a firing and when it was
//! made; a candidate has evidence, a confidence, and who decided what about it beside that. Nothing is believed here for what
//! Alfred thought of it: what it promoted by itself has not gone through this gate. What a person rejected or retired there is
//! rejected here, too. The whole record stays with it.

use std::collections::{BTreeMap, BTreeSet};

use carson_core::RepoName;
use carson_core::lesson::{
    BODY_MAX, Evidence, LessonId, LessonKind, LessonSource, LessonState, Scope, Severity, TEXT_MAX,
};
use carson_core::untrusted::one_line;
use carson_redact::Redactor;
use carson_store::{Change, NewLesson, Valid};
use chrono::{DateTime, NaiveDateTime, Utc};
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use thiserror::Error;

use crate::words;

/// The lists of a snapshot that hold lessons.
const LISTS: [&str; 3] = ["lessons", "memory_candidates", "candidates"];
/// The lines of an outbox that hold lessons.
const EVENTS: [&str; 2] = ["reflect", "memory_candidate"];
/// Records that are named when they cannot be read.
const NAMED: usize = 5;

/// What is no memory of Alfred's.
#[derive(Debug, Error)]
pub enum AlfredError {
    /// It is no JSON.
    #[error(
        "it is no JSON, and no lines of JSON: {0}; `alfred brain export --out brain.json` writes what can be read"
    )]
    Json(#[from] serde_json::Error),
    /// It has no lists of lessons.
    #[error("it has neither `lessons` nor `memory_candidates`, nor is it a list of them")]
    NoLessons,
    /// Records are none.
    #[error("{}", named(.0))]
    Records(Vec<String>),
}

fn named(wrong: &[String]) -> String {
    let (first, more) = wrong.split_at(wrong.len().min(NAMED));
    let more = match more.len() {
        0 => String::new(),
        more => format!("; and {more} more"),
    };
    format!("{}{more}", first.join("; "))
}

/// What was read.
#[derive(Debug, Default)]
pub struct Brought {
    /// Lessons as they are written down here.
    pub lessons: Vec<(NewLesson, Vec<Change>)>,
    /// Records that are no lessons (notes of repositories, firings, …): of which sort, and how many.
    pub passed_over: BTreeMap<String, usize>,
    /// Repositories of lessons that nobody knows here.
    pub unknown_repos: BTreeSet<String>,
}

/// What a file has. `repo_of` says what a repository of Alfred's is called here.
///
/// # Errors
/// When it is none of Alfred's; nothing is read then.
pub fn read(
    text: &str,
    (redactor, now): (&Redactor, DateTime<Utc>),
    repo_of: impl Fn(&str) -> Option<RepoName>,
) -> Result<Brought, AlfredError> {
    let mut brought = Brought::default();
    let mut wrong = Vec::new();
    for (n, record) in (1_usize..).zip(records(text, &mut brought.passed_over)?) {
        if let Some(event) = record.get("event").and_then(Value::as_str)
            && !EVENTS.contains(&event)
        {
            let event = one_line(event, 40);
            *brought.passed_over.entry(event).or_default() += 1;
            continue;
        }
        let id = field(&record, "id").map(|id| format!(" ({})", one_line(id, 60)));
        let Fields { repo, .. } = Fields::of(&record);
        match lesson(record, (redactor, now), &repo_of) {
            Ok(rows) => {
                let unknown = repo.filter(|repo| repo_of(repo).is_none());
                brought.unknown_repos.extend(unknown);
                brought.lessons.push(rows);
            }
            Err(why) => wrong.push(format!(
                "record {n}{} is no lesson: {why}",
                id.unwrap_or_default()
            )),
        }
    }
    if wrong.is_empty() {
        Ok(brought)
    } else {
        Err(AlfredError::Records(wrong))
    }
}

fn records(
    text: &str,
    passed_over: &mut BTreeMap<String, usize>,
) -> Result<Vec<Value>, AlfredError> {
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
            for (name, others) in &lists {
                if let Some(others) = others.as_array().filter(|others| !others.is_empty()) {
                    passed_over.insert(one_line(name, 40), others.len());
                }
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

fn field<'a>(record: &'a Value, name: &str) -> Option<&'a str> {
    let text = record.get(name).and_then(Value::as_str).map(str::trim);
    text.filter(|text| !text.is_empty())
}

/// What a record says, in either of its forms: a record in Redis has its body as `text`, and says by `topics` what others have
/// fields for.
#[derive(Default)]
struct Fields {
    body: Option<String>,
    repo: Option<String>,
    codename: Option<String>,
    severity: Option<String>,
    firing: Option<String>,
    made: Option<String>,
}

impl Fields {
    fn of(record: &Value) -> Self {
        let topics = record.get("topics").and_then(Value::as_array);
        let topic = |name: &str| {
            let mut topics = topics.into_iter().flatten().filter_map(Value::as_str);
            topics.find_map(|topic| {
                topic
                    .strip_prefix(name)?
                    .strip_prefix(':')
                    .map(str::to_owned)
            })
        };
        let said = |names: &[&str]| {
            let mut found = names.iter().filter_map(|name| field(record, name));
            found.next().map(str::to_owned)
        };
        Self {
            body: said(&["body", "text"]),
            repo: said(&["repo"]).or_else(|| topic("repo")),
            codename: said(&["codename"]).or_else(|| topic("codename")),
            severity: said(&["severity"]).or_else(|| topic("severity")),
            firing: said(&["firing_id", "source_firing_id", "session_id"]),
            made: said(&["created_at", "ts"]),
        }
    }
}

fn lesson(
    record: Value,
    (redactor, now): (&Redactor, DateTime<Utc>),
    repo_of: &impl Fn(&str) -> Option<RepoName>,
) -> Result<(NewLesson, Vec<Change>), String> {
    let fields = Fields::of(&record);
    let body = fields.body.as_deref().ok_or("it has no body")?;
    let severity = match &fields.severity {
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
    let made = match &fields.made {
        None => now,
        Some(text) => instant(text).ok_or_else(|| format!("{text:?} is no time"))?,
    };
    let codename = fields.codename.as_deref().unwrap_or("alfred");
    let history = history(&record, &fields, (confidence, now), repo_of);
    // A longer one stands whole in the record.
    let body: String = redactor.redact(body).chars().take(BODY_MAX).collect();
    let text = shortened(&body);
    let (scope, repo) = place(fields.repo.as_deref(), repo_of);
    let new = NewLesson {
        id: id_of(&record),
        recorded_at: now,
        digest: words::digest(&text),
        words: words::searched(&body),
        body: (text != body).then_some(body),
        text,
        kind: LessonKind::Fact,
        severity,
        scope,
        repo,
        confidence,
        valid: Valid {
            from: made,
            to: None,
        },
        source: LessonSource::Alfred,
        by: format!("alfred:{codename}"),
        firing: None,
        evidence: vec![Evidence::Note(noted(&record, codename, &fields))],
        origin: Some(record),
    };
    Ok((new, history))
}

/// Where it holds. What was said of one repository is told in no other, also while that one is not among the settings.
fn place(
    repo: Option<&str>,
    repo_of: &impl Fn(&str) -> Option<RepoName>,
) -> (Scope, Option<RepoName>) {
    let Some(name) = repo else {
        return (Scope::Fleet, None);
    };
    let unknown = || {
        let short = name.rsplit('/').next().unwrap_or(name);
        short.to_lowercase().parse().ok()
    };
    match repo_of(name).or_else(unknown) {
        Some(repo) => (Scope::Repo(repo.clone()), Some(repo)),
        None => (Scope::Fleet, None),
    }
}

/// That it is proposed, and what keeps it from being more.
fn history(
    record: &Value,
    fields: &Fields,
    (confidence, now): (f64, DateTime<Utc>),
    repo_of: &impl Fn(&str) -> Option<RepoName>,
) -> Vec<Change> {
    let by_whom = field(record, "reviewed_by").map(|who| format!(" by {}", one_line(who, 60)));
    let note = field(record, "review_note").map(|note| format!(": {}", one_line(note, 200)));
    let decided = |what: &str| {
        let by_whom = by_whom.as_deref().unwrap_or_default();
        format!(
            "{what} in Alfred{by_whom}{}",
            note.as_deref().unwrap_or_default()
        )
    };
    let change = |n: u32, state: LessonState, why: String| Change {
        n,
        at: now,
        state,
        valid: None,
        confidence,
        by: "operator".to_owned(),
        why,
        undoes: None,
    };
    let status = field(record, "status").unwrap_or_default();
    let first = match status {
        "validated" | "promoted" => decided(status),
        _ => "brought from Alfred".to_owned(),
    };
    let mut history = vec![change(1, LessonState::Candidate, first)];
    if let "rejected" | "retired" = status {
        history.push(change(2, LessonState::Rejected, decided(status)));
    } else if let Some(repo) = &fields.repo
        && repo_of(repo).is_none()
    {
        let why = format!(
            "its repository {} is not in the settings",
            one_line(repo, 80)
        );
        history.push(change(2, LessonState::Held, why));
    }
    history
}

/// What there is of its evidence: Alfred's firings and texts are nothing that can be looked up here.
fn noted(record: &Value, codename: &str, fields: &Fields) -> String {
    let mut said = format!("Alfred's {codename}");
    let evidence = match record.get("evidence") {
        Some(Value::String(text)) if !text.trim().is_empty() => Some(text.trim().to_owned()),
        Some(other @ (Value::Array(_) | Value::Object(_))) => Some(other.to_string()),
        _ => None,
    };
    for (before, text) in [("firing", &fields.firing), ("evidence", &evidence)] {
        if let Some(text) = text {
            let text = one_line(text, 400);
            said.push_str(&format!(", {before} {text}"));
        }
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

/// The same for the same claim of the same record, so that a file that is brought twice is there once, also when somebody
/// decided about it meanwhile.
fn id_of(record: &Value) -> LessonId {
    let body = Fields::of(record).body.unwrap_or_default();
    let hash = match field(record, "id") {
        Some(id) => Sha256::digest(format!("{id}\n{body}")),
        None => Sha256::digest(record.to_string()),
    };
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
        let brought = read(EXPORT, plain(), known).unwrap();
        let rows = &brought.lessons;
        assert_eq!(rows.len(), 2);
        let (lesson, history) = &rows[0];
        assert_eq!(lesson.scope.to_string(), "repo:widget");
        assert_eq!(
            lesson.evidence[0].to_string(),
            "note:Alfred's lucius, firing lucius-1"
        );
        assert_eq!(lesson.origin.as_ref().unwrap()["tags"][0], "tests");
        assert_eq!(history.len(), 1);
        assert_eq!(history[0].state, LessonState::Candidate);
        assert!((rows[1].0.confidence - 0.8).abs() < 1e-9);
        let again = read(EXPORT, plain(), known).unwrap();
        assert_eq!(again.lessons[0].0.id, lesson.id);
    }

    #[test]
    fn what_holds_in_an_unknown_repository_holds_nowhere_else() {
        let brought = read(EXPORT, plain(), known).unwrap();
        let (lesson, history) = &brought.lessons[1];
        assert_eq!(lesson.scope.to_string(), "repo:other");
        assert_eq!(history[1].state, LessonState::Held);
        assert_eq!(
            history[1].why,
            "its repository acme/other is not in the settings"
        );
        assert_eq!(brought.unknown_repos, ["acme/other".to_owned()].into());
        let everywhere = r#"[{"body": "It holds everywhere.", "repo": null}]"#;
        let brought = read(everywhere, plain(), known).unwrap();
        assert_eq!(brought.lessons[0].0.scope, Scope::Fleet);
    }

    #[test]
    fn what_people_decided_there_is_told_and_no_is_no() {
        let record = |status: &str| {
            let record = serde_json::json!({
                "id": "01HZ", "body": "Keys must be lower case.", "repo": "acme/widget", "status": status,
                "reviewed_by": "U0123", "review_note": "too\nvague",
            });
            let brought = read(&record.to_string(), plain(), known).unwrap();
            let (lesson, mut history) = brought.lessons.into_iter().next().unwrap();
            (lesson.id, history.pop().unwrap())
        };
        let (id, validated) = record("validated");
        assert_eq!(validated.state, LessonState::Candidate);
        assert_eq!(validated.why, "validated in Alfred by U0123: too vague");
        for status in ["rejected", "retired"] {
            let (same, last) = record(status);
            assert_eq!((same, last.state), (id, LessonState::Rejected));
            assert!(last.why.starts_with(&format!("{status} in Alfred by")));
        }
    }

    #[test]
    fn an_outbox_and_redis_are_read_and_what_is_no_lesson_is_counted() {
        let lines = concat!(
            r#"{"event": "reflect", "codename": "lucius", "body": "Retries are slow.", "firing_id": "f1", "ts": "2026-05-23T12:00:00Z"}"#,
            "\n",
            r#"{"event": "note_repo", "repo": "acme/widget", "body": "Notes."}"#,
            "\n",
            r#"{"id": "lesson:1", "text": "The schema lies in src.", "topics": ["alfred", "codename:robin", "repo:acme/widget", "severity:blocker"], "memory_type": "semantic", "session_id": "s1"}"#,
        );
        let brought = read(lines, plain(), known).unwrap();
        assert_eq!(brought.passed_over, [("note_repo".to_owned(), 1)].into());
        let [(one, _), (two, _)] = &brought.lessons[..] else {
            panic!("{:?}", brought.lessons);
        };
        assert_eq!(one.by, "alfred:lucius");
        assert_eq!(one.valid.from.to_rfc3339(), "2026-05-23T12:00:00+00:00");
        assert_eq!(
            (two.by.as_str(), two.severity),
            ("alfred:robin", Severity::Blocker)
        );
        assert_eq!(two.scope.to_string(), "repo:widget");
        assert_eq!(
            two.evidence[0].to_string(),
            "note:Alfred's robin, firing s1"
        );
        let snapshot =
            r#"{"lessons": [], "repo_notes": [{}, {}], "firings": [], "schema_version": 7}"#;
        let brought = read(snapshot, plain(), known).unwrap();
        assert_eq!(brought.passed_over, [("repo_notes".to_owned(), 2)].into());
    }

    #[test]
    fn a_long_body_is_kept_whole_and_shortened_for_prompts() {
        let body = "One sentence of it. ".repeat(100);
        let text = serde_json::json!([{ "body": body, "codename": "x" }]).to_string();
        let (lesson, _) = read(&text, plain(), known).unwrap().lessons.remove(0);
        assert_eq!(lesson.body.as_deref(), Some(body.trim()));
        assert!(lesson.text.chars().count() <= TEXT_MAX && lesson.text.ends_with('.'));
        let longer = serde_json::json!([{ "body": "word ".repeat(1_200) }]).to_string();
        let (lesson, _) = read(&longer, plain(), known).unwrap().lessons.remove(0);
        assert_eq!(lesson.body.map(|body| body.len()), Some(BODY_MAX));
        assert_eq!(
            lesson.origin.unwrap()["body"].as_str().map(str::len),
            Some(6_000)
        );
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
        let lines = "{\"body\": \"one lesson\"}\n{\"body\": \"another lesson\"}\n";
        assert_eq!(read(lines, plain(), known).unwrap().lessons.len(), 2);
        let wrong = format!("[{}{{\"id\": \"01X\"}}]", "{},".repeat(6));
        assert_eq!(
            read(&wrong, plain(), known).unwrap_err().to_string(),
            "record 1 is no lesson: it has no body; record 2 is no lesson: it has no body; \
             record 3 is no lesson: it has no body; record 4 is no lesson: it has no body; \
             record 5 is no lesson: it has no body; and 2 more"
        );
        let named = read("[{\"id\": \"01X\"}]", plain(), known).unwrap_err();
        assert_eq!(
            named.to_string(),
            "record 1 (01X) is no lesson: it has no body"
        );
    }
}
