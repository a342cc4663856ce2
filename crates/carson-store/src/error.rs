//! What can go wrong with the store.

use std::path::PathBuf;

use carson_core::FiringId;
use thiserror::Error;

/// A store that cannot be opened, read or written.
#[derive(Debug, Error)]
pub enum StoreError {
    /// The address is neither SQLite nor PostgreSQL.
    #[error("database.url {url:?} is neither sqlite:PATH nor postgres://…")]
    Url {
        /// The address, without a password.
        url: String,
    },
    /// It cannot be opened.
    #[error("the database {url} cannot be opened")]
    Open {
        /// The address, without a password.
        url: String,
        /// What the driver said.
        source: sqlx::Error,
    },
    /// Its schema is not ours.
    #[error("the database {url} has a schema that this version cannot use")]
    Schema {
        /// The address, without a password.
        url: String,
        /// What the migrator said.
        source: sqlx::migrate::MigrateError,
    },
    /// The file is not one that may be written to: damaged, somebody else's, or gone.
    #[error("the database {path:?} cannot be opened: {wrong}; nothing was written to it")]
    Unusable {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        wrong: String,
        /// The newest backup beside it.
        backup: Option<PathBuf>,
    },
    /// The database is not the one that the caller knows.
    #[error("the database is not the one that this home worked with: {}", match .is_empty {
        true => "it is empty, as one that was made anew",
        false => "another fleet's, or one that was made anew, has its address now",
    })]
    Another {
        /// Whether nothing of Carson's is in it.
        is_empty: bool,
    },
    /// A query failed for a reason that an operator can mend.
    #[error("{trouble}")]
    Trouble {
        /// Which.
        trouble: Trouble,
        /// What the driver said.
        source: sqlx::Error,
    },
    /// A query failed.
    #[error("the database did not answer")]
    Query(#[source] sqlx::Error),
    /// Another host took the firing over: this one is not its writer any more.
    #[error("firing {id} was taken over by another host; nothing was written")]
    Fenced {
        /// The firing.
        id: FiringId,
    },
    /// A backup cannot be made, read or restored.
    #[error("the backup {path:?} {wrong}")]
    Backup {
        /// Its file.
        path: PathBuf,
        /// What is wrong, as the rest of a sentence.
        wrong: String,
    },
    /// A row holds something that this version cannot read.
    #[error("column {column} of a row holds {value:?}, which cannot be read")]
    Row {
        /// The column.
        column: &'static str,
        /// What it holds.
        value: String,
    },
}

/// Why a database fails, as far as it says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Trouble {
    /// Its pages do not make sense.
    #[error("the database is damaged")]
    Damaged,
    /// There is no room for another page.
    #[error("the disk of the database is full")]
    Full,
    /// Its disk cannot be written.
    #[error("the database cannot be written: its disk, its file or its server is read-only")]
    ReadOnly,
    /// The disk fails.
    #[error("the disk of the database cannot be read or written")]
    Disk,
    /// Somebody else holds it.
    #[error("another process holds the database locked")]
    Locked,
    /// The role may not do what Carson does.
    #[error("the database server does not allow it to the role that Carson signs in as")]
    Denied,
    /// A server has no connection left.
    #[error("the database server takes no more connections")]
    Crowded,
    /// Tables that were there are gone.
    #[error(
        "tables of the fleet are gone from the database: it was made anew, or they were dropped"
    )]
    Bare,
}

impl Trouble {
    /// From what the driver said.
    pub(crate) fn of(error: &sqlx::Error) -> Option<Self> {
        let code = error.as_database_error()?.code()?;
        // PostgreSQL's codes have five places.
        if code.len() == 5 {
            return match code.as_ref() {
                "53100" => Some(Self::Full),
                "25006" => Some(Self::ReadOnly),
                "42501" => Some(Self::Denied),
                "42P01" => Some(Self::Bare),
                "53300" => Some(Self::Crowded),
                "XX001" | "XX002" => Some(Self::Damaged),
                _ => None,
            };
        }
        // The low byte of SQLite's is the kind: https://sqlite.org/rescode.html
        match code.parse::<u32>().ok()? & 0xff {
            5 | 6 => Some(Self::Locked),
            8 => Some(Self::ReadOnly),
            10 | 14 => Some(Self::Disk),
            11 | 26 => Some(Self::Damaged),
            13 => Some(Self::Full),
            _ => None,
        }
    }
}

impl From<sqlx::Error> for StoreError {
    fn from(source: sqlx::Error) -> Self {
        match Trouble::of(&source) {
            Some(trouble) => Self::Trouble { trouble, source },
            None => Self::Query(source),
        }
    }
}

impl StoreError {
    /// Whether the database itself is beyond use: nothing may fire until a person has looked.
    #[must_use]
    pub fn is_damage(&self) -> bool {
        matches!(
            self,
            Self::Unusable { .. }
                | Self::Another { .. }
                | Self::Trouble {
                    trouble: Trouble::Damaged,
                    ..
                }
        )
    }

