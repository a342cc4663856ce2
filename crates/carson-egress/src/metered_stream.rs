//! A connection that is counted, and that ends when nothing moves any more.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

use crate::bounds::Bounds;
use crate::counters::Counters;

/// When something last moved.
#[derive(Clone, Debug)]
pub(crate) struct Watch {
    born: Instant,
    moved: Arc<AtomicU64>,
}

impl Watch {
    fn new() -> Self {
        Self {
            born: Instant::now(),
            moved: Arc::default(),
        }
    }

    fn touch(&self) {
        let now = u64::try_from(self.born.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.moved.store(now, Ordering::Relaxed);
    }

    /// Returns when nothing moved for too long, or the connection is too old.
    pub(crate) async fn until_over(&self, bounds: &Bounds) {
        loop {
            let age = self.born.elapsed();
            let moved = Duration::from_millis(self.moved.load(Ordering::Relaxed));
            let end = bounds.total.min(moved + bounds.idle);
            if age >= end {
                return;
            }
            tokio::time::sleep(end - age).await;
        }
    }
}

/// A connection to a host, counted in both directions.
#[derive(Debug)]
pub(crate) struct MeteredStream {
    stream: TcpStream,
    counters: Arc<Counters>,
    watch: Watch,
}

impl MeteredStream {
    pub(crate) fn new(stream: TcpStream, counters: Arc<Counters>) -> Self {
        Self {
            stream,
            counters,
            watch: Watch::new(),
        }
    }

    pub(crate) fn watch(&self) -> Watch {
        self.watch.clone()
    }
}

impl AsyncRead for MeteredStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let polled = Pin::new(&mut self.stream).poll_read(context, buffer);
        let read = buffer.filled().len() - before;
        if read > 0 {
            self.counters.received(read);
            self.watch.touch();
        }
        polled
    }
}

impl AsyncWrite for MeteredStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.stream).poll_write(context, bytes);
        if let Poll::Ready(Ok(written)) = polled {
            self.counters.sent(written);
            self.watch.touch();
        }
        polled
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
