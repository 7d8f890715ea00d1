"""One contract for all models, and that no model is left out of it."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable
from copy import deepcopy
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.base import clone

import unseen.models
from unseen.core.errors import InputError, SavedFileError
from unseen.core.labels import Labels, Split
from unseen.core.operator import Operator
from unseen.core.task import Task
from unseen.evaluate.protocol import generalised, hold_out
from unseen.models.base import Model, ScoreModel, infer
from unseen.models.baselines.cnn import OnAlexNet
from unseen.models.baselines.dap import DAP
from unseen.models.baselines.eszsl import ESZSL
from unseen.models.baselines.hyperbolic import HyperbolicZSL
from unseen.models.baselines.majority import Majority
from unseen.models.baselines.random_guess import RandomGuess
from unseen.models.baselines.wdvsc import WDVSc
from unseen.models.baselines.zs_gcn import ZSGCN
from unseen.models.belief_propagation import BeliefPropagation
from unseen.models.cluster_matching import ClusterMatching
from unseen.models.dgpn.model import DGPN
from unseen.models.pooled_em import PooledEM
from unseen.models.prototype import Prototype

MODELS: dict[str, Callable[[], Model]] = {
    "Prototype": Prototype,
    "DGPN, identity": lambda: DGPN(start="identity", epochs=5),
    "DGPN, xavier": lambda: DGPN(start="xavier", latent=8, epochs=5),
    "PooledEM": PooledEM,
    "BeliefPropagation": BeliefPropagation,
    "ClusterMatching": ClusterMatching,
    "RandomGuess": RandomGuess,
    "Majority, labels counted": Majority,
    "Majority, sizes given": lambda: Majority((12, 9, 12, 15, 12)),
    "DAP": lambda: DAP(epochs=5),
    "ESZSL": ESZSL,
    "ZSGCN": lambda: ZSGCN(widths=(16, 8), epochs=5),
    "WDVSc": lambda: WDVSc(hidden=(16,), epochs=5),
    "HyperbolicZSL": lambda: HyperbolicZSL(hidden=8, epochs=2),
    "DAP(CNN)": lambda: OnAlexNet("dap", "random", settings={"epochs": 5}),
    "ZS-GCN(CNN)": lambda: OnAlexNet("zs-gcn", "random", settings={"widths": (8,), "epochs": 5}),
}
NODES, WIDTH, CLASSES = 60, 8, 5
TRUTH = np.arange(NODES) % CLASSES
SPLIT = Split(seen=(0, 1, 2), validation=(), unseen=(3, 4))

EXTRAS = all(map(find_spec, ("torch", "numba", "ot", "geoopt")))
needs_extras = pytest.mark.skipif(not EXTRAS, reason="trains with optional dependencies")
TRAINED = ("DGPN", "DAP", "ZS", "WDVSc", "Hyperbolic")
every_model = pytest.mark.parametrize(
    "make",
    [
        pytest.param(make, id=name, marks=[needs_extras] if name.startswith(TRAINED) else [])
        for name, make in MODELS.items()
    ],
)

Make = Callable[[], Model]


@pytest.fixture
def task() -> Task:
    """Return nodes around their class's CSD, some labelled with three of five classes."""
    rng = np.random.default_rng(5)
    csds = rng.normal(size=(CLASSES, WIDTH)).astype(np.float32)
    X = csds[TRUTH] + 0.3 * rng.normal(size=(NODES, WIDTH))
    A = np.triu((TRUTH[:, None] == TRUTH) & (rng.random((NODES, NODES)) < 0.3), 1)
    labels = np.where((TRUTH < 3) & (np.arange(NODES) < 30), TRUTH, -1)
    return Task(X, csds, labels, Operator(A | A.T))


def among_unseen(task: Task) -> Task:
    return task.known(task.labels, np.arange(CLASSES) >= 3)


def test_every_model_is_under_contract() -> None:
    found = set()
    for module in pkgutil.walk_packages(unseen.models.__path__, "unseen.models."):
        if not EXTRAS and module.name.endswith((".loops", ".sparse")):
            continue  # compiled by numba; no model stands in them
        for _, value in inspect.getmembers(importlib.import_module(module.name), inspect.isclass):
            if issubclass(value, Model) and not inspect.isabstract(value):
                found.add(value)
    listed = {type(make()) for make in MODELS.values()}
    assert found == listed, f"not in MODELS: {found - listed}"


