//! Lock files that no longer fit: a manifest asks for other packages than on the base, and the lock file
//! that belongs to it is as it was. Whoever installs from it gets an error, or what nobody chose.
//!
//! Only what every run of the package manager would have written counts: what it may as well leave alone
//! (a narrower range that the locked version fits, a feature) is no drift.

use std::collections::BTreeSet;

use git2::Oid;
use serde::{Deserialize, Serialize};

use super::diff::content;
use super::objects::Objects;
use super::tree_diff::{At, changed};
use crate::paths::path_of;

/// A manifest and the lock file that does not know what it asks for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Drift {
    /// Path of the manifest.
    pub manifest: String,
    /// Path of its lock file.
    pub lock: String,
    /// What became of that: `is as it was`.
    pub how: String,
}

/// Letters of a package's name that are told.
const NAME: usize = 80;
/// Manifests that are looked at.
const MANIFESTS: usize = 100;

/// What a manifest asks for, as far as its lock file says the same; `None` when it cannot be read.
type Asked = fn(&str) -> Option<BTreeSet<String>>;

/// Manifests, how each is read, and the lock files that may stand beside it.
const KINDS: [(&str, Asked, &[&str]); 5] = [
    ("Cargo.toml", of_cargo, &["Cargo.lock"]),
    (
        "package.json",
        of_npm,
        &[
            "package-lock.json",
            "npm-shrinkwrap.json",
            "pnpm-lock.yaml",
            "yarn.lock",
        ],
    ),
    ("pyproject.toml", of_python, &["uv.lock", "poetry.lock"]),
    ("go.mod", of_go, &["go.sum"]),
    ("Gemfile", of_ruby, &["Gemfile.lock"]),
];

/// The lock files that the change from one tree to another forgot; none where there is too much to look at.
pub(super) fn drifts(objects: &Objects, old_tree: Oid, new_tree: Oid) -> Vec<Drift> {
    let all = changed(objects, new_tree, &[old_tree]).unwrap_or_default();
    let manifests = all.iter().filter_map(|one| {
        let (above, name) = split(&one.path);
        let kind = KINDS
            .iter()
            .find(|(manifest, ..)| manifest.as_bytes() == name);
        Some((one, above, kind?))
    });
    manifests
        .take(MANIFESTS)
        .filter_map(|(one, above, (_, asked, locks))| {
            let (was, now) = (content(objects, one.old), content(objects, Some(one.new?)));
            let (was, now) = (was.ok()?, now.ok()?);
            let (before, after) = (asked(&was)?, asked(&now)?);
            if before == after {
                return None;
            }
            let there = lock_of(objects, new_tree, above, locks);
            let lock = there.or_else(|| lock_of(objects, old_tree, above, locks))?;
            let text = |at| content(objects, Some(at)).unwrap_or_default();
            let is_its = lock.beside || one.old.is_some() && knows(&text(lock.at), above, &now);
            let how = match all.iter().find(|other| other.path == lock.path) {
                None => "is as it was".to_owned(),
                Some(changed) => match changed.new {
                    None => "was removed".to_owned(),
                    Some(at) => {
                        let unknown = unknown(&text(at), after.difference(&before))?;
                        format!("does not know {unknown}")
                    }
                },
            };
            is_its.then(|| Drift {
                manifest: lossy(&one.path),
                lock: lossy(&lock.path),
                how,
            })
        })
        .collect()
}

/// The first package that is newly asked for and that a changed lock file does not name.
fn unknown<'a>(lock: &str, added: impl Iterator<Item = &'a String>) -> Option<String> {
    // Of Python's names case and kind of dash do not count.
    let plain = |text: &str| text.to_lowercase().replace(['_', '.'], "-");
    let lock = plain(lock);
    let names = added.filter_map(|asked| {
        let asked = asked.trim_start_matches(['"', '\'']);
        let end = asked.find(|c: char| c.is_whitespace() || "\"'<>=!~;,[(".contains(c));
        let name = &asked[..end.unwrap_or(asked.len())];
        (!name.is_empty()).then_some(name)
    });
    let mut unknown = names.filter(|name| !lock.contains(&plain(name)));
    unknown.next().map(|name| name.chars().take(NAME).collect())
}

/// A lock file of one of the trees.
struct Lock {
    path: Vec<u8>,
    at: At,
    /// Whether it stands beside the manifest, not above it.
    beside: bool,
}

/// The nearest one: beside the manifest, or above it, where a workspace has one for all.
fn lock_of(objects: &Objects, tree: Oid, above: &[u8], names: &[&str]) -> Option<Lock> {
    let tree = objects.tree(tree).ok()?;
    let mut dir = above;
    loop {
        for name in names {
            let mut path = dir.to_vec();
            if !path.is_empty() {
                path.push(b'/');
            }
            path.extend_from_slice(name.as_bytes());
            if let Ok(entry) = tree.get_path(&path_of(&path)) {
                return Some(Lock {
                    path,
                    at: (entry.id(), entry.filemode()),
                    beside: dir == above,
                });
            }
        }
        if dir.is_empty() {
            return None;
        }
        dir = split(dir).0;
    }
}

