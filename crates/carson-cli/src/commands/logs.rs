//! `carson logs`

use crate::app::App;
use crate::error::CommandError;
use crate::print;

pub async fn run(app: &App, id: &str, transcripts: bool) -> Result<u8, CommandError> {
    let house = app.house_in_any_case().await?;
    let row = super::firings::find(&house.store, id).await?;
    let log = house.fleet.home.firing_log(&row.id);
    match std::fs::read_to_string(&log) {
        Ok(text) => print::line(text.trim_end()),
        Err(_) => print::error(&format!("no log: {} (it ran in a terminal)", log.display())),
    }
    let dir = house.fleet.home.transcripts(&row.id);
    let mut files: Vec<_> = std::fs::read_dir(&dir)
        .map(|items| items.filter_map(|item| Some(item.ok()?.path())).collect())
        .unwrap_or_default();
    files.sort();
    for file in files {
        print::line(&format!("transcript: {}", file.display()));
        if transcripts {
            print::line(String::from_utf8_lossy(&std::fs::read(&file)?).trim_end());
        }
    }
    Ok(0)
}
