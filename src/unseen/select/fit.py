"""Fit the model of a prepared task: the one that is given, or the one that suits the data."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from sklearn.base import clone

from unseen.core.errors import InputError, quoted
from unseen.encode.class_texts import class_text_words
from unseen.engines.base import engine_of
from unseen.models import MODELS
from unseen.select.calibration import Calibration
from unseen.select.cross_validation import Choice
from unseen.select.default import Fitted, fit_default
from unseen.select.held_out_words import halve

if TYPE_CHECKING:
    from unseen.core.classes import Classes
    from unseen.core.graph import Graph
    from unseen.core.labels import Labels
    from unseen.select.preparation import Prepared


def fit_prepared(
    prepared: Prepared, graph: Graph, classes: Classes, labels: Labels, model: Any, seed: int
) -> Fitted:
    """Return the fitted model and what led to it.

    An engine that keeps things keeps this: a run that was killed later does not fit again.
    """
    task = prepared.task
    if model is not None and (isinstance(model, type) or not hasattr(model, "fit")):
        raise InputError(
            f"model: found {quoted(model)}; expected an object with `fit(task)` and "
            "`posterior(task)`, such as PooledEM()"
        )
    if model is None and not task.shared and len(task.seen) < 2:
        raise InputError(
            "graph: its features have no names and there are too few labels (of "
            f"{len(task.seen)} classes) to learn how features and classes relate; "
            "give texts, a vocabulary for the columns, or labels of at least two classes"
        )

    def fit() -> Fitted:
        if model is not None:
            fitted = Fitted(clone(model, safe=False))
            fitted.model.fit(task)
            return fitted
        return fit_default(
            task,
            prepared.folds,
            seed,
            class_text_words(classes, prepared.preparer.class_text_),
            lambda: halve(prepared, graph, classes, labels, seed),
        )

    engine = engine_of(task)
    if not engine.keeps:
        return fit()
    if model is not None and not getattr(model, "any_engine", False):
        raise InputError(
            f"model: {type(model).__name__} needs all nodes in memory; use engine='memory', or "
            "write it against the moves of unseen.engines.base and set any_engine = True"
        )
    return _restored(engine.once("fit", lambda: _state(fit())), model)


def _state(fitted: Fitted) -> dict[str, Any]:
    model = fitted.model
    if not model.any_engine:
        raise InputError(
            f"engine: {type(model).__name__}, which suits this graph, needs all nodes in memory; "
            "use --engine memory"
        )
    return {
        "model": type(model).__name__,
        "params": model.get_params(),
        "calibration": asdict(fitted.calibration),
        "choices": [
            vars(choice) | {"candidates": {**choice.candidates}} for choice in fitted.choices
        ],
        "warnings": list(fitted.warnings),
        **{f"state.{name}": value for name, value in model.state().items()},
    }


def _restored(state: dict[str, Any], model: Any) -> Fitted:
    learned = {n.partition(".")[2]: v for n, v in state.items() if n.startswith("state.")}
    made = clone(model, safe=False) if model is not None else None
    made = made or MODELS[state["model"]](**state["params"])
    return Fitted(
        made.restore(learned),
        Calibration(**state["calibration"]),
        tuple(Choice(**choice) for choice in state["choices"]),
        tuple(state["warnings"]),
    )
