//! The task that listens, as long as the settings want it.

use carson_core::Event;
use carson_notify::Chat;
use carson_notify::slack::Web;
use tokio::sync::mpsc::channel;
use tokio::task::JoinHandle;
use tracing::{error, warn};

use crate::newest::{Newest, chat_of};
use crate::{desk, questions, socket};

/// Envelopes that wait to be dealt with. More are not acknowledged, and come again.
const WAITING: usize = 100;

/// Who listens now. Dropping it ends that.
#[derive(Default)]
pub struct Face(Option<Listens>);

struct Listens {
    to: Chat,
    task: JoinHandle<()>,
}

impl Drop for Listens {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Face {
    /// Listens where the settings of now say; called when they were read. Where Slack refused, it is tried again.
    pub fn follow(&mut self, newest: &Newest) {
        let wanted = chat_of(&newest());
        let listens = self
            .0
            .as_ref()
            .filter(|listens| !listens.task.is_finished());
        if listens.map(|listens| &listens.to) == wanted.as_ref() {
            return;
        }
        self.0 = None;
        self.0 = wanted.map(|to| Listens {
            task: tokio::spawn(listen(newest.clone(), to.clone())),
            to,
        });
    }
}

/// Listens until Slack refuses; says so once.
async fn listen(newest: Newest, chat: Chat) {
    let home = newest();
    let why = match carson_home::secrets::secret(&chat.app_token_file) {
        Err(why) => why,
        Ok(token) => {
            home.redactor.learn([token.clone()]);
            let web = Web::at(&chat.api_base, token);
            let (to, from) = channel(WAITING);
            tokio::select! {
                refused = socket::keep(&web, &to) => refused.0,
                () = desk::keep(&newest, &chat, from) => "it ended".to_owned(),
                () = questions::keep(&newest, &chat) => "it ended".to_owned(),
            }
        }
    };
    error!(
        why,
        "nobody is listened to in the chat until the settings or their secrets change"
    );
    let event = Event::ChatSignInRefused { why };
    let noted = home.store.event(&event, None, None, home.clock.now()).await;
    if let Err(error) = noted {
        warn!(%error, "that could not be noted");
    }
}
