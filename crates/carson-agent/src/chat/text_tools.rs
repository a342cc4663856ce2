//! Calls as text, for models and endpoints without tool calling.
//!
//! A call is a fenced block whose info string is `tool` and whose content is one JSON object of
//! exactly `tool` and `arguments`. What is in such a block and no such object is a call of a tool that
//! does not exist: the model hears of it.

use std::fmt::Write as _;

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::chat::stream::CALLS_MAX;
use crate::message::{Call, Message, Reply};
use crate::model::ToolSpec;

/// The tool that a block calls which cannot be read.
pub const UNREADABLE: &str = "unreadable_block";

const BEGIN: &str = "```tool";
const END: &str = "```";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Block {
    tool: String,
    #[serde(default)]
    arguments: Map<String, Value>,
}

/// What the model is told of the tools.
#[must_use]
pub fn instructions(tools: &[ToolSpec]) -> String {
    let mut text = format!(
        "\nTo call a tool, write a block like this, alone on its lines, and end your answer:\n\
         {BEGIN}\n{{\"tool\": \"NAME\", \"arguments\": {{…}}}}\n{END}\nThe tools:"
    );
    for ToolSpec {
        name,
        description,
        parameters,
    } in tools
    {
        let _ = write!(text, "\n- {name}: {description} Arguments: {parameters}");
    }
    text
}

/// The conversation in words alone.
#[must_use]
pub fn in_words(messages: &[Message], tools: &[ToolSpec]) -> Vec<Message> {
    let mut words: Vec<Message> = Vec::new();
    for message in messages {
        let next = match message {
            Message::System(text) => Message::System(text.clone() + &instructions(tools)),
            Message::User(text) => Message::User(text.clone()),
            Message::Assistant { text, .. } => Message::Assistant {
                text: text.clone(),
                calls: Vec::new(),
            },
            Message::Result { tool, text, .. } => {
                Message::User(format!("Result of {tool}:\n{text}"))
            }
        };
        // Many chat templates refuse two messages of one side in a row.
        match (words.last_mut(), next) {
            (Some(Message::User(before)), Message::User(text)) => {
                before.push_str("\n\n");
                before.push_str(&text);
            }
            (_, next) => words.push(next),
        }
    }
    words
}

/// The calls that an answer has in its words.
#[must_use]
pub fn read(mut reply: Reply) -> Reply {
    if reply.cut {
        return reply;
    }
    let blocks = blocks(&reply.text);
    if blocks.len() > CALLS_MAX {
        reply.cut = true;
        return reply;
    }
    reply.calls = blocks.iter().map(|block| call(block)).collect();
    reply
}

/// The contents of all blocks. One without an end says so by what it is: no object.
fn blocks(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut open: Option<String> = None;
    for line in text.lines() {
        let mark = line.trim();
        open = match open {
            Some(block) if mark == END => {
                found.push(block);
                None
            }
            Some(block) => Some(block + line + "\n"),
            None => (mark == BEGIN).then(String::new),
        };
    }
    // The answer broke off in it, whatever it holds.
    found.extend(open.map(|block| format!("{block}[no end]")));
    found
}

/// What the model is told of such a block.
#[must_use]
pub fn why_unreadable(block: &str) -> String {
    let wrong = serde_json::from_str::<Block>(block).err();
    let wrong = wrong.map_or_else(String::new, |error| format!(": {error}"));
    format!(
        "the block is not one JSON object of exactly \"tool\" and \"arguments\"{wrong}; nothing was called. Write it \
         like this, on its own lines:\n{BEGIN}\n{{\"tool\": \"NAME\", \"arguments\": {{…}}}}\n{END}"
    )
}

fn call(block: &str) -> Call {
    let (tool, arguments) = match serde_json::from_str::<Block>(block) {
        Ok(block) => (block.tool, Value::Object(block.arguments).to_string()),
        Err(_) => (UNREADABLE.to_owned(), block.to_owned()),
    };
    Call {
        id: String::new(),
        tool,
        arguments,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn calls(text: &str) -> Vec<(String, String)> {
        let reply = Reply {
            text: text.to_owned(),
            ..Reply::default()
        };
        let calls = read(reply).calls.into_iter();
        calls.map(|call| (call.tool, call.arguments)).collect()
    }

    #[test]
    fn a_block_is_a_call_and_nothing_else_is() {
        let text = "I look.\n```tool\n{\"tool\": \"list\", \"arguments\": {\"path\": \".\"}}\n```\nThen\n\
                    ```tool\n{\"tool\": \"list\"}\n```\n";
        let list = |arguments: &str| ("list".to_owned(), arguments.to_owned());
        assert_eq!(calls(text), [list(r#"{"path":"."}"#), list("{}")]);
        for none in [
            "{\"tool\": \"list\"}",
            "```json\n{\"tool\": \"list\"}\n```",
            "say ```tool {\"tool\": \"list\"} ```",
        ] {
            assert!(calls(none).is_empty(), "{none}");
        }
    }

    #[test]
    fn what_is_not_exactly_such_an_object_calls_nothing() {
        for wrong in [
            "list",
            "{\"tool\": \"list\", \"then\": 1}",
            "{\"tool\": \"list\"} {\"tool\": \"list\"}",
            "{\"tool\": \"list\", \"arguments\": \"x\"}",
            "[]",
        ] {
            let called = calls(&format!("```tool\n{wrong}\n```"));
            assert_eq!(called.len(), 1);
            assert_eq!(called[0].0, UNREADABLE, "{wrong}");
            let told = why_unreadable(&called[0].1);
            assert!(
                told.starts_with("the block is not one JSON object"),
                "{told}"
            );
        }
    }

    #[test]
    fn an_answer_that_broke_off_or_calls_too_much_is_cut() {
        let broken = calls("```tool\n{\"tool\": \"list\"}");
        assert_eq!(broken[0].0, UNREADABLE);
        let text = "```tool\n{\"tool\": \"list\"}\n```\n".repeat(CALLS_MAX + 1);
        let reply = read(Reply {
            text,
            ..Reply::default()
        });
        assert!(reply.cut && reply.calls.is_empty());
    }

    #[test]
    fn the_two_sides_take_turns() {
        let result = |text: &str| Message::Result {
            id: "1".to_owned(),
            tool: "list".to_owned(),
            text: text.to_owned(),
        };
        let said = [
            Message::System("s".to_owned()),
            Message::User("task".to_owned()),
            Message::Assistant {
                text: "a".to_owned(),
                calls: Vec::new(),
            },
            result("x"),
            result("y"),
            Message::User("Not done yet.".to_owned()),
        ];
        let words = in_words(&said, &[]);
        assert_eq!(words.len(), 4);
        let Message::User(last) = &words[3] else {
            panic!("{words:?}")
        };
        assert_eq!(
            last,
            "Result of list:\nx\n\nResult of list:\ny\n\nNot done yet."
        );
    }
}
