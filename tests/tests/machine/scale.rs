//! What grows for ever: rows.

use std::time::{Duration, Instant};

use carson_tests::judge::sound;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{Connection as _, Executor as _};

/// Firings of a hundred roles, one in ten seconds, a third of them skipped.
const FILL: &str = "
WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ROWS),
     at (i, t) AS (SELECT i, strftime('%Y-%m-%dT%H:%M:%S+00:00', 'now', '-' || ((ROWS + 1 - i) * 10) || ' seconds') FROM n)
INSERT INTO firing (id, role, slot, claimed_at, deadline_at, ended_at, host, outcome, reason, cost_usd)
SELECT randomblob(16), CASE i % 100 WHEN 0 THEN 'hand' ELSE 'role-' || (i % 100) END, t, t, t, t, 'here',
       CASE i % 3 WHEN 0 THEN 'SKIPPED' ELSE 'OK' END, 'done', CASE i % 3 WHEN 0 THEN NULL ELSE 0.25 END
FROM at";

#[test]
fn very_many_firings_slow_no_question_down() {
    let rows = std::env::var("CARSON_TEST_ROWS").unwrap_or_else(|_| "200000".into());
    let rows: u64 = rows.parse().unwrap();
    let fleet = sound();
    let _ = fleet.ok(&["status", "--json"]);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let options = SqliteConnectOptions::new().filename(fleet.home().join("state/carson.db"));
        let mut database = SqliteConnection::connect_with(&options).await.unwrap();
        let fill = FILL.replace("ROWS", &rows.to_string());
        database.execute(sqlx::AssertSqlSafe(fill)).await.unwrap();
    });
    let questions: [&[&str]; 6] = [
        &["status"],
        &["why", "hand"],
        &["firings", "--limit", "20"],
        &["firings", "--role", "hand", "--limit", "20"],
        &["firings", "--since", "1h", "--all"],
        &["roles", "show", "hand"],
    ];
    for question in questions {
        let begun = Instant::now();
        let ran = fleet.carson(question);
        let took = begun.elapsed();
        println!("{question:?}: {took:?}");
        assert_eq!(ran.code, Some(0), "{ran:#?}");
        // Some hundredths of a second for what an index finds; a look at each row takes seconds.
        assert!(took < Duration::from_secs(1), "{question:?}: {took:?}");
    }
    let begun = Instant::now();
    let row = fleet.fire("hand").json();
    println!("a firing: {:?}", begun.elapsed());
    assert_eq!(row["outcome"], "OK", "{row:#}");
}