/// Whether the lock file of a directory above is for this manifest, too: it names its directory, or its
/// package. Else it belongs to an example or a fixture.
fn knows(lock: &str, dir: &[u8], manifest: &str) -> bool {
    let dir = lossy(dir);
    let package = toml::from_str::<toml::Table>(manifest).ok();
    let package = package.and_then(|table| Some(table.get("package")?.get("name")?.to_string()));
    lock.contains(&dir) || package.is_some_and(|name| lock.contains(&format!("name = {name}")))
}

fn split(path: &[u8]) -> (&[u8], &[u8]) {
    match path.iter().rposition(|byte| *byte == b'/') {
        Some(at) => (&path[..at], &path[at + 1..]),
        None => (&[], path),
    }
}

fn lossy(path: &[u8]) -> String {
    String::from_utf8_lossy(path).into_owned()
}

/// `Cargo.lock` has the names of what each package asks for, and its version.
fn of_cargo(text: &str) -> Option<BTreeSet<String>> {
    const TABLES: [&str; 3] = ["dependencies", "dev-dependencies", "build-dependencies"];
    let manifest: toml::Table = toml::from_str(text).ok()?;
    let targets = manifest.get("target").and_then(toml::Value::as_table);
    let targets = targets.into_iter().flat_map(toml::Table::values);
    let holders = targets.filter_map(toml::Value::as_table).chain([&manifest]);
    let mut asked = BTreeSet::new();
    for table in holders.flat_map(|holder| TABLES.iter().filter_map(|name| holder.get(*name))) {
        for (key, one) in table.as_table().into_iter().flatten() {
            let renamed = one.get("package").and_then(toml::Value::as_str);
            asked.insert(renamed.unwrap_or(key).to_owned());
        }
    }
    let workspace = manifest.get("workspace").and_then(|all| all.get("package"));
    for package in [manifest.get("package"), workspace].into_iter().flatten() {
        let version = package.get("version").and_then(toml::Value::as_str);
        asked.extend(version.map(|version| format!("= {version}")));
    }
    Some(asked)
}

/// Lock files of npm, pnpm and yarn repeat what is asked for, word by word.
fn of_npm(text: &str) -> Option<BTreeSet<String>> {
    const TABLES: [&str; 3] = ["dependencies", "devDependencies", "optionalDependencies"];
    if text.is_empty() {
        return Some(BTreeSet::new());
    }
    let manifest: serde_json::Value = serde_json::from_str(text).ok()?;
    let tables = TABLES.iter().filter_map(|name| manifest.get(*name));
    let all = tables.filter_map(serde_json::Value::as_object).flatten();
    Some(all.map(|(name, range)| format!("{name} {range}")).collect())
}

/// `uv.lock` repeats what is asked for, `poetry.lock` has a hash of it.
fn of_python(text: &str) -> Option<BTreeSet<String>> {
    let manifest: toml::Table = toml::from_str(text).ok()?;
    let at = |path: &[&str]| {
        let (first, rest) = path.split_first()?;
        rest.iter()
            .try_fold(manifest.get(*first)?, |value, key| value.get(key))
    };
    let places: [&[&str]; 7] = [
        &["project", "dependencies"],
        &["project", "optional-dependencies"],
        &["dependency-groups"],
        &["tool", "uv", "dev-dependencies"],
        &["tool", "poetry", "dependencies"],
        &["tool", "poetry", "dev-dependencies"],
        &["tool", "poetry", "group"],
    ];
    let mut asked = BTreeSet::new();
    for place in places {
        match at(place) {
            Some(toml::Value::Array(all)) => asked.extend(all.iter().map(ToString::to_string)),
            Some(toml::Value::Table(all)) => {
                asked.extend(all.iter().map(|(key, value)| format!("{key} {value}")));
            }
            _ => {}
        }
    }
    Some(asked)
}

/// `go.sum` has the sums of each module at its version, but for those that are replaced.
fn of_go(text: &str) -> Option<BTreeSet<String>> {
    let words = |line: &str| -> Vec<String> {
        let line = line.split("//").next().unwrap_or_default();
        line.split_whitespace().map(str::to_owned).collect()
    };
    let (mut required, mut replaced) = (BTreeSet::new(), BTreeSet::new());
    let mut block = String::new();
    for line in text.lines() {
        let mut line = words(line);
        match line.as_slice() {
            [verb, open] if open == "(" => block.clone_from(verb),
            [close] if close == ")" => block.clear(),
            _ => {
                if !block.is_empty() {
                    line.insert(0, block.clone());
                }
                match line.as_slice() {
                    [verb, module, version] if verb == "require" => {
                        required.insert((module.clone(), version.clone()));
                    }
                    [verb, module, ..] if verb == "replace" => {
                        replaced.insert(module.clone());
                    }
                    _ => {}
                }
            }
        }
    }
    required.retain(|(module, _)| !replaced.contains(module));
    let all = required.into_iter();
    Some(
        all.map(|(module, version)| format!("{module} {version}"))
            .collect(),
    )
}

