//! A PostgreSQL that is away for a while: paused, ended, cut off, failed over, without room.
//!
//! Each question is asked again until it has an answer, for as long as the store is patient
//! ([`Store::patient`](crate::Store::patient)). A firing that runs is: what it did must not be lost, nor done again by another, because
//! the database was away for a minute. Who answers people or decides what fires is not: it says that the
//! database is away, and looks again later.
//!
//! A connection that is dead and does not say so (a cut cable, a proxy that froze) is found out before it is used
//! and when it is given back, within [`PING`]; a question that is under way has [`IN_FLIGHT`], or where somebody waits
//! for the answer [`IMPATIENT`].
//!
//! A transaction whose end was cut off is not begun again before the server said what became of it: what it wrote is
//! written once. Its number alone does not tell (`pg_xact_status`): one that a killed server had not written down yet is
//! given to the next. So each leaves a key behind. A single statement that was cut off is said again; those
//! with which a firing writes say the same twice, but for an event, which may then stand there twice.

use std::time::Duration;

use sqlx::pool::PoolConnectionMetadata;
use sqlx::postgres::{PgConnection, PgPool, PgPoolOptions, PgTransaction};
use sqlx::{Connection as _, query_scalar};
use tokio::time::{Instant, sleep, timeout};
use tracing::{info, warn};
use uuid::Uuid;

use crate::error::{StoreError, Trouble};

/// How long a connection that nobody used has to say that it lives.
const PING: Duration = Duration::from_secs(3);
/// One that was used so lately is not asked.
const FRESH: Duration = Duration::from_secs(1);
/// How long an answer is waited for: longer than a server that is paused for a moment, which then answers.
const IN_FLIGHT: Duration = Duration::from_secs(60);
/// The same where nobody is patient: a daemon that waits for such an answer fires nothing.
const IMPATIENT: Duration = Duration::from_secs(20);
/// How soon it is asked again at first.
const SOON: Duration = Duration::from_millis(100);
/// And at the latest.
const LATE: Duration = Duration::from_secs(5);
/// Waiting that long is worth a word.
const WORTH_A_WORD: Duration = Duration::from_secs(5);

/// Whether an error says that the server is away and not that it was asked something wrong.
pub(crate) fn is_away(error: &StoreError) -> bool {
    let (StoreError::Query(error)
    | StoreError::Trouble { source: error, .. }
    | StoreError::Open { source: error, .. }) = error
    else {
        return false;
    };
    match error {
        // The last is half an answer: a connection that was cut off while it was made.
        sqlx::Error::Io(_)
        | sqlx::Error::PoolTimedOut
        | sqlx::Error::WorkerCrashed
        | sqlx::Error::Protocol(_) => true,
        // https://www.postgresql.org/docs/current/errcodes-appendix.html
        sqlx::Error::Database(error) => error.code().is_some_and(|code| {
            // Connections, resources, an operator's hand; two that met; a standby that is still one.
            ["08", "53", "57P"]
                .iter()
                .any(|class| code.starts_with(class))
                || ["40001", "40P01", "25006"].contains(&code.as_ref())
        }),
        _ => false,
    }
}

/// Whether a statement before this one ended the transaction (25P02).
fn is_aborted(error: &sqlx::Error) -> bool {
    has_code(error, "25P02")
}

fn has_code(error: &sqlx::Error, code: &str) -> bool {
    let said = error.as_database_error();
    said.is_some_and(|said| said.code().as_deref() == Some(code))
}

/// How long one question waits for its answer, and how often it is asked.
pub(crate) struct Waits {
    since: Instant,
    patience: Duration,
    next: Duration,
    has_said: bool,
}

impl Waits {
    pub(crate) fn at_most(patience: Duration) -> Self {
        Self {
            since: Instant::now(),
            patience,
            next: SOON,
            has_said: false,
        }
    }

    /// The answer, if it comes in time.
    pub(crate) async fn bounded<T>(
        &self,
        asked: impl Future<Output = Result<T, StoreError>>,
    ) -> Result<T, StoreError> {
        let within = match self.patience.is_zero() {
            true => IMPATIENT,
            // So that it can be asked again.
            false => IN_FLIGHT.min(self.patience / 4),
        };
        match timeout(within, asked).await {
            Ok(answer) => answer,
            Err(_) => Err(StoreError::Query(sqlx::Error::Io(std::io::Error::new(
                std::io::ErrorKind::TimedOut,
                "the server has not answered in time",
            )))),
        }
    }

