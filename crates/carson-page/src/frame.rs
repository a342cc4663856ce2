//! What all pages have around them.

use std::convert::Infallible;

use askama::Template;
use axum::body::Body;
use axum::response::{Html, IntoResponse, Response};
use carson_home::Home;
use futures_util::stream::{StreamExt as _, iter, once};

use crate::desk::Desk;
use crate::fault::Fault;
use crate::guard::Signed;
use crate::text::Zone;

/// The pages of the menu: address, name.
pub(crate) const MENU: [(&str, &str); 7] = [
    ("/", "Tonight"),
    ("/roles", "Roles"),
    ("/stops", "Stops"),
    ("/queue", "Queue"),
    ("/memory", "Memory"),
    ("/outcomes", "Outcomes"),
    ("/why", "Why"),
];

/// What all pages have around them.
pub(crate) struct Frame {
    pub(crate) title: String,
    pub(crate) here: &'static str,
    pub(crate) fleet: String,
    pub(crate) csrf: String,
    pub(crate) word: Option<String>,
    pub(crate) zone: Zone,
    pub(crate) zone_name: &'static str,
    pub(crate) menu: [(&'static str, &'static str); 7],
}

impl Frame {
    /// Around a page of this title, below this entry of the menu.
    pub(crate) fn of(
        (desk, home): (&Desk, &Home),
        Signed(secret): &Signed,
        (here, title): (&'static str, impl Into<String>),
    ) -> Self {
        let zone = home.fleet.zone;
        Self {
            title: title.into(),
            here,
            fleet: home.fleet.name.clone(),
            csrf: desk.sessions.form(secret),
            word: desk.sessions.told(secret),
            zone: Zone {
                zone,
                now: home.clock.now(),
            },
            zone_name: zone.name(),
            menu: MENU,
        }
    }
}

/// What stands above what a page is about.
#[derive(Template)]
#[template(path = "top.html")]
struct Top<'a> {
    frame: &'a Frame,
}

/// What stands below it.
#[derive(Template)]
#[template(path = "tail.html")]
struct Tail {
    zone: &'static str,
}

/// A page whose top leaves at once: a browser has the style sheet and shows whose page it is, while the rest is
/// looked up. What goes wrong there is told in the page: its status has left.
pub(crate) fn early(
    home: Home,
    frame: &Frame,
    main: impl Future<Output = Result<String, Fault>> + Send + 'static,
) -> Result<Response, Fault> {
    let top = Top { frame }.render().map_err(Fault::template)?;
    let top = home.redactor.redact(&top).into_owned();
    let tail = Tail {
        zone: frame.zone_name,
    };
    let tail = tail.render().map_err(Fault::template)?;
    let rest = async move {
        let main = main.await.unwrap_or_else(|fault| fault.in_a_page());
        home.redactor.redact(&(main + &tail)).into_owned()
    };
    let parts = iter([top]).chain(once(rest));
    let parts = parts.map(Ok::<_, Infallible>);
    Ok(Html(Body::from_stream(parts)).into_response())
}

/// A page as it leaves: without secrets, whoever wrote them into it.
pub(crate) fn page(home: &Home, template: &impl Template) -> Result<Response, Fault> {
    let html = template.render().map_err(Fault::template)?;
    let html = home.redactor.redact(&html).into_owned();
    Ok(Html(html).into_response())
}
