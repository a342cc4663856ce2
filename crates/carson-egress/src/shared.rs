//! What the connections of one proxy share.

use std::net::Ipv4Addr;
use std::sync::Arc;

use carson_core::egress::{Allowlist, Host, Target};
use hyper::body::Incoming;
use hyper::{Request, Response};
use tokio::net::TcpStream;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::body::Body;
use crate::bounds::Bounds;
use crate::counters::{Counters, HostCounters};
use crate::provider::Upstream;
use crate::refusal::Refusal;
use crate::resolve::{Resolver, connect};
use crate::token::Token;

/// A place among the connections at once.
pub(crate) type Slot = Arc<OwnedSemaphorePermit>;

/// What the connections of one proxy share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub rules: Allowlist,
    pub token: Token,
    pub bounds: Bounds,
    pub resolver: Resolver,
    pub upstream: Option<Upstream>,
    pub counters: HostCounters,
    pub port: u16,
    pub slots: Arc<Semaphore>,
}

impl Shared {
    pub(crate) async fn connect(&self, target: &Target) -> Result<TcpStream, Refusal> {
        if self.is_api(target) {
            let own = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).await;
            return own.map_err(|error| Refusal::Unreachable {
                host: target.to_string(),
                why: error.to_string(),
            });
        }
        connect(
            &self.resolver,
            &self.rules,
            target,
            self.bounds.connect_within,
        )
        .await
    }

    /// Whether this is the API that the proxy itself serves. Some clients reach every address
    /// through a tunnel, and so this one; what comes out of it is judged as all that comes in.
    fn is_api(&self, target: &Target) -> bool {
        let own = Host::Address(Ipv4Addr::LOCALHOST.into());
        self.upstream.is_some() && target.port == self.port && target.host == own
    }

    /// Where a connection to this host is counted.
    pub(crate) fn counters(&self, target: &Target) -> Arc<Counters> {
        if self.is_api(target) {
            // The provider's own are.
            return Arc::default();
        }
        self.counters.for_host(&target.to_string())
    }

    /// To the provider's API, when this proxy has its key.
    pub(crate) async fn provider(
        &self,
        request: Request<Incoming>,
    ) -> Result<Response<Body>, Refusal> {
        let none = Refusal::Malformed("this proxy serves no pages of its own");
        let upstream = self.upstream.as_ref().ok_or(none)?;
        upstream.pass_on(&self.token, &self.counters, request).await
    }
}
