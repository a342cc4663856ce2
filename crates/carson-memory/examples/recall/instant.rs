//! An embedder that answers at once, so that what is measured is not its time.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::thread;

use carson_memory::vectors::Quantised;

/// Numbers of a vector, as many as those of the model that is measured elsewhere.
pub const DIMENSIONS: usize = 384;

/// Vectors in all directions, the same in every run.
pub struct Directions(u64);

impl Directions {
    /// From a beginning.
    pub fn from(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// The next one, of length 1.
    pub fn vector(&mut self) -> Vec<f32> {
        let numbers: Vec<f32> = (0..DIMENSIONS).map(|_| self.number()).collect();
        let length = numbers
            .iter()
            .map(|number| number * number)
            .sum::<f32>()
            .sqrt();
        numbers.into_iter().map(|number| number / length).collect()
    }

    /// The next one in eight bits a number.
    pub fn quantised(&mut self) -> Quantised {
        Quantised::of(&self.vector())
    }

    fn number(&mut self) -> f32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 40) as f32 / (1_u32 << 23) as f32 - 1.0
    }
}

/// Starts it, and gives its address.
///
/// # Errors
/// When there is no port.
pub fn serve() -> std::io::Result<String> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let url = format!("http://{}/v1", listener.local_addr()?);
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            thread::spawn(move || answer(stream));
        }
    });
    Ok(url)
}

fn answer(mut stream: TcpStream) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let mut directions = Directions::from(7);
    let mut asked = BufReader::new(stream.try_clone()?);
    loop {
        let (mut length, mut line) = (0, String::new());
        while asked.read_line(&mut line)? > 2 {
            if let Some((name, value)) = line.split_once(':')
                && name.eq_ignore_ascii_case("content-length")
            {
                length = value.trim().parse().unwrap_or(0);
            }
            line.clear();
        }
        if length == 0 {
            return Ok(());
        }
        asked.read_exact(&mut vec![0; length])?;
        let data = [serde_json::json!({"index": 0, "embedding": directions.vector()})];
        let body = serde_json::json!({"data": data}).to_string();
        let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len());
        stream.write_all((head + &body).as_bytes())?;
    }
}
