//! The package has no program of its own: it carries those of the workspace.
