"""The whole job, from files and from objects in hand: accuracy, invariances, the record."""

from __future__ import annotations

import json
import subprocess
import sys
import unicodedata
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import unseen
from topic_graph import (
    TOPICS,
    Sample,
    answers,
    sample,
    with_silent_nodes,
    without_edges,
    write_files,
)
from unseen.core.graph import Graph
from unseen.core.labels import Labels
from unseen.models.baselines.eszsl import ESZSL
from unseen.prediction import Prediction
from unseen.propagate.hops import decompose
from unseen.select.calibration import Calibration

FLOOR = 1 / len(TOPICS)
COLUMNS = ["id", "label", "confidence", "runner_up", "reason", "flags"]


@pytest.fixture(scope="module")
def given() -> Sample:
    return sample()


@pytest.fixture(scope="module")
def unlabelled(given: Sample) -> Prediction:
    return unseen.classify(given.graph, given.classes)


@pytest.fixture(scope="module")
def two_seen(given: Sample) -> Prediction:
    return unseen.classify(given.graph, given.classes, given.labels(0, 1))


@pytest.fixture(scope="module")
def four_seen(given: Sample) -> Prediction:
    return unseen.classify(given.graph, given.classes, given.labels(0, 1, 2, 3), among="unseen")


# From files and from objects in hand.


def test_five_lines_from_files(given: Sample, two_seen: Prediction, tmp_path: Path) -> None:
    paths = write_files(tmp_path, given, given.labels(0, 1))
    graph = unseen.read_graph(paths["nodes"], paths["edges"])
    classes = unseen.read_classes(paths["classes"])
    labels = unseen.read_labels(paths["nodes"], graph, classes)
    prediction = unseen.classify(graph, classes, labels)
    table = prediction.to_polars()
    assert table.columns == COLUMNS
    assert table["id"].to_list() == [str(i) for i in np.flatnonzero(~labels.known)]
    assert answers(prediction) == answers(two_seen)
    pytest.importorskip("pandas")
    assert list(prediction.to_pandas().columns) == COLUMNS
    assert dict(prediction.to_pandas()[["id", "label"]].to_numpy()) == answers(two_seen)


def test_lists_and_a_dictionary_of_labels(given: Sample, two_seen: Prediction) -> None:
    graph = Graph(
        given.graph.adjacency.toarray().tolist(),
        texts=list(given.graph.texts or ()),
        ids=list(given.graph.ids or ()),
    )
    known = given.labels(0, 1)
    by_id = {str(i): given.classes.names[known.codes[i]] for i in np.flatnonzero(known.known)}
    assert answers(unseen.classify(graph, given.classes, by_id)) == answers(two_seen)


def test_a_list_of_names_is_enough(given: Sample) -> None:
    prediction = unseen.classify(given.graph, list(given.classes.names))
    assert given.accuracy(prediction.nodes, prediction.label) > 0.9
    assert prediction.record["choices"][0]["rule"] == "no alternative"


def from_networkx(graph: Graph) -> Graph:
    nx = pytest.importorskip("networkx")
    g = nx.from_scipy_sparse_array(graph.adjacency)
    nx.set_node_attributes(g, dict(enumerate(graph.texts or ())), "text")
    return unseen.from_networkx(g)


def from_frames(graph: Graph, library: str) -> Graph:
    frame = pytest.importorskip(library).DataFrame
    ends = sp.triu(graph.adjacency).tocoo()
    return unseen.from_frames(
        frame({"id": list(graph.ids or ()), "text": list(graph.texts or ())}),
        frame({"source": ends.row.tolist(), "target": ends.col.tolist()}),
    )


def from_pyg(graph: Graph) -> Graph:
    pytest.importorskip("torch_geometric")
    return unseen.from_pyg(graph.to_pyg())


@pytest.mark.parametrize(
    "convert",
    [
        from_networkx,
        lambda graph: from_frames(graph, "polars"),
        lambda graph: from_frames(graph, "pandas"),
        from_pyg,
    ],
    ids=["networkx", "polars", "pandas", "pyg"],
)
def test_all_routes_give_one_answer(convert: Any, given: Sample, unlabelled: Prediction) -> None:
    prediction = unseen.classify(convert(given.graph), given.classes)
    assert answers(prediction) == answers(unlabelled)
    np.testing.assert_allclose(prediction.confidence, unlabelled.confidence, atol=1e-5)


# How well it answers.


def test_without_labels(given: Sample, unlabelled: Prediction) -> None:
    assert len(unlabelled) == given.graph.nodes
    assert given.accuracy(unlabelled.nodes, unlabelled.label) > 0.9 > 4 * FLOOR


