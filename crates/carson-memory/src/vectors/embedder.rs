//! A model that makes vectors, behind any OpenAI-compatible `/v1/embeddings`.

use std::time::Duration;

use reqwest::{Client, StatusCode};
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// How long a query's vector is waited for.
pub const PATIENCE: Duration = Duration::from_millis(300);
/// The most numbers of a vector that are believed.
const DIMENSIONS: usize = 8_192;
/// Bytes of an answer that are read, for each text.
const ANSWER: usize = 256 * 1024;
/// Bytes of one text that are sent.
const TEXT: usize = 8 * 1024;

/// Where vectors come from.
#[derive(Clone, Debug)]
pub struct Embedder {
    http: Client,
    url: String,
    model: String,
    key: Option<SecretString>,
    patience: Duration,
}

/// Why there is no vector.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum EmbedError {
    /// It took too long.
    #[error("the embedder did not answer within {0:?}")]
    Slow(Duration),
    /// Nobody is there.
    #[error("the embedder cannot be reached: {0}")]
    Away(String),
    /// It says no.
    #[error("the embedder answered {0}")]
    Refused(StatusCode),
    /// Its answer is none.
    #[error("the embedder's answer is no vectors: {0}")]
    Nonsense(String),
}

#[derive(Serialize)]
struct Wanted<'a> {
    model: &'a str,
    input: &'a [&'a str],
    encoding_format: &'static str,
}

#[derive(Deserialize)]
struct Answer {
    data: Vec<One>,
}

#[derive(Deserialize)]
struct One {
    #[serde(default)]
    index: Option<usize>,
    embedding: Vec<f32>,
}

impl Embedder {
    /// One at an address such as `http://127.0.0.1:8080/v1`.
    ///
    /// # Errors
    /// When no client can be made.
    pub fn new(base: &str, model: &str, key: Option<SecretString>) -> Result<Self, EmbedError> {
        let http = Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .build()
            .map_err(|error| EmbedError::Away(error.to_string()))?;
        Ok(Self {
            http,
            url: format!("{}/embeddings", base.trim_end_matches('/')),
            model: model.to_owned(),
            key,
            patience: PATIENCE,
        })
    }

    /// The same, which waits so long.
    #[must_use]
    pub fn patient(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// What its vectors are kept under.
    #[must_use]
    pub fn model(&self) -> &str {
        &self.model
    }

    /// The vectors of some texts, in their order, each of length 1.
    ///
    /// # Errors
    /// When it is away, slow, or says something else.
    pub async fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        let asked = self.ask(texts);
        match tokio::time::timeout(self.patience, asked).await {
            Ok(answer) => answer,
            Err(_) => Err(EmbedError::Slow(self.patience)),
        }
    }

    async fn ask(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        let cut: Vec<&str> = texts
            .iter()
            .map(|text| &text[..text.floor_char_boundary(TEXT)])
            .collect();
        let wanted = Wanted {
            model: &self.model,
            input: &cut,
            encoding_format: "float",
        };
        let mut request = self.http.post(&self.url).json(&wanted);
        if let Some(key) = &self.key {
            request = request.bearer_auth(key.expose_secret());
        }
        // An address may hold a key of its own.
        let away = |error: reqwest::Error| EmbedError::Away(error.without_url().to_string());
        let mut response = request.send().await.map_err(away)?;
        if !response.status().is_success() {
            return Err(EmbedError::Refused(response.status()));
        }
        let mut body = Vec::new();
        while let Some(piece) = response.chunk().await.map_err(away)? {
            if body.len() + piece.len() > ANSWER * texts.len().max(1) {
                return Err(EmbedError::Nonsense("it is too long".to_owned()));
            }
            body.extend_from_slice(&piece);
        }
        let answer = serde_json::from_slice(&body)
            .map_err(|error| EmbedError::Nonsense(error.to_string()))?;
        in_order(answer, texts.len())
    }
}

/// One vector for each text, all of one length.
fn in_order(answer: Answer, texts: usize) -> Result<Vec<Vec<f32>>, EmbedError> {
    let wrong = |why: &str| EmbedError::Nonsense(why.to_owned());
    if answer.data.len() != texts {
        return Err(wrong("it has not one vector for each text"));
    }
    let mut ordered: Vec<Option<Vec<f32>>> = vec![None; texts];
    for (place, one) in answer.data.into_iter().enumerate() {
        let slot = ordered.get_mut(one.index.unwrap_or(place));
        let slot = slot.ok_or_else(|| wrong("it has a vector of no text"))?;
        *slot = Some(unit(one.embedding)?);
    }
    let vectors: Option<Vec<Vec<f32>>> = ordered.into_iter().collect();
    let vectors = vectors.ok_or_else(|| wrong("it has two vectors of one text"))?;
    let length = vectors.first().map_or(0, Vec::len);
    if vectors.iter().any(|vector| vector.len() != length) {
        return Err(wrong("its vectors have different lengths"));
    }
    Ok(vectors)
}

fn unit(vector: Vec<f32>) -> Result<Vec<f32>, EmbedError> {
    let wrong = |why: &str| Err(EmbedError::Nonsense(why.to_owned()));
    if vector.is_empty() || vector.len() > DIMENSIONS {
        return wrong("a vector has no usable length");
    }
    let length = vector
        .iter()
        .map(|number| number * number)
        .sum::<f32>()
        .sqrt();
    if !length.is_finite() || length <= f32::EPSILON {
        return wrong("a vector has no direction");
    }
    Ok(vector.into_iter().map(|number| number / length).collect())
}
