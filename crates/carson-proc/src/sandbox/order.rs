//! What a launcher that stands ready is told: the program that it is to become.
//!
//! It waits at one end of a socket, which is its standard input. First comes the profile of what every program gets
//! (its length in four bytes, then JSON), so that it can get that ready; later, once, one byte with four descriptors:
//! the order itself, and the program's standard streams. Nobody takes that message out: the first process inside and
//! the launcher, which begins anew where that fails, both look at it.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, IoSlice, IoSliceMut, Read, Write};
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::FileExt as _;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;

use nix::errno::Errno;
use nix::sys::memfd::{MFdFlags, memfd_create};
use nix::sys::socket::{ControlMessage, ControlMessageOwned, MsgFlags, recvmsg, sendmsg};

use crate::sandbox::handover;
use crate::sandbox::profile::Profile;

/// Bytes of the profile that comes first; it is ours, so this is against mistakes.
const MOST: u32 = 1 << 20;

/// What is to be started behind walls.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Order {
    /// The file of its profile.
    pub profile: PathBuf,
    /// Its working directory.
    pub cwd: PathBuf,
    /// The program.
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// Its whole environment.
    pub env: Vec<(OsString, OsString)>,
}

/// An order that came, with the program's standard streams.
pub(super) struct Received {
    pub order: Order,
    streams: [OwnedFd; 3],
}

