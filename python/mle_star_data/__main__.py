"""Answers questions, one JSON object a line, until its input ends.

A question has a number, which its answer repeats: {"number": 1, "question": "check", …} is answered by {"number": 1,
"answer": {…}}, or by {"number": 1, "failure": "…"} where there is none. An error of the program itself is `error`.
"""

from __future__ import annotations

import importlib
import json
import os
import resource
import sys
import threading
import traceback
from typing import Any

from . import questions
from .tables import Refused

IDLE = 2.0
"""After so many seconds, what scores need is imported."""


def main() -> None:
    if most := os.environ.get("MLE_STAR_MEMORY_MIB"):
        # What needs more is refused in a sentence instead of ending the process.
        resource.setrlimit(resource.RLIMIT_DATA, (int(most) << 20, resource.RLIM_INFINITY))
    # What a library prints must not stand between answers.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    # It takes a second, which the first script usually takes, too. Short work ends without it.
    idle = threading.Timer(IDLE, importlib.import_module, args=("sklearn.metrics",))
    idle.daemon = True
    idle.start()
    for line in sys.stdin:
        question = json.loads(line)
        if question["question"] == "take_in":
            # What prepares a run computes no score.
            idle.cancel()
        print(_answered(question), file=answers, flush=True)


def _answered(question: dict[str, Any]) -> str:
    number = question.pop("number")
    try:
        return json.dumps({"number": number, "answer": questions.answer(question)}, allow_nan=False)
    except Refused as error:
        failure = {"failure": str(error)} | ({} if error.hint is None else {"hint": error.hint})
    except MemoryError:
        failure = {"failure": "the rows need more memory than there is"}
    except Exception as error:
        traceback.print_exc()
        failure = {"error": f"{type(error).__name__}: {error}"}
    return json.dumps({"number": number} | failure)


if __name__ == "__main__":
    main()
