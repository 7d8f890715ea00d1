"""Commands as children of a process that has imported everything, killed at a given moment.

Only the command itself is under fire then, and a kill costs a fork: what a command that came to its
end had imported, the next one finds imported. Polars and BLAS start threads when they are first
used, which never happens in that process.

    python forks.py        reads lines of [words, seconds, signal, log]; writes, for each, the
                           process id, and [seconds that the command took, how it ended]
"""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import time
from contextlib import suppress
from functools import cache
from importlib import import_module
from typing import Any, NoReturn

MOST = 1 << 15  # bytes of names, which a pipe holds whether it is read or not
PATIENCE = 600.0  # seconds for a command on a busy machine


class Forks:
    """Runs one command at a time."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, __file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
        )

    def __call__(
        self, words: list[str], seconds: float = PATIENCE, number: int = signal.SIGKILL
    ) -> tuple[float, int]:
        """Run a command, with a signal after so many seconds; return how long, how it ended."""
        self.begin(words, seconds, number)
        return self.end()

    def begin(
        self,
        words: list[str],
        seconds: float = PATIENCE,
        number: int = signal.SIGKILL,
        log: str = os.devnull,
    ) -> int:
        """Start a command that writes into `log`; return its process id, which is its group's."""
        assert self._process.stdin is not None
        print(json.dumps([words, seconds, number, log]), file=self._process.stdin, flush=True)
        return int(self._line())

    def end(self) -> tuple[float, int]:
        """Wait for the command; return how many seconds it took, and how it ended."""
        lasted, code = self._line()
        return lasted, code

    def _line(self) -> Any:
        assert self._process.stdout is not None
        return json.loads(self._process.stdout.readline())

    def __enter__(self) -> Forks:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()


def load() -> None:
    """Put aside what takes long and is not the point."""
    import numpy as np

    from unseen.datasets import registry
    from unseen.report import layout, page

    def flat(vectors: Any, most: int, seed: int, groups: object) -> object:
        chosen = np.arange(min(most, len(vectors)))
        return chosen, np.zeros((len(chosen), 2), np.float32)

    setattr(layout, "lay_out", flat)  # noqa: B010
    setattr(page, "render", lambda *_: "<html>" * 10_000)  # noqa: B010
    setattr(registry, "load", cache(registry.load))  # noqa: B010


def run(words: list[str], log: str, tell: int) -> NoReturn:
    """Be the command; in the end, tell what it has imported."""
    code = 1
    try:
        os.setsid()
        before = set(sys.modules)
        for stream, name in enumerate((os.devnull, log, log)):
            os.dup2(os.open(name, os.O_RDWR | os.O_CREAT | os.O_APPEND), stream)
        sys.argv = ["unseen", *words]
        signal.signal(signal.SIGINT, signal.default_int_handler)
        import_module("unseen.cli").main()
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else 0
        os.write(tell, " ".join(set(sys.modules) - before)[:MOST].encode())
    finally:
        os._exit(code)


def killed(words: list[str], seconds: float, number: int, log: str) -> tuple[float, int]:
    """Run a command; send it a signal after so many seconds, if it still lives."""
    if words[0] == "datasets":
        import_module("unseen.datasets.registry").load("stdlib")  # seconds, and then never again
    told, tell = os.pipe()
    began = time.monotonic()
    process = os.fork()
    if not process:
        run(words, log, tell)
    print(process, flush=True)
    os.close(tell)
    ends = os.pidfd_open(process)
    try:
        if not select.select([ends], [], [], seconds)[0]:
            os.kill(process, number)
    finally:
        os.close(ends)
    _, status = os.waitpid(process, 0)
    lasted = time.monotonic() - began
    for name in os.read(told, MOST).decode().split():
        with suppress(Exception):
            import_module(name)
    os.close(told)
    return lasted, os.waitstatus_to_exitcode(status)


if __name__ == "__main__":
    load()
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # the children set their own
    for line in sys.stdin:
        print(json.dumps(killed(*json.loads(line))), flush=True)
