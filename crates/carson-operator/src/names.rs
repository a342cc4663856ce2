//! What was typed, found among what there is.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::str::FromStr;
use std::time::Duration;

use carson_config::{Account, Fleet, Repo, Role, parse_duration};
use carson_store::{Firing, Found, Store};
use chrono::TimeDelta;

use crate::refusal::Refusal;

/// A thing of the settings by its name, or which there are.
fn named<'f, K, V>(
    all: &'f BTreeMap<K, V>,
    what: &'static str,
    name: &str,
) -> Result<&'f V, Refusal>
where
    K: FromStr + Ord + Display,
{
    let key = name.parse::<K>().ok();
    key.and_then(|key| all.get(&key))
        .ok_or_else(|| Refusal::Unknown {
            what,
            name: name.to_owned(),
            known: all.keys().map(ToString::to_string).collect(),
        })
}

/// A role by its name.
///
/// # Errors
/// When there is none.
pub fn role<'f>(fleet: &'f Fleet, name: &str) -> Result<&'f Role, Refusal> {
    named(&fleet.roles, "role", name)
}

/// An account by its name.
///
/// # Errors
/// When there is none.
pub fn account<'f>(fleet: &'f Fleet, name: &str) -> Result<&'f Account, Refusal> {
    named(&fleet.accounts, "account", name)
}

/// A repository by its name.
///
/// # Errors
/// When there is none.
pub fn repo<'f>(fleet: &'f Fleet, name: &str) -> Result<&'f Repo, Refusal> {
    named(&fleet.repos, "repository", name)
}

/// A repository by its name; the only one where none was named.
///
/// # Errors
/// When there is none, or there are several.
pub fn repo_or_only<'f>(fleet: &'f Fleet, name: Option<&str>) -> Result<&'f Repo, Refusal> {
    let mut repos = fleet.repos.values();
    match (name, repos.next(), repos.next()) {
        (Some(name), ..) => repo(fleet, name),
        (None, Some(only), None) => Ok(only),
        (None, ..) => Err(Refusal::WhichRepo {
            known: fleet.repos.keys().map(ToString::to_string).collect(),
        }),
    }
}

/// The fewest letters of an id that name a firing: fewer are the number of an issue more often.
const PART: usize = 4;

/// A firing by its id, or by any part of it, four letters or more, that no other has.
///
/// # Errors
/// When there is none, or there are several.
pub async fn firing(store: &Store, text: &str) -> Result<Firing, Refusal> {
    if text.len() < PART {
        return Err(Refusal::NoFiring(text.to_owned()));
    }
    match store.find_firing(text).await? {
        Found::One(row) => Ok(*row),
        Found::Nothing => Err(Refusal::NoFiring(text.to_owned())),
        Found::Many(ids) => Err(Refusal::ManyFirings {
            text: text.to_owned(),
            ids,
        }),
    }
}

/// For how long something shall stand (`2h`).
pub(crate) fn span(text: Option<&str>) -> Result<Option<TimeDelta>, Refusal> {
    let Some(text) = text else { return Ok(None) };
    let wrong = |problem| Refusal::Field {
        field: "for",
        problem,
    };
    let span = parse_duration(text).map_err(wrong)?;
    if span == Duration::ZERO {
        return Err(wrong(format!(
            "{text} would end at once; write 45m, 2h or 3d"
        )));
    }
    let span = TimeDelta::from_std(span).map_err(|_| wrong("that is too long".to_owned()))?;
    Ok(Some(span))
}
