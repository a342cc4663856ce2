//! A server on loopback that answers, or passes on what it is asked.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;

use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use reqwest::header::{CONNECTION, CONTENT_LENGTH, HOST, HeaderMap, TRANSFER_ENCODING};
use reqwest::{Method, StatusCode};
use serde_json::Value;
use tokio::net::TcpListener;

/// What was asked.
#[derive(Clone, Debug)]
pub struct Asked {
    pub method: Method,
    /// With its query.
    pub path: String,
    pub headers: HeaderMap,
    pub body: Bytes,
}

/// What is answered.
#[derive(Clone, Debug)]
pub struct Said {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Bytes,
}

impl Said {
    pub fn json(status: u16, body: &Value) -> Self {
        let mut headers = HeaderMap::new();
        headers.insert("content-type", "application/json".parse().unwrap());
        Self {
            status: StatusCode::from_u16(status).unwrap(),
            headers,
            body: body.to_string().into(),
        }
    }

    pub fn read(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }

    /// The same with another body.
    pub fn with(self, body: &Value) -> Self {
        Self {
            body: body.to_string().into(),
            ..self
        }
    }
}

impl Asked {
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }
}

/// `None` cuts the connection.
pub type Answering = Pin<Box<dyn Future<Output = Option<Said>> + Send>>;

/// Serves on a free port until the runtime ends; its address.
pub async fn serve(answer: impl Fn(Asked) -> Answering + Send + Sync + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    let answer = Arc::new(answer);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let answer = answer.clone();
            let service = service_fn(move |request: hyper::Request<Incoming>| {
                let answer = answer.clone();
                async move {
                    let (parts, body) = request.into_parts();
                    let path = parts.uri.path_and_query().unwrap().as_str().to_owned();
                    let asked = Asked {
                        method: parts.method,
                        path,
                        headers: parts.headers,
                        body: body.collect().await.unwrap().to_bytes(),
                    };
                    let said = answer(asked).await.ok_or(std::io::Error::other("cut"))?;
                    let mut response = hyper::Response::new(Full::new(said.body));
                    *response.status_mut() = said.status;
                    *response.headers_mut() = said.headers;
                    Ok::<_, std::io::Error>(response)
                }
            });
            let served = hyper::server::conn::http1::Builder::new();
            tokio::spawn(async move {
                // A connection that was cut on purpose is an error of its own.
                served
                    .serve_connection(TokioIo::new(stream), service)
                    .await
                    .ok();
                Ok::<(), Infallible>(())
            });
        }
    });
    base
}

/// Asks the next one in the chain.
pub async fn pass_on(client: &reqwest::Client, to: &str, asked: Asked) -> Said {
    let mut headers = asked.headers;
    for name in [HOST, CONNECTION, CONTENT_LENGTH, TRANSFER_ENCODING] {
        headers.remove(name);
    }
    let request = client
        .request(asked.method, format!("{to}{}", asked.path))
        .headers(headers)
        .body(asked.body);
    let response = request.send().await.unwrap();
    let (status, mut headers) = (response.status(), response.headers().clone());
    for name in [CONNECTION, CONTENT_LENGTH, TRANSFER_ENCODING] {
        headers.remove(name);
    }
    Said {
        status,
        headers,
        body: response.bytes().await.unwrap(),
    }
}

pub fn client() -> reqwest::Client {
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder()
        .redirect(reqwest::redirect::Policy::none())
        .build()
        .unwrap()
}