/// `Gemfile.lock` repeats names and ranges.
fn of_ruby(text: &str) -> Option<BTreeSet<String>> {
    let gems = text
        .lines()
        .filter_map(|line| line.trim().strip_prefix("gem "));
    let plain = |part: &&str| part.starts_with(['"', '\'']) && !part.contains("=>");
    let asked = gems.map(|gem| {
        let gem = gem.split('#').next().unwrap_or_default();
        let parts = gem.split(',').map(str::trim).take_while(plain);
        let words = parts.map(|part| part.trim_matches(['"', '\'']));
        words.collect::<Vec<_>>().join(" ")
    });
    Some(asked.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn same(asked: Asked, one: &str, other: &str) -> bool {
        asked(one).unwrap() == asked(other).unwrap()
    }

    #[test]
    fn only_what_a_lock_file_repeats_counts() {
        let cargo = "[package]\nname = \"a\"\nversion = \"1.0.0\"\n[dependencies]\nserde = \"1\"\n";
        let wider = cargo.replace(
            "serde = \"1\"",
            "serde = { version = \"1.0.2\", features = [\"derive\"] }",
        );
        assert!(same(of_cargo, cargo, &wider));
        assert!(!same(of_cargo, cargo, &format!("{cargo}toml = \"1\"\n")));
        assert!(!same(of_cargo, cargo, &cargo.replace("1.0.0", "1.0.1")));
        let target = "[target.'cfg(unix)'.dependencies]\nnix = \"1\"\n";
        assert!(!same(of_cargo, cargo, &format!("{cargo}{target}")));
        let renamed = cargo.replace(
            "serde = \"1\"",
            "s = { package = \"serde\", version = \"1\" }",
        );
        assert!(same(of_cargo, cargo, &renamed));

        let npm = r#"{"scripts": {"test": "x"}, "dependencies": {"a": "^1", "b": "2"}}"#;
        let other = r#"{"dependencies": {"b": "2", "a": "^1"}, "scripts": {}}"#;
        assert!(same(of_npm, npm, other));
        assert!(!same(of_npm, npm, &npm.replace("^1", "^2")));

        let python = "[project]\nname = \"a\"\ndependencies = [\"x>=1\", \"y\"]\n";
        assert!(same(of_python, python, &python.replace("\"a\"", "\"b\"")));
        assert!(!same(of_python, python, &python.replace("x>=1", "x>=2")));
        let group = "[dependency-groups]\ndev = [\"pytest\"]\n";
        assert!(!same(of_python, python, &format!("{python}{group}")));

        let go =
            "module m\ngo 1.22\nrequire (\n\ta.org/b v1.0.0 // indirect\n\tc.org/d v1.2.3\n)\n";
        assert!(same(of_go, go, &go.replace(" // indirect", "")));
        assert!(!same(of_go, go, &go.replace("v1.0.0", "v1.0.1")));
        let replaced = format!("{go}require e.org/f v0.0.0\nreplace e.org/f => ../f\n");
        assert!(same(of_go, go, &replaced));

        let ruby = "source 'x'\ngem 'rails', '~> 7', require: false # web\n";
        assert!(same(
            of_ruby,
            ruby,
            "group :test do\n  gem \"rails\", \"~> 7\"\nend\n"
        ));
        assert!(!same(of_ruby, ruby, &ruby.replace("~> 7", "~> 8")));
    }

    #[test]
    fn a_lock_file_that_was_touched_knows_what_is_asked_for() {
        let added = |asked: &[&str]| {
            asked
                .iter()
                .map(|one| (*one).to_owned())
                .collect::<Vec<_>>()
        };
        for (lock, asked, missing) in [
            ("name = \"serde\"\n", vec!["serde"], None),
            ("name = \"toml\"\n", vec!["serde"], Some("serde")),
            ("", vec!["= 1.0.1"], None),
            ("{\"node_modules/@a/b\": {}}", vec!["@a/b \"^1\""], None),
            (
                "name = \"zope-interface\"",
                vec!["\"Zope.Interface>=5\""],
                None,
            ),
            (
                "a.org/b v1.0.0 h1:x",
                vec!["a.org/c v1.0.0"],
                Some("a.org/c"),
            ),
        ] {
            assert_eq!(
                unknown(lock, added(&asked).iter()).as_deref(),
                missing,
                "{lock}"
            );
        }
    }

    #[test]
    fn what_is_no_manifest_says_nothing() {
        assert_eq!(of_cargo("[package"), None);
        assert_eq!(of_npm("{"), None);
        assert_eq!(of_python("="), None);
    }
}
