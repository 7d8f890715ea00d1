"""The demonstration: eight sections of Python's library, found without a label of theirs.

The only place outside `evaluate/` that compares with the truth, for the embedded `stdlib` graph.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from unseen.datasets.registry import load
from unseen.estimator import ZeroShotNodeClassifier
from unseen.evaluate.metrics import accuracy, macro_accuracy, majority_floor, score
from unseen.models.prototype import Prototype

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.encode.base import Progress
    from unseen.prediction import Prediction


@dataclass(frozen=True)
class Row:
    """One line of the comparison, in per cent."""

    method: str
    accuracy: float
    macro: float


def demonstrate(seed: int = 0, progress: Progress | None = None) -> tuple[Prediction, list[Row]]:
    """Return the prediction of the full pipeline, and how simpler ways compare with it."""
    data = load("stdlib")
    split = data.splits["demo"]
    labels = data.truth.only(split.seen)
    fitted = ZeroShotNodeClassifier(among="unseen", seed=seed, progress=progress)
    prediction = fitted.fit(data.graph, data.classes, labels).prediction_
    truth = data.truth.codes[prediction.nodes]
    rows = [Row("majority class", 100 * majority_floor(truth), 100 / len(split.unseen))]
    encoded = fitted.preparer_.encode(data.graph, data.classes)  # cached by now
    allowed = np.isin(np.arange(len(data.classes)), split.unseen)
    task = fitted.preparer_.plain_task(encoded, data.graph, labels, allowed)
    for name, hops in (("text only", 0), ("text + graph (5 lazy hops)", 5)):
        guess = Prototype(hops, 0.3).fit(task).predict(task)[prediction.nodes]
        rows.append(_row(name, truth, guess))
    rows.append(_row("full pipeline", truth, prediction.label))
    scores = score(truth, prediction.label, prediction.confidence, data.classes)
    kept = {k: v for k, v in scores.to_dict().items() if k not in ("coverage", "calibration")}
    prediction.record["scores"] = kept  # for the report; nothing was fitted to them
    return prediction, rows


def _row(name: str, truth: NDArray[np.int64], guess: NDArray[np.int64]) -> Row:
    return Row(name, 100 * accuracy(truth, guess), 100 * macro_accuracy(truth, guess))
