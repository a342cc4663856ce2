//! A firing's proxy while it is open.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use carson_config::{NetworkUse, Role};
use carson_egress::{Egress, Headers, SocketHandover, network};
use carson_proc::sandbox::Network;
use tokio::task::JoinHandle;

/// The proxy between the sessions of an account and the network.
pub struct Proxy {
    pub(super) egress: Arc<Egress>,
    /// Whether everything must go through it.
    pub(super) only: bool,
    /// Waits for the listeners of sessions with a network of their own.
    pub(super) handover: Option<SocketHandover>,
    /// Writes refusals down until there are no more.
    pub(super) telling: Option<JoinHandle<()>>,
}

impl Proxy {
    /// What a session's environment says of it.
    pub fn variables(&self) -> Vec<(&'static str, String)> {
        self.egress.variables(self.handover.is_some())
    }

    /// How often each host was refused so far, by its name (`host:port`).
    pub fn refused(&self) -> BTreeMap<String, u64> {
        let hosts = self.egress.counts().into_iter();
        let refused = hosts.filter(|host| host.refused > 0);
        refused.map(|host| (host.host, host.refused)).collect()
    }

    /// When the provider may be asked again, as the headers of its last refusal say, and how long ago that was.
    pub fn resets(&self) -> Option<(Headers, Duration)> {
        self.egress.resets()
    }

    /// Closes it: from here on its token opens nothing. Its last refusals are written by then, or by
    /// the task that is given back, which ends by itself.
    pub(super) fn close(self) -> Option<JoinHandle<()>> {
        // By name, all of them: the news end with the last who holds the proxy, and what a pattern
        // leaves out lives on for as long as whoever waits for that end.
        let Self {
            egress,
            only: _,
            handover,
            telling,
        } = self;
        drop((handover, egress));
        telling
    }
}

/// Whom a session of this role may talk to, where its firing has this proxy.
pub fn network_of(proxy: Option<&Proxy>, role: &Role) -> Network {
    match (proxy, role.confinement.network) {
        (Some(open), _) if open.only => network(&open.egress, open.handover.as_ref()),
        (_, NetworkUse::Own) => Network::Shared,
        (_, NetworkUse::Host) => Network::Open,
    }
}

#[cfg(test)]
mod tests {
    use carson_core::egress::Allowlist;
    use carson_egress::{Bounds, Plan, Resolver};

    use super::*;

    #[tokio::test(flavor = "multi_thread")]
    async fn nobody_waits_for_news_of_a_closed_proxy() {
        let dir = tempfile::tempdir().unwrap();
        let egress = Egress::open(Plan {
            rules: Some(Allowlist(Vec::new())),
            provider: None,
            resolver: Resolver::system(),
            bounds: Bounds::default(),
        });
        let egress = Arc::new(egress.unwrap());
        let mut news = egress.news().unwrap();
        let open = Proxy {
            telling: Some(tokio::spawn(
                async move { while news.recv().await.is_some() {} },
            )),
            handover: Some(SocketHandover::at(&dir.path().join("way-out"), &egress).unwrap()),
            only: true,
            egress,
        };

        let telling = open.close().unwrap();

        // Without an end of the news it would never end.
        let ended = tokio::time::timeout(Duration::from_secs(30), telling).await;
        ended.unwrap().unwrap();
    }
}