    /// Whether the disk has to be mended, and all is well then.
    #[must_use]
    pub fn is_of_the_disk(&self) -> bool {
        let Self::Trouble { trouble, .. } = self else {
            return false;
        };
        matches!(trouble, Trouble::Full | Trouble::ReadOnly | Trouble::Disk)
    }

    /// Whether the writer was fenced.
    #[must_use]
    pub fn is_fenced(&self) -> bool {
        matches!(self, Self::Fenced { .. })
    }

    /// What the operator can do.
    #[must_use]
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Url { .. } => "write sqlite:/path/to/carson.db or postgres://user@host/name",
            Self::Open { url, source } if url.starts_with("postgres") => hint_of_server(source),
            Self::Open { .. } => {
                "check that the path is writable; a damaged file can be moved away and restored from a backup"
            }
            Self::Schema { .. } => "a newer carson wrote it: install that version again",
            Self::Unusable {
                backup: Some(_), ..
            } => "`carson backup restore` puts the newest backup in its place and keeps this file",
            Self::Unusable { backup: None, .. } => {
                "there is no backup beside it; move the file away to begin with an empty one"
            }
            Self::Another { .. } => {
                "bring the old one back under its name (pg_restore of its dump), or name it in database.url; to begin \
                 anew with this one, remove state/database of this home"
            }
            Self::Trouble { trouble, .. } => match trouble {
                Trouble::Damaged => "stop the daemon, then `carson backup restore`",
                Trouble::Full => "make room on its disk; nothing is lost, and work goes on then",
                Trouble::ReadOnly => {
                    "mount the disk writable again, or mend the file's mode; a server may be a standby: name its primary"
                }
                Trouble::Disk => "look at the disk and at the kernel's log",
                Trouble::Locked => "find the process that holds it (`fuser`), and try again",
                Trouble::Denied => {
                    "the role has to own the database and its tables: ALTER DATABASE name OWNER TO role, or make the \
                     database with CREATE DATABASE name OWNER role (docs/HOSTS.md)"
                }
                Trouble::Crowded => CROWDED,
                Trouble::Bare => {
                    "stop the daemons, and bring the database back from its dump (pg_restore); every command says \
                     whether it is still another one"
                }
            },
            Self::Query(_) => "look at the disk and at the database server's log",
            Self::Fenced { .. } => {
                "this host was taken for dead; what the firing made is kept, and `carson why` says where"
            }
            Self::Backup { .. } => "`carson backup list` shows what there is",
            Self::Row { .. } => "a newer carson may have written it: install that version again",
        }
    }
}

const CROWDED: &str = "raise max_connections of the server or the CONNECTION LIMIT of the role, or fire less at once \
                       (fleet.max_firings): each process of Carson holds up to 4 connections";

/// What to do about a server that lets nobody in. The codes:
/// <https://www.postgresql.org/docs/current/errcodes-appendix.html>.
fn hint_of_server(source: &sqlx::Error) -> &'static str {
    let code = source
        .as_database_error()
        .and_then(sqlx::error::DatabaseError::code);
    match (source, code.as_deref()) {
        (sqlx::Error::Configuration(_), _) => {
            "in an address, a user or a password has to be percent-encoded: # is %23, % is %25, / is %2F, : is %3A, \
             ? is %3F, @ is %40; or leave the password out, and put it into ~/.pgpass"
        }
        (sqlx::Error::Tls(_), _) => {
            "the server and sslmode in database.url do not agree on TLS: switch ssl on at the server, or name the \
             certificate that it is signed by (sslmode=verify-full&sslrootcert=/path/to/ca.crt)"
        }
        (sqlx::Error::Io(said), _) if said.kind() == std::io::ErrorKind::InvalidData => {
            "the server's certificate is not one for this host name by somebody who is trusted: name the certificate \
             that it is signed by (sslrootcert=/path/to/ca.crt), and the host as the certificate has it"
        }
        (_, Some("28P01")) => {
            "a role that is not there is answered so, too: make it, or give it that password (ALTER ROLE name PASSWORD '…'), or mend it in database.url or ~/.pgpass; in \
             an address #, %, /, :, ? and @ have to be percent-encoded (# is %23, % is %25)"
        }
        (_, Some("28000")) => {
            "the server has no such role (CREATE ROLE name LOGIN), or its pg_hba.conf no line that lets it in from \
             here, or only with TLS (hostssl): add ?sslmode=verify-full to database.url then, or take sslmode=disable away"
        }
        (_, Some("3D000")) => "make it: CREATE DATABASE name OWNER role (docs/HOSTS.md)",
        (_, Some("42501")) => {
            "let the role in: GRANT CONNECT ON DATABASE name TO role (docs/HOSTS.md)"
        }
        (_, Some("53300")) => CROWDED,
        _ => {
            "check that the server runs at that address and takes this user and password (`psql` with the same address \
             says it)"
        }
    }
}
