//! How long git may take.

use std::time::Duration;

/// How long a local command may take: enough to hash some gigabytes of untracked files.
pub(crate) const LOCAL: Duration = Duration::from_secs(600);
/// How long a question to the remote may take.
pub(crate) const ASK: Duration = Duration::from_secs(60);
/// How long a fetch or a push may take.
pub(crate) const REMOTE: Duration = Duration::from_secs(300);
/// How long a first clone may take.
pub(crate) const CLONE: Duration = Duration::from_secs(3600);
