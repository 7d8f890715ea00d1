"""The ledger of a folder: every finished trial is a line of JSON, and no trial is run twice.

A trial is any plain value that says everything about itself, with `key()` as JSON: those of the
paper's tables, and those of the comparisons under `results/`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import unseen
from unseen import record
from unseen.core.errors import InputError

if TYPE_CHECKING:
    from unseen.paper.trial import Outcome

FILE = "trials.jsonl"
PACKAGES = ("numpy", "scipy", "scikit-learn", "numba", "torch", "pot", "geoopt", "optuna")


class Keyed(Protocol):
    """What a ledger needs of a trial."""

    def key(self) -> str:
        """Return the trial as a line of JSON with sorted keys, the same for equal trials."""


class Ledger:
    """Outcomes by trial, in memory and in a file of a folder."""

    def __init__(self, folder: Path, file: str = FILE) -> None:
        self.path = folder / file
        self._known: dict[str, Outcome] = {}
        self._torn = False  # whether the last line has no end
        try:
            folder.mkdir(parents=True, exist_ok=True)
            lines = self.path.read_bytes().split(b"\n") if self.path.exists() else []
        except OSError as error:
            raise InputError(
                f"{folder}: cannot be used ({error.strerror}); choose another with --out"
            ) from error
        for number, line in enumerate(lines, 1):
            if line:
                self._take(line, number, last=number == len(lines))

    def __getitem__(self, trial: Keyed) -> Outcome:
        return self._known[trial.key()]

    def __contains__(self, trial: object) -> bool:
        return hasattr(trial, "key") and trial.key() in self._known

    def __len__(self) -> int:
        return len(self._known)

    def lines(self) -> Iterator[tuple[dict[str, Any], Outcome]]:
        """Give every trial, as its key has it, with its outcome, in order."""
        for key, outcome in self._known.items():
            yield json.loads(key), outcome

    def searched(self, method: str, data: str) -> Iterator[tuple[dict[str, Any], Outcome]]:
        """Give settings and outcome of the measured trials on validation classes, in order."""
        for trial, outcome in self.lines():
            asked = (trial["method"], trial["data"], trial["on"]) == (method, data, "validation")
            if asked and "missing" not in outcome:
                yield trial["settings"], outcome

    def add(self, trial: Keyed, outcome: Outcome) -> None:
        """Keep an outcome: on disk before this returns."""
        line = {"trial": json.loads(trial.key()), "outcome": outcome, "versions": versions()}
        if self._torn:  # a writer was killed in the middle of a line
            with self.path.open("r+b") as file:
                file.truncate(file.read().rfind(b"\n") + 1)
            self._torn = False
        with self.path.open("ab") as file:
            file.write(json.dumps(line, sort_keys=True).encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())
        self._known[trial.key()] = outcome

    def _take(self, line: bytes, number: int, last: bool) -> None:
        if last:  # its end is missing: that trial is run again
            self._torn = True
            return
        try:
            read = json.loads(line)
            self._known[json.dumps(read["trial"], sort_keys=True)] = read["outcome"]
        except (ValueError, KeyError, TypeError) as error:
            raise InputError(
                f"{self.path}: line {number} is not a finished trial ({error}); remove the line, "
                "and the trial is run again"
            ) from error


@cache
def versions() -> dict[str, str]:
    """Return the versions of what a trial is computed with."""
    return {"unseen": unseen.__version__, **record.versions(PACKAGES)}
