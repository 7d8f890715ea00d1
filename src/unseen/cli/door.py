"""The door of the command line: whatever ends a command is one line for the user."""

from __future__ import annotations

import io
import os
import signal
import sys
import traceback
import warnings
from types import FrameType
from typing import NoReturn

import typer

from unseen.core.errors import MOST, UnseenError, cut
from unseen.core.escape import terminal

MISTAKE, FAULT, INTERRUPTED, TERMINATED = 2, 1, 130, 143
NEEDED, EACH_CORE = 1200 << 20, 80 << 20  # bytes of address space, below which libraries abort
INSIDE = "UNSEEN_TRACEBACK"


class _NobodyReadsError(Exception):
    """Standard output was closed; no OSError, which click and rich would end with 1 for."""


class _Output(io.TextIOWrapper):
    """Standard output that tells when nobody reads it any more, as after `| head -1`."""

    def write(self, text: str) -> int:
        try:
            return super().write(text)
        except BrokenPipeError:
            raise _NobodyReadsError from None

    def flush(self) -> None:
        try:
            super().flush()
        except BrokenPipeError:
            raise _NobodyReadsError from None


def guarded(app: typer.Typer) -> NoReturn:
    """Run the commands and end the process."""
    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout is sys.__stdout__:
        out = sys.stdout
        lines, letters = out.line_buffering, out.encoding
        sys.stdout = _Output(out.detach(), letters, line_buffering=lines)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a terminal that lacks a letter shows another
            stream.reconfigure(errors="replace")
    if not sys.warnoptions:
        warnings.simplefilter("ignore")  # they are for who writes programs
    if hasattr(signal, "SIGTERM"):
        signal.signal(signal.SIGTERM, _terminate)
    try:
        _check_address_space()
        code = app(standalone_mode=False)
        if sys.stdout is not None:  # as where a shell has closed it
            sys.stdout.flush()
    except (KeyboardInterrupt, typer.Abort):
        what = "interrupted; no half-written file is left, and finished parts are kept"
        code = _tell(what, INTERRUPTED)
    except UnseenError as error:
        code = _tell(str(error))
    except _NobodyReadsError:
        _forget_output()
        code = 0
    except OSError as error:
        _drop_output()
        code = _tell(f"{error.filename or 'standard output'}: {error.strerror or error}")
    except (MemoryError, ImportError) as error:
        code = _tell(_lacking(error))
    except Exception as error:
        code = _of_option(error)
        if code is None and os.environ.get(INSIDE):
            raise
        code = _tell(_fault(error), FAULT) if code is None else code
    sys.exit(code if isinstance(code, int) else 0)


def _tell(message: str, code: int = MISTAKE) -> int:
    line = terminal(cut(" ".join(message.split()), MOST, MOST * 3 // 5))
    try:
        sys.stderr.write(f"unseen: {line}\n")
        sys.stderr.flush()
    except (OSError, AttributeError):  # closed or full: the exit code says it, too
        sys.stderr = None  # else Python fails to flush it in the end, and has a code of its own
    return code


def _terminate(number: int, _: FrameType | None) -> NoReturn:
    sys.exit(128 + number)  # through every `finally`, so that nothing half-written is left


def _of_option(error: Exception) -> int | None:
    """Say what is wrong with an option; None for any other error.

    Such errors are known by what they can do: their class is click's, or a copy of it in typer.
    """
    if not hasattr(error, "format_message"):
        return None
    context, said = getattr(error, "ctx", None), str(error.format_message()).rstrip(".")
    if not said:  # no argument at all, which is answered with the help
        return MISTAKE
    command = context.command_path if context is not None else "unseen"
    return _tell(f"{cut(said, 300, 200)}; see `{command} --help`")


def _lacking(error: BaseException) -> str:
    """Return what is said of too little memory, which many libraries meet while they are loaded."""
    message = str(error).lower()
    starved = any(word in message for word in ("failed to map", "cannot allocate", "memory"))
    if isinstance(error, ImportError) and not starved:
        return _fault(error)
    return "not enough memory for this graph; use a larger machine, or a smaller graph"


def _fault(error: BaseException) -> str:
    at = traceback.extract_tb(error.__traceback__)[-1]
    where = f"{os.path.basename(at.filename)}:{at.lineno}"  # noqa: PTH119
    return (
        f"a fault of unseen, not of yours: {type(error).__name__} at {where} "
        f"({cut(str(error), 200, 150)}); set {INSIDE}=1 to see all of it, and please report it"
    )


def _check_address_space() -> None:
    """Refuse a limit (`ulimit -v`) under which the libraries end the process, or hang."""
    try:
        import resource
    except ImportError:  # Windows
        return
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    needed = NEEDED + EACH_CORE * (os.cpu_count() or 1)
    if limit != resource.RLIM_INFINITY and limit < needed:
        raise UnseenError(
            f"memory: the limit on address space (ulimit -v) is {limit >> 20:,} MB; expected "
            f"{needed >> 20:,} MB or more; raise it"
        )


def _drop_output() -> None:
    """Do not flush to where nothing can be written; files have messages of their own."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError:
        _forget_output()


def _forget_output() -> None:
    """Do not flush to a pipe that nobody reads, which would complain once more."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
