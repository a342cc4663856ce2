//! The kernel's walls around one child tree.
//!
//! # Theory of operation
//!
//! A [`Profile`] says what a child tree may reach. [`Command::confined`](crate::Command::confined)
//! makes [`run`](crate::run) start the program through the *launcher*, which is our own executable
//! with `sandbox-launch` as its first argument ([`launch_if_asked`], the first thing in `main`). It
//! reads the profile, puts the walls up around itself one by one, writes the [`Level`] that it
//! reached beside the profile and becomes the program. A launcher rather than `pre_exec`, because
//! a fork of a large process is slow and may only call what is safe after a fork.
//!
//! What cannot be had on this kernel, for this user, is left out one step at a time, and
//! [`Level::weaker`] says so in words; a profile that is [`Demand::Required`] ends the launcher
//! with [`UNMET`] instead, and the program never starts.
//!
//! Reading order: [`Profile`], [`Level`], `launch.rs`, then one file per wall.

mod becoming;
mod call;
mod circumstances;
mod first;
mod foreground;
mod handover;
mod launch;
mod level;
mod macos;
mod overlay;
mod private;
mod probe;
mod profile;
mod resolve;
mod rlimits;
mod toolchains;
mod wait_child;
mod written;

#[cfg(not(target_os = "linux"))]
mod macos_launch;

#[cfg(target_os = "linux")]
pub(crate) mod cgroup;
#[cfg(not(target_os = "linux"))]
#[path = "sandbox/no_cgroup.rs"]
pub(crate) mod cgroup;
#[cfg(target_os = "linux")]
mod landlock;
#[cfg(target_os = "linux")]
mod launcher_protocol;
#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
mod membership;
#[cfg(target_os = "linux")]
mod mounts;
#[cfg(target_os = "linux")]
mod namespaces;
#[cfg(target_os = "linux")]
mod plan;
#[cfg(target_os = "linux")]
mod seccomp;
#[cfg(target_os = "linux")]
mod sys;
#[cfg(target_os = "linux")]
mod there;
#[cfg(target_os = "linux")]
mod weaknesses;

pub use becoming::UNMET;
pub(crate) use call::ASK_FIRST;
pub use call::{LAUNCH, Say, WRITTEN};
pub use cgroup::take_over_group;
pub use circumstances::{circumstances, rights};
pub use first::{First, NOT_BEGUN, Question};
pub use foreground::{ForegroundEnd, run_in_foreground};
pub use handover::{nobody_comes, receive_listener};
pub use launch::launch_if_asked;
pub use level::{CgroupLevel, Level, NetworkLevel, Ns};
pub use overlay::{Marks, Overlay, Upper};
pub(crate) use probe::launcher;
pub use probe::{believe, probe};
pub use profile::{Abi, Demand, Network, Profile, Resources};
pub use resolve::{ResolveError, Resolved, Ways, resolve};
pub use toolchains::Toolchains;
pub use wait_child::hold_signals;
