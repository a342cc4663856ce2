//! The address of a database as people may see it.

/// It without its password, and without anything that may be one: a password that should have been encoded and was not
/// stands where an address has its host or its parameters. What cannot be told apart is not shown.
#[must_use]
pub fn shown_address(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else {
        return url.to_owned();
    };
    let hidden = format!("{scheme}://…");
    let (before, parameters) = rest.split_at(rest.find(['?', '#']).unwrap_or(rest.len()));
    if parameters.contains('@') {
        return hidden;
    }
    let (user, place) = match before.rsplit_once('@') {
        Some((user, place)) => {
            let user = user.split([':', '/']).next().unwrap_or_default();
            (format!("{user}@"), place)
        }
        None => (String::new(), before),
    };
    match has_port(place) {
        true => format!("{scheme}://{user}{place}"),
        false => hidden,
    }
}

/// Whether what stands behind the colon of a host is a port, and not a password of an address that has lost its host.
fn has_port(place: &str) -> bool {
    let host = place.split('/').next().unwrap_or_default();
    let port = match host.rsplit_once(']') {
        Some((_, after)) => after.strip_prefix(':'),
        None => host.split_once(':').map(|(_, port)| port),
    };
    port.is_none_or(|port| port.bytes().all(|digit| digit.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_stay_out_of_messages() {
        for (url, shown) in [
            ("postgres://me:hidden@host/db", "postgres://me@host/db"),
            (
                "postgres://me:hidden@host:5432/db",
                "postgres://me@host:5432/db",
            ),
            (
                "postgres://me:hidden@[::1]:5432/db",
                "postgres://me@[::1]:5432/db",
            ),
            (
                "postgres://me@host/db?password=hidden",
                "postgres://me@host/db",
            ),
            ("postgres://host/db?password=hidden", "postgres://host/db"),
            ("postgres://%2Frun%2Fpg/db", "postgres://%2Frun%2Fpg/db"),
            ("sqlite:/tmp/x", "sqlite:/tmp/x"),
        ] {
            assert_eq!(shown_address(url), shown);
        }
    }

    #[test]
    fn nor_does_one_show_that_was_not_encoded() {
        for url in [
            "postgres://me:hid#hidden@host/db",
            "postgres://me:hid?hidden@host/db",
            "postgres://me:hid/hidden@host/db",
            "postgres://me:hid@hidden@host/db",
            "postgres://me:hid@hidden#hidden@host/db",
            "postgres://me:hidden",
            "postgres://me:hidden/db",
        ] {
            let shown = shown_address(url);
            assert!(!shown.contains("hid"), "{url}: {shown}");
        }
    }
}
