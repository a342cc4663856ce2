//! A listening socket goes from the launcher to whoever serves it.

use std::io::{self, IoSlice, IoSliceMut, Write as _};
use std::net::TcpListener;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::time::{Duration, Instant};

use nix::fcntl::{FcntlArg, FdFlag, fcntl};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::socket::{ControlMessage, ControlMessageOwned, MsgFlags, recvmsg, sendmsg};

/// For somebody to wait there.
const PATIENCE: Duration = Duration::from_secs(5);

/// Between two attempts to reach whoever has not begun to wait.
const PAUSE: Duration = Duration::from_millis(1);

/// Waits on a new pathname socket for the launcher of a profile with
/// [`Network::Isolated`](crate::sandbox::Network::Isolated), and takes the socket that it listens
/// on. The path is removed again. To be called on a thread that may wait, before or after the
/// program is started.
///
/// # Errors
/// When the path is taken, nobody came in time, or [`nobody_comes`] was called.
pub fn receive_listener(path: &Path, within: Duration) -> io::Result<TcpListener> {
    let inbox = UnixListener::bind(path)?;
    let received = receive(&inbox, within);
    let _ = std::fs::remove_file(path);
    received
}

/// Ends the wait of [`receive_listener`] at this path, if somebody waits there.
pub fn nobody_comes(path: &Path) {
    // Nobody waits yet, or any more.
    let _ = UnixStream::connect(path).and_then(|mut stream| stream.write_all(b"."));
}

fn receive(inbox: &UnixListener, within: Duration) -> io::Result<TcpListener> {
    let until = Instant::now() + within;
    loop {
        wait(inbox, until)?;
        let (stream, _) = inbox.accept()?;
        wait(&stream, until)?;
        // A launcher that finds no namespaces goes away and comes again without.
        if let Some(listener) = taken(&stream)? {
            return Ok(listener);
        }
    }
}

fn taken(stream: &UnixStream) -> io::Result<Option<TcpListener>> {
    let mut byte = [0_u8; 1];
    let mut iov = [IoSliceMut::new(&mut byte)];
    let mut space = nix::cmsg_space!(RawFd);
    let flags = MsgFlags::empty();
    let message = recvmsg::<()>(stream.as_raw_fd(), &mut iov, Some(&mut space), flags)?;
    let fd = message.cmsgs()?.find_map(|one| match one {
        ControlMessageOwned::ScmRights(fds) => fds.first().copied(),
        _ => None,
    });
    let Some(fd) = fd.map(owned) else {
        // Whoever says something and brings nothing says that nobody will come.
        return match message.bytes {
            0 => Ok(None),
            _ => Err(io::Error::new(
                io::ErrorKind::Interrupted,
                "nobody will come",
            )),
        };
    };
    // Not every system does this on the way.
    fcntl(&fd, FcntlArg::F_SETFD(FdFlag::FD_CLOEXEC))?;
    Ok(Some(TcpListener::from(fd)))
}

#[expect(
    unsafe_code,
    reason = "a descriptor that has just arrived has no owner yet"
)]
fn owned(fd: RawFd) -> OwnedFd {
    // SAFETY: the kernel has just made this descriptor for us, and nobody else knows it.
    unsafe { OwnedFd::from_raw_fd(fd) }
}

fn wait(on: &impl std::os::fd::AsFd, until: Instant) -> io::Result<()> {
    let left = until.saturating_duration_since(Instant::now());
    let left = PollTimeout::try_from(left).unwrap_or(PollTimeout::MAX);
    match poll(&mut [PollFd::new(on.as_fd(), PollFlags::POLLIN)], left)? {
        0 => Err(io::Error::new(
            io::ErrorKind::TimedOut,
            "no launcher came with its listening socket",
        )),
        _ => Ok(()),
    }
}

/// Reaches whoever waits on this path; patient with those who do not yet.
pub(super) fn reach(path: &Path) -> io::Result<UnixStream> {
    let until = Instant::now() + PATIENCE;
    loop {
        match UnixStream::connect(path) {
            Ok(stream) => return Ok(stream),
            Err(error) if Instant::now() > until => return Err(error),
            Err(_) => std::thread::sleep(PAUSE),
        }
    }
}

/// Gives a listening socket away.
pub(super) fn give(stream: &UnixStream, listener: &TcpListener) -> io::Result<()> {
    let fds = [listener.as_raw_fd()];
    let message = [ControlMessage::ScmRights(&fds)];
    let iov = [IoSlice::new(b"L")];
    sendmsg::<()>(stream.as_raw_fd(), &iov, &message, MsgFlags::empty(), None)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};

    #[test]
    fn a_listener_arrives_and_serves() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("socket");
        let theirs = path.clone();
        let sender = std::thread::spawn(move || {
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            // One that comes with nothing first.
            drop(reach(&theirs).unwrap());
            give(&reach(&theirs).unwrap(), &listener).unwrap();
            listener.local_addr().unwrap()
        });
        let listener = receive_listener(&path, Duration::from_secs(20)).unwrap();
        let address = sender.join().unwrap();
        let mut client = std::net::TcpStream::connect(address).unwrap();
        client.write_all(b"hello").unwrap();
        drop(client);
        let mut said = String::new();
        listener
            .accept()
            .unwrap()
            .0
            .read_to_string(&mut said)
            .unwrap();
        assert_eq!(said, "hello");
        assert!(!path.exists());
    }

    #[test]
    fn who_never_comes_is_not_waited_for() {
        let dir = tempfile::tempdir().unwrap();
        let error = receive_listener(&dir.path().join("s"), Duration::from_millis(10));
        assert_eq!(error.unwrap_err().kind(), io::ErrorKind::TimedOut);
    }

    #[test]
    fn a_word_ends_the_wait_and_a_silent_visitor_does_not() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("inbox");
        let inbox = UnixListener::bind(&path).unwrap();
        drop(UnixStream::connect(&path).unwrap());
        nobody_comes(&path);
        // Both stand in line before anybody waits.
        let error = receive(&inbox, Duration::from_secs(60)).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::Interrupted);
    }
}
