//! Sessions of clients that need one (older ones than 2026-07-28). Some take no leave, Claude Code among them:
//! each of its runs would leave a session behind for an hour.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rmcp::transport::streamable_http_server::SessionManager;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;

/// How long a session may take to end.
const ENDS: Duration = Duration::from_secs(2);

/// When each was heard of last.
pub(super) struct Sessions {
    open: Arc<LocalSessionManager>,
    heard: Mutex<HashMap<String, Instant>>,
}

impl Sessions {
    pub(super) fn of(open: Arc<LocalSessionManager>) -> Self {
        Self {
            open,
            heard: Mutex::default(),
        }
    }

    /// One began.
    pub(super) fn began(&self, id: &str) {
        self.lock().insert(id.to_owned(), Instant::now());
    }

    /// Somebody speaks in one, if there is such a one.
    pub(super) fn heard(&self, id: &str) {
        if let Some(at) = self.lock().get_mut(id) {
            *at = Instant::now();
        }
    }

    /// One more is about to begin: where there are so many, the one that was silent longest ends.
    pub(super) async fn make_room(&self, most: usize) {
        let open = self.open.sessions.read().await;
        let ids: Vec<_> = open.keys().cloned().collect();
        drop(open);
        let now = Instant::now();
        let silent = {
            let mut heard = self.lock();
            heard.retain(|id, _| ids.iter().any(|open| **open == **id));
            // One that begins at this moment is not known yet, and not silent.
            let last = |id: &str| heard.get(id).copied().unwrap_or(now);
            ids.iter().min_by_key(|id| last(id)).cloned()
        };
        let Some(silent) = silent.filter(|_| ids.len() >= most) else {
            return;
        };
        tracing::debug!("MCP: {most} sessions are open; the one that was silent longest ends");
        // It is none from the first moment on, however long its own end takes.
        let _ = tokio::time::timeout(ENDS, self.open.close_session(&silent)).await;
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Instant>> {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
