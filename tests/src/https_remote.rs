//! A remote over HTTPS: what [`http_remote`](crate::http_remote) answers, behind TLS.

use std::net::TcpListener;
use std::path::PathBuf;

use crate::authority::{Authority, speak_tls};
use crate::http_remote::answer;

/// Answers for the repositories below `root` as long as the test runs; where.
#[must_use]
pub fn serve(root: PathBuf, authority: &Authority) -> String {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let config = authority.config();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let (config, root) = (config.clone(), root.clone());
            // Who does not trust it hangs up, and the next one is answered all the same.
            std::thread::spawn(move || {
                speak_tls(config, stream.unwrap(), |stream| answer(stream, &root));
            });
        }
    });
    format!("https://localhost:{port}")
}