def test_the_graph_helps_where_neighbours_agree(given: Sample) -> None:
    silent = with_silent_nodes(given)
    alone = unseen.classify(without_edges(silent.graph), silent.classes)
    linked = unseen.classify(silent.graph, silent.classes)
    texts_only = silent.accuracy(alone.nodes, alone.label)
    assert 1.5 * FLOOR < texts_only < 0.9
    assert silent.accuracy(linked.nodes, linked.label) > texts_only + 0.05
    assert all(reason.startswith("Decided by its own text alone") for reason in alone.reasons)


def test_some_classes_labelled_among_all(given: Sample, two_seen: Prediction) -> None:
    known = given.labels(0, 1).known
    assert two_seen.nodes.tolist() == np.flatnonzero(~known).tolist()
    assert given.accuracy(two_seen.nodes, two_seen.label) > 0.9
    hidden = np.isin(given.truth[two_seen.nodes], (2, 3, 4))
    assert given.accuracy(two_seen.nodes[hidden], two_seen.label[hidden]) > 0.9


def test_among_unseen_never_answers_a_seen_class(given: Sample, four_seen: Prediction) -> None:
    assert set(four_seen.label) == {4}
    assert set(four_seen.runner_up) == {-1}
    assert set(four_seen.to_polars()["runner_up"]) == {""}
    prediction = unseen.classify(
        given.graph, given.classes, given.labels(0, 1, every=1), among="unseen"
    )
    assert set(prediction.label) | set(prediction.runner_up) == {2, 3, 4}
    assert given.accuracy(prediction.nodes, prediction.label) > 0.9
    assert [row["predicted"] for row in prediction.record["classes"][:2]] == [0, 0]


