//! One firing's proxy: begun before its first session, ended after its last.

use std::net::{Ipv4Addr, TcpListener};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use carson_core::Api;
use carson_core::egress::{Allowlist, EgressHost, Rule};
use thiserror::Error;
use tokio::sync::{Semaphore, mpsc};

use crate::bounds::Bounds;
use crate::counters::{HostCounters, HostRefused};
use crate::listener::serve;
use crate::provider::{Provider, ProviderError, Upstream};
use crate::resets::Headers;
use crate::resolve::Resolver;
use crate::shared::Shared;
use crate::token::Token;
use crate::variables::{Offer, variables};

type JoinTask = tokio::task::JoinHandle<()>;

/// Names that are looked up at once, a thread each.
const LOOKUPS: usize = 16;

/// What a proxy is begun with.
#[derive(Clone, Debug)]
pub struct Plan {
    /// What may be connected to; `None` where sessions need no proxy for that.
    pub rules: Option<Allowlist>,
    /// The provider's API, where the proxy holds its key.
    pub provider: Option<Provider>,
    /// How names become addresses.
    pub resolver: Resolver,
    /// How much of everything.
    pub bounds: Bounds,
}

/// A proxy that cannot be begun.
#[derive(Debug, Error)]
pub enum EgressError {
    /// No socket, no thread, or no randomness.
    #[error("the egress proxy cannot be started: {0}")]
    Io(#[from] std::io::Error),
    /// The provider cannot be used.
    #[error(transparent)]
    Provider(#[from] ProviderError),
}

/// A running proxy. It ends when this is dropped.
#[derive(Debug)]
pub struct Egress {
    shared: Arc<Shared>,
    egress: bool,
    api: Option<Api>,
    listeners: mpsc::UnboundedSender<TcpListener>,
    news: Mutex<Option<mpsc::UnboundedReceiver<HostRefused>>>,
    stop: Option<tokio::sync::oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Egress {
    /// Begins one, on a free port of 127.0.0.1.
    ///
    /// # Errors
    /// When the system has no socket or thread for it, or the provider cannot be used.
    pub fn open(plan: Plan) -> Result<Self, EgressError> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let port = listener.local_addr()?.port();
        let upstream = plan.provider.as_ref();
        let upstream = upstream.map(|provider| Upstream::new(provider, &plan.bounds));
        let (counters, news) = HostCounters::new(plan.bounds.hosts);
        let egress = plan.rules.is_some();
        let shared = Arc::new(Shared {
            rules: plan.rules.unwrap_or_default(),
            token: Token::new().map_err(std::io::Error::other)?,
            resolver: plan.resolver,
            upstream: upstream.transpose()?,
            counters,
            port,
            slots: Arc::new(Semaphore::new(plan.bounds.connections)),
            bounds: plan.bounds,
        });
        let (listeners, more) = mpsc::unbounded_channel();
        let (stop, stopped) = tokio::sync::oneshot::channel();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .max_blocking_threads(LOOKUPS)
            .build()?;
        let serving = Arc::clone(&shared);
        let work = move || {
            runtime.block_on(async {
                tokio::select! {
                    () = serve_all(listener, more, serving) => {}
                    _ = stopped => {}
                }
            });
            // A name server that does not answer holds nobody up.
            runtime.shutdown_background();
        };
        let thread = std::thread::Builder::new().name("egress".into());
        Ok(Self {
            shared,
            egress,
            api: plan.provider.map(|provider| provider.api),
            listeners,
            news: Mutex::new(Some(news)),
            stop: Some(stop),
            thread: Some(thread.spawn(work)?),
        })
    }

    /// Its port on 127.0.0.1.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.shared.port
    }

    /// Serves one more listener: that of a session's own network namespace.
    pub fn listen_on(&self, listener: TcpListener) {
        // It has ended; then the session finds nobody there, as it must.
        let _ = self.listeners.send(listener);
    }

    /// What a session's environment says of it. `isolated`: it has a loopback of its own.
    #[must_use]
    pub fn variables(&self, isolated: bool) -> Vec<(&'static str, String)> {
        let offer = Offer {
            egress: self.egress,
            api: self.api,
            own_loopback: isolated && !self.shared.rules.0.iter().any(Rule::is_local),
        };
        variables(self.port(), &self.shared.token, offer)
    }

    /// The headers of the provider's last refusal that say when it may be asked again, as they stood there, and
    /// how long ago that came. Its client may hide them. Only a proxy that holds the key sees the
    /// provider's answers.
    #[must_use]
    pub fn resets(&self) -> Option<(Headers, Duration)> {
        self.shared.upstream.as_ref()?.resets()
    }

    /// What went where so far.
    #[must_use]
    pub fn counts(&self) -> Vec<EgressHost> {
        self.shared.counters.counts()
    }

    /// Each host that is refused, once; whoever asks first gets them.
    pub fn news(&self) -> Option<mpsc::UnboundedReceiver<HostRefused>> {
        let mut news = self.news.lock().unwrap_or_else(PoisonError::into_inner);
        news.take()
    }
}

impl Drop for Egress {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // It ends at once: nothing in it waits for anybody.
            let _ = thread.join();
        }
    }
}

/// The proxy's own listener, and the last one that was handed over: an older one belongs to a
/// session that has ended, and would keep its network alive.
async fn serve_all(
    own: TcpListener,
    mut more: mpsc::UnboundedReceiver<TcpListener>,
    shared: Arc<Shared>,
) {
    begin(own, &shared);
    let mut last: Option<JoinTask> = None;
    while let Some(listener) = more.recv().await {
        if let Some(last) = last.take() {
            last.abort();
        }
        last = begin(listener, &shared);
    }
}

fn begin(listener: TcpListener, shared: &Arc<Shared>) -> Option<JoinTask> {
    let set = listener.set_nonblocking(true);
    match set.and_then(|()| tokio::net::TcpListener::from_std(listener)) {
        Ok(listener) => Some(tokio::spawn(serve(listener, Arc::clone(shared)))),
        Err(error) => {
            tracing::warn!(%error, "a listener of the egress proxy is of no use");
            None
        }
    }
}
