//! The child's three standard streams.

use std::fs::File;
use std::io;
use std::net::Shutdown;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream as StdStream;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::process::{ChildStderr, ChildStdin, ChildStdout};
use tokio::sync::mpsc;

use crate::command::{Output, Stdin};
use crate::lines::Stream;

type Reader = Box<dyn AsyncRead + Send + Unpin>;

/// Our ends of a child's standard streams.
pub(crate) struct Ours {
    stdin: Option<OwnedFd>,
    stdout: OwnedFd,
    stderr: OwnedFd,
    output: Output,
}

/// The child's ends. They are to be closed once it has them: an output has an end only when nobody holds it.
pub(crate) struct Theirs {
    pub stdin: OwnedFd,
    pub stdout: OwnedFd,
    pub stderr: OwnedFd,
}

/// Both ends of what a child reads and prints.
pub(crate) fn ends(stdin: &Stdin, output: Output) -> io::Result<(Ours, Theirs)> {
    let (stdin, to_read) = match stdin {
        Stdin::Null => (None, OwnedFd::from(File::open("/dev/null")?)),
        Stdin::Bytes(_) | Stdin::Sent => {
            let (read, write) = io::pipe()?;
            (Some(OwnedFd::from(write)), OwnedFd::from(read))
        }
    };
    let output_ends = || match output {
        Output::Pipes => io::pipe().map(|(read, write)| (read.into(), write.into())),
        Output::Sockets => socket(),
    };
    let ((stdout, to_print), (stderr, to_complain)) = (output_ends()?, output_ends()?);
    let ours = Ours {
        stdin,
        stdout,
        stderr,
        output,
    };
    let theirs = Theirs {
        stdin: to_read,
        stdout: to_print,
        stderr: to_complain,
    };
    Ok((ours, theirs))
}

impl Ours {
    /// What is written to it, and what is read of it.
    pub(crate) fn open(self) -> io::Result<(Option<ChildStdin>, Pipes)> {
        let stdin = self.stdin.map(std::process::ChildStdin::from);
        let stdin = stdin.map(ChildStdin::from_std).transpose()?;
        let (stdout, stderr): (Reader, Reader) = match self.output {
            Output::Pipes => (
                Box::new(ChildStdout::from_std(self.stdout.into())?),
                Box::new(ChildStderr::from_std(self.stderr.into())?),
            ),
            Output::Sockets => (
                Box::new(UnixStream::from_std(self.stdout.into())?),
                Box::new(UnixStream::from_std(self.stderr.into())?),
            ),
        };
        Ok((stdin, Pipes::of(Some(stdout), Some(stderr))))
    }
}

/// Our end and the child's. Nothing can be sent to the child by it.
fn socket() -> io::Result<(OwnedFd, OwnedFd)> {
    let (ours, theirs) = StdStream::pair()?;
    ours.shutdown(Shutdown::Write)?;
    ours.set_nonblocking(true)?;
    Ok((ours.into(), theirs.into()))
}

/// The two that we read.
pub(crate) struct Pipes {
    stdout: Option<Reader>,
    stderr: Option<Reader>,
    out_buffer: Vec<u8>,
    err_buffer: Vec<u8>,
}

impl Pipes {
    fn of(stdout: Option<Reader>, stderr: Option<Reader>) -> Self {
        Self {
            stdout,
            stderr,
            out_buffer: vec![0; 64 * 1024],
            err_buffer: vec![0; 16 * 1024],
        }
    }

    /// Whether anybody can still write to one of them.
    pub(crate) fn are_open(&self) -> bool {
        self.stdout.is_some() || self.stderr.is_some()
    }

    /// The next bytes of either; none at the end of one. Nothing is lost when this is dropped.
    pub(crate) async fn read(&mut self) -> (Stream, &[u8]) {
        tokio::select! {
            read = next(&mut self.stdout, &mut self.out_buffer) => {
                (Stream::Stdout, &self.out_buffer[..read])
            }
            read = next(&mut self.stderr, &mut self.err_buffer) => {
                (Stream::Stderr, &self.err_buffer[..read])
            }
        }
    }
}

/// Reads the next bytes; forgets the pipe at its end.
async fn next(pipe: &mut Option<Reader>, buffer: &mut [u8]) -> usize {
    let Some(reader) = pipe else {
        return std::future::pending().await;
    };
    match reader.read(buffer).await {
        Ok(read) if read > 0 => read,
        _ => {
            *pipe = None;
            0
        }
    }
}

/// Writes the input once it is there, beside the reading. A child that stops reading is no error.
pub(crate) async fn feed(pipe: Option<ChildStdin>, input: impl Future<Output = Vec<u8>>) {
    let Some(mut pipe) = pipe else { return };
    let _ = pipe.write_all(&input.await).await;
}

/// Writes what is sent, until nobody is left to send.
pub(crate) async fn feed_as_it_comes(pipe: Option<ChildStdin>, mut sent: mpsc::Receiver<Vec<u8>>) {
    let Some(mut pipe) = pipe else { return };
    while let Some(bytes) = sent.recv().await {
        if pipe.write_all(&bytes).await.is_err() {
            return;
        }
    }
}
