"""Run trials on all cores, some of which depend on what came out of others.

A `Stream` is a generator that yields a trial, is sent its outcome, and goes on: a table cell asks
for its seeds one by one, a search asks for what it wants to try next. One process for each core, or
a cluster, runs trials; this one hands them out and writes the ledger, so a kill loses what is under
way and nothing else.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, TypeVar

from unseen.core.errors import UnseenError
from unseen.paper.trial import Outcome, Trial, run

if TYPE_CHECKING:
    from unseen.paper.ledger import Keyed, Ledger

Stream = Generator[Trial, Outcome, None]
T = TypeVar("T", bound="Keyed")


def work(
    streams: Iterable[Generator[T, Outcome, None]],
    ledger: Ledger,
    report: Callable[[T], None],
    jobs: int = 0,
    run: Callable[[Any], Outcome] = run,
    address: str | None = None,
) -> None:
    """Run the streams to their ends; trials that the ledger knows are answered from it.

    Args:
        streams: of trials of any kind that has a `key` and can be sent to another process.
        ledger: what is known, and where outcomes go.
        report: is called with every trial that is done.
        jobs: processes, 0 = one for each core.
        run: what makes an outcome of a trial; those of the paper when left out.
        address: of a Ray cluster that runs the trials instead of processes of this machine.
    """
    waiting = list(streams)[::-1]
    under_way: dict[Future[Outcome], tuple[Generator[T, Outcome, None], T]] = {}

    def advance(stream: Generator[T, Outcome, None], outcome: Outcome | None) -> T | None:
        """Return the next trial of a stream that is not known yet."""
        try:
            trial = next(stream) if outcome is None else stream.send(outcome)
            while trial in ledger and "missing" not in ledger[trial]:  # what it lacked may be here
                report(trial)
                trial = stream.send(ledger[trial])
        except StopIteration:
            return None
        return trial

    with _pool(jobs, address) as pool:

        def submit(stream: Generator[T, Outcome, None], outcome: Outcome | None) -> None:
            trial = advance(stream, outcome)
            if trial is not None:
                under_way[pool.submit(run, trial)] = stream, trial

        try:
            while waiting or under_way:
                while waiting and len(under_way) < pool.jobs:
                    submit(waiting.pop(), None)
                finished, _ = wait(under_way, return_when=FIRST_COMPLETED)
                for future in finished:
                    stream, trial = under_way.pop(future)
                    outcome = pool.result(future)
                    if trial not in ledger or (
                        ledger[trial] != outcome and "missing" in ledger[trial]
                    ):
                        ledger.add(trial, outcome)  # two streams may ask for the same
                    report(trial)
                    submit(stream, ledger[trial])
        except BrokenProcessPool as error:
            raise UnseenError(
                "a process that ran a trial was ended from outside, perhaps for want of memory; "
                "finished runs are kept: repeat the command, with --jobs 1 to need less"
            ) from error
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


class Processes(ProcessPoolExecutor):
    """One process for each job."""

    def __init__(self, jobs: int) -> None:
        super().__init__(jobs, mp_context=multiprocessing.get_context("spawn"), initializer=begin)
        self.jobs = jobs

    def result(self, done: Future[Outcome]) -> Outcome:
        """Return the outcome of a trial that has ended."""
        return done.result()


def _pool(jobs: int, address: str | None) -> Any:
    if address is None:
        return Processes(jobs or os.cpu_count() or 1)
    from unseen.paper.fan_out import Cluster

    return Cluster(address)


def each_alone(trials: Iterable[T]) -> list[Generator[T, Outcome, None]]:
    """Return a stream for each trial: none depends on what comes out of another."""

    def alone(trial: T) -> Generator[T, Outcome, None]:
        yield trial

    return [alone(trial) for trial in trials]


def begin() -> None:
    """Make a process ready to run trials: one thread, and no life after its parent."""
    os.environ["OMP_NUM_THREADS"] = "1"  # a process a core: threads would wait for each other
    from threadpoolctl import threadpool_limits

    if find_spec("torch") is not None:
        import torch

        torch.set_num_threads(1)
    threadpool_limits(1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent is told, and ends this one
    threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()


def _end_with(parent: int) -> None:
    """Do not outlive a parent that was killed."""
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)
