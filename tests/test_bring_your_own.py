"""A stranger's model, a stranger's encoder, and vectors that are there already."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn, Self

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray

import unseen
from topic_graph import Sample, answers, sample
from unseen.core.classes import Classes
from unseen.core.errors import InputError
from unseen.core.graph import Graph
from unseen.core.task import Task
from unseen.encode.base import encode
from unseen.estimator import ZeroShotNodeClassifier
from unseen.prediction import Prediction
from unseen.prepare.word_match import WordMatch


@pytest.fixture(scope="module")
def given() -> Sample:
    return sample(per_class=12, topical=2)


# A model.


class Nearest:
    """The class whose vector is nearest: `fit`, `posterior`, and nothing else."""

    def fit(self, task: Task) -> None:
        self.width = task.S.shape[1]

    def posterior(self, task: Task) -> Any:
        scores = np.exp(10 * task.X @ task.S.T)
        return scores / scores.sum(axis=1, keepdims=True)


class Kept(Nearest):
    """The same, with what a file needs."""

    def __init__(self, sharpness: float = 10.0) -> None:
        self.sharpness = sharpness

    def fit(self, task: Task) -> None:
        self.vectors = task.S

    def posterior(self, task: Task) -> Any:
        scores = np.exp(self.sharpness * task.X @ self.vectors.T)
        return scores / scores.sum(axis=1, keepdims=True)

    def state(self) -> dict[str, Any]:
        return {"vectors": self.vectors, "sharpness": self.sharpness}

    def restore(self, state: dict[str, Any]) -> Self:
        self.vectors, self.sharpness = state["vectors"], state["sharpness"]
        return self


def test_a_model_needs_fit_and_posterior_only(given: Sample) -> None:
    known = given.labels(0, 1)
    fitted = ZeroShotNodeClassifier(model=Nearest()).fit(given.graph, given.classes, known)
    task_scores = fitted.preparer_.encode(given.graph, given.classes)
    X, S = fitted.preparer_.transform(task_scores)
    expected = np.where(known.known, known.codes, (X @ S.T).argmax(axis=1))
    np.testing.assert_array_equal(fitted.predict(), fitted.classes_[expected])
    found = fitted.prediction_
    q = np.exp(10 * (X @ S.T)[found.nodes])
    np.testing.assert_allclose(found.proba, q / q.sum(axis=1, keepdims=True), atol=1e-5)
    assert set(found.reasons) == {"Decided by its own text alone, as the graph was not used."}
    assert "Nearest" in found.record["settings"]["model"]


def test_a_model_answers_only_what_is_allowed(given: Sample) -> None:
    known = given.labels(0, 1)
    found = unseen.classify(given.graph, given.classes, known, among="unseen", model=Nearest())
    assert set(found.label.tolist()) <= {2, 3, 4}
    np.testing.assert_allclose(found.proba.sum(axis=1), 1, atol=1e-5)


def test_a_model_sees_another_graph_and_new_nodes(given: Sample) -> None:
    fitted = ZeroShotNodeClassifier(model=Nearest()).fit(given.graph, given.classes)
    other = Graph([[0]], texts=["piano and violin"])
    assert fitted.predict(other).tolist() == ["Music"]
    before = fitted.predict()
    new = fitted.add_nodes(pl.DataFrame({"id": ["new"], "text": ["bake with butter"]}))
    assert answers(new) == {"new": "Cooking"}
    assert fitted.predict().tolist() == [*before, "Cooking"]


def test_a_model_without_add_classes_refuses_them(given: Sample) -> None:
    fitted = ZeroShotNodeClassifier(model=Nearest()).fit(given.graph, given.classes)
    with pytest.raises(InputError, match=r"^classes: Nearest cannot take up classes after it was"):
        fitted.add_classes(["Gardening", "History"])
    assert fitted.classes_.tolist() == list(given.classes.names)


def test_a_model_that_cannot_be_saved_says_what_it_lacks(given: Sample, tmp_path: Path) -> None:
    fitted = ZeroShotNodeClassifier(model=Nearest()).fit(given.graph, given.classes)
    wanted = r"^model: Nearest cannot be saved; give it `state\(\)`.* and `restore\(state\)`"
    with pytest.raises(InputError, match=wanted):
        fitted.save(tmp_path / "model")
    with pytest.raises(InputError, match=wanted):
        fitted.prediction_.save(tmp_path / "run")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("quick_map")
@pytest.mark.parametrize("whole", [False, True], ids=["model", "run"])
def test_a_model_that_can_be_saved_comes_back(whole: bool, given: Sample, tmp_path: Path) -> None:
    fitted = ZeroShotNodeClassifier(model=Kept(sharpness=5)).fit(given.graph, given.classes)
    folder = (fitted.prediction_ if whole else fitted).save(tmp_path / "saved")
    with pytest.raises(InputError, match=r"^model: the saved one was your own; give .* `model=`"):
        unseen.load(folder)
    back = ZeroShotNodeClassifier.load(folder, model=Kept())
    np.testing.assert_array_equal(back.predict_proba(given.graph), fitted.predict_proba())
    assert hasattr(back, "graph_") == whole


class Wrong(Nearest):
    def __init__(self, shape: Callable[[Any], Any]) -> None:
        self.shape = shape

    def posterior(self, task: Task) -> Any:
        return self.shape(super().posterior(task))


@pytest.mark.parametrize(
    "spoil",
    [
        lambda p: p[:-1],
        lambda p: p[:, :2],
        lambda p: p[0],
        lambda p: p - 0.5,
        lambda p: np.where(p > 0.5, np.nan, p),
    ],
    ids=["a row less", "a class less", "one row", "negative", "NaN"],
)
def test_a_posterior_that_is_none_is_refused(spoil: Callable[[Any], Any], given: Sample) -> None:
    wanted = r"^model: Wrong\.posterior has to return probabilities of shape \(60, 5\), found"
    with pytest.raises(InputError, match=wanted):
        unseen.classify(given.graph, given.classes, model=Wrong(spoil))


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda p: p * 0, "gives a node no probability"),
        (lambda p: np.full(p.shape, "a"), "what Wrong returns is no array of real numbers"),
        (lambda p: p * 1j, "complex numbers"),
    ],
    ids=["zero", "text", "complex"],
)
def test_probabilities_sum_to_one(spoil: Callable[[Any], Any], said: str, given: Sample) -> None:
    with pytest.raises(InputError, match=said):
        unseen.classify(given.graph, given.classes, model=Wrong(spoil))


# An encoder.


class Static:
    """As a SentenceTransformer would be: `encode` with a list of texts, and optional arguments."""

    def __init__(self) -> None:
        self.calls = 0

    def encode(self, sentences: list[str], batch_size: int = 32) -> Any:
        assert isinstance(sentences, list)
        self.calls += 1
        return unseen.get_encoder("static").encode(sentences)


def as_function(texts: list[str]) -> list[list[float]]:
    rows: list[list[float]] = unseen.get_encoder("static").encode(texts).tolist()
    return rows


@pytest.fixture(scope="module")
def by_name(given: Sample) -> Prediction:
    return unseen.classify(given.graph, given.classes, encoder="static")


@pytest.mark.parametrize(
    ("make", "name"),
    [(Static, "Static"), (lambda: as_function, "as_function"), (unseen.get_encoder, "static")],
    ids=["object", "function", "get_encoder"],
)
def test_an_encoder_of_any_kind_gives_the_same_answers(
    make: Callable[[], Any], name: str, given: Sample, by_name: Prediction
) -> None:
    found = unseen.classify(given.graph, given.classes, encoder=make())
    assert answers(found) == answers(by_name)
    np.testing.assert_allclose(found.proba, by_name.proba, atol=1e-5)
    assert found.record["settings"]["encoder"] == name


def test_a_tensor_is_a_row_of_numbers_too(given: Sample, by_name: Prediction) -> None:
    torch = pytest.importorskip("torch")

    def encoder(texts: list[str]) -> Any:
        return torch.tensor(as_function(texts), requires_grad=True)

    found = unseen.classify(given.graph, given.classes, encoder=encoder)
    np.testing.assert_allclose(found.proba, by_name.proba, atol=1e-5)


def test_an_encoder_comes_back_with_what_was_saved(given: Sample, tmp_path: Path) -> None:
    fitted = ZeroShotNodeClassifier(encoder=Static()).fit(given.graph, given.classes)
    folder = fitted.save(tmp_path / "model")
    with pytest.raises(InputError, match=r"^encoder: the saved one was your own; give .*encoder="):
        unseen.load(folder)
    encoder = Static()
    back = unseen.load(folder, encoder=encoder)
    np.testing.assert_array_equal(back.predict_proba(given.graph), fitted.predict_proba())
    assert encoder.calls > 0


def test_nothing_of_an_encoder_without_an_identity_is_kept_on_disk(
    given: Sample, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UNSEEN_CACHE", str(tmp_path / "cache"))
    model = unseen.Prototype()  # the default reads words with an encoder of its own beside
    unseen.classify(given.graph, given.classes, encoder=as_function, model=model)
    assert not (tmp_path / "cache").exists()


@pytest.mark.parametrize(
    ("encoder", "message"),
    [
        (
            lambda texts: np.zeros((1, 3)),
            r"^encoder: <lambda> has to return one row .*\(1, 3\) for",
        ),
        (
            lambda texts: np.zeros(len(texts)),
            r"one row of finite numbers for each text; found shape",
        ),
        (lambda texts: np.full((len(texts), 3), np.inf), r"finite numbers"),
        (lambda texts: np.ones((len(texts), 3)) * 1j, r"<lambda> returns is no array .*complex"),
        (lambda texts: [[{}]] * len(texts), r"<lambda> returns is no array of real numbers"),
        (lambda texts: texts, r"<lambda> returns is no array of real numbers"),
        (3.5, r"^encoder: expected a name, an object with `encode\(list of texts\)` or a function"),
        (None, r"^encoder: expected a name, .* found NoneType"),
    ],
    ids=[
        *("too few rows", "no rows", "infinite", "complex", "objects", "texts", "a number"),
        "nothing",
    ],
)
def test_what_is_no_encoder_is_refused(encoder: Any, message: str, given: Sample) -> None:
    with pytest.raises(InputError, match=message):
        unseen.classify(given.graph, given.classes, encoder=encoder)


# Vectors in hand.


def vectors(texts: Any) -> NDArray[np.float32]:
    return encode(unseen.get_encoder("static"), list(texts))


@pytest.fixture(scope="module")
def in_hand(given: Sample) -> tuple[Graph, Classes]:
    graph = Graph(given.graph.adjacency, features=vectors(given.graph.texts or ()))
    return graph, Classes(given.classes.names, vectors=vectors(given.classes.names))


@pytest.fixture
def no_encoder(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> NoReturn:
        raise AssertionError("an encoder was loaded")

    monkeypatch.setattr("unseen.encode.base.get_encoder", refuse)
    monkeypatch.setattr("unseen.encode.base.as_encoder", refuse)
    monkeypatch.setattr("unseen.prepare.encoded.as_encoder", refuse)


@pytest.mark.usefixtures("no_encoder")
def test_vectors_need_no_encoder(given: Sample, in_hand: tuple[Graph, Classes]) -> None:
    found = unseen.classify(*in_hand)
    assert given.accuracy(found.nodes, found.label) > 0.9
    assert found.reasons[0].startswith("Decided by its own features (")
    with pytest.raises(AssertionError, match="an encoder was loaded"):
        unseen.classify(given.graph, given.classes)


def test_vectors_give_the_answers_of_their_encoder(
    given: Sample, in_hand: tuple[Graph, Classes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(WordMatch, "fit", lambda *_: None)  # vectors have no words to match
    model = unseen.BeliefPropagation()  # the default is chosen by words, too
    for known in ((), (0, 1), (0, 1, 2, 3)):
        labels = given.labels(*known)
        found = unseen.classify(*in_hand, labels, model=model)
        expected = unseen.classify(given.graph, list(given.classes.names), labels, model=model)
        np.testing.assert_array_equal(found.label, expected.label)
        np.testing.assert_allclose(found.proba, expected.proba, atol=1e-5)


def test_vectors_of_classes_beside_texts_of_nodes(
    given: Sample, in_hand: tuple[Graph, Classes]
) -> None:
    found = unseen.classify(given.graph, in_hand[1], encoder="static")
    expected = unseen.classify(*in_hand)
    np.testing.assert_allclose(found.proba, expected.proba, atol=1e-5)


@pytest.mark.usefixtures("no_encoder")
def test_vectors_are_saved_and_new_classes_bring_their_own(
    given: Sample, in_hand: tuple[Graph, Classes], tmp_path: Path
) -> None:
    graph, classes = in_hand
    fitted = ZeroShotNodeClassifier().fit(graph, classes.select([0, 1, 2, 3]))
    back = unseen.load(fitted.save(tmp_path / "model"))
    np.testing.assert_array_equal(back.predict_proba(graph), fitted.predict_proba())
    fitted.add_classes(classes.select([3, 4]))
    music = given.truth == 4
    assert (fitted.predict()[music] == "Music").mean() > 0.8
    with pytest.raises(InputError, match="with vectors, the added classes without"):
        fitted.add_classes(["History", "Gardening"])


def test_vectors_that_cannot_be_compared(given: Sample, in_hand: tuple[Graph, Classes]) -> None:
    graph, classes = in_hand
    narrow = Classes(classes.names, vectors=np.eye(5, 7))
    with pytest.raises(InputError, match="no names and there are too few labels"):
        unseen.classify(graph, narrow)
    with pytest.raises(
        InputError, match=r"^classes: come with vectors, but nodes have no features"
    ):
        unseen.classify(given.graph, classes)
    with pytest.raises(InputError, match=r"vectors of 7 dimensions, but static makes 256"):
        unseen.classify(given.graph, narrow, encoder="static")
