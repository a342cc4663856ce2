//! System calls that no session needs.

use std::collections::BTreeMap;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, apply_filter,
};

/// What the filters shall close.
#[derive(Clone, Copy, Debug)]
pub(super) struct Closed {
    /// Everything of the network but TCP.
    pub all_but_tcp: bool,
    /// Unix sockets, but for pairs: without mounts of our own, a socket of the machine is a path
    /// away.
    pub unix_sockets: bool,
}

/// Refused: "operation not permitted".
const REFUSED: &[i64] = &[
    // Other processes.
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    // Mounts and namespaces.
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_open_tree,
    libc::SYS_move_mount,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    libc::SYS_unshare,
    libc::SYS_setns,
    // Files by a number instead of a path.
    libc::SYS_open_by_handle_at,
    libc::SYS_name_to_handle_at,
    // Keys, which no namespace separates.
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    // The machine.
    libc::SYS_bpf,
    libc::SYS_kexec_load,
    libc::SYS_kexec_file_load,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_reboot,
    libc::SYS_acct,
    libc::SYS_quotactl,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_clock_adjtime,
    libc::SYS_adjtimex,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_syslog,
    libc::SYS_vhangup,
    libc::SYS_lookup_dcookie,
    libc::SYS_nfsservctl,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_iopl,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_ioperm,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_modify_ldt,
];

/// "Not there": programs fall back to what can be filtered by its arguments.
const ABSENT: &[i64] = &[
    libc::SYS_clone3,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    // Its mode is behind a pointer.
    libc::SYS_openat2,
];

/// With these, whoever runs a file becomes its owner: the operator.
const GAINING: [i32; 2] = [0o4000, 0o2000];

/// Calls that set a mode, and which of their arguments it is.
const MODES: &[(i64, u8)] = &[
    (libc::SYS_fchmod, 1),
    (libc::SYS_fchmodat, 2),
    (FCHMODAT2, 2),
    (libc::SYS_mknodat, 2),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_chmod, 1),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_mknod, 1),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_creat, 1),
];

/// Linux 6.6; one number everywhere.
const FCHMODAT2: i64 = 452;

/// Calls that create a file with a mode if their flags say so: flags, mode.
const CREATING: &[(i64, u8, u8)] = &[
    (libc::SYS_openat, 2, 3),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_open, 1, 2),
];

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// Filters our system calls and those of our children for good. Needs `no_new_privs`.
pub(super) fn filter(closed: Closed) -> Result<(), String> {
    let mut refused: Rules = REFUSED.iter().map(|call| (*call, Vec::new())).collect();
    add_arguments(&mut refused, closed).map_err(|error| error.to_string())?;
    let absent: Rules = ABSENT.iter().map(|call| (*call, Vec::new())).collect();
    for (rules, errno) in [(absent, libc::ENOSYS), (refused, libc::EPERM)] {
        let program = compile(rules, errno.cast_unsigned())?;
        apply_filter(&program).map_err(|error| error.to_string())?;
    }
    Ok(())
}

fn compile(rules: Rules, errno: u32) -> Result<BpfProgram, String> {
    let arch = std::env::consts::ARCH;
    let arch = arch
        .try_into()
        .map_err(|_| format!("no filter for {arch}"))?;
    let refuse = SeccompAction::Errno(errno);
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, refuse, arch);
    let program: BpfProgram = filter
        .and_then(TryInto::try_into)
        .map_err(|error| error.to_string())?;
    Ok(without_x32(program))
}

/// The x32 calls of a 64-bit PC have numbers of their own that no rule would meet.
#[cfg(target_arch = "x86_64")]
fn without_x32(program: BpfProgram) -> BpfProgram {
    const NUMBER: u32 = 0;
    const X32: u32 = 0x4000_0000;
    let one = |code: u32, jt, jf, k| seccompiler::sock_filter {
        code: u16::try_from(code).unwrap_or(u16::MAX),
        jt,
        jf,
        k,
    };
    let refuse = libc::SECCOMP_RET_ERRNO | libc::ENOSYS.cast_unsigned();
    let mut whole = vec![
        one(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, NUMBER),
        one(libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K, 0, 1, X32),
        one(libc::BPF_RET | libc::BPF_K, 0, 0, refuse),
    ];
    whole.extend(program);
    whole
}

#[cfg(not(target_arch = "x86_64"))]
fn without_x32(program: BpfProgram) -> BpfProgram {
    program
}

