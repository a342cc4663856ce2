//! What a session's environment says of the proxy.

use carson_core::Api;

use crate::token::{Token, USER};

/// The ways in which programs look for a proxy.
const PROXY: [&str; 6] = [
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "ALL_PROXY",
    "https_proxy",
    "http_proxy",
    "all_proxy",
];
const NO_PROXY: [&str; 2] = ["NO_PROXY", "no_proxy"];

/// What stands for the token before there is one.
const FORESEEN: &str = "token-of-the-firing";

/// Which of the proxy's two services a session gets, and where it runs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Offer {
    /// It is the only way out.
    pub egress: bool,
    /// It holds the key to this API.
    pub api: Option<Api>,
    /// The session has a loopback of its own, and no rule asks for the machine's.
    pub own_loopback: bool,
}

/// The variables by which CLIs and package managers find the proxy, and the API behind it.
#[must_use]
pub(crate) fn variables(port: u16, token: &Token, offer: Offer) -> Vec<(&'static str, String)> {
    render_variables(port, token.text(), offer)
}

/// The same before there is a proxy: for what asks a CLI its version, and for people.
#[must_use]
pub fn foreseen(egress: bool, api: Option<Api>, own_loopback: bool) -> Vec<(&'static str, String)> {
    let offer = Offer {
        egress,
        api,
        own_loopback,
    };
    render_variables(1, FORESEEN, offer)
}

fn render_variables(port: u16, token: &str, offer: Offer) -> Vec<(&'static str, String)> {
    let mut variables = Vec::new();
    if offer.egress {
        let proxy = format!("http://{USER}:{token}@127.0.0.1:{port}");
        variables.extend(PROXY.map(|name| (name, proxy.clone())));
        // Servers that a session starts for its own tests are on its own loopback; where it has
        // none, everything goes through the proxy, so that what fails says why.
        let own = if offer.own_loopback {
            "localhost,127.0.0.1,::1"
        } else {
            ""
        };
        variables.extend(NO_PROXY.map(|name| (name, own.to_owned())));
        // Node looks at these names only when it is told to.
        variables.push(("NODE_USE_ENV_PROXY", "1".to_owned()));
    }
    if let Some(api) = offer.api {
        let (key, (address, path)) = api.variables();
        variables.push((key, token.to_owned()));
        variables.push((address, format!("http://127.0.0.1:{port}{path}")));
    }
    variables
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_service_has_its_own_variables() {
        let token = Token::new().unwrap();
        let said = |egress, api, own_loopback| {
            let offer = Offer {
                egress,
                api,
                own_loopback,
            };
            variables(8080, &token, offer)
        };
        assert!(said(false, None, true).is_empty());
        let proxied = said(true, None, false);
        let proxy = format!("http://carson:{}@127.0.0.1:8080", token.text());
        assert_eq!(
            proxied.iter().filter(|(_, value)| *value == proxy).count(),
            6
        );
        assert!(proxied.contains(&("NO_PROXY", String::new())));
        assert!(said(true, None, true).contains(&("no_proxy", "localhost,127.0.0.1,::1".into())));
        let key = said(false, Some(Api::Anthropic), false);
        assert_eq!(
            key,
            [
                ("ANTHROPIC_API_KEY", token.text().to_owned()),
                ("ANTHROPIC_BASE_URL", "http://127.0.0.1:8080".to_owned())
            ]
        );
        let openai = said(false, Some(Api::OpenAi), false);
        assert!(openai.contains(&("OPENAI_BASE_URL", "http://127.0.0.1:8080/v1".into())));
    }
}
