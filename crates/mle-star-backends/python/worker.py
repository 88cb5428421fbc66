"""Imports libraries once, and becomes a script as often as it is asked to, by a fork each time.

Python imports this file under the name ``sitecustomize``, which it looks for while it starts, before it opens
the script it was started with. The import does not end: it serves requests. In a forked process it does end,
and the interpreter goes on as if nothing had happened: it opens ``solution.py``, makes ``__main__``, prints
tracebacks, finds the exit status. So what a script sees is what Python itself does, and not an imitation.

The program is at the other end of standard input, a stream socket. Every message is its length (four bytes,
native order) and a body of fields that end with NUL. The first message holds the names of the modules to import;
the answer is a line, ``ready`` or the reason why not. Each later message is a script: its folder, then its
environment variables, and with the length come four descriptors: stdout, stderr, control, report.

While a script runs this process is its guard, as ``process/guard.rs`` is of one that starts cold: orders come
by the control pipe (``T``: ask the script's group to end; closed: kill everything), and when nothing of the
script is left, eight bytes go to the report pipe (raw wait status, number of processes it left behind).

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

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
SFD_NONBLOCK = os.O_NONBLOCK
TIDY_UP = 0.3
"""Seconds that helpers which clean up behind a script (multiprocessing's resource tracker) may take."""
KILLING = 20.0
"""Seconds of killing after which the report is given with what there is."""

libc = ctypes.CDLL(None, use_errno=True)


class Request(NamedTuple):
    """One script to run."""

    folder: bytes
    variables: dict[bytes, bytes]
    stdout: int
    stderr: int
    control: int
    report: int


class Worker(NamedTuple):
    """What this process holds between two scripts."""

    channel: socket.socket
    deaths: int
    """A signalfd that hears of the death of children."""
    changed: dict[bytes, bytes]
    """Variables that imports set, as they would in the script's own process."""


def serve() -> None:
    """Runs scripts; returns only in the process of a script."""
    channel = socket.socket(fileno=os.dup(0))
    modules = receive(channel)
    if modules is None:
        os._exit(0)
    os.getcwd()  # Python could not tell the script's full path without it.
    before = dict(os.environb)
    for name in modules[0]:
        import_quietly(name.decode())
    after = dict(os.environb)
    reason = refusal()
    os.chdir("/")
    channel.sendall(f"{reason or 'ready'}\n".encode())
    if reason:
        os._exit(1)
    gc.collect()
    gc.freeze()
    libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    changed = {name: value for name, value in after.items() if before.get(name) != value}
    worker = Worker(channel, hear_of_deaths(), changed)
    while (message := receive(channel)) is not None:
        (folder, *variables), descriptors = message
        request = Request(folder, dict(pair.split(b"=", 1) for pair in variables), *descriptors)
        if run(worker, request):
            return
    os._exit(0)


def receive(channel: socket.socket) -> tuple[list[bytes], list[int]] | None:
    """The next message and its descriptors; None when the program has closed the channel."""
    head, descriptors, _, _ = socket.recv_fds(channel, 4, 4)
    if len(head) < 4:
        return None
    (length,) = struct.unpack("=I", head)
    body = bytearray()
    while len(body) < length:
        piece = channel.recv(length - len(body))
        if not piece:
            return None
        body += piece
    return bytes(body).split(b"\0")[:-1], descriptors


def import_quietly(name: str) -> None:
    """A module that is not there or cannot be imported is the script's business, when it asks for it."""
    with contextlib.suppress(BaseException):
        importlib.import_module(name)


def refusal() -> str | None:
    """Why no script can be forked from this process, or None."""
    if sys.implementation.name != "cpython":
        return "it is not CPython"
    threading = sys.modules.get("threading")
    if threading is not None and threading.active_count() > 1:
        return "a library started a thread when it was imported"
    if any(is_gpu(descriptor) for descriptor in os.listdir("/proc/self/fd")):
        return "a library opened a GPU when it was imported"
    return None


def is_gpu(descriptor: str) -> bool:
    """Is this descriptor of ours a GPU's device file?"""
    try:
        return os.readlink(f"/proc/self/fd/{descriptor}").startswith("/dev/nvidia")
    except OSError:
        return False


def hear_of_deaths() -> int:
    """Blocks every signal; returns a descriptor that is readable when a child has died."""
    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    signals = ctypes.create_string_buffer(128)
    signals[(signal.SIGCHLD - 1) // 8] = bytes([1 << (signal.SIGCHLD - 1) % 8])
    descriptor: int = libc.signalfd(-1, signals, SFD_NONBLOCK)
    if descriptor < 0:
        os._exit(1)
    return descriptor


def run(worker: Worker, request: Request) -> bool:
    """Forks the script and sees it to its end; True in the script's process."""
    own = os.getpid()
    script = os.fork()
    if script == 0:
        become(worker, request, own)
        return True
    os.close(request.stdout)
    os.close(request.stderr)
    family = Family(script)
    family.watch(request.control, worker.deaths)
    family.end(worker.deaths)
    status = signal.SIGKILL if family.status is None else family.status
    with contextlib.suppress(OSError):  # The program may have lost interest.
        os.write(request.report, struct.pack("=iI", status, family.killed))
    os.close(request.control)
    os.close(request.report)
    return False


def become(worker: Worker, request: Request, guard: int) -> None:
    """Makes this process what it would be had it been started for the script."""
    os.setsid()
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != guard:
        os._exit(1)
    null = os.open(os.devnull, os.O_RDONLY)
    for descriptor, standard in ((null, 0), (request.stdout, 1), (request.stderr, 2)):
        os.dup2(descriptor, standard)
    worker.channel.close()
    for descriptor in (null, worker.deaths, *request[2:]):
        os.close(descriptor)
    os.chdir(request.folder)
    os.environb.clear()
    os.environb.update(request.variables | worker.changed)
    reset_standard_input()
    reset_main()
    reset_libraries()
    signal.pthread_sigmask(signal.SIG_SETMASK, ())


def reset_standard_input() -> None:
    """Python looks at standard input when it starts; then it was the channel."""
    old = sys.stdin
    buffer = io.open(0, "rb", closefd=False)
    buffer.raw.name = "<stdin>"
    stdin = io.TextIOWrapper(
        buffer, encoding=old.encoding, errors=old.errors, newline="\n", write_through=old.write_through
    )
    stdin.mode = "r"
    sys.stdin = sys.__stdin__ = stdin


def reset_main() -> None:
    """A main module that the garbage collector sees, as it does not see what there was before the fork."""
    old = sys.modules["__main__"]
    new = ModuleType("__main__")
    vars(new).update(vars(old))
    if "__annotations__" in vars(new):
        new.__annotations__ = {}
    for name in ("__main__", "__mp_main__"):
        if sys.modules.get(name) is old:
            sys.modules[name] = new


def reset_libraries() -> None:
    """What libraries draw or look up once for each process. `random` sees to itself."""
    if numpy_random := sys.modules.get("numpy.random"):
        numpy_random.seed()
    if tempfile := sys.modules.get("tempfile"):
        tempfile.tempdir = None
    if process := sys.modules.get("multiprocessing.process"):
        process.current_process().authkey = os.urandom(32)


def finish() -> None:
    """Ends a script that came to its last line, at once. Taking down a thousand modules takes longer than many a
    script; nothing is heard of it.

    Every other end is left to the interpreter, which alone knows the exit status: it removes `__file__` after
    the last line or an exception that nobody caught, and notes such an exception in `sys`.
    """
    main = sys.modules.get("__main__", sys)
    if hasattr(main, "__file__") or hasattr(sys, "last_value") or hasattr(sys, "last_exc"):
        return
    try:
        flush()
    except Exception:  # noqa: BLE001 - the interpreter will meet it again, and tells
        return
    # What the interpreter does to the script's own objects, in its order: `__del__` may have something to say.
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
    finally:
        libc.fflush(None)
        os._exit(0)


def flush() -> None:
    """Flushes what has not been closed."""
    for stream in (sys.stdout, sys.stderr):
        if stream is not None and not stream.closed:
            stream.flush()


def clear(namespace: dict[str, object]) -> None:
    """First names with one underscore, then all others."""
    private = [name for name in namespace if name.startswith("_") and not name.startswith("__")]
    for name in (*private, *namespace):
        if name != "__builtins__":
            namespace[name] = None


class Family:
    """A script and everything it started, seen from its guard."""

    def __init__(self, script: int) -> None:
        self.script = script
        self.status: int | None = None
        """The script's raw wait status."""
        self.killed = 0
        """How many others died of SIGKILL after the script's end."""

    def watch(self, control: int, deaths: int) -> None:
        """Returns when the script has ended or the program wants it gone."""
        poll = select.poll()
        poll.register(control, select.POLLIN)
        poll.register(deaths, select.POLLIN)
        while self.reap() and self.status is None:
            ready = [descriptor for descriptor, _ in poll.poll()]
            if deaths in ready:
                drain(deaths)
            if control in ready and not self.obey(control):
                return
        started = time.monotonic()
        while self.reap() and time.monotonic() - started < TIDY_UP:
            wait_for_death(deaths)

    def obey(self, control: int) -> bool:
        """Follows one order; False when everything is to end now."""
        if os.read(control, 1) != b"T":
            return False
        try:
            os.killpg(self.script, signal.SIGTERM)
        except ProcessLookupError:
            os.kill(self.script, signal.SIGTERM)  # It has not yet opened its session.
        return True

    def end(self, deaths: int) -> None:
        """Kills until nothing is left: children of a killed process become this one's."""
        started = time.monotonic()
        while self.reap() and time.monotonic() - started < KILLING:
            for child in children() or [self.script][: self.status is None]:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(child, signal.SIGKILL)
            wait_for_death(deaths)

    def reap(self) -> bool:
        """Collects the dead; False when there is no child left, dead or alive."""
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


def children() -> list[int]:
    """Every direct child; empty where the kernel does not list them."""
    try:
        with open("/proc/thread-self/children", encoding="ascii") as listed:
            return [int(child) for child in listed.read().split()]
    except OSError:
        return []


def wait_for_death(deaths: int) -> None:
    """Waits for a moment, or until a child has died."""
    select.select([deaths], [], [], 0.02)
    drain(deaths)


def drain(deaths: int) -> None:
    """Forgets the deaths heard of so far."""
    with contextlib.suppress(BlockingIOError):
        os.read(deaths, 4096)


def real_sitecustomize() -> ModuleType | None:
    """The file whose name this one has taken, imported as Python would have."""
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
    """Ends the import of this file as that of the one whose name it has taken."""
    if real is None:
        raise ImportError("No module named 'sitecustomize'", name="sitecustomize")
    sys.modules["sitecustomize"] = real


# First, so that it runs after every other function at exit.
atexit.register(finish)
REAL = real_sitecustomize()
serve()
vanish(REAL)
