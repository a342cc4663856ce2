//! A launcher that stands ready: it puts up what is the same around every program, and waits to hear which one comes.
//!
//! Most of what the walls cost is the same each time (this program's own start, the namespaces, the mounts of the system's
//! places), and is done while something else still runs. What comes later is as if it had been started then: the
//! mounts of its own, what it may not see, its bounds and filters.

use std::cell::OnceCell;
use std::io::{self, Write as _, stdin};
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::ExitCode;

use nix::unistd::{Pid, getppid};

use crate::gives_way::GivesWay;
use crate::sandbox::call::UNMET;
use crate::sandbox::cgroup;
use crate::sandbox::level::Level;
use crate::sandbox::linux::{ALONE, Launch, Then, begin_world, ended};
use crate::sandbox::membership::Membership;
use crate::sandbox::namespaces::{self, Outcome};
use crate::sandbox::order::{Received, hear_first};
use crate::sandbox::plan::Plan;

/// Stands ready for `supervisor` in all namespaces that there are until an order comes by standard input, and becomes its
/// program; ends when nobody is left who might give one. Who starts after an order was given, and its supervisor has died,
/// is not to carry it out. What cannot be had is tried anew with the order, as for any other.
pub(super) fn stand(supervisor: i32, cgroups: &[PathBuf]) -> Result<ExitCode, String> {
    let supervisor = Pid::from_raw(supervisor);
    if getppid() != supervisor {
        return Err(ALONE.to_owned());
    }
    let mut orders = orders().map_err(|error| format!("no place to wait at: {error}"))?;
    GivesWay::Session.begin();
    let expected = hear_first(&mut orders).map_err(|error| format!("nothing was said: {error}"))?;
    let expected = Plan::of(&expected);
    let membership = Membership::of(cgroups)?;
    let level = cgroup::level_of(cgroups);
    let of_order = |received: Received| {
        let fail = |error: io::Error| error.to_string();
        received.take_streams().map_err(fail)?;
        let order = received.order;
        let told = |error| format!("working directory {:?}: {error}", order.cwd);
        std::env::set_current_dir(&order.cwd).map_err(told)?;
        Launch::of(&order.profile.clone(), Then::Ordered(order))
    };
    let set = namespaces::attempts(true)
        .into_iter()
        .next()
        .unwrap_or_default();
    let ordered: OnceCell<Launch> = OnceCell::new();
    let inside = || {
        let begun = begin_world(&set, &expected)?;
        let received = Received::wait(&orders).map_err(|error| format!("no order: {error}"))?;
        let Some(received) = received else {
            std::process::exit(0);
        };
        let launch = of_order(received)?;
        ordered.get_or_init(|| launch).inside(&set, begun)
    };
    let program = || {
        let level = Level {
            cgroup: level,
            namespaces: set.clone(),
            ..Level::default()
        };
        ordered.get().map_or(UNMET, |launch| launch.behind(level))
    };
    let outcome = namespaces::run(&set, &membership, supervisor, inside, program);
    if matches!(outcome, Outcome::Unavailable(_)) {
        // Whoever has not given an order yet need not.
        let _ = (&orders).write_all(b"F");
    }
    // The first process inside has left it where it is.
    let received = Received::wait(&orders).map_err(|error| format!("no order: {error}"))?;
    let Some(received) = received else {
        return Ok(ExitCode::SUCCESS);
    };
    match outcome {
        Outcome::Done(code, left) => Ok(ended(&received.order.profile, (code, left))),
        Outcome::Unavailable(_) => {
            let profile = received.order.profile.clone();
            let launch = of_order(received)?.within(level, membership);
            let launch = launch.supervised_by(supervisor);
            Ok(ended(&profile, launch.everywhere()?))
        }
    }
}

/// Where orders come from: nothing that a program is started with.
fn orders() -> io::Result<UnixStream> {
    let orders = stdin().as_fd().try_clone_to_owned()?;
    nix::unistd::dup2_stdin(std::fs::File::open("/dev/null")?)?;
    Ok(UnixStream::from(orders))
}
