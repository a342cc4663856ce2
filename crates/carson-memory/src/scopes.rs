//! Whether a lesson holds where somebody works.

use carson_core::lesson::Scope;
use carson_core::{RepoName, RoleName};
use globset::GlobBuilder;

/// Where somebody works.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Place {
    /// In which repository.
    pub repo: Option<RepoName>,
    /// As which role.
    pub role: Option<RoleName>,
    /// On which files, as far as it is known.
    pub paths: Vec<String>,
}

/// Whether a lesson holds there; `repo` is where its evidence is found, which a pattern of paths belongs to.
#[must_use]
pub fn holds(scope: &Scope, repo: Option<&RepoName>, place: &Place) -> bool {
    match scope {
        Scope::Fleet => true,
        Scope::Repo(name) => place.repo.as_ref() == Some(name),
        Scope::Role(name) => place.role.as_ref() == Some(name),
        Scope::Path(glob) => {
            let here = repo.is_none() || repo == place.repo.as_ref();
            here && place.paths.iter().any(|path| matches(glob, path))
        }
    }
}

/// Whether a path is one of those that a pattern means.
pub(crate) fn matches(glob: &str, path: &str) -> bool {
    let glob = GlobBuilder::new(glob).literal_separator(true).build();
    glob.is_ok_and(|glob| glob.compile_matcher().is_match(path))
}

/// The words of a task that look like paths of files.
#[must_use]
pub fn paths_in(text: &str) -> Vec<String> {
    const MOST: usize = 50;
    let cut = |c: char| c.is_whitespace() || "`'\"()[]{}<>,;|".contains(c);
    let mut found: Vec<String> = Vec::new();
    for word in text.split(cut) {
        let word = word
            .trim_end_matches(['.', ':', '!', '?'])
            .trim_start_matches("./");
        let word = word.split_once(':').map_or(word, |(path, _)| path);
        let is_path = word.len() <= 200
            && (word.contains('/') || has_ending(word))
            && !word.contains("//")
            && !word.starts_with('/');
        let is_new = !found.iter().any(|known| known == word);
        if is_path && is_new && found.len() < MOST {
            found.push(word.to_owned());
        }
    }
    found
}

/// `lib.rs`, but not `1.5` or `e.g`.
fn has_ending(word: &str) -> bool {
    let Some((name, ending)) = word.rsplit_once('.') else {
        return false;
    };
    let letters = ending.chars().all(|c| c.is_ascii_alphanumeric())
        && ending.starts_with(|c: char| c.is_ascii_alphabetic());
    name.len() > 1 && letters && (1..=5).contains(&ending.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place() -> Place {
        Place {
            repo: Some("widget".parse().unwrap()),
            role: Some("implementer".parse().unwrap()),
            paths: vec!["src/parse/lexer.rs".to_owned()],
        }
    }

    #[test]
    fn a_lesson_holds_within_its_scope_alone() {
        let gadget: RepoName = "gadget".parse().unwrap();
        for (scope, repo, expected) in [
            ("fleet", None, true),
            ("repo:widget", None, true),
            ("repo:gadget", None, false),
            ("role:implementer", None, true),
            ("role:reviewer", None, false),
            ("path:src/**/*.rs", None, true),
            ("path:src/*.rs", None, false),
            ("path:src/**", Some(&gadget), false),
            ("path:docs/**", None, false),
        ] {
            let scope: Scope = scope.parse().unwrap();
            assert_eq!(holds(&scope, repo, &place()), expected, "{scope}");
        }
    }

    #[test]
    fn paths_are_found_in_a_task() {
        let text =
            "Fix `src/a.rs:10` and ./docs/x.md; see lib.rs, version 1.5, e.g. https://x.y/z.";
        assert_eq!(paths_in(text), ["src/a.rs", "docs/x.md", "lib.rs"]);
    }
}
