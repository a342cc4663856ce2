//! A Slack incoming webhook: posts only, all into its channel.

use secrecy::{ExposeSecret, SecretString};
use serde_json::{Value, json};

use super::{NAME, render};
use crate::http;
use crate::sink::{Notice, Place, PostError, Posted, Posting, Sink};

/// One channel, written to by whoever knows the address.
#[derive(Debug)]
pub(super) struct Incoming {
    /// Its address, which is its secret.
    pub url: SecretString,
}

impl Sink for Incoming {
    fn name(&self) -> &'static str {
        NAME
    }

    fn can_thread(&self) -> bool {
        false
    }

    fn post<'a>(&'a self, notice: &'a Notice, _: Place<'a>) -> Posting<'a> {
        let mut body = message(notice);
        render::call_people(&mut body, &notice.message);
        Box::pin(self.send(body))
    }

    /// There is nothing to change, so the end is a post of its own; what must be seen at once follows it.
    fn update<'a>(&'a self, notice: &'a Notice, _: Option<&'a str>) -> Posting<'a> {
        Box::pin(self.send(message(notice)))
    }
}

impl Incoming {
    async fn send(&self, body: Value) -> Result<Posted, PostError> {
        let request = http::client()?.post(self.url.expose_secret()).json(&body);
        http::send(request).await?;
        Ok(Posted { ts: None })
    }
}

fn message(notice: &Notice) -> Value {
    json!({
        "text": render::text(&notice.message),
        "blocks": render::blocks(&notice.message),
    })
}
