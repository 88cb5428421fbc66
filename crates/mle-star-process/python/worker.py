"""Imports libraries once, and forks a process for each script.

Python imports this file under the name ``sitecustomize`` when it starts, before it opens the script. The import does
not end: it serves requests. In a forked process it does end, and the interpreter continues as usual: it opens the
script named on its command line, creates ``__main__``, prints tracebacks, sets the exit status. So a script sees what
Python itself does, not an imitation.

The program is at the other end of standard input, a stream socket. A message is its length (four bytes, native
order) and a body of fields ``NAME=VALUE`` that end with NUL; answers are lines. In order:

1. ``worker``: this file is running.
2. The first message: the modules to import, and which namespaces scripts get.
3. ``ready PROCESS``, from a supervisor that waits for a script in the namespaces; any other line is an error.
   The process is the supervisor; with namespaces, its parent, which waits outside.
4. A message for each script: its folder, its variables, its confinement. Descriptors come with the length:
   stdout, stderr, control, report, and those that the message names (a Landlock ruleset, a cgroup.procs). Then 3 again.

The supervisor does what ``spawn/supervisor.rs`` does for a script that starts cold: orders come through the control
pipe (``T``: ask the script's group to end; closed: kill everything), and when no process of the script is left, eight
bytes go to the report pipe (raw wait status, number of processes left behind). Without a report, the script did not run
to its end here, or not at all. The script is confined as in ``spawn/confine.rs``. As there, a script can lower its
supervisor's limits: the supervisor opens what it needs before, waits with ``epoll``, and if it is killed because of a
limit, its parent outside reports the end.

Nothing may compute here: a thread pool that ran before a fork makes the forked process hang.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import gc
import importlib
import io
import os
import select
import signal
import socket
import struct
import sys
import time
import weakref
from types import ModuleType
from typing import NamedTuple

PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_CAPBSET_DROP = 1, 4, 24
PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS = 36, 38
CLONE_NEWNS, CLONE_NEWPID, CLONE_NEWNET = 0x20000, 0x20000000, 0x40000000
MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC = 1, 2, 4, 8
MS_BIND, MS_REC, MS_PRIVATE = 0x1000, 0x4000, 0x40000
OPEN_TREE, MOVE_MOUNT, MOUNT_SETATTR = 428, 429, 442
LANDLOCK_ADD_RULE, LANDLOCK_RESTRICT_SELF = 445, 446
"""Numbers of system calls, the same on every architecture."""
KEYCTL, JOIN_SESSION_KEYRING = {"x86_64": 250, "aarch64": 219}.get(os.uname().machine, -1), 1
AT_FDCWD, AT_RECURSIVE = -100, 0x8000
OPEN_TREE_CLONE, MOVE_MOUNT_F_EMPTY_PATH = 1, 4
SIOCSIFFLAGS, IFF_UP_AND_RUNNING = 0x8914, 0x41
MADV_COLLAPSE, HUGE = 25, 1 << 21
KEPT_CAPABILITIES = 0b11111
"""The capabilities that root keeps: those that let it use files as it does outside."""
TIDY_UP = 2.0
"""Seconds that helpers which clean up after a script may take, as `TIDY_UP` in `spawn.rs`."""
KILLING = 20.0
"""Seconds of killing before the report is sent anyway."""
SCRIPT = sys.orig_argv[-1]
OF_LAST_EXCEPTION = ("last_exc", "last_type", "last_value", "last_traceback")
"""Attributes of `sys` with the exception that was not caught."""
EXITS: list[object] = []
"""The `code` of the SystemExit that ends this process."""
FIXED_TORCH_SEED = 67280421310721
"""The initial seed of older versions of torch; newer ones draw it."""

libc = ctypes.CDLL(None, use_errno=True)


class Fields:
    """The fields of a message, by name."""

    def __init__(self, body: bytes) -> None:
        self.all: dict[str, list[bytes]] = {}
        for field in body.split(b"\0")[:-1]:
            name, value = field.split(b"=", 1)
            self.all.setdefault(name.decode(), []).append(value)

    def each(self, name: str) -> list[bytes]:
        """Every value of this name, in the order they came."""
        return self.all.get(name, [])

    def get(self, name: str) -> bytes | None:
        """The only value of this name."""
        return self.each(name)[0] if name in self.all else None


class Request(NamedTuple):
    """One script to run."""

    fields: Fields
    stdout: int
    stderr: int
    control: int
    report: int
    ruleset: int | None
    cgroup: int | None


class Worker(NamedTuple):
    """What this process holds between two scripts."""

    channel: socket.socket
    setup: Fields
    deaths: int
    """A signalfd for the deaths of children."""
    changed: dict[bytes, bytes]
    """Variables that Python and imports set, as they would in the script's own process."""
    script_path: int
    """The address of the interpreter's pointer to the path of the file it will run."""


