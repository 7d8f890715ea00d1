"""What a worker holds: the version that is served now, and how the next one takes its place.

A request takes hold of `served` once and keeps it, so a swap drops nothing. A thread looks every
`EVERY` seconds whether another version is current, or the run's link leads elsewhere, loads it
beside the old one, and then puts it in place in one step.
"""

from __future__ import annotations

import json
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from unseen.core.errors import UnseenError
from unseen.serve.answering import answer_texts, vectors_of
from unseen.serve.errors import ApiError
from unseen.serve.served import Served
from unseen.serve.settings import Settings
from unseen.serve.store import now
from unseen.serve.versions import Versions

EVERY = 0.5  # seconds between two looks
NONE = 65_535  # class of a node that is of none


class Held:
    """A version with the store that belongs to it, taken up and let go together."""

    def __init__(self, versions: Versions, served: Served) -> None:
        self.versions, self.served = versions, served
        self.store = versions.store
        self.map = map_arrays(served)


class State:
    """What is served now."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._held: Held | None = None
        self._swap = threading.Lock()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    @property
    def held(self) -> Held:
        """The version to answer with; one request uses one."""
        if self._held is None:
            raise ApiError(503, "the run is being loaded; try again in a moment", None, "not_ready")
        return self._held

    @property
    def ready(self) -> bool:
        """Whether there is something to answer with."""
        return self._held is not None

    def start(self) -> None:
        """Take up the run, then keep looking for another."""
        threadpool_limits(limits=1)  # requests run side by side; threads within one only wait
        self.refresh()
        self._thread = threading.Thread(target=self._watch, name="versions", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop looking."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join(5)

    def refresh(self) -> Held:
        """Take up the current version of the run, if it is another than the one in hand."""
        with self._swap:
            held, run = self._held, Path(self.settings.run).resolve()
            versions = held.versions if held and held.versions.run == run else Versions(run)
            number = versions.current
            if held is None or held.versions is not versions or held.served.number != number:
                served = versions.load(number)
                if served.reads_texts:  # loads the encoder now rather than with the first request
                    answer_texts(served, vectors_of(served, ["a text"]), [[]])
                self._held = Held(versions, served)
                log("served", run=str(run.name), version=number)
            return self._held  # type: ignore[return-value]

    def _watch(self) -> None:
        while not self._stop.wait(EVERY):
            try:
                self.refresh()
            except (UnseenError, OSError, ValueError) as error:
                log("not taken up", error=" ".join(str(error).split()))
                self._stop.wait(10 * EVERY)


def map_arrays(served: Served) -> bytes:
    """Return the map: float32 xy [2n], uint16 class [n], uint8 confidence [n], uint8 flags [n]."""
    label = np.asarray(served.label)
    known = np.asarray(served.known) > 0
    return b"".join(
        [
            np.asarray(served.places, dtype="<f4").tobytes(),
            np.where(label >= 0, label, NONE).astype("<u2").tobytes(),
            np.rint(255 * np.clip(served.confidence, 0, 1)).astype(np.uint8).tobytes(),
            (known | ((label < 0) << 1)).astype(np.uint8).tobytes(),
        ]
    )


def log(event: str, **facts: Any) -> None:
    """Write a line of JSON to standard error."""
    sys.stderr.write(json.dumps({"at": now(), "event": event} | facts, default=str) + "\n")
