//! `carson retry`

use carson_operator::Ask;
use carson_operator::retry::Retry;

use crate::app::App;
use crate::error::CommandError;
use crate::print;

pub async fn run(app: &App, issue: u64, repo: Option<String>) -> Result<u8, CommandError> {
    let home = app.home_in_any_case().await?;
    let done = Retry { issue, repo }.answer(&home).await?;
    let mut text = format!("#{} {} may be taken up again", done.issue, done.title);
    if !done.removed.is_empty() {
        text.push_str(&format!("; removed: {}", done.removed.join(", ")));
    }
    if let Some(added) = &done.added {
        text.push_str(&format!("; added: {added}"));
    }
    for role in &done.roles {
        text.push_str(&format!(
            "; now: `{} fire {role} --work {issue}`",
            app.called()
        ));
    }
    print::done(app.json, &text, &done);
    Ok(0)
}
