//! Who was fenced writes nothing.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use carson_core::effect::LabelChange;
use carson_core::egress::EgressHost;
use carson_core::settle::{Facts, settle};
use carson_core::work::WorkKey;
use carson_core::{Effect, FiringId, Outcome, Stage};
use carson_store::{EffectState, Epoch, Judged, Progress, Recall, Store, StoreError, Tried};
use serde_json::json;
use sqlx::{PgPool, SqlitePool};

use crate::fixture::{Place, at, claimed, ending, on_both, stopped};

on_both!(a_stale_writer_changes_nothing_by_any_way_there_is);

/// As another host does that takes the row over.
async fn raise_epoch(place: &Place, id: FiringId) {
    let raise = "UPDATE firing SET epoch = epoch + 1 WHERE id = $1";
    let rows = match place {
        Place::Sqlite(_) => {
            let pool = SqlitePool::connect(&place.url()).await.unwrap();
            let done = sqlx::query(raise).bind(id.uuid()).execute(&pool).await;
            done.unwrap().rows_affected()
        }
        Place::Postgres(_) => {
            let pool = PgPool::connect(&place.url()).await.unwrap();
            let done = sqlx::query(raise).bind(id.uuid()).execute(&pool).await;
            pool.close().await;
            done.unwrap().rows_affected()
        }
    };
    assert_eq!(rows, 1);
}

/// Everything that a firing writes, as its readers see it.
async fn seen(store: &Store, id: FiringId) -> String {
    format!(
        "{:#?}",
        (
            store.find_firing(&id.to_string()).await.unwrap(),
            store.firing(id).await.unwrap(),
            store.effects(id).await.unwrap(),
            store.egress(id).await.unwrap(),
            store.recall_of(id).await.unwrap(),
            store.breakers().await.unwrap(),
            store.pending_posts().await.unwrap(),
        )
    )
}

async fn a_stale_writer_changes_nothing_by_any_way_there_is(place: Place) {
    let store = place.open().await;
    let id = claimed(&store, "one", 0).await;
    let (facts, widget) = (Facts::default(), "widget".parse().unwrap());
    let close = [Effect::CloseIssue { issue: 1 }];
    let before = store.as_firing(id, Epoch::FIRST);
    before.set_stage(Stage::Pick, at(1)).await.unwrap();
    before.plan_effects(&settle(&facts), &close).await.unwrap();
    raise_epoch(&place, id).await;
    let was = seen(&store, id).await;

    let stale = store.as_firing(id, Epoch::FIRST);
    let tried = Tried {
        state: EffectState::Done,
        said: None,
        next_at: None,
    };
    let recall = Recall {
        firing: id,
        at: at(2),
        off: true,
        mode: "words".to_owned(),
        block: String::new(),
        lessons: Vec::new(),
    };
    let egress = [EgressHost {
        host: "a:1".into(),
        allowed: 1,
        refused: 0,
        bytes_up: 0,
        bytes_down: 0,
    }];
    let failed = ending(Outcome::Failed, "late", 9);
    let labels = LabelChange::default();
    let nothing = |done: Result<bool, StoreError>| done.map(drop);
    let writes: Vec<(&str, Result<(), StoreError>)> = vec![
        (
            "start_firing",
            nothing(stale.start_firing((1, 1), None, at(2)).await),
        ),
        ("set_prompt_version", stale.set_prompt_version("v").await),
        ("set_stage", stale.set_stage(Stage::Plan, at(2)).await),
        ("end_stage", stale.end_stage(at(2)).await),
        ("set_sandbox", stale.set_sandbox(&json!({})).await),
        ("progress", stale.progress(&Progress::default(), true).await),
        (
            "set_place",
            stale.set_place("b", "s", Path::new("/b")).await,
        ),
        ("set_goes_on", stale.set_goes_on("b").await),
        ("set_second_try", stale.set_second_try(1).await),
        ("set_pull", stale.set_pull(1, "u").await),
        ("set_salvage_ref", stale.set_salvage_ref("r").await),
        ("set_judged", stale.set_judged(Judged::Pushed, "s").await),
        (
            "add_blocked_calls",
            stale
                .add_blocked_calls(&[stopped("r", "t", "c")], at(2))
                .await,
        ),
        (
            "settle_firing",
            nothing(stale.settle_firing(&settle(&facts), None, &facts).await),
        ),
        ("end_firing", nothing(stale.end_firing(&failed).await)),
        (
            "plan_effects",
            stale.plan_effects(&settle(&facts), &close).await.map(drop),
        ),
        ("note_effect", nothing(stale.note_effect(0, &tried).await)),
        (
            "plan_effects_anew",
            stale
                .plan_effects_anew(&settle(&facts), &close)
                .await
                .map(drop),
        ),
        (
            "note_pull_effect",
            nothing(stale.note_pull_effect(0, &tried, (1, "u")).await),
        ),
        (
            "take_work",
            nothing(stale.take_work(&widget, WorkKey::Issue(1), "t").await),
        ),
        ("set_egress", stale.set_egress(&egress).await),
        ("note_labels", stale.note_labels(0, &labels).await),
        ("note_recall", stale.note_recall(&recall).await),
    ];
    for (name, done) in &writes {
        let fenced = matches!(done, Err(StoreError::Fenced { id: whose }) if *whose == id);
        assert!(fenced, "{name}: {done:?}");
    }
    assert_eq!(seen(&store, id).await, was);

    // None of them was forgotten here.
    let tried: BTreeSet<String> = writes.iter().map(|(name, _)| (*name).to_owned()).collect();
    let mut all = ways_to_write();
    for lease in ["keep_lease", "acts"] {
        assert!(all.remove(lease), "{lease}: of them tells leases.rs");
    }
    assert_eq!(tried, all);

    // Whoever has the row now writes it.
    let row = store.firing(id).await.unwrap().unwrap();
    let now = store.as_firing(id, row.epoch);
    assert!(now.end_firing(&failed).await.unwrap());
}

