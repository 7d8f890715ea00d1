"""Feature columns are known by their names, wherever they come from."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import unseen
from unseen.core.errors import InputError
from unseen.core.graph import Graph

pytestmark = pytest.mark.usefixtures("quick_map")
CLASSES = {"A": "stars and planets", "B": "soup and bread", "C": "guitars and songs"}
COLUMNS = ["w", "x", "y", "z"]
TURNED = ["z", "x", "w", "y"]


@pytest.fixture(scope="module")
def nodes() -> pl.DataFrame:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4)) + 3 * np.eye(3, 4)[np.repeat([0, 1, 2], 20)]
    return pl.DataFrame({"id": [f"n{i}" for i in range(60)]} | dict(zip(COLUMNS, X.T, strict=True)))


@pytest.fixture(scope="module")
def edges() -> pl.DataFrame:
    ends = np.arange(60)
    return pl.DataFrame(
        {"source": [f"n{i}" for i in ends], "target": [f"n{(i + 1) % 60}" for i in ends]}
    )


@pytest.fixture(scope="module")
def fitted(nodes: pl.DataFrame, edges: pl.DataFrame) -> unseen.ZeroShotNodeClassifier:
    labels = [["A", "B", "C"][i // 20] if i < 40 and i % 2 else None for i in range(60)]
    return unseen.ZeroShotNodeClassifier().fit((nodes, edges), CLASSES, labels)


@pytest.fixture(scope="module")
def saved(
    fitted: unseen.ZeroShotNodeClassifier,
    tmp_path_factory: pytest.TempPathFactory,
    quick_map: None,
) -> Path:
    return fitted.prediction_.save(tmp_path_factory.mktemp("columns") / "run")


def write(nodes: pl.DataFrame, path: Path) -> Path:
    if path.suffix == ".parquet":
        nodes.write_parquet(path)
    elif path.suffix == ".jsonl":
        nodes.write_ndjson(path)
    else:
        nodes.write_csv(path)
    return path


@pytest.mark.parametrize("ending", [".csv", ".parquet", ".jsonl"])
@pytest.mark.parametrize("which", ["run", "model"])
def test_columns_of_a_file_in_another_order(
    ending: str, which: str, saved: Path, nodes: pl.DataFrame, edges: pl.DataFrame, tmp_path: Path
) -> None:
    model = unseen.load(saved if which == "run" else saved / "model")
    before = model.explain(unseen.from_frames(nodes, edges))
    edges.write_csv(tmp_path / "e.csv")
    path = write(nodes.select("id", *TURNED), tmp_path / f"n{ending}")
    after = model.explain(unseen.read_graph(path, tmp_path / "e.csv"))
    np.testing.assert_array_equal(after.proba, before.proba)
    assert after.reasons == before.reasons


def test_columns_of_nodes_that_join(saved: Path, nodes: pl.DataFrame, edges: pl.DataFrame) -> None:
    new = nodes.tail(1).with_columns(pl.lit("new").alias("id"))
    link = pl.DataFrame({"source": ["new"], "target": ["n59"]})
    found = [
        unseen.load(saved).add_nodes(new.select("id", *order), link).proba
        for order in (COLUMNS, TURNED)
    ]
    np.testing.assert_array_equal(found[0], found[1])


@pytest.mark.parametrize(
    ("columns", "told"),
    [
        (["w", "x", "y"], "lacks 'z'"),
        (["w", "x", "y", "z", "id"], "has 'more' besides"),
        (["w", "x", "y", "other"], "lacks 'z' and has 'other' besides"),
    ],
)
def test_other_columns_are_refused_by_name(
    columns: list[str],
    told: str,
    fitted: unseen.ZeroShotNodeClassifier,
    nodes: pl.DataFrame,
    edges: pl.DataFrame,
) -> None:
    given = nodes.with_columns(other=pl.col("z"), more=pl.col("x"))
    names = ["more" if name == "id" else name for name in columns]
    with pytest.raises(InputError, match=told):
        fitted.explain(unseen.from_frames(given.select("id", *names), edges))


def test_columns_without_names_are_taken_in_order(
    fitted: unseen.ZeroShotNodeClassifier, nodes: pl.DataFrame, edges: pl.DataFrame
) -> None:
    named = unseen.from_frames(nodes, edges)
    plain = Graph(named.adjacency, features=named.features, ids=named.ids)
    assert plain.feature_names is None
    np.testing.assert_array_equal(fitted.explain(plain).proba, fitted.explain(named).proba)


def test_names_have_to_fit_the_columns() -> None:
    with pytest.raises(InputError, match="feature_names: 1 different ones for 2 feature columns"):
        Graph([[0, 1], [1, 0]], features=np.eye(2), feature_names=["a", "a"])


@pytest.mark.parametrize("encoder", ["counts", "features", "words"])
def test_columns_are_known_by_their_words(encoder: str) -> None:
    rng = np.random.default_rng(0)
    words = ["star", "moon", "comet", "oven", "soup", "dough"]
    X = rng.poisson(0.4, (40, 6)).astype(np.float32)
    X[np.arange(40), 3 * (np.arange(40) % 2) + rng.integers(0, 3, 40)] += 3
    A = np.roll(np.eye(40), 2, axis=1)
    labels = [["sky", "kitchen"][i % 2] if i < 20 else None for i in range(40)]
    classes = {"sky": "star moon comet", "kitchen": "oven soup dough"}

    def graph(order: list[int], names: list[str]) -> Graph:
        return Graph(A + A.T, features=X[:, order], vocabulary=[names[k] for k in order])

    order, turned = list(range(6)), [4, 2, 0, 5, 1, 3]
    fitted = unseen.ZeroShotNodeClassifier(encoder=encoder).fit(
        graph(order, words), classes, labels
    )
    expected = fitted.predict_proba(graph(order, words))
    found = fitted.predict_proba(graph(turned, words))
    np.testing.assert_allclose(found, expected, atol=1e-5)
    if encoder != "words":
        others = ["star", "star", *words[2:]]
        with pytest.raises(InputError, match=r"lacks 'moon'"):
            fitted.predict_proba(graph(order, others))
        fitted.feature_names_ = tuple(others)
        with pytest.raises(InputError, match="two of its feature columns are called 'star'"):
            fitted.predict_proba(graph(turned, others))
