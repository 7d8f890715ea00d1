"""What a saved model may say of itself: settings and learned values of the kinds that they are."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from unseen.core.errors import SavedFileError, quoted

Check = Callable[[Any], bool]


def _finite(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)


def _name(value: Any) -> bool:
    return value is None or isinstance(value, str)


def _dictionary(value: Any) -> bool:
    return isinstance(value, dict)


SETTINGS: dict[str, tuple[str, Check]] = {  # of model.json: what is expected, and how it is told
    "classes": ("a list of names", is_texts),
    "descriptions": (
        "a list of texts",
        lambda value: isinstance(value, list) and all(map(_name, value)),
    ),
    "seen": ("a list of names", is_texts),
    "among": (
        "'all', 'unseen' or a list of names",
        lambda value: value in ("all", "unseen") or (is_texts(value) and len(value) > 0),
    ),
    "abstain": (
        "a number from 0 to 1, or nothing",
        lambda value: value is None or (_finite(value) and 0 <= value <= 1),
    ),
    "open_world": ("true or false", lambda value: isinstance(value, bool)),
    "device": ("cpu, cuda or auto", lambda value: value in ("cpu", "cuda", "auto")),
    "seed": ("a whole number", lambda value: type(value) is int and value >= 0),
    "encoder": ("a name, or nothing", _name),
    "model": ("a name, or nothing", _name),
    "params": ("settings by name", _dictionary),
    "calibration": (
        "numbers by name",
        lambda value: _dictionary(value) and all(map(_finite, value.values())),
    ),
    "choices": (
        "a list",
        lambda value: isinstance(value, list) and all(map(_dictionary, value)),
    ),
    "state": ("values by name", _dictionary),
    "arrays": ("types by name", _dictionary),
}
OPTIONAL: dict[str, tuple[str, Check]] = {
    "feature_names": (
        "a list of names, or nothing",
        lambda value: value is None or is_texts(value),
    ),
}


def check_settings(path: Path, settings: dict[str, Any]) -> None:
    """Refuse a setting that is missing, or of another kind."""
    for name, (expected, sound) in (SETTINGS | OPTIONAL).items():
        if name in SETTINGS and name not in settings:
            raise SavedFileError(f"{path}: lacks `{name}`; save the model again")
        if name in settings and not sound(settings[name]):
            raise SavedFileError(
                f"{path}: `{name}` is {quoted(settings[name])}; expected {expected}; "
                "save the model again"
            )


def check_params(usual: dict[str, Any], given: dict[str, Any]) -> None:
    """Refuse settings that a model does not have, or of another kind than those it has."""
    for name, value in given.items():
        if name not in usual or not _alike(value, usual[name]):
            raise SavedFileError(
                f"model: its setting {quoted(name)} is {quoted(value)}, which it cannot be; "
                "save it again"
            )


def check_learned(model: Any, state: dict[str, Any]) -> None:
    """Refuse what a model has taken up as it stands in the file, and that is no number."""
    for name, value in state.items():
        taken = getattr(model, name, None) is value and not isinstance(value, np.ndarray)
        if not _numbers(value) or (taken and isinstance(value, dict)):
            raise SavedFileError(
                f"model: `{name}` is {quoted(value)}; expected numbers; save it again"
            )


def _alike(value: Any, usual: Any) -> bool:
    """Tell whether a setting may be in the place of its usual value: a number of a number."""
    if isinstance(usual, bool):
        return isinstance(value, bool)
    if isinstance(usual, int | float):
        return _finite(value) and (isinstance(usual, float) or isinstance(value, int))
    return isinstance(value, str) or _finite(value)  # such as "all", or how many


def _numbers(value: Any) -> bool:
    if isinstance(value, dict):
        return all(_finite(each) or isinstance(each, bool) for each in value.values())
    return isinstance(value, np.ndarray | bool) or _finite(value)
