//! How a plan stands, story by story.

use serde::Serialize;

use super::error::StoriesError;
use super::event::{Event, What};
use super::journal::{events, one_behind, read};
use super::place::Place;
use super::replay::replay;
use super::select::in_turn;
use crate::lock::owner_of;
use crate::stories::json::Json;

/// One story.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Row {
    /// Its name.
    pub id: String,
    /// Its priority.
    pub priority: u32,
    /// What it may do.
    pub mode: &'static str,
    /// How far it is.
    pub status: &'static str,
    /// Its attempts.
    pub attempts: u32,
    /// How the last one ended.
    pub last: Option<String>,
    /// Why, in words.
    pub why: Vec<String>,
    /// What it is about.
    pub title: String,
}

/// A plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Standing {
    /// What it is for.
    pub project: String,
    /// Its stories, in the order in which they are done.
    pub stories: Vec<Row>,
    /// Who runs it now.
    pub runs: Option<String>,
}

/// How a plan stands.
///
/// # Errors
/// When it cannot be read, or is not right.
pub fn standing(place: &Place) -> Result<Standing, StoriesError> {
    let plan = read(&place.plan)?.plan;
    let (events, name) = (events(place)?, place.name());
    let row = |story: &super::written::Story| {
        let ended = events
            .iter()
            .rev()
            .filter(|event| event.plan == name)
            .find_map(|event| of(event, &story.id));
        let (last, why) = ended.unzip();
        Row {
            id: story.id.clone(),
            priority: story.priority,
            mode: story.mode.as_str(),
            status: story.status.as_str(),
            attempts: story.attempts,
            last,
            why: why.unwrap_or_default(),
            title: story.title.clone(),
        }
    };
    Ok(Standing {
        stories: in_turn(&plan).into_iter().map(row).collect(),
        project: plan.project,
        runs: owner_of(&place.lock()).map(|owner| owner.to_string()),
    })
}

/// How an attempt at this story ended, if the event says that.
fn of(event: &Event, story: &str) -> Option<(String, Vec<String>)> {
    match &event.what {
        What::AttemptEnded {
            story: of,
            outcome,
            why,
            ..
        } if of == story => Some((outcome.as_str().to_owned(), why.clone())),
        _ => None,
    }
}

/// The plan as its events make it, and whether its file says the same.
#[derive(Clone, Debug, PartialEq)]
pub struct Replayed {
    /// What they make.
    pub document: Json,
    /// Whether the file says the same.
    pub is_same: bool,
}

/// Replays the events of a plan; `None` where there are none. A plan that a killed run left one event behind is brought
/// up to date, unless a run is at work.
///
/// # Errors
/// When a file cannot be read.
pub fn replayed(place: &Place) -> Result<Option<Replayed>, StoriesError> {
    let (events, name) = (events(place)?, place.name());
    let Some(document) = replay(&events, &name) else {
        return Ok(None);
    };
    let bytes = crate::tree::read_plain(&place.plan, super::journal::LONGEST)
        .map_err(StoriesError::io(&place.plan))?;
    let file = super::journal::document(&bytes.unwrap_or_default()).ok();
    let is_behind = file
        .as_ref()
        .is_some_and(|file| one_behind(file, &events, &name).is_some());
    if is_behind && owner_of(&place.lock()).is_none() {
        let written = crate::json_file::write_bytes(
            &place.plan,
            document.pretty().as_bytes(),
            crate::json_file::Sync::Now,
        );
        written.map_err(StoriesError::io(&place.plan))?;
        return Ok(Some(Replayed {
            document,
            is_same: true,
        }));
    }
    let is_same = file.as_ref() == Some(&document);
    Ok(Some(Replayed { document, is_same }))
}