impl Order {
    /// Gives it to the launcher that waits at the other end.
    pub(super) fn give(&self, to: &UnixStream, streams: [BorrowedFd<'_>; 3]) -> io::Result<()> {
        let file = memfd_create(c"order", MFdFlags::MFD_CLOEXEC)?;
        let mut file = File::from(file);
        file.write_all(&self.to_bytes())?;
        let [stdin, stdout, stderr] = streams.map(|stream| stream.as_raw_fd());
        let fds = [file.as_raw_fd(), stdin, stdout, stderr];
        let message = [ControlMessage::ScmRights(&fds)];
        let iov = [IoSlice::new(b"O")];
        let flags = MsgFlags::MSG_NOSIGNAL;
        sendmsg::<()>(to.as_raw_fd(), &iov, &message, flags, None)?;
        Ok(())
    }

    /// Its texts one behind the other, each with a NUL at its end, which none of them can have; how many arguments there
    /// are stands before these.
    fn to_bytes(&self) -> Vec<u8> {
        let number = self.args.len().to_string();
        let head = [
            self.profile.as_os_str().as_bytes(),
            self.cwd.as_os_str().as_bytes(),
            self.program.as_os_str().as_bytes(),
            number.as_bytes(),
        ];
        let args = self.args.iter().map(|arg| arg.as_bytes());
        let env = self.env.iter();
        let env = env.flat_map(|(name, value)| [name.as_bytes(), value.as_bytes()]);
        let texts = head.into_iter().chain(args).chain(env);
        texts
            .flat_map(|text| [text, b"\0"])
            .flatten()
            .copied()
            .collect()
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let bytes = bytes.strip_suffix(b"\0")?;
        let mut texts = bytes.split(|byte| *byte == 0);
        let mut text = || texts.next().map(|text| OsString::from_vec(text.to_owned()));
        let (profile, cwd, program) = (text()?, text()?, text()?);
        let number: usize = text()?.to_str()?.parse().ok()?;
        let args: Vec<OsString> = std::iter::from_fn(&mut text).take(number).collect();
        let mut env = Vec::new();
        while let Some(name) = text() {
            env.push((name, text()?));
        }
        (args.len() == number).then_some(Self {
            profile: profile.into(),
            cwd: cwd.into(),
            program: program.into(),
            args,
            env,
        })
    }
}

/// Says what every program gets, before there is any order.
pub(super) fn say_first(to: &mut UnixStream, common: &Profile) -> io::Result<()> {
    let text = serde_json::to_vec(common)?;
    let length = u32::try_from(text.len()).map_err(io::Error::other)?;
    to.write_all(&[length.to_le_bytes().as_slice(), &text].concat())
}

/// Hears what every program gets.
pub(super) fn hear_first(from: &mut UnixStream) -> io::Result<Profile> {
    let mut length = [0_u8; 4];
    from.read_exact(&mut length)?;
    let length = u32::from_le_bytes(length);
    if length > MOST {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut text = vec![0; usize::try_from(length).map_err(io::Error::other)?];
    from.read_exact(&mut text)?;
    Ok(serde_json::from_slice(&text)?)
}

impl Received {
    /// Waits for it; `None` when whoever might have given one is gone.
    pub(super) fn wait(at: &UnixStream) -> io::Result<Option<Self>> {
        let mut byte = [0_u8; 1];
        let mut iov = [IoSliceMut::new(&mut byte)];
        let mut space = nix::cmsg_space!([RawFd; 4]);
        let flags = MsgFlags::MSG_PEEK | MsgFlags::MSG_CMSG_CLOEXEC;
        let message = loop {
            match recvmsg::<()>(at.as_raw_fd(), &mut iov, Some(&mut space), flags) {
                Err(Errno::EINTR) => {}
                other => break other?,
            }
        };
        if message.bytes == 0 {
            return Ok(None);
        }
        let fds = message.cmsgs()?.find_map(|one| match one {
            ControlMessageOwned::ScmRights(fds) => Some(fds),
            _ => None,
        });
        let fds: Vec<OwnedFd> = { fds.into_iter().flatten() }.map(handover::owned).collect();
        let [order, stdin, stdout, stderr] =
            <[OwnedFd; 4]>::try_from(fds).map_err(|_| io::ErrorKind::InvalidData)?;
        Ok(Some(Self {
            order: read(&File::from(order))?,
            streams: [stdin, stdout, stderr],
        }))
    }

    /// Makes the program's standard streams ours.
    pub(super) fn take_streams(&self) -> io::Result<()> {
        let [stdin, stdout, stderr] = &self.streams;
        nix::unistd::dup2_stdin(stdin)?;
        nix::unistd::dup2_stdout(stdout)?;
        nix::unistd::dup2_stderr(stderr)?;
        Ok(())
    }
}

/// Two processes read it: neither may move the place at which the other reads.
fn read(file: &File) -> io::Result<Order> {
    let length = usize::try_from(file.metadata()?.len()).map_err(io::Error::other)?;
    let mut bytes = vec![0; length];
    file.read_exact_at(&mut bytes, 0)?;
    Order::from_bytes(&bytes).ok_or_else(|| io::ErrorKind::InvalidData.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsFd as _;

    fn order() -> Order {
        Order {
            profile: "/p q".into(),
            cwd: "/".into(),
            program: "/bin/x".into(),
            args: vec![
                "".into(),
                "two\nlines".into(),
                OsString::from_vec(vec![0xff, b'=']),
                "".into(),
            ],
            env: vec![("A".into(), "".into()), ("B=".into(), "c".into())],
        }
    }

    #[test]
    fn orders_are_read_as_they_were_written() {
        let bare = Order {
            args: Vec::new(),
            env: Vec::new(),
            ..order()
        };
        let without_env = Order {
            env: Vec::new(),
            ..order()
        };
        for order in [order(), bare, without_env] {
            assert_eq!(Order::from_bytes(&order.to_bytes()), Some(order));
        }
        let bytes = order().to_bytes();
        for cut in 0..bytes.len() {
            // Whatever is left is no order, or a shorter one: nothing breaks.
            let _ = Order::from_bytes(&bytes[..cut]);
        }
        assert_eq!(Order::from_bytes(b"/p\0/\0/x\0\x32\0one\0"), None);
    }

    #[test]
    fn who_waits_hears_it_as_often_as_it_looks_and_at_last_that_nobody_is_there() {
        let (mut ours, mut theirs) = UnixStream::pair().unwrap();
        let common = Profile {
            read: vec!["/usr".into()],
            ..Profile::default()
        };
        say_first(&mut ours, &common).unwrap();
        let (out, mut said) = UnixStream::pair().unwrap();
        let null = File::open("/dev/null").unwrap();
        let streams = [null.as_fd(), out.as_fd(), null.as_fd()];
        order().give(&ours, streams).unwrap();
        drop(out);
        assert_eq!(hear_first(&mut theirs).unwrap(), common);
        for word in [b"one", b"two"] {
            let received = Received::wait(&theirs).unwrap().unwrap();
            assert_eq!(received.order, order());
            UnixStream::from(received.streams[1].try_clone().unwrap())
                .write_all(word)
                .unwrap();
        }
        // What nobody took out is gone with the socket, and the stream has an end.
        drop(theirs);
        let mut all = String::new();
        said.read_to_string(&mut all).unwrap();
        assert_eq!(all, "onetwo");
        let (ours, theirs) = UnixStream::pair().unwrap();
        drop(ours);
        assert!(Received::wait(&theirs).unwrap().is_none());
    }
}
