"""Run trials on all cores, some of which depend on what came out of others.

A `Stream` is a generator that yields a trial, is sent its outcome, and goes on: a table cell asks
for its seeds one by one, a search asks for what it wants to try next. One process for each core
runs trials; this one hands them out and writes the ledger, so a kill loses what is under way and
nothing else.
"""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Generator, Iterable
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from typing import TYPE_CHECKING

from unseen.paper.trial import Outcome, Trial, run

if TYPE_CHECKING:
    from unseen.encode.base import Progress
    from unseen.paper.ledger import Ledger

Stream = Generator[Trial, Outcome, None]


def work(
    streams: Iterable[Stream], ledger: Ledger, progress: Progress, total: int, jobs: int = 0
) -> None:
    """Run the streams to their ends; trials that the ledger knows are answered from it."""
    jobs = jobs or os.cpu_count() or 1
    waiting = list(streams)[::-1]
    under_way: dict[Future[Outcome], tuple[Stream, Trial]] = {}
    done = 0
    progress("trials", 0, total)

    def advance(stream: Stream, outcome: Outcome | None) -> Trial | None:
        """Return the next trial of a stream that is not known yet."""
        nonlocal done
        try:
            trial = next(stream) if outcome is None else stream.send(outcome)
            while trial in ledger:
                done += 1
                progress(f"{trial.method} on {trial.data}: known", done, total)
                trial = stream.send(ledger[trial])
        except StopIteration:
            return None
        return trial

    with ProcessPoolExecutor(
        jobs, mp_context=multiprocessing.get_context("spawn"), initializer=_one_thread
    ) as pool:
        try:
            while waiting or under_way:
                while waiting and len(under_way) < jobs:
                    stream = waiting.pop()
                    trial = advance(stream, None)
                    if trial is not None:
                        under_way[pool.submit(run, trial)] = stream, trial
                finished, _ = wait(under_way, return_when=FIRST_COMPLETED)
                for future in finished:
                    stream, trial = under_way.pop(future)
                    if trial not in ledger:  # two streams may ask for the same
                        ledger.add(trial, future.result())
                    done += 1
                    progress(f"{trial.method} on {trial.data} {trial.split}", done, total)
                    following = advance(stream, ledger[trial])
                    if following is not None:
                        under_way[pool.submit(run, following)] = stream, following
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _one_thread() -> None:
    """A process a core: threads inside would only wait for each other."""
    import torch
    from threadpoolctl import threadpool_limits

    torch.set_num_threads(1)
    threadpool_limits(1)
