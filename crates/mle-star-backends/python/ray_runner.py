"""Starts a command on a node of a Ray cluster, and hands its standard streams through.

    ray_runner.py --address ADDR [--cpus N] [--gpus N] [--resources JSON] [--name NAME] [--grace S]
        [--connect-timeout S] -- COMMAND ARG...

Ray places and counts: an actor asks for the resources, and a cluster that grows by itself grows while the actor waits.
The actor starts the command on its node. Bytes from here go to the command's stdin, its stdout comes out of this
process's stdout, and its stderr out of stderr; nothing else is ever written to stdout. The exit code is the command's.

Three processes take part:

- The driver (``main``), here. Reads of stdin are sent as ``write`` calls, a few at a time; a few ``read`` calls always
  wait at the actor. So both directions have bounded buffers, and a slow reader slows its writer.
- The actor (``Runner``), on the node. It lives as long as the driver's job: Ray ends it when the driver is gone. It
  also ends the command by itself when it does not hear from the driver.
- The keeper (``keep``), between the actor and the command, because Ray kills actors with SIGKILL. It is the ancestor of
  everything that the command starts, and ends all of it when the command ends or the actor is gone.

Exit codes of its own: 2 wrong usage; 69 the cluster cannot be used; 70 the runner was lost; 126 and 127 the command
cannot be started on the node. Each comes with one sentence on stderr.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import ctypes
import fcntl
import json
import os
import select
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

UNUSABLE, LOST, NOT_EXECUTABLE, NOT_FOUND = 69, 70, 126, 127
BATCH = 1 << 20
"""The most bytes of one message."""
WRITES, READS = 4, 4
"""Messages under way in each direction."""
MOST_STDERR = 8 << 20
"""Bytes of the command's stderr that are shown."""
BEAT = 2.0
"""Seconds between two signs of life of the driver."""
SILENCE = 7.0
"""Seconds without one after which the actor ends the command."""
LOSS = 15.0
"""Seconds without an answer after which the driver gives the runner up: later than the actor, so that a command that
is started again elsewhere does not run twice."""
ORPHANED = 1.5
"""Seconds that a command has to end by itself after its actor is gone; it sees the end of its stdin at once."""
TERMINATED = 1.0
"""Seconds that it has after SIGTERM."""
FAREWELL = 2.0
"""Seconds that leaving the cluster may take."""
PATIENCE = 3.0
"""Seconds after which waiting for resources is said."""
GROUPS = ("write", "read", "beat")
"""The actor's methods; each has a thread of its own."""
PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER, F_SETPIPE_SZ = 1, 36, 1031


# --- The keeper: a process on the node.


def keep(life: int, status: int, command: Sequence[str]) -> None:
    """Runs the command with the streams that it has, and reports the exit code through ``status``.

    ``life`` is a pipe from the actor: a byte asks for the end now, its end says that the actor is gone.
    """
    # Ray ends the children of an actor together with it. The keeper has to see that end: it is nobody's child.
    if os.fork() > 0:
        os._exit(0)
    libc = ctypes.CDLL(None)
    libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    keeper = os.getpid()

    def begin() -> None:
        libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != keeper:
            os._exit(1)

    try:
        child = subprocess.Popen(command, preexec_fn=begin, start_new_session=True)
    except OSError as error:
        say(f"{command[0]} cannot be started on {socket.gethostname()}: {error.strerror}")
        code = NOT_FOUND if isinstance(error, FileNotFoundError) else NOT_EXECUTABLE
    else:
        # Who reads the command's stdout sees its end although the keeper lives.
        nothing = os.open(os.devnull, os.O_RDWR)
        for stream in range(3):
            os.dup2(nothing, stream)
        code = kept(child, life)
    end_children()
    with contextlib.suppress(OSError):
        os.write(status, struct.pack("i", code))
    os._exit(0)


def kept(child: subprocess.Popen[bytes], life: int) -> int:
    """Waits until the command has ended, and ends it when that is asked for. Its exit code as a shell shows it."""
    ended = os.pidfd_open(child.pid)
    select.select([ended, life], [], [])
    if child.poll() is None and not os.read(life, 1):
        select.select([ended], [], [], ORPHANED)
    if child.poll() is None:
        child.terminate()
        select.select([ended], [], [], TERMINATED)
    if child.poll() is None:
        child.kill()
    code = child.wait()
    return code if code >= 0 else 128 - code


def end_children() -> None:
    """Kills everything that the command has started. Children of a killed process become the keeper's."""
    give_up = time.monotonic() + 5
    while time.monotonic() < give_up:
        for child in children():
            with contextlib.suppress(OSError):
                os.kill(child, signal.SIGKILL)
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        time.sleep(0.005)


