//! The list.

use std::sync::Arc;

use carson_core::section::Around;
use serde_json::Value;

use crate::ntfy::NtfySection;
use crate::section::{SinkKind, Spec};
use crate::slack::SlackSection;
use crate::webhook::WebhookSection;

/// Every sink there is.
pub const SINKS: &[SinkKind] = &[
    SinkKind::of::<SlackSection>(),
    SinkKind::of::<WebhookSection>(),
    SinkKind::of::<NtfySection>(),
];

/// The sink of this name with this section; `None` when there is none, or the section does not hold.
#[must_use]
pub fn spec(name: &str, section: Value, around: &mut dyn Around) -> Option<Arc<dyn Spec>> {
    let kind = SINKS.iter().find(|kind| kind.name == name)?;
    (kind.check)(section, around)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_sink_has_a_section_of_its_own() {
        for kind in SINKS {
            let twice = SINKS.iter().filter(|other| other.name == kind.name);
            assert_eq!(twice.count(), 1, "{}", kind.name);
            let schema = (kind.schema)();
            assert_eq!(schema["additionalProperties"], false, "{}", kind.name);
            let filled = (kind.filled)(serde_json::json!({})).unwrap();
            let keys = |value: &Value| {
                value
                    .as_object()
                    .unwrap()
                    .keys()
                    .cloned()
                    .collect::<Vec<_>>()
            };
            assert_eq!(keys(&filled), keys(&schema["properties"]), "{}", kind.name);
        }
    }
}
