"""Answering "none of these": below a confidence, or where no listed class seems to fit."""

from __future__ import annotations

from dataclasses import replace
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from unseen.core.classes import NONE_OF_THESE
from unseen.core.errors import InputError
from unseen.prediction import shown

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.core.classes import Classes
    from unseen.prediction import Prediction

OUTSIDE = 0.8  # background from which a node counts as one of no listed class


def check_abstain(
    abstain: float | None, classes: Classes, open_world: bool = False
) -> float | None:
    """Refuse a threshold that is no confidence, and a class named like the answer it leads to."""
    if not isinstance(open_world, bool | np.bool_):
        raise InputError(f"open_world: expected True or False, found {open_world!r}")
    if abstain is None and not open_world:
        return None
    number: Any = abstain  # whatever a caller without types gave
    if abstain is not None and (
        isinstance(number, bool) or not (isinstance(number, Real) and 0 <= float(number) <= 1)
    ):
        raise InputError(
            f"abstain: expected a confidence from 0 to 1, found {abstain!r}; "
            "leave it out to give every node a class"
        )
    if NONE_OF_THESE in {name.casefold() for name in classes.names}:
        raise InputError(
            f"classes: one is named {NONE_OF_THESE!r}, which is the answer for nodes below "
            "`abstain` or, with `open_world`, outside all classes; rename the class, or leave "
            "these out"
        )
    return None if abstain is None else float(number)


def abstaining(
    prediction: Prediction, abstain: float | None, open_world: bool = False
) -> Prediction:
    """Answer "none of these" where the confidence, as the table shows it, is below `abstain`.

    In an open world, also where the background reaches `OUTSIDE`.
    """
    if open_world and prediction.background is not None:
        prediction = _outside(prediction, prediction.background)
    if abstain is None:
        return prediction
    confidence = shown(prediction.confidence)
    below = (confidence < abstain) & (prediction.label >= 0)
    reasons = list(prediction.reasons)
    for i in np.flatnonzero(below).tolist():
        closest = prediction.classes.names[prediction.label[i]]
        reasons[i] = (
            f"confidence {confidence[i]:.4g} in {closest!r} is below {abstain:g}; {reasons[i]}"
        )
    return replace(
        prediction,
        label=np.where(below, -1, prediction.label),
        runner_up=np.where(below, prediction.label, prediction.runner_up),
        reasons=reasons,
    )


def _outside(prediction: Prediction, background: NDArray[np.float32]) -> Prediction:
    outside = background >= OUTSIDE
    reasons = list(prediction.reasons)
    for i in np.flatnonzero(outside).tolist():
        closest = prediction.classes.names[prediction.label[i]]
        reasons[i] = f"fits no class well (background {background[i]:.2f}), {closest!r} best"
    return replace(
        prediction,
        label=np.where(outside, -1, prediction.label),
        runner_up=np.where(outside, prediction.label, prediction.runner_up),
        reasons=reasons,
    )