def serve() -> None:
    """Runs scripts; returns only in the process of a script."""
    channel = socket.socket(fileno=os.dup(0))
    channel.sendall(b"worker\n")
    message = receive(channel)
    if message is None:
        os._exit(0)
    setup, _ = message
    script_path = find_script_path()
    before = given_variables()
    for name in setup.each("import"):
        import_quietly(name.decode())
    after = dict(os.environb)
    os.chdir("/")
    reason = refusal()
    if script_path is None or reason:
        channel.sendall(f"{reason or 'cannot find the script path of this Python'}\n".encode())
        os._exit(1)
    for clear in getattr(sys.modules.get("typing"), "_cleanups", ()):
        clear()  # Some libraries do this at the end of each script, which is slow in a forked process.
    gc.collect()
    gc.freeze()
    gather_memory()
    # Libraries' resources from import time stay with this process: scripts must not release them.
    for finalizer in vars(weakref.finalize).get("_registry", {}):
        finalizer.atexit = False
    # Without variables that name this process's own folder, which scripts do not have.
    own = os.fsencode(os.path.expanduser("~"))
    changed = {name: value for name, value in after.items() if before.get(name) != value and own not in value}
    worker = Worker(channel, setup, open_deaths(), changed, script_path)
    while True:
        # Forked before the script arrives, so that the script does not wait for it.
        if fork_supervisor(worker):
            return


def receive(channel: socket.socket) -> tuple[Fields, list[int]] | None:
    """The next message and its descriptors; None if the program has closed the channel."""
    head, descriptors, _, _ = socket.recv_fds(channel, 4, 6)
    if len(head) < 4:
        return None
    (length,) = struct.unpack("=I", head)
    body = channel.recv(length, socket.MSG_WAITALL)
    return (Fields(body), descriptors) if len(body) == length else None


def given_variables() -> dict[bytes, bytes]:
    """The variables that this process was started with; without a locale, Python adds one."""
    with open("/proc/self/environ", "rb") as file:
        return dict(variable.split(b"=", 1) for variable in file.read().split(b"\0") if b"=" in variable)


def import_quietly(name: str) -> None:
    """Ignores errors: the script gets them itself if it imports the module."""
    with contextlib.suppress(BaseException):
        importlib.import_module(name)


def refusal() -> str | None:
    """Why no script can be forked from this process, or None."""
    if sys.implementation.name != "cpython":
        return "it is not CPython"
    threading = sys.modules.get("threading")
    if threading is not None and threading.active_count() > 1:
        return "a library started a thread on import"
    opened = [os.path.realpath(f"/proc/self/fd/{descriptor}") for descriptor in os.listdir("/proc/self/fd")]
    if any(path.startswith("/dev/nvidia") for path in opened):
        return "a library opened a GPU on import"
    return None


