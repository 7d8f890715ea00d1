"""The ledger of a folder: every finished trial is a line of JSON, and no trial is run twice."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import unseen
from unseen.errors import InputError

if TYPE_CHECKING:
    from unseen.paper.trial import Outcome, Trial

FILE = "trials.jsonl"


class Ledger(Mapping["Trial", "Outcome"]):
    """Outcomes by trial, in memory and in the file `trials.jsonl` of a folder."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / FILE
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

    def __getitem__(self, trial: Trial) -> Outcome:
        return self._known[trial.key()]

    def __contains__(self, trial: object) -> bool:
        return hasattr(trial, "key") and trial.key() in self._known

    def __iter__(self) -> Any:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)

    def add(self, trial: Trial, outcome: Outcome) -> None:
        """Keep an outcome: on disk before this returns."""
        line = {"trial": json.loads(trial.key()), "outcome": outcome, "versions": _versions()}
        if self._torn:  # a writer was killed in the middle of a line
            whole = self.path.read_bytes().rpartition(b"\n")[0]
            self.path.write_bytes(whole + b"\n" if whole else b"")
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


def _versions() -> dict[str, str]:
    named = {name: version(name) for name in ("numpy", "scipy", "torch")}
    return {"unseen": unseen.__version__, "python": platform.python_version(), **named}
