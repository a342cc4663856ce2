//! The tools that the daemon serves to clients of this machine (`[mcp]`).

use std::sync::{Arc, PoisonError};

use carson_config::McpGrant;
use carson_home::Home;
use carson_loop::caller::Caller;
use carson_mcp::{Opening, Roots, Standing, http};
use carson_redact::Redactor;
use secrecy::SecretString;

use crate::faces::Faces;
use crate::jobs::Shared;
use crate::served::Served;

/// The tools, where the settings want them served.
pub(crate) struct Face(Served);

impl Face {
    /// Nothing is served yet.
    pub(crate) fn of(faces: &Faces) -> Self {
        Self(Served::telling(faces.tell("mcp")))
    }

    /// Serves where the settings of now say. What may be done there, and by whom, is asked of them at
    /// every call.
    pub(crate) fn follow(&mut self, shared: &Shared) {
        let wanted = newest(shared).fleet.mcp.as_ref().map(|mcp| mcp.listen);
        let (standing, of_token) = (Arc::new(OfDaemon(shared.clone())), shared.clone());
        let token = Arc::new(move || -> Result<SecretString, String> {
            let home = newest(&of_token);
            let mcp = home.fleet.mcp.as_ref();
            let mcp = mcp.ok_or("the settings have no [mcp] any more")?;
            let token = mcp.token()?;
            // It may be another one than when the settings were read.
            home.redactor.learn([token.clone()]);
            Ok(token)
        });
        self.0.follow(wanted, |at, tell| {
            tokio::spawn(async move { match http::keep(at, standing, token, &tell).await {} })
        });
    }
}

fn newest(shared: &Shared) -> Home {
    let home = shared.read().unwrap_or_else(PoisonError::into_inner);
    home.clone()
}

/// The newest settings say what clients may.
struct OfDaemon(Shared);

impl Standing for OfDaemon {
    fn fleet(&self) -> Opening<'_> {
        let home = newest(&self.0);
        Box::pin(async move { Ok(home) })
    }

    fn grants(&self) -> Vec<McpGrant> {
        let mcp = newest(&self.0).fleet.mcp.clone();
        mcp.map(|mcp| mcp.grant).unwrap_or_default()
    }

    fn roots(&self) -> Roots {
        let mcp = newest(&self.0).fleet.mcp.clone();
        Roots {
            here: None,
            below: mcp.map(|mcp| mcp.roots).unwrap_or_default(),
        }
    }

    fn caller(&self) -> Caller {
        let home = newest(&self.0);
        Caller::new(home.environ, home.program, home.redactor)
    }

    fn redactor(&self) -> Redactor {
        newest(&self.0).redactor
    }
}
