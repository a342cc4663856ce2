//! What a session proposes that later ones should know: a file in its bench, read by a confined child.

use std::path::{Path, PathBuf};
use std::time::Duration;

use carson_core::Event;
use carson_memory::proposals::{BYTES, Proposed};
use carson_proc::inspector::{Bounds, Desk, Question};
use serde::{Deserialize, Serialize};
use tracing::warn;

use crate::ctx::Ctx;
use crate::reached::Reached;

/// Asks what is in `lessons.json`.
#[derive(Serialize, Deserialize)]
pub(crate) struct ReadLessons {
    file: PathBuf,
}

impl Question for ReadLessons {
    const NAME: &'static str = "lessons";
    type Answer = Proposed;

    fn answer(self) -> Result<Self::Answer, String> {
        Ok(match text(&self.file) {
            Ok(text) => Proposed::read(&text),
            Err(why) => Proposed::none(&why),
        })
    }
}

/// Whatever is put in its place meanwhile, the child sees no other file, and has its time.
fn text(file: &Path) -> Result<String, String> {
    use std::io::Read as _;
    let words = |error: std::io::Error| error.to_string();
    let found = file.symlink_metadata().map_err(words)?;
    if !found.is_file() || found.len() > BYTES {
        return Err(format!("it is no plain file of at most {BYTES} bytes"));
    }
    let (mut text, opened) = (String::new(), std::fs::File::open(file).map_err(words)?);
    opened
        .take(BYTES)
        .read_to_string(&mut text)
        .map_err(words)?;
    Ok(text)
}

/// Writes down what the sessions of a firing proposed; nothing of it is believed.
pub(crate) async fn collect(ctx: &Ctx<'_>, reached: &Reached<'_>) {
    let (Some(taken), Some(place)) = (&reached.taken, &reached.place) else {
        return;
    };
    let file = place.bench.lessons();
    if ctx.home.fleet.memory.killed || file.symlink_metadata().is_err() {
        return;
    }
    let proposed = read(ctx, &place.bench, &file)
        .await
        .unwrap_or_else(|why| Proposed::none(&why));
    let mut dropped = (proposed.dropped, proposed.why);
    for proposal in proposed.proposals {
        let candidate = proposal.candidate(ctx.id, &taken.repo.name, ctx.role.name.as_str());
        if let Err(error) = candidate.check() {
            dropped.0 += 1;
            dropped.1.get_or_insert(error.to_string());
            continue;
        }
        let (lesson, first) = candidate.recorded(&ctx.home.redactor, ctx.now());
        let id = lesson.id;
        match ctx.store().record_lesson(&lesson, &[first]).await {
            Ok(_) => ctx.event(&Event::MemoryProposed { lesson: id }).await,
            Err(error) => {
                warn!(firing.id = %ctx.id, %error, "a proposed lesson could not be written down");
            }
        }
    }
    if let (count @ 1.., why) = dropped {
        let why = ctx.redacted(&why.unwrap_or_default());
        ctx.event(&Event::MemoryDropped { count, why }).await;
    }
}

async fn read(
    ctx: &Ctx<'_>,
    bench: &carson_bench::bench::Bench,
    file: &Path,
) -> Result<Proposed, String> {
    let question = ReadLessons {
        file: file.to_owned(),
    };
    let desk = Desk {
        own: bench.sandbox(),
        read: file.parent().map(Path::to_owned).into_iter().collect(),
        ..Desk::default()
    };
    let bounds = Bounds {
        wall_clock: Duration::from_secs(10),
        memory_mb: 256,
        file_size_mb: 1,
        answer: 1 << 20,
    };
    let asked = ctx.home.inspector.ask(&question, &desk, &bounds).await;
    asked.map_err(|error| error.to_string())
}
