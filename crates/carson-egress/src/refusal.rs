//! Why a connection is not made, in words that help the model and the operator.

use std::net::IpAddr;

use http_body_util::{BodyExt, Full};
use hyper::body::Bytes;
use hyper::header::{CONTENT_TYPE, HeaderValue, PROXY_AUTHENTICATE};
use hyper::{Response, StatusCode};

use crate::body::Body;

/// Why a connection is not made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// No rule names the host.
    NotNamed(String),
    /// A rule names it, and it leads where no name may lead.
    Guarded { host: String, address: IpAddr },
    /// The name is nowhere.
    Unknown(String),
    /// Nobody answers there.
    Unreachable { host: String, why: String },
    /// It took too long.
    TooSlow(String),
    /// The token is missing or wrong.
    NoToken,
    /// The API is asked without this firing's token.
    NoKey,
    /// It is no request that a proxy takes.
    Malformed(&'static str),
    /// The provider's API has no such path, or Carson does not open it.
    NotTheApi(String),
    /// The provider would do this in the session's place.
    NotForSessions(String),
}

impl Refusal {
    /// Whether the rules said no; everything else is trouble.
    pub(crate) fn is_by_rule(&self) -> bool {
        matches!(self, Self::NotNamed(_) | Self::Guarded { .. })
    }

    fn status(&self) -> StatusCode {
        match self {
            Self::NotNamed(_)
            | Self::Guarded { .. }
            | Self::NotTheApi(_)
            | Self::NotForSessions(_) => StatusCode::FORBIDDEN,
            Self::Unknown(_) | Self::Unreachable { .. } => StatusCode::BAD_GATEWAY,
            Self::TooSlow(_) => StatusCode::GATEWAY_TIMEOUT,
            Self::NoKey => StatusCode::UNAUTHORIZED,
            Self::NoToken => StatusCode::PROXY_AUTHENTICATION_REQUIRED,
            Self::Malformed(_) => StatusCode::BAD_REQUEST,
        }
    }

    /// In words.
    pub(crate) fn text(&self) -> String {
        const WHO: &str = "The setting `egress` of this role decides which hosts a session may \
                           connect to, and only the operator can change it: trying again or another \
                           way does not help. If the task cannot be done without it, say which \
                           host is needed and end with [BLOCKED].";
        match self {
            Self::NotNamed(host) => {
                format!("{host} is not allowed: no rule of this role's `egress` names it. {WHO}")
            }
            Self::Guarded { host, address } => format!(
                "{host} is not allowed: it resolves to {address}, which is this machine, its link \
                 or a metadata service, and no rule of this role's `egress` names that address. \
                 {WHO}"
            ),
            Self::Unknown(host) => format!("{host} is allowed, but its name cannot be resolved."),
            Self::Unreachable { host, why } => {
                format!("{host} is allowed, but cannot be reached: {why}.")
            }
            Self::TooSlow(host) => format!("{host} is allowed, but did not answer in time."),
            Self::NoToken => "this proxy serves the sessions of one firing only: use the address \
                              in HTTPS_PROXY as it stands there."
                .to_owned(),
            Self::NoKey => "this is the API of one firing only: use the key in its environment as \
                            it stands there."
                .to_owned(),
            Self::Malformed(what) => format!("this is no request for a proxy: {what}."),
            Self::NotForSessions(what) => format!(
                "`{what}` is not allowed: it is nothing that Carson knows as harmless, or it makes \
                 the provider fetch or run something in the session's place. Only the operator can \
                 allow it, with `allow_provider = [\"{what}\"]` of the account: if the task cannot \
                 be done without it, say so and end with [BLOCKED]."
            ),
            Self::NotTheApi(path) => format!(
                "{path} is not allowed: the key of this account is used for the provider's model \
                 API only."
            ),
        }
    }

    /// The answer that says so.
    pub(crate) fn response(&self) -> Response<Body> {
        let text = format!("carson: {}\n", self.text());
        let body = Full::new(Bytes::from(text)).map_err(|never| match never {});
        let mut response = Response::new(body.boxed_unsync());
        *response.status_mut() = self.status();
        let headers = response.headers_mut();
        let plain = HeaderValue::from_static("text/plain; charset=utf-8");
        headers.insert(CONTENT_TYPE, plain);
        if *self == Self::NoToken {
            let basic = HeaderValue::from_static("Basic realm=\"carson\"");
            headers.insert(PROXY_AUTHENTICATE, basic);
        }
        if self.is_by_rule() {
            headers.insert("x-carson-egress", HeaderValue::from_static("refused"));
        }
        response
    }
}
