//! Where the number of a process means something: one boot of a machine, and one namespace of processes in it.

use std::fmt;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::str::FromStr;

/// A boot, and a namespace of processes that was made in it (a container has its own).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessSpace {
    boot: String,
    namespace: u64,
}

/// What is to be seen from here of the processes of a space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sight {
    /// All of them, by their numbers.
    Clear,
    /// None: they have other numbers here, or none.
    Hidden,
    /// There are none any more: the machine was started anew since.
    Over,
}

impl ProcessSpace {
    /// Ours; `None` where the system does not say.
    #[must_use]
    pub fn ours() -> Option<Self> {
        Some(Self {
            boot: boot_id()?,
            namespace: namespace()?,
        })
    }

    /// What is to be seen of it from here.
    #[must_use]
    pub fn sight(&self) -> Sight {
        match Self::ours() {
            None => Sight::Clear,
            Some(ours) if ours == *self => Sight::Clear,
            Some(ours) if ours.boot == self.boot => Sight::Hidden,
            Some(_) => Sight::Over,
        }
    }
}

impl fmt::Display for ProcessSpace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.boot, self.namespace)
    }
}

impl FromStr for ProcessSpace {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parts = text.split_once(' ');
        let parts = parts.and_then(|(boot, namespace)| Some((boot, namespace.parse().ok()?)));
        let (boot, namespace) = parts.ok_or("a boot and a number of a namespace")?;
        Ok(Self {
            boot: boot.to_owned(),
            namespace,
        })
    }
}

/// The name that the kernel gave to its own start; `None` where it gives none.
#[must_use]
pub fn boot_id() -> Option<String> {
    let id = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    Some(id.trim().to_owned()).filter(|id| !id.is_empty())
}

/// The number of our namespace of processes.
pub(crate) fn namespace() -> Option<u64> {
    Some(fs::metadata("/proc/self/ns/pid").ok()?.ino())
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use super::*;

    #[test]
    fn what_is_seen_depends_on_the_boot_and_the_namespace() {
        let ours = ProcessSpace::ours().unwrap();
        assert_eq!(ours.to_string().parse(), Ok(ours.clone()));
        assert_eq!(ours.sight(), Sight::Clear);
        let container = ProcessSpace {
            namespace: ours.namespace + 1,
            ..ours.clone()
        };
        assert_eq!(container.sight(), Sight::Hidden);
        let before = ProcessSpace {
            boot: "before".to_owned(),
            ..ours
        };
        assert_eq!(before.sight(), Sight::Over);
        assert!("before".parse::<ProcessSpace>().is_err());
    }
}
