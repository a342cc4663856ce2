//! What a server says, as a model may read it.

use carson_core::untrusted::is_hidden;
use carson_redact::Redactor;
use serde_json::{Value, json};

use crate::wire::{is_unfinished, result_text};

/// Most bytes of an answer.
pub(crate) const ANSWER: usize = 64 * 1024;
/// Most bytes of a refusal.
const REFUSAL: usize = 1_000;

/// The result of a call, for whoever asked: words, and whether it went wrong.
pub(crate) fn result(result: &Value, redactor: &Redactor) -> Value {
    if is_unfinished(result) {
        return refusal("the tool asks for input, which nobody gives here", redactor);
    }
    let failed = result["isError"].as_bool() == Some(true);
    said(&bounded(&result_text(result), ANSWER, redactor), failed)
}

/// The result of a call that was not made, or that nothing came of.
pub(crate) fn refusal(why: &str, redactor: &Redactor) -> Value {
    said(&bounded(why, REFUSAL, redactor), true)
}

fn said(text: &str, failed: bool) -> Value {
    json!({ "content": [{ "type": "text", "text": text }], "isError": failed })
}

/// At most so many bytes of a text, without secrets and hidden letters: its beginning, its end, and between them
/// how many were left out.
pub(crate) fn bounded(text: &str, most: usize, redactor: &Redactor) -> String {
    // Secrets first: a hidden letter within one keeps nobody from reading it.
    let text: String = redactor.redact(text).chars().filter(shown).collect();
    if text.len() <= most {
        return text;
    }
    let note = |left_out: usize| format!("\n[carson: {left_out} bytes left out]\n");
    let room = most.saturating_sub(note(text.len()).len());
    let head = text.floor_char_boundary(room - room / 2);
    let tail = text.ceil_char_boundary(text.len() - room / 2);
    format!("{}{}{}", &text[..head], note(tail - head), &text[tail..])
}

/// A schema without secrets and hidden letters; one that is none any more says nothing of its arguments.
pub(crate) fn clean(schema: &Value, redactor: &Redactor) -> Value {
    let text = schema.to_string();
    let text: String = redactor.redact(&text).chars().filter(shown).collect();
    serde_json::from_str(&text).unwrap_or_else(|_| json!({ "type": "object" }))
}

fn shown(c: &char) -> bool {
    matches!(c, '\n' | '\t') || !(c.is_control() || is_hidden(*c))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_has_a_length_and_no_secret() {
        let redactor = Redactor::new(["tk-81-orchid-lamp".to_owned().into()]);
        let cut = bounded(&"aä".repeat(100_000), ANSWER, &redactor);
        assert!(
            cut.len() <= ANSWER && cut.len() > ANSWER - 10,
            "{}",
            cut.len()
        );
        assert!(cut.contains("bytes left out]"));
        let hidden = bounded(
            "tk-81-\u{200b}orchid-lamp \u{1b}[31mred\u{e0041}\n",
            99,
            &redactor,
        );
        assert!(!hidden.contains("orchid"), "{hidden}");
        assert!(hidden.ends_with("[31mred\n"), "{hidden:?}");
        let kept = bounded("plain\ttext\n", 99, &redactor);
        assert_eq!(kept, "plain\ttext\n");
    }

    #[test]
    fn a_result_is_words_and_nothing_else() {
        let redactor = Redactor::default();
        let asked = json!({
            "content": [
                { "type": "text", "text": "a" },
                { "type": "image", "data": "AAAA" },
                { "type": "resource_link", "uri": "file:///etc/passwd" },
            ],
            "structuredContent": { "n": 1 },
            "_meta": { "x": 1 },
        });
        let made = result(&asked, &redactor);
        let text = "a\n[image]\n[resource_link]";
        assert_eq!(made, said(text, false));
        let failed = json!({ "content": [], "isError": true, "structuredContent": { "n": 1 } });
        assert_eq!(result(&failed, &redactor), said("{\"n\":1}", true));
        let unfinished = json!({ "resultType": "input_required" });
        assert_eq!(result(&unfinished, &redactor)["isError"], true);
    }
}
