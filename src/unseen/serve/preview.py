"""What classes would do before they are kept: how many nodes they take, from which, how surely."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np

from unseen.abstain import check_abstain
from unseen.core.arrays import unit
from unseen.core.classes import NONE_OF_THESE
from unseen.models.base import infer
from unseen.serve.answering import settle
from unseen.serve.class_stats import ALIKE
from unseen.serve.editing import (
    allowed_after,
    class_vectors_of,
    edit_classes,
    edited_model,
    encoded_classes,
    labels_after,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.serve.editing import Edit
    from unseen.serve.served import Served

EXAMPLES = 8  # surest and least sure nodes
SHOWN = 40  # pairs of classes between which nodes move


def preview(served: Served, changes: list[dict[str, Any]], remove: list[int]) -> dict[str, Any]:
    """Return what the changes would do to every node."""
    began = time.perf_counter()
    classifier = served.classifier
    edit = edit_classes(served.classes, changes, remove, served.codes)
    check_abstain(classifier.abstain, edit.classes, classifier.open_world)
    preparer = classifier.preparer_
    S = class_vectors_of(preparer, encoded_classes(preparer, edit.classes, served.encoder))
    allowed = allowed_after(edit, served.allowed)
    labels = labels_after(edit, served.codes)
    task = served.task(S, allowed, labels)
    found = infer(edited_model(classifier.model_, edit, task), task)
    none = np.full(served.nodes, np.nan, np.float32)
    background = none if found.background is None else found.background
    answers = settle(served, found.posterior, found.confidence, background, allowed)
    after = np.where(labels >= 0, labels, answers.label)
    outside = np.isin(np.arange(served.nodes), served.outside)
    after[outside & ~np.isin(after, _new(edit))] = -1  # only what is new may take them
    confidence = answers.proba.max(axis=1)
    old = np.asarray(served.label)
    before = np.where(old >= 0, np.append(edit.place, -1)[old], -1)  # -1: none, or removed
    free = labels < 0
    return {
        "version": served.number,
        "classes": _counts(served, edit, old, after, free),
        "moved": _moved(served, edit, old, before, after, free),
        "changed": int((free & _differs(edit, old, before, after)).sum()),
        "taken": [_taken(served, edit, c, old, after, confidence, free) for c in _new(edit)],
        "warnings": _warnings(edit, S),
        "milliseconds": round(1000 * (time.perf_counter() - began), 1),
    }


def _new(edit: Edit) -> list[int]:
    """Return the classes after that are new or edited."""
    return sorted([*edit.fresh.tolist(), *edit.edited.tolist()])


def _differs(
    edit: Edit, old: NDArray[Any], before: NDArray[Any], after: NDArray[Any]
) -> NDArray[np.bool_]:
    gone = (old >= 0) & (before < 0)
    return np.asarray((before != after) | gone)


def _counts(
    served: Served, edit: Edit, old: NDArray[Any], after: NDArray[Any], free: NDArray[np.bool_]
) -> list[dict[str, Any]]:
    """Return the size of each class before and after; removed ones come last."""
    was = np.bincount(old[free & (old >= 0)], minlength=len(served.names))
    now = np.bincount(after[free & (after >= 0)], minlength=len(edit.classes))
    back = {int(at): c for c, at in enumerate(edit.place) if at >= 0}
    rows = [
        {
            "index": c,
            "name": name,
            "before": int(was[back[c]]) if c in back else 0,
            "after": int(now[c]),
            "new": c not in back,
            "edited": c in edit.edited,
            "removed": False,
        }
        for c, name in enumerate(edit.classes.names)
    ]
    for c in np.flatnonzero(edit.place < 0).tolist():
        rows.append(
            {
                "index": None,
                "name": served.names[c],
                "before": int(was[c]),
                "after": None,
                "new": False,
                "edited": False,
                "removed": True,
            }
        )
    return rows


def _moved(
    served: Served,
    edit: Edit,
    old: NDArray[Any],
    before: NDArray[Any],
    after: NDArray[Any],
    free: NDArray[np.bool_],
) -> list[dict[str, Any]]:
    """Return how many nodes go from which class to which, most first."""
    width = len(edit.classes) + 1
    moving = np.flatnonzero(free & _differs(edit, old, before, after))
    pairs, sizes = np.unique(
        (old[moving].astype(np.int64) + 1) * width + after[moving] + 1, return_counts=True
    )
    order = np.argsort(-sizes, kind="stable")[:SHOWN]
    found = []
    for key, size in zip(pairs[order].tolist(), sizes[order].tolist(), strict=True):
        a, b = key // width - 1, key % width - 1
        found.append(
            {
                "from": int(edit.place[a]) if a >= 0 and edit.place[a] >= 0 else None,
                "from_name": served.name(a),
                "to": b if b >= 0 else None,
                "to_name": edit.classes.names[b] if b >= 0 else NONE_OF_THESE,
                "nodes": size,
            }
        )
    return found


def _taken(
    served: Served,
    edit: Edit,
    c: int,
    old: NDArray[Any],
    after: NDArray[Any],
    confidence: NDArray[Any],
    free: NDArray[np.bool_],
) -> dict[str, Any]:
    """Return the nodes that a new or edited class would have: how many, the surest, the least."""
    own = np.flatnonzero((after == c) & free)
    order = own[np.argsort(-confidence[own], kind="stable")]

    def show(rows: NDArray[np.int64]) -> list[dict[str, Any]]:
        return [
            served.brief(i)
            | {
                "from": None if old[i] < 0 else int(edit.place[old[i]]),
                "from_name": served.name(int(old[i])),
                "confidence_after": round(float(confidence[i]), 4),
            }
            for i in rows.tolist()
        ]

    return {
        "name": edit.classes.names[c],
        "index": int(c),
        "nodes": len(own),
        "surest": show(order[:EXAMPLES]),
        "least": show(order[::-1][:EXAMPLES]),
    }


def _warnings(edit: Edit, S: NDArray[np.float32]) -> list[str]:
    """Return which of the new classes are described almost like another."""
    rows = unit(np.asarray(S, dtype=np.float32))
    cosines = rows @ rows.T
    found = []
    for c in _new(edit):
        others = [d for d in range(len(rows)) if d != c]
        d = max(others, key=lambda other: cosines[c, other])
        if cosines[c, d] > ALIKE:
            found.append(
                f"{edit.classes.names[c]!r} is hard to tell from {edit.classes.names[d]!r} (cosine "
                f"{cosines[c, d]:.2f}); describe what sets them apart"
            )
    return found