@every_model
def test_constructor_only_stores(make: Make) -> None:
    model = make()
    params = model.get_params()
    assert vars(model) == params
    assert vars(type(model)(**params)) == params
    assert eval(repr(model), {type(model).__name__: type(model)}).get_params() == params  # noqa: S307


@every_model
def test_scikit_learn_can_clone_it(make: Make, task: Task) -> None:
    fitted = make().fit(task)
    twin: Any = clone(fitted)
    assert type(twin) is type(fitted)
    assert vars(twin) == fitted.get_params()  # the settings, and nothing that was learned


@every_model
def test_fit_learns_beside_its_settings(make: Make, task: Task) -> None:
    given: list[NDArray[Any]] = [task.X, task.labels, task.S, task.allowed]
    kept = [each.copy() for each in given]
    model = make()
    params = model.get_params()
    assert model.fit(task) is model
    assert model.get_params() == params
    assert all(name.endswith("_") for name in vars(model).keys() - params.keys())
    for before, after in zip(kept, given, strict=True):
        assert (before == after).all()


@every_model
def test_a_posterior_is_a_distribution_over_allowed_classes(make: Make, task: Task) -> None:
    for asked in (task, among_unseen(task)):
        p = make().fit(asked).posterior(asked)
        assert p.shape == (NODES, CLASSES)
        assert p.dtype == np.float32
        assert (p >= 0).all()
        np.testing.assert_allclose(p.sum(axis=1), 1, atol=1e-5)
        assert (p[task.labels < 0][:, ~asked.allowed] == 0).all()


@every_model
def test_labelled_nodes_are_clamped(make: Make, task: Task) -> None:
    wrong = task.known(np.where(task.labels >= 0, (task.labels + 1) % 3, -1))
    known = np.flatnonzero(wrong.labels >= 0)
    for asked in (wrong, among_unseen(wrong)):  # a label may also be of a class not allowed
        p = make().fit(asked).posterior(asked)
        np.testing.assert_allclose(p[known, wrong.labels[known]], 1, atol=1e-6)


@every_model
def test_inference_ends_with_the_posterior(make: Make, task: Task) -> None:
    model = make().fit(task)
    found = infer(model, task)
    assert (found.posterior == model.posterior(task)).all()
    for each in (*found.by_hop, found.confidence):
        np.testing.assert_allclose(each.sum(axis=1), 1, atol=1e-4)


@every_model
def test_predict_takes_the_best_class_among_the_allowed(make: Make, task: Task) -> None:
    model = make().fit(task)
    for asked in (task, among_unseen(task)):
        free = task.labels < 0
        best = model.posterior(asked).argmax(axis=1)
        if isinstance(model, ScoreModel):
            scores = model.scores(asked)
            assert scores.shape == (NODES, CLASSES)
            assert scores.dtype == np.float32
            assert np.isfinite(scores).all()
            best = np.where(asked.allowed, scores, -np.inf).argmax(axis=1)
        assert (model.predict(asked) == best)[free].all()


@every_model
def test_same_settings_same_bits(make: Make, task: Task) -> None:
    first, second = (make().fit(task).posterior(task) for _ in range(2))
    assert (first == second).all()


@every_model
def test_a_restored_model_has_the_same_bits(make: Make, task: Task) -> None:
    model = make().fit(task)
    state = model.state()
    for name, value in state.items():
        flat = value.values() if isinstance(value, dict) else [value]
        assert name.endswith("_")
        assert all(isinstance(each, np.ndarray | float | int | str) for each in flat), name
    restored = type(model)(**model.get_params()).restore(deepcopy(state))
    assert restored.state().keys() == state.keys()
    assert (restored.posterior(task) == model.posterior(task)).all()


@every_model
def test_a_state_with_other_names_is_refused(make: Make) -> None:
    with pytest.raises(SavedFileError):
        make().restore({"epochs": 3})


