//! Where it is decided whether something is done about what was heard.

use std::time::Duration;

use carson_core::Event;
use carson_home::Home;
use carson_notify::Chat;
use carson_operator::plans::Choice;
use carson_store::{Decision, StoreError};
use chrono::TimeDelta;
use serde_json::Value;
use tokio::sync::mpsc::Receiver;
use tokio::time::timeout;
use tracing::warn;

use crate::answers::{Answer, Asker, answer, decide, named};
use crate::heard::{Deed, Heard, heard};
use crate::newest::Newest;
use crate::post::{APPROVE, REJECT, Room};
use crate::questions;
use crate::verbs::{ChatVerb, May};
use crate::words::{Meaning, meaning};

/// What was said longer ago was said to somebody else: a daemon that was away, or a replay.
const FRESH: TimeDelta = TimeDelta::minutes(5);
/// How long one answer may take.
const PATIENCE: Duration = Duration::from_secs(120);
/// Who is not believed is written down once in this time, for each verb.
const ONCE_IN: i64 = 600;
/// The signs that decide.
const SIGNS: [(&str, Decision); 2] = [
    ("white_check_mark", Decision::Approved),
    ("x", Decision::Rejected),
];
const OFFER: &str = "I take commands, not sentences: `help` lists them";

/// Deals with all that arrives, one after the other.
pub(crate) async fn keep(newest: &Newest, chat: &Chat, mut from: Receiver<Value>) {
    while let Some(envelope) = from.recv().await {
        let home = newest();
        match timeout(PATIENCE, take(&home, chat, &envelope)).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => warn!(%error, "what was said in the chat could not be dealt with"),
            Err(_) => warn!("what was said in the chat took too long"),
        }
    }
}

/// Deals with one envelope.
pub(crate) async fn take(home: &Home, chat: &Chat, envelope: &Value) -> Result<(), StoreError> {
    let Some(heard) = heard(envelope) else {
        return Ok(());
    };
    let now = home.clock.now();
    let mut is_new = true;
    for name in &heard.names {
        is_new &= home.store.hear(name, now).await?;
    }
    if !is_new {
        return Ok(());
    }
    let is_fresh = heard.at.is_some_and(|at| (now - at).abs() <= FRESH);
    let at = Desk {
        home,
        chat,
        heard: &heard,
        is_fresh,
    };
    match &heard.deed {
        Deed::Said { text, thread } => at.said(text, thread).await,
        Deed::Clicked {
            action,
            value,
            post,
        } => at.clicked(action, value, post).await,
        Deed::Reacted { sign, post } => at.reacted(sign, post).await,
    }
}

struct Desk<'d> {
    home: &'d Home,
    chat: &'d Chat,
    heard: &'d Heard,
    is_fresh: bool,
}

