"""New nodes in a graph that is fitted: answered at once, and nothing else is touched."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import unseen
from topic_graph import Sample, answers, sample
from unseen.core.errors import InputError
from unseen.core.graph import Graph
from unseen.estimator import ZeroShotNodeClassifier


@pytest.fixture(scope="module")
def given() -> Sample:
    return sample(per_class=20, topical=2)


@pytest.fixture
def fitted(given: Sample) -> ZeroShotNodeClassifier:
    return ZeroShotNodeClassifier().fit(given.graph, given.classes)


def nodes(**texts: str | None) -> pl.DataFrame:
    return pl.DataFrame(
        {"id": list(texts), "text": list(texts.values())},
        schema_overrides={"id": pl.String, "text": pl.String},
    )


def edges(*pairs: tuple[object, object]) -> pl.DataFrame:
    ends = [(str(source), str(target)) for source, target in pairs]
    return pl.DataFrame(ends, schema=["source", "target"], orient="row")


def some(given: Sample, topic: int, count: int) -> list[int]:
    found: list[int] = np.flatnonzero(given.truth == topic)[:count].tolist()
    return found


def test_only_new_nodes_are_in_the_answer(given: Sample, fitted: ZeroShotNodeClassifier) -> None:
    stars = some(given, 0, 3)
    new = fitted.add_nodes(
        nodes(a="orbit of a comet", b="a general report", c="butter and flour"),
        edges(*(("b", old) for old in stars), ("a", "b")),
    )
    assert answers(new) == {"a": "Astronomy", "b": "Astronomy", "c": "Cooking"}
    n = given.graph.nodes
    assert new.nodes.tolist() == [n, n + 1, n + 2]
    assert new.graph.nodes == n + 3
    assert new.graph.edges == given.graph.edges + 4
    assert new.record["graph"]["nodes"] == n + 3
    assert new.record["graph"]["unlabelled"] == 3
    assert "All 4 neighbours have this class" in new.reasons[1]
    assert new.reasons[2].startswith("Decided by its own text alone (words: flour")
    assert new.reasons[2].endswith("), as it has no neighbours.")
    assert new.flags[2] == "no neighbours"
    np.testing.assert_allclose(new.proba.sum(axis=1), 1, atol=1e-5)


def test_old_answers_stay_bit_for_bit(given: Sample, fitted: ZeroShotNodeClassifier) -> None:
    before, table = fitted.predict_proba(), fitted.prediction_.to_polars()
    state = {name: np.copy(value) for name, value in fitted.model_.state().items()}
    posterior = fitted.posterior_.copy()
    new = fitted.add_nodes(nodes(a="a piano"), edges(*(("a", old) for old in range(20))))
    n = given.graph.nodes
    assert fitted.predict_proba()[:n].tobytes() == before.tobytes()
    assert fitted.predict_proba()[n:].tobytes() == new.proba.tobytes()
    assert fitted.posterior_[:n].tobytes() == posterior.tobytes()
    assert fitted.prediction_.to_polars().head(n).equals(table)
    assert len(fitted.prediction_) == n + 1
    for name, value in fitted.model_.state().items():
        np.testing.assert_array_equal(value, state[name], err_msg=name)


def test_nodes_are_added_several_times(given: Sample, fitted: ZeroShotNodeClassifier) -> None:
    first = fitted.add_nodes(nodes(a="a piano and a violin"), edges(("a", some(given, 4, 1)[0])))
    second = fitted.add_nodes(nodes(b="a general report"), edges(("b", "a")))
    third = fitted.add_nodes(nodes(c=""), edges(("c", "a"), ("b", "c")))
    assert [answers(each) for each in (first, second, third)] == [
        {"a": "Music"},
        {"b": "Music"},
        {"c": "Music"},
    ]
    n = given.graph.nodes
    assert fitted.graph_.nodes == len(fitted.predict()) == n + 3
    assert fitted.posterior_.shape == (n + 3, 5)
    assert fitted.predict()[n:].tolist() == ["Music"] * 3
    ids = fitted.prediction_.to_polars()["id"].to_list()
    assert ids == [*(given.graph.ids or ()), "a", "b", "c"]


def test_one_at_a_time_or_at_once_where_they_do_not_touch(
    given: Sample, fitted: ZeroShotNodeClassifier
) -> None:
    links = edges(("a", 0), ("b", 1), ("b", 2))
    texts = {"a": "a report on a piano", "b": "the year of the vaccine"}
    at_once = fitted.add_nodes(nodes(**texts), links)
    fresh = ZeroShotNodeClassifier().fit(given.graph, given.classes)
    one = fresh.add_nodes(nodes(a=texts["a"]), links[:1])
    other = fresh.add_nodes(nodes(b=texts["b"]), links[1:])
    np.testing.assert_allclose(at_once.proba, np.concatenate([one.proba, other.proba]), atol=1e-6)


def test_a_node_without_text_is_answered_by_its_neighbours(
    given: Sample, fitted: ZeroShotNodeClassifier
) -> None:
    for topic, name in enumerate(given.classes.names):
        new = fitted.add_nodes(
            nodes(**{f"silent {topic}": None}),
            edges(*((f"silent {topic}", old) for old in some(given, topic, 3))),
        )
        assert new.to_polars()["label"].to_list() == [name]
        assert new.hop_shares[0, 0] == 0
    alone = fitted.add_nodes(nodes(nothing=None))
    assert alone.confidence[0] == pytest.approx(1 / 5)


def test_it_agrees_with_inference_on_the_whole_graph(
    given: Sample, fitted: ZeroShotNodeClassifier
) -> None:
    texts = {f"new {c}": "a general report" for c in range(5)}
    links = edges(*((f"new {c}", old) for c in range(5) for old in some(given, c, 4)))
    quick = fitted.add_nodes(nodes(**texts), links)
    whole = fitted.explain(fitted.graph_)
    expected = dict(zip(texts, given.classes.names, strict=True))
    assert answers(quick) == expected
    assert {node: answers(whole)[node] for node in texts} == expected
    np.testing.assert_allclose(quick.proba, whole.proba[quick.nodes], atol=0.05)


def test_the_old_part_of_the_graph_is_not_read_again(given: Sample) -> None:
    """What a new node costs does not grow with the graph."""
    read: list[str] = []
    static = unseen.get_encoder("static")

    def encoder(texts: list[str]) -> Any:
        read.extend(texts)
        return static.encode(texts)

    fitted = ZeroShotNodeClassifier(encoder=encoder).fit(given.graph, given.classes)
    read.clear()
    fitted.add_nodes(nodes(a="an orbit"), edges(("a", 0), ("a", 1)))
    texts = given.graph.texts or ()
    near = given.graph.adjacency[[0, 1]].indices  # two hops away from the new node
    around = {texts[i] for i in (0, 1, *near.tolist())}
    assert set(texts).intersection(read) <= around
    assert len(around) < len(texts) / 5
    assert "an orbit" in read


def test_weights_of_edges_count(given: Sample, fitted: ZeroShotNodeClassifier) -> None:
    star, song = some(given, 0, 1)[0], some(given, 4, 1)[0]
    for name, weights in (("Astronomy", [9.0, 1.0]), ("Music", [1.0, 9.0])):
        links = edges((name, star), (name, song)).with_columns(weight=pl.Series(weights))
        new = fitted.add_nodes(nodes(**{name: "a general report"}), links)
        assert new.to_polars()["label"].to_list() == [name]


def test_directed_edges_count_from_source_to_target(given: Sample) -> None:
    ends = given.graph.adjacency.tocoo()
    graph = Graph.from_edges(
        ends.row, ends.col, nodes=given.graph.nodes, texts=given.graph.texts, directed=True
    )
    fitted = ZeroShotNodeClassifier().fit(graph, given.classes)
    star, songs = some(given, 0, 2), some(given, 4, 6)
    links = edges(*(("a", old) for old in star), *((old, "a") for old in songs))
    assert answers(fitted.add_nodes(nodes(a=""), links)) == {"a": "Astronomy"}


@pytest.mark.parametrize(
    "model", [unseen.Prototype, unseen.ClusterMatching], ids=["Prototype", "ClusterMatching"]
)
def test_any_model_answers_new_nodes(model: Callable[[], Any], given: Sample) -> None:
    fitted = ZeroShotNodeClassifier(model=model())
    fitted.fit(given.graph, given.classes, given.labels(0, 1, 2))
    before = fitted.predict_proba()
    new = fitted.add_nodes(
        nodes(a="comet and orbit"), edges(*(("a", i) for i in some(given, 0, 3)))
    )
    assert answers(new) == {"a": "Astronomy"}
    assert fitted.predict_proba()[:-1].tobytes() == before.tobytes()
    assert fitted.predict_proba()[-1:].tobytes() == new.proba.tobytes()


def test_features_and_labels_of_the_fitted_graph(given: Sample) -> None:
    rng = np.random.default_rng(0)
    means = rng.normal(size=(5, 4))
    X = means[given.truth] + 0.1 * rng.normal(size=(given.graph.nodes, 4))
    graph = Graph(given.graph.adjacency, features=X)
    fitted = ZeroShotNodeClassifier().fit(graph, given.classes, given.labels(0, 1, 2))
    row = pl.DataFrame([["a", *means[1].tolist()]], schema=["id", "p", "q", "r", "s"], orient="row")
    new = fitted.add_nodes(row, edges(*(("a", i) for i in some(given, 1, 3))))
    assert answers(new) == {"a": "Cooking"}
    assert " have this class" in new.reasons[0]


def test_a_label_of_a_new_node_is_kept_and_tells_its_neighbours(
    given: Sample, fitted: ZeroShotNodeClassifier
) -> None:
    more = nodes(a="", b="a general report")
    more = more.with_columns(label=pl.Series([None, "Football"]))
    new = fitted.add_nodes(more, edges(("a", "b")))
    assert answers(new) == {"a": "Football"}
    assert fitted.predict()[-2:].tolist() == ["Football", "Football"]
    assert fitted.labels_.codes[-2:].tolist() == [-1, 2]
    assert fitted.posterior_[-1].tolist() == [0, 0, 1, 0, 0]
    assert new.record["graph"]["labelled"] == 1
    assert answers(fitted.add_nodes(nodes(c=""), edges(("c", "b")))) == {"c": "Football"}


def test_abstaining_and_among_hold_for_new_nodes(given: Sample) -> None:
    fitted = ZeroShotNodeClassifier(among="unseen", abstain=0.9)
    fitted.fit(given.graph, given.classes, given.labels(0, 1, every=1))
    new = fitted.add_nodes(nodes(a="comet and orbit", b="piano and violin", c=""))
    assert not new.proba[:, :2].any()
    assert answers(new) == {"a": "none of these", "b": "Music", "c": "none of these"}


@pytest.mark.usefixtures("quick_map")
def test_a_run_with_added_nodes_tells_of_all_of_them(
    given: Sample, fitted: ZeroShotNodeClassifier, tmp_path: Path
) -> None:
    before = fitted.prediction_.record
    more = nodes(a="a piano", b="a violin", c="an oven")
    fitted.add_nodes(more.with_columns(label=pl.Series([None, "Music", None])), edges(("a", "b")))
    found = fitted.prediction_
    counts = {row["name"]: row["predicted"] for row in found.record["classes"]}
    expected = {row["name"]: row["predicted"] for row in before["classes"]}
    assert counts == expected | {n: expected[n] + 1 for n in ("Music", "Cooking")}
    assert found.record["graph"]["nodes"] == given.graph.nodes + 3
    assert found.record["graph"]["unlabelled"] == len(found) == given.graph.nodes + 2
    assert found.record["choices"] == before["choices"]
    run = found.save(tmp_path / "run")
    shown = pl.read_parquet(run / "map.parquet").filter(~pl.col("known"))
    assert shown.select("id", "label").equals(found.to_polars().select("id", "label"))


@pytest.mark.usefixtures("quick_map")
@pytest.mark.parametrize("model", [None, unseen.Prototype()], ids=["default", "Prototype"])
def test_a_run_of_added_nodes_alone_shows_these(model: Any, given: Sample, tmp_path: Path) -> None:
    fitted = ZeroShotNodeClassifier(model=model).fit(given.graph, given.classes)
    new = fitted.add_nodes(nodes(a="a piano", b="an oven"), edges(("a", 0)))
    shown = pl.read_parquet(new.save(tmp_path / "run") / "map.parquet")
    assert shown.select("id", "label").rows() == [("a", "Music"), ("b", "Cooking")]


@pytest.mark.parametrize("whole", [False, True], ids=["a run that was loaded", "loaded twice"])
@pytest.mark.usefixtures("quick_map")
def test_a_run_from_a_folder_goes_on(
    whole: bool, given: Sample, fitted: ZeroShotNodeClassifier, tmp_path: Path
) -> None:
    before = fitted.predict_proba()
    more = nodes(a="a piano"), edges(("a", 0), ("a", 1))
    expected = fitted.add_nodes(*more)
    fresh = ZeroShotNodeClassifier().fit(given.graph, given.classes)
    loaded = unseen.load(fresh.prediction_.save(tmp_path / "run"))
    new = loaded.add_nodes(*more)
    assert new.proba.tobytes() == expected.proba.tobytes()
    if whole:  # the folder of the new answers is one to go on from, too
        loaded = unseen.load(loaded.explain().save(tmp_path / "more"))
        assert answers(loaded.add_nodes(nodes(b="a violin"), edges(("b", "a")))) == {"b": "Music"}
        return
    assert loaded.predict_proba()[:-1].tobytes() == before.tobytes()
    assert loaded.predict_proba()[-1:].tobytes() == new.proba.tobytes()


def test_a_model_without_its_graph_cannot_take_nodes(
    fitted: ZeroShotNodeClassifier, tmp_path: Path
) -> None:
    alone = unseen.load(fitted.save(tmp_path / "model"))
    with pytest.raises(InputError, match=r"^graph: the classifier was saved without one"):
        alone.add_nodes(nodes(a="a piano"))


def test_files_will_do(fitted: ZeroShotNodeClassifier, tmp_path: Path) -> None:
    (tmp_path / "n.csv").write_text("id,text\na,a piano\n", encoding="utf-8")
    (tmp_path / "e.csv").write_text("source,target\na,0\n", encoding="utf-8")
    assert answers(fitted.add_nodes(tmp_path / "n.csv", str(tmp_path / "e.csv"))) == {"a": "Music"}


@pytest.mark.parametrize(
    ("more", "links", "message"),
    [
        (nodes(**{"0": "again"}), None, r"node '0' is in the run already"),
        (nodes(a="x"), edges(("a", "nobody")), r"unknown node 'nobody' as target"),
        (pl.DataFrame({"id": ["a"], "x": [1.0]}), None, r"the run it joins"),
        (pl.DataFrame({"text": ["a"]}), None, r"no column `id`"),
        (Graph([[0]], texts=["a piano"]), None, r"^nodes: expected .* data frame, found Graph"),
        (nodes(a="x").with_columns(label=pl.lit("Chess")), None, r"label 'Chess' is not a class"),
        (nodes(a="x").with_columns(label=pl.lit("Music")), None, r"all 1 new nodes have one"),
        (["a piano"], None, r"^nodes: expected a pandas or Polars data frame, found list"),
    ],
    ids=[
        "known id",
        "unknown end",
        "other columns",
        "no ids",
        "a graph",
        "label",
        "known",
        "no frame",
    ],
)
def test_what_cannot_be_added(
    more: Any, links: Any, message: str, fitted: ZeroShotNodeClassifier
) -> None:
    before = fitted.predict_proba()
    with pytest.raises(InputError, match=message):
        fitted.add_nodes(more, links)
    np.testing.assert_array_equal(fitted.predict_proba(), before)