def children() -> list[int]:
    """The processes whose parent is this one."""
    found = []
    for process in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError, ValueError, IndexError):
            # The name before the last parenthesis may hold anything.
            fields = Path("/proc", process, "stat").read_text(errors="replace").rpartition(")")[2].split()
            if int(fields[1]) == os.getpid():
                found.append(int(process))
    return found


def say(sentence: str) -> None:
    """One line on stderr, in one write."""
    with contextlib.suppress(OSError):
        os.write(2, f"ray_runner: {' '.join(sentence.split())}\n".encode())


# --- The actor: on the node as well. Ray sends the class itself, so it uses what is imported above.


class Piece(NamedTuple):
    """What one ``read`` brings."""

    number: int
    """Its place among all pieces, from 0."""
    stdout: bytes
    stderr: bytes
    code: int | None
    """The exit code, in the last piece."""


class Runner:
    """The command's streams. Calls of ``write`` wait for one another, and so do those of ``read``.

    Everything starts with the actor: other calls could overtake one that starts it.
    """

    def __init__(self, source: str, command: list[str], grace: float) -> None:
        self.grace = grace
        self.written, self.early = 0, dict[int, bytes]()
        self.pieces = 0
        self.code: int | None = None
        self.deadline: float | None = None
        child_in, self.stdin = os.pipe()
        self.stdout, child_out = os.pipe()
        self.stderr, child_err = os.pipe()
        child_life, self.life = os.pipe()
        self.status, child_status = os.pipe()
        for pipe in (child_in, child_out):
            with contextlib.suppress(OSError):
                fcntl.fcntl(pipe, F_SETPIPE_SZ, BATCH)
        for pipe in (self.stdout, self.stderr):
            os.set_blocking(pipe, False)
        program = os.memfd_create("keeper", 0)
        os.write(program, source.encode())
        passed = [program, child_life, child_status]
        keeper = [sys.executable, "-I", "-S", f"/proc/self/fd/{program}", "keep", str(child_life), str(child_status)]
        self.heard = time.monotonic()
        subprocess.run(
            [*keeper, *command],
            stdin=child_in,
            stdout=child_out,
            stderr=child_err,
            pass_fds=passed,
            start_new_session=True,
            check=True,
        )
        for end in (child_in, child_out, child_err, *passed):
            os.close(end)
        threading.Thread(target=self.watch, daemon=True).start()

    def watch(self) -> None:
        """Ends the command when the driver is silent, or when the command goes on after the end of its stdin."""
        while True:
            time.sleep(0.25)
            now = time.monotonic()
            if now - self.heard > SILENCE or (self.deadline is not None and now > self.deadline):
                with contextlib.suppress(OSError):
                    os.write(self.life, b".")
                return

    def beat(self) -> None:
        """A sign of life of the driver."""
        self.heard = time.monotonic()

    def write(self, number: int, data: bytes) -> None:
        """Writes to the command's stdin; nothing means its end. Ray may bring calls in another order."""
        self.early[number] = data
        while self.written in self.early:
            self.forward(self.early.pop(self.written))
            self.written += 1

    def forward(self, data: bytes) -> None:
        if self.stdin < 0:
            return
        rest = memoryview(data)
        try:
            while rest:
                rest = rest[os.write(self.stdin, rest) :]
        except BrokenPipeError:
            # The command reads no more; whether it has ended is seen elsewhere.
            data = b""
        if not data:
            os.close(self.stdin)
            self.stdin = -1
            self.deadline = time.monotonic() + self.grace

    def read(self) -> Piece:
        """Waits for output or the end."""
        stdout = stderr = b""
        while self.code is None and not stdout and not stderr:
            watched = [stream for stream in (self.stdout, self.stderr, self.status) if stream >= 0]
            ready = select.select(watched, [], [])[0]
            ended = self.status in ready
            stdout, stderr = self.drain("stdout"), self.drain("stderr")
            if ended and not stdout and not stderr:
                # Everything that the command wrote is read.
                code = os.read(self.status, 4)
                self.code = struct.unpack("i", code)[0] if len(code) == 4 else 128 + signal.SIGKILL
        piece = Piece(self.pieces, stdout, stderr, self.code)
        self.pieces += 1
        return piece

    def drain(self, name: str) -> bytes:
        """What can be read now, at most one message."""
        stream, parts, size = getattr(self, name), list[bytes](), 0
        while stream >= 0 and size < BATCH:
            try:
                part = os.read(stream, BATCH - size)
            except BlockingIOError:
                break
            if not part:
                os.close(stream)
                setattr(self, name, -1)
                break
            parts.append(part)
            size += len(part)
        return parts[0] if len(parts) == 1 else b"".join(parts)


