//! At signs in a prompt. Some CLIs take what stands behind one for a file, and read it into the prompt by themselves:
//! no tool is called, so no hook is asked, and whoever writes an issue chooses the file.

/// What the model is told where there are any.
pub(super) const NOTE: &str = "In what you are given an at sign may be written \\@ so that nothing takes it for the name \
                               of a file. Read it as @, and write @ without a backslash.";

/// The prompt with `\@` for each at sign that the CLI would look behind; `before` is what stands in front of it.
pub(super) fn escaped(prompt: &str, is_looked_behind: fn(before: Option<char>) -> bool) -> String {
    let mut safe = String::with_capacity(prompt.len());
    let mut before = None;
    for letter in prompt.chars() {
        if letter == '@' && is_looked_behind(before) {
            safe.push('\\');
        }
        safe.push(letter);
        before = Some(letter);
    }
    safe
}
