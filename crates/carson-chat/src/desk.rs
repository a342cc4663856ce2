//! Where it is decided whether something is done about what was heard.

use carson_core::Event;
use carson_home::Home;
use carson_notify::Chat;
use carson_operator::plans::Choice;
use carson_store::{Decision, HeardRow, StoreError};
use chrono::TimeDelta;
use tracing::warn;

use crate::answers::{Answer, Asker, answer, decide, named};
use crate::errands::{Errand, What};
use crate::heard::{Deed, Heard};
use crate::post::{APPROVE, REJECT};
use crate::verbs::{ChatVerb, May};
use crate::words::{Meaning, meaning};

/// What was said longer ago was said to somebody else: a daemon that was away, or a replay.
const FRESH: TimeDelta = TimeDelta::minutes(5);
/// Who is not believed is written down once in this time, for each verb.
const ONCE_IN: i64 = 600;
/// The signs that decide.
const SIGNS: [(&str, Decision); 2] = [
    ("white_check_mark", Decision::Approved),
    ("x", Decision::Rejected),
];
const OFFER: &str = "I take commands, not sentences: `help` lists them";
const FIRST: &str =
    "I take commands that begin with my name, such as `@carson status`; `help` lists them";
const LATE: &str = "That is older than five minutes by now (or my clock is wrong), and nothing was done: whoever meant it then may not mean it \
                    any more. Say it again where you do";
const LATE_CLICK: &str = "That is older than five minutes by now (or my clock is wrong), and nothing is decided: press or sign once more";
const BEGUN: &str = "I ended while I did that, and do it once only: `runs`, `memory` or `plans` tell whether it was done. Say \
                     it again where it was not";
const TOO_LONG: &str = "That took too long and was given up: `status` tells what became of it";

/// Whether something may be done about it at all: people put signs on all sorts of posts.
pub(crate) fn is_for_us(heard: &Heard) -> bool {
    match &heard.deed {
        Deed::Reacted { sign, .. } => decision_of(sign).is_some(),
        _ => true,
    }
}

/// Whether it may change something.
pub(crate) fn changes(heard: &Heard) -> bool {
    match &heard.deed {
        Deed::Said { text, .. } => {
            matches!(meaning(text), Meaning::Command(verb, _) if verb.changes)
        }
        Deed::Named { .. } => false,
        Deed::Clicked { .. } | Deed::Reacted { .. } => true,
    }
}

fn decision_of(sign: &str) -> Option<Decision> {
    let known = SIGNS.into_iter().find(|(name, _)| *name == sign);
    known.map(|(_, decision)| decision)
}

/// Deals with what was heard; what is to be posted then.
pub(crate) async fn deal(
    home: &Home,
    chat: &Chat,
    row: &HeardRow,
) -> Result<Vec<Errand>, StoreError> {
    let Ok(heard) = serde_json::from_value::<Heard>(row.heard.clone()) else {
        warn!("what was said in the chat cannot be read and is dropped");
        return Ok(Vec::new());
    };
    let now = home.clock.now();
    let mut desk = Desk {
        home,
        chat,
        heard: &heard,
        row,
        is_fresh: heard.at.is_some_and(|at| (now - at).abs() <= FRESH),
        errands: Vec::new(),
    };
    match &heard.deed {
        Deed::Said { text, .. } => desk.said(text).await?,
        Deed::Named { .. } => desk.named().await?,
        Deed::Clicked { action, value, .. } => desk.clicked(action, value).await?,
        Deed::Reacted { sign, post } => desk.reacted(sign, post).await?,
    }
    Ok(desk.errands)
}

/// What is said where it took too long.
pub(crate) fn took_too_long(row: &HeardRow) -> Option<Errand> {
    let heard: Heard = serde_json::from_value(row.heard.clone()).ok()?;
    Some(Errand {
        place: (heard.channel.clone(), heard.thread().to_owned()),
        what: What::Say(TOO_LONG.to_owned()),
    })
}

struct Desk<'d> {
    home: &'d Home,
    chat: &'d Chat,
    heard: &'d Heard,
    row: &'d HeardRow,
    is_fresh: bool,
    errands: Vec<Errand>,
}

