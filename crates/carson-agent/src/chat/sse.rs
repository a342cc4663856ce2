//! Server-sent events: bytes become the data of one event after another.

/// Longest event, in bytes.
const EVENT_MAX: usize = 1024 * 1024;

/// An event that is too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLong;

/// A reader of one stream.
#[derive(Debug, Default)]
pub struct Events {
    line: Vec<u8>,
    data: String,
}

impl Events {
    /// The data of each event that these bytes complete.
    pub fn push(&mut self, bytes: &[u8]) -> Result<Vec<String>, TooLong> {
        let mut done = Vec::new();
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            if self.line.len() + piece.len() + self.data.len() > EVENT_MAX {
                return Err(TooLong);
            }
            self.line.extend_from_slice(piece);
            if piece.ends_with(b"\n") {
                done.extend(self.end_of_line());
            }
        }
        Ok(done)
    }

    /// What came without the empty line that ends an event.
    pub fn finish(&mut self) -> Option<String> {
        let last = self.end_of_line();
        last.or_else(|| self.take())
    }

    fn end_of_line(&mut self) -> Option<String> {
        let line = String::from_utf8_lossy(&std::mem::take(&mut self.line)).into_owned();
        let line = line.trim_end_matches(['\n', '\r']);
        if line.is_empty() {
            return self.take();
        }
        if let Some(data) = line.strip_prefix("data:") {
            if !self.data.is_empty() {
                self.data.push('\n');
            }
            self.data.push_str(data.strip_prefix(' ').unwrap_or(data));
        }
        None
    }

    fn take(&mut self) -> Option<String> {
        let data = std::mem::take(&mut self.data);
        (!data.is_empty()).then_some(data)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_one_however_it_is_cut() {
        let text = ": ping\r\n\r\ndata: {\"a\":\r\ndata: 1}\r\nid: 7\r\n\r\ndata:[DONE]\n";
        for size in 1..text.len() {
            let mut events = Events::default();
            let mut seen = Vec::new();
            for piece in text.as_bytes().chunks(size) {
                seen.extend(events.push(piece).unwrap());
            }
            seen.extend(events.finish());
            assert_eq!(seen, ["{\"a\":\n1}", "[DONE]"], "{size}");
        }
    }

    #[test]
    fn an_endless_line_has_an_end() {
        let mut events = Events::default();
        let piece = vec![b'x'; 64 * 1024];
        let pushed = (0..100).find(|_| events.push(&piece).is_err());
        assert!(pushed.is_some());
    }
}