fn sources() -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    let mut dirs = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("src")];
    while let Some(dir) = dirs.pop() {
        for entry in fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                dirs.push(path);
            } else {
                let text = fs::read_to_string(&path).unwrap();
                found.push((path, text));
            }
        }
    }
    found
}

/// What is written behind the fence, and all the rest of a file.
fn cut(text: &str) -> (String, String) {
    const BEGIN: &str = "\nimpl AsFiring<'_> {\n";
    let (mut behind, mut rest, mut left) = (String::new(), String::new(), text);
    while let Some((before, from)) = left.split_once(BEGIN) {
        let (inside, after) = from.split_once("\n}\n").unwrap();
        rest.push_str(before);
        behind.push_str(inside);
        behind.push('\n');
        left = after;
    }
    rest.push_str(left);
    (behind, rest)
}

fn ways_to_write() -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for (_, text) in sources() {
        let (behind, _) = cut(&text);
        for line in behind.lines() {
            if let Some(from) = line.strip_prefix("    pub async fn ") {
                let (name, _) = from.split_once('(').unwrap();
                names.insert(name.to_owned());
            }
        }
    }
    names
}

/// Tables of which each row is of a firing, and written by it alone.
const OF_FIRINGS: [&str; 7] = [
    "firing",
    "stage",
    "blocked_call",
    "used",
    "effect",
    "egress",
    "recall",
];

#[test]
fn rows_of_firings_are_written_behind_the_fence_alone() {
    for (path, text) in sources() {
        let (_, rest) = cut(&text);
        let name = path.file_name().unwrap().to_str().unwrap();
        for table in OF_FIRINGS {
            let update = format!("UPDATE {table} SET");
            let insert = format!("INSERT INTO {table} (");
            for statement in [update, insert] {
                let found = rest.matches(&statement).count();
                let known = match (name, statement.as_str()) {
                    // A claim, and a slot that ends as a quiet row.
                    ("claim.rs", "INSERT INTO firing (") => 2,
                    // They raise the epoch.
                    ("leases.rs", "UPDATE firing SET") => 2,
                    _ => 0,
                };
                assert_eq!(found, known, "{statement} in {}", path.display());
            }
        }
    }
}
