"""Two queues: nodes that are most likely wrong, and nodes whose labels would teach most."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from unseen.select.suggest import suggest
from unseen.serve.labels import with_labels

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.serve.served import Served
    from unseen.serve.state import Held

TEACH = 100  # nodes that are worked out at a time
TOP = 5  # classes that are offered
TEXT = 2_000  # characters of a text
FEW = 5_000  # nodes up to which teaching nodes are worked out at once
WAITING = "being worked out"
_working: set[str] = set()
_lock = threading.Lock()


def next_nodes(held: Held, kind: str, person: str | None, limit: int) -> dict[str, Any]:
    """Return the next nodes of a queue that this person has not answered."""
    served = held.served
    rows = held.store.all(
        "SELECT DISTINCT node FROM answers WHERE undone IS NULL AND person = ?", person or ""
    )
    done = {row[0] for row in rows}
    order: NDArray[np.int64] | None = served.by_doubt
    if kind == "teach":
        order = teaching(served)
        if order is None:
            return {"kind": kind, "items": [], "left": 0, "note": WAITING}
    assert order is not None
    found: list[int] = []
    for i in order:
        if len(found) == limit:
            break
        if not done or served.ids[int(i)] not in done:
            found.append(int(i))
    items = [
        brief
        | {"text": served.texts.start(brief["position"], 4 * TEXT)[:TEXT]}
        | _top(served, brief)
        for brief in with_labels(held.store, served, found)
    ]
    return {"kind": kind, "items": items, "left": max(len(order) - len(done), 0), "note": None}


def _top(served: Served, brief: dict[str, Any]) -> dict[str, Any]:
    p = served.proba[brief["position"]]
    best = np.argsort(-p, kind="stable")[:TOP].tolist()
    return {"top": [{"class": c, "probability": round(float(p[c]), 4)} for c in best if p[c] > 0]}


def teaching(served: Served) -> NDArray[np.int64] | None:
    """Return the nodes that would teach most; None while they are being worked out."""
    path = served.arrays / "teach.npy"
    if path.is_file():
        found: NDArray[np.int64] = np.load(path, allow_pickle=False)
        return found
    if served.nodes <= FEW:
        return _work(served, path)
    with _lock:
        if str(path) not in _working:
            _working.add(str(path))
            threading.Thread(target=_work, args=(served, path), daemon=True).start()
    return None


def _work(served: Served, path: Path) -> NDArray[np.int64]:
    nodes = np.flatnonzero(np.asarray(served.known) == 0)
    X, proba = np.asarray(served.vectors), np.asarray(served.proba[nodes])
    try:
        found = nodes[suggest(X, served.operator, proba, nodes, TEACH, 0)]
        if path.parent.is_dir():
            new = path.with_name(f".teach.{threading.get_ident()}.npy")
            np.save(new, found)
            new.replace(path)
    finally:
        with _lock:
            _working.discard(str(path))
    return found
