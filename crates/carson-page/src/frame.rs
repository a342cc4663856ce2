//! What all pages have around them.

use askama::Template;
use axum::response::{Html, IntoResponse, Response};
use carson_home::Home;

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

/// A page as it leaves: without secrets, whoever wrote them into it.
pub(crate) fn page(home: &Home, template: &impl Template) -> Result<Response, Fault> {
    let html = template.render().map_err(Fault::template)?;
    let html = home.redactor.redact(&html).into_owned();
    Ok(Html(html).into_response())
}
