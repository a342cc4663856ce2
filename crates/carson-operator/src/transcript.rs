//! What the sessions of a firing said, piece by piece, also while they speak.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use carson_core::{FiringId, Outcome};
use carson_engine::{Said, readable};
use carson_home::Home;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::firings::state;
use crate::names;
use crate::papers::TRANSCRIPT;
use crate::refusal::Refusal;
use crate::verb::{Ask, Who};

/// Bytes of transcripts that one answer is made of.
const PIECE: usize = 256 << 10;

/// The longest line that is read: what is longer is left out, and that is said.
const LINE: usize = 4 << 20;

/// What did a firing's sessions say from some place on?
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Transcript {
    /// The firing: its id, or any part of it that no other has.
    pub firing: String,
    /// From there on, as an answer said it in `after`; `SESSION:0` is the beginning of a session. All of it without.
    pub after: Option<String>,
}

/// A piece of it.
#[derive(Debug, Serialize)]
pub struct Heard {
    /// The firing.
    pub id: FiringId,
    /// The sessions that there are, by number and stage.
    pub sessions: Vec<String>,
    /// What was said, in its order.
    pub said: Vec<Line>,
    /// Where this piece ends: what comes next is asked for with it.
    pub after: String,
    /// Whether there is more now.
    pub more: bool,
    /// Its outcome, or the stage it is in.
    pub state: String,
    /// How it ended; `None` while it runs.
    pub outcome: Option<Outcome>,
}

/// Something that a session said.
#[derive(Debug, Serialize)]
pub struct Line {
    /// The session, by number and stage.
    pub session: String,
    /// What.
    pub said: Said,
}

impl Ask for Transcript {
    const NAME: &'static str = "transcript";
    const WHAT: &'static str = "Say what a firing's sessions said, piece by piece";
    const WHO: Who = Who::Operator;
    type Answer = Heard;

    async fn answer(self, home: &Home) -> Result<Self::Answer, Refusal> {
        // First the row: what was written before it ended is read then.
        let row = names::firing(&home.store, &self.firing).await?;
        let files = files(&home.fleet.layout.transcripts(&row.id));
        let ended = row.ended_at.is_some();
        let (mut at, mut from) = place(&files, self.after.as_deref())?;
        let (mut said, mut room, mut more) = (Vec::new(), PIECE, false);
        while let Some((session, path)) = files.get(at) {
            // Nothing is added to a session after which another one began.
            let is_whole = ended || at + 1 < files.len();
            let piece = piece(path, from, room, is_whole)?;
            from += piece.bytes;
            room = room.saturating_sub(usize::try_from(piece.bytes).unwrap_or(usize::MAX));
            let lines = readable(&home.redactor.redact(&piece.text));
            said.extend(lines.into_iter().map(|said| Line {
                session: session.clone(),
                said,
            }));
            if !piece.is_last {
                more = true;
                break;
            }
            if at + 1 == files.len() {
                break;
            }
            (at, from) = (at + 1, 0);
            if room == 0 {
                more = true;
                break;
            }
        }
        let session = files.get(at).map_or("", |(session, _)| session);
        Ok(Heard {
            id: row.id,
            after: format!("{session}:{from}"),
            said,
            more,
            state: state(&row),
            outcome: row.outcome,
            sessions: files.into_iter().map(|(session, _)| session).collect(),
        })
    }
}

/// The transcripts, by the session they are of.
fn files(dir: &Path) -> Vec<(String, PathBuf)> {
    let files = std::fs::read_dir(dir).into_iter().flatten().flatten();
    let named = files.filter_map(|file| {
        let name = file.file_name().into_string().ok()?;
        Some((name.strip_suffix(TRANSCRIPT)?.to_owned(), file.path()))
    });
    let mut all: Vec<_> = named.collect();
    all.sort();
    all
}

/// Which file, and which byte of it. A session that is not there yet, or not any more, begins with the first.
fn place(files: &[(String, PathBuf)], after: Option<&str>) -> Result<(usize, u64), Refusal> {
    let Some((session, from)) = after.and_then(|after| after.rsplit_once(':')) else {
        return match after {
            None => Ok((0, 0)),
            Some(after) => Err(wrong(after)),
        };
    };
    let from = from.parse().map_err(|_| wrong(session))?;
    let at = files.iter().position(|(name, _)| name == session);
    Ok(at.map_or((0, 0), |at| (at, from)))
}

