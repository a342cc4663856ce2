//! A tool call in short, for people.

use serde_json::Value;

/// A call is cut to this many characters in records.
pub(crate) const CALL_MAX: usize = 300;

/// The shell line of a call where it has one, else its input as JSON.
pub(crate) fn short_call(input: &Value) -> String {
    let line = input["command"].as_str().or(input.as_str());
    let call = line.map_or_else(|| input.to_string(), str::to_owned);
    call.chars().take(CALL_MAX).collect()
}