impl Desk<'_> {
    async fn said(&mut self, text: &str) -> Result<(), StoreError> {
        let meaning = meaning(text);
        let verb = match &meaning {
            Meaning::Command(verb, _) | Meaning::Usage(verb, _) => Some(*verb),
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
            if verb.is_some() {
                self.reply(LATE);
            }
            return self.refuse(name, "stale").await;
        }
        match meaning {
            Meaning::Prose => self.reply(OFFER),
            Meaning::Usage(verb, wrong) => {
                self.reply(&format!("`{}`: {wrong}", verb.usage()));
            }
            Meaning::Command(verb, words) => match self.may_not(verb) {
                Some(why) => {
                    self.reply(why);
                    self.refuse(name, "not-an-operator").await?;
                }
                None => self.command(verb, &words).await?,
            },
        }
        Ok(())
    }

    async fn command(&mut self, verb: &ChatVerb, words: &[String]) -> Result<(), StoreError> {
        let (store, now) = (&self.home.store, self.home.clock.now());
        if verb.only_once {
            if self.row.is_begun {
                self.reply(BEGUN);
                return Ok(());
            }
            store.begin_heard(self.row.seq, now).await?;
        }
        let asker = Asker {
            by: &named(&self.heard.user),
            within: TimeDelta::from_std(self.chat.approve_within).unwrap_or(FRESH),
        };
        let answer = answer(self.home, verb, words, &asker).await?;
        if verb.changes && !matches!(answer, Answer::Refused(_)) {
            let event = Event::ChatDid {
                verb: verb.name,
                by: self.heard.user.clone(),
            };
            match store.event(&event, None, None, now).await {
                // It is done once more, and noted then.
                Err(error) if !verb.only_once => return Err(error),
                Err(error) => warn!(%error, "what was done for somebody in the chat is not noted"),
                Ok(()) => {}
            }
        }
        match answer {
            Answer::Text(text) | Answer::Refused(text) => self.reply(&text),
            Answer::Question(id) => self.errand(What::Ask(id)),
        }
        Ok(())
    }

    /// Somebody named us where a command does not.
    async fn named(&mut self) -> Result<(), StoreError> {
        if self.is_trusted().await? && self.is_fresh {
            self.reply(FIRST);
        }
        Ok(())
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

    async fn clicked(&mut self, action: &str, value: &str) -> Result<(), StoreError> {
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
        self.decides(id, hash, decision).await
    }

    async fn reacted(&mut self, sign: &str, post: &str) -> Result<(), StoreError> {
        let Some(decision) = decision_of(sign) else {
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
        self.decides(&row.id, &row.hash, decision).await
    }

    /// Whether somebody may decide now; if not, it is written down.
    async fn may_decide(&mut self) -> Result<bool, StoreError> {
        if !self.is_trusted().await? {
            self.not_decided("who did it is not trusted").await?;
            return Ok(false);
        }
        if !self.is_fresh {
            self.not_decided("it is older than five minutes").await?;
            self.reply(LATE_CLICK);
            return Ok(false);
        }
        Ok(true)
    }

    async fn decides(
        &mut self,
        id: &str,
        hash: &str,
        decision: Decision,
    ) -> Result<(), StoreError> {
        let by = named(&self.heard.user);
        let choice = Choice {
            id,
            hash,
            decision,
            by: &by,
        };
        let text = decide(self.home, &choice).await?;
        self.reply(&text);
        let store = &self.home.store;
        let Some(row) = store.approval(id).await? else {
            return Ok(());
        };
        if row.decision.is_none() {
            return Ok(());
        }
        if row.post.is_none() {
            // It was posted by a process that died before it had noted where.
            let post = (self.heard.channel.as_str(), self.heard.thread());
            store
                .approval_asked(id, post, self.home.clock.now())
                .await?;
        }
        self.errand(What::Strip(id.to_owned()));
        Ok(())
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

    /// Answers in the thread, once this is dealt with.
    fn reply(&mut self, text: &str) {
        // Where the home is on this machine is nobody's business there.
        let root = self.home.fleet.layout.root.display().to_string();
        let text = text.replace(&root, "$CARSON_HOME");
        let text = self.home.redactor.redact(&text).into_owned();
        self.errand(What::Say(text));
    }

    fn errand(&mut self, what: What) {
        let heard = self.heard;
        self.errands.push(Errand {
            place: (heard.channel.clone(), heard.thread().to_owned()),
            what,
        });
    }
}
