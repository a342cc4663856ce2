//! `CONNECT`: bytes in both directions, unread.

use carson_core::egress::Target;
use hyper::Request;
use hyper::body::Incoming;
use hyper_util::rt::TokioIo;
use tokio::io::copy_bidirectional_with_sizes;

use crate::metered_stream::MeteredStream;
use crate::refusal::Refusal;
use crate::shared::{Shared, Slot};

/// Bytes that are held in one direction.
const BUFFER: usize = 64 * 1024;

/// Connects, and begins to copy as soon as the client has its answer.
pub(crate) async fn open(
    shared: &Shared,
    target: &Target,
    request: Request<Incoming>,
) -> Result<(), Refusal> {
    let stream = shared.connect(target).await?;
    let counters = shared.counters(target);
    counters.allow();
    let mut there = MeteredStream::new(stream, counters);
    let (watch, bounds) = (there.watch(), shared.bounds);
    let target = target.to_string();
    let slot = request.extensions().get::<Slot>().cloned();
    tokio::spawn(async move {
        let _slot = slot;
        let here = match hyper::upgrade::on(request).await {
            Ok(here) => here,
            Err(error) => return tracing::debug!(target, %error, "a tunnel did not begin"),
        };
        let mut here = TokioIo::new(here);
        let copying = copy_bidirectional_with_sizes(&mut here, &mut there, BUFFER, BUFFER);
        tokio::select! {
            copied = copying => tracing::debug!(target, ?copied, "a tunnel ended"),
            () = watch.until_over(&bounds) => tracing::debug!(target, "a tunnel was ended"),
        }
    });
    Ok(())
}