# --- The driver.


class Options(NamedTuple):
    """The command line."""

    address: str
    cpus: float
    gpus: float
    resources: dict[str, float]
    name: str
    grace: float
    connect_timeout: float
    command: list[str]


def options(words: list[str]) -> Options:
    """Reads the command line. Wrong usage ends the process with 2."""
    parser = argparse.ArgumentParser(prog="ray_runner.py", usage=__doc__.split("\n\n")[1].strip(), allow_abbrev=False)
    parser.add_argument("--address", required=True, help="HOST:PORT, auto, or ray://HOST:PORT from outside the cluster")
    parser.add_argument("--cpus", type=float, default=1.0)
    parser.add_argument("--gpus", type=float, default=0.0)
    parser.add_argument("--resources", type=json.loads, default={}, help="others, as a JSON object")
    parser.add_argument("--name", default="runner", help="what Ray shows")
    parser.add_argument("--grace", type=float, default=10.0, help="seconds to end after the end of stdin")
    parser.add_argument("--connect-timeout", type=float, default=60.0, help="seconds")
    own, separator, command = words, "", list[str]()
    if "--" in words:
        own, separator, command = words[: words.index("--")], "--", words[words.index("--") + 1 :]
    found = parser.parse_args(own)
    if not command:
        parser.error(f"a command is missing after {separator or 'a --'}")
    if not isinstance(found.resources, dict):
        parser.error("--resources is no JSON object")
    return Options(**vars(found), command=command)


def leave(code: int, sentence: str = "") -> NoReturn:
    """Ends this process at once. Ray ends the actor with the job."""
    if sentence:
        say(sentence)
    os._exit(code)


def private_stdout() -> int:
    """A descriptor for the command's bytes; whatever else writes to stdout writes to stderr from now on."""
    sys.stdout.flush()
    stdout = fcntl.fcntl(1, fcntl.F_DUPFD_CLOEXEC, 10)
    os.dup2(2, 1)
    return stdout


def load() -> Any:
    """The module ``ray``."""
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    warnings.simplefilter("ignore")
    try:
        import ray
        import ray.exceptions
    except ImportError as error:
        leave(UNUSABLE, f"{sys.executable} cannot import ray ({error}): install ray[default] into that Python")
    return ray


def connect(ray: Any, chosen: Options) -> None:
    """Joins the cluster, or says why not within a bounded time."""
    place = f"the Ray cluster at {chosen.address}"
    late = f"cannot connect to {place}: no answer within {chosen.connect_timeout:g} s"
    timer = threading.Timer(chosen.connect_timeout, leave, (UNUSABLE, late))
    timer.daemon = True
    timer.start()
    host, _, port = chosen.address.removeprefix("ray://").rpartition(":")
    reached = False
    try:
        if host and port.isdecimal():
            socket.create_connection((host.strip("[]"), int(port)), timeout=chosen.connect_timeout).close()
        reached = True
        ray.init(
            address=chosen.address,
            log_to_driver=False,
            logging_level="ERROR",
            configure_logging=True,
            namespace=f"ray_runner-{os.getpid()}-{time.time_ns()}",
        )
    except (Exception, SystemExit) as error:
        why = str(error) or type(error).__name__
        if "mismatch" in why.lower():
            this = f"Ray {ray.__version__} and Python {sys.version.split()[0]}"
            differ = f"{place} and this driver differ ({this} here); both must be the same"
            leave(UNUSABLE, f"{differ}: {why}")
        outside = reached and "://" not in chosen.address
        hint = "; from a machine outside the cluster, use ray://HOST:10001" if outside else ""
        leave(UNUSABLE, f"cannot connect to {place}: {why}{hint}")
    timer.cancel()


def place(ray: Any, chosen: Options) -> Any:
    """Makes the actor. It may wait for its resources; nothing waits for it here."""
    for name in GROUPS:
        ray.method(concurrency_group=name)(getattr(Runner, name))
    remote = ray.remote(
        num_cpus=chosen.cpus,
        num_gpus=chosen.gpus,
        resources=chosen.resources,
        max_restarts=0,
        max_task_retries=0,
        concurrency_groups=dict.fromkeys(GROUPS, 1),
    )(Runner)
    return remote.options(name=chosen.name).remote(own_source(), chosen.command, chosen.grace)


def own_source() -> str:
    """This file. A program that starts it with ``-c`` sets ``SOURCE``."""
    known: str | None = globals().get("SOURCE")
    return known if known is not None else Path(__file__).read_text()


