//! What becomes of a firing that another host took over while its own was taken for dead.
//!
//! It changes nothing outside any more: each push and each call that changes something on the forge asks for the
//! firing's epoch first. What its sessions made is no less worth for that: it goes to a branch of its own.

use std::convert::Infallible;
use std::time::Duration;

use carson_core::settle::Settled;
use carson_core::{Event, Outcome};
use tokio::task::JoinHandle;
use tracing::{debug, warn};

use crate::ctx::Ctx;
use crate::ended::Ended;
use crate::reached::Reached;
use crate::record::Record;
use crate::stages::{salvage, teardown};

/// How often a firing says that it lives, and looks whether it is still its own.
const LOOK: Duration = Duration::from_secs(3);

/// Keeps the lease of a running firing, and stops its sessions once it is fenced. Ends with this value.
pub(crate) struct Watch(Option<JoinHandle<()>>);

impl Watch {
    pub(crate) fn start(ctx: &Ctx<'_>) -> Self {
        if !ctx.store().has_leases() {
            return Self(None);
        }
        let (store, cancel) = (ctx.store().clone(), ctx.cancel.clone());
        let (id, epoch) = (ctx.id, ctx.epoch);
        Self(Some(tokio::spawn(async move {
            loop {
                match store.as_firing(id, epoch).keep_lease().await {
                    Ok(()) => {}
                    Err(error) if error.is_fenced() => {
                        warn!(firing.id = %id, "another host took this firing over: its session ends");
                        cancel.cancel();
                        return;
                    }
                    Err(error) => debug!(firing.id = %id, %error, "its lease was not renewed"),
                }
                tokio::time::sleep(LOOK).await;
            }
        })))
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        if let Some(task) = &self.0 {
            task.abort();
        }
    }
}

/// Puts the work of a fenced firing aside, where nobody else has anything: its row is concluded by who took it over.
pub(crate) async fn put_aside(ctx: &Ctx<'_>, rec: &Record, reached: &mut Reached<'_>) -> Ended {
    let why = "another host took it over: this one was taken for dead";
    let settled = Settled::new(Outcome::Crashed, why);
    if let Some(place) = &mut reached.place {
        place.aside = Some(format!("carson/fenced/{}", ctx.id));
        place.forget();
    }
    let saved = salvage::run(ctx, reached, &settled).await;
    let place = reached.place.as_ref();
    let aside = place.and_then(|place| place.aside.clone());
    let event = Event::FiringFenced {
        branch: saved.pushed.as_ref().and(aside),
        kept: saved.kept_ref.clone(),
        trouble: saved.trouble.clone(),
    };
    ctx.event(&event).await;
    let seen = teardown::last_look(rec, reached.place.as_mut()).await;
    // The row belongs to somebody else.
    let nothing = async { Ok::<_, Infallible>(()) };
    let place = (reached.place.as_ref(), seen);
    let done = teardown::once_ended(ctx, place, &saved, nothing).await;
    done.unwrap_or_else(|never| match never {});
    Ended {
        id: ctx.id,
        settled,
    }
}
