//! A Slack incoming webhook: posts only, all into its channel.

use secrecy::{ExposeSecret, SecretString};
use serde_json::json;

use super::{NAME, render};
use crate::http;
use crate::sink::{Notice, Place, Posted, Posting, Sink};

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
        Box::pin(async move {
            let message = &notice.message;
            let body = json!({"text": render::text(message), "blocks": render::blocks(message)});
            let request = http::client()?.post(self.url.expose_secret()).json(&body);
            http::send(request).await?;
            Ok(Posted { ts: None })
        })
    }

    /// There is nothing to change, so the end is a post of its own.
    fn update<'a>(&'a self, notice: &'a Notice, _: Option<&'a str>) -> Posting<'a> {
        self.post(notice, Place::Channel)
    }
}
