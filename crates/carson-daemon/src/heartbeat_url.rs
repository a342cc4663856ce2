//! A dead man's switch elsewhere: a web address that is asked for while we live. Who does not hear
//! of us any more raises the alarm; that it cannot be reached disturbs nothing here.

use std::time::Duration;

use carson_config::{HeartbeatUrl, read_secret};
use carson_home::Home;
use secrecy::{ExposeSecret, SecretString};

/// How long the other side may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// Asks for the address; `false` when the settings have none.
///
/// # Errors
/// What went wrong, without the address: it is often a secret.
pub(crate) async fn send(home: &Home) -> Result<bool, String> {
    let url = match &home.fleet.heartbeat.to {
        None => return Ok(false),
        Some(HeartbeatUrl::Plain(url)) => SecretString::from(url.clone()),
        Some(HeartbeatUrl::File(path)) => read_secret(path).map_err(|error| error.to_string())?,
    };
    let clean = |error: reqwest::Error| {
        let error = error.without_url();
        let mut text = error.to_string();
        let mut cause = std::error::Error::source(&error);
        while let Some(error) = cause {
            text = format!("{text}: {error}");
            cause = error.source();
        }
        // What the address leads to may be named in a cause.
        text.replace(url.expose_secret(), "***")
    };
    let client = reqwest::Client::builder()
        .timeout(PATIENCE)
        .redirect(reqwest::redirect::Policy::none())
        .build()
        .map_err(clean)?;
    let answer = client.get(url.expose_secret()).send().await;
    let status = answer.map_err(clean)?.status();
    if status.is_success() {
        return Ok(true);
    }
    Err(format!("it answered {status}"))
}
