//! Why this daemon may not fire: said once when it begins, and once when it is over.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Shared by the loop and the jobs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Health(Arc<Mutex<Inner>>);

#[derive(Debug, Default)]
struct Inner {
    /// The database is beyond use. Nothing is written to it any more, until the next start.
    lost: Option<String>,
    /// The kind of trouble that was said last.
    said: Option<&'static str>,
}

impl Health {
    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The database is lost, and why; whether that is news.
    pub(crate) fn lose(&self, why: String) -> bool {
        let mut inner = self.inner();
        let news = inner.lost.is_none();
        inner.lost.get_or_insert(why);
        news
    }

    /// Why the database is lost.
    pub(crate) fn lost(&self) -> Option<String> {
        self.inner().lost.clone()
    }

    /// There is trouble of this kind; whether that is news.
    pub(crate) fn trouble(&self, kind: &'static str) -> bool {
        self.inner().said.replace(kind) != Some(kind)
    }

    /// Whether this is the trouble that was said last.
    pub(crate) fn is_troubled_by(&self, kind: &'static str) -> bool {
        self.inner().said == Some(kind)
    }

    /// There is none; the kind that is over now.
    pub(crate) fn well(&self) -> Option<&'static str> {
        self.inner().said.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_trouble_is_news_once() {
        let health = Health::default();
        assert_eq!(health.well(), None);
        assert!(health.trouble("no room"));
        assert!(!health.trouble("no room"));
        assert!(health.is_troubled_by("no room") && !health.is_troubled_by("locked"));
        assert!(health.trouble("locked"));
        assert_eq!(health.well(), Some("locked"));
        assert_eq!(health.well(), None);
        assert!(health.trouble("locked"));
    }

    #[test]
    fn what_is_lost_stays_lost() {
        let health = Health::default();
        assert!(health.lose("deleted".into()));
        assert!(!health.lose("something else".into()));
        assert_eq!(health.lost().as_deref(), Some("deleted"));
    }
}