fn wrong(after: &str) -> Refusal {
    Refusal::Field {
        field: "after",
        problem: format!(
            "{after:?} is no place in a transcript: take that of an answer, or SESSION:0"
        ),
    }
}

/// Whole lines of a file.
#[derive(Debug, PartialEq, Eq)]
struct Piece {
    text: String,
    /// How many bytes they are.
    bytes: u64,
    /// Whether nothing is there after them now.
    is_last: bool,
}

/// The whole lines from there on, about so many bytes; the last one counts as whole where nothing follows it any more.
fn piece(path: &Path, from: u64, room: usize, is_whole: bool) -> Result<Piece, Refusal> {
    let refused = |source| Refusal::File {
        what: path.display().to_string(),
        source,
    };
    let mut file = File::open(path).map_err(refused)?;
    file.seek(SeekFrom::Start(from)).map_err(refused)?;
    let mut bytes = Vec::new();
    let mut most = room.max(1);
    loop {
        let wanted = (most - bytes.len()) as u64;
        file.by_ref()
            .take(wanted)
            .read_to_end(&mut bytes)
            .map_err(refused)?;
        let is_last = bytes.len() < most;
        let end = bytes.iter().rposition(|byte| *byte == b'\n');
        let end = end
            .map(|end| end + 1)
            .or((is_last && is_whole).then_some(bytes.len()));
        let (end, is_last) = match end {
            Some(end) if is_last && is_whole => (end.max(bytes.len()), true),
            Some(end) => (end, is_last),
            None if is_last => (0, true),
            None if most < LINE => {
                most = LINE;
                continue;
            }
            None => {
                let left_out = format!("a line of more than {} MiB is left out here\n", LINE >> 20);
                return Ok(Piece {
                    text: left_out,
                    bytes: bytes.len() as u64,
                    is_last: false,
                });
            }
        };
        return Ok(Piece {
            text: String::from_utf8_lossy(&bytes[..end]).into_owned(),
            bytes: end as u64,
            is_last,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_whole_lines_and_each_comes_once() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("01-plan.jsonl");
        std::fs::write(&path, "one\ntwo\nthr").unwrap();
        let read = |from, room, is_whole| {
            let piece = piece(&path, from, room, is_whole).unwrap();
            (piece.text, piece.bytes, piece.is_last)
        };
        assert_eq!(read(0, 100, false), ("one\ntwo\n".to_owned(), 8, true));
        assert_eq!(read(8, 100, false), (String::new(), 0, true));
        assert_eq!(read(8, 100, true), ("thr".to_owned(), 3, true));
        assert_eq!(read(11, 100, true), (String::new(), 0, true));
        assert_eq!(read(0, 5, true), ("one\n".to_owned(), 4, false));
        assert_eq!(
            read(0, 2, false),
            ("one\ntwo\n".to_owned(), 8, true),
            "a longer line is read whole"
        );
    }

    #[test]
    fn a_line_without_end_is_left_out_and_said() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("01-plan.jsonl");
        let mut bytes = vec![b'x'; LINE + 5];
        bytes.extend_from_slice(b"\nafter\n");
        std::fs::write(&path, bytes).unwrap();
        let first = piece(&path, 0, PIECE, true).unwrap();
        assert!(
            first.text.contains("left out") && !first.is_last,
            "{first:?}"
        );
        let rest = piece(&path, first.bytes, PIECE, true).unwrap();
        assert_eq!((&*rest.text, rest.is_last), ("xxxxx\nafter\n", true));
    }

    #[test]
    fn a_place_is_one_that_was_said() {
        let files = [
            ("01-plan".to_owned(), PathBuf::new()),
            ("02-execute".to_owned(), PathBuf::new()),
        ];
        let place = |after| place(&files, after).map_err(|error| error.to_string());
        assert_eq!(place(None), Ok((0, 0)));
        assert_eq!(place(Some("02-execute:7")), Ok((1, 7)));
        assert_eq!(
            place(Some("../../etc/passwd:7")),
            Ok((0, 0)),
            "there is no such session"
        );
        for wrong in ["", "7", "01-plan:x", "01-plan:-1"] {
            assert!(
                place(Some(wrong)).unwrap_err().contains("no place"),
                "{wrong}"
            );
        }
    }
}
