//! What is served or listened to and cannot be at the moment: kept in rows, so that `carson status` says it.
//!
//! Faces tell it themselves, whenever they try; one task writes down what is so.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use carson_home::Home;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tracing::warn;

/// How soon what could not be written down is tried again.
const AGAIN: Duration = Duration::from_secs(10);

/// Told why a face is shut, or that it is not.
pub(crate) type Tell = Arc<dyn Fn(Option<&str>) + Send + Sync>;

type Shut = BTreeMap<&'static str, String>;

/// The faces of this daemon that are shut. Dropping it ends the writing.
pub(crate) struct Faces {
    shut: watch::Sender<Shut>,
    task: JoinHandle<()>,
}

impl Drop for Faces {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Faces {
    /// None is; what an earlier daemon left in the rows goes.
    pub(crate) fn start(home: Home) -> Self {
        let (shut, seen) = watch::channel(Shut::new());
        Self {
            shut,
            task: tokio::spawn(keep(home, seen)),
        }
    }

    /// What one face tells.
    pub(crate) fn tell(&self, name: &'static str) -> Tell {
        let shut = self.shut.clone();
        Arc::new(move |why| {
            shut.send_if_modified(|shut| match why {
                Some(why) => shut.insert(name, why.to_owned()).as_deref() != Some(why),
                None => shut.remove(name).is_some(),
            });
        })
    }
}

async fn keep(home: Home, mut seen: watch::Receiver<Shut>) {
    loop {
        let shut = seen.borrow_and_update().clone();
        let now = home.clock.now();
        match home.store.set_faces(&home.fleet.host, &shut, now).await {
            Ok(()) => {
                if seen.changed().await.is_err() {
                    return;
                }
            }
            Err(error) => {
                warn!(%error, "it cannot be written down which faces are shut");
                tokio::time::sleep(AGAIN).await;
            }
        }
    }
}