/// Calls that are refused for some arguments.
fn add_arguments(rules: &mut Rules, closed: Closed) -> Result<(), seccompiler::BackendError> {
    let namespaces = [
        libc::CLONE_NEWUSER,
        libc::CLONE_NEWPID,
        libc::CLONE_NEWNS,
        libc::CLONE_NEWNET,
        libc::CLONE_NEWIPC,
        libc::CLONE_NEWUTS,
        libc::CLONE_NEWCGROUP,
    ];
    let clone: Result<Vec<_>, _> = namespaces
        .iter()
        .map(|flag| all(&[has(0, *flag)]))
        .collect();
    rules.insert(libc::SYS_clone, clone?);
    // Typing for somebody else.
    let typing = [libc::TIOCSTI, libc::TIOCLINUX];
    let typing: Result<Vec<_>, _> = typing.iter().map(|what| all(&[low(1, *what)])).collect();
    rules.insert(libc::SYS_ioctl, typing?);
    rules.insert(libc::SYS_socket, sockets(closed)?);
    for (call, argument) in MODES {
        let bits = GAINING.iter().map(|bit| all(&[has(*argument, *bit)]));
        rules.insert(*call, bits.collect::<Result<_, _>>()?);
    }
    for (call, flags, mode) in CREATING {
        let mut refused = Vec::new();
        for bit in GAINING {
            // Without these the kernel looks at no mode, and it may be anything.
            for creates in [libc::O_CREAT, libc::O_TMPFILE & !libc::O_DIRECTORY] {
                refused.push(all(&[has(*flags, creates), has(*mode, bit)])?);
            }
        }
        rules.insert(*call, refused);
    }
    if closed.all_but_tcp {
        // A connection that no rule for connections sees.
        for (call, flags) in [
            (libc::SYS_sendto, 3),
            (libc::SYS_sendmsg, 2),
            (libc::SYS_sendmmsg, 3),
        ] {
            rules.insert(call, vec![all(&[has(flags, libc::MSG_FASTOPEN)])?]);
        }
    }
    Ok(())
}

/// Sockets are refused but for those of families that programs need.
fn sockets(closed: Closed) -> Result<Vec<SeccompRule>, seccompiler::BackendError> {
    let mut families = vec![libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK];
    if !closed.unix_sockets {
        families.push(libc::AF_UNIX);
    }
    let other: Vec<_> = families.iter().map(|family| not(0, *family)).collect();
    let mut rules = vec![all(&other)?];
    if closed.all_but_tcp {
        for family in [libc::AF_INET, libc::AF_INET6] {
            // Its low bits are the type; the others are flags.
            let stream = masked(1, 0xf, libc::SOCK_STREAM);
            for other in 0..=0xf {
                if other != libc::SOCK_STREAM {
                    rules.push(all(&[low_i32(0, family), masked(1, 0xf, other)])?);
                }
            }
            // MPTCP, SCTP and SMC are streams too, and no rule for TCP sees them.
            let others = [not(2, 0), not(2, libc::IPPROTO_TCP)];
            let [zero, tcp] = others;
            rules.push(all(&[low_i32(0, family), stream, zero, tcp])?);
        }
    }
    Ok(rules)
}

/// The number of an argument, and what its lower half is compared with.
type Condition = (u8, SeccompCmpOp, u64);

fn all(conditions: &[Condition]) -> Result<SeccompRule, seccompiler::BackendError> {
    let conditions: Result<Vec<_>, _> = conditions
        .iter()
        .map(|(argument, compare, value)| {
            SeccompCondition::new(*argument, SeccompCmpArgLen::Dword, compare.clone(), *value)
        })
        .collect();
    SeccompRule::new(conditions?)
}

fn low(argument: u8, value: u64) -> Condition {
    (argument, SeccompCmpOp::Eq, value)
}

fn low_i32(argument: u8, value: i32) -> Condition {
    low(argument, u64::from(value.cast_unsigned()))
}

fn not(argument: u8, value: i32) -> Condition {
    (argument, SeccompCmpOp::Ne, u64::from(value.cast_unsigned()))
}

/// All bits of the flag are set.
fn has(argument: u8, flag: i32) -> Condition {
    masked(argument, u64::from(flag.cast_unsigned()), flag)
}

fn masked(argument: u8, mask: u64, value: i32) -> Condition {
    let compare = SeccompCmpOp::MaskedEq(mask);
    (argument, compare, u64::from(value.cast_unsigned()))
}
