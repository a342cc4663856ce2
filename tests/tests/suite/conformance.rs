//! The conformance kit: what docs/engines.md asks of an engine, asked of each real CLI with the scripted model.
//!
//! # Theory of operation
//! A *case* ([`cases`]) is one function for all engines: it lays a [`desk`], lets one session run through
//! `carson_engine::Engine::run` as a firing does, and looks at the end and at what the model was asked. What differs from
//! one engine to the next is its [`subjects::Subject`]: how it is started against the model, how its provider refuses,
//! and what it tells. [`firings`] are whole firings, with the walls around them.
//!
//! `tests/conformance.json` says by which test each cell of the table engine × case is shown, or which limit docs/engines.md
//! names there; [`table`] holds the three against each other. `cargo xtask conformance` runs all of them and prints the
//! table.
//!
//! Some are too slow for every run of the suite (opencode takes six seconds to start): they are marked `ignored`, and
//! `cargo xtask conformance` runs them too, and `.ci/run` whatever is so marked.

mod cases;
mod desk;
mod firings;
mod subjects;
mod table;

/// The cases of one engine, each a test; those behind `slow` wait for `cargo xtask conformance`.
macro_rules! of_engine {
    ($engine:ident: $($case:ident)*; slow: $($slow:ident)*) => {
        mod $engine {
            use super::{cases, subjects};

            $(
                #[test]
                fn $case() {
                    cases::$case(&subjects::$engine());
                }
            )*
            $(
                #[test]
                #[ignore = "slow: `cargo xtask conformance` runs it"]
                fn $slow() {
                    cases::$slow(&subjects::$engine());
                }
            )*
            pub const RUN: &[&str] = &[$(stringify!($case),)* $(stringify!($slow),)*];
        }
    };
}

of_engine!(claude: whole turns calls limit auth overload hang cut killed endless; slow:);
of_engine!(codex: whole turns calls limit auth overload hang cut killed endless; slow:);
of_engine!(gemini: whole turns calls limit auth endless; slow: overload hang cut killed);
of_engine!(opencode: endless repository; slow: whole turns calls limit auth overload hang cut killed);
of_engine!(command: whole turns calls limit auth endless; slow: overload hang cut killed);
of_engine!(agent: whole turns calls limit auth overload hang cut killed endless; slow:);

/// The tests that the macro made, by their whole names.
fn made() -> Vec<String> {
    let all = [
        ("claude", claude::RUN),
        ("codex", codex::RUN),
        ("gemini", gemini::RUN),
        ("opencode", opencode::RUN),
        ("command", command::RUN),
        ("agent", agent::RUN),
    ];
    let named = all.iter().flat_map(|(engine, cases)| {
        let name = move |case: &&str| format!("conformance::{engine}::{case}");
        cases.iter().map(name)
    });
    named.collect()
}
