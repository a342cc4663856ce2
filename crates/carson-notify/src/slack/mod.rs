//! Slack: `[slack]` in carson.toml. By its Web API, or by an incoming webhook.

mod api;
mod chat;
mod incoming;
mod render;
mod web;
mod written;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use carson_core::section::{Around, Section};
use url::Url;

use crate::address;
use crate::chat::Chat;
use crate::section::{Daily, ReadSecret, Spec};
use crate::sink::Sink;
use api::Api;
pub use api::spot;
use incoming::Incoming;
pub(crate) use written::SlackSection;

pub use render::{posts, shown};
pub use web::Web;

const NAME: &str = "slack";
const API_BASE: &str = "api_base = \"https://slack.com/api\", or leave it out";

impl Section for SlackSection {
    const NAME: &'static str = NAME;
    type Checked = dyn Spec;

    fn check(self, around: &mut dyn Around) -> Option<Arc<dyn Spec>> {
        let (key, file) = match (&self.token_file, &self.webhook_file) {
            (Some(file), None) => ("token_file", file),
            (None, Some(file)) => ("webhook_file", file),
            _ => {
                around.problem(
                    "",
                    "it needs token_file or webhook_file, one of them",
                    "token_file = \"slack.token\", a file with a bot token",
                );
                return None;
            }
        };
        let hint = "one line: https://hooks.slack.com/services/…";
        let is_address = self.webhook_file.is_some();
        let path = address::in_file(
            (key, file.as_str()),
            hint,
            around,
            |text| match is_address {
                true => address::secret(text).map(drop),
                false => Ok(()),
            },
        );
        match Url::parse(&self.api_base) {
            Ok(url) if address::is_web(&url) && !address::is_readable_on_the_way(&url) => {}
            Ok(url) if address::is_web(&url) => {
                let problem = "it is not https, and the token would be readable on the way";
                around.problem("api_base", problem, API_BASE);
            }
            _ => {
                let problem = format!("{:?} is no web address", self.api_base);
                around.problem("api_base", &problem, API_BASE);
            }
        }
        let chat = chat::check(&self, around);
        let daily = chat::daily(&self, chat.is_some(), around);
        Some(Arc::new(SlackSpec {
            chat,
            daily,
            sign_in: match self.token_file {
                Some(_) => SignIn::Token {
                    api_base: self.api_base,
                    channel: self.channel,
                },
                None => SignIn::Webhook,
            },
            file: path,
        }))
    }
}

/// Slack as it was checked.
#[derive(Debug)]
struct SlackSpec {
    sign_in: SignIn,
    /// With the token, or the webhook's address.
    file: PathBuf,
    chat: Option<Chat>,
    daily: Daily,
}

/// How to reach it.
#[derive(Debug)]
enum SignIn {
    /// With a bot token, by its API.
    Token { api_base: String, channel: String },
    /// By the address of an incoming webhook.
    Webhook,
}

impl Spec for SlackSpec {
    fn name(&self) -> &'static str {
        NAME
    }

    fn files(&self) -> Vec<&Path> {
        let listens = self.chat.iter().map(|chat| chat.app_token_file.as_path());
        [self.file.as_path()].into_iter().chain(listens).collect()
    }

    fn chat(&self) -> Option<&Chat> {
        self.chat.as_ref()
    }

    fn daily(&self) -> Daily {
        self.daily
    }

    fn open(&self, read: &ReadSecret) -> Result<Box<dyn Sink>, String> {
        Ok(match &self.sign_in {
            SignIn::Token { api_base, channel } => Box::new(Api {
                channel: channel.clone(),
                web: Web::at(api_base, read(&self.file)?),
            }),
            SignIn::Webhook => {
                let (url, _) = address::read_file(&self.file, read, address::secret)?;
                Box::new(Incoming { url })
            }
        })
    }
}

#[cfg(test)]
mod tests;
