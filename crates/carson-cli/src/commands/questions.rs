//! What a chat asks too, on a terminal: what waits for a yes or a no, how the fleet is, and what is told.

use carson_core::text::instant;
use carson_operator::Ask;
use carson_operator::health::Health;
use carson_operator::plans::{Plans, Reject};
use carson_operator::quiet::{Ack, Quiet};
use carson_operator::shipped::Shipped;
use carson_operator::trust::{Believed, Trust, Untrust};

use crate::app::App;
use crate::args::asked::Asked;
use crate::error::CommandError;
use crate::print;

/// Does it.
pub async fn run(app: &App, asked: Asked) -> Result<u8, CommandError> {
    match asked {
        Asked::Reject { issue, repo } => reject(app, issue, repo.repo).await,
        Asked::Plans => plans(app).await,
        Asked::Health => health(app).await,
        Asked::Shipped { since } => shipped(app, since).await,
        Asked::Quiet { r#for, sink } => quiet(app, r#for, sink).await,
        Asked::Ack { alert } => ack(app, alert).await,
        Asked::Trust { id } => trust(app, id).await,
        Asked::Untrust { id } => untrust(app, id).await,
    }
}

async fn plans(app: &App) -> Result<u8, CommandError> {
    let waiting = Plans {}.answer(&app.home_in_any_case().await?).await?;
    let told = waiting.iter().map(|one| {
        let (what, stands) = (one.what(), one.stands());
        format!("{what} {stands}\n{}\n  {} {}", one.text, one.id, one.hash)
    });
    done(
        app,
        told.collect(),
        "nothing waits for a yes or a no",
        &waiting,
    )
}

async fn reject(app: &App, issue: u64, repo: Option<String>) -> Result<u8, CommandError> {
    let home = app.home_in_any_case().await?;
    let done = Reject { issue, repo }.answer(&home).await?;
    let text = format!(
        "the plan on {}#{issue} is rejected: nothing of it is filed",
        done.repo
    );
    print::done(app.json, &text, &done);
    Ok(0)
}

async fn health(app: &App) -> Result<u8, CommandError> {
    let found = Health {}.answer(&app.home_in_any_case().await?).await?;
    let mut lines = vec![found.line.clone()];
    lines.extend(found.wrong.iter().map(|wrong| format!("  {wrong}")));
    lines.extend(found.alerts.iter().map(|alert| {
        let seen = if alert.seen { "seen" } else { "not seen" };
        let at = instant(alert.at);
        format!("  alert {} {at} ({seen}): {}", alert.id, alert.title)
    }));
    done(app, lines, "", &found)
}

async fn shipped(app: &App, since: String) -> Result<u8, CommandError> {
    let home = app.home_in_any_case().await?;
    let found = Shipped { since }.answer(&home).await?;
    let merged = found.merged.iter().map(|line| format!("merged: {line}"));
    let ready = found.ready.iter().map(|line| format!("ready: {line}"));
    done(
        app,
        merged.chain(ready).collect(),
        "nothing was merged",
        &found,
    )
}

async fn quiet(app: &App, span: String, sink: Option<String>) -> Result<u8, CommandError> {
    let home = app.home_in_any_case().await?;
    let quiet = Quiet { r#for: span, sink };
    let quiet = quiet.answer(&home).await?;
    let (sinks, until) = (quiet.sinks.join(", "), instant(quiet.until));
    let text = format!("nothing but alerts and questions until {until} at: {sinks}");
    print::done(app.json, &text, &quiet);
    Ok(0)
}

async fn ack(app: &App, alert: String) -> Result<u8, CommandError> {
    let seen = Ack { alert }.answer(&app.home_in_any_case().await?).await?;
    let text = format!("seen, and not told again for a day: {}", seen.title);
    print::done(app.json, &text, &seen);
    Ok(0)
}

async fn trust(app: &App, id: String) -> Result<u8, CommandError> {
    let told = Trust { id }.answer(&app.home_in_any_case().await?).await?;
    believed(app, &told)
}

async fn untrust(app: &App, id: String) -> Result<u8, CommandError> {
    let told = Untrust { id }
        .answer(&app.home_in_any_case().await?)
        .await?;
    believed(app, &told)
}

fn believed(app: &App, told: &Believed) -> Result<u8, CommandError> {
    let who = [told.by_settings.clone(), told.since.clone()].concat();
    let text = format!("listened to in the chat: {}", who.join(" "));
    print::done(app.json, &text, told);
    Ok(0)
}

fn done(
    app: &App,
    lines: Vec<String>,
    none: &str,
    answer: &impl serde::Serialize,
) -> Result<u8, CommandError> {
    let text = match lines.is_empty() {
        true => none.to_owned(),
        false => lines.join("\n"),
    };
    print::done(app.json, &text, answer);
    Ok(0)
}
