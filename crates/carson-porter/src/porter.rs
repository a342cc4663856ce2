//! `carson porter FILE NAME`: from the first line of the CLI to its last.

use std::ffi::OsString;
use std::io::{self, BufRead as _, Read as _, Write as _};
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use carson_redact::Redactor;
use secrecy::SecretString;
use serde_json::Value;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::{mpsc, watch};

use crate::behind::Behind;
use crate::front;
use crate::granted::Granted;
use crate::notes::Notes;

/// The first argument that makes an executable of ours one.
pub const PORTER: &str = "porter";

/// Longest line that a CLI sends.
const LINE: u64 = 4 * 1024 * 1024;
/// Lines of it that may wait.
const WAITING: usize = 64;
/// How long an answer may still take once the CLI has hung up.
const GOODBYE: Duration = Duration::from_secs(1);
/// Its command line is none.
const UNFIT: u8 = 2;

/// Stands before a server until the CLI hangs up, where the command line says so.
#[must_use]
pub fn answer_if_asked() -> Option<ExitCode> {
    let mut words = std::env::args_os().skip(1);
    if words.next()? != PORTER {
        return None;
    }
    let code = match (words.next(), words.next(), words.next()) {
        (Some(file), Some(name), None) => match stand(Path::new(&file), &name) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => complain(&format!("{}: {error}", Path::new(&file).display())),
        },
        _ => complain("usage: carson porter FILE NAME"),
    };
    Some(code)
}

fn complain(why: &str) -> ExitCode {
    let _ = writeln!(io::stderr(), "carson porter: {why}");
    ExitCode::from(UNFIT)
}

fn stand(file: &Path, name: &OsString) -> io::Result<()> {
    let name = name.to_string_lossy().into_owned();
    let mut granted = Granted::read(file)?;
    let server = granted.servers.remove(&name);
    let server = server.ok_or_else(|| io::Error::other(format!("it has no server {name:?}")))?;
    let redactor = Redactor::new(server.secrets.iter().filter_map(|file| secret(file)));
    let notes = Notes::of(&name, granted.events, &redactor);
    // What the server starts and leaves behind is handed to us, and ended.
    carson_proc::become_subreaper()?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(serve(Behind::new(&name, server, redactor, notes)))
}

/// A whole file of the operator's, as the redactor knows it from elsewhere too.
fn secret(file: &Path) -> Option<SecretString> {
    let text = std::fs::read_to_string(file).ok()?;
    let text = text.trim();
    (!text.is_empty()).then(|| SecretString::from(text))
}

async fn serve(mut behind: Behind) -> io::Result<()> {
    let (sender, mut lines) = mpsc::channel(WAITING);
    let (hang_up, mut hung_up) = watch::channel(false);
    let ears = hang_up.clone();
    // It waits for its standard input, whatever else happens here, and ends with us.
    std::thread::spawn(move || hear(&sender, &ears));
    for kind in [
        SignalKind::terminate(),
        SignalKind::interrupt(),
        SignalKind::hangup(),
    ] {
        let (mut signals, hang_up) = (signal(kind)?, hang_up.clone());
        tokio::spawn(async move {
            signals.recv().await;
            let _ = hang_up.send(true);
        });
    }
    let served = loop {
        let Some(line) = lines.recv().await else {
            break Ok(());
        };
        let answered = tokio::select! {
            answered = front::answer(&line, &mut behind) => answered,
            // Nobody waits for it any more.
            () = long_gone(&mut hung_up) => break Ok(()),
        };
        if let Some(answer) = answered
            && let Err(error) = say(&answer)
        {
            break Err(error);
        }
    };
    behind.end().await;
    served
}

/// A moment after the CLI hung up: what it asked for last may be on its way.
async fn long_gone(hung_up: &mut watch::Receiver<bool>) {
    let _ = hung_up.wait_for(|is| *is).await;
    tokio::time::sleep(GOODBYE).await;
}

fn say(answer: &Value) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(format!("{answer}\n").as_bytes())?;
    out.flush()
}

/// Passes on what the CLI says, until it hangs up or says more than a line may hold.
fn hear(to: &mpsc::Sender<Vec<u8>>, hang_up: &watch::Sender<bool>) {
    let mut input = io::stdin().lock();
    loop {
        let mut line = Vec::new();
        let read = (&mut input).take(LINE).read_until(b'\n', &mut line);
        let is_whole = line.last() == Some(&b'\n');
        if !matches!(read, Ok(1..)) || !is_whole || to.blocking_send(line).is_err() {
            break;
        }
    }
    let _ = hang_up.send(true);
}
