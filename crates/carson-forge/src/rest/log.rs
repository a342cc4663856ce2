//! The end of a log, which may lie elsewhere.

use std::time::Duration;

use reqwest::header::LOCATION;
use reqwest::{Method, Response, StatusCode, Url};

use super::client::{Ask, Client};
use crate::error::ForgeError;
use crate::pull_api::{LOG_TAIL, tail};

/// How long a whole log may take to come.
const TIME: Duration = Duration::from_secs(60);
/// Bytes that are read of one.
const MOST: usize = 128 * 1024 * 1024;

impl Client {
    /// The end of a log; `None` when it is gone. Where the forge names another place for it, that is
    /// asked without our token.
    pub async fn log(&self, path: &[String]) -> Result<Option<String>, ForgeError> {
        let ask = Ask {
            may_lead_on: true,
            ..Ask::new(Method::GET, self.url(path, &[])?, None)
        };
        let answer = match self.request(ask).await {
            Err(ForgeError::NotFound { .. }) => return Ok(None),
            answer => answer?,
        };
        if answer.status != StatusCode::FOUND {
            return Ok(Some(tail(&answer.body)));
        }
        let place = answer.headers.get(LOCATION);
        let place = place.and_then(|place| place.to_str().ok());
        let place = place.and_then(|place| self.base.join(place).ok());
        let place = place.filter(|place| self.may_go_to(place));
        let place = place.ok_or_else(|| ForgeError::Unavailable {
            detail: "the place of the log is no address of the web".into(),
        })?;
        self.end_of(self.elsewhere(place, TIME).await?)
            .await
            .map(Some)
    }

    /// Never from an encrypted connection to one that everybody can read.
    fn may_go_to(&self, place: &Url) -> bool {
        place.scheme() == "https" || (place.scheme() == "http" && self.base.scheme() == "http")
    }

    async fn end_of(&self, mut response: Response) -> Result<String, ForgeError> {
        let (mut end, mut read) = (Vec::new(), 0);
        loop {
            let chunk = response.chunk().await;
            let Some(chunk) = chunk.map_err(|error| self.unavailable(error))? else {
                return Ok(tail(&end));
            };
            read += chunk.len();
            if read > MOST {
                let detail = format!("a log of more than {} MiB", MOST >> 20);
                return Err(ForgeError::Unavailable { detail });
            }
            end.extend_from_slice(&chunk);
            // What is cut now is never in the tail.
            if end.len() > 4 * LOG_TAIL {
                end.drain(..end.len() - LOG_TAIL - 1);
            }
        }
    }
}
