//! A program that could not be started.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

use crate::command::Command;

/// Why a program could not be started.
#[derive(Debug, Error)]
pub enum SpawnError {
    /// There is no such file.
    #[error("program {program:?} does not exist")]
    NotFound {
        /// The program.
        program: PathBuf,
    },
    /// The file is there but may not be run.
    #[error("program {program:?} is not executable")]
    NotExecutable {
        /// The program.
        program: PathBuf,
    },
    /// The file is a script whose interpreter, or a binary whose loader, is not there.
    #[error("the interpreter of program {program:?} does not exist")]
    Interpreter {
        /// The program.
        program: PathBuf,
    },
    /// The working directory is gone, or is none.
    #[error("working directory {cwd:?} does not exist")]
    Cwd {
        /// The directory.
        cwd: PathBuf,
    },
    /// Anything else.
    #[error("program {program:?} could not be started")]
    Io {
        /// The program.
        program: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

impl SpawnError {
    pub(crate) fn of(command: &Command, source: io::Error) -> Self {
        let program = command.program.clone();
        match source.kind() {
            // The system says the same of the directory and of the program.
            _ if !command.cwd.is_dir() => Self::Cwd {
                cwd: command.cwd.clone(),
            },
            io::ErrorKind::NotFound if command.cwd.join(&program).is_file() => {
                Self::Interpreter { program }
            }
            io::ErrorKind::NotFound => Self::NotFound { program },
            io::ErrorKind::PermissionDenied => Self::NotExecutable { program },
            _ => Self::Io { program, source },
        }
    }

    /// What the operator can do.
    #[must_use]
    pub fn hint(&self) -> &'static str {
        match self {
            Self::NotFound { .. } => "install it, or give its path in carson.toml",
            Self::NotExecutable { .. } => "chmod +x it, or give another path in carson.toml",
            Self::Interpreter { .. } => "install what its first line names, or another build of it",
            Self::Cwd { .. } => "the directory was removed while it was needed",
            Self::Io { .. } => "look at the limits of processes and open files",
        }
    }
}
