//! `carson logs`

use std::path::Path;

use serde_json::json;

use crate::app::App;
use crate::error::CommandError;
use crate::print;

pub async fn run(app: &App, id: &str, transcripts: bool) -> Result<u8, CommandError> {
    let house = app.house_in_any_case().await?;
    let row = super::firings::find(&house.store, id).await?;
    let log = house.fleet.home.firing_log(&row.id);
    let text = read(&log).ok();
    let dir = house.fleet.home.transcripts(&row.id);
    let mut files: Vec<_> = std::fs::read_dir(&dir)
        .map(|items| items.filter_map(|item| Some(item.ok()?.path())).collect())
        .unwrap_or_default();
    files.sort();
    if app.json {
        let files = files.iter().map(|file| {
            let text = transcripts.then(|| read(file).unwrap_or_default());
            json!({"file": file, "text": text})
        });
        let files: Vec<_> = files.collect();
        print::json(&json!({"id": row.id, "log": text, "transcripts": files}));
        return Ok(0);
    }
    match text {
        Some(text) => print::line(text.trim_end()),
        None => print::error(&format!("no log: {} (it ran in a terminal)", log.display())),
    }
    for file in files {
        print::line(&format!("transcript: {}", file.display()));
        if transcripts {
            print::line(read(&file)?.trim_end());
        }
    }
    Ok(0)
}

/// What sessions print is bytes, not always text.
fn read(file: &Path) -> std::io::Result<String> {
    Ok(String::from_utf8_lossy(&std::fs::read(file)?).into_owned())
}
