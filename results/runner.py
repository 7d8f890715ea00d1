"""Run what a ledger lacks, on all cores, a printed line a run."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import count
from typing import Any, TypeVar

from unseen.paper.ledger import Keyed, Ledger
from unseen.paper.trial import Outcome
from unseen.paper.work import each_alone, work

T = TypeVar("T", bound=Keyed)


def run_missing(
    asked: Iterable[T],
    ledger: Ledger,
    run: Callable[[Any], Outcome],
    line: Callable[[T, Outcome], str],
    address: str | None = None,
) -> None:
    """Run those of the trials that are not in the ledger.

    A kill loses what is under way and nothing else. `line` says what to print of a finished trial;
    `address` is that of a Ray cluster to run on.
    """
    missing = [trial for trial in asked if trial not in ledger]
    number = count(1)

    def report(trial: T) -> None:
        print(f"{next(number)}/{len(missing)}", line(trial, ledger[trial]), flush=True)

    work(each_alone(missing), ledger, report, run=run, address=address)
