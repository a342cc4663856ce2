//! The supervisor: when to fire, and whether.
//!
//! # Theory of operation
//!
//! One task owns everything and goes round one loop ([`daemon::run`]): look which slots are due,
//! ask admission, claim, start a process; then sleep until the next due instant. Whatever wakes it
//! (the precise timer, the minute's alarm clock, an ended firing, a changed file, a signal) says
//! only "look now"; every pass reads the facts again, so a wake-up too many is harmless and one
//! too few costs at most a minute.
//!
//! A firing is a process that outlives the daemon. Its end is learned by `waitpid` where it is our
//! child and by its row in any case; a daemon that starts finds the firings of the one before it
//! in the store and leaves them alone while they live. Dead ones are concluded by
//! [`carson_firing::recover`].
//!
//! Beside the loop run the housekeeping jobs ([`jobs`]): recovery, pruning, the outbox, backups.
//! Each takes no input, is bounded, and leaves a row that says how it went.
//!
//! What the daemon stands on may fail: a full disk, a database that is locked, deleted or damaged.
//! Then nothing is claimed, slots stay due, it is said once, and it goes on when it may
//! ([`health`]). Where the settings say so, tools are served to clients of this machine ([`mcp`]), a page to browsers ([`page`]),
//! people are listened to in Slack ([`chat`]), numbers and signs of life are told ([`metrics`]), and our own embedder is kept running ([`embedder`]). That the
//! loop itself turns is what the watchdog and the heartbeat ask ([`watchdog`]).
//!
//! Reading order: `disk_wait.rs`, `daemon.rs`, `due.rs`, `wall_clock_timer.rs`, `alarm_clock.rs`, `reload.rs`, `health.rs`,
//! `watchdog.rs`, `jobs.rs`, `outbox.rs`, `faces.rs`, `served.rs`, `mcp.rs`, `page.rs`, `chat.rs`,
//! `metrics.rs`, `embedder.rs`.

mod alarm_clock;
mod chat;
mod daemon;
mod disk_wait;
mod due;
mod embedder;
mod faces;
mod health;
mod heartbeat_url;
mod jobs;
mod lease;
mod lock;
mod mcp;
mod metrics;
mod operator_alert;
mod outbox;
mod page;
mod reload;
mod served;
mod wall_clock_timer;
mod watchdog;

pub use daemon::{DaemonError, Start, hang_ups, run};
pub use disk_wait::wait_for_disk;
pub use lock::{DaemonLock, LockError};
pub use outbox::Poster;
