//! The places that connections have, and who gives way when all are taken.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use hyper::body::{Body, Frame, Incoming, SizeHint};
use hyper::service::Service;
use hyper::{Request, Response};
use tokio::task::AbortHandle;

/// A connection that is being answered.
const BUSY: u64 = u64::MAX;

/// Whether a connection waits for its client to say what it wants, and since which of our ticks; else it is being
/// answered.
#[derive(Clone, Debug)]
pub(crate) struct State(Arc<AtomicU64>);

/// So many places.
pub(crate) struct Places {
    most: usize,
    ticks: Arc<AtomicU64>,
    taken: Mutex<Vec<(State, AbortHandle)>>,
}

impl Places {
    pub(crate) fn new(most: usize) -> Self {
        Self {
            most,
            ticks: Arc::default(),
            taken: Mutex::default(),
        }
    }

    /// Makes room for one more. Where all places are taken, the connection gives way that has waited longest for its
    /// client to say something: whoever asks at once is answered, however many others only stand there. `false`
    /// where all are being answered.
    pub(crate) fn make_room(&self) -> bool {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        taken.retain(|(_, task)| !task.is_finished());
        if taken.len() < self.most {
            return true;
        }
        let waits = |(at, (state, _)): (usize, &(State, AbortHandle))| {
            let since = state.0.load(Ordering::Relaxed);
            (since != BUSY).then_some((since, at))
        };
        let Some((_, at)) = taken.iter().enumerate().filter_map(waits).min() else {
            return false;
        };
        let (_, task) = taken.swap_remove(at);
        task.abort();
        true
    }

    /// The state of a connection that has a place from now on.
    pub(crate) fn state(&self) -> State {
        let since = self.ticks.fetch_add(1, Ordering::Relaxed);
        State(Arc::new(AtomicU64::new(since)))
    }

    pub(crate) fn take(&self, state: State, task: AbortHandle) {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        taken.push((state, task));
    }

    /// The service as one connection sees it: from a request's head to the last byte of its answer it is busy.
    pub(crate) fn seen<S>(&self, service: S, state: State) -> Seen<S> {
        Seen {
            service,
            state,
            ticks: Arc::clone(&self.ticks),
        }
    }
}

/// Marks a connection as one that waits again, whatever became of its answer.
struct Answering {
    state: State,
    ticks: Arc<AtomicU64>,
}

impl Drop for Answering {
    fn drop(&mut self) {
        let since = self.ticks.fetch_add(1, Ordering::Relaxed);
        self.state.0.store(since, Ordering::Relaxed);
    }
}

/// A service, as one connection sees it.
pub(crate) struct Seen<S> {
    service: S,
    state: State,
    ticks: Arc<AtomicU64>,
}

impl<S, B> Service<Request<Incoming>> for Seen<S>
where
    S: Service<Request<Incoming>, Response = Response<B>, Error = Infallible>,
    S::Future: Send + 'static,
    B: 'static,
{
    type Response = Response<Told<B>>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn call(&self, request: Request<Incoming>) -> Self::Future {
        self.state.0.store(BUSY, Ordering::Relaxed);
        let answering = Answering {
            state: self.state.clone(),
            ticks: Arc::clone(&self.ticks),
        };
        let answer = self.service.call(request);
        Box::pin(async move {
            let answer = answer.await?;
            Ok(answer.map(|body| Told {
                body,
                _answering: answering,
            }))
        })
    }
}

/// An answer's body: while it is told, its connection is busy.
pub(crate) struct Told<B> {
    body: B,
    _answering: Answering,
}

impl<B: Body + Unpin> Body for Told<B> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<B::Data>, B::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
