//! What the attempts of a loop did.

use carson_config::McpGrant;
use carson_loop::api::{self, Entry, History};
use carson_loop::meta::Checked;
use carson_loop::place::Place;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::answer::MOST;
use crate::bounds::{TEXT, cut};
use crate::desk::Desk;
use crate::refused::Refused;
use crate::tool::{Call, ENTRIES};

/// How many attempts are told, where nobody says.
const USUAL: u32 = 10;
/// Bytes of an attempt in an answer, beside what was printed.
const META: usize = 1_100;
/// Bytes that are left of what was printed, however many attempts there are.
const LEAST: usize = 160;

/// Which loop, and how many attempts.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct LoopHistory {
    /// The directory of the loop, or one below it; without it the one that the server was started in.
    directory: Option<String>,
    /// At most so many attempts, the newest.
    #[serde(default = "usual")]
    #[schemars(range(min = 1, max = 50))]
    limit: u32,
}

fn usual() -> u32 {
    USUAL
}

/// The attempts.
#[derive(Debug, Serialize)]
pub(crate) struct Attempts {
    /// The check before the first one.
    first_check: Option<Checked>,
    /// The newest first.
    attempts: Vec<Entry>,
    /// Those before them.
    older: usize,
    /// Those that another program made, of which only the number is known.
    adopted: u32,
}

impl Call for LoopHistory {
    const NAME: &'static str = "loop_history";
    const ALSO: Option<&'static str> = Some("alpf_history");
    const WHAT: &'static str = "What did the loop's attempts do? For each, the newest first: how it ended, and the beginning \
         and the end of what its task and the promise printed. Reads only.";
    const GRANT: Option<McpGrant> = None;
    type Answer = Attempts;

    async fn answer(self, desk: &Desk) -> Result<Attempts, Refused> {
        if !(1..=ENTRIES).contains(&self.limit) {
            return Err(Refused::Argument {
                name: "limit",
                problem: format!("it is 1 to {ENTRIES}"),
            });
        }
        let place = desk.loop_in(self.directory.as_deref())?;
        desk.aside(move || {
            let history = api::history(&place, Some(self.limit as usize))?;
            Ok(told(history, &place))
        })
        .await
    }
}

/// The newest first, each with as much of what was printed as there is room for.
fn told(history: History, place: &Place) -> Attempts {
    let mut attempts = history.attempts;
    attempts.reverse();
    let room = (MOST / attempts.len().max(1)).saturating_sub(META) / 2;
    let room = room.clamp(LEAST, TEXT);
    for entry in &mut attempts {
        let dir = place.attempt(entry.meta.attempt);
        for (file, text) in [
            ("output", &mut entry.output),
            ("check", &mut entry.check_output),
        ] {
            // Whoever made the repository may have put a link there.
            let is_link = |path: &std::path::Path| {
                path.symlink_metadata()
                    .is_ok_and(|found| found.is_symlink())
            };
            let paths = [dir.clone(), dir.join(file)];
            if paths.iter().any(|path| is_link(path)) {
                *text = "[a link in the place of a file: it is not read]".to_owned();
            } else if text.len() > room {
                *text = cut(text, room);
            }
        }
    }
    Attempts {
        first_check: history.first_check,
        attempts,
        older: history.left_out,
        adopted: history.adopted,
    }
}
