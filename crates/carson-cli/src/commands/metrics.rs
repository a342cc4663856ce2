//! `carson metrics`

use carson_operator::Ask;
use carson_operator::metrics::Metrics;

use crate::app::App;
use crate::error::CommandError;
use crate::print;

pub async fn run(app: &App, since: Option<String>) -> Result<u8, CommandError> {
    let home = app.home_in_any_case().await?;
    let metrics = Metrics { since }.answer(&home).await?;
    if app.json {
        print::json(&metrics);
    } else {
        print::raw(metrics.text().trim_end());
    }
    Ok(0)
}
