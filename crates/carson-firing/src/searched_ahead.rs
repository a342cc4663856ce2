//! The search for secrets, begun while checks and reviews of the same commit still run: its answer is there
//! when the work may leave. It counts only for exactly what is asked then.

use std::sync::Arc;

use carson_git::Seen;
use carson_proc::inspector::{Bounds, Desk, Inspector};
use tokio::task::JoinHandle;

use crate::search::{Search, Searched};

/// How long a search may take.
const WITHIN: std::time::Duration = std::time::Duration::from_secs(60);
/// Bytes up to which it is begun beside other work.
const SMALL: u64 = 8 << 20;

/// A search that runs. Dropping it ends it.
pub(crate) struct Ahead {
    question: Search,
    answer: JoinHandle<Result<Searched, String>>,
}

impl Ahead {
    /// Begins; `None` where there is too much to be searched beside other work.
    pub(crate) fn begin(inspector: &Inspector, seen: &Arc<Seen>, question: Search) -> Option<Self> {
        let size = question.outgoing.metadata().ok()?.len();
        if size > SMALL {
            return None;
        }
        let (inspector, seen, asked) = (inspector.clone(), Arc::clone(seen), question.clone());
        let answer = tokio::spawn(async move { search(&inspector, &seen, &asked).await });
        Some(Self { question, answer })
    }

    /// The answer to this question; `None` when another one was asked, or it did not come to one.
    pub(crate) async fn answer_to(mut self, question: &Search) -> Option<Searched> {
        if self.question != *question {
            return None;
        }
        (&mut self.answer).await.ok()?.ok()
    }
}

impl Drop for Ahead {
    fn drop(&mut self) {
        self.answer.abort();
    }
}

/// Asks, and waits for the answer.
pub(crate) async fn search(
    inspector: &Inspector,
    seen: &Seen,
    question: &Search,
) -> Result<Searched, String> {
    let desk = Desk {
        own: seen.dir().ok_or("the bench is gone")?.to_owned(),
        read: vec![question.outgoing.clone()],
        ..Desk::default()
    };
    let bounds = Bounds {
        wall_clock: WITHIN,
        memory_mb: 2048,
        file_size_mb: 1,
        answer: 4 << 20,
    };
    let searched = inspector.ask(question, &desk, &bounds).await;
    searched.map_err(|error| error.to_string())
}
