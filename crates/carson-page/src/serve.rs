//! Which address leads to which page.

use carson_door::Told;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::http::header::CONTENT_TYPE;
use axum::middleware::from_fn_with_state;
use axum::response::IntoResponse;
use axum::routing::{get, post};
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;

use crate::desk::{Desk, Homes};
use crate::fault::Fault;
use crate::guard::{SIGN_IN, guard};
use crate::sessions::Sessions;
use crate::{actions, live, pages, sign_in};

/// What it is called in the log.
const PAGE: &str = "the page";

const CSS: &str = include_str!("../assets/page.css");
const SCRIPT: &str = include_str!("../assets/page.js");
const ICON: &str = include_str!("../assets/icon.svg");

/// Listens at an address and serves there, as long as this is polled; while the address cannot be had, it is tried
/// again.
///
/// # Errors
/// When the system gives no random bytes: nobody could sign in.
pub async fn keep(address: SocketAddr, homes: Homes, told: &Told) -> Result<Infallible, String> {
    let service = service(homes)?;
    Ok(carson_door::keep(address, (PAGE, None), told, service).await)
}

/// Serves one listener as long as this is polled; its connections end with it.
///
/// # Errors
/// As [`keep`].
pub async fn serve(listener: TcpListener, homes: Homes) -> Result<Infallible, String> {
    let service = service(homes)?;
    Ok(carson_door::serve(listener, PAGE, None, service).await)
}

type Served = TowerToHyperService<Router>;

fn service(homes: Homes) -> Result<impl FnOnce(SocketAddr) -> Served, String> {
    let sessions = Sessions::new()?;
    Ok(move |at| TowerToHyperService::new(router(Arc::new(Desk::new(at, homes, sessions)))))
}

fn router(desk: Arc<Desk>) -> Router {
    Router::new()
        .route("/", get(pages::tonight::page))
        .route("/firings", get(pages::firings::page))
        .route("/firings/{id}", get(pages::firing::page))
        .route("/firings/{id}/transcript", get(pages::transcript::page))
        .route("/firings/{id}/live", get(live::page))
        .route("/firings/{id}/diff", get(pages::diff::page))
        .route("/roles", get(pages::roles::page))
        .route("/roles/{name}", get(pages::role::page))
        .route("/stops", get(pages::stops::page))
        .route("/queue", get(pages::queue::page))
        .route("/memory", get(pages::memory::page))
        .route("/memory/{id}", get(pages::lesson::page))
        .route("/outcomes", get(pages::outcomes::page))
        .route("/why", get(pages::why::page))
        .route("/do/{action}", get(actions::confirm).post(actions::act))
        .route(SIGN_IN, get(sign_in::form).post(sign_in::enter))
        .route("/sign-out", post(sign_in::leave))
        .route(
            "/assets/page.css",
            get(|| asset("text/css; charset=utf-8", CSS)),
        )
        .route(
            "/assets/page.js",
            get(|| asset("text/javascript; charset=utf-8", SCRIPT)),
        )
        .route("/assets/icon.svg", get(|| asset("image/svg+xml", ICON)))
        .fallback(async || Fault::nowhere())
        .layer(from_fn_with_state(Arc::clone(&desk), guard))
        .with_state(desk)
}

async fn asset(kind: &'static str, text: &'static str) -> impl IntoResponse {
    ([(CONTENT_TYPE, kind)], text)
}
