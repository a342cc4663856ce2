//! Claims a second by the call that the daemon claims with: `claims URL CLIENTS SECONDS TOGETHER`.
//!
//! Each client is a store of its own, as each host has one, and claims so many slots together, each of another
//! role, as a daemon does with those that are due in one moment: nobody stands in anybody's way but in the database.
//! A role runs one firing, so every claim makes a row that lives until the database goes. `cargo xtask bench scale` starts it on a new one.

#![expect(clippy::print_stdout, reason = "it prints its figure")]

use std::time::{Duration, Instant};

use carson_core::{Clock, FiringId};
use carson_store::{Claim, NewFiring, Store};
use chrono::TimeDelta;

/// Nothing here is told apart: whatever fails is printed, and the program ends.
type Failure = Box<dyn std::error::Error + Send + Sync>;

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [url, clients, seconds, together] = args.as_slice() else {
        return Err("usage: claims URL CLIENTS SECONDS TOGETHER".into());
    };
    let (clients, seconds): (u32, u64) = (clients.parse()?, seconds.parse()?);
    let together: u64 = together.parse()?;
    let mut stores = Vec::new();
    for _ in 0..clients {
        stores.push(Store::open(url).await?);
    }
    let until = Instant::now() + Duration::from_secs(seconds);
    let tasks: Vec<_> = (0..)
        .zip(stores)
        .map(|(client, store): (u32, Store)| tokio::spawn(claims(store, (client, together), until)))
        .collect();
    let mut claimed = 0;
    for task in tasks {
        claimed += task.await??;
    }
    println!("{claimed}");
    Ok(())
}

/// How many slots this client claimed until then.
async fn claims(
    store: Store,
    (client, together): (u32, u64),
    until: Instant,
) -> Result<u64, Failure> {
    let mut claimed = 0;
    let clock = Clock::system();
    // Runs on one database must not meet each other's roles.
    let run = FiringId::new().short();
    while Instant::now() < until {
        let now = clock.now();
        let mut due = Vec::new();
        for number in claimed..claimed + together {
            due.push(NewFiring {
                id: FiringId::new(),
                role: format!("role-{run}-{client}-{number}").parse()?,
                slot: Some(now),
                host: format!("host-{client}").parse()?,
                account: None,
                deadline_at: now + TimeDelta::hours(1),
                claimed_at: now,
                missed: 0,
                repo: None,
                work: None,
                probes: None,
            });
        }
        let claims = store.claim_firings(&due).await?;
        if let Some(lost) = claims.iter().find(|claim| **claim != Claim::Won) {
            return Err(format!("a slot that nobody else wants was not won: {lost:?}").into());
        }
        claimed += together;
    }
    Ok(claimed)
}
