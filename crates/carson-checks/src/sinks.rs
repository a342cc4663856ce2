//! Whether the chat takes posts, asked without posting.

use carson_notify::{PostError, Spec};

use crate::{Scene, Verdict};
use carson_home::secrets;

pub(crate) async fn answers(_: &Scene<'_>, spec: &dyn Spec) -> Option<Verdict> {
    let sink = match spec.open(&secrets::secret) {
        Ok(sink) => sink,
        Err(why) => return Some(Verdict::error(why)),
    };
    Some(match sink.ask().await {
        Ok(Some(said)) => Verdict::ok(said),
        // Whatever is sent to such an address is a post to somebody.
        Ok(None) => {
            Verdict::ok("its address is sound; it can only be posted to, so it was not asked")
        }
        Err(error @ PostError::Permanent(_)) => Verdict::error(error.to_string()),
        Err(error) => Verdict::error(error.to_string())
            .mend("check the network and the address; posts wait for it meanwhile"),
    })
}
