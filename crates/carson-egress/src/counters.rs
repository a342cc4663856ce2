//! What went where, per host.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use carson_core::egress::EgressHost;
use tokio::sync::mpsc;

use crate::refusal::Refusal;

/// What hosts beyond the bound are counted as.
const OTHERS: &str = "(other hosts)";

/// The counters of one host.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    allowed: AtomicU64,
    refused: AtomicU64,
    up: AtomicU64,
    down: AtomicU64,
}

impl Counters {
    pub(crate) fn sent(&self, bytes: usize) {
        self.up.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    pub(crate) fn received(&self, bytes: usize) {
        self.down.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    pub(crate) fn allow(&self) {
        self.allowed.fetch_add(1, Ordering::Relaxed);
    }
}

/// All hosts of one firing.
#[derive(Debug)]
pub(crate) struct HostCounters {
    hosts: Mutex<BTreeMap<String, Arc<Counters>>>,
    most: usize,
    refused: mpsc::UnboundedSender<HostRefused>,
}

/// A host was refused for the first time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostRefused {
    /// `host:port`.
    pub host: String,
    /// Why.
    pub why: String,
}

impl HostCounters {
    pub(crate) fn new(most: usize) -> (Self, mpsc::UnboundedReceiver<HostRefused>) {
        // No more messages than hosts are ever sent, so this is bounded too.
        let (refused, news) = mpsc::unbounded_channel();
        let counters = Self {
            hosts: Mutex::default(),
            most,
            refused,
        };
        (counters, news)
    }

    /// The counters of a host.
    pub(crate) fn for_host(&self, host: &str) -> Arc<Counters> {
        let mut hosts = self.hosts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = hosts.get(host) {
            return Arc::clone(known);
        }
        let name = if hosts.len() < self.most {
            host
        } else {
            OTHERS
        };
        Arc::clone(hosts.entry(name.to_owned()).or_default())
    }

    /// The rules said no.
    pub(crate) fn refuse(&self, host: &str, why: &Refusal) {
        let counters = self.for_host(host);
        if counters.refused.fetch_add(1, Ordering::Relaxed) == 0 {
            // Nobody may listen any more; then the count is what is left of it.
            let _ = self.refused.send(HostRefused {
                host: host.to_owned(),
                why: why.text(),
            });
        }
    }

    /// Everything so far, by host.
    pub(crate) fn counts(&self) -> Vec<EgressHost> {
        let hosts = self.hosts.lock().unwrap_or_else(PoisonError::into_inner);
        let count = |(host, counters): (&String, &Arc<Counters>)| EgressHost {
            host: host.clone(),
            allowed: counters.allowed.load(Ordering::Relaxed),
            refused: counters.refused.load(Ordering::Relaxed),
            bytes_up: counters.up.load(Ordering::Relaxed),
            bytes_down: counters.down.load(Ordering::Relaxed),
        };
        hosts.iter().map(count).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_beyond_the_bound_are_counted_together_and_told_once() {
        let (counters, mut news) = HostCounters::new(2);
        let why = Refusal::NotNamed("x".into());
        for round in 0..3 {
            for host in ["a:1", "b:1", "c:1", "d:1"] {
                counters.refuse(host, &why);
            }
            assert_eq!(counters.counts().len(), 3, "round {round}");
        }
        let counts = counters.counts();
        assert_eq!((counts[0].host.as_str(), counts[0].refused), (OTHERS, 6));
        let mut told = Vec::new();
        while let Ok(one) = news.try_recv() {
            told.push(one.host);
        }
        assert_eq!(told, ["a:1", "b:1", "c:1"]);
    }
}
