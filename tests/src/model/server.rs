//! The server: takes requests, keeps them, and answers by the first rule that matches.

use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncReadExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::{Builder, Runtime};

use super::answer::{Answer, Body};
use super::http::{read_request, respond, respond_with_events};
use super::request::Api;
use super::sse::Sent;
use super::{Reply, Request, When, completions, generate, responses};

/// A scripted model on a port of its own; see the module's documentation.
#[derive(Debug)]
pub struct ScriptedModel {
    address: SocketAddr,
    stage: Arc<Stage>,
    runtime: Option<Runtime>,
}

#[derive(Default)]
struct Stage {
    script: Mutex<Script>,
    arrived: Condvar,
}

#[derive(Default)]
struct Script {
    rules: Vec<(When, Reply)>,
    requests: Vec<Request>,
    unmatched: Vec<Request>,
}

impl std::fmt::Debug for Stage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Stage")
    }
}

impl ScriptedModel {
    /// Listens on a free port of 127.0.0.1, with no rules yet.
    ///
    /// # Errors
    /// When no port or no thread can be had.
    pub fn start() -> io::Result<Self> {
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()?;
        let listener = std::net::TcpListener::bind(("127.0.0.1", 0))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let stage = Arc::new(Stage::default());
        let _entered = runtime.enter();
        runtime.spawn(serve(TcpListener::from_std(listener)?, Arc::clone(&stage)));
        Ok(Self {
            address,
            stage,
            runtime: Some(runtime),
        })
    }

    /// Adds a rule after those that are there; the first rule that matches answers.
    pub fn on(&self, when: When, reply: impl Into<Reply>) -> &Self {
        self.stage.script().rules.push((when, reply.into()));
        self
    }

    /// What `ANTHROPIC_BASE_URL` is set to.
    #[must_use]
    pub fn base_url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Every request so far, oldest first.
    #[must_use]
    pub fn requests(&self) -> Vec<Request> {
        self.stage.script().requests.clone()
    }

    /// How many requests there were so far.
    #[must_use]
    pub fn count(&self) -> usize {
        self.stage.script().requests.len()
    }

    /// The requests that no rule matched.
    #[must_use]
    pub fn unmatched(&self) -> Vec<Request> {
        self.stage.script().unmatched.clone()
    }

    /// Blocks until a request was made for which this holds, and returns it; `None` when the
    /// time is over. Requests from before the call count too.
    #[must_use]
    pub fn wait_for(
        &self,
        timeout: Duration,
        wanted: impl Fn(&Request) -> bool,
    ) -> Option<Request> {
        let find = |script: &Script| {
            script
                .requests
                .iter()
                .find(|request| wanted(request))
                .cloned()
        };
        let waited =
            self.stage
                .arrived
                .wait_timeout_while(self.stage.script(), timeout, |script| {
                    find(script).is_none()
                });
        let (script, _) = waited.unwrap_or_else(PoisonError::into_inner);
        find(&script)
    }
}

impl Drop for ScriptedModel {
    fn drop(&mut self) {
        // An ordinary drop would block, which panics inside a test's own runtime.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

impl Stage {
    fn script(&self) -> MutexGuard<'_, Script> {
        self.script.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps the request and returns it with its place in its session, and the rules of now.
    fn arrive(&self, mut request: Request) -> (Request, usize, Vec<(When, Reply)>) {
        let mut script = self.script();
        let earlier = script
            .requests
            .iter()
            .filter(|past| past.session() == request.session());
        request.nth = earlier.count();
        let serial = script.requests.len();
        script.requests.push(request.clone());
        let rules = script.rules.clone();
        self.arrived.notify_all();
        (request, serial, rules)
    }

    fn answer(&self, rules: &[(When, Reply)], request: &Request) -> Answer {
        if request.api().is_none() {
            return not_found(request);
        }
        let rule = rules.iter().find(|(when, _)| when.holds(request));
        rule.and_then(|(_, reply)| reply.answer(request))
            .unwrap_or_else(|| {
                self.script().unmatched.push(request.clone());
                unscripted(request)
            })
    }
}

async fn serve(listener: TcpListener, stage: Arc<Stage>) {
    while let Ok((stream, _)) = listener.accept().await {
        let stage = Arc::clone(&stage);
        tokio::spawn(async move {
            // A client that leaves early is no fault of the server: tests kill clients.
            let _ = converse(stream, &stage).await;
        });
    }
}

async fn converse(stream: TcpStream, stage: &Stage) -> io::Result<()> {
    let mut stream = BufReader::new(stream);
    let request = match read_request(&mut stream).await {
        Ok(request) => request,
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Err(error),
        Err(error) => return respond(&mut stream, 400, &[], &error.to_string()).await,
    };
    let (request, serial, rules) = stage.arrive(request);
    let answer = stage.answer(&rules, &request);
    for gate in &answer.gates {
        gate.passed().await;
    }
    send(&mut stream, &request, serial, &answer).await
}

async fn send(
    stream: &mut BufReader<TcpStream>,
    request: &Request,
    serial: usize,
    answer: &Answer,
) -> io::Result<()> {
    let mut headers = vec![("request-id".to_owned(), format!("req_scripted_{serial:04}"))];
    headers.extend_from_slice(&answer.headers);
    match &answer.body {
        Body::Status { code, body } => respond(stream, *code, &headers, body).await,
        Body::Hang => until_closed(stream).await,
        Body::Message(message) if request.wants_stream() => {
            let events = match request.api() {
                Some(Api::Responses) => responses::Sent { message, serial }.events(),
                Some(Api::Completions) => completions::Sent { message, serial }.events(),
                Some(Api::Generate) => generate::Sent { message }.events(),
                _ => Sent::new(message, request, serial).events(),
            };
            respond_with_events(stream, &headers, &events, true).await
        }
        Body::Message(message) => {
            let document = Sent::new(message, request, serial).document();
            respond(stream, 200, &headers, &document.to_string()).await
        }
        Body::CutStream(message) => {
            let events = match request.api() {
                Some(Api::Responses) => responses::Sent { message, serial }.events_until_cut(),
                Some(Api::Completions) => completions::Sent { message, serial }.events_until_cut(),
                Some(Api::Generate) => generate::Sent { message }.events_until_cut(),
                _ => Sent::new(message, request, serial).events_until_cut(),
            };
            respond_with_events(stream, &headers, &events, false).await
        }
    }
}

async fn until_closed(stream: &mut BufReader<TcpStream>) -> io::Result<()> {
    let mut rest = [0; 64];
    while stream.read(&mut rest).await? > 0 {}
    Ok(())
}

fn not_found(request: &Request) -> Answer {
    let message = format!(
        "{} {} is not part of the script",
        request.method, request.path
    );
    Answer::error(404, "not_found_error", &message)
}

/// A 400 is not retried, and its message is what the CLI prints: the author of the script sees
/// which request was forgotten.
fn unscripted(request: &Request) -> Answer {
    let prompt: String = request.prompt().chars().take(200).collect();
    let message = format!(
        "no rule for turn {} of the prompt {prompt:?}",
        request.turn()
    );
    Answer::error(400, "invalid_request_error", &message)
}
