//! `carson stop`

use carson_operator::Ask;
use carson_operator::stop::Stop;

use crate::app::App;
use crate::error::CommandError;
use crate::print;

pub async fn run(app: &App, firing: String) -> Result<u8, CommandError> {
    let home = app.home_in_any_case().await?;
    let stopped = Stop { firing }.answer(&home).await?;
    let id = stopped.firing.short();
    let text = format!(
        "firing {id} was told to end; `carson why {id}` says what became of it; its role may \
         take the work again at its next slot, `carson pause --role {}` keeps it from that",
        stopped.role
    );
    print::done(app.json, &text, &stopped);
    Ok(0)
}
