//! A transcript as people read it: what was said, called and answered, whichever CLI wrote it.

use serde_json::Value;

use crate::adapters::says;
use crate::said::Said;

/// What the lines of a transcript say. What no CLI's file knows is passed over, as in a session; a line
/// that is no JSON stands as it is.
#[must_use]
pub fn readable(transcript: &str) -> Vec<Said> {
    let lines = transcript.lines().filter(|line| !line.trim().is_empty());
    let said = lines.flat_map(|line| match serde_json::from_str::<Value>(line) {
        Ok(event @ Value::Object(_)) => says(&event),
        _ => vec![Said::Text(line.to_owned())],
    });
    said.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(tool: &str, call: &str) -> Said {
        let (tool, call) = (tool.to_owned(), call.to_owned());
        Said::Call { tool, call }
    }

    fn result(text: &str, failed: bool) -> Said {
        let text = text.to_owned();
        Said::Result { text, failed }
    }

    #[test]
    fn a_session_of_claude_reads_as_what_was_said_called_and_answered() {
        let said = readable(include_str!("../testdata/claude-exec.jsonl"));
        let calls = said.iter().filter(|one| matches!(one, Said::Call { .. }));
        assert!(calls.count() >= 2, "{said:#?}");
        assert!(
            said.contains(&result("e13b657 add hello\n7bfd0c1 seed", false)),
            "{said:#?}"
        );
    }

    #[test]
    fn a_session_of_codex_reads_alike() {
        let said = readable(include_str!("../testdata/codex-exec.jsonl"));
        let texts = ["Writing.", "Done.\n\n[OK]"].map(|text| Said::Text(text.to_owned()));
        assert!(texts.iter().all(|text| said.contains(text)), "{said:#?}");
        assert!(
            said.contains(&result("f9c7abb add hello\n7bfd0c1 seed\n", false)),
            "{said:#?}"
        );
    }

    #[test]
    fn a_script_and_a_plain_program_read_alike_too() {
        let script = r#"{"type":"tool","name":"shell","call":"git push","denied":"not here"}
{"type":"say","text":"[OK] done"}
just a line
{"type":"nobody knows"}"#;
        let expected = [
            call("shell", "git push"),
            result("not here", true),
            Said::Text("[OK] done".to_owned()),
            Said::Text("just a line".to_owned()),
        ];
        assert_eq!(readable(script), expected);
    }
}