class Bridge:
    """The driver's threads."""

    def __init__(self, ray: Any, actor: Any, stdout: int) -> None:
        self.ray, self.stdout = ray, stdout
        self.calls = {name: getattr(actor, name).remote for name in GROUPS}

    def guarded(self, work: Callable[[], None]) -> Callable[[], None]:
        """The same work; if the actor is lost, it ends this process."""

        def guarded() -> None:
            try:
                work()
            except self.ray.exceptions.GetTimeoutError:
                leave(LOST, f"the runner was lost: its node has not answered for {LOSS:g} s")
            except Exception as error:
                # Indented lines are Ray's numbers for the actor.
                what = [line for line in str(error).splitlines() if line.strip() and not line.startswith("\t")]
                leave(LOST, f"the runner was lost: {type(error).__name__}: {' '.join(what)[:500]}")

        return guarded

    def begin(self, work: Callable[[], None]) -> None:
        threading.Thread(target=self.guarded(work), daemon=True).start()

    def run(self) -> int:
        """Until the command has ended: its exit code."""
        codes: list[int] = []
        started = self.calls["beat"]()
        self.begin(self.notice_reader)
        self.begin(self.pump_stdin)

        def follow() -> None:
            if not self.ray.wait([started], timeout=PATIENCE)[0]:
                say("waiting for resources")
            self.ray.get(started)
            self.begin(self.send_beats)
            codes.append(self.pump_output())

        self.guarded(follow)()
        return codes[0]

    def notice_reader(self) -> None:
        """Ends this process when nobody reads its stdout any more, even while the actor waits for resources."""
        poll = select.poll()
        poll.register(self.stdout, 0)
        poll.poll()
        leave(128 + signal.SIGPIPE)

    def send_beats(self) -> None:
        while True:
            self.ray.get(self.calls["beat"](), timeout=LOSS)
            time.sleep(BEAT)

    def pump_stdin(self) -> None:
        with contextlib.suppress(OSError):
            fcntl.fcntl(0, F_SETPIPE_SZ, BATCH)
        under_way, number = collections.deque[Any](), 0
        while True:
            data = self.batch()
            under_way.append(self.calls["write"](number, data))
            number += 1
            while len(under_way) >= WRITES or (not data and under_way):
                self.ray.get(under_way.popleft())
            if not data:
                return

    @staticmethod
    def batch() -> bytes:
        """What stdin has, at least one byte; nothing at its end."""
        parts, size = list[bytes](), 0
        while size < BATCH and (not parts or select.select([0], [], [], 0)[0]):
            part = os.read(0, BATCH - size)
            if not part:
                break
            parts.append(part)
            size += len(part)
        return b"".join(parts)

    def pump_output(self) -> int:
        under_way = [self.calls["read"]() for _ in range(READS)]
        early, following, room = dict[int, Piece](), 0, MOST_STDERR
        while True:
            ready, under_way = self.ray.wait(under_way, num_returns=1)
            piece = Piece(*self.ray.get(ready[0]))
            early[piece.number] = piece
            while following in early:
                piece = early.pop(following)
                following += 1
                self.forward(self.stdout, piece.stdout)
                self.forward(2, piece.stderr[: max(room, 0)])
                if room >= 0 and len(piece.stderr) > room:
                    say(f"further output on stderr is not shown; the first {MOST_STDERR >> 20} MiB were")
                    room = -1
                room -= len(piece.stderr) if room >= 0 else 0
                if piece.code is not None:
                    return piece.code
            under_way.append(self.calls["read"]())

    @staticmethod
    def forward(stream: int, data: bytes) -> None:
        rest = memoryview(data)
        try:
            while rest:
                rest = rest[os.write(stream, rest) :]
        except BrokenPipeError:
            leave(128 + signal.SIGPIPE)


def main(words: list[str]) -> NoReturn:
    """The driver."""
    chosen = options(words)
    stdout = private_stdout()
    ray = load()
    connect(ray, chosen)
    for ending in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(ending, lambda number, _: leave(128 + number))
    try:
        actor = place(ray, chosen)
    except Exception as error:
        leave(UNUSABLE, f"Ray cannot be asked for this: {error}")
    code = Bridge(ray, actor, stdout).run()
    os.close(stdout)
    # The cluster waits for a client that leaves without a word.
    farewell = threading.Thread(target=ray.shutdown, daemon=True)
    farewell.start()
    farewell.join(FAREWELL)
    leave(code)


if __name__ == "__main__":
    if sys.argv[1:2] == ["keep"]:
        keep(int(sys.argv[2]), int(sys.argv[3]), sys.argv[4:])
    else:
        main(sys.argv[1:])
