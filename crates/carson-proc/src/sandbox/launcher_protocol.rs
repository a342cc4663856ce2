//! What the first process in the namespaces and the launcher tell each other.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsFd, OwnedFd};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::prctl;
use nix::sys::signal::Signal;

use crate::sandbox::wait_child::End;

/// What goes through the pipe from the first process inside to the launcher.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Message {
    /// The walls that it puts up are not to be had.
    Failed(String),
    /// The program has ended, and has left so many behind.
    Ended(End, u32),
}

impl Message {
    pub(super) fn send(&self, pipe: OwnedFd) {
        let text = match self {
            Self::Failed(why) => format!("failed {why}"),
            Self::Ended(End::Code(code), left) => format!("code {code} {left}"),
            Self::Ended(End::Signal(signal), left) => format!("signal {signal} {left}"),
        };
        let _ = File::from(pipe).write_all(text.as_bytes());
    }

    /// Whether somebody is there to hear it.
    pub(super) fn has_reader(pipe: &OwnedFd) -> bool {
        let mut poll_fd = [PollFd::new(pipe.as_fd(), PollFlags::empty())];
        poll(&mut poll_fd, PollTimeout::ZERO) == Ok(0)
    }

    /// Reads to the end; `None` if it was killed before it could send anything.
    pub(super) fn receive(pipe: OwnedFd) -> Option<Self> {
        let mut text = String::new();
        File::from(pipe).read_to_string(&mut text).ok()?;
        Self::parse(&text)
    }

    fn parse(text: &str) -> Option<Self> {
        let (kind, rest) = text.split_once(' ')?;
        if kind == "failed" {
            return Some(Self::Failed(rest.to_owned()));
        }
        let (number, left) = rest.split_once(' ')?;
        let (number, left) = (number.parse().ok()?, left.parse().ok()?);
        match kind {
            "code" => Some(Self::Ended(End::Code(number), left)),
            "signal" => Some(Self::Ended(End::Signal(number), left)),
            _ => None,
        }
    }
}

/// Kills us when our parent ends, or at once if it has ended before this was said.
pub(super) fn die_with_parent(parent_is_there: impl FnOnce() -> bool) {
    let _ = prctl::set_pdeathsig(Signal::SIGKILL);
    if !parent_is_there() {
        std::process::exit(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_arrive_as_they_were_sent() {
        for message in [
            Message::Failed("proc: not permitted".into()),
            Message::Ended(End::Code(7), 0),
            Message::Ended(End::Signal(9), 12),
        ] {
            let (read, write) = nix::unistd::pipe().unwrap();
            message.send(write);
            assert_eq!(Message::receive(read), Some(message));
        }
        let (read, write) = nix::unistd::pipe().unwrap();
        drop(write);
        assert_eq!(Message::receive(read), None);
    }
}