    /// Waits a moment after an error; `false` where asking again is of no use or takes too long.
    pub(crate) async fn again(&mut self, error: &StoreError) -> bool {
        let passed = self.since.elapsed();
        if !is_away(error) || passed + self.next > self.patience {
            return false;
        }
        if passed > WORTH_A_WORD && !self.has_said {
            self.has_said = true;
            let cause = std::error::Error::source(error).map(ToString::to_string);
            warn!(
                %error,
                cause,
                patience_s = self.patience.as_secs(),
                "the database is away: waiting for it"
            );
        }
        sleep(self.next).await;
        self.next = (self.next * 2).min(LATE);
        true
    }

    /// There was an answer.
    pub(crate) fn over(&self) {
        if self.has_said {
            info!(
                waited_s = self.since.elapsed().as_secs(),
                "the database is back"
            );
        }
    }
}

/// Evaluates the body until the server answered, or patience is at an end. Nothing in it may be used up by the
/// first time.
macro_rules! patiently {
    ($store:expr, $body:expr) => {{
        let mut waits = $crate::away::Waits::at_most($store.patience);
        let answered = loop {
            let asked = Box::pin(async { Ok::<_, $crate::error::StoreError>($body) });
            match waits.bounded(asked).await {
                Err(error) if waits.again(&error).await => {}
                answered => break answered,
            }
        };
        waits.over();
        answered?
    }};
}

pub(crate) use patiently;

/// Evaluates a body that ends with a transaction of its own and what it found, until that is committed, once, or
/// patience is at an end. The body alone is begun anew when its time is up: a commit may have been heard, and is asked
/// about.
macro_rules! committed {
    ($store:expr, $pool:expr, $body:expr) => {{
        let mut waits = $crate::away::Waits::at_most($store.patience);
        let answered = loop {
            let asked = Box::pin(async { Ok::<_, $crate::error::StoreError>($body) });
            let ended = match waits.bounded(asked).await {
                Ok((tx, found)) => {
                    let commit = $crate::away::commit($store.patience, $pool, tx);
                    Box::pin(commit).await.map(|()| found)
                }
                Err(error) => Err(error),
            };
            match ended {
                Err(error) if waits.again(&error).await => {}
                answered => break answered,
            }
        };
        waits.over();
        answered?
    }};
}

pub(crate) use committed;

/// Ends a transaction. One whose end was cut off is asked about: `Ok` where it is there after all.
pub(crate) async fn commit(
    patience: Duration,
    pool: &PgPool,
    mut tx: PgTransaction<'_>,
) -> Result<(), StoreError> {
    let mut waits = Waits::at_most(patience);
    if patience.is_zero() {
        return waits.bounded(async { Ok(tx.commit().await?) }).await;
    }
    let key = Uuid::now_v7();
    let Some(xid) = waits.bounded(leave_key(&mut tx, key)).await? else {
        return waits.bounded(async { Ok(tx.commit().await?) }).await;
    };
    let error = match waits.bounded(async { Ok(tx.commit().await?) }).await {
        Err(error) if is_away(&error) => error,
        ended => return ended,
    };
    loop {
        match waits.bounded(became_of(pool, &xid, key)).await {
            Ok(Became::Committed) => return Ok(()),
            // Its server session has not noticed yet.
            Ok(Became::Runs) if waits.again(&error).await => {}
            Ok(_) => return Err(error),
            Err(other) if waits.again(&other).await => {}
            Err(_) => return Err(error),
        }
    }
}

/// Leaves a key in a transaction that writes; the number of that transaction. One that has only read has none, and one
/// of which a statement was refused, as its caller expected, will write nothing.
async fn leave_key(tx: &mut PgTransaction<'_>, key: Uuid) -> Result<Option<String>, StoreError> {
    let xid: Result<Option<String>, sqlx::Error> = query_scalar(
        "INSERT INTO commit_key (key) SELECT $1 WHERE pg_current_xact_id_if_assigned() IS NOT NULL \
         RETURNING pg_current_xact_id()::text",
    )
    .bind(key)
    .fetch_optional(&mut **tx)
    .await;
    match xid {
        Err(error) if is_aborted(&error) => Ok(None),
        xid => Ok(xid?),
    }
}

