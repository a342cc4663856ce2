//! `carson logs`

use std::io::{Read, Seek, SeekFrom};
use std::path::Path;
use std::time::Duration;

use carson_firing::life;
use carson_operator::logs::{Logs, Printed};
use carson_operator::{Ask, firings, names};

use crate::app::App;
use crate::error::CommandError;
use crate::print;

/// How often somebody looks for more.
const LOOK_EVERY: Duration = Duration::from_millis(300);

/// That of one firing, or of all that began since then.
pub async fn run(
    app: &App,
    id: Option<String>,
    since: Option<String>,
    transcripts: bool,
) -> Result<u8, CommandError> {
    let home = app.home_in_any_case().await?;
    if let Some(id) = id {
        let asked = Logs {
            id,
            since,
            transcripts,
        };
        let printed = asked.answer(&home).await?;
        if app.json {
            print::sorted_json(&printed);
        } else {
            show(printed);
        }
        return Ok(0);
    }
    let began = firings::List {
        role: None,
        since: since.clone(),
        all: false,
        outcome: None,
        limit: firings::LIMIT,
    };
    let mut rows = began.answer(&home).await?;
    // They are told as they passed.
    rows.reverse();
    let mut all = Vec::new();
    for row in rows {
        let asked = Logs {
            id: row.id.to_string(),
            since: since.clone(),
            transcripts,
        };
        let printed = asked.answer(&home).await?;
        if app.json {
            all.push(printed);
            continue;
        }
        let (id, state) = (row.id.short(), firings::state(&row));
        print::line(&format!("== {id} {}: {state}", row.role));
        show(printed);
    }
    if app.json {
        print::sorted_json(&all);
    }
    Ok(0)
}

fn show(printed: Printed) {
    match printed.log {
        Some(text) => print::line(text.trim_end()),
        None => {
            let file = printed.log_file.display();
            print::error(&format!(
                "no log: {file} (it was cleaned up, or lies on another host)"
            ));
        }
    }
    for transcript in printed.transcripts {
        print::line(&format!("transcript: {}", transcript.file.display()));
        if let Some(text) = transcript.text {
            print::line(text.trim_end());
        }
    }
}

/// How often it looks whether the firing's process is there.
const LIFE_EVERY: u32 = 10;

/// How many such looks may find it gone: a daemon that runs concludes the firing in less.
const GONE_LOOKS: u32 = 5;

/// Prints the log as it grows, until the firing has ended, nobody runs it any more, or nobody reads it.
pub async fn follow(app: &App, id: String) -> Result<u8, CommandError> {
    let home = app.home_in_any_case().await?;
    let id = names::firing(&home.store, &id).await?.id;
    let log = home.fleet.layout.firing_log(&id);
    let (mut from, mut gone) = (0, 0);
    for look in 1_u32.. {
        // First the row: what was written before it ended is printed then.
        let row = home.store.firing(id).await?;
        from += more(&log, from)?;
        let Some(row) = row.filter(|row| row.ended_at.is_none() && print::is_read()) else {
            return Ok(0);
        };
        if row.host != home.fleet.host && !log.exists() {
            print::error(&format!(
                "it runs on the host {}: its log is there",
                row.host
            ));
            return Ok(1);
        }
        if look % LIFE_EVERY == 0 {
            let dead = life::dead(&home).await?;
            gone = if dead.iter().any(|row| row.id == id) {
                gone + 1
            } else {
                0
            };
        }
        if gone == GONE_LOOKS {
            print::error(
                "its process is gone, and no daemon ends it: `carson prune` saves its work and does",
            );
            return Ok(1);
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
    Ok(0)
}

/// Prints the whole lines that the file has from there on; how many bytes they are.
fn more(log: &Path, from: u64) -> std::io::Result<u64> {
    let mut file = match std::fs::File::open(log) {
        Ok(file) => file,
        // It has not begun.
        Err(_) => return Ok(0),
    };
    file.seek(SeekFrom::Start(from))?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    let whole = bytes.iter().rposition(|byte| *byte == b'\n');
    let Some(end) = whole else { return Ok(0) };
    print::line(&String::from_utf8_lossy(&bytes[..end]));
    Ok(end as u64 + 1)
}

#[cfg(test)]
mod tests {
    use super::more;

    #[test]
    fn only_whole_lines_are_printed_and_each_once() {
        let dir = tempfile::tempdir().unwrap();
        let log = dir.path().join("x.log");
        assert_eq!(more(&log, 0).unwrap(), 0);
        std::fs::write(&log, "one\ntw").unwrap();
        assert_eq!(more(&log, 0).unwrap(), 4);
        assert_eq!(more(&log, 4).unwrap(), 0);
        std::fs::write(&log, "one\ntwo\n").unwrap();
        assert_eq!(more(&log, 4).unwrap(), 4);
    }
}
