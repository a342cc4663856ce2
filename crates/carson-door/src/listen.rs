//! Listens, and serves within bounds.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use hyper::body::{Body, Incoming};
use hyper::server::conn::http1;
use hyper::service::Service;
use hyper::{Request, Response};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use crate::often::Often;
use crate::places::Places;

/// Connections at once. One more takes the place of that which has said nothing for longest.
pub const CONNECTIONS: usize = 64;
/// How long a client may take to say what it wants.
pub const HEAD: Duration = Duration::from_secs(10);
/// The most bytes of that.
const HEAD_BYTES: usize = 16 << 10;
/// How soon an address that cannot be had is tried again.
const AGAIN: Duration = Duration::from_secs(10);

/// Told why an address cannot be had, or that it can.
pub type Told = Arc<dyn Fn(Option<&str>) + Send + Sync>;

/// Listens at an address and serves there, as long as this is polled; while the address cannot be had, it is tried
/// again, and `told` hears of it. The service is made for the address that it is reached at; `what` is its name in the log, and no connection
/// lasts longer than `longest`, where one is given.
pub async fn keep<S, B>(
    address: SocketAddr,
    (what, longest): (&'static str, Option<Duration>),
    told: &Told,
    service: impl FnOnce(SocketAddr) -> S,
) -> Infallible
where
    S: Service<Request<Incoming>, Response = Response<B>, Error = Infallible>,
    S: Clone + Send + 'static,
    S::Future: Send + 'static,
    B: Body + Send + Unpin + 'static,
    B::Data: Send,
    B::Error: std::error::Error + Send + Sync,
{
    let listener = bound(address, what, AGAIN, told).await;
    serve(listener, what, longest, service).await
}

/// A listener at an address, as soon as that can be had.
pub async fn bound(address: SocketAddr, what: &str, again: Duration, told: &Told) -> TcpListener {
    let mut said = false;
    loop {
        match TcpListener::bind(address).await {
            Ok(listener) => {
                told(None);
                return listener;
            }
            Err(error) => {
                if !std::mem::replace(&mut said, true) {
                    tracing::error!(%address, %error, "{what} is not served: the address cannot be had; it is tried again");
                }
                told(Some(&format!("{address} cannot be had: {error}")));
                tokio::time::sleep(again).await;
            }
        }
    }
}

/// Serves one listener as long as this is polled; its connections end with it.
pub async fn serve<S, B>(
    listener: TcpListener,
    what: &'static str,
    longest: Option<Duration>,
    service: impl FnOnce(SocketAddr) -> S,
) -> Infallible
where
    S: Service<Request<Incoming>, Response = Response<B>, Error = Infallible>,
    S: Clone + Send + 'static,
    S::Future: Send + 'static,
    B: Body + Send + Unpin + 'static,
    B::Data: Send,
    B::Error: std::error::Error + Send + Sync,
{
    let at = loop {
        match listener.local_addr() {
            Ok(at) => break at,
            Err(error) => {
                tracing::error!(%error, "the system does not say where {what} is served");
                tokio::time::sleep(AGAIN).await;
            }
        }
    };
    tracing::info!(address = %at, "{what} is served over HTTP");
    let service = service(at);
    let places = Places::new(CONNECTIONS);
    let (full, broken) = (Often::default(), Often::default());
    // Dropped with us, and everything that it holds.
    let mut open = JoinSet::new();
    loop {
        while open.try_join_next().is_some() {}
        match listener.accept().await {
            Ok((stream, _)) if places.make_room() => {
                if let Some(times) = full.rest(Instant::now()) {
                    refused(what, times);
                }
                let state = places.state();
                let seen = places.seen(service.clone(), state.clone());
                let task = open.spawn(within(longest, what, talk(stream, what, seen)));
                places.take(state, task);
            }
            Ok(_) => {
                if let Some(times) = full.again(Instant::now()) {
                    refused(what, times);
                }
            }
            Err(error) => {
                // Out of descriptors, or the client is gone: neither is helped by hurry.
                if let Some(times) = broken.again(Instant::now()) {
                    tracing::warn!(%error, times, "{what}: a connection could not be taken");
                }
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        }
    }
}

fn refused(what: &str, times: u64) {
    tracing::warn!(
        times,
        "{what}: {CONNECTIONS} connections are open and being answered, and one more is not"
    );
}

/// Ends a connection that takes too long: whoever reads slowly holds a place that others want.
async fn within(longest: Option<Duration>, what: &str, talk: impl Future<Output = ()>) {
    match longest {
        None => talk.await,
        Some(longest) => {
            if tokio::time::timeout(longest, talk).await.is_err() {
                tracing::debug!("a connection to {what} took too long");
            }
        }
    }
}

/// One connection, from its first request to its end.
async fn talk<S, B>(stream: TcpStream, what: &'static str, service: S)
where
    S: Service<Request<Incoming>, Response = Response<B>, Error = Infallible>,
    B: Body + 'static,
    B::Error: std::error::Error + Send + Sync,
{
    let _ = stream.set_nodelay(true);
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD)
        .max_buf_size(HEAD_BYTES)
        .serve_connection(TokioIo::new(stream), service);
    if let Err(error) = connection.await {
        tracing::debug!(%error, "a connection to {what} broke");
    }
}

#[cfg(test)]
mod tests {
    use http_body_util::Empty;
    use hyper::body::Bytes;
    use hyper::service::service_fn;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::*;

    #[tokio::test]
    async fn whoever_says_nothing_and_stays_is_let_go_after_the_longest_time() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let at = listener.local_addr().unwrap();
        let nothing = |_| {
            service_fn(|_: Request<Incoming>| async {
                Ok::<_, Infallible>(Response::new(Empty::<Bytes>::new()))
            })
        };
        let longest = Some(Duration::from_millis(50));
        let served = tokio::spawn(serve(listener, "it", longest, nothing));
        let mut client = TcpStream::connect(at).await.unwrap();
        let mut said = Vec::new();
        let ended = tokio::time::timeout(HEAD / 2, client.read_to_end(&mut said));
        assert_eq!(ended.await.expect("it was held").unwrap(), 0);
        served.abort();
    }

    #[tokio::test]
    async fn who_asks_is_answered_however_many_only_stand_there() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let at = listener.local_addr().unwrap();
        let nothing = |_| {
            service_fn(|_: Request<Incoming>| async {
                Ok::<_, Infallible>(Response::new(Empty::<Bytes>::new()))
            })
        };
        let served = tokio::spawn(serve(listener, "it", None, nothing));
        let ask = async |client: &mut TcpStream| {
            let request = b"GET / HTTP/1.1\r\nhost: it\r\n\r\n";
            client.write_all(request).await.unwrap();
            let mut said = [0; 15];
            client.read_exact(&mut said).await.unwrap();
            assert_eq!(&said, b"HTTP/1.1 200 OK");
        };
        let mut held = Vec::new();
        for nth in 0..CONNECTIONS {
            let mut client = TcpStream::connect(at).await.unwrap();
            // Some have begun to ask, some were answered, and all of them stay.
            match nth % 2 {
                0 => client.write_all(b"GET / HTTP/1.1\r\nhos").await.unwrap(),
                _ => ask(&mut client).await,
            }
            held.push(client);
        }
        for _ in 0..3 {
            let mut late = TcpStream::connect(at).await.unwrap();
            let answered = tokio::time::timeout(HEAD / 2, ask(&mut late));
            answered.await.expect("it was let in");
            held.push(late);
        }
        let mut first = held.swap_remove(0);
        let mut said = Vec::new();
        let ended = tokio::time::timeout(HEAD / 2, first.read_to_end(&mut said));
        let ended = ended.await.expect("it gave way");
        assert!(ended.map_or(true, |bytes| bytes == 0));
        served.abort();
    }

    #[tokio::test]
    async fn an_address_that_is_taken_is_waited_for() {
        let taken = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let at = taken.local_addr().unwrap();
        let (heard, mut shut) = tokio::sync::watch::channel(None);
        let told: Told = Arc::new(move |why| {
            heard.send_replace(Some(why.map(str::to_owned)));
        });
        let waiting =
            tokio::spawn(async move { bound(at, "it", Duration::from_millis(5), &told).await });
        shut.changed().await.unwrap();
        let why = shut.borrow_and_update().clone().unwrap();
        assert!(why.is_some_and(|why| why.starts_with(&format!("{at} cannot be had: "))));
        assert!(!waiting.is_finished());
        drop(taken);
        let listener = waiting.await.unwrap();
        assert_eq!(shut.borrow().clone(), Some(None), "it can be had");
        assert_eq!(listener.local_addr().unwrap(), at);
    }
}
