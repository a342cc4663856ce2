//! One request to the other side, bounded in time and in what is read of the answer.

use std::time::Duration;

use reqwest::{Client, RequestBuilder, Response, StatusCode};

use crate::sink::PostError;

/// One post.
const TIMEOUT: Duration = Duration::from_secs(10);
/// Longest answer that is read.
const ANSWER_MAX: usize = 256 * 1024;
/// How long to wait where the other side asks for patience and does not say how much.
const PATIENCE: u64 = 30;

/// A client that goes where it is sent, and nowhere else.
pub(crate) fn client() -> Result<Client, PostError> {
    Client::builder()
        .timeout(TIMEOUT)
        .redirect(reqwest::redirect::Policy::none())
        .build()
        .map_err(|error| PostError::Temporary(error.to_string()))
}

/// Sends it; an answer is a success. What the other side says in it is not read.
pub(crate) async fn send(request: RequestBuilder) -> Result<Response, PostError> {
    let response = request.send().await.map_err(|error| temporary(&error))?;
    let status = response.status();
    if status.is_success() {
        return Ok(response);
    }
    Err(match status {
        StatusCode::TOO_MANY_REQUESTS => PostError::RetryAfter(asked(&response)),
        StatusCode::REQUEST_TIMEOUT => PostError::Temporary(status.to_string()),
        _ if status.is_server_error() => PostError::Temporary(status.to_string()),
        _ if status.is_redirection() => {
            PostError::Permanent(format!("{status}; redirects are not followed"))
        }
        _ => PostError::Permanent(status.to_string()),
    })
}

/// Its answer, as far as it is read.
pub(crate) async fn body(mut response: Response) -> Result<Vec<u8>, PostError> {
    let mut body = Vec::new();
    while let Some(more) = response.chunk().await.map_err(|error| temporary(&error))? {
        if body.len() + more.len() > ANSWER_MAX {
            return Err(PostError::Temporary("its answer is too long".into()));
        }
        body.extend_from_slice(&more);
    }
    Ok(body)
}

fn asked(response: &Response) -> Duration {
    let after = response.headers().get("retry-after");
    let seconds = after
        .and_then(|value| value.to_str().ok())
        .and_then(|text| text.parse().ok());
    Duration::from_secs(seconds.unwrap_or(PATIENCE))
}

/// Told without the address: a webhook's address is its secret, and causes may name it.
fn temporary(error: &reqwest::Error) -> PostError {
    let what = if error.is_timeout() {
        "it took too long"
    } else if error.is_connect() {
        "no connection"
    } else if error.is_builder() {
        "no request can be made of its address"
    } else {
        "the connection broke"
    };
    PostError::Temporary(what.to_owned())
}
