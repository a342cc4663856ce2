//! `[repos.*]`.

use std::collections::BTreeMap;
use std::path::{Component, Path};
use std::sync::Arc;

use carson_core::RepoName;
use carson_forge::{Association, OPENERS, Spec, Trust};
use carson_redact::rule_names;

use crate::check::Check;
use crate::fleet::{AllowedSecret, Included, RedToGreen, Repo, Setup};
use crate::listed::Sections;
use crate::paths::Paths;
use crate::raw::{IncludeSection, RepoSection};
use crate::role_file::Promise;

/// Bytes of a setup: all of it is one argument of a shell, of which Linux takes 128 KiB (execve(2)), and quoting
/// adds some.
const LONGEST_SETUP: usize = 64 * 1024;

const URL: &str = "url = \"git@host:owner/name.git\" or a path";

/// The few rules of git-check-ref-format that people break.
fn is_branch(name: &str) -> bool {
    let odd = |c: char| c.is_whitespace() || c.is_control() || "~^:?*[\\".contains(c);
    !(name.is_empty()
        || name.starts_with(['-', '/', '.'])
        || name.contains("..")
        || name.contains(odd))
}

pub(crate) fn repos(
    raw: BTreeMap<String, RepoSection>,
    forges: &[Arc<dyn Spec>],
    sections: &Sections,
    paths: &Paths<'_>,
    check: &mut Check<'_>,
) -> BTreeMap<RepoName, Repo> {
    let mut repos = BTreeMap::new();
    for (name, section) in raw {
        let at = format!("repos.{name}");
        let Some(name) = check.name::<RepoName>(&at, &name) else {
            continue;
        };
        if section.url.trim().is_empty() {
            check.problem(&at, "url is missing", URL);
        }
        let slug = section.slug.unwrap_or_default();
        forge_is_sound(&at, &section.forge, &slug, sections, check);
        if section.url.starts_with('-') {
            let key = format!("{at}.url");
            check.problem(
                &key,
                format!("{:?} is an option, not an address", section.url),
                URL,
            );
        }
        if !is_branch(&section.base) {
            let key = format!("{at}.base");
            check.problem(
                &key,
                format!("{:?} is not a branch", section.base),
                "base = \"main\"",
            );
        }
        if section.scrub.iter().any(|name| name.trim().is_empty()) {
            let key = format!("{at}.scrub");
            check.problem(
                &key,
                "a name is empty, and every line has it",
                "leave it out",
            );
        }
        let trust = trust(&at, &section.trusted, section.trusted_authors, check);
        let mut protected = section.protected;
        if !protected.contains(&section.base) {
            protected.push(section.base.clone());
        }
        let mut lines = section.setup;
        lines.retain(|line| !line.trim().is_empty());
        let key = format!("{at}.setup");
        if lines.iter().any(|line| line.contains('\0')) {
            check.problem(
                &key,
                "a line holds a NUL, which no shell takes",
                "leave it out",
            );
        }
        if lines.iter().map(String::len).sum::<usize>() > LONGEST_SETUP {
            let problem = format!("the lines are longer than {LONGEST_SETUP} bytes together");
            check.problem(&key, problem, "put them into a script of the repository");
        }
        let setup = Setup {
            lines,
            inputs: section.setup_inputs,
            timeout: section.setup_timeout,
            toolchains: section.toolchains,
        };
        let repository_check = (!section.check.trim().is_empty()).then_some(Promise {
            run: section.check,
            timeout: section.check_timeout,
        });
        let red_to_green = RedToGreen {
            unproven: section.red_to_green.unproven,
            fixes: section.red_to_green.fixes,
            run: section
                .red_to_green
                .run
                .filter(|run| !run.trim().is_empty()),
            timeout: section.red_to_green.timeout,
        };
        let include = included(&at, &section.include, paths, check);
        let allow_secrets = allowed_secrets(&at, &section.allow_secrets, check);
        let url = paths.tilde(&section.url);
        // Without one there is a finding of the forge or of its section.
        let Some(forge) = forges.iter().find(|forge| forge.name() == section.forge) else {
            continue;
        };
        repos.insert(
            name.clone(),
            Repo {
                name,
                url,
                forge: forge.clone(),
                slug,
                trust,
                base: section.base,
                protected,
                allow_secrets,
                scrub: section.scrub,
                allow_ci: section.allow_ci,
                merge: section.policy.merge,
                revert: section.policy.revert,
                allow_unshown: section.allow_unshown,
                allow_drift: section.allow_drift,
                check: repository_check,
                red_to_green,
                review_minutes_per_day: section.review_minutes_per_day,
                setup,
                caches: section.caches,
                include,
            },
        );
    }
    repos
}

