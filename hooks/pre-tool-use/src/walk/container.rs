//! `docker run -v SRC:DST IMAGE COMMAND`: what the command deletes below a mount is deleted outside.
//!
//! The command is walked with the mounts in its state: an absolute path below one is the path behind
//! it, any other lies in the container, where only the mounts matter to anybody.

use crate::words::Words;
use std::rc::Rc;

use crate::path;

use super::options::{self, Arg, Spec};
use super::{Exec, State, Walker};

/// Mounts: a directory in the container and what is behind it.
pub type Mounts = Rc<Vec<(String, String)>>;

const OPTIONS: Spec = Spec {
    short: "vwepulhcam",
    long: Words(
        "volume mount workdir env publish user name network label hostname cpus memory entrypoint \
         env-file platform add-host device gpus cap-add cap-drop security-opt tmpfs ulimit pull \
         restart shm-size log-driver ipc pid userns dns link volumes-from",
    ),
};

impl Walker<'_> {
    /// Walks the command of `docker run` when something is mounted.
    pub(super) fn container(&mut self, exec: &Exec, state: &State) -> Option<String> {
        let args = exec.args();
        let fetches = || args.iter().any(|arg| super::DOWNLOADERS.has(arg));
        if args.first().is_some_and(|verb| verb == "exec") && fetches() {
            return Some(crate::marks::only(crate::marks::DOWNLOAD));
        }
        let verb = args
            .iter()
            .take(6)
            .position(|arg| arg == "run" || arg == "create")?;
        let rest = &args[verb + 1..];
        let (given, image) = options::leading(rest, OPTIONS);
        let mut mounts = Vec::new();
        let (mut workdir, mut entry) = (None, None);
        for arg in given {
            match arg {
                Arg::Short('v', Some(text)) | Arg::Long("volume", Some(text)) => {
                    mounts.extend(self.volume(text, state));
                }
                Arg::Long("mount", Some(text)) => mounts.extend(self.mount(text, state)),
                Arg::Short('w', value) | Arg::Long("workdir", value) => workdir = value,
                Arg::Long("entrypoint", value) => entry = value,
                _ => {}
            }
        }
        let command = rest.get(image + 1..).unwrap_or_default();
        let argv: Vec<String> = entry
            .map(str::to_owned)
            .into_iter()
            .chain(command.iter().cloned())
            .collect();
        if mounts.is_empty() || argv.is_empty() {
            return None;
        }
        // The deepest mount decides; below none of them lies the container's own.
        mounts.sort_by_key(|(inside, _)| std::cmp::Reverse(inside.len()));
        mounts.push((String::new(), format!("{}/container", self.ctx.worktree)));
        let mut child = State::new("/");
        child.mounts = Some(Rc::new(mounts));
        let start = child.absolute(workdir.unwrap_or("/"), "/");
        child.cwd = vec![start.unwrap_or_else(|| crate::marks::only(crate::marks::ANY))];
        let outer = std::mem::replace(&mut self.contained, true);
        self.deeper("docker run", |walker| {
            walker.exec(Exec::of(argv), &mut child);
        });
        self.contained = outer;
        None
    }

    /// `SRC:DST[:OPTIONS]`; a source that is no path is a volume.
    fn volume(&self, text: &str, state: &State) -> Option<(String, String)> {
        let mut parts = text.trim_start_matches('=').split(':');
        let (source, inside) = (parts.next()?, parts.next()?);
        self.mounted(source, inside, state)
    }

    /// `type=bind,source=SRC,target=DST`.
    fn mount(&self, text: &str, state: &State) -> Option<(String, String)> {
        let value = |keys: &[&str]| {
            text.split(',').find_map(|pair| {
                let (key, value) = pair.split_once('=')?;
                keys.contains(&key).then_some(value)
            })
        };
        let source = value(&["source", "src"])?;
        let inside = value(&["target", "dst", "destination"])?;
        self.mounted(source, inside, state)
    }

    fn mounted(&self, source: &str, inside: &str, state: &State) -> Option<(String, String)> {
        let volume = !source.starts_with(['/', '.', '~']) && crate::marks::exact(source);
        if volume {
            return None;
        }
        let behind = self.paths_of(source, state).into_iter().next()?;
        let inside = path::absolute(inside, "/")?;
        Some((inside.trim_end_matches('/').to_owned(), behind))
    }
}
