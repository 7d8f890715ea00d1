"""`ZeroShotNodeClassifier` as scikit-learn knows estimators, and what it refuses in which words."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.utils import estimator_checks

import unseen
from unseen.core.classes import Classes
from unseen.core.errors import InputError
from unseen.core.graph import Graph
from unseen.core.labels import Labels
from unseen.estimator import ZeroShotNodeClassifier

SMALL = Graph([[0, 1, 0], [1, 0, 1], [0, 1, 0]], texts=["a star", "a comet", "a soup"])
NAMES = Classes(["Astronomy", "Cooking"])
PARAMETERS = ["abstain", "address", "among", "device", "encoder", "engine", "memory", "model"]
PARAMETERS += ["open_world", "progress", "seed"]
LEARNED = [
    *("classes_", "model_", "preparer_", "calibration_", "choices_", "class_texts_", "seen_"),
    *("feature_names_", "graph_", "labels_", "posterior_", "prediction_", "warnings_"),
]
CHECKS = [  # those that look at parameters; the others feed matrices X and y
    "check_do_not_raise_errors_in_init_or_set_param",
    "check_estimator_cloneable",
    "check_estimator_repr",
    "check_estimator_tags_renamed",
    "check_get_params_invariance",
    "check_mixin_order",
    "check_no_attributes_set_in_init",
    "check_parameters_default_constructible",
    "check_set_params",
    "check_valid_tag_types",
]


@pytest.mark.parametrize("name", [name for name in CHECKS if hasattr(estimator_checks, name)])
def test_checks_of_scikit_learn(name: str) -> None:
    getattr(estimator_checks, name)("ZeroShotNodeClassifier", ZeroShotNodeClassifier())


def test_enough_of_the_checks_exist() -> None:
    assert sum(hasattr(estimator_checks, name) for name in CHECKS) >= 6


def test_parameters_are_what_the_constructor_stores() -> None:
    model = unseen.Prototype(hops=2)
    made = ZeroShotNodeClassifier(model=model, seed=3)
    assert sorted(made.get_params(deep=False)) == PARAMETERS
    deep = made.get_params(deep=True)
    assert deep["model"] is model
    assert (deep["model__hops"], deep["model__laziness"]) == (2, 0.5)
    assert made.set_params(seed=4, model__hops=1) is made
    assert (made.seed, model.hops) == (4, 1)
    with pytest.raises(ValueError, match="nonsense"):
        made.set_params(nonsense=1)


def test_a_clone_has_the_settings_and_nothing_that_was_learned() -> None:
    fitted = ZeroShotNodeClassifier(among="all", abstain=0.25, model=unseen.Prototype(), seed=5)
    fitted.fit(SMALL, NAMES)
    twin = clone(fitted)
    assert (twin.among, twin.abstain, twin.seed) == ("all", 0.25, 5)
    assert twin.model is not fitted.model
    assert twin.model.get_params() == fitted.model.get_params()
    assert [name for name in vars(twin) if name.endswith("_")] == []
    np.testing.assert_array_equal(twin.fit(SMALL, NAMES).predict(), fitted.predict())


def test_the_given_model_is_not_fitted_itself() -> None:
    model = unseen.Prototype()
    fitted = ZeroShotNodeClassifier(model=model).fit(SMALL, NAMES)
    assert not hasattr(model, "csds_")
    assert hasattr(fitted.model_, "csds_")


def test_repr_says_what_is_not_the_default() -> None:
    assert repr(ZeroShotNodeClassifier()) == "ZeroShotNodeClassifier()"
    assert repr(ZeroShotNodeClassifier(seed=1)) == "ZeroShotNodeClassifier(seed=1)"


def test_what_was_learned_is_listed_in_the_docstring() -> None:
    fitted = ZeroShotNodeClassifier().fit(SMALL, NAMES)
    assert sorted(name for name in vars(fitted) if name.endswith("_")) == sorted(LEARNED)
    told = (ZeroShotNodeClassifier.__doc__ or "").partition("Attributes:")[2]
    assert [name for name in LEARNED if name not in told] == []


def test_fit_starts_from_nothing() -> None:
    other = Graph([[0, 1], [1, 0]], texts=["a song", "a goal"])
    made = ZeroShotNodeClassifier().fit(SMALL, NAMES, {"0": "Astronomy"})
    again = made.fit(other, ["Music", "Football"])
    fresh = ZeroShotNodeClassifier().fit(other, ["Music", "Football"])
    assert again is made
    np.testing.assert_array_equal(again.predict_proba(), fresh.predict_proba())
    assert again.seen_ == ()


@pytest.mark.parametrize(
    "ask",
    [
        lambda it, folder: it.predict(),
        lambda it, folder: it.predict_proba(SMALL),
        lambda it, folder: it.explain(SMALL),
        lambda it, folder: it.add_classes(["Music"]),
        lambda it, folder: it.add_nodes([], []),
        lambda it, folder: it.save(folder / "model"),
    ],
    ids=["predict", "predict_proba", "explain", "add_classes", "add_nodes", "save"],
)
def test_nothing_is_answered_before_fit(ask: Any, tmp_path: Any) -> None:
    with pytest.raises(InputError, match=r"not fitted yet; call fit\(graph, classes\) first"):
        ask(ZeroShotNodeClassifier(), tmp_path)


@pytest.mark.parametrize(
    ("labels", "options", "message"),
    [
        (Labels(np.array([0, 0, 1])), {}, r"^labels: all 3 nodes have one.*nothing is left to"),
        (
            {"0": "Astronomy", "1": "Astronomy", "2": "Cooking"},
            {},
            r"nothing is left to label; leave the label of the nodes in question empty",
        ),
        (None, {"among": "seen"}, r"^among: expected 'all' or 'unseen', found 'seen'"),
        (
            {"0": "Astronomy", "2": "Cooking"},
            {"among": "unseen"},
            r"^among: 'unseen' was asked for, but every class has a labelled node; add classes",
        ),
        (Labels(np.array([0, -1])), {}, r"^labels: found 2, but the graph has 3 nodes"),
        ({"0": "Astrology"}, {}, r"^labels: 'Astrology' .*is not among the classes"),
        ({"9": "Cooking"}, {}, r"^labels: '9' not among the nodes"),
        (Labels(np.array([0, 2, -1])), {}, r"^labels: found class position 2.*0 to 1"),
        (None, {"encoder": "words"}, r"^encoder: 'words' reads what .* does not have: words"),
        (None, {"encoder": "features"}, r"^encoder: 'features' reads what .* not have: features"),
        (None, {"encoder": "nonsense"}, r"^encoder: 'nonsense' is unknown; known are"),
        (None, {"device": "tpu"}, r"^device: expected one of cpu, cuda, auto, found 'tpu'"),
        (None, {"among": None}, r"^among: expected 'all', 'unseen' or a list of names, found None"),
        (None, {"open_world": "no"}, r"^open_world: expected True or False, found 'no'"),
        (None, {"address": "auto"}, r"^address: is that of a Ray cluster, but .* 'memory'"),
        (["Astronomy", "Cooking"], {}, r"^labels: found 2, but the graph has 3 nodes"),
        (42, {}, r"^labels: found an int; expected \{id: class\}"),
    ],
)
def test_what_cannot_be_done(labels: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        ZeroShotNodeClassifier(**options).fit(SMALL, NAMES, labels)
    with pytest.raises(InputError, match=message):
        unseen.classify(SMALL, NAMES, labels, **options)


def test_one_class_is_no_choice() -> None:
    with pytest.raises(InputError, match=r"^classes: found 1, but a choice needs at least two"):
        unseen.classify(SMALL, ["Astronomy"])


def test_classify_is_fit_and_its_prediction() -> None:
    one = unseen.classify(SMALL, NAMES, seed=2, abstain=0.6)
    other = ZeroShotNodeClassifier(seed=2, abstain=0.6).fit(SMALL, NAMES).prediction_
    assert one.proba.tobytes() == other.proba.tobytes()
    assert one.label.tolist() == other.label.tolist()
    assert one.classifier.get_params() == other.classifier.get_params()
