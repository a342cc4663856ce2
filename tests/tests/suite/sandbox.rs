//! What a program in the sandbox can do: real attempts on a real kernel, as root and as an ordinary
//! user, on all of this kernel and on less.

mod cli;
mod outside;
mod places;
mod runs;

use std::collections::BTreeSet;

use carson_proc::sandbox::{Abi, Demand, Level, NetworkLevel, Ns};

use self::outside::{Outside, User, users};

/// What every program may do, on every kernel.
const WORK: [&str; 5] = [
    "read its own",
    "write its own",
    "read the system",
    "use a pair of sockets",
    "connect to a port",
];

fn set<'a>(names: impl IntoIterator<Item = &'a &'a str>) -> BTreeSet<String> {
    names.into_iter().map(|name| (*name).to_owned()).collect()
}

/// Runs all attempts; what was allowed is exactly this beside [`WORK`].
fn allowed(user: User, force: Abi, expected: &[&str]) -> Level {
    let mut outside = Outside::new(user);
    outside.profile.force = Some(force);
    let (allowed, level) = outside.attack();
    assert_eq!(
        allowed,
        set(WORK.iter().chain(expected)),
        "{user:?}, {level}"
    );
    level
}

fn says(level: &Level, what: &str) {
    let said = level.weaker.iter().any(|one| one.contains(what));
    assert!(said, "nothing about {what:?}: {:?}", level.weaker);
}

#[test]
fn on_a_full_kernel_nothing_outside_is_reached() {
    for user in users() {
        let level = allowed(
            user,
            Abi::default(),
            &["move its own", "use /tmp", "read /proc/self"],
        );
        assert_eq!(level.weaker, [""; 0]);
        assert_eq!(level.network, NetworkLevel::Ports);
        assert!(level.has(Ns::Pid) && level.has(Ns::Mount) && level.seccomp);
    }
}

#[test]
fn without_namespaces_files_and_processes_are_still_closed() {
    for user in users() {
        let force = Abi {
            namespaces: false,
            ..Abi::default()
        };
        let level = allowed(
            user,
            force,
            &[
                "move its own",
                "write what is read-only beneath",
                "read what is hidden",
                "read /proc/self",
                "stat a secret",
                "chmod a secret",
            ],
        );
        says(&level, "changed by chmod");
        says(&level, "no unix sockets at all");
        says(&level, "what is hidden");
        assert_eq!(level.namespaces, []);
    }
}

#[test]
fn with_the_first_landlock_mounts_close_what_it_does_not() {
    for user in users() {
        let force = Abi {
            landlock: 1,
            ..Abi::default()
        };
        let level = allowed(
            user,
            force,
            &[
                "use /tmp",
                "read /proc/self",
                "connect to an abstract socket",
                "connect to another port",
            ],
        );
        says(&level, "cannot be moved between directories");
        says(&level, "abstract unix sockets");
        says(&level, "network is not limited");
        assert_eq!(level.network, NetworkLevel::TcpOnly);
    }
}

#[test]
fn with_the_third_landlock_alone_it_says_what_is_open() {
    for user in users() {
        let force = Abi {
            landlock: 3,
            namespaces: false,
            ..Abi::default()
        };
        let level = allowed(
            user,
            force,
            &[
                "move its own",
                "write what is read-only beneath",
                "read what is hidden",
                "read /proc/self",
                "stat a secret",
                "chmod a secret",
                "connect to another port",
                "signal another",
            ],
        );
        says(&level, "can be signalled");
    }
}

#[test]
fn without_landlock_mounts_hold() {
    for user in users() {
        let force = Abi {
            landlock: 0,
            ..Abi::default()
        };
        let level = allowed(
            user,
            force,
            &[
                "move its own",
                "use /tmp",
                "read /proc/self",
                "connect to an abstract socket",
                "connect to another port",
            ],
        );
        says(&level, "no Landlock");
    }
}

#[test]
fn without_seccomp_it_says_that_calls_are_open() {
    for user in users() {
        let force = Abi {
            seccomp: false,
            ..Abi::default()
        };
        let level = allowed(
            user,
            force,
            &[
                "move its own",
                "use /tmp",
                "read /proc/self",
                "connect by MPTCP",
                "send a datagram",
                "open a vsock",
                "make a namespace",
                "read keys",
                "open by handle",
                "use io_uring",
            ],
        );
        says(&level, "system calls are not filtered");
        says(&level, "network is not limited");
        assert_eq!(level.network, NetworkLevel::Open);
    }
}

#[test]
fn what_is_required_and_not_there_is_not_started() {
    for user in users() {
        let mut outside = Outside::new(user);
        outside.profile.demand = Demand::Required;
        let (_, level) = outside.attack();
        assert_eq!(level.unmet(&outside.profile), None);

        let mut outside = Outside::new(user);
        outside.profile.demand = Demand::Required;
        outside.profile.force = Some(Abi {
            landlock: 0,
            seccomp: false,
            ..Abi::default()
        });
        let output = outside.start("touch", &[&outside.in_tree("started")]);
        assert_eq!(output.status.code(), Some(125));
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let expected = "sandbox required, not available: Landlock, seccomp, a limit of the network";
        assert!(said.contains(expected), "{said}");
        assert!(!outside.in_tree("started").exists());
        assert!(Level::read_beside(&outside.profile_path()).is_err());
    }
}

#[test]
fn with_nothing_at_all_it_runs_and_says_so() {
    let mut outside = Outside::new(User::Me);
    outside.profile.force = Some(Abi {
        landlock: 0,
        namespaces: false,
        seccomp: false,
        cgroup: false,
    });
    let (allowed, level) = outside.attack_leaving_scratch();
    for what in ["read a secret", "stat a secret", "connect to a unix socket"] {
        assert!(allowed.contains(what), "{allowed:?}");
    }
    says(&level, "whatever its user may");
    says(&level, "docker and ssh-agent");
    says(&level, "with their environment");
}
