//! A sink as the settings have it.

use std::fmt::Debug;
use std::path::Path;

use carson_core::section::SectionKind;
use chrono::NaiveTime;
use secrecy::SecretString;

use crate::chat::Chat;
use crate::sink::Sink;

/// Reads a file that holds a secret; else says why it cannot be had.
pub type ReadSecret = dyn Fn(&Path) -> Result<SecretString, String> + Send + Sync;

/// A line of the list: the section of a sink.
pub type SinkKind = SectionKind<dyn Spec>;

/// A sink as it was checked: what the fleet holds, without its secrets.
pub trait Spec: Debug + Send + Sync {
    /// The sink's name: its section, and the column of the outbox.
    fn name(&self) -> &'static str;

    /// The files that its secrets are in.
    fn files(&self) -> Vec<&Path>;

    /// The secrets in them, in every form that must appear nowhere. Files that cannot be read are
    /// left out.
    fn secrets(&self, read: &ReadSecret) -> Vec<SecretString> {
        let files = self.files().into_iter();
        files.filter_map(|file| read(file).ok()).collect()
    }

    /// The sink, with its secrets as they are now.
    ///
    /// # Errors
    /// Why a secret cannot be had or used; never the secret.
    fn open(&self, read: &ReadSecret) -> Result<Box<dyn Sink>, String>;

    /// Where people are listened to as well, by a sink that can.
    fn chat(&self) -> Option<&Chat> {
        None
    }

    /// When it is told what the fleet did.
    fn daily(&self) -> Daily {
        Daily::default()
    }
}

/// When a day's work is told, in the fleet's zone; never without.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Daily {
    /// In the morning.
    pub brief: Option<NaiveTime>,
    /// In the evening.
    pub recap: Option<NaiveTime>,
}
