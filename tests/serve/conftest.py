"""Runs to serve, and clients that ask about them."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import unseen
from topic_graph import one_thread

from .browser import Visit, Visitor, opened

if TYPE_CHECKING:
    from playwright.sync_api import Browser

NODES = 360
TOPICS = {
    "astronomy": "star planet telescope galaxy orbit moon comet nebula solar eclipse",
    "cooking": "recipe oven flour butter sauce garlic onion dough roast spice",
    "law": "court contract judge statute appeal plaintiff verdict clause jury counsel",
    "sports": "football match goal team league coach player tennis score medal",
}
COMMON = ("the a study of new result shows in with method large small group year work",)


def topic_run(directed: bool = False) -> tuple[unseen.Graph, unseen.Classes, np.ndarray[Any, Any]]:
    """Return a graph of texts about four topics, its classes, and what each node is about."""
    rng = np.random.default_rng(3)
    words = [text.split() for text in TOPICS.values()]
    truth = rng.integers(0, len(words), NODES)
    texts = []
    for c in truth:
        own = rng.choice(words[c], rng.integers(2, 5))
        other = rng.choice(words[rng.integers(0, len(words))], rng.integers(0, 3))
        said = np.concatenate([own, other, rng.choice(COMMON[0].split(), 8)])
        rng.shuffle(said)
        texts.append(" ".join(said).capitalize() + ".")
    texts[7] = ""  # a node without a text
    A = np.zeros((NODES, NODES), dtype=np.float32)
    for i in range(NODES):
        like = np.flatnonzero(truth == truth[i])
        for j in [*rng.choice(like, 2), rng.integers(0, NODES)]:
            if i != j:
                A[i, j] = rng.integers(1, 4)
                A[j, i] = 0 if directed else A[i, j]
    A[11] = A[:, 11] = 0  # a node without neighbours
    ids = [f"n/{i}" if i % 5 == 0 else f"n{i}" for i in range(NODES)]
    graph = unseen.Graph(A, texts=texts, ids=ids, directed=directed)
    described = [f"About {', '.join(w[:4])}." for w in words]
    return graph, unseen.Classes(list(TOPICS), described), truth


@pytest.fixture(scope="session")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs of three models, with their arrays made."""
    from unseen.models.belief_propagation import BeliefPropagation
    from unseen.models.pooled_em import PooledEM
    from unseen.models.prototype import Prototype
    from unseen.serve.versions import Versions

    folder = tmp_path_factory.mktemp("runs")
    with one_thread():
        for name, model in (
            ("pooled", PooledEM()),
            ("belief", BeliefPropagation()),
            ("prototype", Prototype()),
        ):
            graph, classes, truth = topic_run(directed=name == "belief")
            labels = np.full(NODES, -1)
            labels[:6] = truth[:6]
            unseen.classify(graph, classes, labels, model=model).save(folder / name)
            versions = Versions(folder / name)
            versions.ensure(1)
            versions.store.close()
    return folder


@pytest.fixture(params=["pooled", "belief"])
def run(request: pytest.FixtureRequest, runs: Path, tmp_path: Path) -> Path:
    """A run to work on, of each of the default's models in turn."""
    return copied(runs / request.param, tmp_path)


@pytest.fixture
def one_run(runs: Path, tmp_path: Path) -> Path:
    """A run to work on, where the model does not matter."""
    return copied(runs / "pooled", tmp_path)


def copied(run: Path, folder: Path) -> Path:
    """Return a copy of a run."""
    shutil.copytree(run, folder / "run")
    return folder / "run"


Connect = Callable[..., AbstractContextManager[Any]]


@pytest.fixture
def connect() -> Connect:
    """Return what opens a client of the application, with settings of one's own."""
    from starlette.testclient import TestClient

    from unseen.serve.app import application
    from unseen.serve.settings import Settings

    @contextmanager
    def open_client(run: Path, **settings: Any) -> Iterator[Any]:
        app = application(Settings(str(run), **settings))
        with TestClient(app, base_url="http://127.0.0.1/api/v1") as client:
            yield client

    return open_client


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Chromium."""
    with opened() as started:
        yield started


@pytest.fixture
def visit(browser: Browser) -> Iterator[Visit]:
    """Give what opens the page for one person, and leaves it after the test."""
    visitors: list[Visitor] = []

    def visited(*args: Any, **options: Any) -> Visitor:
        visitors.append(Visitor(browser, *args, **options))
        return visitors[-1]

    yield visited
    for each in visitors:
        each.close()
