//! macOS: the same intent as a profile for `sandbox-exec`. Made everywhere, used there; not run by
//! our tests, which have no such machine.

#![cfg_attr(
    not(any(target_os = "macos", test)),
    expect(dead_code, reason = "a pure function, kept compiling everywhere")
)]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::{Path, PathBuf};

use crate::sandbox::profile::{Network, Profile};

/// What every program needs of the system beside files.
const BASE: &str = "\
(version 1)
(deny default)
(allow process-exec process-fork)
(allow signal process-info* (target same-sandbox))
(allow sysctl-read)
(allow pseudo-tty)
(allow ipc-posix-sem)
(allow mach-lookup
  (global-name \"com.apple.system.notification_center\")
  (global-name \"com.apple.system.opendirectoryd.libinfo\")
  (global-name \"com.apple.trustd\")
  (global-name \"com.apple.trustd.agent\"))
(allow file-read* file-write-data file-ioctl
  (literal \"/dev/null\")
  (literal \"/dev/zero\")
  (literal \"/dev/random\")
  (literal \"/dev/urandom\")
  (literal \"/dev/tty\")
  (literal \"/dev/ptmx\")
  (regex #\"^/dev/ttys[0-9]+$\"))
(allow file-read* (subpath \"/dev/fd\"))
";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Grant {
    Hide,
    Read,
    Write,
}

/// The text of a profile whose paths have no links in them. Of two rules the later one counts, so
/// that what is beneath comes behind what is above.
pub(super) fn seatbelt(profile: &Profile) -> String {
    let mut grants = BTreeMap::new();
    for (paths, grant) in [
        (&profile.hide, Grant::Hide),
        (&profile.read, Grant::Read),
        (&profile.write, Grant::Write),
    ] {
        grants.extend(paths.iter().map(|path| (path.clone(), grant)));
    }
    let mut text = BASE.to_owned();
    for (path, grant) in &grants {
        let rules: &[&str] = match grant {
            Grant::Hide => &["deny file-read* file-write*"],
            Grant::Read => &["allow file-read*", "deny file-write*"],
            Grant::Write => &["allow file-read* file-write*"],
        };
        for rule in rules {
            // Writing to a text does not fail.
            let _ = writeln!(text, "({rule} (subpath {}))", quoted(path));
        }
    }
    // Behind what is hidden: the way to what is granted beneath leads through it.
    text.push_str(&ways_there(grants.keys()));
    text.push_str(&network(&profile.network));
    text
}

/// Everything above a path can be looked at, but not listed.
fn ways_there<'p>(paths: impl Iterator<Item = &'p PathBuf>) -> String {
    let above: BTreeSet<&Path> = paths.flat_map(|path| path.ancestors().skip(1)).collect();
    let literals: Vec<String> = above
        .into_iter()
        .map(|path| format!("\n  (literal {})", quoted(path)))
        .collect();
    if literals.is_empty() {
        return String::new();
    }
    format!("(allow file-read-metadata{})\n", literals.concat())
}

fn network(network: &Network) -> String {
    let local = "(allow network-bind network-inbound (local ip \"localhost:*\"))\n";
    let to = |remote: String| format!("(allow network-outbound (remote tcp \"{remote}\"))\n");
    match network {
        // Sockets in the file system are still closed, but for the one that resolves names.
        Network::Open | Network::Shared => "(allow system-socket network*)\n\
                          (deny network-outbound (remote unix-socket))\n\
                          (allow network-outbound (literal \"/private/var/run/mDNSResponder\"))\n"
            .to_owned(),
        Network::Ports(ports) => {
            let ports = ports.iter().map(|port| to(format!("*:{port}")));
            ports.fold(local.to_owned(), |text, rule| text + &rule)
        }
        Network::Nobody => String::new(),
        Network::Isolated { proxy, .. } => local.to_owned() + &to(format!("localhost:{proxy}")),
    }
}

/// A text of the profile language.
fn quoted(path: &Path) -> String {
    let text = path.to_string_lossy();
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn profile(network: Network) -> Profile {
        Profile {
            read: vec![
                "/usr".into(),
                "/bench/tree/.git".into(),
                "/Users/op/tools".into(),
            ],
            write: vec!["/bench/tree".into(), "/bench/a \"quoted\" \\ path".into()],
            hide: vec!["/Users/op".into()],
            network,
            ..Profile::default()
        }
    }

    #[test]
    fn files() {
        insta::assert_snapshot!(seatbelt(&profile(Network::Open)));
    }

    #[test]
    fn networks() {
        let isolated = Network::Isolated {
            proxy: 8080,
            socket: "/bench/socket".into(),
        };
        let ports = Network::Ports(vec![443, 22]);
        for (name, wanted) in [("isolated", isolated), ("ports", ports)] {
            insta::assert_snapshot!(name, network(&wanted));
        }
    }
}
