"""Tests of ray_runner.py, in the world that ray.sh makes: `ray.sh python3 test_ray_runner.py`.

They compare times, so they are run by hand on an idle machine.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
import unittest
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

DRIVER = Path(__file__).parents[3] / "mle-star-backends/python/ray_runner.py"
PYTHON = os.environ["MLE_STAR_TEST_RAY"]
ADDRESS = os.environ["MLE_STAR_WORLD_RAY_ADDRESS"]
CLIENT = os.environ["MLE_STAR_WORLD_RAY_CLIENT"]
PIDS = Path(os.environ["MLE_STAR_WORLD_PIDS"])
ECHO = "import sys\nfor line in sys.stdin.buffer: sys.stdout.buffer.write(line); sys.stdout.buffer.flush()"
# Said if an actor takes long to start.
WAITING = "ray_runner: waiting for resources\n"
ON_SECOND = ["--resources", '{"second": 1}']


def driver(command: list[str], *options: str, address: str = ADDRESS) -> subprocess.Popen[bytes]:
    words = [PYTHON, str(DRIVER), "--address", address, *options, "--", *command]
    pipe = subprocess.PIPE
    return subprocess.Popen(words, stdin=pipe, stdout=pipe, stderr=pipe, bufsize=0)


def pipe(stream: IO[bytes] | None) -> IO[bytes]:
    assert stream is not None
    return stream


def ended(process: subprocess.Popen[bytes], data: bytes = b"", limit: float = 60) -> tuple[int, bytes, str]:
    """The exit code, stdout, and stderr without the note of a slow start."""
    try:
        stdout, stderr = process.communicate(data, timeout=limit)
    except subprocess.TimeoutExpired:
        process.kill()
        raise
    return process.returncode, stdout, stderr.decode().replace(WAITING, "")


class Tree:
    """A command whose processes can be found: a child, one in the background, and a daemon in a session of its own."""

    def __init__(self) -> None:
        self.mark = f"{random.randrange(10**6, 10**7)}.5"
        sleep = f"sleep {self.mark}"
        self.command = ["sh", "-c", f"{sleep} & setsid sh -c 'setsid {sleep} &' & echo started; trap '' TERM; {sleep}"]

    def processes(self) -> list[int]:
        found = []
        for process in filter(str.isdigit, os.listdir("/proc")):
            try:
                words = Path("/proc", process, "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if words[:2] == [b"sleep", self.mark.encode()]:
                found.append(int(process))
        return found


def until(condition: Callable[[], Any], limit: float) -> float:
    """Waits for it; how long, in seconds."""
    began = time.monotonic()
    while not condition():
        if time.monotonic() - began > limit:
            raise AssertionError(f"not within {limit} s")
        time.sleep(0.02)
    return time.monotonic() - began


def started(tree: Tree, *options: str, address: str = ADDRESS) -> subprocess.Popen[bytes]:
    process = driver(tree.command, *options, address=address)
    line = pipe(process.stdout).readline()
    assert line == b"started\n", (line, pipe(process.stderr).read())
    until(lambda: len(tree.processes()) == 3, 5)
    return process


def log(what: str) -> None:
    print(f"    {what}", file=sys.stderr)


class Streams(unittest.TestCase):
    def test_streams_and_exit_code_are_the_commands(self) -> None:
        for address in (ADDRESS, CLIENT):
            process = driver(["sh", "-c", "cat; echo complaint >&2; exit 7"], address=address)
            every_byte = bytes(range(256)) * 3
            self.assertEqual(ended(process, every_byte), (7, every_byte, "complaint\n"))

    def test_a_signal_is_shown_as_a_shell_does(self) -> None:
        self.assertEqual(ended(driver(["sh", "-c", "kill -SEGV $$"])), (128 + signal.SIGSEGV, b"", ""))

    def test_large_streams_keep_their_order(self) -> None:
        for options in ([], ON_SECOND):
            data = random.randbytes(40 << 20)
            code, stdout, stderr = ended(driver(["cat"], *options), data)
            self.assertEqual((code, stderr), (0, ""))
            self.assertTrue(stdout == data, len(stdout))

    def test_a_line_is_answered_promptly(self) -> None:
        process = driver([sys.executable, "-u", "-c", ECHO])
        took = []
        for number in range(100):
            line = b"line %d\n" % number
            began = time.monotonic()
            pipe(process.stdin).write(line)
            self.assertEqual(pipe(process.stdout).readline(), line)
            took.append(time.monotonic() - began)
        log(f"round trip: median {sorted(took)[50] * 1000:.1f} ms")
        self.assertLess(sorted(took)[50], 0.05)
        self.assertEqual(ended(process), (0, b"", ""))

    def test_a_slow_reader_slows_its_writer(self) -> None:
        process = driver(["sh", "-c", "echo x; exec cat /dev/zero"])
        self.assertEqual(pipe(process.stdout).read(1), b"x")
        time.sleep(3)
        status = Path(f"/proc/{process.pid}/status").read_text()
        size = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS"))
        log(f"memory of the driver: {size >> 10} MiB")
        self.assertLess(size, 400 << 10)
        process.kill()
        process.communicate()

        process = driver(["sh", "-c", "echo x; exec sleep 60"])
        self.assertEqual(pipe(process.stdout).read(1), b"x")
        entrance, accepted = pipe(process.stdin).fileno(), 0
        os.set_blocking(entrance, False)
        last = time.monotonic()
        while time.monotonic() - last < 1:
            try:
                accepted += os.write(entrance, bytes(1 << 16))
                last = time.monotonic()
            except BlockingIOError:
                time.sleep(0.01)
        log(f"accepted before the command reads: {accepted >> 20} MiB")
        self.assertLess(accepted, 16 << 20)
        process.kill()
        process.communicate()

    def test_stderr_is_bounded(self) -> None:
        code, _, stderr = ended(driver(["sh", "-c", "head -c 20000000 /dev/zero >&2; echo out"]))
        self.assertEqual(code, 0)
        self.assertLess(len(stderr), 9 << 20)
        self.assertIn("further output on stderr is not shown", stderr)

    def test_the_end_of_the_command_is_the_end_whatever_it_leaves_behind(self) -> None:
        tree = Tree()
        words = ["sh", "-c", f"setsid sleep {tree.mark} & echo done; exit 3"]
        began = time.monotonic()
        self.assertEqual(ended(driver(words)), (3, b"done\n", ""))
        self.assertLess(time.monotonic() - began, 20)
        self.assertEqual(tree.processes(), [])


class Ends(unittest.TestCase):
    def gone(self, tree: Tree, what: str, limit: float = 10) -> None:
        log(f"{what}: the command's processes were gone after {until(lambda: not tree.processes(), limit):.1f} s")

    def test_a_command_that_ignores_the_end_of_stdin_is_ended(self) -> None:
        tree = Tree()
        process = started(tree, "--grace", "1")
        code, _, _ = ended(process, limit=10)
        self.assertEqual(code, 128 + signal.SIGKILL)
        self.assertEqual(tree.processes(), [])

    def test_the_driver_is_killed(self) -> None:
        for address in (ADDRESS, CLIENT):
            for options in ([], ON_SECOND):
                tree = Tree()
                process = started(tree, *options, address=address)
                process.kill()
                self.gone(tree, f"driver of {address.partition('10.')[0] or 'a node'} killed {' '.join(options)}")
                process.communicate()

    def test_the_driver_is_stopped_by_sigterm(self) -> None:
        tree = Tree()
        process = started(tree)
        process.terminate()
        self.gone(tree, "SIGTERM")
        self.assertEqual(process.wait(5), 143)
        process.communicate()

    def test_the_driver_is_silent(self) -> None:
        tree = Tree()
        process = started(tree)
        process.send_signal(signal.SIGSTOP)
        self.gone(tree, "driver silent")
        process.kill()
        process.communicate()

    def test_the_actor_is_killed(self) -> None:
        tree = Tree()
        process = started(tree)
        actor = subprocess.check_output(["pgrep", "--full", "^ray::Runner"]).split()
        self.assertEqual(len(actor), 1)
        began = time.monotonic()
        os.kill(int(actor[0]), signal.SIGKILL)
        self.gone(tree, "actor killed")
        code, _, stderr = ended(process)
        log(f"the driver said so after {time.monotonic() - began:.1f} s: {stderr.strip()}")
        self.assertEqual(code, 70)
        # Ray itself may have said something before.
        self.assertRegex(stderr, r"(^|\n)ray_runner: the runner was lost: [^\n]*\n$")

    def test_nobody_reads_any_more_while_the_actor_waits(self) -> None:
        process = driver(["cat"], "--resources", '{"nowhere": 1}')
        self.assertEqual(pipe(process.stderr).readline(), b"ray_runner: waiting for resources\n")
        self.assertIsNone(process.poll())
        pipe(process.stdout).close()
        self.assertEqual(process.wait(5), 128 + signal.SIGPIPE)
        pipe(process.stderr).close()
        pipe(process.stdin).close()


class Refusals(unittest.TestCase):
    def refused(self, process: subprocess.Popen[bytes], code: int, sentence: str) -> None:
        found, stdout, stderr = ended(process)
        log(stderr.strip())
        self.assertEqual((found, stdout), (code, b""))
        self.assertRegex(stderr, rf"^ray_runner: [^\n]*{sentence}[^\n]*\n$")

    def test_a_command_that_does_not_exist(self) -> None:
        self.refused(driver(["/nowhere/program"]), 127, "/nowhere/program cannot be started on world: No such file")
        self.refused(driver(["/etc/passwd"]), 126, "Permission denied")

    def test_no_cluster_there(self) -> None:
        self.refused(driver(["cat"], address="10.99.0.1:7"), 69, "cannot connect to the Ray cluster at 10.99.0.1:7")
        self.refused(driver(["cat"], address="no-such-host:6379"), 69, "cannot connect")

    def test_somebody_else_there(self) -> None:
        listener = subprocess.Popen(
            [sys.executable, "-c", "import socket,time\ns=socket.create_server(('10.99.0.1',7000))\ntime.sleep(99)"]
        )
        time.sleep(0.5)
        began = time.monotonic()
        code, stdout, stderr = ended(driver(["cat"], "--connect-timeout", "5", address="10.99.0.1:7000"))
        log(stderr.strip())
        self.assertEqual((code, stdout), (69, b""))
        self.assertIn("cannot connect to the Ray cluster", stderr)
        self.assertLess(time.monotonic() - began, 12)
        listener.kill()
        listener.wait()

    def test_python_without_ray(self) -> None:
        words = [PYTHON, "-I", "-S", str(DRIVER), "--address", ADDRESS, "--", "cat"]
        process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.refused(process, 69, r"cannot import ray .*: install ray\[default\]")

    def test_another_version(self) -> None:
        start = (
            "import sys, runpy, ray; ray.__version__ = '2.1.0'; sys.argv = sys.argv[1:]; "
            f"runpy.run_path('{DRIVER}', run_name='__main__')"
        )
        words = [PYTHON, "-c", start, str(DRIVER), "--address", ADDRESS, "--", "cat"]
        process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.refused(process, 69, r"differ \(Ray 2.1.0 and Python")

    def test_resources_that_cannot_be(self) -> None:
        self.refused(driver(["cat"], "--cpus", "-1"), 69, "Ray cannot be asked for this")

    def test_wrong_usage(self) -> None:
        code, stdout, stderr = ended(driver([]))
        self.assertEqual((code, stdout), (2, b""))
        self.assertIn("a command is missing", stderr)


class ZLosses(unittest.TestCase):
    """Last, because nothing of the cluster is left afterwards."""

    def lost(self, tree: Tree, process: subprocess.Popen[bytes], victim: str) -> None:
        began = time.monotonic()
        os.kill(int((PIDS / f"{victim}.pid").read_text()), signal.SIGKILL)
        until(lambda: not tree.processes(), 30)
        gone = time.monotonic() - began
        code, _, stderr = ended(process)
        log(f"{victim} killed: processes gone after {gone:.1f} s, driver {code} after {time.monotonic() - began:.1f} s")
        log(stderr.strip().splitlines()[-1][:300])
        self.assertNotEqual(code, 0)
        self.assertLess(gone, 10)
        self.assertIn("the runner was lost", stderr)

    def test_1_the_node_is_lost(self) -> None:
        tree = Tree()
        self.lost(tree, started(tree, *ON_SECOND), "second")

    def test_2_the_cluster_is_lost(self) -> None:
        tree = Tree()
        self.lost(tree, started(tree), "head")


if __name__ == "__main__":
    unittest.main(verbosity=2)
