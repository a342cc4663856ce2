//! A sink in which people are listened to as well.

use std::path::PathBuf;
use std::time::Duration;

/// Slack as a place where people are listened to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chat {
    /// The address of its API.
    pub api_base: String,
    /// Where questions are asked.
    pub channel: String,
    /// The file with the bot token.
    pub token_file: PathBuf,
    /// The file with the app token, which opens sockets.
    pub app_token_file: PathBuf,
    /// The ids of those who are believed.
    pub trusted: Vec<String>,
    /// The ids of those who may also let roles fire.
    pub operators: Vec<String>,
    /// How long a question may be answered.
    pub approve_within: Duration,
}
