"""Commands in children of a process that has imported everything, killed at a given moment.

    python kill_server.py        reads lines of [words, seconds, signal], writes lines of
                                 [seconds that the command took, how it ended]

Only the command itself is under fire then, not two seconds of imports, and a kill costs a fork.
Polars and BLAS start threads when they are first used, which never happens in this process.
"""

from __future__ import annotations

import json
import os
import select
import signal
import sys
import time
from typing import NoReturn


def load() -> None:
    """Import what commands import when they are called."""
    import numpy as np

    from unseen.report import layout, page

    def flat(vectors: object, most: int, seed: int, groups: object) -> object:
        return np.arange(3), np.zeros((3, 2), np.float32)

    # neither is the point, and both take long
    setattr(layout, "lay_out", flat)  # noqa: B010
    setattr(page, "render", lambda *_: "<html>" * 10_000)  # noqa: B010


def run(words: list[str]) -> NoReturn:
    """Be the command."""
    import unseen.cli

    quiet = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(quiet, stream)
    sys.argv = ["unseen", *words]
    code = 1
    try:
        unseen.cli.main()
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else 0
    finally:
        os._exit(code)


def killed(words: list[str], seconds: float, number: int) -> tuple[float, int]:
    """Run a command; send it a signal after so many seconds, if it still lives."""
    began = time.monotonic()
    process = os.fork()
    if not process:
        run(words)
    ends = os.pidfd_open(process)
    try:
        if not select.select([ends], [], [], seconds)[0]:
            os.kill(process, number)
    finally:
        os.close(ends)
    _, status = os.waitpid(process, 0)
    return time.monotonic() - began, os.waitstatus_to_exitcode(status)


if __name__ == "__main__":
    load()
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    for line in sys.stdin:
        print(json.dumps(killed(*json.loads(line))), flush=True)
