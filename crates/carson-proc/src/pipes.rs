//! The child's three pipes.

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout};

use crate::command::Stdin;
use crate::lines::Stream;

/// The two that we read.
pub(crate) struct Pipes {
    stdout: Option<ChildStdout>,
    stderr: Option<ChildStderr>,
    out_buffer: Vec<u8>,
    err_buffer: Vec<u8>,
}

impl Pipes {
    pub(crate) fn of(child: &mut Child) -> Self {
        Self {
            stdout: child.stdout.take(),
            stderr: child.stderr.take(),
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
async fn next<R: AsyncRead + Unpin>(pipe: &mut Option<R>, buffer: &mut [u8]) -> usize {
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

/// Writes the input, beside the reading. A child that stops reading is no error.
pub(crate) async fn feed(pipe: Option<ChildStdin>, stdin: &Stdin) {
    if let (Some(mut pipe), Stdin::Bytes(bytes)) = (pipe, stdin) {
        let _ = pipe.write_all(bytes).await;
    }
}
