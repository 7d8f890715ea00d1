"""How much memory there is, asked before much of it is taken."""

from __future__ import annotations

from pathlib import Path

from unseen.core.errors import InputError

GROUPS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")


def available() -> int | None:
    """Return the bytes that can still be taken: of machine, container and process; None if unknown.

    >>> available() is None or available() > 0
    True
    """
    found = [_of_machine(), _of_process(), *map(_of_container, GROUPS)]
    return min((each for each in found if each is not None), default=None)


def check_room(wanted: int, where: str) -> None:
    """Refuse what would take more memory than there is, before the system ends the process."""
    there = available()
    if there is not None and wanted > there:
        raise InputError(
            f"{where}: would take {wanted:,} bytes of memory, of which {there:,} are free; "
            "give a smaller one, or a larger machine"
        )


def _of_machine() -> int | None:
    for line in (_read("/proc/meminfo") or "").splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) << 10
    return None


def _of_process() -> int | None:
    """Return what a limit on address space (`ulimit -v`) leaves."""
    try:
        import resource
    except ImportError:  # Windows
        return None
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    if limit == resource.RLIM_INFINITY:
        return None
    pages = (_read("/proc/self/statm") or "0").split()[0]
    return max(limit - int(pages) * resource.getpagesize(), 0)


def _of_container(limit: str) -> int | None:
    most = (_read(limit) or "").strip()
    return int(most) if most.isdecimal() else None  # what is taken counts files that can go


def _read(path: str) -> str | None:
    try:
        return Path(path).read_text(encoding="ascii")
    except (OSError, UnicodeDecodeError):
        return None
