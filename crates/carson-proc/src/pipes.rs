//! The child's three standard streams.

use std::io;
use std::net::Shutdown;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream as StdStream;
use std::process::Stdio;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::process::{Child, ChildStdin, Command};
use tokio::sync::mpsc;

use crate::command::Output;
use crate::lines::Stream;

type Reader = Box<dyn AsyncRead + Send + Unpin>;

/// Our ends of a child's output, before it is started.
pub(crate) enum Ends {
    Pipes,
    Sockets {
        stdout: StdStream,
        stderr: StdStream,
    },
}

impl Ends {
    /// Gives the child the other ends. They stay open for as long as `builder` lives.
    pub(crate) fn give(output: Output, builder: &mut Command) -> io::Result<Self> {
        if output == Output::Pipes {
            builder.stdout(Stdio::piped()).stderr(Stdio::piped());
            return Ok(Self::Pipes);
        }
        let ((stdout, theirs), (stderr, others)) = (socket()?, socket()?);
        builder.stdout(theirs).stderr(others);
        Ok(Self::Sockets { stdout, stderr })
    }

    /// The ends, to be read.
    pub(crate) fn open(self, child: &mut Child) -> io::Result<Pipes> {
        Ok(match self {
            Self::Pipes => Pipes::of(
                child.stdout.take().map(|pipe| Box::new(pipe) as Reader),
                child.stderr.take().map(|pipe| Box::new(pipe) as Reader),
            ),
            Self::Sockets { stdout, stderr } => Pipes::of(
                Some(Box::new(UnixStream::from_std(stdout)?)),
                Some(Box::new(UnixStream::from_std(stderr)?)),
            ),
        })
    }
}

/// Our end and the child's. Nothing can be sent to the child by it.
fn socket() -> io::Result<(StdStream, Stdio)> {
    let (ours, theirs) = StdStream::pair()?;
    ours.shutdown(Shutdown::Write)?;
    ours.set_nonblocking(true)?;
    Ok((ours, Stdio::from(OwnedFd::from(theirs))))
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
