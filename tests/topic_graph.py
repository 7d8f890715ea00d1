"""A small text graph with known classes, for tests of the whole job."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
import scipy.sparse as sp
from numpy.typing import NDArray

from unseen.core.classes import Classes
from unseen.core.graph import Graph
from unseen.core.labels import Labels
from unseen.prediction import Prediction

Call = Callable[..., tuple[int, str, str]]  # of a command: exit code, output, complaint
TOPICS = {
    "Astronomy": "planet star galaxy telescope orbit comet nebula moon asteroid eclipse",
    "Cooking": "recipe oven butter flour onion sauce roast bake soup garlic",
    "Football": "goal striker referee penalty league stadium coach defender kick tournament",
    "Medicine": "patient surgery diagnosis vaccine hospital symptom therapy doctor infection dose",
    "Music": "melody guitar concert piano violin orchestra chord singer album rhythm",
}
ABOUT = (
    "Stars, planets and galaxies as seen through telescopes.",
    "Recipes and food that is prepared in a kitchen.",
    "The sport in which two teams kick a ball into a goal.",
    "Doctors who treat patients and cure diseases.",
    "Songs, instruments and the people who play them.",
)
FILLER = "new report people year first part long general work place known group side"


@contextmanager
def one_thread() -> Iterator[None]:
    """Train on one thread: on a busy machine two take ten times as long with small matrices."""
    try:
        import torch
    except ImportError:
        yield
        return
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@dataclass(frozen=True, eq=False)
class Sample:
    """A graph, its classes, and what each node is."""

    graph: Graph
    classes: Classes
    truth: NDArray[np.int64]

    def labels(self, *known: int, every: int = 2) -> Labels:
        """Return the labels of every other node of these classes."""
        shown = np.isin(self.truth, known) & (np.arange(len(self.truth)) % every == 0)
        return Labels(np.where(shown, self.truth, -1))

    def accuracy(self, nodes: NDArray[np.int64], label: NDArray[np.int64]) -> float:
        return float((self.truth[nodes] == label).mean())


def sample(per_class: int = 30, homophily: float = 0.85, topical: int = 1, seed: int = 0) -> Sample:
    """Return a graph in which this share of edges is drawn within a class, the rest anywhere."""
    rng = np.random.default_rng(seed)
    truth = rng.permutation(np.repeat(np.arange(len(TOPICS)), per_class))
    words = [about.split() for about in TOPICS.values()]
    texts = []
    for c in truth:
        drawn = [*rng.choice(words[c], topical), *rng.choice(FILLER.split(), 8 - topical)]
        texts.append(" ".join(rng.permutation(drawn)))
    source = np.repeat(np.arange(len(truth)), 3)
    target = np.array(
        [
            rng.choice(
                np.flatnonzero(truth == truth[i]) if rng.random() < homophily else len(truth)
            )
            for i in source
        ]
    )
    graph = Graph.from_edges(source, target, nodes=len(truth), texts=texts)
    return Sample(graph, Classes(list(TOPICS), ABOUT), truth)


def with_silent_nodes(given: Sample) -> Sample:
    """Return the same with every third text of words that say nothing: neighbours have to."""
    texts = [FILLER if i % 3 == 0 else text for i, text in enumerate(given.graph.texts or ())]
    graph = Graph(given.graph.adjacency, texts=texts, ids=given.graph.ids)
    return Sample(graph, given.classes, given.truth)


def without_edges(graph: Graph) -> Graph:
    """Return the same nodes, not linked."""
    return Graph(sp.csr_array((graph.nodes, graph.nodes)), texts=graph.texts, ids=graph.ids)


def bag_of_words(graph: Graph) -> tuple[NDArray[np.float32], list[str]]:
    """Return how often each text has each word [n, w], and the words."""
    rows = [text.split() for text in graph.texts or ()]
    vocabulary = sorted({word for row in rows for word in row})
    counts = [[row.count(word) for word in vocabulary] for row in rows]
    return np.array(counts, dtype=np.float32), vocabulary


def answers(prediction: Prediction) -> dict[str, str]:
    """Return the label of each node by its id."""
    return dict(prediction.to_polars().select("id", "label").iter_rows())


def write_files(folder: Path, given: Sample, labels: Labels | None = None) -> dict[str, Path]:
    """Write nodes, edges and classes as CSV; return their paths by option."""
    folder.mkdir(parents=True, exist_ok=True)
    graph, names = given.graph, [*given.classes.names, ""]
    nodes = pl.DataFrame({"id": graph.ids, "text": graph.texts})
    if labels is not None:
        nodes = nodes.with_columns(label=pl.Series([names[c] for c in labels.codes]))
    ends = graph.adjacency.tocoo()
    once = ends.row < ends.col
    edges = pl.DataFrame(
        {"source": ends.row[once].astype(str), "target": ends.col[once].astype(str)}
    )
    classes = pl.DataFrame({"name": given.classes.names, "description": given.classes.descriptions})
    paths = {}
    for name, table in (("nodes", nodes), ("edges", edges), ("classes", classes)):
        paths[name] = folder / f"{name}.csv"
        table.write_csv(paths[name])
    return paths
