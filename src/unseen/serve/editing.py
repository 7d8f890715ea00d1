"""Classes added, edited and removed: what a fitted classifier says with other classes.

Nothing is fitted again. A new class is known by its text, as `add_classes` knows it; an edited one
keeps what it learned from nodes and moves with its text (`Model.redescribe`); the others stay as
they were fitted. `POST /classes/preview` shows what comes out, and the job that
keeps it does the very same with the whole graph at hand.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from unseen.core.classes import Classes, tidy
from unseen.core.errors import InputError
from unseen.encode.class_texts import class_texts, class_vectors
from unseen.prepare.encoded import Encoded, Words
from unseen.prepare.words import bag_of_words

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.core.task import Task
    from unseen.prepare.preparer import Preparer


@dataclass(frozen=True, eq=False)
class Edit:
    """Classes before and after.

    Attributes:
        classes: after; an edited one stays in its place, new ones follow.
        origin: the position before of each class after; -1 for new ones. [C']
        place: the position after of each class before; -1 for removed ones. [C]
        edited: positions after of classes with another text.
    """

    classes: Classes
    origin: NDArray[np.int64]
    place: NDArray[np.int64]
    edited: NDArray[np.int64]

    @property
    def fresh(self) -> NDArray[np.int64]:
        """Positions after of new classes, which are known by their texts alone."""
        return np.flatnonzero(self.origin < 0)


def edit_classes(
    before: Classes, changes: list[dict[str, Any]], remove: list[int], labels: NDArray[np.int64]
) -> Edit:
    """Return what a list of changes leads to; refuse what cannot be done.

    Args:
        changes: each with a name, a description, and which class it replaces, if any.
        remove: positions of classes to drop.
        labels: the label that each node was fitted with, -1 where there is none. [n]
    """
    if before.vectors is not None:
        raise InputError("classes: those of this run came as vectors; add more by fitting again")
    count = len(before)
    texts = list(before.descriptions or ())
    replaced = [change["replaces"] for change in changes if change["replaces"] is not None]
    for c in [*replaced, *remove]:
        if c >= count:
            raise InputError(f"classes: there is no class {c}; there are 0 to {count - 1}")
    if len({*replaced, *remove}) < len(replaced) + len(remove):
        raise InputError("classes: one is edited or removed twice; say it once")
    if not changes and not remove:
        raise InputError("changes: are empty; add, edit or remove a class")
    for c in remove:
        if (labels == c).any():
            raise InputError(
                f"remove: {before.names[c]!r} has labelled nodes and cannot be removed; take their "
                "labels away and fit again"
            )
    entries: list[tuple[str, str | None, int]] = []  # name, description, position before or -1
    edited = {change["replaces"]: change for change in changes if change["replaces"] is not None}
    for c, name in enumerate(before.names):
        if c in edited:
            change = edited[c]
            entries.append((tidy(change["name"]), change["description"], c))
        elif c not in remove:
            entries.append((name, texts[c], c))
    for change in changes:
        if change["replaces"] is None:
            entries.append((tidy(change["name"]), change["description"], -1))
    classes = Classes([name for name, _, _ in entries], [text for _, text, _ in entries])
    classes.check_choice()
    origin = np.array([at for _, _, at in entries], dtype=np.int64)
    place = np.full(count, -1, dtype=np.int64)
    stays = np.flatnonzero(origin >= 0)
    place[origin[stays]] = stays
    return Edit(classes, origin, place, np.flatnonzero(np.isin(origin, replaced)))


def encoded_classes(
    preparer: Preparer, classes: Classes, encoder: Any, nodes: NDArray[np.float32] | None = None
) -> Encoded:
    """Return class texts as a fitted preparer takes them, beside vectors of nodes, if any."""
    words = None
    if preparer.word_readers:
        words = Words(None, bag_of_words(class_texts(classes, "description")))
    if nodes is None:
        nodes = np.zeros((0, len(preparer.node_centre_)), dtype=np.float32)
    csds, shared = class_vectors(classes, encoder), bool(preparer.shared_)
    return Encoded(nodes, csds, shared, preparer.encoder_, preparer.identity_, words)


def class_vectors_of(preparer: Preparer, encoded: Encoded) -> NDArray[np.float32]:
    """Return class vectors as a fitted preparer makes them. [C, d']"""
    S = preparer.class_vectors(encoded)
    return S if encoded.words is None else preparer.beside_classes(S, encoded.words.classes)


def edited_model(model: Any, edit: Edit, task: Task) -> Any:
    """Return a model that knows the classes after.

    Args:
        task: of the classes after.
    """
    if not getattr(model, "adds_classes", False) or not getattr(model, "by_class", ()):
        raise InputError(
            f"classes: {type(model).__name__} cannot take up classes after it was fitted; fit "
            "again with all of them"
        )
    stays = np.flatnonzero(edit.origin >= 0)
    order = np.concatenate([stays, edit.fresh])
    kept = model.take_classes(edit.origin[stays])
    if len(edit.edited):
        kept = kept.redescribe(np.searchsorted(stays, edit.edited), task.S[edit.edited])
    if not len(edit.fresh):
        return kept
    labels = np.where(task.labels >= 0, np.argsort(order)[task.labels], -1)
    reordered = copy(task)
    for name, value in (
        ("S", task.S[order]),
        ("allowed", task.allowed[order]),
        ("labels", labels),
    ):
        object.__setattr__(reordered, name, value)
    return kept.add_classes(reordered).take_classes(np.argsort(order))


def allowed_after(edit: Edit, allowed: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return which classes after may be answered: new ones may. [C']"""
    found = np.ones(len(edit.classes), dtype=bool)
    stays = edit.origin >= 0
    found[stays] = allowed[edit.origin[stays]]
    return found


def labels_after(edit: Edit, labels: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return labels as positions after. [n]"""
    return np.where(labels >= 0, np.append(edit.place, -1)[labels], -1)