/// Who is meant by the words of the settings.
fn trust(at: &str, words: &[String], authors: Vec<String>, check: &mut Check<'_>) -> Trust {
    let mut associations = Vec::new();
    for word in words {
        match Association::from_setting(word) {
            Some(association) => associations.push(association),
            None => {
                let known: Vec<&str> = Association::KNOWN.iter().map(|(name, _)| *name).collect();
                let problem = format!("{word:?} is no way to stand to a repository");
                let hint = format!("one of {}", known.join(", "));
                check.problem(&format!("{at}.trusted"), problem, &hint);
            }
        }
    }
    if authors.iter().any(|name| name.trim().is_empty()) {
        let key = format!("{at}.trusted_authors");
        check.problem(&key, "a name is empty", "leave it out");
    }
    Trust {
        associations,
        authors,
    }
}

/// Each file by where it is and where it goes. What they hold is a secret of the operator's.
fn included(
    at: &str,
    section: &IncludeSection,
    paths: &Paths<'_>,
    check: &mut Check<'_>,
) -> Vec<Included> {
    if section.from.is_empty() != section.files.is_empty() {
        let key = format!("{at}.include");
        let hint = "from = \"~/src/widget\", files = [\".env.test\"]";
        check.problem(&key, "it needs both from and files", hint);
        return Vec::new();
    }
    let mut included = Vec::new();
    let dir = paths.expand(&section.from);
    for file in &section.files {
        let to = Path::new(file);
        let plain = to
            .components()
            .all(|part| matches!(part, Component::Normal(name) if name != ".git"));
        if !plain || file.is_empty() || file.contains(['*', '?']) {
            let key = format!("{at}.include.files");
            let problem = format!("{file:?} is no path of a file inside a workspace");
            check.problem(&key, problem, "files = [\".env.test\"]");
            continue;
        }
        included.push(Included {
            from: dir.join(to),
            to: to.to_owned(),
        });
    }
    included
}

/// Whether the forge has what it needs to find this repository.
fn forge_is_sound(at: &str, forge: &str, slug: &str, sections: &Sections, check: &mut Check<'_>) {
    let Some(opener) = OPENERS.iter().find(|opener| opener.name == forge) else {
        return;
    };
    if let Some(Err(problem)) = opener.slug.map(|is_slug| is_slug(slug)) {
        check.problem(at, problem, "slug = \"acme/widget\"");
    }
    if opener.without_section.is_none() && !sections.contains_key(forge) {
        let problem = format!("forge {forge:?} needs a [{forge}] section");
        check.problem(at, problem, &format!("[{forge}] with {}", opener.sample));
    }
}

/// `RULE:FILE`. A value that Carson itself holds is no false alarm, whatever file it is in.
fn allowed_secrets(at: &str, written: &[String], check: &mut Check<'_>) -> Vec<AllowedSecret> {
    let mut allowed = Vec::new();
    for text in written {
        let key = format!("{at}.allow_secrets");
        let (rule, files) = text.split_once(':').unwrap_or((text, ""));
        if files.is_empty() || !rule_names().contains(&rule) {
            let problem = format!("{text:?} is not RULE:FILE with a known rule");
            let hint = format!("one of {}: \"jwt:tests/*\"", rule_names().join(", "));
            check.problem(&key, problem, &hint);
            continue;
        }
        allowed.push(AllowedSecret {
            rule: rule.to_owned(),
            files: files.to_owned(),
        });
    }
    allowed
}
