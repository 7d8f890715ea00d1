"""`Prediction`: a class, a confidence, a runner-up and a reason for every node without a label."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from unseen.errors import MissingExtraError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.classes import Classes, Labels
    from unseen.classifier import Classifier
    from unseen.graph import Graph


@dataclass(frozen=True, eq=False)
class Prediction:
    """The answer of `classify`; rows follow `nodes`, the positions of nodes without a label. [m]"""

    graph: Graph
    classes: Classes
    labels: Labels
    classifier: Classifier
    nodes: NDArray[np.int64]  # [m]
    label: NDArray[np.int64]  # class position [m]
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
        names, ids = np.array([*self.classes.names, ""], dtype=object), self.graph.ids or ()
        return pl.DataFrame(
            {
                "id": [ids[i] for i in self.nodes],
                "label": names[self.label].tolist(),
                "confidence": np.round(self.confidence.astype(np.float64), 4),
                "runner_up": names[self.runner_up].tolist(),
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
