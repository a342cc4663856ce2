//! Whether the chat takes posts, asked without posting; and whether it lets us listen, where that is wanted.

use carson_notify::slack::Web;
use carson_notify::{Chat, PostError, Spec};
use serde_json::json;

use crate::{Scene, Verdict};
use carson_home::secrets;

pub(crate) async fn answers(_: &Scene<'_>, spec: &dyn Spec) -> Option<Verdict> {
    let sink = match spec.open(&secrets::secret) {
        Ok(sink) => sink,
        Err(why) => return Some(Verdict::error(why)),
    };
    Some(match sink.ask().await {
        Ok(Some(said)) => match spec.chat() {
            Some(chat) => listens(chat, &said).await,
            None => Verdict::ok(said),
        },
        // Whatever is sent to such an address is a post to somebody.
        Ok(None) => {
            Verdict::ok("its address is sound; it can only be posted to, so it was not asked")
        }
        Err(error @ PostError::Permanent(_)) => Verdict::error(error.to_string()),
        Err(error) => Verdict::error(error.to_string())
            .mend("check the network and the address; posts wait for it meanwhile"),
    })
}

/// Asks for a socket, and opens none: the answer is an address that nobody uses.
async fn listens(chat: &Chat, said: &str) -> Verdict {
    let file = chat.app_token_file.display();
    let token = match secrets::secret(&chat.app_token_file) {
        Ok(token) => token,
        Err(why) => return Verdict::error(format!("{said}, and nobody is listened to: {why}")),
    };
    let web = Web::at(&chat.api_base, token);
    match web.call("apps.connections.open", &json!({})).await {
        Ok(_) => Verdict::ok(format!("{said}, and lets us listen")),
        Err(error @ PostError::Permanent(_)) => Verdict::error(format!(
            "{said}, and nobody is listened to: its socket: {error}"
        ))
        .mend(format!(
            "switch on Socket Mode in the app, or write an app token with connections:write into {file}; \
             a running daemon sees that by itself"
        )),
        Err(error) => Verdict::error(format!(
            "{said}, and nobody is listened to: its socket: {error}"
        ))
        .mend("check the network; it is tried again by itself"),
    }
}
