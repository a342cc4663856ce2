"""Tries everything that a session must not be able to do, and says as JSON what happened.

Each attempt is harmless where it works: it aims at what the test has made.
"""

import ctypes
import errno
import json
import os
import socket
import struct
import sys

AT = json.load(open(sys.argv[1]))
LIBC = ctypes.CDLL(None, use_errno=True)


def call(result):
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))


def syscall(name, *args):
    call(LIBC.syscall(AT["syscalls"][name], *args))


def read(path):
    with open(path, "rb") as file:
        file.read(1)


def write(path):
    with open(path, "ab") as file:
        file.write(b"x")


def connect(family, kind, protocol, address):
    with socket.socket(family, kind, protocol) as one:
        one.settimeout(5)
        one.connect(address)


def tcp(port, protocol=0):
    connect(socket.AF_INET, socket.SOCK_STREAM, protocol, ("127.0.0.1", port))


def udp():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        one.sendto(b"leak", ("127.0.0.1", AT["udp"]))


def fast_open():
    with socket.socket() as one:
        one.settimeout(5)
        one.sendto(b"leak", 0x20000000, ("127.0.0.1", AT["closed"]))


def symlink():
    link = AT["tree"] + "/way-out"
    os.symlink(AT["secret"], link)
    read(link)


def vm_read():
    iov = struct.pack("PN", ctypes.addressof(ctypes.create_string_buffer(8)), 8)
    buffer = ctypes.create_string_buffer(iov)
    # An address that is not there: allowed means "bad address", which is no refusal.
    try:
        syscall("process_vm_readv", AT["victim"], buffer, 1, buffer, 1, 0)
    except OSError as error:
        if error.errno != errno.EFAULT:
            raise


def keyring():
    syscall("keyctl", 0, -3, 1, 0, 0)


def bad_fd(*args):
    """Allowed means that the arguments are looked at."""
    try:
        syscall(*args)
    except OSError as error:
        if error.errno not in (errno.EBADF, errno.EFAULT, errno.EINVAL):
            raise


def rename():
    os.makedirs(AT["tree"] + "/a", exist_ok=True)
    write(AT["tree"] + "/moved")
    os.rename(AT["tree"] + "/moved", AT["tree"] + "/a/moved")


def pair():
    left, right = socket.socketpair()
    left.send(b"x")
    right.recv(1)


def ptrace():
    call(LIBC.ptrace(16, AT["victim"], 0, 0))
    os.waitpid(AT["victim"], 0x40000000)
    call(LIBC.ptrace(17, AT["victim"], 0, 0))


def unshare():
    # In a child: a user namespace changes what this process may do.
    child = os.fork()
    if child == 0:
        os._exit(0 if LIBC.unshare(0x10000000) == 0 else 1)
    if os.waitpid(child, 0)[1] != 0:
        raise PermissionError(errno.EPERM, "refused")


ATTEMPTS = {
    "read its own": lambda: read(AT["tree"] + "/file"),
    "write its own": lambda: write(AT["tree"] + "/file"),
    "move its own": rename,
    "write what is read-only beneath": lambda: write(AT["tree"] + "/.git"),
    "read the system": lambda: read("/etc/passwd"),
    "read what is hidden": lambda: read(AT["hidden"]),
    "use /tmp": lambda: write("/tmp/scratch-" + AT["name"]),
    "read /proc/self": lambda: read("/proc/self/status"),
    "use a pair of sockets": pair,
    "connect to a port": lambda: tcp(AT["open"]),
    "read a secret": lambda: read(AT["secret"]),
    "list outside": lambda: os.listdir(AT["outside"]),
    "stat a secret": lambda: os.stat(AT["secret"]),
    "chmod a secret": lambda: os.chmod(AT["secret"], 0o600),
    "write outside": lambda: write(AT["outside"] + "/new"),
    "truncate outside": lambda: os.truncate(AT["outside"] + "/victim", 0),
    "hardlink in": lambda: os.link(AT["secret"], AT["tree"] + "/hard"),
    "symlink out": symlink,
    "read an inherited descriptor": lambda: os.pread(AT["fd"], 1, 0),
    "reopen an inherited descriptor": lambda: read("/proc/self/fd/%d" % AT["fd"]),
    "connect to a unix socket": lambda: connect(socket.AF_UNIX, socket.SOCK_STREAM, 0, AT["socket"]),
    "connect to an abstract socket": lambda: connect(
        socket.AF_UNIX, socket.SOCK_STREAM, 0, "\0" + AT["abstract"]
    ),
    "connect to another port": lambda: tcp(AT["closed"]),
    "connect by MPTCP": lambda: tcp(AT["closed"], 262),
    "connect by fast open": fast_open,
    "send a datagram": udp,
    "open a vsock": lambda: socket.socket(40, socket.SOCK_STREAM).close(),
    "read another's environment": lambda: read("/proc/%d/environ" % AT["victim"]),
    "signal another": lambda: os.kill(AT["victim"], 0),
    "trace another": ptrace,
    "read another's memory": vm_read,
    "mount": lambda: call(LIBC.mount(b"none", AT["tree"].encode(), b"tmpfs", 0, None)),
    "make a namespace": unshare,
    "read keys": keyring,
    "open by handle": lambda: bad_fd("open_by_handle_at", -1, 0, 0),
    "use io_uring": lambda: bad_fd("io_uring_setup", 0, 0),
}


def outcome(attempt):
    try:
        attempt()
        return "allowed"
    except OSError as error:
        return errno.errorcode.get(error.errno, str(error))


print(json.dumps({name: outcome(attempt) for name, attempt in ATTEMPTS.items()}))
