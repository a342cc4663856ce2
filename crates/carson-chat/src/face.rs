//! The task that listens, as long as the settings want it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use carson_core::Event;
use carson_notify::Chat;
use carson_notify::slack::Web;
use secrecy::{ExposeSecret as _, SecretString};
use tokio::sync::mpsc::channel;
use tokio::task::JoinHandle;
use tokio::time::sleep;
use tracing::{error, info, warn};

use crate::inbox::Inbox;
use crate::newest::{Newest, chat_of};
use crate::socket::Tell;
use crate::{errands, questions, socket};

/// Errands that are handed over and not looked at yet.
const WAITING: usize = 100;
/// How often it is looked whether the file holds another token, once Slack has refused one.
const LOOK: Duration = Duration::from_secs(5);

/// Who listens now. Dropping it ends that.
pub struct Face {
    now: Option<Listens>,
    tell: Tell,
}

struct Listens {
    to: Chat,
    is_refused: Arc<AtomicBool>,
    task: JoinHandle<()>,
}

impl Drop for Listens {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Face {
    /// Nobody yet.
    #[must_use]
    pub fn telling(tell: Tell) -> Self {
        Self { now: None, tell }
    }

    /// Listens where the settings of now say; called when they were read. Where Slack refused, it is tried again.
    pub fn follow(&mut self, newest: &Newest) {
        let wanted = chat_of(&newest());
        let listens = self
            .now
            .as_ref()
            .filter(|listens| !listens.is_refused.load(Ordering::Relaxed));
        if listens.map(|listens| &listens.to) == wanted.as_ref() {
            return;
        }
        self.now = None;
        (self.tell)(None);
        let is_refused = Arc::new(AtomicBool::new(false));
        self.now = wanted.map(|to| Listens {
            task: tokio::spawn(keep(
                newest.clone(),
                to.clone(),
                (self.tell.clone(), is_refused.clone()),
                LOOK,
            )),
            is_refused,
            to,
        });
    }
}

/// Listens, and deals with what was heard, by whichever daemon and over whichever socket.
pub(crate) async fn keep(
    newest: Newest,
    chat: Chat,
    told: (Tell, Arc<AtomicBool>),
    look: Duration,
) {
    let inbox = Inbox::of(newest.clone());
    let (to, from) = channel(WAITING);
    tokio::join!(
        listen_again((&newest, &inbox), &chat, told, look),
        inbox.deal(&chat, &to),
        errands::keep(&newest, &chat, from),
    );
}

/// Listens until Slack refuses, says so once, and listens again as soon as the file holds another token.
async fn listen_again(
    (newest, inbox): (&Newest, &Inbox),
    chat: &Chat,
    (tell, is_refused): (Tell, Arc<AtomicBool>),
    look: Duration,
) {
    loop {
        let token = token(chat);
        let why = match &token {
            Err(why) => why.clone(),
            Ok(token) => listen((newest, inbox), chat, token, &tell).await,
        };
        is_refused.store(true, Ordering::Relaxed);
        tell(Some(&format!("the sign-in is refused: {why}")));
        note(newest, why).await;
        while is_same(&token, &self::token(chat)) {
            sleep(look).await;
        }
        info!("the file holds another token: the chat is asked again");
        is_refused.store(false, Ordering::Relaxed);
    }
}

fn token(chat: &Chat) -> Result<SecretString, String> {
    carson_home::secrets::secret(&chat.app_token_file)
}

fn is_same(one: &Result<SecretString, String>, other: &Result<SecretString, String>) -> bool {
    match (one, other) {
        (Ok(one), Ok(other)) => one.expose_secret() == other.expose_secret(),
        (Err(one), Err(other)) => one == other,
        _ => false,
    }
}

/// Listens with a token; why Slack has none of it.
async fn listen(
    (newest, inbox): (&Newest, &Inbox),
    chat: &Chat,
    token: &SecretString,
    tell: &Tell,
) -> String {
    newest().redactor.learn([token.clone()]);
    let web = Web::at(&chat.api_base, token.clone());
    tokio::select! {
        refused = socket::keep(&web, inbox, tell) => refused.0,
        () = questions::keep(newest, chat) => "it ended".to_owned(),
    }
}

async fn note(newest: &Newest, why: String) {
    error!(
        why,
        "nobody is listened to in the chat until the settings or their secrets change"
    );
    let home = newest();
    let event = Event::ChatSignInRefused { why };
    let noted = home.store.event(&event, None, None, home.clock.now()).await;
    if let Err(error) = noted {
        warn!(%error, "that could not be noted");
    }
}
