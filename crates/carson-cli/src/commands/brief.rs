//! `carson brief`

use carson_operator::Ask;
use carson_operator::brief::Brief;

use crate::app::App;
use crate::error::CommandError;
use crate::print;

pub async fn run(app: &App, since: String) -> Result<u8, CommandError> {
    let home = app.home_in_any_case().await?;
    let brief = Brief { since }.answer(&home).await?;
    if app.json {
        print::json(&brief);
    } else {
        print::line(&brief.text());
    }
    Ok(0)
}