impl Desk<'_> {
    async fn said(&self, text: &str, thread: &str) -> Result<(), StoreError> {
        let meaning = meaning(text);
        let user = &self.heard.user;
        let verb = match &meaning {
            Meaning::Command(verb, _) | Meaning::Usage(verb) => Some(*verb),
            Meaning::Prose => None,
        };
        let name = verb.map_or("", |verb| verb.name);
        if !self.is_trusted().await? {
            return match verb {
                Some(_) => self.refuse(name, "untrusted").await,
                None => Ok(()),
            };
        }
        if !self.is_fresh {
            return self.refuse(name, "stale").await;
        }
        let (verb, words) = match meaning {
            Meaning::Prose => return self.reply(thread, OFFER).await,
            Meaning::Usage(verb) => {
                let line = format!("write exactly `{}`", verb.usage());
                return self.reply(thread, &line).await;
            }
            Meaning::Command(verb, words) => (verb, words),
        };
        if let Some(why) = self.may_not(verb) {
            self.refuse(name, "not-an-operator").await?;
            return self.reply(thread, why).await;
        }
        let asker = Asker {
            by: &named(user),
            within: TimeDelta::from_std(self.chat.approve_within).unwrap_or(FRESH),
        };
        let answer = answer(self.home, verb, &words, &asker).await;
        if verb.changes && !matches!(answer, Answer::Refused(_)) {
            let event = Event::ChatDid {
                verb: verb.name,
                by: user.clone(),
            };
            let now = self.home.clock.now();
            self.home.store.event(&event, None, None, now).await?;
        }
        match answer {
            Answer::Text(text) | Answer::Refused(text) => self.reply(thread, &text).await,
            Answer::Question(id) => self.question(&id, thread).await,
        }
    }

    /// Why somebody who is trusted may not say this.
    fn may_not(&self, verb: &ChatVerb) -> Option<&'static str> {
        let user = &self.heard.user;
        match verb.may {
            May::Trusted => None,
            May::Settings => (!self.chat.trusted.contains(user))
                .then_some("only those whom slack.trusted names may say that"),
            May::Operators => (!self.chat.operators.contains(user))
                .then_some("only those whom slack.operators names may say that"),
        }
    }

    async fn is_trusted(&self) -> Result<bool, StoreError> {
        let user = &self.heard.user;
        if self.chat.trusted.contains(user) || self.chat.operators.contains(user) {
            return Ok(true);
        }
        let since = self.home.store.chat_trusted().await?;
        Ok(since.iter().any(|row| row.id == *user))
    }

    /// Asks in the thread of who wanted it; where that fails, it is asked in the channel later.
    async fn question(&self, id: &str, thread: &str) -> Result<(), StoreError> {
        let Some(row) = self.home.store.approval(id).await? else {
            return Ok(());
        };
        let asked = async {
            let place = (self.heard.channel.as_str(), Some(thread));
            Room::open(self.chat)?.ask(&row, place).await
        };
        match asked.await {
            Ok((channel, ts)) => {
                let now = self.home.clock.now();
                self.home
                    .store
                    .approval_asked(id, (&channel, &ts), now)
                    .await
            }
            Err(error) => {
                warn!(%error, "a question could not be asked in its thread");
                Ok(())
            }
        }
    }

    async fn clicked(&self, action: &str, value: &str, post: &str) -> Result<(), StoreError> {
        if !self.may_decide().await? {
            return Ok(());
        }
        let decision = match action {
            APPROVE => Decision::Approved,
            REJECT => Decision::Rejected,
            _ => return self.not_decided("there is no such button").await,
        };
        let Some((id, hash)) = value.split_once(':') else {
            return self.not_decided("its button carries nothing of ours").await;
        };
        self.decides(id, hash, decision, post).await
    }

    async fn reacted(&self, sign: &str, post: &str) -> Result<(), StoreError> {
        let Some((_, decision)) = SIGNS.iter().find(|(name, _)| *name == sign) else {
            return Ok(());
        };
        let channel = &self.heard.channel;
        let row = self.home.store.approval_posted_as(channel, post).await?;
        // People put signs on all sorts of posts.
        let Some(row) = row else {
            return Ok(());
        };
        if !self.may_decide().await? {
            return Ok(());
        }
        self.decides(&row.id, &row.hash, *decision, post).await
    }

    /// Whether somebody may decide now; if not, it is written down.
    async fn may_decide(&self) -> Result<bool, StoreError> {
        if !self.is_trusted().await? {
            self.not_decided("who did it is not trusted").await?;
            return Ok(false);
        }
        if !self.is_fresh {
            self.not_decided("it is older than five minutes").await?;
            return Ok(false);
        }
        Ok(true)
    }

    async fn decides(
        &self,
        id: &str,
        hash: &str,
        decision: Decision,
        post: &str,
    ) -> Result<(), StoreError> {
        let by = named(&self.heard.user);
        let choice = Choice {
            id,
            hash,
            decision,
            by: &by,
        };
        let text = decide(self.home, &choice).await;
        self.reply(post, &text).await?;
        let Some(mut row) = self.home.store.approval(id).await? else {
            return Ok(());
        };
        if row.decision.is_none() {
            return Ok(());
        }
        if row.post.is_none() {
            // It was posted by a process that died before it had noted where.
            let (channel, now) = (self.heard.channel.as_str(), self.home.clock.now());
            self.home
                .store
                .approval_asked(id, (channel, post), now)
                .await?;
            row.post = Some((channel.to_owned(), post.to_owned()));
        }
        questions::strip_one(self.home, self.chat, &row).await
    }

    async fn not_decided(&self, why: &'static str) -> Result<(), StoreError> {
        let by = named(&self.heard.user);
        let event = Event::ApprovalRefused { by, why };
        let now = self.home.clock.now();
        self.home.store.event(&event, None, None, now).await
    }

    /// Writes down that a verb was not listened to; whoever says it again and again, once.
    async fn refuse(&self, verb: &'static str, why: &'static str) -> Result<(), StoreError> {
        let (user, now) = (&self.heard.user, self.home.clock.now());
        let slice = now.timestamp() / ONCE_IN;
        let name = format!("refused {user} {verb} {why} {slice}");
        if !self.home.store.hear(&name, now).await? {
            return Ok(());
        }
        let by = user.clone();
        let event = Event::ChatRefused { verb, by, why };
        self.home.store.event(&event, None, None, now).await
    }

    async fn reply(&self, thread: &str, text: &str) -> Result<(), StoreError> {
        // Where the home is on this machine is nobody's business there.
        let root = self.home.fleet.layout.root.display().to_string();
        let text = text.replace(&root, "$CARSON_HOME");
        let text = self.home.redactor.redact(&text);
        let place = (self.heard.channel.as_str(), thread);
        let said = async { Room::open(self.chat)?.reply(place, &text).await };
        if let Err(error) = said.await {
            warn!(%error, "an answer could not be posted");
        }
        Ok(())
    }
}
