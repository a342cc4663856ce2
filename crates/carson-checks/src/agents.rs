//! Agent CLIs, before any account names one.

use carson_engine::{installed, named_clis};

use crate::Verdict;

pub(crate) fn found() -> Verdict {
    let names = |all: Vec<(_, &'static str)>| {
        let all: Vec<&str> = all.into_iter().map(|(_, program)| program).collect();
        all.join(", ")
    };
    match installed() {
        none if none.is_empty() => {
            Verdict::warning(format!("none of {} is on PATH", names(named_clis())))
        }
        some => Verdict::ok(format!("{} on PATH", names(some))),
    }
}
