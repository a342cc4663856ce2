//! `carson page`

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use carson_config::Page;
use carson_firing::standing::{Standing, shut};
use carson_home::Home;
use carson_page::{LINK_LASTS, link, token};
use carson_store::FaceRow;
use serde_json::json;
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::app::App;
use crate::error::CommandError;
use crate::print;

/// How long somebody may take to answer at an address of this machine.
const PATIENCE: Duration = Duration::from_millis(500);

/// Where the page is, and how a browser is signed in.
pub async fn run(app: &App) -> Result<u8, CommandError> {
    let home = app.home_in_any_case().await?;
    let page = page(&home)?;
    // Whoever listens at its address then is no daemon of this home: it gets no link.
    let standing = Standing::now(&home).await;
    let faces = standing.map_err(|error| app.store_error(error))?.faces;
    let own = |face: &&FaceRow| face.name == "page" && face.host == home.fleet.host.as_str();
    if let Some(face) = faces.iter().find(own) {
        return Err(CommandError::failed(shut(face))
            .hint("end that program, or give [page] listen another port"));
    }
    let secret = token(page).map_err(not_had)?;
    let part = link(&secret, home.clock.now().timestamp()).map_err(not_had)?;
    let address = address(page);
    let sign_in = format!("{address}sign-in?link={part}");
    let served = is_served(page.listen).await;
    if app.json {
        print::json(&json!({
            "address": address, "token_file": page.token_file, "sign_in": sign_in, "served": served,
        }));
        return Ok(0);
    }
    print::line(&format!("the page: {address}"));
    if !served {
        let carson = app.called();
        let by_hand =
            format!("`{carson} daemon` serves it, or `{carson} page --serve` without one");
        print::line(&format!("  nobody serves it now: {by_hand}"));
    }
    print::line(&format!("its token: {}", page.token_file.display()));
    print::line(&format!(
        "to sign in once, within {} minutes:",
        LINK_LASTS / 60
    ));
    print::line(&format!("  {sign_in}"));
    Ok(0)
}

/// Serves it until somebody ends this process.
pub async fn serve(app: &App) -> Result<u8, CommandError> {
    let home = app.home().await?;
    let page = page(&home)?;
    token(page).map_err(not_had)?;
    let listen = page.listen;
    if is_served(listen).await {
        let taken = format!("somebody serves at {listen} already");
        return Err(CommandError::failed(taken).hint("`carson page` says how to sign in there"));
    }
    print::line(&format!("the page: {} (Ctrl-C ends it)", address(page)));
    let homes = Arc::new(move || home.clone());
    // Who ends it reads why on this terminal.
    let told: carson_page::Told = Arc::new(|_| ());
    let Err(error) = carson_page::keep(listen, homes, &told).await;
    Err(not_had(error))
}

fn page(home: &Home) -> Result<&Page, CommandError> {
    home.fleet.page.as_ref().ok_or_else(|| {
        CommandError::usage("the settings have no page")
            .hint("write into carson.toml: [page] and below it listen = \"127.0.0.1:7420\"")
    })
}

fn not_had(why: String) -> CommandError {
    CommandError::failed(why).hint("docs/PAGE.md says what the token's file has to be")
}

/// As a browser is told it.
fn address(page: &Page) -> String {
    match page.hosts.first() {
        Some(host) if !page.listen.ip().is_loopback() => format!("http://{host}/"),
        _ => format!("http://{}/", page.listen),
    }
}

async fn is_served(at: SocketAddr) -> bool {
    let reached = timeout(PATIENCE, TcpStream::connect(at)).await;
    reached.is_ok_and(|stream| stream.is_ok())
}
