//! What the messages of a request hold, whichever API it is for.

use serde_json::Value;

/// What a tool of the CLI returned to the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolResult {
    /// The output or the error, as the model sees it.
    pub text: String,
    /// Whether the CLI marked it as an error; a call that a hook blocked is one.
    pub is_error: bool,
}

pub(super) fn array(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// Content is either one string or a list of blocks, of which only some carry text.
pub(super) fn texts(content: &Value) -> impl Iterator<Item = &str> {
    let blocks = array(content)
        .iter()
        .filter_map(|block| block["text"].as_str());
    content.as_str().into_iter().chain(blocks)
}
