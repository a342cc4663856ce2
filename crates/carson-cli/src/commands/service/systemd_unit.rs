//! The unit file, for systemd of one user or of the whole machine.
//!
//! The files in deploy/ are made of the same text; a test compares them.

use crate::args::service::Credential;

/// What is different from place to place.
#[derive(Clone, Debug)]
pub struct Place<'a> {
    /// The program, by its path.
    pub program: &'a str,
    /// Carson's home, where it is not the user's `~/.carson`.
    pub home: Option<&'a str>,
    /// Where the agents' CLIs and tools are found.
    pub path: &'a str,
    /// The user of a service of the whole machine.
    pub user: Option<&'a str>,
    /// What a service of the whole machine is handed.
    pub credentials: &'a [Credential],
}

/// How a word of a directive may be read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reader {
    /// Of a command line: variables are put in.
    Exec,
    /// Of any other line.
    Plain,
}

/// The text.
///
/// # Errors
/// When a path has a character that no unit file can hold.
pub fn text(place: &Place<'_>) -> Result<String, String> {
    let program = word(place.program, Reader::Exec)?;
    let home = match place.home {
        Some(home) => format!(" --home {}", word(home, Reader::Exec)?),
        None => String::new(),
    };
    let path = word(&format!("PATH={}", place.path), Reader::Plain)?;
    let (head, after, who, walls, target) = match place.user {
        None => (OF_A_USER, "", String::new(), "", "default.target"),
        Some(user) => (
            OF_THE_MACHINE,
            AFTER_THE_NETWORK,
            handed(user, place.credentials)?,
            WALLS_OF_THE_MACHINE,
            "multi-user.target",
        ),
    };
    Ok(format!(
        "{head}
[Unit]
Description=Carson, a household of coding agents
{after}{START_LIMIT}
[Service]
Type=notify
NotifyAccess=main
{who}Environment={path}
ExecStart={program}{home} daemon
{SERVICE}{walls}
[Install]
WantedBy={target}
"
    ))
}

fn handed(user: &str, credentials: &[Credential]) -> Result<String, String> {
    let mut lines = format!("User={}\n", escaped(user, Reader::Plain)?);
    for Credential { name, file } in credentials {
        let file = escaped(file, Reader::Plain)?;
        lines.push_str(&format!("LoadCredential={name}:{file}\n"));
    }
    Ok(lines)
}

/// One word of a line, in quotes where it needs them.
fn word(text: &str, reader: Reader) -> Result<String, String> {
    let escaped = escaped(text, reader)?;
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/.-_:=%@+,~$".contains(&byte);
    Ok(match escaped.bytes().all(plain) {
        true => escaped,
        false => format!("\"{escaped}\""),
    })
}

/// systemd.unit(5) on specifiers, systemd.service(5) on command lines.
fn escaped(text: &str, reader: Reader) -> Result<String, String> {
    if text.chars().any(char::is_control) {
        return Err(format!(
            "{text:?} has a character that no unit file can hold"
        ));
    }
    let text = text.replace('\\', "\\\\").replace('"', "\\\"");
    let text = text.replace('%', "%%");
    Ok(match reader {
        Reader::Exec => text.replace('$', "$$"),
        Reader::Plain => text,
    })
}

const OF_A_USER: &str = "\
# Carson as a service of one user of the machine: `carson service install` writes it, and starts it. By hand: put
# it in ~/.config/systemd/user/carson.service, then
#   systemctl --user daemon-reload && systemctl --user enable --now carson
#   loginctl enable-linger \"$USER\"        # so that it runs while nobody is signed in
# As a service of the system it needs User= as well: never run it as root.
";

const OF_THE_MACHINE: &str = "\
# Carson as a service of the whole machine, as one user of it: `sudo carson service install --system USER` writes it,
# and starts it. As a template (carson@.service): systemctl enable --now carson@USER. Never run it as root.
";

const AFTER_THE_NETWORK: &str = "\
Wants=network-online.target
After=network-online.target
";

const START_LIMIT: &str = "\
# A home that cannot be used (a damaged database, broken settings) is not mended by trying again:
# five starts in ten minutes, then it stays down and `systemctl status` says why.
StartLimitIntervalSec=600
StartLimitBurst=5
";

const SERVICE: &str = r#"ExecReload=/bin/kill -HUP $MAINPID
Restart=on-failure
RestartSec=5
# The daemon feeds this only while its loop really turns.
WatchdogSec=120
# It waits for nothing on SIGTERM: firings go on alone, and the next daemon adopts them. So only
# the daemon itself is ended, and what runs below it is left alone.
KillMode=process
TimeoutStopSec=30

# Each session gets a group of its own below this one, for its limits and its end. A group whose
# children are limited may hold no process itself, so the daemon has to start in a group below too,
# or it could not be started while a session of the last one lives. Before systemd 254, which does
# not know the second line, the limits are let go when the daemon ends, and sessions that outlive it go on without.
Delegate=yes
DelegateSubgroup=carson-main
ExecStopPost=-/bin/sh -c 'systemctl --version | { read -r _ v _; [ "$$v" -ge 254 ]; } && exit; \
    cd /sys/fs/cgroup"$$(sed -n "s,^0::\\(.*\\)/.control$$,\\1,p" /proc/self/cgroup)" || exit; \
    for one in $$(cat cgroup.subtree_control); do echo "-$$one" >cgroup.subtree_control; done'
TasksMax=4096
OOMPolicy=continue
LimitNOFILE=65536

# What Carson writes is for its owner only, and a core dump would hold secrets.
UMask=0077
LimitCORE=0

# There is no PrivateTmp, ProtectHome, RestrictNamespaces, NoNewPrivileges or
# SystemCallFilter here on purpose (most others imply NoNewPrivileges in a user's manager): the
# sandbox around each session is made of user and mount namespaces, and an agent works with the
# operator's own tools. What holds a session is that sandbox and the hook, not this file.
"#;

const WALLS_OF_THE_MACHINE: &str = "\
# What no agent needs, though it found a way to root: it changes no program of the system, loads no module, sets
# no clock and ends no machine. Namespaces of its own have all of it within them.
ProtectSystem=true
CapabilityBoundingSet=~CAP_SYS_MODULE CAP_SYS_RAWIO CAP_SYS_TIME CAP_SYS_BOOT CAP_SYSLOG CAP_MAC_ADMIN CAP_MAC_OVERRIDE CAP_WAKE_ALARM CAP_BLOCK_SUSPEND
";

#[cfg(test)]
mod tests;
