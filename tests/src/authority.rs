//! Who signs certificates for this machine, and for nobody else.

use std::fs;
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

/// How the certificates are made: an authority of the test's own, and what it signed.
const CERTIFICATES: &str = "[req]\ndistinguished_name = name\nprompt = no\n[name]\nCN = localhost\n\
    [ca]\nbasicConstraints = critical,CA:TRUE\n\
    [leaf]\nbasicConstraints = CA:FALSE\nsubjectAltName = DNS:localhost\n";

/// An authority, and a server for `localhost` that it vouches for.
pub struct Authority {
    /// Goes with the value.
    dir: tempfile::TempDir,
    config: Arc<ServerConfig>,
}

impl Default for Authority {
    fn default() -> Self {
        Self::new()
    }
}

impl Authority {
    /// Makes both.
    #[must_use]
    pub fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("openssl.cnf"), CERTIFICATES).unwrap();
        let own = "-subj /CN=test -extensions ca -keyout ca.key -out ca.pem";
        let signed = "-extensions leaf -CA ca.pem -CAkey ca.key -keyout key.pem -out cert.pem";
        for more in [own, signed] {
            make(dir.path(), more);
        }
        let chain = CertificateDer::from_pem_file(dir.path().join("cert.pem")).unwrap();
        let key = PrivateKeyDer::from_pem_file(dir.path().join("key.pem")).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![chain], key)
            .unwrap();
        Self {
            dir,
            config: Arc::new(config),
        }
    }

    /// The authority's own certificate, for whoever is to trust it.
    #[must_use]
    pub fn certificate(&self) -> PathBuf {
        self.dir.path().join("ca.pem")
    }

    /// What the server answers with.
    #[must_use]
    pub fn config(&self) -> Arc<ServerConfig> {
        Arc::clone(&self.config)
    }
}

/// Gives a connection of such a server to whoever answers it, and closes it so that the client can tell the end from
/// a cut.
pub fn speak_tls(
    config: Arc<ServerConfig>,
    stream: TcpStream,
    answer: impl FnOnce(&mut StreamOwned<ServerConnection, TcpStream>),
) {
    use std::io::Write as _;
    let mut stream = StreamOwned::new(ServerConnection::new(config).unwrap(), stream);
    answer(&mut stream);
    stream.conn.send_close_notify();
    let _ = stream.flush();
}

#[expect(
    clippy::disallowed_methods,
    reason = "the authority is no program of Carson's"
)]
fn make(dir: &Path, more: &str) {
    let args = "req -x509 -config openssl.cnf -newkey rsa:2048 -nodes -days 2";
    let args = args.split(' ').chain(more.split(' '));
    let made = Command::new("openssl").args(args).current_dir(dir).output();
    let made = made.unwrap();
    assert!(made.status.success(), "openssl {more}: {made:?}");
}
