//! Scripts as steps of a setup.

/// A script as steps: its lines where each of them stands alone, else the whole of it as it is.
pub(super) fn steps(script: &str) -> Vec<String> {
    let lines = lines(script);
    let whole = script.trim_matches(['\r', '\n']).trim_end();
    match lines.iter().all(|line| stands_alone(line)) {
        true => lines,
        false => vec![whole.to_owned()],
    }
}

/// Words of what lies on several lines.
const PARTS: [&str; 14] = [
    "if", "then", "else", "elif", "fi", "for", "while", "until", "do", "done", "case", "esac",
    "select", "function",
];

/// Whether a line is a whole command for sure, whatever stands before and behind it.
fn stands_alone(line: &str) -> bool {
    let even = |mark: char| line.matches(mark).count().is_multiple_of(2);
    let closed = |[open, close]: [char; 2]| {
        line.matches(open).count() == line.matches(close).count() && !line.starts_with(close)
    };
    let apart = |letter: char| letter.is_whitespace() || ";()&|".contains(letter);
    !line.ends_with(['\\', '&', '|'])
        && !line.contains("<<")
        && ['"', '\'', '`'].into_iter().all(even)
        && [['(', ')'], ['{', '}']].into_iter().all(closed)
        && !line.split(apart).any(|word| PARTS.contains(&word))
}

/// Its lines without empty ones and remarks.
pub(super) fn lines(text: &str) -> Vec<String> {
    let lines = text.lines().map(str::trim);
    let said = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
    said.map(str::to_owned).collect()
}

/// Steps that begin in the repository's directory, wherever the one before them went.
pub(super) fn where_it_began(steps: Vec<String>) -> Vec<String> {
    match steps.iter().any(|step| goes(step)) {
        true => vec![format!("(\n{}\n)", steps.join("\n"))],
        false => steps,
    }
}

/// Whether a step goes to another directory.
pub(super) fn goes(step: &str) -> bool {
    step.split_whitespace().any(|word| word == "cd")
}
