//! The loop detector: the same call with the same result, again and again.

/// How often in a row is a loop.
pub const LOOP: u32 = 3;

/// The last call with its result, and how often it came in a row.
#[derive(Debug, Default)]
pub struct Repeats {
    last: Option<[String; 3]>,
    count: u32,
}

impl Repeats {
    /// Notes one; whether it is a loop now. The same call with another result is none.
    pub fn note(&mut self, tool: &str, arguments: &str, result: &str) -> bool {
        let now = [tool, arguments, result].map(str::to_owned);
        if self.last.as_ref() == Some(&now) {
            self.count += 1;
        } else {
            self.count = 1;
            self.last = Some(now);
        }
        self.count >= LOOP
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_of_the_same_are_a_loop_and_a_changing_result_is_none() {
        let mut repeats = Repeats::default();
        let mut note = |result: &str| repeats.note("run", "{}", result);
        assert!(!note("a") && !note("a") && !note("b"));
        assert!(!note("a") && !note("a"));
        assert!(note("a"));
    }
}