/// What became of a transaction.
enum Became {
    Committed,
    Runs,
    Nothing,
}

/// Asks for its key once nobody can commit it any more.
async fn became_of(pool: &PgPool, xid: &str, key: Uuid) -> Result<Became, StoreError> {
    let status: Result<Option<String>, sqlx::Error> =
        query_scalar("SELECT pg_xact_status($1::text::xid8)")
            .bind(xid)
            .fetch_one(pool)
            .await;
    match status {
        Ok(Some(status)) if status == "in progress" => return Ok(Became::Runs),
        Ok(_) => {}
        // It forgot that one, and has not come to its number again.
        Err(error) if has_code(&error, "22023") => {}
        Err(error) => return Err(error.into()),
    }
    let is_there: bool = query_scalar("SELECT EXISTS (SELECT 1 FROM commit_key WHERE key = $1)")
        .bind(key)
        .fetch_one(pool)
        .await?;
    Ok(match is_there {
        true => Became::Committed,
        false => Became::Nothing,
    })
}

/// A pool that finds out dead connections.
pub(crate) fn pool() -> PgPoolOptions {
    PgPoolOptions::new()
        .max_connections(4)
        .acquire_timeout(Duration::from_secs(10))
        .test_before_acquire(false)
        .before_acquire(|connection, met| Box::pin(lives(connection, met)))
        .after_release(|connection, _| {
            Box::pin(async move { ping(connection).await.map(|()| true) })
        })
}

async fn lives(
    connection: &mut PgConnection,
    met: PoolConnectionMetadata,
) -> Result<bool, sqlx::Error> {
    if met.idle_for > FRESH {
        ping(connection).await?;
    }
    Ok(true)
}

/// An error makes the pool drop the connection at once.
async fn ping(connection: &mut PgConnection) -> Result<(), sqlx::Error> {
    let asked = timeout(PING, connection.ping()).await;
    asked.unwrap_or(Err(sqlx::Error::PoolTimedOut))
}

impl StoreError {
    /// Whether the same may go well in a moment: somebody else holds the database, or it is away.
    #[must_use]
    pub fn passes(&self) -> bool {
        let locked = Trouble::Locked;
        matches!(self, Self::Trouble { trouble, .. } if *trouble == locked) || is_away(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_passes_by_itself_is_waited_for() {
        let io = || sqlx::Error::Io(std::io::ErrorKind::ConnectionReset.into());
        let open = StoreError::Open {
            url: String::new(),
            source: io(),
        };
        for error in [
            StoreError::from(io()),
            StoreError::from(sqlx::Error::PoolTimedOut),
            open,
        ] {
            assert!(is_away(&error), "{error:?}");
        }
        for error in [
            StoreError::from(sqlx::Error::RowNotFound),
            StoreError::Row {
                column: "outcome",
                value: String::new(),
            },
        ] {
            assert!(!is_away(&error), "{error:?}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn patience_has_an_end_and_the_impatient_do_not_wait() {
        let away = StoreError::from(sqlx::Error::PoolTimedOut);
        let waits = |patience| Waits {
            since: Instant::now(),
            patience,
            next: SOON,
            has_said: false,
        };
        assert!(!waits(Duration::ZERO).again(&away).await);
        let (begun, mut patient) = (Instant::now(), waits(Duration::from_secs(120)));
        let mut times = 0;
        while patient.again(&away).await {
            times += 1;
        }
        let took = begun.elapsed().as_secs();
        assert!(
            (110..=120).contains(&took) && times < 40,
            "{took} s, {times} times"
        );
        let waits_no_more = waits(Duration::ZERO);
        let unanswered = waits_no_more.bounded(std::future::pending::<Result<(), _>>());
        assert!(is_away(&unanswered.await.unwrap_err()));
        let wrong = StoreError::from(sqlx::Error::RowNotFound);
        assert!(!waits(Duration::from_secs(120)).again(&wrong).await);
    }
}
