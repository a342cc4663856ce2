//! What is open in a queue, sorted into what may be taken and what waits for something else: for what its
//! text names, and for what the forge itself links it with.

use std::collections::{BTreeMap, BTreeSet};

use carson_config::Repo;
use carson_forge::{Forge, ForgeError, Issue, Linked, State};
use carson_home::Home;

use super::Looked;
use super::dependencies::{Named, Reference, references, rings};
use super::held::{Blocking, Held};

/// What is known of a dependency: `None` when it holds nobody.
type Known = BTreeMap<Reference, Option<Blocking>>;

/// Why what was named cannot be looked for.
const NO_NUMBER: &str = "no issue has that number";

/// Sorts the open issues of a queue.
pub(super) async fn hold_for_dependencies(
    home: &Home,
    repo: &Repo,
    forge: &Forge,
    open: Vec<Issue>,
    looked: &mut Looked,
) {
    let (mut listed, mut known) = (Vec::new(), Known::new());
    for issue in open {
        let mut on = references(&issue.body, &repo.slug);
        on.iter_mut().for_each(|named| by_own_name(named, repo));
        match forge.blockers(&issue).await {
            Ok(linked) => add_links(linked, &repo.slug, &mut on, &mut known),
            Err(error) => {
                let why = home.redactor.redact(&error.to_string()).into_owned();
                let held = Held::Waits {
                    on: "what its forge links it with".to_owned(),
                    state: Blocking::Unreadable(why),
                };
                looked.held.push((issue, held));
                continue;
            }
        }
        listed.push((issue, on));
    }
    let here = |named: &Named| match named {
        Named::Issue(Reference { repo: None, number }) => Some(*number),
        _ => None,
    };
    let waits: BTreeMap<u64, BTreeSet<u64>> = listed
        .iter()
        .map(|(issue, on)| (issue.number, on.iter().filter_map(here).collect()))
        .collect();
    let rings = rings(&waits);
    for (issue, on) in listed {
        let back = rings.get(&issue.number);
        let mut held = None;
        for named in on {
            if let Some(number) = here(&named)
                && back.is_some_and(|back| back.contains(&number))
            {
                looked.rings.push((issue.number, number));
                continue;
            }
            let state = match &named {
                Named::Unreadable(_) => Some(Blocking::Unreadable(NO_NUMBER.to_owned())),
                Named::Issue(reference) => match known.get(reference) {
                    Some(state) => Option::clone(state),
                    None => {
                        let state = blocking(home, repo, forge, reference).await;
                        known.insert(reference.clone(), state.clone());
                        state
                    }
                },
            };
            if let Some(state) = state {
                held = Some(Held::Waits {
                    on: named.to_string(),
                    state,
                });
                break;
            }
        }
        match held {
            Some(why) => looked.held.push((issue, why)),
            None => looked.ready.push(issue),
        }
    }
}

/// A repository's own name in the fleet means the repository itself.
fn by_own_name(named: &mut Named, own: &Repo) {
    if let Named::Issue(Reference { repo, .. }) = named
        && repo.as_deref() == Some(own.name.as_str())
    {
        *repo = None;
    }
}

/// Adds what the forge links an issue with; the forge says itself whether that is open.
fn add_links(linked: Vec<Linked>, own: &str, on: &mut Vec<Named>, known: &mut Known) {
    for link in linked {
        let reference = Reference {
            repo: link.slug.filter(|slug| !slug.eq_ignore_ascii_case(own)),
            number: link.number,
        };
        known.insert(reference.clone(), link.open.then_some(Blocking::Open));
        let named = Named::Issue(reference);
        if !on.contains(&named) {
            on.push(named);
        }
    }
}

/// Whether what is referred to holds who waits for it.
async fn blocking(
    home: &Home,
    repo: &Repo,
    forge: &Forge,
    reference: &Reference,
) -> Option<Blocking> {
    let state = match &reference.repo {
        None => state_of(forge, reference.number).await,
        Some(name) => match elsewhere(home, repo, name) {
            // `C#7` is a language.
            None if !name.contains('/') => return None,
            None => Err("no repository of the fleet is called that".to_owned()),
            Some(other) => match home.forge(&other).await {
                Ok(forge) => state_of(&forge, reference.number).await,
                Err(error) => Err(home.redactor.redact(&error.to_string()).into_owned()),
            },
        },
    };
    match state {
        Ok(State::Closed) => None,
        Ok(State::Open) => Some(Blocking::Open),
        Err(why) => Some(Blocking::Unreadable(why)),
    }
}

/// Whether an issue, or a pull request, is open.
async fn state_of(forge: &Forge, number: u64) -> Result<State, String> {
    match forge.issue(number).await {
        Ok(issue) => return Ok(issue.state),
        Err(ForgeError::NotFound { .. }) => {}
        Err(error) => return Err(error.to_string()),
    }
    match forge.pull(number).await {
        Ok(pull) if pull.state == carson_forge::PullState::Open => Ok(State::Open),
        Ok(_) => Ok(State::Closed),
        Err(ForgeError::NotFound { .. }) => Err("there is no such issue".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

/// The repository `owner/name`: one of the fleet, by that name or, where it has none there, by its own;
/// else one on the same forge, as far as its token reads there. A bare name is one of the fleet's, or none.
fn elsewhere(home: &Home, repo: &Repo, name: &str) -> Option<Repo> {
    let last = name.rsplit('/').next().unwrap_or_default();
    let is_bare = last == name;
    let is_meant = |other: &&Repo| match other.slug.as_str() {
        _ if is_bare => other.name.as_str() == name,
        "" => other.name.as_str() == last,
        slug => slug.eq_ignore_ascii_case(name),
    };
    let known = home.fleet.repos.values().find(is_meant).cloned();
    let same_forge = || {
        (!repo.slug.is_empty() && !is_bare).then(|| Repo {
            slug: name.to_owned(),
            ..repo.clone()
        })
    };
    known.or_else(same_forge)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_added_to_what_the_text_names_and_tell_themselves_whether_they_hold() {
        let link = |slug: &str, number, open| Linked {
            slug: Some(slug.to_owned()),
            number,
            open,
        };
        let linked = vec![
            link("Acme/Widget", 3, true),
            link("acme/widget", 4, false),
            link("acme/gears", 7, true),
        ];
        let (mut on, mut known) = (
            references("Depends on: #3, #9", "acme/widget"),
            Known::new(),
        );
        add_links(linked, "acme/widget", &mut on, &mut known);
        let told: Vec<String> = on.iter().map(ToString::to_string).collect();
        assert_eq!(told, ["#3", "#9", "#4", "acme/gears#7"]);
        let known_of = |one: &Named| match one {
            Named::Issue(reference) => known.get(reference).cloned(),
            Named::Unreadable(_) => None,
        };
        let holds: Vec<_> = on.iter().map(known_of).collect();
        let open = Some(Some(Blocking::Open));
        assert_eq!(holds, [open.clone(), None, Some(None), open]);
    }
}
