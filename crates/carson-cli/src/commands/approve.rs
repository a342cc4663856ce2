//! `carson approve`

use carson_operator::Ask;
use carson_operator::approve::Approve;

use crate::app::App;
use crate::error::CommandError;
use crate::print;

pub async fn run(app: &App, issue: u64, repo: Option<String>) -> Result<u8, CommandError> {
    let home = app.home_in_any_case().await?;
    let done = Approve { issue, repo }.answer(&home).await?;
    let own = done.filed.iter().map(|number| format!("#{number}"));
    let filed: Vec<String> = own.chain(done.elsewhere.iter().cloned()).collect();
    let text = match filed.is_empty() {
        true => {
            format!("the plan on #{issue} is approved: its issues follow once the forge takes them")
        }
        false => format!(
            "the plan on #{issue} is approved: filed {}",
            filed.join(" ")
        ),
    };
    print::done(app.json, &text, &done);
    Ok(0)
}
