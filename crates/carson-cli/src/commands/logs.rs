//! `carson logs`

use carson_operator::Ask;
use carson_operator::logs::Logs;

use crate::app::App;
use crate::error::CommandError;
use crate::print;

pub async fn run(app: &App, id: String, transcripts: bool) -> Result<u8, CommandError> {
    let home = app.home_in_any_case().await?;
    let printed = Logs { id, transcripts }.answer(&home).await?;
    if app.json {
        print::sorted_json(&printed);
        return Ok(0);
    }
    match printed.log {
        Some(text) => print::line(text.trim_end()),
        None => {
            let file = printed.log_file.display();
            print::error(&format!("no log: {file} (it ran in a terminal)"));
        }
    }
    for transcript in printed.transcripts {
        print::line(&format!("transcript: {}", transcript.file.display()));
        if let Some(text) = transcript.text {
            print::line(text.trim_end());
        }
    }
    Ok(0)
}
