//! The chat's sign-in.

use carson_config::read_secret;

use super::{Scene, Verdict};

pub(super) async fn sign_in(scene: &Scene<'_>) -> Option<Verdict> {
    let slack = scene.house.fleet.slack.as_ref()?;
    Some(match read_secret(slack.auth.path()) {
        Ok(_) => Verdict::ok(format!("posts go to {}", slack.channel)),
        Err(error) => Verdict::broken(format!("nothing can be posted: {error}")),
    })
}
