//! A wire to the PostgreSQL server of the tests that can be cut, or goes dead without a word.
//!
//! Also compiled into the tests of `carson-store`, which stands below this crate.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use sqlx::postgres::PgConnectOptions;

const UP: u8 = 0;
/// What is sent waits.
const SILENT: u8 = 1;
/// Whoever is connected is thrown out, and nobody comes in.
const CUT: u8 = 2;
/// What is sent is lost, now and later.
const DEAD: u8 = 3;

/// The wire is no more.
const GONE: u8 = 4;

/// How often a connection looks what became of the wire.
const LOOKS: Duration = Duration::from_millis(10);
/// So long after it was told each of them knows.
const ALL_KNOW: Duration = Duration::from_millis(50);

/// A loopback address that leads to the server's socket. Goes when it is dropped.
#[derive(Debug)]
pub struct Wire {
    url: String,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    server: PathBuf,
    state: AtomicU8,
    /// The state of each connection that was left for dead.
    connections: Mutex<Vec<Arc<AtomicU8>>>,
}

impl Wire {
    /// One to the database at this address. Who is behind its socket is looked up for each connection.
    ///
    /// # Panics
    /// When there is no address to listen on, or the server has no socket.
    #[must_use]
    pub fn to(database: &str) -> Self {
        let options = PgConnectOptions::from_str(database).unwrap();
        let dir = options.get_socket().cloned();
        let dir = dir.unwrap_or_else(|| PathBuf::from(options.get_host()));
        let shared = Arc::new(Shared {
            server: dir.join(format!(".s.PGSQL.{}", options.get_port())),
            state: AtomicU8::new(UP),
            connections: Mutex::default(),
        });
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let at = listener.local_addr().unwrap();
        let url = format!(
            "postgres://{}@{at}/{}",
            options.get_username(),
            options.get_database().unwrap_or_default()
        );
        let accepting = Arc::clone(&shared);
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                if accepting.state.load(Ordering::SeqCst) == GONE {
                    return;
                }
                accepting.carry(client);
            }
        });
        Self { url, shared }
    }

    /// The address of the database over this wire.
    #[must_use]
    pub fn url(&self) -> String {
        self.url.clone()
    }

    /// What is sent arrives again.
    pub fn up(&self) {
        self.shared.state.store(UP, Ordering::SeqCst);
    }

    /// The server seems to be paused: nothing comes back, and nobody is told.
    pub fn silent(&self) {
        self.shared.state.store(SILENT, Ordering::SeqCst);
        thread::sleep(ALL_KNOW);
    }

    /// The server seems to have ended.
    pub fn cut(&self) {
        self.shared.state.store(CUT, Ordering::SeqCst);
        thread::sleep(ALL_KNOW);
    }

    /// The connections that there are lead nowhere from now on; new ones are well.
    pub fn forget(&self) {
        let mut connections = self.shared.connections();
        for connection in connections.drain(..) {
            connection.store(DEAD, Ordering::SeqCst);
        }
        thread::sleep(ALL_KNOW);
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        self.shared.state.store(GONE, Ordering::SeqCst);
        let at = self.url.rsplit_once('@').map(|(_, at)| at);
        let at = at.and_then(|at| at.split_once('/')).map(|(at, _)| at);
        // Wakes the listener up.
        let _ = at.map(TcpStream::connect);
    }
}

impl Shared {
    fn connections(&self) -> std::sync::MutexGuard<'_, Vec<Arc<AtomicU8>>> {
        self.connections
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn carry(self: &Arc<Self>, client: TcpStream) {
        if self.state.load(Ordering::SeqCst) == CUT {
            return;
        }
        let Ok(server) = UnixStream::connect(&self.server) else {
            return;
        };
        let own = Arc::new(AtomicU8::new(UP));
        self.connections().push(Arc::clone(&own));
        client.set_read_timeout(Some(LOOKS)).unwrap();
        server.set_read_timeout(Some(LOOKS)).unwrap();
        let ends = (client.try_clone().unwrap(), server.try_clone().unwrap());
        let (there, back) = (Arc::clone(self), Arc::clone(self));
        let other = Arc::clone(&own);
        thread::spawn(move || there.copy(&own, client, server));
        thread::spawn(move || {
            let (client, server) = ends;
            back.copy(&other, server, client);
        });
    }

    fn copy(&self, own: &AtomicU8, mut from: impl Read + Ends, mut to: impl Write + Ends) {
        let mut bytes = [0; 16 * 1024];
        loop {
            let state = self
                .state
                .load(Ordering::SeqCst)
                .max(own.load(Ordering::SeqCst));
            match state {
                UP => match from.read(&mut bytes) {
                    Ok(0) => break,
                    Ok(length) => {
                        // What was read while the wire went down has not arrived.
                        while self.state.load(Ordering::SeqCst) == SILENT {
                            thread::sleep(LOOKS);
                        }
                        if to.write_all(&bytes[..length]).is_err() {
                            break;
                        }
                    }
                    Err(error) if is_late(&error) => {}
                    Err(_) => break,
                },
                CUT | GONE => break,
                _ => thread::sleep(LOOKS),
            }
        }
        from.end();
        to.end();
    }
}

fn is_late(error: &std::io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted
    )
}

/// Both directions of a stream end.
trait Ends {
    fn end(&self);
}

impl Ends for TcpStream {
    fn end(&self) {
        let _ = self.shutdown(Shutdown::Both);
    }
}

impl Ends for UnixStream {
    fn end(&self) {
        let _ = self.shutdown(Shutdown::Both);
    }
}
