//! `carson retry`

use carson_forge::DO_NOT_PICKUP;
use carson_operator::Ask;
use carson_operator::retry::Retry;

use crate::app::App;
use crate::error::CommandError;
use crate::print;

pub async fn run(app: &App, issue: u64, repo: Option<String>) -> Result<u8, CommandError> {
    let home = app.home_in_any_case().await?;
    let done = Retry { issue, repo }.answer(&home).await?;
    let begun = match done.kept_away {
        true => "has its attempts counted anew",
        false => "may be taken up again",
    };
    let mut text = format!("#{} {} {begun}", done.issue, done.title);
    if !done.removed.is_empty() {
        text.push_str(&format!("; removed: {}", done.removed.join(", ")));
    }
    if done.dropped_plans > 0 {
        text.push_str("; its plan is dropped, and nothing of it is filed");
    }
    if let Some(added) = &done.added {
        text.push_str(&format!("; added: {added}"));
    }
    if done.kept_away {
        text.push_str(&format!(
            "; it keeps {DO_NOT_PICKUP}, a person's own word: no role takes it before a person takes that away"
        ));
        print::done(app.json, &text, &done);
        return Ok(0);
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
