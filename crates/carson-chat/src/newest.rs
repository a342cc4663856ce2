//! The settings of now.

use std::sync::Arc;

use carson_home::Home;
use carson_notify::Chat;

/// The home with the newest settings.
pub type Newest = Arc<dyn Fn() -> Home + Send + Sync>;

/// What the settings say of listening.
pub(crate) fn chat_of(home: &Home) -> Option<Chat> {
    home.fleet
        .sinks
        .iter()
        .find_map(|sink| sink.chat())
        .cloned()
}
