//! `carson queue`

use carson_operator::Ask;
use carson_operator::queue::{Queue, Waiting};

use crate::app::App;
use crate::error::CommandError;
use crate::print;

pub async fn run(app: &App, role: Option<String>) -> Result<u8, CommandError> {
    let home = app.home_in_any_case().await?;
    let all = Queue { role }.answer(&home).await?;
    if app.json {
        print::json(&all);
        return Ok(0);
    }
    if all.is_empty() {
        print::row("no role that is enabled works in a repository");
    }
    for one in &all {
        show(&app.called(), one);
    }
    Ok(0)
}

fn show(carson: &str, one: &Waiting) {
    print::row(&format!("{} in {}", one.role, one.repo));
    if let Some(why) = &one.stopped {
        print::row(&format!("  the role is stopped: {why}"));
    }
    if let Some(why) = &one.unknown {
        print::row(&format!("  nothing is known: {why}"));
        return;
    }
    if one.ready.is_empty() && one.held.is_empty() {
        print::row("  nothing waits");
    }
    for issue in &one.ready {
        print::row(&format!("  ready  #{} {}", issue.number, issue.title));
    }
    if one.more > 0 {
        print::row(&format!("         and {} more", one.more));
    }
    for held in &one.held {
        print::row(&format!("  waits  {}", held.why));
        let change = print::change(carson, &held.change);
        print::row(&format!("    to change it: {change}"));
    }
}
