//! What is posted once something was done: nobody waits for it but what is posted in the same thread.

use std::collections::{BTreeSet, VecDeque};

use carson_home::Home;
use carson_notify::Chat;
use carson_store::StoreError;
use tokio::sync::mpsc::Receiver;
use tokio::task::JoinSet;
use tracing::warn;

use crate::newest::Newest;
use crate::post::Room;
use crate::questions;

/// How many threads are posted in at a time.
const AT_ONCE: usize = 4;
/// Errands that wait for their thread; with more, nothing new is done before some are run.
const MOST: usize = 200;

/// Something to be posted.
#[derive(Debug)]
pub(crate) struct Errand {
    /// Its channel and its thread.
    pub place: (String, String),
    /// What.
    pub what: What,
}

/// What is to be posted.
#[derive(Debug)]
pub(crate) enum What {
    /// An answer.
    Say(String),
    /// The question of this id; where that fails, it is asked in the channel later.
    Ask(String),
    /// The question of this id can be answered no more.
    Strip(String),
}

impl Errand {
    /// Runs it. What fails is logged: what was asked for is done.
    pub(crate) async fn run(&self, home: &Home, chat: &Chat) {
        let (channel, thread) = (self.place.0.as_str(), self.place.1.as_str());
        let done = match &self.what {
            What::Say(text) => {
                let said = async { Room::open(chat)?.reply((channel, thread), text).await };
                if let Err(error) = said.await {
                    warn!(%error, "an answer could not be posted");
                }
                Ok(())
            }
            What::Ask(id) => ask(home, chat, id, (channel, thread)).await,
            What::Strip(id) => strip(home, chat, id).await,
        };
        if let Err(error) = done {
            warn!(%error, "what was posted cannot be noted");
        }
    }
}

async fn ask(
    home: &Home,
    chat: &Chat,
    id: &str,
    (channel, thread): (&str, &str),
) -> Result<(), StoreError> {
    let Some(row) = home.store.approval(id).await? else {
        return Ok(());
    };
    let asked = async {
        let room = Room::open(chat)?;
        room.ask(&row, (channel, Some(thread))).await
    };
    match asked.await {
        Ok((channel, ts)) => {
            let now = home.clock.now();
            home.store.approval_asked(id, (&channel, &ts), now).await
        }
        Err(error) => {
            warn!(%error, "a question could not be asked in its thread");
            Ok(())
        }
    }
}

async fn strip(home: &Home, chat: &Chat, id: &str) -> Result<(), StoreError> {
    match home.store.approval(id).await? {
        Some(row) => questions::strip_one(home, chat, &row).await,
        None => Ok(()),
    }
}

/// Runs all that come: those of one thread one after the other, and several threads at a time.
pub(crate) async fn keep(newest: &Newest, chat: &Chat, mut from: Receiver<Errand>) {
    let (mut waiting, mut busy) = (VecDeque::new(), JoinSet::new());
    let mut places = BTreeSet::new();
    loop {
        while busy.len() < AT_ONCE
            && let Some(errand) = next(&mut waiting, &places)
        {
            places.insert(errand.place.clone());
            let (home, chat) = (newest(), chat.clone());
            busy.spawn(async move {
                errand.run(&home, &chat).await;
                errand.place
            });
        }
        tokio::select! {
            Some(ended) = busy.join_next() => match ended {
                Ok(place) => { places.remove(&place); }
                // Nobody knows whose it was.
                Err(_) => places.clear(),
            },
            come = from.recv(), if waiting.len() < MOST => match come {
                Some(errand) => waiting.push_back(errand),
                None => return,
            },
        }
    }
}

/// The oldest whose thread is free.
fn next(waiting: &mut VecDeque<Errand>, places: &BTreeSet<(String, String)>) -> Option<Errand> {
    let at = waiting
        .iter()
        .position(|errand| !places.contains(&errand.place))?;
    waiting.remove(at)
}
