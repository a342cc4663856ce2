//! Lessons to a file and from one.

use std::path::{Path, PathBuf};

use carson_core::RepoName;
use carson_home::Home;
use carson_memory::exchange::{Record, read_alfred, read_lines, write_line};
use carson_store::{Change, LessonFilter, NewLesson};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::refusal::Refusal;
use crate::verb::{Ask, Who};

/// Bytes of one file that are read.
const BYTES: u64 = 256 * 1024 * 1024;
/// Files of a directory that are read.
const FILES: usize = 1_000;
/// Lessons of one page.
const PAGE: u32 = 200_000;

/// Bring lessons from a file.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Import {
    /// A file of lines as `memory export` writes them.
    #[serde(default)]
    pub file: Option<PathBuf>,
    /// What Alfred remembers: what `alfred brain export` wrote, lines of JSON, or a directory of such files.
    #[serde(default)]
    pub alfred: Option<PathBuf>,
}

/// What was brought.
#[derive(Debug, Serialize)]
pub struct Imported {
    /// Lessons that are new here.
    pub imported: u64,
    /// Lessons that were here already.
    pub known: u64,
}

impl Ask for Import {
    const NAME: &'static str = "memory import";
    const WHAT: &'static str = "Bring lessons from a file of Carson's or of Alfred's";
    const WHO: Who = Who::Trusted;
    type Answer = Imported;

    async fn answer(self, home: &Home) -> Result<Self::Answer, Refusal> {
        let rows = match (&self.file, &self.alfred) {
            (Some(file), None) => {
                let records = read_lines(&text(file)?).map_err(|error| wrong("file", &error))?;
                records
                    .into_iter()
                    .map(|record| record.rows(&home.redactor))
                    .collect()
            }
            (None, Some(place)) => of_alfred(home, place)?,
            _ => {
                return Err(Refusal::Field {
                    field: "file",
                    problem: "name a file, or say --alfred with one".to_owned(),
                });
            }
        };
        let mut done = Imported {
            imported: 0,
            known: 0,
        };
        for (lesson, history) in rows {
            match home.store.record_lesson(&lesson, &history).await? {
                true => done.imported += 1,
                false => done.known += 1,
            }
        }
        Ok(done)
    }
}

fn wrong(field: &'static str, error: &dyn std::error::Error) -> Refusal {
    Refusal::Field {
        field,
        problem: error.to_string(),
    }
}

fn of_alfred(home: &Home, place: &Path) -> Result<Vec<(NewLesson, Vec<Change>)>, Refusal> {
    let mut rows = Vec::new();
    for file in files(place)? {
        let told = (&home.redactor, home.clock.now());
        let read = read_alfred(&text(&file)?, told, |name| repo_of(home, name));
        rows.extend(read.map_err(|error| Refusal::Field {
            field: "alfred",
            problem: format!("{}: {error}", file.display()),
        })?);
    }
    Ok(rows)
}

/// What a repository of Alfred's is called here: by its owner and name, or by its name alone.
fn repo_of(home: &Home, name: &str) -> Option<RepoName> {
    let repos = &home.fleet.repos;
    let by_slug = repos
        .values()
        .find(|repo| repo.slug.eq_ignore_ascii_case(name));
    let short = name.rsplit('/').next().unwrap_or(name).to_lowercase();
    let by_name = || repos.values().find(|repo| repo.name.as_str() == short);
    by_slug.or_else(by_name).map(|repo| repo.name.clone())
}

/// The files of JSON there, in their order.
fn files(place: &Path) -> Result<Vec<PathBuf>, Refusal> {
    let failed = |source| Refusal::File {
        what: place.display().to_string(),
        source,
    };
    if !place.is_dir() {
        return Ok(vec![place.to_owned()]);
    }
    let mut files = Vec::new();
    for entry in std::fs::read_dir(place).map_err(failed)?.take(FILES) {
        let path = entry.map_err(failed)?.path();
        let is_json = path
            .extension()
            .is_some_and(|end| end == "json" || end == "jsonl");
        if is_json && path.is_file() {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

fn text(file: &Path) -> Result<String, Refusal> {
    let failed = |source| Refusal::File {
        what: file.display().to_string(),
        source,
    };
    let size = file.metadata().map_err(failed)?.len();
    if size > BYTES {
        return Err(failed(std::io::Error::other("it is larger than 256 MiB")));
    }
    std::fs::read_to_string(file).map_err(failed)
}

/// Write all lessons down.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Export {}

/// All lessons with all that was thought of them.
#[derive(Debug, Serialize)]
pub struct Exported {
    /// Line by line.
    pub lines: Vec<String>,
}

impl Ask for Export {
    const NAME: &'static str = "memory export";
    const WHAT: &'static str = "Write every lesson with its history as lines of JSON";
    const WHO: Who = Who::Operator;
    type Answer = Exported;

    async fn answer(self, home: &Home) -> Result<Self::Answer, Refusal> {
        let filter = LessonFilter {
            after: Some(0),
            ..LessonFilter::all(home.clock.now(), PAGE)
        };
        let mut lines = Vec::new();
        for row in home.store.lessons(&filter).await? {
            let mut lesson = row.lesson;
            lesson.evidence = home.store.lesson_evidence(row.seq).await?;
            let history = home.store.lesson_history(row.seq).await?;
            let line = write_line(&Record::of(lesson, &history)).map_err(Refusal::NoJson)?;
            lines.push(line);
        }
        Ok(Exported { lines })
    }
}