@pytest.mark.parametrize("homophily", [0.0, -1.0], ids=["random", "never within a class"])
@pytest.mark.parametrize("known", [(), (0, 1)], ids=["no labels", "two classes"])
def test_a_useless_graph_does_not_hurt(homophily: float, known: tuple[int, ...]) -> None:
    given = sample(homophily=max(homophily, 0.0), topical=2)
    if homophily < 0:  # every edge joins two classes
        order = np.argsort(given.truth, kind="stable").reshape(len(TOPICS), -1)
        source = np.concatenate([order[c] for c in range(5)] * 2)
        target = np.concatenate([order[(c + step) % 5] for step in (1, 2) for c in range(5)])
        graph = Graph.from_edges(source, target, nodes=len(source) // 2, texts=given.graph.texts)
        given = Sample(graph, given.classes, given.truth)
    labels = given.labels(*known)
    linked = unseen.classify(given.graph, given.classes, labels)
    alone = unseen.classify(without_edges(given.graph), given.classes, labels)
    texts_only = given.accuracy(alone.nodes, alone.label)
    assert given.accuracy(linked.nodes, linked.label) >= texts_only - 0.03
    assert texts_only > 0.9


def test_confidence_is_a_probability_that_means_something(
    given: Sample, unlabelled: Prediction
) -> None:
    alone = unseen.classify(without_edges(given.graph), given.classes)
    for prediction in (unlabelled, alone):
        assert (prediction.confidence > 0).all()
        assert (prediction.confidence <= 1 + 1e-6).all()
        np.testing.assert_allclose(prediction.hop_shares.sum(axis=1), 1, atol=1e-5)
    right = given.truth == alone.label
    assert alone.confidence[right].mean() > alone.confidence[~right].mean()


def test_a_heavier_edge_counts_more() -> None:
    texts = ["planet orbit"] * 3 + ["melody guitar"] * 3 + ["general report"]
    source, target = [0, 1, 3, 4, 6, 6], [1, 2, 4, 5, 0, 3]
    for strong, label in ((4, "Astronomy"), (5, "Music")):
        weight = np.ones(6)
        weight[strong] = 20
        graph = Graph.from_edges(source, target, weight, nodes=7, texts=texts)
        known = {"0": "Astronomy", "3": "Music"}
        assert answers(unseen.classify(graph, ["Astronomy", "Music"], known))["6"] == label


def test_nodes_all_of_one_class_need_the_centre_of_a_mixed_graph(unlabelled: Prediction) -> None:
    """Documented in `prepare/preparer.py`: centring takes away what all nodes share.

    So a graph of one class is split when it is fitted alone, and read rightly by a classifier that
    was fitted on a mixed one.
    """
    texts = ["planet orbit", "star and telescope", "a comet", "the moon", "a distant galaxy"]
    many = Graph(np.ones((200, 200)), texts=texts * 40)
    assert len(set(answers(unseen.classify(many, list(TOPICS))).values())) > 1
    assert set(unlabelled.classifier.predict(many)) == {"Astronomy"}


# What must not change the answer, and what must not be looked at.


def test_the_truth_is_never_there(given: Sample) -> None:
    """Hidden labels are gone before `classify`: what they were cannot matter."""
    rng = np.random.default_rng(1)
    shuffled = given.truth.copy()
    hidden = np.flatnonzero(given.truth >= 2)
    shuffled[hidden] = rng.permutation(shuffled[hidden])
    assert (shuffled != given.truth).any()
    one, other = (
        unseen.classify(given.graph, given.classes, Labels(truth).only([0, 1]), among="unseen")
        for truth in (given.truth, shuffled)
    )
    assert one.label.tobytes() == other.label.tobytes()
    assert one.confidence.tobytes() == other.confidence.tobytes()
    assert one.nodes.tolist() == hidden.tolist()


def test_the_pipeline_does_without_the_room_that_knows_the_truth() -> None:
    script = (
        "import sys; sys.modules['unseen.evaluate'] = None\n"
        "import unseen\n"
        "g = unseen.Graph([[0, 1], [1, 0]], texts=['a star', 'a soup'])\n"
        "p = unseen.classify(g, ['Astronomy', 'Cooking'])\n"
        "p.classifier.explain(g)\n"
        "loaded = [m for m in sys.modules if m.startswith('unseen.evaluate.')]\n"
        "sys.exit(f'imported {loaded}' if loaded else 0)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("known", [(), (0, 1)], ids=["no labels", "two classes"])
def test_renumbering_nodes_renumbers_answers(
    known: tuple[int, ...], given: Sample, unlabelled: Prediction, two_seen: Prediction
) -> None:
    order = np.random.default_rng(3).permutation(given.graph.nodes)
    graph = Graph(
        given.graph.adjacency[order][:, order],
        texts=[(given.graph.texts or ())[i] for i in order],
        ids=[(given.graph.ids or ())[i] for i in order],
    )
    labels = Labels(given.labels(*known).codes[order])
    before, after = (two_seen if known else unlabelled), None
    after = unseen.classify(graph, given.classes, labels)
    assert answers(after) == answers(before)
    place = {node: i for i, node in enumerate(before.to_polars()["id"])}
    rows = [place[node] for node in after.to_polars()["id"]]
    drawn = 1e-3 if known else 3e-2  # without labels, homophily is estimated on sampled pairs
    np.testing.assert_allclose(after.confidence, before.confidence[rows], atol=drawn)


def test_the_order_of_classes_does_not_matter(given: Sample, unlabelled: Prediction) -> None:
    turned = unseen.classify(given.graph, given.classes.select([3, 0, 4, 2, 1]))
    assert answers(turned) == answers(unlabelled)
    np.testing.assert_allclose(turned.confidence, unlabelled.confidence, atol=1e-3)


def test_confidences_are_calibrated_where_there_are_folds(
    given: Sample, unlabelled: Prediction, two_seen: Prediction, four_seen: Prediction
) -> None:
    one_seen = unseen.classify(given.graph, given.classes, given.labels(0))
    for capped in (unlabelled, one_seen):  # without folds, the order of nodes and the slope stay
        assert capped.classifier.calibration_.slope == 1
        assert capped.classifier.calibration_.shift <= 0
    assert two_seen.classifier.calibration_.slope != 1  # by labels that were held out
    assert set(four_seen.confidence) == {1}  # one class is left: nothing to doubt
    labels = given.labels(0, 1, 2, 3)
    fitted = unseen.ZeroShotNodeClassifier().fit(given.graph, given.classes, labels)
    found = fitted.prediction_
    assert found.record["choices"][-1]["what"] == "confidence"
    calibration, fitted.calibration_ = fitted.calibration_, Calibration()
    assert calibration != Calibration()
    plain = fitted.explain(given.graph, labels=labels).confidence
    expected = np.maximum(calibration(plain), FLOOR)  # never below an even chance
    np.testing.assert_allclose(found.confidence, expected, atol=1e-6)
    assert np.abs(plain - found.confidence).max() > 0.01


def test_the_same_seed_gives_the_same_bits(given: Sample, four_seen: Prediction) -> None:
    again = unseen.classify(given.graph, given.classes, given.labels(0, 1, 2, 3), among="unseen")
    assert again.label.tobytes() == four_seen.label.tobytes()
    assert again.confidence.tobytes() == four_seen.confidence.tobytes()
    assert again.vectors.tobytes() == four_seen.vectors.tobytes()
    assert again.reasons == four_seen.reasons
    volatile = {"created", "seconds", "steps"}
    for key in four_seen.record.keys() - volatile:
        assert again.record[key] == four_seen.record[key], key


def test_inputs_are_left_alone(given: Sample) -> None:
    labels = given.labels(0, 1)
    before = labels.codes.copy(), given.graph.adjacency.toarray()
    unseen.classify(given.graph, given.classes, labels)
    np.testing.assert_array_equal(labels.codes, before[0])
    np.testing.assert_array_equal(given.graph.adjacency.toarray(), before[1])


# Accents.

FRENCH = {
    "Santé": ["un médecin à l'hôpital", "la fièvre et la santé", "médecin, fièvre, hôpital"],
    "Cuisine": ["une crème brûlée", "la crème, le gâteau, la pâte", "pâte brisée et gâteau"],
    "Forêt": ["un chêne dans la forêt", "forêt de hêtres et chênes", "le chêne et le hêtre"],
}


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_accents_however_they_are_written(form: Any) -> None:
    texts = [text for group in FRENCH.values() for text in group]
    truth = [name for name, group in FRENCH.items() for _ in group]
    adjacency = np.equal.outer(truth, truth)
    known = {i: truth[i] for i in (0, 3, 6)}

    def classified(form: Any, classes_form: Any) -> Prediction:
        graph = Graph(adjacency, texts=[unicodedata.normalize(form, text) for text in texts])
        names = [unicodedata.normalize(classes_form, name) for name in FRENCH]
        labels = {str(i): unicodedata.normalize(form, name) for i, name in known.items()}
        return unseen.classify(graph, names, labels)

    prediction, plain = classified(form, "NFC"), classified("NFC", "NFD")
    assert prediction.classes.names == tuple(FRENCH) == plain.classes.names
    assert answers(prediction) == {str(i): truth[i] for i in range(9) if i not in known}
    assert prediction.confidence.tobytes() == plain.confidence.tobytes()


def test_accents_from_files(tmp_path: Path) -> None:
    rows = [(name, text) for name, group in FRENCH.items() for text in group]
    decomposed = unicodedata.normalize("NFD", "Forêt")
    nodes = ["id,text,label"]
    for i, (name, text) in enumerate(rows):
        label = decomposed if name == "Forêt" else name
        nodes.append(f'é{i},"{text}",{label if i % 3 == 0 else ""}')
    (tmp_path / "n.csv").write_text("\n".join(nodes), encoding="utf-8")
    edges = [f"é{i},{unicodedata.normalize('NFD', 'é')}{i + 1}" for i in range(8) if i % 3 < 2]
    (tmp_path / "e.csv").write_text("source,target\n" + "\n".join(edges), encoding="utf-8")
    (tmp_path / "c.csv").write_text("name\n" + "\n".join(FRENCH), encoding="utf-8")
    graph = unseen.read_graph(tmp_path / "n.csv", tmp_path / "e.csv")
    classes = unseen.read_classes(tmp_path / "c.csv")
    labels = unseen.read_labels(tmp_path / "n.csv", graph, classes)
    found = answers(unseen.classify(graph, classes, labels))
    assert found == {f"é{i}": name for i, (name, _) in enumerate(rows) if i % 3}


# The record.


def strict(value: Any) -> Any:
    return json.loads(json.dumps(value, allow_nan=False))


def test_every_choice_has_a_rule(
    given: Sample, unlabelled: Prediction, two_seen: Prediction, four_seen: Prediction
) -> None:
    one_seen = unseen.classify(given.graph, given.classes, given.labels(0))
    for prediction in (unlabelled, one_seen, two_seen, four_seen):
        choices = prediction.record["choices"]
        assert choices
        for choice in choices:
            assert {"what", "chosen", "rule", "why", "candidates"} == choice.keys()
            assert all(choice[key] for key in ("what", "chosen", "rule", "why"))
            possible = {*choice["candidates"], "class texts alone"}
            assert not choice["candidates"] or choice["chosen"] in possible
    for prediction in (unlabelled, one_seen):
        assert not any("leave" in choice["rule"] for choice in prediction.record["choices"])
    rules = [choice["rule"] for choice in two_seen.record["choices"]]
    assert rules[1:] == ["leave-nodes-out, 4 folds"] * 2  # a third of the answers have labels
    assert [choice["what"] for choice in four_seen.record["choices"]] == [
        "class texts",
        "model",
        "confidence",
    ]
    assert all(c["rule"] == "leave-classes-out, 2 folds" for c in four_seen.record["choices"])


def test_the_record_is_strict_json(
    given: Sample, unlabelled: Prediction, two_seen: Prediction, four_seen: Prediction
) -> None:
    for prediction in (unlabelled, two_seen, four_seen):
        assert strict(prediction.record) == prediction.record
    record = two_seen.record
    assert record["graph"]["nodes"] == given.graph.nodes
    labelled = int(given.labels(0, 1).known.sum())
    assert record["graph"]["labelled"] == labelled
    assert record["graph"]["unlabelled"] == given.graph.nodes - labelled
    assert [row["seen"] for row in record["classes"]] == [True, True, False, False, False]
    assert sum(row["predicted"] for row in record["classes"]) == len(two_seen)
    assert np.shape(record["class_similarity"]) == (5, 5)
    assert [step["step"] for step in record["steps"]] == [
        "encode",
        "prepare",
        "choose class texts",
        "fit",
        "infer",
        "explain",
    ]


def test_progress_is_told(given: Sample) -> None:
    told: list[tuple[str, int, int]] = []
    unseen.classify(
        given.graph, given.classes, progress=lambda what, done, of: told.append((what, done, of))
    )
    steps = [what for what, _, of in told if of == 6]
    assert steps == ["encode", "prepare", "choose class texts", "fit", "infer", "explain"]
    assert all(0 <= done <= of for _, done, of in told)


@pytest.mark.parametrize(
    ("texts", "edges", "names"),
    [
        (["a star"], [[0]], ["Astronomy", "Cooking"]),
        (["a star", "a star"], [[0, 0], [0, 0]], ["Astronomy", "Cooking"]),
        (["a star", "a star", "a star"], [[0, 1, 1], [1, 0, 1], [1, 1, 0]], ["Astronomy", "Soup"]),
        (["!?", "...", "--"], [[0, 1, 0], [1, 0, 0], [0, 0, 0]], ["Astronomy", "Soup", "Music"]),
    ],
    ids=["one node", "equal texts", "equal texts and edges", "no words"],
)
def test_tiny_and_dull_graphs_get_an_answer(
    texts: list[str], edges: list[list[int]], names: list[str]
) -> None:
    prediction = unseen.classify(Graph(edges, texts=texts), names)
    assert len(prediction) == len(texts)
    assert np.isfinite(prediction.confidence).all()
    assert strict(prediction.record) == prediction.record


# Once, and only what is needed.


class Counting:
    """A stranger's encoder that counts the texts it is given."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def encode(self, texts: list[str]) -> Any:
        self.texts += texts
        return unseen.get_encoder("static").encode(texts)


def test_every_text_is_encoded_once_in_a_fit(given: Sample) -> None:
    encoder = Counting()
    fitted = unseen.ZeroShotNodeClassifier(encoder=encoder)
    fitted.fit(given.graph, given.classes, given.labels(0, 1, 2, 3))
    asked = [text for text in encoder.texts if text in set(given.graph.texts or ())]
    assert sorted(asked) == sorted(set(given.graph.texts or ()))
    encoder.texts.clear()
    fitted.predict()
    fitted.predict_proba()
    assert encoder.texts == []  # the answers about the fitted graph are there already


def test_hops_are_computed_once(given: Sample, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where hops are read they are formed once in a fit, and where none is read not at all."""
    formed: list[int] = []

    def count(X: Any, operator: Any, hops: int, laziness: float) -> Any:
        formed.append(hops)
        return decompose(X, operator, hops, laziness)

    for room in ("propagate.hops", "engines.memory"):
        monkeypatch.setattr(f"unseen.{room}.decompose", count)
    unseen.classify(given.graph, given.classes, given.labels(0, 1, 2), model=ESZSL())
    assert formed == []
    for model in (unseen.BeliefPropagation(), None):
        unseen.classify(given.graph, given.classes, model=model)
        assert formed == [3]
        formed.clear()


def test_a_node_without_a_text_is_answered_by_its_neighbours(given: Sample) -> None:
    silent = np.flatnonzero(np.diff(given.graph.adjacency.indptr) > 4)[:10]
    texts = ["" if i in silent else text for i, text in enumerate(given.graph.texts or ())]
    found = unseen.classify(Graph(given.graph.adjacency, texts=texts), given.classes)
    assert (found.label[silent] == given.truth[silent]).mean() >= 0.9
    assert found.hop_shares[silent, 0].max() == 0
    assert "10 nodes have no text: their neighbours answer for them." in found.record["warnings"]
    nobody = unseen.classify(
        without_edges(Graph(found.graph.adjacency, texts=texts)), given.classes
    )
    assert nobody.confidence[silent] == pytest.approx(0.2)  # nothing is known of them
