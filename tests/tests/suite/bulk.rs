//! Very many benches that nobody needs: pruning takes each as one directory.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use carson_core::FiringId;
use carson_tests::fleet::TestFleet;
use carson_tests::judge::sound;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{Connection as _, Executor as _};

/// How many; more with CARSON_TEST_BENCHES, for figures.
fn many() -> usize {
    let wanted = std::env::var("CARSON_TEST_BENCHES").ok();
    wanted.map_or(100, |many| many.parse().unwrap())
}

/// A row that has ended, and the bench that its firing would have left when it was killed.
async fn left_behind(fleet: &TestFleet, rows: &mut SqliteConnection, at: usize) -> PathBuf {
    let id = FiringId::new();
    let bench = fleet.home().join(format!("benches/{id}"));
    let branch = format!("carson/hand/bulk-{at}");
    let row = "INSERT INTO firing (id, role, host, repo, claimed_at, deadline_at, ended_at, branch, base_sha, outcome) \
               SELECT ?1, role, host, repo, claimed_at, deadline_at, ended_at, ?2, base_sha, outcome \
               FROM firing WHERE base_sha IS NOT NULL LIMIT 1";
    let bytes = id.uuid().as_bytes().to_vec();
    rows.execute(sqlx::query(row).bind(bytes).bind(&branch))
        .await
        .unwrap();
    let own = bench.join("repo.git");
    for dir in [
        "repo.git/objects/info",
        "repo.git/refs/heads",
        "home",
        "tmp",
    ] {
        fs::create_dir_all(bench.join(dir)).unwrap();
    }
    let mirror = fleet.mirror();
    fs::write(own.join("HEAD"), "ref: refs/heads/none\n").unwrap();
    fs::write(own.join("config"), "[core]\n\tbare = true\n").unwrap();
    fs::write(
        own.join("objects/info/alternates"),
        format!("{}/objects\n", mirror.display()),
    )
    .unwrap();
    let base: (String,) =
        sqlx::query_as("SELECT base_sha FROM firing WHERE base_sha IS NOT NULL LIMIT 1")
            .fetch_one(&mut *rows)
            .await
            .unwrap();
    let tree = bench.join(format!("tree-{}", id.short()));
    let dir = format!("--git-dir={}", own.display());
    let _ = fleet.git(&[
        &dir,
        "worktree",
        "add",
        "--quiet",
        "-b",
        &branch,
        tree.to_str().unwrap(),
        &base.0,
    ]);
    tree
}

#[test]
fn very_many_benches_are_pruned_and_none_loses_work() {
    let fleet = sound();
    assert_eq!(fleet.fire("hand").code, Some(0));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let worked = runtime.block_on(async {
        let options = SqliteConnectOptions::new().filename(fleet.home().join("state/carson.db"));
        let mut rows = SqliteConnection::connect_with(&options).await.unwrap();
        let mut worked = Vec::new();
        for at in 0..many() {
            let tree = left_behind(&fleet, &mut rows, at).await;
            if at % 50 == 7 {
                let file = tree.join("work.txt");
                fs::write(&file, format!("nobody else has this: {at}")).unwrap();
                worked.push(fleet.blob(&file));
            }
        }
        worked
    });
    assert_eq!(fleet.benches().len(), many());
    let begun = Instant::now();
    let pruned = fleet.ok(&["prune", "--json"]);
    let took = begun.elapsed();
    println!("{} benches in {took:?}", many());
    assert_eq!(fleet.benches(), Vec::<PathBuf>::new(), "{pruned:#}");
    let kept = fleet.kept();
    assert!(
        worked.iter().all(|file| kept.contains(file)),
        "work is lost"
    );
    // A quiet machine takes hundreds in a second; a busy disk needs its time to unlink.
    let bound = Duration::from_millis(400) * u32::try_from(many()).unwrap();
    assert!(took < bound, "{took:?}");
}