def gather_memory() -> None:
    """Moves memory to huge pages if the kernel can: a fork, and its end, then takes half as long."""
    low, high, is_ours = 0, 0, False
    with open("/proc/self/smaps", "rb") as mappings:
        for first, second, *others in map(bytes.split, mappings):
            if b"-" in first:
                low, high = (int(address, 16) for address in first.split(b"-"))
                is_ours = second == b"rw-p" and others[2] == b"0"
            # Huge pages fill holes, so only mappings with few holes are moved.
            elif first == b"Anonymous:" and is_ours and 4 * int(second) << 10 > 3 * (high - low):
                low, high = -(-low // HUGE) * HUGE, high // HUGE * HUGE
                if low < high:
                    libc.madvise(ctypes.c_void_p(low), ctypes.c_size_t(high - low), MADV_COLLAPSE)


def find_script_path() -> int | None:
    """The address of the pointer to the script's full path in the interpreter's configuration.

    Python sets that path when it starts, and scripts run in other folders.
    """
    expected = wide(os.path.join(os.getcwd(), SCRIPT))
    with contextlib.suppress(AttributeError, OSError):
        of_config = ctypes.pythonapi._Py_GetConfig
        of_config.restype = ctypes.c_void_p
        start = of_config()
        with open("/proc/self/mem", "rb", 0) as memory:
            places = [start + offset for offset in range(0, 512, 8)]
            found = [place for place in places if points_to(memory.fileno(), place, expected)]
        if len(found) == 1:
            return found[0]
    return None


def wide(text: str) -> bytes:
    """As C's wide characters, with the last NUL."""
    return (text + "\0").encode("utf-32-le" if sys.byteorder == "little" else "utf-32-be", "surrogatepass")


def points_to(memory: int, place: int, expected: bytes) -> bool:
    """Does the word at `place` point to these bytes?"""
    (pointer,) = struct.unpack("=Q", os.pread(memory, 8, place))
    if not 0 < pointer < 1 << 63:
        return False
    with contextlib.suppress(OSError):
        return os.pread(memory, len(expected), pointer) == expected
    return False


def set_script_path(place: int, path: str) -> None:
    """Makes the interpreter run `path`. The old text is not freed."""
    text = wide(path)
    allocate = ctypes.pythonapi.PyMem_RawMalloc
    allocate.restype, allocate.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
    copy = allocate(len(text))
    ctypes.memmove(copy, text, len(text))
    ctypes.c_void_p.from_address(place).value = copy


def open_deaths() -> int:
    """Blocks every signal; returns a descriptor that is readable when a child has died."""
    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    signals = ctypes.create_string_buffer(128)
    signals[(signal.SIGCHLD - 1) // 8] = bytes([1 << (signal.SIGCHLD - 1) % 8])
    return must(libc.signalfd(-1, signals, os.O_NONBLOCK), "signalfd")


def fork_supervisor(worker: Worker) -> bool:
    """Forks a supervisor and waits for its end; True in the process of its script."""
    namespaces = int(worker.setup.get("namespaces") or 0)
    parent, (ours, theirs) = os.getpid(), socket.socketpair()
    child = os.fork()
    if child == 0:
        die_with(parent)
        ours.close()
        with reported(worker.channel):
            if namespaces:
                return wait_outside(worker, namespaces, theirs)
            theirs.close()
            return supervise(worker, os.getpid())
    theirs.close()
    if ours.recv(1):
        with reported(worker.channel):
            map_users(worker.setup, child)
        ours.sendall(b"!")
    ours.close()
    if os.waitpid(child, 0)[1]:
        os._exit(1)
    return False


@contextlib.contextmanager
def reported(channel: socket.socket):
    """Reports errors to the program and ends this process: no script may run unconfined."""
    try:
        yield
    except BaseException as error:  # noqa: BLE001 - whatever it is
        try:
            reason = " ".join(f"{type(error).__name__}: {error}".split())
            channel.sendall(f"{reason}\n".encode("utf-8", "replace"))
        finally:
            os._exit(1)


def map_users(setup: Fields, process: int) -> None:
    """Maps the users in the process's new namespace."""
    if setup.get("setgroups"):
        overwrite(f"/proc/{process}/setgroups", b"deny")
    for name in ("uid_map", "gid_map"):
        overwrite(f"/proc/{process}/{name}", setup.get(name) or b"")


def wait_outside(worker: Worker, namespaces: int, parent: socket.socket) -> bool:
    """Creates the namespaces, and waits outside for the supervisor, their first process, to pass on its report."""
    must(libc.unshare(namespaces), "unshare")
    parent.sendall(b"?")
    if not parent.recv(1):
        os._exit(1)
    parent.close()
    has_own_processes, own = namespaces & CLONE_NEWPID, os.getpid()
    ours, theirs = socket.socketpair()
    child = os.fork()
    if child == 0:
        # In a new process namespace, the parent has no number.
        die_with(0 if has_own_processes else own)
        ours.close()
        return supervise(worker, own, theirs)
    ours = socket.socket(fileno=os.dup2(ours.detach(), 0))
    os.closerange(3, 1 << 16)
    pipes, report = socket.recv_fds(ours, 1, 1)[1], ours.recv(8)
    status = 0 if report else os.waitpid(child, 0)[1]
    # No process outside kills it, so its script's limits did, and everything in the namespace has died with it.
    if not report and pipes and has_own_processes and os.WIFSIGNALED(status):
        report, status = struct.pack("=iI", signal.SIGKILL, 0), 0
    with contextlib.suppress(OSError):  # The program may have closed its end; the child may have been waited for.
        if report:
            os.write(pipes[0], report)
        os.closerange(0, 1 << 16)
        os.waitpid(child, 0)
    os._exit(1 if status else 0)


def die_with(parent: int) -> None:
    """Ends this process when its parent, a process with one thread, ends."""
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(1)


def supervise(worker: Worker, known_as: int, outside: socket.socket | None = None) -> bool:
    """Waits for a script, forks it and waits for its end; True in the script's process. Reports to `outside`."""
    libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    # The script runs as the same user and must not read this process's memory.
    libc.prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
    worker.channel.sendall(f"ready {known_as}\n".encode())
    message = receive(worker.channel)
    if message is None:
        os._exit(1)
    fields, descriptors = message
    named = dict(zip(fields.each("descriptor"), descriptors[4:]))
    request = Request(fields, *descriptors[:4], named.get(b"ruleset"), named.get(b"cgroup"))
    if outside is not None:
        socket.send_fds(outside, [b"!"], [request.report])
        os.dup2(outside.detach(), request.report)
    set_up(worker.setup, request)
    confined, tell = os.pipe()
    own = os.getpid()
    family = Family(own == 1, request.control, worker.deaths)
    family.script = os.fork()
    if family.script == 0:
        os.close(confined)
        become(worker, request, own, tell)
        return True
    for descriptor in (request.stdout, request.stderr, tell):
        os.close(descriptor)
    # Confining the script may hang on a file system that does not answer; then any order ends it.
    if confined in select.select([confined, request.control], [], [])[0]:
        if not os.read(confined, 1):
            os._exit(1)
        # Whatever the script did to make this fail, everything ends now.
        with contextlib.suppress(Exception):
            family.watch()
    family.end()
    status = signal.SIGKILL if family.status is None else family.status
    with contextlib.suppress(OSError):  # The program may have closed its end.
        os.write(request.report, struct.pack("=iI", status, family.killed))
    # Freeing a copy of the worker's memory takes a while; the program must not wait for it.
    os.close(request.report)
    os._exit(0)


def set_up(setup: Fields, request: Request) -> None:
    """Sets up the namespaces."""
    fields, flags = request.fields, int(setup.get("namespaces") or 0)
    if flags & CLONE_NEWNET:
        loopback_up()
    if flags & CLONE_NEWNS:
        # Mounts made here must not propagate to the outside.
        mount(None, b"/", None, MS_REC | MS_PRIVATE)
        arrange_mounts(fields)
        if flags & CLONE_NEWPID:
            mount(b"proc", b"/proc", b"proc", MS_NOSUID | MS_NODEV | MS_NOEXEC)
        for options in fields.each("shared-memory"):
            mount(b"tmpfs", b"/dev/shm", b"tmpfs", MS_NOSUID | MS_NODEV, options)
        # Kernels without a `pid_max` for each namespace refuse; the program counts processes anyway.
        with contextlib.suppress(OSError):
            for most in fields.each("process-ids"):
                overwrite("/proc/sys/kernel/pid_max", most)
        if (settings := fields.each("kernel-setting")) and not flags & CLONE_NEWPID:
            with contextlib.suppress(OSError):  # Where the system itself has made it read-only, it stays so.
                set_mounts(b"/proc", 0, MS_RDONLY, 0)
        for path in filter(os.path.exists, settings):
            mount(path, path, None, MS_BIND | MS_REC)
            set_mounts(path, MS_RDONLY, 0, AT_RECURSIVE)
    os.chdir(fields.each("folder")[0])
    for rule in fields.each("late") if request.ruleset is not None else ():
        add_rule(request.ruleset, rule)


def mount(source: bytes | None, target: bytes, kind: bytes | None, flags: int, options: bytes | None = None) -> None:
    """The system call of this name."""
    must(libc.mount(source, target, kind, ctypes.c_ulong(flags), options), f"mount {os.fsdecode(target)}")


def arrange_mounts(fields: Fields) -> None:
    """Makes everything read-only except some folders, and hides most; needed paths are mounted into them again."""
    close_mounts(fields.each("writable"))
    shown = [(path, hold(path), True) for path in fields.each("shown-folder")]
    shown += [(path, hold(path), False) for path in fields.each("shown-file")]
    for own in fields.each("temporary"):
        mount(own, b"/tmp", None, MS_BIND)
    for hidden in fields.each("hidden"):
        mount(b"tmpfs", hidden, b"tmpfs", MS_NOSUID | MS_NODEV, b"size=1m,mode=755")
    for folder in fields.each("parent"):
        os.mkdir(folder, 0o755)
    for target, link in zip(fields.each("link-target"), fields.each("link")):
        os.symlink(target, link)
    for path, held, is_folder in shown:
        if is_folder:
            os.mkdir(path, 0o755)
        else:
            os.close(os.open(path, os.O_CREAT | os.O_CLOEXEC, 0o400))
        to = (ctypes.c_long(AT_FDCWD), path, ctypes.c_long(MOVE_MOUNT_F_EMPTY_PATH))
        system_call(MOVE_MOUNT, ctypes.c_long(held), b"", *to)
        os.close(held)
    for hidden in fields.each("hidden"):
        set_mounts(hidden, MS_RDONLY, 0, 0)


def hold(path: bytes) -> int:
    """A descriptor of the mount at `path`, to be mounted again."""
    flags = ctypes.c_long(OPEN_TREE_CLONE | os.O_CLOEXEC | AT_RECURSIVE)
    return system_call(OPEN_TREE, ctypes.c_long(AT_FDCWD), path, flags)


def close_mounts(writable: list[bytes]) -> None:
    """Makes everything read-only except these folders. Landlock does not protect modes, owners and times."""
    if not writable:
        return
    for folder in writable:
        mount(folder, folder, None, MS_BIND | MS_REC)
    set_mounts(b"/", MS_RDONLY, 0, AT_RECURSIVE)
    for folder in writable:
        set_mounts(folder, 0, MS_RDONLY, AT_RECURSIVE)


def set_mounts(path: bytes, add: int, clear: int, flags: int) -> None:
    """Sets and clears attributes of the mount at `path`, or also of every mount below it."""
    attributes = (ctypes.c_uint64 * 4)(add, clear, 0, 0)
    system_call(MOUNT_SETATTR, ctypes.c_long(AT_FDCWD), path, ctypes.c_long(flags), attributes, ctypes.c_size_t(32))


def loopback_up() -> None:
    """As `ip link set lo up`."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        request = ctypes.create_string_buffer(struct.pack("=16sH", b"lo", IFF_UP_AND_RUNNING), 40)
        must(libc.ioctl(any_socket.fileno(), ctypes.c_ulong(SIOCSIFFLAGS), request), "loopback")


def add_rule(ruleset: int, rule: bytes) -> None:
    """Allows an access below a path; one that does not exist needs no rule."""
    access, path = rule.split(b" ", 1)
    with contextlib.suppress(FileNotFoundError):
        parent = os.open(path, os.O_PATH | os.O_CLOEXEC)
        beneath = ctypes.create_string_buffer(struct.pack("=Qi", int(access), parent), 12)
        system_call(LANDLOCK_ADD_RULE, ctypes.c_long(ruleset), ctypes.c_long(1), beneath, ctypes.c_long(0))
        os.close(parent)


def become(worker: Worker, request: Request, supervisor: int, tell: int) -> None:
    """Puts this process into the state of one that was started for the script."""
    os.setsid()
    libc.prctl(PR_SET_DUMPABLE, 1, 0, 0, 0)
    die_with(supervisor)
    null = os.open(os.devnull, os.O_RDONLY)
    for descriptor, standard in ((null, 0), (request.stdout, 1), (request.stderr, 2)):
        os.dup2(descriptor, standard)
    os.environb.clear()
    os.environb.update({k: v for k, v in (pair.split(b"=", 1) for pair in request.fields.each("set"))})
    os.environb.update(worker.changed)
    set_script_path(worker.script_path, os.path.join(os.getcwd(), SCRIPT))
    reset_standard_input()
    reset_main()
    reset_libraries()
    confine(request)
    os.write(tell, b"!")
    worker.channel.detach()
    # The script must not inherit this process's descriptors.
    os.closerange(3, os.sysconf("SC_OPEN_MAX"))
    signal.pthread_sigmask(signal.SIG_SETMASK, ())


def confine(request: Request) -> None:
    """Confines this process for good."""
    fields = request.fields
    if request.cgroup is not None:
        os.write(request.cgroup, b"0")
    for limit in fields.each("limit"):
        resource, soft, hard = (int(number) for number in limit.split())
        must(libc.setrlimit(resource, (ctypes.c_uint64 * 2)(soft, hard)), "setrlimit")
    drops_privileges = fields.get("drop-privileges") is not None
    if drops_privileges:
        # Replaces the keyring of the user's session. If the kernel has no keyrings or refuses, none is shared.
        libc.syscall(*(ctypes.c_long(number) for number in (KEYCTL, JOIN_SESSION_KEYRING, 0)))
        with contextlib.suppress(OSError):
            overwrite("/proc/self/oom_score_adj", fields.get("drop-privileges") or b"")
        for capability in range(64):
            if not KEPT_CAPABILITIES >> capability & 1:
                libc.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)
    drop_capabilities(drops_privileges)
    if drops_privileges or request.ruleset is not None:
        must(libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs")
    if request.ruleset is not None:
        system_call(LANDLOCK_RESTRICT_SELF, ctypes.c_long(request.ruleset), ctypes.c_long(0))


def drop_capabilities(drops_privileges: bool) -> None:
    """Does what an exec would: only root keeps capabilities, within its bounding set."""
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    sets = (ctypes.c_uint32 * 6)()
    must(libc.capget(header, sets), "capget")
    is_root = os.geteuid() == 0
    if is_root and not drops_privileges:
        return
    kept = KEPT_CAPABILITIES if is_root else 0
    for place, capabilities in enumerate(sets):
        sets[place] = capabilities & kept if place < 2 else 0
    must(libc.capset(header, sets), "capset")


def overwrite(path: str, text: bytes) -> None:
    """Writes everything at once, as files of the kernel require."""
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CLOEXEC), "wb", 0) as file:
        file.write(text)


def system_call(number: int, *arguments: object) -> int:
    """Makes a system call that the C library has no function for."""
    libc.syscall.restype = ctypes.c_long
    return must(libc.syscall(ctypes.c_long(number), *arguments), f"system call {number}")


def must(result: int, what: str) -> int:
    """Returns the result, or raises the C library's error as an exception."""
    if result < 0:
        error = ctypes.get_errno()
        raise OSError(error, f"{what}: {os.strerror(error)}")
    return result


def reset_standard_input() -> None:
    """Opens standard input as Python does when it starts; then it was the channel."""
    old = sys.stdin
    buffer = io.open(0, "rb", closefd=False)
    buffer.raw.name = "<stdin>"
    stdin = io.TextIOWrapper(buffer, old.encoding, old.errors, "\n", write_through=old.write_through)
    stdin.mode = "r"
    sys.stdin = sys.__stdin__ = stdin


def reset_main() -> None:
    """Creates a main module that the garbage collector sees: objects from before the fork are frozen."""
    old = sys.modules["__main__"]
    new = ModuleType("__main__")
    vars(new).update(vars(old))
    if "__annotations__" in vars(new):
        new.__annotations__ = {}
    for name in ("__main__", "__mp_main__"):
        if sys.modules.get(name) is old:
            sys.modules[name] = new


def reset_libraries() -> None:
    """Resets what libraries draw or look up once for each process. `random` does this itself."""
    if numpy_random := sys.modules.get("numpy.random"):
        numpy_random.seed()
    torch = sys.modules.get("torch.random")
    if torch and torch.initial_seed() != FIXED_TORCH_SEED:
        torch.default_generator.seed()  # `torch.seed` would also seed GPUs.
    if triton := sys.modules.get("triton.knobs"):
        vars(type(triton.cache))["home_dir"].default = os.path.expanduser("~/")
    if tempfile := sys.modules.get("tempfile"):
        tempfile.tempdir = None
    if process := sys.modules.get("multiprocessing.process"):
        process.current_process().authkey = os.urandom(32)
        process.ORIGINAL_DIR = os.getcwd()


def note_exits() -> None:
    """Records the SystemExit that ends a script in `EXITS`.

    Python has no hook for it. But the interpreter reads the exception's `code` while no Python code runs.
    """
    members = gc.get_referents(vars(SystemExit))[0]
    member = members["code"]

    def get(exit: SystemExit) -> object:
        code = member.__get__(exit)
        try:
            sys._getframe(1)
        except ValueError:
            EXITS.append(code)
        return code

    members["code"] = property(get, member.__set__, member.__delete__)
    ctypes.pythonapi.PyType_Modified(ctypes.py_object(SystemExit))


def finish() -> None:
    """Frees the script's own objects, and ends the process if its exit status is known. Freeing a thousand modules
    takes longer than many scripts, and shows nothing except complaints of libraries about objects that the collector
    does not see.
    """
    main = sys.modules.get("__main__", sys)
    status = exit_status(main)
    try:
        flush()
    except Exception:  # noqa: BLE001 - the interpreter will meet it again and report it
        return
    # Frees the script's own objects in the interpreter's order: `__del__` may print.
    for name in OF_LAST_EXCEPTION:
        vars(sys).pop(name, None)
    for name in ("__main__", "__mp_main__"):
        sys.modules.pop(name, None)
    left = weakref.ref(main)
    del main
    gc.collect()
    if (main := left()) is not None:
        clear(vars(main))
        gc.collect()
    try:
        flush()
        close_files()
    finally:
        libc.fflush(None)
        if status is not None:
            os._exit(status)
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)
        os.dup2(null, 2)


def exit_status(main: ModuleType) -> int | None:
    """The script's exit status; None if only the interpreter knows it.

    Older interpreters do not read `code`; they keep `__file__` when they end with a SystemExit.
    """
    if EXITS:
        code = EXITS[-1]
        if isinstance(code, int):
            return code & 0xFF if abs(code) < 1 << 63 else None
        return int(code is not None)
    # A subclass may define its own `code`.
    unknown = hasattr(main, "__file__") or SystemExit.__subclasses__()
    return None if unknown or any(hasattr(sys, name) for name in OF_LAST_EXCEPTION) else 0


def flush() -> None:
    """Flushes what has not been closed."""
    for stream in (sys.stdout, sys.stderr):
        if stream is not None and not stream.closed:
            stream.flush()


def close_files() -> None:
    """Closes files that are still open: text files before the binary files below them."""
    base, raw = io.IOBase.__base__, (io.BufferedWriter, io.BufferedRandom, io.FileIO)
    # Not `isinstance`: an object may run any code when asked for its class.
    files = [thing for thing in gc.get_objects() if issubclass(type(thing), base)]
    for file in sorted(files, key=lambda file: isinstance(file, raw)):
        with contextlib.suppress(Exception):
            if isinstance(file, raw):
                file.flush()
            elif file not in (sys.stdin, sys.stdout, sys.stderr):
                file.close()


def clear(namespace: dict[str, object]) -> None:
    """First names with one underscore, then all others."""
    private = [name for name in namespace if name.startswith("_") and not name.startswith("__")]
    for name in (*private, *namespace):
        if name != "__builtins__":
            namespace[name] = None


class Family:
    """A script and everything it started, seen from its supervisor."""

    def __init__(self, is_init: bool, control: int, deaths: int) -> None:
        self.script, self.control, self.deaths = 0, control, deaths
        self.is_init = is_init
        """Is the supervisor the init process of a namespace that holds only this family?"""
        self.status: int | None = None
        """The script's raw wait status."""
        self.killed = 0
        """How many others died of SIGKILL after the script's end."""
        self.epoll = select.epoll(2)
        for descriptor in (control, deaths):
            self.epoll.register(descriptor, select.EPOLLIN)
        self.children = -1
        """The list of this process's children, if the kernel has one."""
        with contextlib.suppress(OSError):
            self.children = os.open("/proc/thread-self/children", os.O_RDONLY)

    def watch(self) -> None:
        """Returns when the script has ended or the program wants it to end."""
        while self.reap() and self.status is None:
            if self.wait(-1) and not self.obey():
                return
        started = time.monotonic()
        self.epoll.unregister(self.control)
        while self.reap() and time.monotonic() - started < TIDY_UP:
            self.wait(0.02)

    def wait(self, seconds: float) -> bool:
        """Waits for an event and clears the deaths. Is there an order from the program?"""
        events = self.epoll.poll(seconds, 2)
        with contextlib.suppress(BlockingIOError):
            os.read(self.deaths, 4096)
        return any(descriptor == self.control for descriptor, _ in events)

    def obey(self) -> bool:
        """Follows one order; False if everything must end now."""
        if os.read(self.control, 1) != b"T":
            return False
        try:
            os.killpg(self.script, signal.SIGTERM)
        except ProcessLookupError:
            os.kill(self.script, signal.SIGTERM)  # It has not created its session yet.
        return True

    def end(self) -> None:
        """Kills until nothing is left: children of a killed process become children of this one."""
        started = time.monotonic()
        with contextlib.suppress(OSError):
            self.epoll.unregister(self.control)
        while self.reap() and time.monotonic() - started < KILLING:
            # An init process kills all others at one moment: a fork cannot escape.
            for child in [-1] if self.is_init else self.listed() or [self.script][: self.status is None]:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(child, signal.SIGKILL)
            self.wait(0.02)

    def listed(self) -> list[int]:
        """As many direct children as fit; empty if the kernel does not list them."""
        with contextlib.suppress(OSError):
            return [int(child) for child in os.pread(self.children, 4096, 0).rpartition(b" ")[0].split()]
        return []

    def reap(self) -> bool:
        """Collects dead children; False if no child is left, dead or alive."""
        while True:
            try:
                child, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return False
            if child == 0:
                return True
            if child == self.script:
                self.status = status
            elif os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL:
                self.killed += 1


def real_sitecustomize() -> ModuleType | None:
    """Imports the user's own `sitecustomize`, if there is one, as Python would have."""
    folder = os.path.dirname(__file__)
    sys.path.remove(folder)
    sys.path_importer_cache.pop(folder, None)
    del sys.modules["sitecustomize"]
    try:
        return importlib.import_module("sitecustomize")
    except ImportError as error:
        if error.name != "sitecustomize":
            raise
        return None


def vanish(real: ModuleType | None) -> None:
    """Ends the import of this file as that of the user's own `sitecustomize`."""
    if real is None:
        raise ImportError("No module named 'sitecustomize'", name="sitecustomize")
    sys.modules["sitecustomize"] = real


# First, so that it runs after every other function at exit.
atexit.register(finish)
note_exits()
REAL = real_sitecustomize()
serve()
vanish(REAL)
