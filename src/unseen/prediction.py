"""`Prediction`: a class, probabilities, a runner-up and a reason for every node without a label."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from unseen.core.classes import NONE_OF_THESE
from unseen.core.errors import InputError, MissingExtraError
from unseen.explain.reasons import names_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.core.classes import Classes
    from unseen.core.graph import Graph
    from unseen.core.labels import Labels

SHOWN = 10  # rows of a table in a notebook


@dataclass(frozen=True, eq=False)
class Prediction:
    """The answer of `classify`; rows follow `nodes`, the positions of nodes without a label. [m]

    Where `label` is -1, the answer is "none of these": `runner_up` is then the class that would
    have been given, and `confidence` is the confidence in it.
    """

    graph: Graph
    classes: Classes
    labels: Labels
    classifier: Any  # the fitted `ZeroShotNodeClassifier`
    nodes: NDArray[np.int64]  # [m]
    label: NDArray[np.int64]  # class position, -1 for none of these [m]
    runner_up: NDArray[np.int64]  # class position, -1 where there was no second choice [m]
    confidence: NDArray[np.float32]  # the probability of the best class [m]
    proba: NDArray[np.float32]  # probabilities of all classes [m, C]
    hop_shares: NDArray[np.float32]  # [m, K+1]
    reasons: Sequence[str]
    placed: NDArray[np.int64]  # nodes that a map shows, some of them labelled [v]
    vectors: NDArray[np.float32]  # of these nodes [v, d]
    record: dict[str, Any]
    background: NDArray[np.float32] | None = None  # 0 to 1: like one of no listed class [m]
    flags: Sequence[str] = ()  # what deserves a look (`explain/reasons.py`), "; " between them [m]

    def __len__(self) -> int:
        return len(self.nodes)

    def __repr__(self) -> str:
        return f"Prediction({len(self):,} nodes, {len(self.classes)} classes)"

    def _repr_html_(self) -> str:
        """Return the first rows as a table, for a notebook."""
        table = self.to_polars(slice(0, SHOWN))
        head = "".join(f"<th>{name}</th>" for name in table.columns)
        body = "".join(
            f"<tr>{''.join(f'<td>{html.escape(str(cell))}</td>' for cell in row)}</tr>"
            for row in table.iter_rows()
        )
        more = f"<p>{self!r}; the first {len(table)} are shown.</p>" if len(self) > SHOWN else ""
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"

    def to_polars(self, rows: slice = slice(None), top: int = 0) -> pl.DataFrame:
        """Return id, label, confidence, runner_up, reason and flags, one row a node.

        Args:
            rows: which rows; all when left out.
            top: how many of the best classes get columns of their own, label_1, probability_1, ...
        """
        names, ids = self.classes.names, self.graph.ids or ()
        columns = {
            "id": names_of(ids, self.nodes[rows]),
            "label": np.array([*names, NONE_OF_THESE], dtype=object)[self.label[rows]].tolist(),
            "confidence": shown(self.confidence[rows]),
            "runner_up": np.array([*names, ""], dtype=object)[self.runner_up[rows]].tolist(),
            "reason": list(self.reasons[rows]),
            "flags": list((self.flags or [""] * len(self))[rows]),
        }
        if top:
            best = self._best(top, rows)
            for k in range(best.shape[1]):
                columns[f"label_{k + 1}"] = np.array(names, dtype=object)[best[:, k]].tolist()
                columns[f"probability_{k + 1}"] = shown(
                    np.take_along_axis(self.proba[rows], best[:, [k]], axis=1)[:, 0]
                )
        numbers = ("confidence", "probability")
        texts = {name: pl.String for name in columns if not name.startswith(numbers)}
        return pl.DataFrame(columns, schema_overrides=texts)

    def to_pandas(self) -> Any:
        """Return the same table as a pandas data frame."""
        try:
            import pandas as pd
        except ImportError as error:
            raise MissingExtraError("to_pandas", "pandas") from error
        return pd.DataFrame(self.to_polars().to_dict(as_series=False))

    def top(self, k: int = 3) -> pl.DataFrame:
        """Return the k most probable classes of each node: id, rank, label, probability."""
        best = self._best(k)  # [m, k]
        names, ids = np.array(self.classes.names, dtype=object), self.graph.ids or ()
        return pl.DataFrame(
            {
                "id": np.repeat(np.array(names_of(ids, self.nodes), object), best.shape[1]),
                "rank": np.tile(np.arange(1, best.shape[1] + 1), len(best)),
                "label": names[best.ravel()],
                "probability": shown(np.take_along_axis(self.proba, best, axis=1).ravel()),
            },
            schema_overrides={"id": pl.String, "label": pl.String},
        )

    def probabilities(self, rows: slice = slice(None)) -> pl.DataFrame:
        """Return id and one column of probabilities a class; these add up to one.

        In an open world, the column "none of these" stands beside them: from 0 to 1, how much a
        node looks like one of no listed class.
        """
        ids = names_of(self.graph.ids or (), self.nodes[rows])
        names = list(self.classes.names)
        if "id" in names:  # is taken by the column of ids
            other = "id (class)"
            names[names.index("id")] = other if other not in names else f"{other} (class)"
        proba = np.asarray(self.proba[rows])
        columns = {name: proba[:, c] for c, name in enumerate(names)}
        if self._open() and NONE_OF_THESE not in columns:
            columns[NONE_OF_THESE] = np.asarray(self.background)[rows]
        return pl.DataFrame({"id": pl.Series(ids, dtype=pl.String)} | columns)

    def of_all_nodes(self, background: bool = False) -> NDArray[np.float32]:
        """Return the probability of every class for every node, labelled or not. [n, C]

        With `background`, that of none of them comes last, and the others share the rest. [n, C+1]
        """
        p = np.zeros((self.graph.nodes, len(self.classes) + background), dtype=np.float32)
        known = np.flatnonzero(self.labels.known)
        p[known, self.labels.codes[known]] = 1.0
        p[self.nodes, : len(self.classes)] = self.proba
        if background and self.background is not None:
            p[self.nodes] *= (1 - self.background)[:, None]
            p[self.nodes, -1] = self.background
        return p

    def followed_by(self, other: Prediction) -> Prediction:
        """Return these answers and those about nodes that were added to the graph."""

        def both(name: str) -> NDArray[Any]:
            return np.concatenate([getattr(self, name), getattr(other, name)])

        rows = ("nodes", "label", "runner_up", "confidence", "proba", "hop_shares")
        arrays: dict[str, Any] = {name: both(name) for name in (*rows, "placed", "vectors")}
        if self.background is not None and other.background is not None:
            arrays["background"] = both("background")
        why, flags = [*self.reasons, *other.reasons], [*self.flags, *other.flags]
        return replace(other, reasons=why, flags=flags, **arrays)

    def only(self, rows: NDArray[np.int64]) -> Prediction:
        """Return the answers of these rows alone."""
        names = ("nodes", "label", "runner_up", "confidence", "proba", "hop_shares")
        arrays: dict[str, Any] = {name: getattr(self, name)[rows] for name in names}
        if self.background is not None:
            arrays["background"] = self.background[rows]
        at = rows.tolist()
        flags = [self.flags[i] for i in at] if self.flags else ()
        return replace(self, reasons=[self.reasons[i] for i in at], flags=flags, **arrays)

    def save(
        self,
        folder: Path | str,
        top: int = 0,
        spreadsheet: bool = False,
        *,
        report: bool = True,
    ) -> Path:
        """Write predictions, report, model, record and inputs as a run folder.

        With `spreadsheet`, cells of predictions.csv that look like a formula get an apostrophe;
        without `report`, there is no report.html.
        """
        from unseen.run import write_run

        return write_run(self, Path(folder), top, spreadsheet, report)

    def suggest(self, count: int = 50, errors: bool = False, seed: int = 0) -> pl.DataFrame:
        """Return nodes to label next: id, label, confidence and text.

        Those whose labels would teach most (`select/suggest.py`); with `errors`, those most likely
        wrong.
        """
        from unseen.select.suggest import likely_errors, suggest
        from unseen.suggestions import sample, suggest_rows

        if hasattr(self.graph, "engine"):
            return suggest_rows(sample(self), count, errors, seed)
        if errors:
            rows = likely_errors(self.proba, count)
        else:
            X = np.zeros((self.graph.nodes, self.vectors.shape[1]), dtype=np.float32)
            X[self.placed] = self.vectors
            rows = suggest(X, self.graph.operator, self.proba, self.nodes, count, seed)
        texts = self.graph.texts or [""] * self.graph.nodes
        found: pl.DataFrame = self.to_polars().select("id", "label", "confidence")[rows.tolist()]
        return found.with_columns(pl.Series("text", [texts[i] for i in self.nodes[rows]]))

    def plot_map(self, seed: int = 0) -> Any:
        """Return a plotly figure of the nodes, similar ones close together (`unseen.plots`)."""
        return import_module("unseen.plots").plot_map(self, seed)

    def plot_confidence(self) -> Any:
        """Return a plotly figure: how many answers have which confidence."""
        return import_module("unseen.plots").plot_confidence(self)

    def plot_confusion(self, truth: Any) -> Any:
        """Return a plotly figure of true classes against answers; `truth` as `fit` has labels."""
        return import_module("unseen.plots").plot_confusion(self, truth)

    def _open(self) -> bool:
        """Tell whether answers depend on how much a node looks like one of no listed class."""
        return self.background is not None and bool(getattr(self.classifier, "open_world", False))

    def _best(self, k: int, rows: slice = slice(None)) -> NDArray[np.int64]:
        """Return the k most probable classes of each node, the best first. [m, k]"""
        if k < 1:
            raise InputError(f"top: expected 1 class or more, found {k}")
        order: NDArray[np.int64] = np.argsort(-self.proba[rows], axis=1, kind="stable")
        return order[:, : min(k, order.shape[1])]


def probabilities(
    posterior: NDArray[np.float32],
    winner: NDArray[np.int64],
    confidence: NDArray[np.float32],
    allowed: NDArray[np.bool_],
) -> NDArray[np.float32]:
    r"""Return probabilities whose largest is the confidence; the order of classes stays. [m, C]

    Neighbours repeat each other, so a posterior is surer of itself than it should be. With its
    largest entry :math:`q_a` and confidence c it is mixed with equal chances for all C classes,

    .. math:: p = (1 - w) q + w / C, \qquad w = (q_a - c) / (q_a - 1 / C),

    and where it is not sure enough, the other entries are scaled down to the rest.
    """
    rows, count = np.arange(len(posterior)), int(allowed.sum())
    q = posterior[rows, winner]
    even = np.float32(1 / count)
    c = np.maximum(confidence, even) if count > 1 else np.ones_like(confidence)
    w = np.clip((q - c) / np.maximum(q - even, np.float32(1e-9)), 0, 1)[:, None]
    p = (1 - w) * posterior + w * np.where(allowed, even, np.float32(0))
    rest = np.maximum(p.sum(axis=1) - p[rows, winner], np.float32(1e-30))
    p *= ((1 - c) / rest)[:, None]
    behind = np.nextafter(c, np.float32(0))  # rounding must not put another class first
    p = np.minimum(p, np.where(posterior < q[:, None], behind[:, None], c[:, None]))
    p[rows, winner] = c
    return np.asarray(p, dtype=np.float32)


def shown(confidence: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return confidences with the four digits that tables have."""
    return np.asarray(np.round(confidence.astype(np.float64), 4), dtype=np.float64)
