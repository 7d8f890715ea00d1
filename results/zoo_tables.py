"""Tables of the zoo (zoo.jsonl): what the defaults gain over floors that learn nothing.

A gain is taken task by task over the better of own text and three lazy hops of it, for accuracy and
for macro accuracy; both stand in one cell, "accuracy / macro".
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import product
from statistics import fmean
from typing import Any

from graphs import catalogue
from records import BEFORE_ZOO, NONE, TEACH, ZOO, Line, lines

from unseen.paper.pages import markdown
from unseen.paper.trial import Outcome

VALUES = ("accuracy", "macro")
SETS = ("design", "fresh")
NOT_YET = "Not run yet."
LEAST = {"encoder": -2, "prepared": -3}  # gains below these are counted
KINDS: dict[str, Callable[[dict[str, Any]], bool]] = {
    "no labels, all classes listed": lambda task: shape(task) == ("all", "none", "asis"),
    "no labels, half of them listed": lambda task: shape(task) == ("half", "none", "asis"),
    "no labels, half of the edges rewired": lambda task: shape(task)[1:] == ("none", "rewired"),
    "no labels, together": lambda task: task["labels"] == "none",
    "half of the classes labelled": lambda task: task["labels"] == "half",
    "five nodes a class labelled": lambda task: task["labels"] == "five",
}
HEAD = (
    *("over encoder floors", "worst", "below -2", "over prepared floors", "worst", "below -3"),
    *("calibration error", "worst", "AUROC, listed or not"),
)


def shape(task: dict[str, Any]) -> tuple[str, str, str]:
    """Return which classes are listed, which nodes are labelled, and what the edges are."""
    return task["listed"], task["labels"], task["edges"]


def gains(outcome: dict[str, Any], vectors: str) -> tuple[float, float]:
    """Return what the defaults gain over the better floor on some vectors, accuracy and macro."""
    over = [
        outcome["defaults"][value]
        - max(outcome[f"own {vectors}"][value], outcome[f"hops {vectors}"][value])
        for value in VALUES
    ]
    return over[0], over[1]


def cells(found: list[Line]) -> tuple[str, ...]:
    """Return gains over both kinds of floor, calibration errors, and how outsiders are told."""
    if not found:
        return (NONE,) * len(HEAD)
    row: list[str] = []
    for vectors, least in LEAST.items():
        both = list(zip(*(gains(outcome, vectors) for _, outcome in found), strict=True))
        row.append(" / ".join(f"{fmean(each):+.1f}" for each in both))
        row.append(" / ".join(f"{min(each):+.1f}" for each in both))
        row.append(" / ".join(str(sum(gain < least for gain in each)) for each in both))
    errors = [outcome["defaults"]["calibration error"] for _, outcome in found]
    told = [outcome["auroc"] for _, outcome in found if outcome["auroc"] is not None]
    row += [f"{fmean(errors):.2f}", f"{max(errors):.2f}", f"{fmean(told):.2f}" if told else NONE]
    return tuple(row)


def pick(which: str, encoder: str) -> list[Line]:
    """Return the lines of one set of graphs with one encoder."""
    graphs = catalogue.names(which)
    return [
        (task, outcome)
        for task, outcome in lines(ZOO)
        if task["graph"] in graphs and task["encoder"] == encoder
    ]


def by_kind(found: list[Line]) -> str:
    """Return a row a kind of task."""
    rows = []
    for name, belongs in KINDS.items():
        part = [line for line in found if belongs(line[0])]
        if part:
            rows.append((name, str(len(part)), *cells(part)))
    return markdown(("tasks", "number", *HEAD), rows)


def by_graph(found: list[Line]) -> str:
    """Return a row a graph, over its tasks without labels."""
    rows = []
    for graph in sorted({task["graph"] for task, _ in found}):
        part = [line for line in found if line[0]["graph"] == graph and line[0]["labels"] == "none"]
        if not part:
            continue
        whole = [outcome for task, outcome in part if shape(task) == ("all", "none", "asis")]
        true, level = ([each[name] for each in whole] for name in ("true homophily", "homophily"))
        known = [each for each in level if each is not None]
        rows.append(
            (
                graph,
                f"{whole[0]['nodes']:,}" if whole else NONE,
                str(whole[0]["classes"]) if whole else NONE,
                f"{true[0]:.2f}" if true else NONE,
                f"{fmean(known):.2f}" if known else NONE,
                *(
                    f"{fmean(outcome['defaults'][value] for _, outcome in part):.1f}"
                    for value in VALUES
                ),
                *cells(part),
            )
        )
    head = ("graph", "nodes", "classes", "edge homophily", "estimated", "accuracy", "macro")
    return markdown((*head, *HEAD), rows)


def short() -> str:
    """Return one row a set and encoder, all tasks without labels."""
    rows = []
    for which, encoder in product(SETS, catalogue.ENCODERS):
        found = [line for line in pick(which, encoder) if line[0]["labels"] == "none"]
        if not found:
            continue
        rows.append((f"{which}, `{encoder}`", str(len(found)), *cells(found)[:-1]))
        then = before(found)
        if then:
            rows.append(("the same by the model of 0.8", str(len(then)), *cells(then)[:-1]))
    return markdown(("graphs, encoder", "tasks", *HEAD[:-1]), rows)


def few_labels() -> str:
    """Return the defaults and logistic regression on three hops, five labels a class, `static`."""
    rows, ahead = [], dict.fromkeys(VALUES, 0)
    for task, outcome in lines(ZOO):
        if task["labels"] != "five" or "logistic regression" not in outcome:
            continue
        ours, theirs = outcome["defaults"], outcome["logistic regression"]
        for value in VALUES:
            ahead[value] += ours[value] > theirs[value]
        which = catalogue.set_of(task["graph"])
        rows.append((task["graph"], which, *(_both(each) for each in (ours, theirs))))
    rows.sort()
    better = " / ".join(f"{count} of {len(rows)}" for count in ahead.values())
    head = ("graph", "set", "defaults", "logistic regression on three hops")
    return markdown(head, [*rows, ("defaults ahead", "", better, "")])


def _both(scores: dict[str, float]) -> str:
    return " / ".join(f"{scores[value]:.1f}" for value in VALUES)


def taught() -> str:
    """Return what 50 labels teach, suggested and at random, mean over the draws of a graph."""
    rows: list[tuple[str, ...]] = []
    ends: list[tuple[str, ...]] = []
    for which in SETS:
        of_graphs: list[Outcome] = []
        for graph in catalogue.names(which):
            found = [outcome for task, outcome in lines(TEACH) if task["graph"] == graph]
            if found:
                of_graphs.append(_means(found))
                rows.append((graph, which, str(len(found)), *_gained(of_graphs[-1])))
        if of_graphs:
            ahead = (
                sum(each["suggested"][value] > each["random"][value] for each in of_graphs)
                for value in VALUES
            )
            won = " / ".join(f"{count} of {len(of_graphs)}" for count in ahead)
            ends.append(("mean", which, "", *_gained(_means(of_graphs))))
            ends.append(("suggested ahead", which, *4 * [""], won))
    head = ("graph", "set", "draws", "no labels", "50 at random", "50 suggested", "difference")
    return markdown(head, [*rows, *ends])


def _means(found: list[Outcome]) -> Outcome:
    """Return the means of accuracy and macro accuracy, by how nodes were labelled."""
    return {
        name: {value: fmean(each[name][value] for each in found) for value in VALUES}
        for name in ("before", "random", "suggested")
    }


def _gained(means: Outcome) -> tuple[str, ...]:
    """Return accuracies as they are shown, and how far suggested labels are ahead."""
    more = (means["suggested"][value] - means["random"][value] for value in VALUES)
    return (*map(_both, means.values()), " / ".join(f"{each:+.1f}" for each in more))


def readme() -> str:
    """Return the few figures that the front page has: tasks without labels, encoder `static`."""
    rows = []
    for which in SETS:
        found = [line for line in pick(which, "static") if line[0]["labels"] == "none"]
        if not found:
            continue
        gain, worst, lost, *_ = cells(found)
        error = cells(found)[HEAD.index("calibration error")]
        rows.append((f"{which} graphs", str(len(found)), gain, worst, lost, error))
    head = ("", "tasks", "gain in accuracy / macro accuracy", "worst task")
    return markdown((*head, "tasks that lost over 2 points", "calibration error"), rows)


def before(found: list[Line]) -> list[Line]:
    """Return the same tasks with the answers of 0.8 in place of the defaults; none if some miss."""
    known = {repr(task): outcome["before"] for task, outcome in lines(BEFORE_ZOO)}
    if any(repr(task) not in known for task, _ in found):
        return []
    return [(task, outcome | {"defaults": known[repr(task)]}) for task, outcome in found]


def _table(make: Callable[[list[Line]], str], which: str, encoder: str) -> str:
    found = pick(which, encoder)
    return make(found) if found else NOT_YET


TABLES: dict[str, Callable[[], str]] = {
    f"zoo {name} {which} {encoder}": partial(_table, make, which, encoder)
    for (name, make), which, encoder in product(
        (("kinds", by_kind), ("graphs", by_graph)), SETS, catalogue.ENCODERS
    )
}
TABLES |= {"readme": readme, "zoo short": short, "zoo five": few_labels, "zoo taught": taught}
