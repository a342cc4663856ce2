//! The JSON schemas of what operators write.

use serde_json::Value;

use crate::listed;
use crate::raw::Settings;
use crate::role_file::RoleFile;

/// The JSON schemas of `carson.toml` and of `role.toml`.
#[must_use]
pub fn schema() -> (Value, Value) {
    (settings(), role())
}

pub(crate) fn settings() -> Value {
    let mut settings = schemars::schema_for!(Settings).to_value();
    listed::into_schema(&mut settings);
    settings
}

pub(crate) fn role() -> Value {
    schemars::schema_for!(RoleFile).to_value()
}
