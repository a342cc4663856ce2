//! `carson-embedder`: see the library.

use std::error::Error;
use std::io::{Read as _, Write as _};
use std::net::SocketAddr;
use std::path::Path;
use std::pin::Pin;
use std::process::ExitCode;
use std::task::{Context, Poll};

use carson_embedder::args::{self, HELP, Wanted};
use carson_embedder::files::{self, NAME};
use carson_embedder::model::Model;
use carson_embedder::server;
use carson_embedder::thread::Thread;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};

fn main() -> ExitCode {
    let wanted = match args::read(std::env::args_os().skip(1)) {
        Ok(wanted) => wanted,
        Err(error) => {
            eprintln!("carson-embedder: {error}\nTry carson-embedder --help.");
            return ExitCode::from(2);
        }
    };
    let done = match wanted {
        Wanted::Help => say(HELP),
        Wanted::Version => say(concat!("carson-embedder ", env!("CARGO_PKG_VERSION"), "\n")),
        Wanted::Serve {
            dir,
            listen,
            until_input_ends,
        } => serve(&dir, listen, until_input_ends),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprint!("carson-embedder: {error}");
            let mut cause = error.source();
            while let Some(error) = cause {
                eprint!(": {error}");
                cause = error.source();
            }
            eprintln!();
            ExitCode::FAILURE
        }
    }
}

fn say(text: &str) -> Result<(), Box<dyn Error>> {
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes())?;
    Ok(out.flush()?)
}

fn serve(dir: &Path, listen: SocketAddr, until_input_ends: bool) -> Result<(), Box<dyn Error>> {
    // The sums are those of whole matrices: on one processor, so that sessions have the others.
    rayon::ThreadPoolBuilder::new()
        .num_threads(1)
        .build_global()?;
    let model = Model::of(&files::read(dir)?)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let served = runtime.block_on(async {
        let mut term = signal(SignalKind::terminate())?;
        let mut int = signal(SignalKind::interrupt())?;
        let listener = TcpListener::bind(listen)
            .await
            .map_err(|error| format!("cannot listen on {listen}: {error}"))?;
        let thread = Thread::start(model)?;
        say(&format!("http://{}/v1 {NAME}\n", listener.local_addr()?))?;
        tokio::spawn(server::serve(listener, thread));
        let mut input = until_input_ends.then(|| tokio::task::spawn_blocking(input_end));
        let asked = |context: &mut Context<'_>| {
            let ends = [term.poll_recv(context), int.poll_recv(context)];
            let input = input.as_mut().map(|input| Pin::new(input).poll(context));
            if ends.iter().any(Poll::is_ready) || input.is_some_and(|input| input.is_ready()) {
                Poll::Ready(())
            } else {
                Poll::Pending
            }
        };
        std::future::poll_fn(asked).await;
        Ok(())
    });
    // Who reads the input cannot be told to stop.
    runtime.shutdown_background();
    served
}

/// Waits for the end of the standard input; what comes before it is nothing to us.
fn input_end() {
    let mut piece = [0; 1024];
    let mut input = std::io::stdin().lock();
    while input.read(&mut piece).is_ok_and(|read| read > 0) {}
}
