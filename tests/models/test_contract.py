"""One contract for all models, and that no model is left out of it."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import unseen.models
from unseen.classes import Labels, Split
from unseen.evaluate.protocol import generalised, hold_out
from unseen.models.align import Align
from unseen.models.base import Model
from unseen.models.baselines.cnn import OnAlexNet
from unseen.models.baselines.dap import DAP
from unseen.models.baselines.eszsl import ESZSL
from unseen.models.baselines.hyperbolic import HyperbolicZSL
from unseen.models.baselines.majority import Majority
from unseen.models.baselines.random_guess import RandomGuess
from unseen.models.baselines.wdvsc import WDVSc
from unseen.models.baselines.zs_gcn import ZSGCN
from unseen.models.dgpn import DGPN
from unseen.models.prototype import Prototype
from unseen.models.refine import Refine
from unseen.propagate.hops import Hops, decompose
from unseen.propagate.operators import Operator

MODELS: dict[str, Callable[[], Model]] = {
    "Prototype": Prototype,
    "DGPN, identity": lambda: DGPN(start="identity", epochs=5),
    "DGPN, xavier": lambda: DGPN(start="xavier", latent=8, epochs=5),
    "Refine": Refine,
    "Align": Align,
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

Problem = tuple[Hops, NDArray[np.int64], NDArray[np.float32], Operator]
every_model = pytest.mark.parametrize("make", MODELS.values(), ids=MODELS.keys())


@pytest.fixture
def problem() -> Problem:
    """Return nodes around their class's CSD, some labelled with three of five classes."""
    rng = np.random.default_rng(5)
    csds = rng.normal(size=(CLASSES, WIDTH)).astype(np.float32)
    truth = TRUTH
    X = (csds[truth] + 0.3 * rng.normal(size=(NODES, WIDTH))).astype(np.float32)
    ties = (truth[:, None] == truth) & (rng.random((NODES, NODES)) < 0.3)
    operator = Operator(np.triu(ties, 1) | np.triu(ties, 1).T)
    labels = np.where((truth < 3) & (np.arange(NODES) < 30), truth, -1)
    return decompose(X, operator, 2, 0.7), labels, csds, operator


def fitted(make: Callable[[], Model], problem: Problem) -> Model:
    hops, labels, csds, operator = problem
    return make().fit(hops, labels, csds, operator)


def test_every_model_is_under_contract() -> None:
    found = set()
    for module in pkgutil.walk_packages(unseen.models.__path__, "unseen.models."):
        for _, value in inspect.getmembers(importlib.import_module(module.name), inspect.isclass):
            if issubclass(value, Model) and not inspect.isabstract(value):
                found.add(value)
    listed = {type(make()) for make in MODELS.values()}
    assert found == listed, f"not in MODELS: {found - listed}"


@every_model
def test_constructor_only_stores(make: Callable[[], Model]) -> None:
    model = make()
    params = model.get_params()
    assert vars(model) == params
    assert vars(type(model)(**params)) == params
    assert eval(repr(model), {type(model).__name__: type(model)}).get_params() == params  # noqa: S307


@every_model
def test_fit_learns_beside_its_settings(make: Callable[[], Model], problem: Problem) -> None:
    hops, labels, csds, operator = problem
    given: list[NDArray[Any]] = [*hops.blocks, labels, csds]
    kept = [each.copy() for each in given]
    model = make()
    params = model.get_params()
    assert model.fit(hops, labels, csds, operator) is model
    assert model.get_params() == params
    assert all(name.endswith("_") for name in vars(model).keys() - params.keys())
    for before, after in zip(kept, given, strict=True):
        assert (before == after).all()


@every_model
def test_scores_are_one_number_a_node_and_class(
    make: Callable[[], Model], problem: Problem
) -> None:
    scores = fitted(make, problem).scores(problem[0])
    assert scores.shape == (NODES, CLASSES)
    assert scores.dtype == np.float32
    assert np.isfinite(scores).all()


