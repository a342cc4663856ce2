//! What arrives is written down before Slack is told that it was heard, and dealt with from there: in an order that the
//! rows keep (`carson_store`'s `inbox.rs`), several at a time, and by one daemon each.

use std::time::Duration;

use carson_home::Home;
use carson_notify::Chat;
use carson_store::{HeardRow, Kept, NewHeard};
use serde_json::{Value, json};
use tokio::sync::mpsc::Sender;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tracing::warn;

use crate::desk::{self, deal};
use crate::errands::Errand;
use crate::heard::heard;
use crate::newest::Newest;

/// How long it may take to write something down: what is acknowledged later than in three seconds Slack sends again.
const TO_WRITE: Duration = Duration::from_secs(10);
/// How many are dealt with at a time that change something, and as many that only look.
const AT_ONCE: usize = 4;
/// How long one that changes something may take: issues are filed meanwhile.
const PATIENCE: Duration = Duration::from_secs(120);
/// How long one may that only looks.
const GLANCE: Duration = Duration::from_secs(60);
/// How often it is looked by itself: for what another daemon left, and what is tried again.
const EVERY: Duration = Duration::from_secs(5);
/// How often it is said that a row is held still; a lease is three times as long.
const HOLD: Duration = Duration::from_secs(10);
/// How soon it is tried again where the database did not answer.
const AGAIN: chrono::TimeDelta = chrono::TimeDelta::seconds(5);
/// How often it is tried to take away what was dealt with.
const TRIES: u32 = 5;

/// Where it is kept.
pub(crate) struct Inbox {
    newest: Newest,
    /// Something came, or something else may have its turn.
    moved: watch::Sender<()>,
}

impl Inbox {
    pub(crate) fn of(newest: Newest) -> Self {
        Self {
            newest,
            moved: watch::Sender::new(()),
        }
    }

    /// Writes down what an envelope says, where that is for us; why it could not be. Then it is not to be acknowledged.
    pub(crate) async fn keep(&self, envelope: &Value) -> Result<(), String> {
        let Some(heard) = heard(envelope).filter(desk::is_for_us) else {
            return Ok(());
        };
        let home = (self.newest)();
        let new = NewHeard {
            who: heard.user.clone(),
            place: heard.place(),
            changes: desk::changes(&heard),
            heard: json!(heard),
            names: heard.names,
        };
        let kept = timeout(TO_WRITE, home.store.keep_heard(&new, home.clock.now()));
        match kept.await {
            Ok(Ok(Kept::New)) => {
                self.moved.send_replace(());
                Ok(())
            }
            Ok(Ok(Kept::Known)) => Ok(()),
            Ok(Ok(Kept::Full)) => Err("too much waits to be dealt with".to_owned()),
            Ok(Err(error)) => Err(error.to_string()),
            Err(_) => Err("the database takes too long".to_owned()),
        }
    }

    /// Deals with all that is kept, for ever.
    pub(crate) async fn deal(&self, chat: &Chat, to: &Sender<Errand>) {
        tokio::join!(self.line(chat, to, true), self.line(chat, to, false));
    }

    /// What changes something, or what only looks: neither takes the room of the other.
    async fn line(&self, chat: &Chat, to: &Sender<Errand>, changes: bool) {
        let (mut busy, mut moved) = (JoinSet::new(), self.moved.subscribe());
        loop {
            while busy.len() < AT_ONCE
                && let Some(row) = self.next(changes).await
            {
                let patience = if changes { PATIENCE } else { GLANCE };
                let (home, chat, to) = ((self.newest)(), chat.clone(), to.clone());
                busy.spawn(async move {
                    for errand in one(&home, &chat, &row, patience).await {
                        // Nobody runs any more: the daemon ends.
                        let _ = to.send(errand).await;
                    }
                });
            }
            tokio::select! {
                _ = moved.changed() => {}
                Some(_) = busy.join_next() => { self.moved.send_replace(()); }
                () = sleep(EVERY) => {}
            }
        }
    }

    async fn next(&self, changes: bool) -> Option<HeardRow> {
        let home = (self.newest)();
        let taken = home.store.take_heard(changes, home.clock.now()).await;
        taken.unwrap_or_else(|error| {
            warn!(%error, "what was said in the chat waits: it cannot be read");
            None
        })
    }
}

/// Deals with one row; what is to be posted then. Where the database does not answer it stays, and is taken again.
async fn one(home: &Home, chat: &Chat, row: &HeardRow, patience: Duration) -> Vec<Errand> {
    let dealt = held(home, row.seq, timeout(patience, deal(home, chat, row))).await;
    let errands = match dealt {
        Ok(Ok(errands)) => errands,
        Ok(Err(error)) => {
            warn!(%error, "what was said in the chat could not be dealt with, and is tried again");
            let again = home.clock.now() + AGAIN;
            if let Err(error) = home.store.put_heard_back(row.seq, again).await {
                warn!(%error, "it is tried again when nobody holds it any more");
            }
            return Vec::new();
        }
        Err(_) => {
            warn!("what was said in the chat took too long");
            desk::took_too_long(row).into_iter().collect()
        }
    };
    is_dealt_with(home, row.seq).await;
    errands
}

/// Does something while a row is held.
async fn held<T>(home: &Home, seq: i64, deed: impl Future<Output = T>) -> T {
    tokio::pin!(deed);
    loop {
        tokio::select! {
            done = &mut deed => return done,
            () = sleep(HOLD) => {
                if let Err(error) = home.store.hold_heard(seq, home.clock.now()).await {
                    warn!(%error, "what is dealt with cannot be held");
                }
            }
        }
    }
}

async fn is_dealt_with(home: &Home, seq: i64) {
    for _ in 0..TRIES {
        match home.store.heard_is_dealt_with(seq).await {
            Ok(()) => return,
            Err(error) => warn!(%error, "what was dealt with cannot be taken away"),
        }
        sleep(Duration::from_secs(1)).await;
    }
}
