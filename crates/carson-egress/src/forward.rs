//! `http://…`: one request to one host, on a connection of its own.

use carson_core::egress::Target;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::header::{HOST, HeaderValue};
use hyper::{Request, Response, Uri};
use hyper_util::rt::TokioIo;

use crate::body::Body;
use crate::headers::without_hop_by_hop;
use crate::metered_stream::MeteredStream;
use crate::refusal::Refusal;
use crate::shared::Shared;

pub(crate) async fn pass_on(
    shared: &Shared,
    target: &Target,
    mut request: Request<Incoming>,
) -> Result<Response<Body>, Refusal> {
    let stream = shared.connect(target).await?;
    let counters = shared.counters(target);
    counters.allow();
    let broke = |error: &hyper::Error| Refusal::Unreachable {
        host: target.to_string(),
        why: error.to_string(),
    };
    let there = MeteredStream::new(stream, counters);
    let (watch, bounds) = (there.watch(), shared.bounds);
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(there))
        .await
        .map_err(|error| broke(&error))?;
    tokio::spawn(async move {
        tokio::select! {
            done = connection => tracing::debug!(?done, "a connection ended"),
            () = watch.until_over(&bounds) => tracing::debug!("a connection was ended"),
        }
    });
    readdress(&mut request, target)?;
    let response = sender.send_request(request).await;
    let mut response = response.map_err(|error| broke(&error))?;
    without_hop_by_hop(response.headers_mut());
    Ok(response.map(|body| body.map_err(Into::into).boxed_unsync()))
}

/// From the form for proxies to the form for servers. `Host` is the host that was judged, whatever
/// the client wrote there.
fn readdress(request: &mut Request<Incoming>, target: &Target) -> Result<(), Refusal> {
    const MALFORMED: Refusal = Refusal::Malformed("its address cannot be read");
    let path = request
        .uri()
        .path_and_query()
        .map_or("/", |path| path.as_str());
    let path: Uri = path.parse().map_err(|_| MALFORMED)?;
    *request.uri_mut() = path;
    without_hop_by_hop(request.headers_mut());
    let host = if target.port == 80 {
        target.host.to_string()
    } else {
        target.to_string()
    };
    let host = HeaderValue::from_str(&host).map_err(|_| MALFORMED)?;
    request.headers_mut().insert(HOST, host);
    Ok(())
}
