"""`Prediction`: a class, a confidence, a runner-up and a reason for every node without a label."""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from unseen.classes import NONE_OF_THESE
from unseen.errors import InputError, MissingExtraError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.classes import Classes, Labels
    from unseen.classifier import Classifier
    from unseen.graph import Graph


@dataclass(frozen=True, eq=False)
class Prediction:
    """The answer of `classify`; rows follow `nodes`, the positions of nodes without a label. [m]

    Where `label` is -1, the answer is "none of these": `runner_up` is then the class that would
    have been given, and `confidence` is the confidence in it.
    """

    graph: Graph
    classes: Classes
    labels: Labels
    classifier: Classifier
    nodes: NDArray[np.int64]  # [m]
    label: NDArray[np.int64]  # class position, -1 for none of these [m]
    runner_up: NDArray[np.int64]  # class position, -1 where there was no second choice [m]
    confidence: NDArray[np.float32]  # [m]
    hop_shares: NDArray[np.float32]  # [m, K+1]
    reasons: list[str]
    vectors: NDArray[np.float32]  # of all nodes, for a map of them [n, d]
    record: dict[str, Any]

    def __len__(self) -> int:
        return len(self.nodes)

    def __repr__(self) -> str:
        return f"Prediction({len(self):,} nodes, {len(self.classes)} classes)"

    def to_polars(self) -> pl.DataFrame:
        """Return id, label, confidence, runner_up and reason, one row a node."""
        names, ids = self.classes.names, self.graph.ids or ()
        return pl.DataFrame(
            {
                "id": [ids[i] for i in self.nodes],
                "label": np.array([*names, NONE_OF_THESE], dtype=object)[self.label].tolist(),
                "confidence": _shown(self.confidence),
                "runner_up": np.array([*names, ""], dtype=object)[self.runner_up].tolist(),
                "reason": self.reasons,
            },
            schema_overrides={"id": pl.String, "label": pl.String, "runner_up": pl.String},
        )

    def to_pandas(self) -> Any:
        """Return the same table as a pandas data frame."""
        try:
            import pandas as pd
        except ImportError as error:
            raise MissingExtraError("to_pandas", "pandas") from error
        return pd.DataFrame(self.to_polars().to_dict(as_series=False))

    def save(self, folder: Path | str) -> Path:
        """Write predictions, report, model, record and inputs as a run folder (see `run.py`)."""
        from unseen.run import write_run

        return write_run(self, Path(folder))


def check_abstain(abstain: float | None, classes: Classes) -> float | None:
    """Refuse a threshold that is no confidence, and a class named like the answer it leads to."""
    if abstain is None:
        return None
    number: Any = abstain  # whatever a caller without types gave
    if not (isinstance(number, Real) and 0 <= float(number) <= 1):
        raise InputError(
            f"abstain: expected a confidence from 0 to 1, found {abstain!r}; "
            "leave it out to give every node a class"
        )
    if NONE_OF_THESE in {name.casefold() for name in classes.names}:
        raise InputError(
            f"classes: one is named {NONE_OF_THESE!r}, which is the answer for nodes below "
            "`abstain`; rename the class, or leave `abstain` out"
        )
    return float(number)


def abstaining(prediction: Prediction, abstain: float | None) -> Prediction:
    """Answer "none of these" where the confidence, as the table shows it, is below `abstain`."""
    if abstain is None:
        return prediction
    confidence = _shown(prediction.confidence)
    below = confidence < abstain
    reasons = list(prediction.reasons)
    for i in np.flatnonzero(below).tolist():
        closest = prediction.classes.names[prediction.label[i]]
        reasons[i] = (
            f"confidence {confidence[i]:.4g} in {closest!r} is below {abstain:g}; {reasons[i]}"
        )
    return replace(
        prediction,
        label=np.where(below, -1, prediction.label),
        runner_up=np.where(below, prediction.label, prediction.runner_up),
        reasons=reasons,
    )


def _shown(confidence: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return confidences with the four digits that tables have."""
    return np.asarray(np.round(confidence.astype(np.float64), 4), dtype=np.float64)
