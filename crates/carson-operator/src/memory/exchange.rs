//! Lessons to a file and from one.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read as _;
use std::path::{Path, PathBuf};

use carson_core::RepoName;
use carson_core::lesson::{LessonId, LessonState};
use carson_home::Home;
use carson_memory::candidate::Candidate;
use carson_memory::exchange::{Record, read_alfred, read_lines, write_line};
use carson_memory::rails::{Known, broken};
use carson_store::{Change, Decided, LessonFilter, NewLesson};
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
#[derive(Debug, Default, Serialize)]
pub struct Imported {
    /// Lessons that are new here.
    pub imported: u64,
    /// Those of them that are believed from now on.
    pub believed: u64,
    /// Those that were believed there and are held here, because they break a rule.
    pub held: u64,
    /// Lessons that were here already.
    pub known: u64,
    /// Those of which the file has newer decisions, which were added.
    pub updated: u64,
    /// Those of which the file says something else than is known here, which stands.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub differing: Vec<LessonId>,
    /// What is no lesson and was passed over: of which sort, and how many.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub passed_over: BTreeMap<String, usize>,
    /// Repositories that the settings do not have: what was learned there is held until they do.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub unknown_repos: BTreeSet<String>,
}

impl Ask for Import {
    const NAME: &'static str = "memory import";
    const WHAT: &'static str = "Bring lessons from a file of Carson's or of Alfred's";
    const WHO: Who = Who::Trusted;
    type Answer = Imported;

    async fn answer(self, home: &Home) -> Result<Self::Answer, Refusal> {
        let mut done = Imported::default();
        let rows = match (&self.file, &self.alfred) {
            (Some(file), None) => {
                let now = home.clock.now();
                let records =
                    read_lines(&text(file)?, now).map_err(|error| wrong("file", &error))?;
                records
                    .into_iter()
                    .map(|record| record.rows(&home.redactor))
                    .collect()
            }
            (None, Some(place)) => of_alfred(home, place, &mut done)?,
            _ => {
                return Err(Refusal::Field {
                    field: "file",
                    problem: "name a file, or say alfred with one".to_owned(),
                });
            }
        };
        for (lesson, history) in rows {
            done.bring(home, lesson, history).await?;
        }
        Ok(done)
    }
}

impl Imported {
    async fn bring(
        &mut self,
        home: &Home,
        lesson: NewLesson,
        mut history: Vec<Change>,
    ) -> Result<(), Refusal> {
        let is_believed = |history: &[Change]| {
            history
                .last()
                .is_some_and(|last| last.state == LessonState::Promoted)
        };
        let is_held = is_believed(&history) && hold_what_breaks_a_rule(home, &lesson, &mut history);
        if home.store.record_lesson(&lesson, &history).await? {
            self.imported += 1;
            self.held += u64::from(is_held);
            self.believed += u64::from(is_believed(&history));
            return Ok(());
        }
        self.known += 1;
        let Some(here) = home.store.lesson(lesson.id).await? else {
            return Ok(());
        };
        let known = home.store.lesson_history(here.seq).await?;
        // What was held here on its way in is no other opinion.
        let common = known.len().min(history.len());
        let is_same = here.lesson.text == lesson.text && known[..common] == history[..common];
        if !is_same {
            self.differing.push(lesson.id);
            return Ok(());
        }
        for change in &history[common..] {
            if home.store.change_lesson(lesson.id, change).await? != Decided::Done {
                self.differing.push(lesson.id);
                return Ok(());
            }
        }
        self.updated += u64::from(history.len() > known.len());
        Ok(())
    }
}

/// Nobody is told at once what a person could not promote. Whether it was.
fn hold_what_breaks_a_rule(home: &Home, lesson: &NewLesson, history: &mut Vec<Change>) -> bool {
    let broken = broken(&Known {
        candidate: &Candidate::of_row(lesson),
        pieces: &[],
        others: &[],
        redactor: &home.redactor,
    });
    let Some(rule) = broken.into_iter().find(|one| one.rejects) else {
        return false;
    };
    let Some(last) = history.last() else {
        return false;
    };
    history.push(Change {
        n: last.n + 1,
        at: last.at,
        state: LessonState::Held,
        valid: None,
        confidence: last.confidence,
        by: "import".to_owned(),
        why: format!("{}: {}", rule.rail, rule.why),
        undoes: None,
    });
    true
}

fn wrong(field: &'static str, error: &dyn std::error::Error) -> Refusal {
    Refusal::Field {
        field,
        problem: error.to_string(),
    }
}

fn of_alfred(
    home: &Home,
    place: &Path,
    done: &mut Imported,
) -> Result<Vec<(NewLesson, Vec<Change>)>, Refusal> {
    let mut rows = Vec::new();
    for file in files(place)? {
        let told = (&home.redactor, home.clock.now());
        let read = read_alfred(&text(&file)?, told, |name| repo_of(home, name));
        let read = read.map_err(|error| Refusal::Field {
            field: "alfred",
            problem: format!("{}: {error}", file.display()),
        })?;
        rows.extend(read.lessons);
        done.unknown_repos.extend(read.unknown_repos);
        for (sort, count) in read.passed_over {
            *done.passed_over.entry(sort).or_default() += count;
        }
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
    for entry in std::fs::read_dir(place).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let is_json = path
            .extension()
            .is_some_and(|end| end == "json" || end == "jsonl");
        if is_json && path.is_file() {
            files.push(path);
        }
    }
    let none = |problem: String| Refusal::Field {
        field: "alfred",
        problem: format!("{} {problem}", place.display()),
    };
    if files.is_empty() {
        let problem = "has no file that ends in .json or .jsonl; `alfred brain export --out brain.json` writes one";
        return Err(none(problem.to_owned()));
    }
    if files.len() > FILES {
        let problem = format!("has {} files, and {FILES} are read at once", files.len());
        return Err(none(problem));
    }
    files.sort();
    Ok(files)
}

/// The text of a plain file; what the system says of its length is not believed.
fn text(file: &Path) -> Result<String, Refusal> {
    let wrong = |problem: &str| Refusal::Field {
        field: "file",
        problem: format!("{}: {problem}", file.display()),
    };
    let failed = |error: std::io::Error| wrong(&error.to_string());
    // A pipe would be waited for.
    if !file.metadata().map_err(failed)?.is_file() {
        return Err(wrong("it is no file"));
    }
    let mut text = Vec::new();
    let open = std::fs::File::open(file).map_err(failed)?;
    open.take(BYTES + 1)
        .read_to_end(&mut text)
        .map_err(failed)?;
    if u64::try_from(text.len()).unwrap_or(u64::MAX) > BYTES {
        return Err(wrong("it is larger than 256 MiB"));
    }
    String::from_utf8(text).map_err(|_| wrong("it is no text (UTF-8)"))
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
