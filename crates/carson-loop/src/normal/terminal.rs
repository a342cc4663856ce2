//! What a terminal would show in the end: no colours, and of a line that was drawn anew only the last state.

/// The lines that are left.
pub(super) fn shown(text: &str) -> Vec<String> {
    let mut screen = Screen::default();
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        match c {
            '\u{1b}' => screen.obey(escape(&mut rest)),
            '\u{9b}' => screen.obey(control(&mut rest)),
            '\n' => screen.line_feed(),
            // At the end of a line it means nothing: what comes next says so.
            '\r' => screen.returned = true,
            '\u{8}' => {
                screen.returned();
                screen.line.pop();
            }
            '\t' => screen.put(c),
            c if c.is_control() => {}
            c => screen.put(c),
        }
    }
    screen.line_feed();
    screen.lines
}

/// What an escape sequence asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Asked {
    Nothing,
    /// The cursor goes up so many lines, to be written over.
    Up(usize),
    /// The line is emptied, or written from its beginning.
    Anew,
}

#[derive(Default)]
struct Screen {
    lines: Vec<String>,
    line: String,
    /// The cursor stands at the beginning of the line, which is still there.
    returned: bool,
}

impl Screen {
    fn put(&mut self, c: char) {
        self.returned();
        self.line.push(c);
    }

    /// Something is written behind a carriage return: over the line.
    fn returned(&mut self) {
        if std::mem::take(&mut self.returned) {
            self.line.clear();
        }
    }

    fn line_feed(&mut self) {
        self.returned = false;
        self.lines.push(std::mem::take(&mut self.line));
    }

    fn obey(&mut self, asked: Asked) {
        match asked {
            Asked::Nothing => {}
            Asked::Anew => {
                self.returned = false;
                self.line.clear();
            }
            Asked::Up(count) => {
                let left = self.lines.len().saturating_sub(count);
                self.lines.truncate(left);
                self.returned = false;
                self.line.clear();
            }
        }
    }
}

/// Behind ESC (ECMA-48, 5.3 and 5.6).
fn escape(rest: &mut std::str::Chars<'_>) -> Asked {
    match rest.clone().next() {
        Some('[') => {
            rest.next();
            control(rest)
        }
        // Strings: up to BEL or ESC \. One that never ends is none.
        Some(']' | 'P' | '^' | '_' | 'X') => {
            string(rest);
            Asked::Nothing
        }
        Some(' '..='/') => {
            let ahead = rest.clone().take_while(|c| (' '..='/').contains(c)).count();
            rest.nth(ahead);
            Asked::Nothing
        }
        Some('0'..='~') => {
            rest.next();
            Asked::Nothing
        }
        _ => Asked::Nothing,
    }
}

/// Parameters that a control sequence may have; a longer one is none, and is left where it stands.
const PARAMETERS: usize = 64;
/// Letters that a string may have.
const STRING: usize = 4096;

fn string(rest: &mut std::str::Chars<'_>) {
    let mut ahead = rest.clone();
    for _ in 0..STRING {
        match ahead.next() {
            Some('\u{7}' | '\u{9c}') => break,
            Some('\u{1b}') => {
                if ahead.clone().next() == Some('\\') {
                    ahead.next();
                    break;
                }
                return;
            }
            Some('\n') | None => return,
            Some(_) => {}
        }
    }
    *rest = ahead;
}

/// Behind CSI.
fn control(rest: &mut std::str::Chars<'_>) -> Asked {
    let mut ahead = rest.clone();
    let mut count = 0_usize;
    for _ in 0..PARAMETERS {
        match ahead.next() {
            Some(c @ '0'..='9') => {
                let digit = c.to_digit(10).unwrap_or(0) as usize;
                count = count.saturating_mul(10).saturating_add(digit);
            }
            Some(' '..='?') => count = 0,
            Some(c @ '@'..='~') => {
                *rest = ahead;
                return match c {
                    'A' | 'F' => Asked::Up(count.max(1)),
                    // To a column, or what is left or all of the line.
                    'G' if count <= 1 => Asked::Anew,
                    'K' if count == 2 => Asked::Anew,
                    _ => Asked::Nothing,
                };
            }
            _ => return Asked::Nothing,
        }
    }
    Asked::Nothing
}

#[cfg(test)]
mod tests {
    use super::shown;

    #[test]
    fn what_a_terminal_would_show_is_left() {
        for (text, lines) in [
            (
                "\u{1b}[1;31mred\u{1b}[0m and \u{1b}[38;5;12mblue\u{1b}[m\n",
                &["red and blue", ""][..],
            ),
            ("windows\r\nlines\r\n", &["windows", "lines", ""]),
            ("10%\r50%\r100%\nnext", &["100%", "next"]),
            ("same\r", &["same"]),
            ("spin |\u{8}/\u{8}-\u{8}.", &["spin ."]),
            (
                "one 1\ntwo 1\n\u{1b}[2A\u{1b}[2Kone 2\n\u{1b}[2Ktwo 2\n",
                &["one 2", "two 2", ""],
            ),
            ("a\u{1b}[1Gb\u{1b}[2Kc", &["c"]),
            (
                "\u{1b}]8;;https://x\u{7}link\u{1b}]8;;\u{1b}\\ \u{1b}(B.",
                &["link ."],
            ),
            ("\u{1b}]never ended", &["]never ended"]),
            ("up \u{1b}[999999999999999999999999A", &[""]),
            ("bell\u{7} nul\0\ttab\u{1b}", &["bell nul\ttab"]),
        ] {
            assert_eq!(shown(text), lines, "{text:?}");
        }
    }
}