@every_model
def test_predict_takes_the_best_class_among_the_allowed(
    make: Callable[[], Model], problem: Problem
) -> None:
    hops, model = problem[0], fitted(make, problem)
    scores = model.scores(hops)
    assert (model.predict(hops) == scores.argmax(axis=1)).all()
    unseen_ones = np.array([False, False, False, True, True])
    assert (model.predict(hops, unseen_ones) == 3 + scores[:, 3:].argmax(axis=1)).all()


@every_model
def test_same_settings_same_bits(make: Callable[[], Model], problem: Problem) -> None:
    first, second = (fitted(make, problem).scores(problem[0]) for _ in range(2))
    assert (first == second).all()


@every_model
def test_classes_can_be_added_after_fit(make: Callable[[], Model], problem: Problem) -> None:
    hops, _, csds, _ = problem
    model = fitted(make, problem)
    more = np.concatenate([csds, np.ones((1, WIDTH), np.float32)])
    scores = model.scores(hops, more)
    assert scores.shape == (NODES, CLASSES + 1)
    assert np.isfinite(scores).all()


@every_model
def test_unlabelled_graphs_are_refused_only_by_models_that_say_so(
    make: Callable[[], Model], problem: Problem
) -> None:
    hops, labels, csds, operator = problem
    model, none = make(), np.full_like(labels, -1)
    if model.needs_labels:
        with pytest.raises(ValueError, match="labels: "):
            model.fit(hops, none, csds, operator)
    else:
        assert np.isfinite(model.fit(hops, none, csds, operator).scores(hops)).all()


# What the labels of unseen classes are must not matter, whichever game is played.

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


def leaks(build: Build, rule: Rule, problem: Problem) -> bool:
    """Tell whether any bit of what a model says depends on the labels of unseen classes."""
    hops, _, csds, operator = problem

    def said(truth: Labels) -> bytes:
        whole = b""
        for among in (None, np.isin(np.arange(CLASSES), SPLIT.unseen)):
            model = build(truth).fit(hops, rule(truth).of, csds, operator, among)
            whole += model.scores(hops).tobytes() + model.predict(hops, among).tobytes()
        return whole

    first = said(Labels(TRUTH.copy()))
    return any(said(truth) != first for truth in other_truths())


@every_rule
@every_model
def test_labels_of_unseen_classes_change_nothing(
    make: Callable[[], Model], rule: Rule, problem: Problem
) -> None:
    assert not leaks(lambda truth: make(), rule, problem)


class Peeking(Model):
    """A model that leaks on purpose: its class centres are those of a truth it should not have."""

    def __init__(self, truth: NDArray[np.int64]) -> None:
        self.truth = truth

    def fit(
        self,
        hops: Hops,
        labels: NDArray[np.int64],
        csds: NDArray[np.float32],
        operator: Operator | None = None,
        among: NDArray[np.bool_] | None = None,
    ) -> Peeking:
        belongs = (self.truth == np.arange(len(csds))[:, None]).astype(np.float32)
        self.centres_ = belongs @ hops.own / np.maximum(belongs.sum(axis=1, keepdims=True), 1)
        return self

    def scores(self, hops: Hops, csds: NDArray[np.float32] | None = None) -> NDArray[np.float32]:
        return np.asarray(hops.own @ self.centres_.T, dtype=np.float32)


@every_rule
def test_a_model_that_peeks_is_caught(rule: Rule, problem: Problem) -> None:
    assert leaks(lambda truth: Peeking(truth.of), rule, problem)
    assert not leaks(lambda truth: Peeking(rule(truth).of), rule, problem)


def draws_from_all(truth: Labels) -> Labels:
    """Hold a fifth of all labelled nodes out: how many of a seen class depends on unseen ones."""
    nodes = np.flatnonzero(truth.known)
    kept = hold_out(truth, SPLIT)
    kept.of[np.random.default_rng(0).choice(nodes, len(nodes) // 5, replace=False)] = -1
    return kept


@pytest.mark.parametrize("rule", [lambda truth: truth, draws_from_all], ids=["all", "drawn"])
def test_a_rule_that_hides_too_little_is_caught(rule: Rule, problem: Problem) -> None:
    assert leaks(lambda truth: ESZSL(), rule, problem)