@every_model
def test_classes_are_added_after_fit_or_refused(make: Make, task: Task) -> None:
    model = make().fit(task)
    kept = model.posterior(task)
    more = Task(task.X, np.vstack([task.S, np.ones(WIDTH)]), task.labels, task.operator)
    if not model.adds_classes:
        with pytest.raises(InputError, match="classes: "):
            model.add_classes(more)
        return
    twin = model.add_classes(more)
    p = twin.posterior(more)
    assert p.shape == (NODES, CLASSES + 1)
    np.testing.assert_allclose(p.sum(axis=1), 1, atol=1e-5)
    assert (model.posterior(task) == kept).all()  # the first one is left as it was
    assert twin.get_params() == model.get_params()


@every_model
def test_unlabelled_graphs_are_refused_only_by_models_that_say_so(make: Make, task: Task) -> None:
    model, none = make(), task.known(np.full(NODES, -1))
    if model.needs_labels:
        with pytest.raises(ValueError, match="labels: "):
            model.fit(none)
    else:
        assert np.isfinite(model.fit(none).posterior(none)).all()


# What the labels of unseen classes are must not matter, whichever protocol is followed.

Build = Callable[[Labels], Model]  # an experiment makes its model with the truth at hand
Rule = Callable[[Labels], Labels]  # what a model may see of the truth
RULES: dict[str, Rule] = {
    "plain": lambda truth: hold_out(truth, SPLIT),
    "generalised": lambda truth: generalised(truth, SPLIT, seed=3)[0],
}
every_rule = pytest.mark.parametrize("rule", RULES.values(), ids=RULES.keys())


def other_truths() -> list[Labels]:
    """Return truths that differ from `TRUTH` on the nodes of unseen classes, and only there."""
    hidden = np.flatnonzero(np.isin(TRUTH, SPLIT.unseen))
    shuffled, of_one, deleted = TRUTH.copy(), TRUTH.copy(), TRUTH.copy()
    shuffled[hidden] = np.random.default_rng(2).permutation(shuffled[hidden])
    of_one[hidden], deleted[hidden] = SPLIT.unseen[0], -1
    return [Labels(shuffled), Labels(of_one), Labels(deleted)]


def leaks(build: Build, rule: Rule, task: Task) -> bool:
    """Return whether any bit of an answer depends on the labels of unseen classes."""

    def answers(truth: Labels) -> bytes:
        whole = b""
        for allowed in (np.ones(CLASSES), np.isin(np.arange(CLASSES), SPLIT.unseen)):
            asked = task.known(rule(truth).codes, allowed)
            model = build(truth).fit(asked)
            whole += model.posterior(asked).tobytes() + model.predict(asked).tobytes()
        return whole

    first = answers(Labels(TRUTH.copy()))
    return any(answers(truth) != first for truth in other_truths())


@every_rule
@every_model
def test_labels_of_unseen_classes_change_nothing(make: Make, rule: Rule, task: Task) -> None:
    assert not leaks(lambda truth: make(), rule, task)


class Peeking(ScoreModel):
    """A model that leaks on purpose: its class centres are those of a truth it should not have."""

    def __init__(self, truth: NDArray[np.int64]) -> None:
        self.truth = truth

    def fit(self, task: Task) -> Peeking:
        belongs = (self.truth == np.arange(task.classes)[:, None]).astype(np.float32)
        self.centres_ = belongs @ task.X / np.maximum(belongs.sum(axis=1, keepdims=True), 1)
        return self

    def scores(self, task: Task) -> NDArray[np.float32]:
        return np.asarray(task.X @ self.centres_.T, dtype=np.float32)


@every_rule
def test_a_model_that_peeks_is_caught(rule: Rule, task: Task) -> None:
    assert leaks(lambda truth: Peeking(truth.codes), rule, task)
    assert not leaks(lambda truth: Peeking(rule(truth).codes), rule, task)


def draws_from_all(truth: Labels) -> Labels:
    """Hold a fifth of all labelled nodes out: how many of a seen class depends on unseen ones."""
    nodes = np.flatnonzero(truth.known)
    kept = hold_out(truth, SPLIT)
    kept.codes[np.random.default_rng(0).choice(nodes, len(nodes) // 5, replace=False)] = -1
    return kept


@pytest.mark.parametrize("rule", [lambda truth: truth, draws_from_all], ids=["all", "drawn"])
def test_a_rule_that_hides_too_little_is_caught(rule: Rule, task: Task) -> None:
    assert leaks(lambda truth: ESZSL(), rule, task)
