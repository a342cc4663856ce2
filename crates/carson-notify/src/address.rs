//! Addresses of the web.

use std::path::{Path, PathBuf};

use carson_core::section::Around;
use secrecy::{ExposeSecret as _, SecretString};
use url::{Host, Url};

use crate::section::ReadSecret;

/// An address that is a secret: nobody may read it on the way, and no message may show it.
pub(crate) fn secret(text: &str) -> Result<Url, String> {
    match Url::parse(text.trim()) {
        Ok(url) if is_web(&url) && !is_readable_on_the_way(&url) => Ok(url),
        Ok(url) if is_web(&url) => Err("the address in it is not https".into()),
        _ => Err("what it holds is no web address".into()),
    }
}

/// The file that a key names, whose text is to be what `reads` takes; what it does not take is a warning, since the file
/// is no part of the settings.
pub(crate) fn in_file<T>(
    (key, file): (&str, &str),
    hint: &str,
    around: &mut dyn Around,
    reads: impl FnOnce(&str) -> Result<T, String>,
) -> PathBuf {
    let path = around.path(file);
    if let Some(text) = around.secret(key, &path)
        && let Err(problem) = reads(text.expose_secret())
    {
        around.warning(key, &problem, hint);
    }
    path
}

/// What such a file holds now: its text, and what `reads` makes of it.
pub(crate) fn read_file<T>(
    path: &Path,
    read: &ReadSecret,
    reads: impl FnOnce(&str) -> Result<T, String>,
) -> Result<(SecretString, T), String> {
    let text = read(path)?;
    let made = reads(text.expose_secret()).map_err(|why| format!("{}: {why}", path.display()))?;
    Ok((text, made))
}

pub(crate) fn is_web(url: &Url) -> bool {
    ["https", "http"].contains(&url.scheme())
}

/// Anything but https, unless it stays on this machine.
pub(crate) fn is_readable_on_the_way(url: &Url) -> bool {
    let here = match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    };
    url.scheme() != "https" && !here
}
