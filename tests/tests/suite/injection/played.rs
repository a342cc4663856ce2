//! One firing in such a scene, and what of it must be the same whatever the words are.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use carson_tests::fleet::{TestFleet, tree};
use serde_json::{Value, json};

use super::scene::{Words, scene};
use crate::crew::fire;
use crate::hostile::injection::outside;

/// A firing that has ended.
pub(super) struct Played {
    /// What it was, by name, without what differs from one firing to the next.
    pub was: BTreeMap<&'static str, Value>,
    pub prompts: Vec<String>,
    /// What it wrote on the forge, but for the file of its own work.
    pub wrote: BTreeMap<String, String>,
}

/// Plays a role with the words of a round, or with harmless ones.
pub(super) fn play(role: &str, round: Option<usize>) -> Played {
    let fleet = scene(Words { role, round });
    let dry = fleet.ok(&["fire", role, "--dry-run", "--json"]);
    let forge = fleet.home().join("forge");
    let (before, main) = (tree(&forge), fleet.tip("main"));
    let fired = fire(&fleet, role);
    let wrote = changed(&forge, &before);
    let id = fired["id"].as_str().unwrap();
    let row = fleet.firing(id);

    let root = fleet.root().to_str().unwrap().to_owned();
    let plain = |text: &str| {
        text.replace(&root, "ROOT")
            .replace(id, "ID")
            .replace(&id[id.len() - 8..], "ID")
    };
    let sessions = sessions(&fleet);
    let each = |of: &dyn Fn(&Path) -> Value| -> Value {
        let all = sessions.iter();
        let named = all.map(|at| (at.file_name().unwrap().display().to_string(), of(at)));
        Value::Object(named.collect())
    };
    let read = |at: &Path, name: &str| plain(&fs::read_to_string(at.join(name)).unwrap());
    let mut was = BTreeMap::new();
    was.insert("row", of_row(&row));
    was.insert("the bounds", some(&dry, &BOUNDS));
    was.insert(
        "its own words",
        each(&|at| outside(&read(at, "prompt")).into()),
    );
    was.insert("the command line", each(&|at| read(at, "argv").into()));
    was.insert("the environment", each(&|at| variables(&read(at, "env"))));
    was.insert("where it wrote", json!(wrote.keys().collect::<Vec<_>>()));
    was.insert("the labels", labels(&fleet));
    was.insert("the base", json!(fleet.tip("main") == main));
    was.insert("the branches", json!(fleet.branches().len()));
    let own = ["widget/issues/0002.md", "widget/pulls/0002.md"];
    let prompt = |at: &PathBuf| fs::read_to_string(at.join("prompt")).unwrap();
    Played {
        was,
        prompts: sessions.iter().map(prompt).collect(),
        wrote: wrote
            .into_iter()
            .filter(|(path, _)| !own.contains(&path.as_str()))
            .collect(),
    }
}

/// What a dry run says that words must not change.
const BOUNDS: [&str; 8] = [
    "tools",
    "stages",
    "check",
    "worst_case",
    "egress",
    "decided",
    "asks_models",
    "account",
];

/// These members of an object.
fn some(of: &Value, names: &[&str]) -> Value {
    let all = names
        .iter()
        .map(|name| ((*name).to_owned(), of[*name].clone()));
    Value::Object(all.collect())
}

/// Its end, its stages, what was refused, and what it did on the forge.
fn of_row(row: &Value) -> Value {
    let facts = [
        "outcome", "reason", "attempts", "sentinel", "work", "sandbox", "sessions",
    ];
    let mut kept = some(row, &facts);
    let list = |name: &str| row[name].as_array().cloned().unwrap_or_default();
    let stages: Vec<Value> = list("stages")
        .iter()
        .map(|one| one["name"].clone())
        .collect();
    let refused: Vec<Value> = list("blocked_calls")
        .iter()
        .map(|one| some(one, &["tool", "call"]))
        .collect();
    let names = [
        "kind", "n", "state", "base", "draft", "labels", "add", "remove", "number",
    ];
    let effects: Vec<Value> = list("effects")
        .iter()
        .map(|one| some(one, &names))
        .collect();
    kept["stages"] = json!(stages);
    kept["refused"] = json!(refused);
    kept["effects"] = json!(effects);
    kept
}

/// A number of its own, and the port of its own proxy, are another one each time.
fn variables(text: &str) -> Value {
    let same = |line: &&str| {
        let name = line.split('=').next().unwrap_or_default().to_lowercase();
        name != "carson_run" && !name.ends_with("proxy")
    };
    json!(text.lines().filter(same).collect::<Vec<_>>())
}

/// The labels of both issues, or of the issue and the pull request, but for the hostile one.
fn labels(fleet: &TestFleet) -> Value {
    let is_pull = fleet.home().join("forge/widget/pulls/0002.md").exists();
    let work = match is_pull {
        true => fleet.ok(&["pr", "show", "2", "--json"])["pull"]["labels"].clone(),
        false => json!(fleet.labels(2)),
    };
    let mut work = work.as_array().unwrap().clone();
    work.retain(|label| !label.as_str().unwrap().starts_with("MARK-"));
    json!([fleet.labels(1), work])
}

/// The files of the forge that are others than before.
fn changed(forge: &Path, before: &BTreeMap<PathBuf, Vec<u8>>) -> BTreeMap<String, String> {
    let now = tree(forge).into_iter();
    let others = now.filter(|(path, text)| before.get(path) != Some(text));
    let named = others.map(|(path, text)| {
        let path = path.strip_prefix(forge).unwrap().display().to_string();
        (path, String::from_utf8_lossy(&text).into_owned())
    });
    named.collect()
}

/// Where the sessions wrote down what they were given.
fn sessions(fleet: &TestFleet) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(fleet.shared().join("at")) else {
        return Vec::new();
    };
    let mut all: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    all.sort();
    all
}
