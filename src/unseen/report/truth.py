"""The section about how right the answers are, where the truth was given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from unseen.report.palette import Look
from unseen.report.results import mark
from unseen.report.safe import count, percent, text

CONFUSIONS = 8


def accuracy(record: Mapping[str, Any], looks: Sequence[Look]) -> str:
    """Return the accuracy beside its floor, by class, and what is confused; or nothing.

    `record["scores"]` is what `unseen.evaluate.Scores.to_dict` returns.
    """
    scores = record.get("scores")
    if not scores:
        return ""
    cards = [
        (percent(scores["accuracy"]), "accuracy", f"of {count(scores['nodes'], 'node')}"),
        (percent(scores["macro_accuracy"]), "macro accuracy", "mean over the classes"),
        (percent(scores["majority_floor"]), "floor", "always the most common class"),
    ]
    if scores.get("abstained"):
        answered = scores["accuracy_answered"]
        cards.append(
            (
                "–" if answered is None else percent(answered),
                "accuracy where it answered",
                f"{count(scores['abstained'], 'node')} none of these",
            )
        )
    shown = "".join(
        f'<div class="card"><b>{text(value)}</b><span>{text(what)}</span>'
        f"<small>{text(more)}</small></div>"
        for value, what, more in cards
    )
    return (
        '<section id="accuracy"><h2>Accuracy</h2>'
        '<p class="lead">Compared with the true classes, which were not used for the answers.</p>'
        f'<div class="cards three">{shown}</div>{_recall(scores, looks)}'
        f"{_confusions(scores, looks)}</section>"
    )


def _recall(scores: Mapping[str, Any], looks: Sequence[Look]) -> str:
    signs = {look.name: look for look in looks}
    rows = sorted(
        (share, name)
        for name, share in zip(scores["names"], scores["recall"], strict=True)
        if share is not None
    )
    lines = "".join(
        f'<div class="candidate won" style="--c:{_colour(signs, name)}"><span title="{text(name)}">'
        f"{text(name)}</span>"
        f'<div class="bar"><i style="width:{100 * share:.1f}%"></i></div>'
        f"<b>{percent(share)}</b></div>"
        for share, name in rows
    )
    return f"<h3>Recall of each class, lowest first</h3>{lines}"


def _colour(signs: Mapping[str, Look], name: str) -> str:
    return signs[name].colour if name in signs else "var(--soft)"


def _confusions(scores: Mapping[str, Any], looks: Sequence[Look]) -> str:
    names, counts = scores["names"], scores["confusion"]
    signs = {look.name: mark(look) for look in looks}
    wrong = sorted(
        (-counts[i][j], names[i], names[j])
        for i in range(len(names))
        for j in range(len(names))
        if i != j and counts[i][j]
    )
    if not wrong:
        return ""
    items = "".join(
        f"<li><b>{-many:,}</b><p>{signs.get(true, '')}<span>{text(true)}</span> "
        f"predicted as {signs.get(given, '')}<span>{text(given)}</span></p></li>"
        for many, true, given in wrong[:CONFUSIONS]
    )
    return f'<h3>Most frequent confusions</h3><ul class="closest">{items}</ul>'
