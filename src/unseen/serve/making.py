"""What a job makes of a version: one that has learned from people, or one with other classes."""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from unseen.answer import Case, answer
from unseen.core.labels import Labels, allowed_classes
from unseen.io.join import join_graph
from unseen.record import Steps
from unseen.serve.editing import allowed_after, edit_classes, edited_model, labels_after
from unseen.serve.labels import compared, to_learn
from unseen.serve.learning import Said, in_hand, learn, task_in_hand
from unseen.serve.outsiders import cut_off, outsiders_of, with_outsiders

if TYPE_CHECKING:
    from unseen.core.graph import Graph
    from unseen.prediction import Prediction
    from unseen.serve.served import Served
    from unseen.serve.versions import Versions


def with_added(versions: Versions, parent: int, classifier: Any) -> tuple[Graph, Labels, int]:
    """Return the graph with all nodes that came since, its labels, and the last of these nodes."""
    graph, labels, store = classifier.graph_, classifier.labels_, versions.store
    first = int(versions.row(parent)["folded"])
    rows = store.all("SELECT seq, id, text FROM nodes WHERE seq > ? ORDER BY seq", first)
    if not rows:
        return graph, labels, first
    new = {row["id"] for row in rows}
    edges = [
        row
        for row in store.all("SELECT source, target, weight FROM edges")
        if row["source"] in new or row["target"] in new
    ]
    nodes = pl.DataFrame({"id": [r["id"] for r in rows], "text": [r["text"] for r in rows]})
    listed = pl.DataFrame(
        {name: [row[name] for row in edges] for name in ("source", "target", "weight")},
        schema={"source": pl.String, "target": pl.String, "weight": pl.Float64},
    )
    whole, _ = join_graph(graph, classifier.class_texts_, nodes, listed if edges else None)
    codes = np.append(labels.codes, np.full(whole.nodes - graph.nodes, -1))
    return whole, Labels(codes), int(rows[-1]["seq"])


def _among(classifier: Any, labels: Labels) -> Any:
    """Return which classes may be answered, by name: labels that people give change nothing."""
    if classifier.among == "all":
        return "all"
    classes = classifier.class_texts_
    allowed = allowed_classes(classifier.among, labels, classes)
    return [name for name, may in zip(classes.names, allowed, strict=True) if may]


Made = tuple[Case, "Prediction", str, dict[str, Any]]  # of a version, with a note and its result


def learned(
    versions: Versions,
    classifier: Any,
    graph: Graph,
    labels: Labels,
    served: Served | None,
    request: dict[str, Any],
) -> Made:
    """Fit again, with what people said beside the labels of the run."""
    given, apart = to_learn(versions.store)
    rows, index = graph.positions(), classifier.class_texts_.index()
    used = {
        node: name for node, name in given.items() if node in rows and (not name or name in index)
    }
    classes = {rows[node]: index[name] for node, name in used.items() if name}
    none = sorted(rows[node] for node, name in used.items() if not name)
    codes = labels.codes.copy()
    codes[list(classes)] = list(classes.values())
    codes[none] = -1
    at = np.array(sorted(classes), dtype=np.int64)
    said = Said(codes, at, np.array(none, dtype=np.int64))
    among = _among(classifier, labels)
    case, prediction, found = learn(classifier, graph, said, served, among)
    left = [*apart, *(node for node in given if node not in used)]
    note = f"learned from {len(used):,} answer{'s' if len(used) != 1 else ''} of people"
    names = [*classifier.class_texts_.names]
    shown = None
    if found is not None and graph.ids is not None:
        shown = {graph.ids[i]: names[c] for i, c in zip(at.tolist(), found.tolist(), strict=True)}
    return (
        *(case, prediction, note),
        {
            "labels": len(classes),
            "outsiders": len(none),
            "left_out": left[:100],
            "accuracy": compared(versions.store, shown),
        },
    )


def with_changed_classes(
    versions: Versions,
    classifier: Any,
    graph: Graph,
    labels: Labels,
    served: Served | None,
    request: dict[str, Any],
) -> Made:
    """Take up classes as the preview showed them: nothing is fitted again."""
    before = classifier.class_texts_
    edit = edit_classes(before, request["changes"], request["remove"], labels.codes)
    steps = Steps(classifier.progress)
    allowed = allowed_after(edit, allowed_classes(classifier.among, labels, before))
    after = Labels(labels_after(edit, labels.codes))
    with steps("encode"):
        if served is None:
            encoded = classifier.preparer_.encode(graph, edit.classes, classifier.progress)
            task = classifier.preparer_.task(encoded, graph, after, allowed)
        else:
            preparer = classifier.preparer_
            encoded = in_hand(preparer, served, edit.classes)
            task = task_in_hand(preparer, served, encoded, graph, after, allowed)
    outside = outsiders_of(versions.folder(int(request["version"])), graph)
    task = cut_off(task, graph, outside)
    twin = copy(classifier)
    with steps("add classes"):
        twin.model_ = edited_model(classifier.model_, edit, task)
    twin.class_texts_, twin.classes_ = edit.classes, np.array(edit.classes.names, dtype=object)
    seen = {before.names[c]: int(edit.place[c]) for c in range(len(before))}
    twin.seen_ = tuple(edit.classes.names[seen[name]] for name in classifier.seen_)
    if not allowed.all():
        twin.among = [name for name, may in zip(edit.classes.names, allowed, strict=True) if may]
    twin.graph_, twin.labels_ = graph, after
    case = Case(graph, after, edit.classes, task, encoded)
    prediction, twin.posterior_ = answer(twin, case, steps)
    taken = np.isin(prediction.label, [*edit.fresh, *edit.edited])
    still = np.setdiff1d(outside, prediction.nodes[taken])
    twin.posterior_[still] = allowed / allowed.sum()
    twin.prediction_ = with_outsiders(prediction, still)
    note = _note(edit, before.names, request)
    return case, twin.prediction_, note, {"labels": 0, "outsiders": len(still), "left_out": []}


def _note(edit: Any, names: Any, request: dict[str, Any]) -> str:
    """Return what was done to the classes, in a few words."""
    said = []
    for change in request["changes"]:
        done = "added" if change["replaces"] is None else "edited"
        said.append(f"{done} {change['name']!r}")
    said += [f"removed {names[c]!r}" for c in request["remove"]]
    return ", ".join(said)[:300]
