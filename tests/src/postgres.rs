//! A PostgreSQL database of a test's own, on the server that `cargo xtask test` starts.
//!
//! Also compiled into the tests of `carson-store`, which stands below this crate.

use std::str::FromStr;
use std::thread;

use sqlx::postgres::PgConnectOptions;
use sqlx::{ConnectOptions, Connection};
use uuid::Uuid;

/// The variable with the address of the server.
const VARIABLE: &str = "CARSON_TEST_POSTGRES";
/// The one with the address of another server, which has pgvector.
const WITH_VECTORS: &str = "CARSON_TEST_PGVECTOR";

/// A fresh, empty database; goes with everybody who is still connected when it is dropped.
#[derive(Debug)]
pub struct TestDatabase {
    server: String,
    name: String,
}

impl Default for TestDatabase {
    fn default() -> Self {
        Self::new()
    }
}

impl TestDatabase {
    /// Makes one.
    ///
    /// # Panics
    /// When there is no server: a test of PostgreSQL that is skipped says nothing.
    #[must_use]
    pub fn new() -> Self {
        Self::on(VARIABLE)
    }

    /// Makes one on the server that has pgvector.
    ///
    /// # Panics
    /// When there is none.
    #[must_use]
    pub fn with_vectors() -> Self {
        Self::on(WITH_VECTORS)
    }

    fn on(variable: &str) -> Self {
        let server = std::env::var(variable).unwrap_or_else(|_| {
            panic!("{variable} names no PostgreSQL server: run the tests with `cargo xtask test`")
        });
        let name = format!("carson_{}", Uuid::now_v7().simple());
        execute(&server, format!("CREATE DATABASE {name}"));
        Self { server, name }
    }

    /// Its address, for `database.url`.
    #[must_use]
    pub fn url(&self) -> String {
        let path = self.server.find("://").and_then(|at| {
            let authority = at + "://".len();
            Some(authority + self.server[authority..].find('/')?)
        });
        let Some(path) = path else {
            panic!("{VARIABLE} names no database: {}", self.server);
        };
        let (server, rest) = self.server.split_at(path + 1);
        let query = rest.find('?').map_or("", |at| &rest[at..]);
        format!("{server}{}{query}", self.name)
    }
}

impl Drop for TestDatabase {
    fn drop(&mut self) {
        // The server is as short-lived as the run: a database that stays is no harm, while a
        // panic during a panic would hide why the test failed.
        let (server, name) = (self.server.clone(), self.name.clone());
        let drop = move || execute(&server, format!("DROP DATABASE {name} WITH (FORCE)"));
        let _ = thread::spawn(drop).join();
    }
}

/// In a thread of its own, for the test may run in a runtime already.
#[expect(
    clippy::disallowed_methods,
    reason = "a name cannot be bound as a value, and this one is ours"
)]
fn execute(server: &str, statement: String) {
    let server = server.to_owned();
    let run = async move {
        let mut connection = PgConnectOptions::from_str(&server)?.connect().await?;
        let statement = sqlx::AssertSqlSafe(statement);
        sqlx::raw_sql(statement).execute(&mut connection).await?;
        connection.close().await
    };
    let done = thread::spawn(move || {
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        runtime.enable_all().build()?.block_on(run)
    });
    match done.join() {
        Ok(Ok(())) => {}
        other => panic!("the PostgreSQL server of the tests does not do as it is told: {other:?}"),
    }
}
