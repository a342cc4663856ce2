//! `docker run -v SRC:DST IMAGE COMMAND`, `kubectl exec POD -- COMMAND`: what runs in a container.
//!
//! The command is walked with the mounts in its state: an absolute path below one is the path behind
//! it, any other lies in the container, where only the mounts matter to anybody. What it reads matters
//! everywhere: a credential, or what the cloud's metadata service answers to a container too.

use crate::marks::{self, ANY, DOWNLOAD};
use crate::words::Words;
use std::rc::Rc;

use crate::path;

use super::options::{self, Arg, Spec};
use super::{Exec, State, Walker};

/// Mounts: a directory in the container and what is behind it.
pub type Mounts = Rc<Vec<(String, String)>>;

/// Programs that run a command in a container, a pod or a machine of their own.
pub(super) const RUNTIMES: Words = Words(
    "docker podman nerdctl docker-compose podman-compose kubectl oc lxc incus crictl finch apptainer \
     singularity multipass limactl microk8s k3s",
);

const OPTIONS: Spec = Spec {
    short: "vwepulhcamn",
    long: Words(
        "volume mount workdir env publish user name network label hostname cpus memory entrypoint \
         env-file platform add-host device gpus cap-add cap-drop security-opt tmpfs ulimit pull \
         restart shm-size log-driver ipc pid userns dns link volumes-from namespace container context \
         image index runtime",
    ),
};

/// What runs in a container, as far as the command line says.
#[derive(Default)]
struct Inside {
    argv: Vec<String>,
    mounts: Vec<(String, String)>,
    workdir: Option<String>,
    /// It is made for this command, and nothing of the machine is in it.
    alone: bool,
}

impl Walker<'_> {
    /// Walks the command that runs in a container.
    pub(super) fn container(&mut self, exec: &Exec, state: &State) -> Option<String> {
        let mut inside = self.inside(exec.args(), state)?;
        let fetches = inside.argv.iter().any(|arg| super::DOWNLOADERS.has(arg));
        let prints = || marks::only(if fetches { DOWNLOAD } else { ANY });
        if inside.argv.is_empty() {
            return None;
        }
        // The deepest mount decides; below none of them lies the container's own.
        inside
            .mounts
            .sort_by_key(|(inside, _)| std::cmp::Reverse(inside.len()));
        let own = format!("{}/container", self.ctx.worktree);
        inside.mounts.push((String::new(), own));
        let mut child = State::new("/");
        child.mounts = Some(Rc::new(inside.mounts));
        let start = child.absolute(inside.workdir.as_deref().unwrap_or("/"), "/");
        child.cwd = vec![start.unwrap_or_else(|| marks::only(ANY))];
        let alone = inside.alone;
        let outer = self.contained;
        self.contained = outer || alone;
        let mut command = Exec::of(inside.argv);
        command.stdin.clone_from(&exec.stdin);
        self.deeper("container", |walker| walker.exec(command, &mut child));
        self.contained = outer;
        Some(prints())
    }

    /// The command that runs inside, with its mounts.
    fn inside(&self, args: &[String], state: &State) -> Option<Inside> {
        let verbs = Words("run create exec rsh debug shell");
        let verb = args.iter().take(8).position(|arg| verbs.has(arg))?;
        let rest = &args[verb + 1..];
        let (given, image) = options::leading(rest, OPTIONS);
        let mut inside = Inside::default();
        let mut entry = None;
        for arg in given {
            match arg {
                Arg::Short('v', Some(text)) | Arg::Long("volume", Some(text)) => {
                    inside.mounts.extend(self.volume(text, state));
                }
                Arg::Long("mount", Some(text)) => inside.mounts.extend(self.mount(text, state)),
                Arg::Short('w', value) | Arg::Long("workdir", value) => {
                    inside.workdir = value.map(str::to_owned);
                }
                Arg::Long("entrypoint", value) => entry = value,
                _ => {}
            }
        }
        let made = matches!(args[verb].as_str(), "run" | "create");
        inside.alone = made && inside.mounts.is_empty();
        let command = rest.get(image + 1..).unwrap_or_default();
        // `kubectl exec POD -c CONTAINER -- COMMAND`.
        let dashes = command.iter().position(|arg| arg == "--");
        let command = dashes.map_or(command, |at| &command[at + 1..]);
        let name = rest.get(image).map_or("", String::as_str);
        let program = entry.or_else(|| program_of(name, command.first()));
        inside.argv.extend(program.map(str::to_owned));
        inside.argv.extend(command.iter().cloned());
        Some(inside)
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
        let volume = !source.starts_with(['/', '.', '~']) && marks::exact(source);
        if volume {
            return None;
        }
        let behind = self.paths_of(source, state).into_iter().next()?;
        let inside = path::absolute(inside, "/")?;
        Some((inside.trim_end_matches('/').to_owned(), behind))
    }
}

/// What an image runs that is called like a program: `curlimages/curl URL`.
fn program_of<'i>(image: &'i str, first: Option<&String>) -> Option<&'i str> {
    let name = path::name(image)
        .split([':', '@'])
        .next()
        .unwrap_or_default();
    let known = super::DOWNLOADERS.has(name) || name == "git";
    let named = known && first.is_some_and(|first| first != name);
    named.then_some(name)
}
