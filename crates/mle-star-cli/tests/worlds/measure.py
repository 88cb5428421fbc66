"""Measures a command that hands stdin and stdout through: one JSON object on stdout.

    measure.py [--mib N] [--times N] -- COMMAND ARG...

COMMAND starts what follows it somewhere else, for example `ssh node` or `srun --quiet --unbuffered -n1`. Measured are
the start until the first line is back, a line there and back (median, and the ninetieth percentile, in ms), and streams
in each direction (MB/s), with their content checked.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import subprocess
import sys
import threading
import time
from typing import IO

ECHO = "import sys\nfor line in sys.stdin.buffer: sys.stdout.buffer.write(line); sys.stdout.buffer.flush()"


def quoted(words: list[str], through_shell: bool) -> list[str]:
    """The words as one that a remote shell splits again (ssh), or as they are."""
    import shlex

    return [shlex.join(words)] if through_shell else words


def start(command: list[str]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)


def pipes(process: subprocess.Popen[bytes]) -> tuple[IO[bytes], IO[bytes]]:
    assert process.stdin is not None and process.stdout is not None
    return process.stdin, process.stdout


def round_trips(command: list[str], times: int) -> dict[str, float]:
    began = time.perf_counter()
    process = start(command)
    to, back = pipes(process)
    took = []
    for number in range(times + 1):
        line = b"%06d %s\n" % (number, b"x" * 90)
        sent = time.perf_counter() if number else began
        to.write(line)
        answer = b""
        while not answer.endswith(b"\n"):
            part = back.read(1 << 16)
            assert part, "the stream ended"
            answer += part
        assert answer == line, answer
        took.append((time.perf_counter() - sent) * 1000)
    ends = time.perf_counter()
    to.close()
    code = process.wait(30)
    assert code == 0, code
    rest = sorted(took[1:])
    return {
        "first_ms": round(took[0], 1),
        "median_ms": round(rest[len(rest) // 2], 2),
        "p90_ms": round(rest[len(rest) * 9 // 10], 2),
        "end_ms": round((time.perf_counter() - ends) * 1000, 1),
    }


def stream(command: list[str], send: int) -> float:
    """MB/s from the first byte back; `send` MiB go there."""
    process = start(command)
    to, back = pipes(process)
    block = bytes(range(256)) * 4096
    sent, got = hashlib.sha256(), hashlib.sha256()

    def feed() -> None:
        for _ in range(send):
            sent.update(block)
            rest = memoryview(block)
            while rest:
                rest = rest[to.write(rest) or 0 :]
        to.close()

    feeder = threading.Thread(target=feed)
    began = back.read(1)
    since = time.perf_counter()
    assert began == b"+", began
    feeder.start()
    size = 0
    while part := back.read(1 << 20):
        size += len(part)
        got.update(part)
    took = time.perf_counter() - since
    feeder.join()
    assert process.wait(30) == 0
    if send and size == send << 20:
        assert got.digest() == sent.digest(), "the stream was changed"
    return round(max(send << 20, size) / took / 1e6, 1)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--mib", type=int, default=256)
    parser.add_argument("--times", type=int, default=100)
    words = sys.argv[1:]
    split = words.index("--")
    chosen, command = parser.parse_args(words[:split]), words[split + 1 :]
    is_ssh = command[0].endswith("ssh")

    def far(*words: str) -> list[str]:
        return [*command, *quoted(list(words), is_ssh)]

    found: dict[str, float] = {**round_trips(far("python3", "-u", "-c", ECHO), chosen.times)}
    size = chosen.mib << 20
    found["there_mb_s"] = stream(far("sh", "-c", f'printf +; test "$(wc -c)" -eq {size}'), chosen.mib)
    found["back_mb_s"] = stream(far("sh", "-c", f"printf +; head -c {size} /dev/zero"), 0)
    found["both_mb_s"] = stream(far("sh", "-c", "printf +; exec cat"), chosen.mib)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
