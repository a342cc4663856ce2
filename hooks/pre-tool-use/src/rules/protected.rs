//! Which branches are protected.

use crate::glob;
use crate::marks;
use crate::walk::View;

/// The protected pattern a full or short ref name may meet.
pub(super) fn protected<'v>(name: &str, view: &'v View<'_>) -> Option<&'v str> {
    let full = |name: &str| match name.strip_prefix("heads/") {
        _ if name.starts_with("refs/") => name.to_owned(),
        Some(branch) => format!("refs/heads/{branch}"),
        None => format!("refs/heads/{name}"),
    };
    let name = marks::live_globs(&full(name));
    let meets = |pattern: &&String| glob::overlap(&name, &marks::live_globs(&full(pattern)));
    view.ctx.protected.iter().find(meets).map(String::as_str)
}
